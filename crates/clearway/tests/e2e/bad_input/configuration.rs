//! Files of configuration that cannot be obeyed.

use crate::{app, home, text};

#[test]
fn a_configuration_that_never_ends_is_not_waited_for() {
    let home = home();
    let repository = app(&home);
    let made = std::process::Command::new("mkfifo").arg(repository.path().join(".clearway.toml")).status();
    assert!(made.expect("mkfifo runs").success());
    repository.clearway().agent("alice").json(&["check", "a.rs"]).expect(78).slug("config-syntax");
}

#[test]
fn a_configuration_that_is_no_text_is_a_mistake_in_the_configuration() {
    let home = home();
    let repository = app(&home);
    home.user_config("");
    let user = text(&repository.clearway().ok(&["config", "path"])["files"][0], "path").to_owned();
    for file in [repository.path().join(".clearway.toml"), user.into()] {
        std::fs::write(&file, b"agent = \xff").expect("a file");
        let error = repository.agent("alice").fails("config-syntax", 78, &["check", "a.rs"]);
        assert!(text(&error, "message").contains(&file.display().to_string()), "{error}");
        repository.clearway().ok(&["config", "path"]);
        std::fs::remove_file(&file).expect("removed");
        std::fs::create_dir(&file).expect("a directory");
        repository.agent("alice").fails("config-syntax", 78, &["check", "a.rs"]);
        std::fs::remove_dir(&file).expect("removed");
    }
    repository.agent("alice").ok(&["check", "a.rs"]);
}

#[test]
fn a_user_file_that_everybody_can_write_is_not_obeyed() {
    use std::os::unix::fs::PermissionsExt;
    let home = home();
    let repository = app(&home);
    home.user_config("posture = \"solo\"\n");
    let path = text(&repository.clearway().ok(&["config", "path"])["files"][0], "path").to_owned();
    for (mode, refused) in [(0o666, true), (0o602, true), (0o644, false), (0o664, false)] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("a mode");
        if refused {
            let error = repository.agent("alice").fails("config-unsafe", 78, &["check", "a.rs"]);
            assert!(text(&error, "message").contains(&path), "{error}");
        } else {
            repository.agent("alice").ok(&["check", "a.rs"]);
        }
    }
}

#[test]
fn what_a_repository_may_not_hold_is_sent_to_the_user_file_where_it_really_is() {
    let home = home();
    let repository = app(&home);
    repository.write(".clearway.toml", "[leases]\nbroad_files = 100000\n");
    let elsewhere = home.directory("elsewhere");
    let alice = repository.agent("alice").env("XDG_CONFIG_HOME", &elsewhere);
    let error = alice.fails("config-unsafe", 78, &["check", "a.rs"]);
    let expected = elsewhere.join("clearway/config.toml").display().to_string();
    assert!(text(&error, "message").contains(&expected), "{error}");
}
