//! Two who bring the same back at once: neither meets what the other has in the making, nothing is lost, and nothing lies
//! about afterwards.

use super::merging::stopped;
use super::{checkout, snapshot, status};
use crate::{app, home};
use clearway_testkit::faults::{self, Point, stopping};
use clearway_testkit::process::go_on;
use clearway_testkit::{Repository, eventually};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Child, Command, Output, Stdio};

/// Where the first of two stands still, with something of its own half done: a link, a directory, a file of git's own that
/// says what is under way.
const STANDS_STILL: [&str; 3] = ["?symlink,?symlinkat", "?mkdir,?mkdirat", "?link,?linkat"];

/// A merge that stopped, with links and directories beside it, all of which is kept and thrown away. The
/// snapshot, and how the checkout was.
fn thrown_away(app: &Repository<'_>) -> (String, super::Contents, String) {
    stopped(app, "git merge -q other");
    app.write("deep/below/new.rs", "new\n");
    std::fs::set_permissions(app.path().join("deep"), std::fs::Permissions::from_mode(0o750))
        .expect("a mode");
    for number in 0..20 {
        symlink("nowhere", app.path().join(format!("link{number}"))).expect("a link");
        app.write(&format!("many/{number}.rs"), "many\n");
    }
    let before = (checkout(app.path()), status(app));
    let number = snapshot(app, &[]);
    app.git(&["reset", "--quiet", "--hard"]);
    app.git(&["clean", "-qfd"]);
    (number, before.0, before.1)
}

fn undo(app: &Repository<'_>, agent: &str, number: &str) -> Command {
    app.agent(agent).args(&["undo", number, "-y", "--json"]).into_command()
}

fn begun(mut command: Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a process")
}

fn whole(app: &Repository<'_>, before: &(super::Contents, String), outputs: &[Output], what: &str) {
    for output in outputs {
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{what}: {said} {}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!((checkout(app.path()), status(app)), *before, "{what}");
    assert!(app.path().join(".git/MERGE_HEAD").exists(), "{what}");
    let entries = std::fs::read_dir(app.path().join(".git")).expect("a directory");
    let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    let left: Vec<String> =
        names.filter(|name| name.contains("clearway") || name.ends_with(".lock")).collect();
    assert!(left.is_empty(), "{what}: {left:?}");
}

#[test]
fn one_that_stands_still_with_something_half_done_finds_it_again_when_another_has_undone_the_same() {
    for call in STANDS_STILL {
        let home = home();
        let app = app(&home);
        let (number, files, said) = thrown_away(&app);
        let log = home.path().join("trace");
        let point = Point { call: call.to_owned(), nth: 1, shown: String::new() };
        let first = begun(stopping(undo(&app, "ada", &number), &point, &log));
        let pid = eventually("it stands still", || faults::stopped(&log));
        let second = undo(&app, "bob", &number).output().expect("a process");
        go_on(pid);
        let first = first.wait_with_output().expect("an end");
        whole(&app, &(files, said), &[first, second], call);
    }
}

#[test]
fn several_at_once_bring_everything_back_and_leave_no_file_behind() {
    for round in 0..4 {
        let home = home();
        let app = app(&home);
        let (number, files, said) = thrown_away(&app);
        let all = ["ada", "bob", "cy"].map(|agent| begun(undo(&app, agent, &number)));
        let outputs = all.map(|child| child.wait_with_output().expect("an end"));
        whole(&app, &(files, said), &outputs, &format!("round {round}"));
    }
}
