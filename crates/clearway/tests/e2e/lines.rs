//! `diff`: whose uncommitted lines these are.

use crate::{app, home, list, text};
use clearway_testkit::{Client, Home, Repository};
use serde_json::{Value, json};

/// An agent writes a file, and its client tells what it put there.
fn writes(client: &mut Client, app: &Repository<'_>, file: &str, after: &str, tool: &str, input: &Value) {
    let mut input = input.clone();
    input["file_path"] = json!(app.path().join(file));
    let fields = json!({"tool_name": tool, "tool_input": input, "tool_response": {}});
    client.event("PreToolUse", &fields);
    app.write(file, after);
    client.event("PostToolUse", &fields);
}

fn invited<'h>(home: &'h Home) -> Repository<'h> {
    let app = app(home);
    app.grant("bob", &["--kind", "name", "build"]);
    app
}

fn commit(app: &Repository<'_>) {
    app.git(&["add", "--all"]);
    app.git(&["commit", "--quiet", "--message", "all of it"]);
}

fn names(app: &Repository<'_>) -> Vec<String> {
    let agents = app.clearway().ok(&["agents"]);
    list(&agents, "agents").iter().map(|agent| text(agent, "name").to_owned()).collect()
}

/// Number, author and text of each added line of the only changed file.
fn lines(app: &Repository<'_>, words: &[&str]) -> Vec<(u64, Option<String>, String)> {
    let found = app.clearway().ok(&[&["diff"], words].concat());
    let files = list(&found, "files");
    assert_eq!(files.len(), 1, "{found}");
    let line = |line: &Value| {
        let author = line["agent"].as_str().map(str::to_owned);
        (line["number"].as_u64().expect("a number"), author, text(line, "text").to_owned())
    };
    list(&files[0], "lines").iter().map(line).collect()
}

#[test]
fn a_line_is_its_writers_and_what_no_hook_told_of_is_nobodys() {
    let home = home();
    let app = invited(&home);
    app.write("src/a.rs", "one\ntwo\nthree\n");
    commit(&app);
    let (mut ada, mut cy) = (Client::claude(&home, &app, "ada"), Client::claude(&home, &app, "cy"));
    let input = json!({"old_string": "one", "new_string": "ONE"});
    writes(&mut ada, &app, "src/a.rs", "ONE\ntwo\nthree\n", "Edit", &input);
    // The hand-over of a file with changes that are not committed, as after a release.
    app.clearway().session("ada").ok(&["release", "--all"]);
    let input = json!({"edits": [{"old_string": "three", "new_string": "THREE\nfour"}]});
    writes(&mut cy, &app, "src/a.rs", "ONE\ntwo\nTHREE\nfour\n", "MultiEdit", &input);
    app.write("src/a.rs", "ONE\ntwo\nTHREE\nfour\ntyped\n");
    let [_, ada, cy] = names(&app).try_into().expect("three agents");
    let expect =
        [(1, Some(&ada), "ONE"), (3, Some(&cy), "THREE"), (4, Some(&cy), "four"), (5, None, "typed")];
    let expect = expect.map(|(number, by, line)| (number, by.cloned(), line.to_owned()));
    assert_eq!(lines(&app, &[]), expect);
    assert_eq!(lines(&app, &["--agent-name", &cy]), expect[1..3]);
    assert_eq!(lines(&app, &["src/", "--agent-name", &ada]), expect[..1]);
    let stat = app.clearway().run(&["diff", "--stat"]).expect(0).stdout();
    assert!(stat.contains(&format!("{ada} 1")) && stat.contains("unattributed 1"), "{stat}");
    let shown = app.clearway().run(&["diff"]).expect(0).stdout();
    assert!(shown.contains("     5  -") && shown.contains("+ typed"), "{shown}");
}

#[test]
fn what_is_committed_is_nobodys_uncommitted_work() {
    let home = home();
    let app = invited(&home);
    let mut ada = Client::claude(&home, &app, "ada");
    writes(&mut ada, &app, "src/a.rs", "new\n", "Write", &json!({"content": "new\n"}));
    assert_eq!(lines(&app, &[]).len(), 1);
    commit(&app);
    let found = app.clearway().ok(&["diff"]);
    assert_eq!(found["files"], json!([]));
    let said = app.clearway().run(&["diff"]).expect(0).stdout();
    assert_eq!(said, "nothing is uncommitted here\n");
}

