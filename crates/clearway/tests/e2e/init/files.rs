//! What becomes of the files of clients, and how they are given back.

use super::{CLIENTS, COMMENTED, SETTINGS, file, read, trust, trust_by_gemini, users_files, write};
use crate::{app, home, list, text};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

#[test]
fn clients_that_are_found_are_set_up_once_and_given_back_to_the_byte() {
    let home = home();
    let repository = app(&home);
    for client in ["claude", "codex", "gemini", "cursor", "copilot"] {
        home.directory(&format!(".{client}"));
    }
    write(&file(&home, ".claude/settings.json"), SETTINGS);
    write(&file(&home, ".gemini/settings.json"), COMMENTED);
    trust(&home, &repository);
    trust_by_gemini(&home, &repository);
    let before = users_files(&home);

    let error = repository.clearway().fails("client-not-active", 1, &["init", "-y"]);
    let standings: Vec<(&str, &str)> = list(&error["details"], "clients")
        .iter()
        .map(|client| (text(client, "client"), text(client, "standing")))
        .collect();
    let expected = ["active", "one-step-left", "active", "active", "active"];
    assert_eq!(standings, CLIENTS.map(|(client, _)| client).into_iter().zip(expected).collect::<Vec<_>>());
    for (client, name) in CLIENTS {
        let text = read(&file(&home, name));
        assert!(text.contains(&home.binary().display().to_string()) && text.contains(client), "{text}");
    }
    let gemini = read(&file(&home, ".gemini/settings.json"));
    assert!(gemini.contains("// theirs\r\n") && !gemini.replace("\r\n", "").contains('\n'), "{gemini}");

    let set_up = users_files(&home);
    let again = repository.clearway().run(&["init", "-y"]).expect(1);
    assert!(again.stdout().contains("nothing to change"), "{}", again.stdout());
    set_up.assert_same(&users_files(&home), "a second time");

    let told = repository.clearway().ok(&["init", "-y", "--uninstall"]);
    assert_eq!(list(&told, "files").len(), 5, "{told:#}");
    before.assert_same(&users_files(&home), "after all");
    assert!(!file(&home, ".copilot/hooks").exists() && file(&home, ".copilot").exists());
    assert!(repository.clearway().text(&["init", "-y", "--uninstall"]).contains("nothing of ours"));
}

#[test]
fn what_others_change_in_between_stays() {
    let home = home();
    let repository = app(&home);
    let settings = file(&home, ".claude/settings.json");
    write(&settings, SETTINGS);
    repository.clearway().run(&["init", "-y", "--client", "claude"]).expect(1);
    let edited = read(&settings).replacen("\"opus\"", "\"sonnet\", \"since\": 1", 1);
    write(&settings, &edited);
    let told = repository.clearway().run(&["init", "-y", "--uninstall", "--client", "claude"]).expect(0);
    assert!(told.stdout().contains("the rest is kept"), "{}", told.stdout());
    assert_eq!(read(&settings), SETTINGS.replacen("\"opus\"", "\"sonnet\", \"since\": 1", 1));
}

#[test]
fn directories_that_were_made_go_with_what_was_made_in_them() {
    let home = home();
    let repository = app(&home);
    let before = users_files(&home);
    repository.clearway().ok(&["init", "-y", "--client", "copilot", "--client", "cursor"]);
    let hooks = file(&home, ".cursor/hooks.json");
    write(&file(&home, ".cursor/theirs"), "x");
    repository.clearway().ok(&["init", "-y", "--uninstall", "--client", "copilot", "--client", "cursor"]);
    assert!(!hooks.exists() && file(&home, ".cursor/theirs").exists());
    std::fs::remove_dir_all(file(&home, ".cursor")).expect("a directory");
    assert!(!file(&home, ".copilot").exists());
    before.assert_same(&users_files(&home), "after all");
}

#[test]
fn a_file_that_cannot_be_written_is_a_clear_error() {
    let home = home();
    let repository = app(&home);
    write(&file(&home, ".cursor"), "in the way");
    let error = repository.clearway().fails("client-not-active", 1, &["init", "-y", "--client", "cursor"]);
    let problem = &error["details"]["files"][0]["problem"];
    assert_eq!(problem["slug"], "client-config", "what cannot be looked into is not written: {error:#}");
    let loop_ = file(&home, ".gemini/settings.json");
    std::fs::create_dir_all(loop_.parent().expect("a parent")).expect("a directory");
    symlink("nowhere/there", &loop_).expect("a link");
    write(&file(&home, ".gemini/nowhere"), "in the way");
    let error = repository.clearway().fails("client-not-active", 1, &["init", "-y", "--client", "gemini"]);
    assert!(error["details"]["files"][0]["problem"]["slug"].is_string(), "{error:#}");
    assert_eq!(read(&file(&home, ".gemini/nowhere")), "in the way");
}

#[test]
fn links_are_written_through_and_modes_kept() {
    let home = home();
    let repository = app(&home);
    let (real, link) = (file(&home, "dotfiles/claude.json"), file(&home, ".claude/settings.json"));
    write(&real, "{}\n");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).expect("a mode");
    std::fs::create_dir_all(link.parent().expect("a parent")).expect("a directory");
    symlink("../dotfiles/claude.json", &link).expect("a link");
    repository.clearway().run(&["init", "-y", "--client", "claude"]).expect(1);
    assert!(std::fs::symlink_metadata(&link).expect("a link").is_symlink());
    assert!(read(&real).contains("PreToolUse"));
    assert_eq!(std::fs::metadata(&real).expect("a file").mode() & 0o777, 0o640);
    repository.clearway().ok(&["init", "-y", "--uninstall"]);
    assert_eq!(read(&real), "{}\n");
    assert_eq!(std::fs::metadata(&real).expect("a file").mode() & 0o777, 0o640);
}

