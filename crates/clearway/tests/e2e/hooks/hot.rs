//! Files that many edit briefly are nobody's between two calls; lines in them that are not committed are somebody's.

use super::gate::{held, invited};
use crate::{app, each, home, list, text};
use clearway_testkit::{Answer, Client, Home, Repository};
use serde_json::{Value, json};

const FILE: &str = "CHANGELOG.md";
/// What is committed.
const BASE: &str = "# Changes\n\n- first\n";
/// The same with two lines of somebody.
const WITH: &str = "# Changes\n\n- otter one\n- otter two\n- first\n";

pub(super) struct Otter {
    pub(super) name: String,
    client: Client,
}

/// An agent that put two lines into the file and did not commit them.
pub(super) fn has_lines_in_the_changelog(home: &Home, app: &Repository<'_>) -> Otter {
    app.write(FILE, BASE);
    commit(app);
    let mut client = Client::claude(home, app, "otter");
    puts(&mut client, app, "- otter one\n- otter two", WITH);
    let leases = app.clearway().ok(&["agents"]);
    let agents = list(&leases, "agents").iter();
    let name = agents.map(|agent| text(agent, "name")).find(|name| name.starts_with("claude-"));
    Otter { name: name.expect("an agent").to_owned(), client }
}

fn commit(app: &Repository<'_>) {
    app.git(&["add", "--all"]);
    app.git(&["commit", "--quiet", "--message", "all of it"]);
}

/// An edit of some lines.
fn puts(client: &mut Client, app: &Repository<'_>, put: &str, after: &str) {
    let input = json!({"file_path": app.path().join(FILE), "old_string": "x", "new_string": put});
    let call = json!({"tool_name": "Edit", "tool_input": input, "tool_response": {}});
    assert_eq!(client.event("PreToolUse", &call).code, 0);
    app.write(FILE, after);
    assert_eq!(client.event("PostToolUse", &call).code, 0);
}

/// What is answered to whoever is about to write the whole file.
fn writes(client: &mut Client, app: &Repository<'_>, content: &str) -> Answer {
    let input = json!({"file_path": app.path().join(FILE), "content": content});
    client.event("PreToolUse", &json!({"tool_name": "Write", "tool_input": input}))
}

fn is_free(app: &Repository<'_>) {
    assert_eq!(held(app), [], "nobody keeps it");
    assert!(list(&app.clearway().ok(&["waits"]), "waits").is_empty(), "there is nothing to wait for");
}

#[test]
fn a_text_without_the_lines_of_somebody_else_is_refused_and_waits_for_nothing() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let mut otter = has_lines_in_the_changelog(&home, &app);
    let mut two = Client::claude(&home, &app, "two");
    let reason = writes(&mut two, &app, "# Changes\n\n- mine\n- otter two\n- first\n").denied();
    let expect = format!(
        "Not edited: CHANGELOG.md has an uncommitted line of {} that this call would remove. It is free: read it \
         again and edit it in place, or keep what others wrote.\nLook: clearway diff CHANGELOG.md",
        otter.name
    );
    assert_eq!(reason, expect);
    assert!(reason.len() <= 400, "{} bytes", reason.len());
    is_free(&app);
    let shown = app.clearway().run(&["diff", FILE]).expect(0).stdout();
    assert!(shown.contains("otter one"), "the command shows them: {shown}");
    // What it was told works: in place, and as a whole with the lines.
    puts(&mut two, &app, "- mine", &format!("{WITH}- mine\n"));
    writes(&mut two, &app, &format!("{WITH}- more\n")).silent();
    // And the others are free to remove their own.
    let own =
        json!({"tool_name": "Write", "tool_input": {"file_path": app.path().join(FILE), "content": ""}});
    two.event("PostToolUse", &own);
    assert!(writes(&mut otter.client, &app, BASE).denied().contains("an uncommitted line of claude-"));
    writes(&mut otter.client, &app, &format!("{BASE}- mine\n")).silent();
}

#[test]
fn what_is_committed_is_nobodys_to_keep() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let _otter = has_lines_in_the_changelog(&home, &app);
    commit(&app);
    writes(&mut Client::claude(&home, &app, "two"), &app, "# Anew\n").silent();
}

#[test]
fn what_somebody_left_who_is_gone_is_told_and_passes() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let otter = has_lines_in_the_changelog(&home, &app);
    let name = otter.name.clone();
    otter.client.die();
    let told = writes(&mut Client::claude(&home, &app, "two"), &app, BASE).told();
    let expect =
        format!("CHANGELOG.md is yours; {name} ended and left changes in it that are not committed.");
    assert!(told.starts_with(&expect), "{told}");
}

#[test]
fn a_subagent_may_write_over_the_lines_of_its_own_family() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let mut otter = has_lines_in_the_changelog(&home, &app);
    let input = json!({"file_path": app.path().join(FILE), "content": BASE});
    let call = json!({"tool_name": "Write", "agent_id": "worker", "tool_input": input});
    otter.client.event("PreToolUse", &call).silent();
}

