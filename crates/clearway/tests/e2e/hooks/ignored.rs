//! What git ignores is nobody's: build output, caches, logs.

use super::gate::{held, invited};
use crate::{app, home};
use clearway_testkit::Client;

#[test]
fn what_git_ignores_is_never_leased_and_nobody_is_kept_from_it() {
    let home = home();
    let app = app(&home);
    app.write(".gitignore", "target/\n*.log\n!kept.log\n");
    invited(&app);
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    for file in ["target/debug/out.rs", "src/a.log"] {
        for client in [&mut one, &mut two] {
            client.before_edit(file).silent();
            app.write(file, "written\n");
        }
    }
    assert_eq!(held(&app), []);
    app.grant("otter", &["target/debug/out.rs"]);
    one.before_edit("target/debug/out.rs").silent();
    one.before_edit("src/kept.log").silent();
    app.write("src/kept.log", "written\n");
    two.before_edit("src/kept.log").denied();
}

#[test]
fn a_tracked_file_is_leased_whatever_a_pattern_says() {
    let home = home();
    let app = app(&home);
    invited(&app);
    app.write(".gitignore", "*.rs\n");
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    two.before_edit("src/new.rs").silent();
    one.before_edit("src/new.rs").silent();
    one.before_edit("src/a.rs").silent();
    app.write("src/a.rs", "changed\n");
    two.before_edit("src/a.rs").denied();
    assert_eq!(held(&app), [("src/a.rs".to_owned(), "auto".to_owned())]);
}

#[test]
fn one_call_over_both_leases_what_git_knows() {
    let home = home();
    let app = app(&home);
    app.write(".git/info/exclude", "/out\n");
    invited(&app);
    let patch =
        "*** Begin Patch\n*** Add File: out/x\n+x\n*** Update File: src/a.rs\n@@\n-a\n+b\n*** End Patch";
    let call = serde_json::json!({"tool_name": "mcp__x__apply_patch", "tool_input": {"patch": patch}});
    Client::claude(&home, &app, "one").event("PreToolUse", &call).silent();
    assert_eq!(held(&app), [("src/a.rs".to_owned(), "auto".to_owned())]);
}
