//! Several checkouts of one repository: whatever names a path of another one says which.

use crate::{app, home, list, text};
use clearway_testkit::{Client, Home, Repository};
use serde_json::json;
use std::path::{Path, PathBuf};

/// A second checkout.
fn tree(app: &Repository<'_>) -> PathBuf {
    app.git(&["worktree", "add", "-q", "../tree"]);
    app.path().with_file_name("tree")
}

/// Leases of ada and a wait of bob in the second checkout.
fn at_work(home: &Home, tree: &Path) {
    home.clearway(tree).agent("ada").ok(&["reserve", "src/a.rs"]);
    home.clearway(tree).agent("bob").ok(&["reserve", "--queue", "src/a.rs"]);
}

#[test]
fn listings_say_which_checkout_a_path_is_of_unless_the_reader_stands_there() {
    let home = home();
    let app = app(&home);
    let tree = tree(&app);
    at_work(&home, &tree);
    let placed = format!("{}: src/a.rs", tree.display());
    for (words, agent) in
        [(["leases"].as_slice(), "ada"), (&["waits"], "bob"), (&["status"], "bob"), (&["renew"], "ada")]
    {
        let there = app.agent(agent).text(words);
        assert!(there.contains(&placed), "{words:?}: {there}");
        let here = home.clearway(&tree).agent(agent).text(words);
        assert!(here.contains("src/a.rs") && !here.contains(&placed), "{words:?}: {here}");
    }
    app.agent("bob").ok(&["reserve", "--kind", "name", "build"]);
    assert!(!app.agent("bob").text(&["leases"]).contains(": build"), "a name is of every checkout");
}

#[test]
fn refusals_say_which_checkout_a_lease_is_of_unless_the_reader_stands_there() {
    let home = home();
    let app = app(&home);
    let tree = tree(&app);
    at_work(&home, &tree);
    let lease = text(&list(&app.clearway().ok(&["leases"]), "leases")[0], "id").to_owned();
    let placed = format!("{lease} on src/a.rs in {}", tree.display());
    for verb in ["release", "renew"] {
        let error = app.agent("eve").fails("not-holder", 3, &[verb, &lease]);
        assert!(text(&error, "message").contains(&placed), "{error}");
        let error = home.clearway(&tree).agent("eve").fails("not-holder", 3, &[verb, &lease]);
        assert!(text(&error, "message").contains(&format!("{lease} on src/a.rs is held")), "{error}");
    }
    home.clearway(&tree).agent("ada").ok(&["release", "--all"]);
    home.clearway(&tree).agent("bob").ok(&["wait"]);
    let told = app.agent("ada").run(&["renew", &lease]).expect(4).stderr();
    let flat = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(&format!("{placed} was released")), "{told}");
    assert!(flat.contains(&format!("holds src/a.rs in {} exclusively", tree.display())), "{told}");
}

#[test]
fn whoever_waits_in_several_checkouts_chooses_by_checkout() {
    let home = home();
    let app = app(&home);
    let tree = tree(&app);
    app.grant("ada", &["src/a.rs"]);
    at_work(&home, &tree);
    app.agent("bob").ok(&["reserve", "--queue", "src/a.rs"]);
    let error = app.agent("bob").fails("usage", 2, &["wait"]);
    let hints = error["hints"].to_string();
    assert!(hints.contains(&format!("for src/a.rs in {}: ", tree.display())), "{hints}");
    assert!(hints.contains("for src/a.rs: "), "{hints}");
}

#[test]
fn an_agent_that_begins_is_told_in_which_checkout_others_are_at_work() {
    let home = home();
    let app = app(&home);
    let tree = tree(&app);
    at_work(&home, &tree);
    let told = Client::claude(&home, &app, "one").event("SessionStart", &json!({"source": "startup"})).told();
    assert!(told.contains(&format!("ada (active) on src/a.rs in {}", tree.display())), "{told}");
}
