//! Nothing is written before somebody agreed to it.

use super::{file, found_by_name, read};
use crate::{app, home, text};
use clearway_testkit::Files;

#[test]
fn a_dry_run_writes_nothing_and_invites_nobody() {
    let home = home();
    let repository = app(&home);
    home.directory(".cursor");
    let before = Files::below(home.path());
    let told = repository.clearway().run(&["init", "--dry-run", "--agents-md"]).expect(0);
    assert!(told.stdout().contains("+   \"version\": 1,"), "{}", told.stdout());
    before.assert_same(&Files::below(home.path()), "a dry run");
}

#[test]
fn without_a_terminal_nothing_is_written_before_it_was_said_on_the_line() {
    let home = home();
    let repository = app(&home);
    home.directory(".cursor");
    let hooks = file(&home, ".cursor/hooks.json");
    let before = Files::below(home.path());
    for answer in ["n", "y"] {
        let ran = repository.clearway().run_with(answer.as_bytes(), &["init"]).expect(2);
        assert!(ran.stdout().contains("planned: ") && ran.stdout().contains("+   \"version\": 1,"));
        assert!(ran.stdout().ends_with("nothing was written\n"), "{}", ran.stdout());
        assert!(ran.stderr().contains("there is no terminal to ask at"), "{}", ran.stderr());
        assert!(ran.stderr().contains("clearway init -y\n"), "{}", ran.stderr());
        before.assert_same(&Files::below(home.path()), "a pipe is nobody to ask");
    }
    let error =
        repository.clearway().fails("not-confirmed", 2, &["init", "--client", "cursor", "--agents-md"]);
    assert_eq!(error["details"]["files"][0]["change"], "planned", "{error:#}");
    assert!(text(&error, "message").starts_with("with --json nobody is asked"), "{error:#}");
    let hint = error["hints"][0].as_str().unwrap_or_default();
    let (_, command) = hint.split_once(": ").expect("a command");
    assert_eq!(command, "clearway init --client cursor --agents-md -y");
    assert!(home.shell(repository.path(), command).status().is_ok_and(|status| status.success()));
    assert!(hooks.exists());
    found_by_name(&home, &repository).ok(&["init"]);
    repository.clearway().fails("not-confirmed", 2, &["init", "--uninstall"]);
    assert!(hooks.exists());
}

#[test]
fn an_invitation_alone_has_to_be_said_on_the_line_too() {
    let home = home();
    let repository = app(&home);
    repository.clearway().fails("not-confirmed", 2, &["init"]);
    assert!(!home.state().join("scopes").exists());
    repository.clearway().ok(&["init", "--yes"]);
    repository.clearway().ok(&["init"]);
}

#[test]
fn a_person_is_asked_before_anything_is_written() {
    let home = home();
    let repository = app(&home);
    home.directory(".cursor");
    let hooks = file(&home, ".cursor/hooks.json");
    let shown = home.terminal(repository.path(), "clearway init");
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("Write 1 file? [Y/n]") && shown.contains("nothing was written"), "{shown}");
    assert!(!hooks.exists());
}

#[test]
fn what_was_changed_after_it_was_shown_is_not_written() {
    let home = home();
    let repository = app(&home);
    home.directory(".cursor");
    let hooks = file(&home, ".cursor/hooks.json");
    // The answer is typed only after the question was read and the file was changed.
    let script = format!(
        "mkfifo typed; script -qfec 'clearway init' shown <typed >/dev/null & exec 3>typed; \
         until grep -q 'Y/n' shown; do sleep 0.02; done; echo '{{\"version\": 1}}' >'{}'; echo y >&3; wait; cat shown",
        hooks.display()
    );
    let output = home.shell(repository.path(), &script).env("SHELL", "/bin/sh").output().expect("a shell");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("changed by somebody else meanwhile"), "{shown}");
    assert_eq!(read(&hooks), "{\"version\": 1}\n");
}