#[test]
fn whoever_writes_a_file_anew_carries_the_lines_of_others_along() {
    let home = home();
    let app = invited(&home);
    let (mut ada, mut cy) = (Client::claude(&home, &app, "ada"), Client::claude(&home, &app, "cy"));
    writes(&mut ada, &app, "new.rs", "let a = 1;\n", "Write", &json!({"content": "let a = 1;\n"}));
    app.clearway().session("ada").ok(&["release", "--all"]);
    let whole = "let a = 1;\nlet b = 2;\n";
    writes(&mut cy, &app, "new.rs", whole, "Write", &json!({"content": whole}));
    let [_, ada, cy] = names(&app).try_into().expect("three agents");
    let authors: Vec<Option<String>> = lines(&app, &["new.rs"]).into_iter().map(|(_, by, _)| by).collect();
    assert_eq!(authors, [Some(ada), Some(cy)]);
}

#[test]
fn lines_of_a_patch_and_of_other_clients_are_told_too() {
    let home = home();
    let app = invited(&home);
    let root = app.path().display().to_string();
    let told = |client: &str, events: [&str; 2], payload: &Value, file: &str, after: &str| {
        for event in events {
            let mut payload = payload.clone();
            payload["hook_event_name"] = json!(event);
            app.clearway().run_with(payload.to_string().as_bytes(), &["hook", client]).expect(0);
            app.write(file, after);
        }
    };
    let patch = "*** Begin Patch\n*** Add File: new.rs\n+fn a() {\n+}\n*** End Patch";
    let codex = json!({"session_id": "c1", "cwd": root, "turn_id": "t", "model": "m", "tool_use_id": "1",
        "tool_name": "apply_patch", "tool_input": {"command": patch}});
    told("codex", ["PreToolUse", "PostToolUse"], &codex, "new.rs", "fn a() {\n}\n");
    let gemini = json!({"session_id": "g1", "cwd": root, "timestamp": "t", "tool_name": "replace",
        "tool_input": {"file_path": "src/a.rs", "new_string": "gemini = 1"}});
    told("gemini", ["BeforeTool", "AfterTool"], &gemini, "src/a.rs", "let gemini = 1;\n");
    let found = app.clearway().ok(&["diff"]);
    let by = |file: &Value| text(&list(file, "by")[0], "agent").split('-').next().map(str::to_owned);
    let files = list(&found, "files");
    assert_eq!(
        files.iter().map(by).collect::<Vec<_>>(),
        [Some("codex".to_owned()), Some("gemini".to_owned())]
    );
}

#[test]
fn files_without_lines_and_before_the_first_commit_are_told() {
    let home = home();
    let bare = home.directory("young");
    home.shell(&bare, "git init -q . && printf 'a\\0b' > bin && printf 'x\\n' > 'two words' && git add bin")
        .status()
        .expect("git");
    let young = home.clearway(&bare);
    young.agent("bob").ok(&["reserve", "--kind", "name", "build"]);
    let found = home.clearway(&bare).ok(&["diff"]);
    let files = list(&found, "files");
    assert_eq!((text(&files[0], "path"), &files[0]["binary"]), ("bin", &json!(true)));
    assert_eq!((text(&files[1], "path"), &files[1]["unattributed"]), ("two words", &json!(1)));
}

#[test]
fn a_stranger_is_named_and_a_place_without_git_is_refused() {
    let home = home();
    let app = invited(&home);
    app.clearway().fails("not-found", 5, &["diff", "--agent-name", "bop"]);
    let plain = home.directory("plain");
    home.clearway(&plain).fails("no-checkout", 2, &["diff"]);
}

#[test]
fn a_line_that_was_undone_and_written_again_is_of_whoever_wrote_it_last() {
    let home = home();
    let app = invited(&home);
    app.write("src/a.rs", "one\n");
    commit(&app);
    let (mut ada, mut cy) = (Client::claude(&home, &app, "ada"), Client::claude(&home, &app, "cy"));
    let input = json!({"old_string": "one", "new_string": "one\nsame line"});
    writes(&mut ada, &app, "src/a.rs", "one\nsame line\n", "Edit", &input);
    app.git(&["checkout", "-q", "--", "src/a.rs"]);
    writes(&mut cy, &app, "src/a.rs", "one\nsame line\n", "Edit", &input);
    let [_, _, cy] = names(&app).try_into().expect("three agents");
    assert_eq!(lines(&app, &[]), [(2, Some(cy), "same line".to_owned())]);
}

#[test]
fn acting_as_somebody_is_no_question_for_its_lines() {
    let home = home();
    let repository = app(&home);
    repository.write("main.rs", "changed\n");
    let seen = repository.clearway().ok(&["diff"]);
    assert_eq!(list(&seen, "files").len(), 1, "{seen:#}");
    assert_eq!(repository.agent("ada").ok(&["diff"])["files"], seen["files"]);
    assert_eq!(repository.clearway().args(&["--agent", "ada"]).ok(&["diff"])["files"], seen["files"]);
    repository.clearway().fails("not-found", 5, &["diff", "--agent-name", "ada"]);
}