#[test]
fn where_nothing_is_enforced_it_is_said_or_passes() {
    for (mode, expect) in [("warn", true), ("observe", false)] {
        let home = home();
        let app = app(&home);
        invited(&app);
        let _otter = has_lines_in_the_changelog(&home, &app);
        home.user_config(&format!("mode = \"{mode}\"\n"));
        let answer = writes(&mut Client::claude(&home, &app, "two"), &app, BASE);
        match expect {
            true => {
                let told = answer.told();
                assert!(told.contains("would remove. It may be edited all the same."), "{told}");
            }
            false => answer.silent(),
        }
        let notes = format!("{}-hooks", home.only_store().display());
        let noted = std::fs::read_to_string(notes).expect("notes of hooks");
        assert!(noted.contains("\tlet-pass\t"), "{noted}");
    }
}

#[test]
fn every_way_to_write_a_whole_file_is_known_and_no_edit_is_taken_for_one() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let _otter = has_lines_in_the_changelog(&home, &app);
    let mut two = Client::claude(&home, &app, "two");
    let path = app.path().join(FILE);
    let mut code = |tool: &str, input: Value| {
        let code = two.event("PreToolUse", &json!({"tool_name": tool, "tool_input": input})).code;
        two.event(
            "PostToolUse",
            &json!({"tool_name": tool, "tool_input": {"file_path": path, "path": path}}),
        );
        code
    };
    for (tool, input) in [
        ("mcp__files__write_file", json!({"path": path, "content": BASE})),
        ("mcp__serena__create_text_file", json!({"relative_path": FILE, "content": BASE})),
        ("mcp__x__str_replace_editor", json!({"path": path, "command": "create", "file_text": BASE})),
        (
            "mcp__x__apply_patch",
            json!({"patch": format!("*** Begin Patch\n*** Delete File: {FILE}\n*** End Patch")}),
        ),
    ] {
        assert_eq!(code(tool, input), 2, "{tool}");
    }
    for (tool, input) in [
        ("MultiEdit", json!({"file_path": path, "edits": [{"old_string": "a", "new_string": "b"}]})),
        ("mcp__files__write_file", json!({"path": path, "content": "- more", "mode": "append"})),
        (
            "mcp__x__str_replace_editor",
            json!({"path": path, "command": "str_replace", "old_str": "a", "new_str": "b"}),
        ),
        (
            "mcp__x__apply_patch",
            json!({"patch": format!("*** Begin Patch\n*** Update File: {FILE}\n@@\n+x\n*** End Patch")}),
        ),
        ("Write", json!({"file_path": path})),
    ] {
        assert_eq!(code(tool, input), 0, "{tool}");
    }
}

/// One refusal refuses the whole call, and what it named beside the file goes back.
#[test]
fn what_else_the_call_names_is_given_back() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let _otter = has_lines_in_the_changelog(&home, &app);
    let patch =
        format!("*** Begin Patch\n*** Update File: src/a.rs\n*** Add File: {FILE}\n+x\n*** End Patch");
    let call = json!({"tool_name": "mcp__x__apply_patch", "tool_input": {"patch": patch}});
    Client::claude(&home, &app, "two").event("PreToolUse", &call).denied();
    is_free(&app);
    assert_eq!(each(&app.clearway().ok(&["leases"]), "leases", "pattern"), [""; 0]);
}

/// What tells that a call is over of which nothing more is heard: it failed, it was interrupted, nobody permitted it.
#[test]
fn a_call_that_is_never_heard_of_again_keeps_nobody_from_a_file() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let ends: [(&str, Value); 3] = [
        ("Stop", json!({})),
        ("PreToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "ls"}})),
        ("PreToolUse", json!({"tool_name": "Read", "tool_input": {"file_path": "docs/x.md"}})),
    ];
    let mut two = Client::claude(&home, &app, "two");
    for (number, (event, fields)) in ends.iter().enumerate() {
        let mut one = Client::claude(&home, &app, &format!("one-{number}"));
        one.before_edit(FILE).silent();
        app.write(FILE, &format!("{BASE}- {number}\n"));
        assert!(two.before_edit(FILE).denied().contains("is changing CHANGELOG.md this moment"));
        one.event(event, fields).silent();
        assert_eq!(two.before_edit(FILE).code, 0, "{event} {fields}");
        two.after_edit(FILE);
        is_free(&app);
    }
}

/// Whoever is refused another file of the call keeps a place at that one alone.
#[test]
fn a_call_over_a_hot_file_and_one_that_is_held_waits_for_the_latter_alone() {
    let home = home();
    let app = app(&home);
    app.grant("otter", &["src/a.rs"]);
    let patch = format!(
        "*** Begin Patch\n*** Update File: {FILE}\n@@\n+x\n*** Update File: src/a.rs\n@@\n+x\n*** End Patch"
    );
    let call = json!({"tool_name": "mcp__x__apply_patch", "tool_input": {"patch": patch}});
    let mut two = Client::claude(&home, &app, "two");
    assert!(two.event("PreToolUse", &call).denied().contains("src/a.rs is with otter"));
    let waits = app.clearway().ok(&["waits"]);
    assert!(!waits.to_string().contains(FILE), "{waits}");
    Client::claude(&home, &app, "three").before_edit(FILE).silent();
}