#[test]
fn a_link_that_leads_nowhere_is_filled_and_leads_nowhere_again() {
    let home = home();
    let repository = app(&home);
    let (target, link) = (file(&home, "dotfiles/gemini/settings.json"), file(&home, ".gemini/settings.json"));
    std::fs::create_dir_all(link.parent().expect("a parent")).expect("a directory");
    symlink("../dotfiles/gemini/settings.json", &link).expect("a link");
    trust_by_gemini(&home, &repository);
    let before = users_files(&home);
    repository.clearway().ok(&["init", "-y", "--client", "gemini"]);
    assert!(read(&target).contains("BeforeTool"));
    repository.clearway().ok(&["init", "-y", "--uninstall", "--client", "gemini"]);
    assert!(std::fs::symlink_metadata(&link).is_ok_and(|link| link.is_symlink()), "the link stays");
    assert!(!target.exists() && !file(&home, "dotfiles").exists());
    before.assert_same(&users_files(&home), "after all");
}

#[test]
fn many_that_set_up_at_once_do_what_one_does() {
    let home = home();
    let repository = app(&home);
    let settings = file(&home, ".claude/settings.json");
    write(&settings, SETTINGS);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| repository.clearway().run(&["init", "-y", "--client", "claude"]).expect(1));
        }
    });
    let document = read(&settings);
    assert_eq!(document.matches("\"claude\"").count(), 7, "{document}");
    repository.clearway().ok(&["init", "-y", "--uninstall", "--client", "claude"]);
    assert_eq!(read(&settings), SETTINGS);
}

#[test]
fn what_is_remembered_of_files_is_not_written_over() {
    let home = home();
    let repository = app(&home);
    home.directory(".cursor");
    let journal = home.state().join("init.json");
    repository.clearway().ok(&["init", "-y", "--client", "cursor"]);
    write(&journal, "half a jour");
    for words in [&["init", "-y", "--client", "cursor"][..], &["init", "-y", "--uninstall"]] {
        let error = repository.clearway().fails("client-config", 78, words);
        assert!(text(&error, "message").contains("init.json cannot be read"), "{error}");
        assert_eq!(read(&journal), "half a jour");
    }
}

#[test]
fn what_was_set_up_is_found_again_when_a_client_has_another_directory() {
    let home = home();
    let repository = app(&home);
    trust(&home, &repository);
    trust_by_gemini(&home, &repository);
    let before = users_files(&home);
    repository.clearway().ok(&["init", "-y", "--client", "claude", "--client", "gemini"]);
    let elsewhere = home.path().join("elsewhere").display().to_string();
    let moved = || repository.clearway().env("CLAUDE_CONFIG_DIR", &elsewhere);
    moved().ok(&["init", "-y", "--uninstall", "--client", "codex"]);
    assert!(file(&home, ".claude/settings.json").exists(), "another client was named");
    moved().ok(&["init", "-y", "--uninstall"]);
    before.assert_same(&users_files(&home), "after all");
}

#[test]
fn a_file_that_we_made_goes_though_it_was_set_up_again_in_between() {
    let home = home();
    let repository = app(&home);
    let settings = file(&home, ".claude/settings.json");
    std::fs::create_dir_all(file(&home, ".claude")).expect("a directory");
    trust(&home, &repository);
    repository.clearway().ok(&["init", "-y", "--client", "claude"]);
    let changed = read(&settings).replacen("\"timeout\": 5", "\"timeout\": 6", 1);
    write(&settings, &changed);
    repository.clearway().ok(&["init", "-y", "--client", "claude"]);
    repository.clearway().ok(&["init", "-y", "--uninstall"]);
    assert!(!settings.exists(), "{}", read(&settings));
}

#[test]
fn where_nothing_is_remembered_nobody_is_said_to_have_changed_a_file() {
    let home = home();
    let repository = app(&home);
    let settings = file(&home, ".claude/settings.json");
    write(&settings, "{}");
    trust(&home, &repository);
    repository.clearway().ok(&["init", "-y", "--client", "claude"]);
    std::fs::remove_dir_all(home.state()).expect("a directory");
    let told = repository.clearway().ok(&["init", "-y", "--uninstall", "--client", "claude"]);
    assert_eq!(text(&list(&told, "files")[0], "note"), "our entries are gone, the rest is kept", "{told:#}");
}

#[test]
fn a_program_that_is_broken_locks_nobody_out_and_one_that_refuses_is_heard() {
    let home = home();
    let repository = app(&home);
    home.directory(".gemini");
    trust_by_gemini(&home, &repository);
    repository.clearway().ok(&["init", "-y", "--client", "gemini"]);
    let settings: serde_json::Value =
        serde_json::from_str(&read(&file(&home, ".gemini/settings.json"))).expect("JSON");
    let line = text(&settings["hooks"]["BeforeTool"][0]["hooks"][0], "command").to_owned();
    let binary = home.binary().display().to_string();
    assert!(line.contains(&binary), "{line}");
    let broken = home.path().join("broken");
    let whole = std::fs::read(home.binary()).expect("a program");
    let programs: [(&[u8], i32); 5] = [
        (&whole[..100_000], 0),
        (b"\x7fELF no program", 0),
        (b"#!/no/such/shell\n", 0),
        (b"#!/bin/sh\nexit 2\n", 2),
        (b"#!/bin/sh\nexit 0\n", 0),
    ];
    for (program, code) in programs {
        write(&broken, "");
        std::fs::write(&broken, program).expect("a file");
        std::fs::set_permissions(&broken, std::fs::Permissions::from_mode(0o755)).expect("a mode");
        let line = line.replace(&binary, &broken.display().to_string());
        let output = home.shell(repository.path(), &line).output().expect("a shell");
        assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
