//! Broad claims beside hooks: what of them makes way, and what does not.

use super::gate::invited;
use crate::{app, home, list, text};
use clearway_testkit::{Client, Repository};
use serde_json::{Value, json};

/// A session that a hook has spoken for.
fn session(home: &clearway_testkit::Home, app: &Repository<'_>, name: &str) -> Client {
    let mut client = Client::claude(home, app, name);
    client.event("SessionStart", &json!({"source": "startup"}));
    client
}

fn claim(app: &Repository<'_>, session: &str, words: &[&str]) -> Value {
    let words = [&["reserve", "--broad", "**"], words].concat();
    app.clearway().session(session).ok(&words)
}

#[test]
fn a_file_of_a_broad_claim_that_nobody_touches_goes_to_whoever_edits_it() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let (mut one, mut two) = (session(&home, &app, "one"), session(&home, &app, "two"));
    claim(&app, "one", &[]);
    two.before_edit("src/a.rs").silent();
    app.write("src/a.rs", "changed\n");
    let kinds = app.kinds();
    assert_eq!(kinds[kinds.len() - 2..], ["lease.split", "lease.granted"]);
    let told = one.event("PreToolUse", &json!({"tool_name": "Read", "tool_input": {}})).told();
    assert!(told.contains("src/a.rs made way for claude-"), "{told}");
    one.before_edit("src/a.rs").denied();
    one.before_edit("src/b.rs").silent();
    let leases = app.clearway().ok(&["leases"]);
    let claim = &list(&leases, "leases")[0];
    assert_eq!((text(claim, "pattern"), &claim["ceded"]), ("**", &json!(["src/a.rs"])));
    let who = app.clearway().ok(&["who", "src/a.rs"]);
    assert_eq!(list(&who, "holders").len(), 1, "{who}");
    let shown = app.clearway().run(&["leases"]).stdout();
    assert!(shown.contains("** without src/a.rs"), "{shown}");
}

#[test]
fn what_its_holder_edits_or_changed_is_not_taken_out_of_a_broad_claim() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let (mut one, mut two) = (session(&home, &app, "one"), session(&home, &app, "two"));
    claim(&app, "one", &[]);
    one.before_edit("src/a.rs").silent();
    one.after_edit("src/a.rs");
    two.before_edit("src/a.rs").denied();
    app.write("src/b.rs", "changed\n");
    two.before_edit("src/b.rs").denied();
}

#[test]
fn a_strict_claim_and_that_of_somebody_without_hooks_stay_whole() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let (_one, mut two) = (session(&home, &app, "one"), session(&home, &app, "two"));
    claim(&app, "one", &["--strict"]);
    two.before_edit("src/a.rs").denied();
    app.clearway().session("one").fails("usage", 2, &["reserve", "--strict", "src/b.rs"]);
    app.clearway().session("two").ok(&["wait", "--cancel"]);
    app.clearway().session("one").ok(&["release", "--all"]);
    app.grant("ada", &["--broad", "**"]);
    two.before_edit("src/a.rs").denied();
}
