//! What an agent is told of paths in other checkouts than the one it works in: which one, and commands that work from
//! where it stands.

use super::gate::{held, invited};
use super::told::{reads, run_what_follows};
use crate::{app, home};
use clearway_testkit::{Client, Home, Repository};
use serde_json::json;
use std::path::Path;

fn other(home: &Home) -> Repository<'_> {
    let other = home.repository("other", &[("src/a.rs", "\n"), ("src/b.rs", "\n"), ("c.rs", "\n")]);
    invited(&other);
    other
}

/// A path in a checkout, as a text names it.
fn in_checkout(path: &str, root: &Path) -> String {
    format!("{path} in {}", root.display())
}

#[test]
fn a_refusal_over_a_file_of_another_repository_names_that_repository() {
    let home = home();
    let (app, other) = (app(&home), other(&home));
    invited(&app);
    other.grant("otter", &["src/a.rs"]);
    app.grant("otter", &["src/b.rs"]);
    let mut one = Client::claude(&home, &app, "one");
    let told = one.before_edit("../other/src/a.rs").denied();
    assert!(told.contains(&format!("{} is with otter", in_checkout("src/a.rs", other.path()))), "{told}");
    let again = one.before_edit("../other/src/a.rs").denied();
    assert!(again.contains(&in_checkout("src/a.rs", other.path())), "{again}");
    let own = one.before_edit("src/b.rs").denied();
    assert!(own.contains("src/b.rs is with otter") && !own.contains(" in /"), "{own}");
    let below = json!({"file_path": app.path().join("src/b.rs"), "old_string": "a", "new_string": "b"});
    let below = json!({"cwd": app.path().join("docs"), "tool_name": "Edit", "tool_input": below});
    let own = one.event("PreToolUse", &below).denied();
    assert!(own.contains("src/b.rs is still with otter") && !own.contains(" in /"), "{own}");
}

#[test]
fn a_pause_of_another_repository_names_that_repository() {
    let home = home();
    let (app, other) = (app(&home), other(&home));
    invited(&app);
    other.agent("ada").operator(&home).ok(&["freeze", "--reason", "cutting the release"]);
    let told = Client::claude(&home, &app, "one").before_edit("../other/c.rs").denied();
    assert!(told.contains(&in_checkout("paused new edits", other.path())), "{told}");
}

#[test]
fn whoever_is_waited_for_in_another_repository_while_it_waits_there_can_let_go_from_where_it_stands() {
    let home = home();
    let (app, other) = (app(&home), other(&home));
    invited(&app);
    other.grant("otter", &["c.rs"]);
    let mut one = Client::claude(&home, &app, "one");
    one.before_edit("../other/src/b.rs").silent();
    other.write("src/b.rs", "changed\n");
    other.agent("otter").ok(&["reserve", "--queue", "src/b.rs"]);
    let told = one.before_edit("../other/c.rs").denied();
    assert!(told.starts_with(&in_checkout("Not edited: c.rs", other.path())), "{told}");
    assert!(told.contains(&format!("otter wants {}", in_checkout("src/b.rs", other.path()))), "{told}");
    run_what_follows(&home, app.path(), &told, "or: ");
    let held = held(&other);
    assert!(!held.iter().any(|(pattern, _)| pattern == "src/b.rs"), "{held:?}");
}

#[test]
fn who_waits_in_another_repository_or_checkout_is_told_with_a_command_that_works_from_here() {
    let home = home();
    let (app, other) = (app(&home), other(&home));
    invited(&app);
    app.git(&["worktree", "add", "-q", "../tree"]);
    let tree = app.path().with_file_name("tree");
    let mut one = Client::claude(&home, &app, "one");
    for root in [other.path(), &tree] {
        let file = root.join("src/b.rs");
        one.before_edit(file.to_str().expect("a path")).silent();
        std::fs::write(&file, "changed\n").expect("a file");
        home.clearway(root).agent("otter").ok(&["reserve", "--queue", "src/b.rs"]);
        let told = reads(&mut one).told();
        let waits = format!("otter waits for {}", in_checkout("src/b.rs", root));
        assert!(told.starts_with(&waits), "{told}");
        let said = run_what_follows(&home, app.path(), &told, ", or: ");
        assert!(said.starts_with("released 1 lease"), "{told}: {said}");
    }
}

#[test]
fn whoever_waited_for_a_name_of_another_repository_takes_it_from_where_it_stands() {
    let home = home();
    let (app, other) = (app(&home), other(&home));
    invited(&app);
    let mut one = Client::claude(&home, &app, "one");
    one.before_edit("../other/c.rs").silent();
    other.grant("otter", &["--kind", "name", "build"]);
    other.clearway().session("one").ok(&["reserve", "--queue", "--kind", "name", "build"]);
    other.agent("otter").ok(&["release", "--all"]);
    let told = reads(&mut one).told();
    assert!(told.starts_with(&in_checkout("build", other.path())), "{told}");
    run_what_follows(&home, app.path(), &told, "Take it: ");
    let held = held(&other);
    assert!(held.iter().any(|(name, _)| name == "build"), "{held:?}");
}

#[test]
fn whoever_works_in_a_repository_inside_another_hears_of_the_outer_one_too() {
    let home = home();
    let outer = app(&home);
    invited(&outer);
    let inner = home.repository("app/inner", &[("in.rs", "\n")]);
    invited(&inner);
    outer.grant("otter", &["src/a.rs"]);
    let mut one = Client::claude(&home, &inner, "one");
    let told = one.before_edit("../src/a.rs").denied();
    assert!(told.contains(&format!("{} is with otter", in_checkout("src/a.rs", outer.path()))), "{told}");
    outer.agent("otter").ok(&["release", "--all"]);
    let turn = reads(&mut one).told();
    assert!(turn.starts_with(&format!("{} is free", in_checkout("src/a.rs", outer.path()))), "{turn}");
}
