//! A store that cannot be asked: the answer is the policy's, it is said once, and the way back is said once.

use super::gate::invited;
use crate::{app, home, notifying};
use clearway_testkit::{Client, Home, Repository};
use serde_json::json;
use std::fs;
use std::path::PathBuf;

/// What is remembered of the outage.
fn memory(home: &Home) -> Option<PathBuf> {
    let entries = fs::read_dir(home.path().join("run/clearway")).ok()?;
    let is_memory =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("outage-"));
    entries.map(|entry| entry.expect("an entry").path()).find(is_memory)
}

/// Lets what is remembered grow old.
fn grow_old(home: &Home) {
    let path = memory(home).expect("something is remembered");
    let text = fs::read_to_string(&path).expect("text");
    let (mark, rest) = text.split_once('\n').expect("lines");
    let (boot, _) = mark.rsplit_once(' ').expect("a boot and an instant");
    fs::write(&path, format!("{boot} 0\n{rest}")).expect("a file");
}

type Break = fn(&Home) -> Option<rusqlite::Connection>;

/// Ways to lose a store, each with a way back where there is one.
const BREAKS: [(&str, Break); 3] = [
    ("locked", |home| {
        let connection = crate::open_store(home);
        connection.execute_batch("BEGIN IMMEDIATE").expect("a lock");
        Some(connection)
    }),
    ("corrupt", |home| {
        fs::write(home.only_store(), "no database at all".repeat(1_000)).expect("a file");
        None
    }),
    ("missing", |home| {
        fs::remove_file(home.only_store()).expect("a store");
        None
    }),
];

fn broken<'h>(home: &'h Home, how: Break) -> (Repository<'h>, Option<rusqlite::Connection>) {
    let app = app(home);
    invited(&app);
    let kept = how(home);
    (app, kept)
}

#[test]
fn where_somebody_watches_edits_pass_with_one_word_to_each_agent_for_the_whole_outage() {
    for (name, how) in BREAKS {
        let home = home();
        let (app, _kept) = broken(&home, how);
        let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
        let first = one.before_edit("src/a.rs");
        let told = first.told();
        assert!(told.starts_with("Edits are not checked by Clearway for now: "), "{name}: {told}");
        assert!(first.stdout.contains("systemMessage"), "{name}: the person sees it too");
        one.before_edit("src/b.rs").silent();
        assert!(
            two.before_edit("src/a.rs").told().starts_with("Edits are not checked by Clearway"),
            "{name}"
        );
        two.before_edit("src/a.rs").silent();
        grow_old(&home);
        two.before_edit("src/a.rs").silent();
        one.before_edit("src/a.rs").silent();
    }
}

#[test]
fn where_nobody_watches_edits_are_refused_and_the_second_does_not_ask_again() {
    for (name, how) in BREAKS {
        let home = home();
        home.user_config("posture = \"unattended\"\n");
        let (app, _kept) = broken(&home, how);
        let mut one = Client::claude(&home, &app, "one");
        let reason = one.before_edit("src/a.rs").denied();
        assert!(reason.contains("Trying again does not help"), "{name}: {reason}");
        if name != "missing" {
            let again = one.before_edit("src/a.rs").denied();
            assert!(again.contains("a moment ago"), "{name}: {again}");
        }
        one.event("Stop", &serde_json::json!({})).silent();
    }
}

#[test]
fn a_store_that_answers_again_is_mentioned_once() {
    let home = home();
    let (app, lock) = broken(&home, BREAKS[0].1);
    let mut one = Client::claude(&home, &app, "one");
    one.before_edit("src/a.rs").told();
    drop(lock);
    one.before_edit("src/a.rs").silent();
    grow_old(&home);
    assert_eq!(one.before_edit("src/a.rs").told(), "Clearway works again; edits are checked.");
    one.before_edit("src/a.rs").silent();
    assert_eq!(memory(&home), None);
}

#[test]
fn everybody_who_was_told_of_an_outage_is_told_that_it_is_over_and_nobody_else() {
    let home = home();
    let (app, lock) = broken(&home, BREAKS[0].1);
    let [mut one, mut two, mut three] = ["one", "two", "three"].map(|id| Client::claude(&home, &app, id));
    one.before_edit("src/a.rs").told();
    two.before_edit("src/b.rs").told();
    drop(lock);
    grow_old(&home);
    three.before_edit("docs/x.md").silent();
    for client in [&mut two, &mut one] {
        let told = client.before_edit("docs/y.md");
        assert!(told.stdout.contains("Clearway works again; edits are checked."), "{told:?}");
    }
    assert_eq!(memory(&home), None);
    one.before_edit("src/a.rs").silent();
}

#[test]
fn a_person_is_told_of_every_outage_though_somebody_who_was_told_of_the_first_never_came_back() {
    let home = home();
    notifying::listen(&home);
    let (app, lock) = broken(&home, BREAKS[0].1);
    Client::claude(&home, &app, "one").before_edit("src/a.rs").told();
    drop(lock);
    grow_old(&home);
    let mut two = Client::claude(&home, &app, "two");
    two.before_edit("src/b.rs").silent();
    let lock = BREAKS[0].1(&home);
    two.before_edit("src/b.rs").told();
    two.before_edit("src/b.rs").silent();
    drop(lock);
    notifying::is_told(&home, &app, "outage", 2);
}

#[test]
fn nothing_is_remembered_for_whoever_ended_after_an_outage_nor_of_another_boot() {
    let home = home();
    let (app, lock) = broken(&home, BREAKS[0].1);
    let mut one = Client::claude(&home, &app, "one");
    one.before_edit("src/a.rs").told();
    let path = memory(&home).expect("something is remembered");
    let text = fs::read_to_string(&path).expect("text");
    let boot = text.split_whitespace().next().expect("a boot");
    fs::write(&path, text.replacen(boot, "another", 1)).expect("a file");
    one.before_edit("src/a.rs").told();
    drop(lock);
    grow_old(&home);
    one.event("SessionEnd", &json!({"reason": "other"})).silent();
    assert_eq!(memory(&home), None);
}

#[test]
fn a_mode_that_does_not_enforce_refuses_nothing_and_the_repository_can_only_raise_it() {
    let home = home();
    let app = app(&home);
    app.grant("otter", &["src/a.rs"]);
    let mut one = Client::claude(&home, &app, "one");
    home.user_config("mode = \"observe\"\n");
    one.before_edit("src/a.rs").silent();
    assert_eq!(app.kinds().last().map(String::as_str), Some("reservation.refused"));
    let start = serde_json::json!({"source": "startup"});
    assert!(one.event("SessionStart", &start).told().contains("mode = observe"));
    home.user_config("mode = \"warn\"\n");
    let told = one.before_edit("src/a.rs").told();
    assert!(told.contains("src/a.rs is held by otter") && told.contains("all the same"), "{told}");
    app.write(".clearway.toml", "mode = \"enforce\"\n");
    one.before_edit("src/a.rs").denied();
}

#[test]
fn a_call_that_is_too_much_is_refused_for_itself_and_the_next_is_checked() {
    let home = home();
    let app = app(&home);
    invited(&app);
    home.user_config("[tools]\nsave_pages = \"targets\"\n");
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    let files: Vec<String> = (0..300).map(|number| format!("new/{number}.rs")).collect();
    let input = json!({"tool_name": "mcp__wiki__save_pages", "tool_input": {"targets": files}});
    let said = one.event("PreToolUse", &input).denied();
    assert!(said.contains("one call writes 300 files: write at most 256 files in one call"), "{said}");
    assert_eq!(memory(&home), None);
    two.before_edit("src/a.rs").silent();
    assert_eq!(super::gate::held(&app).len(), 1);
}

#[test]
fn the_store_that_failed_is_spared_and_not_that_of_where_the_agent_stands() {
    let home = home();
    let other = home.repository("other", &[("x.rs", "x\n")]);
    invited(&other);
    let store = home.only_store();
    let app = app(&home);
    invited(&app);
    fs::write(store, "no database at all".repeat(1_000)).expect("a file");
    let mut one = Client::claude(&home, &app, "one");
    one.before_edit("../other/x.rs").told();
    one.before_edit("src/a.rs").silent();
    assert_eq!(super::gate::held(&app).len(), 1, "what stands here is checked");
    one.before_edit("../other/x.rs").silent();
}

#[test]
fn a_store_that_is_nowhere_speaks_only_where_it_was_before() {
    let home = home();
    let (app, other) = (app(&home), home.repository("other", &[("x.rs", "\n")]));
    let directory = home.directory("team");
    home.user_config(&format!("[store]\nurl = \"{}\"\n", directory.join("store.db").display()));
    invited(&app);
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &other, "two"));
    let command = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
    one.event("PreToolUse", &command).silent();
    fs::rename(&directory, home.path().join("away")).expect("a directory");
    two.event("PreToolUse", &command).silent();
    two.before_edit("x.rs").silent();
    assert!(memory(&home).is_none(), "nothing is remembered where nobody invited us");
    let told = one.before_edit("src/a.rs").told();
    assert!(told.starts_with("Edits are not checked by Clearway for now: "), "{told}");
    assert!(told.contains("store.db is not there any more"), "{told}");
    one.before_edit("src/b.rs").silent();
    fs::create_dir(&directory).expect("a directory");
    fs::remove_file(memory(&home).expect("something is remembered")).expect("a file");
    let told = one.before_edit("src/a.rs").told();
    assert!(told.contains("store.db is not there any more"), "{told}");
    two.before_edit("x.rs").silent();
}

#[test]
fn a_file_of_the_repository_that_is_wrong_turns_nothing_off() {
    for text in ["mode = \"observe\"\n", "bogus = 1\n", "foo = [\n"] {
        let home = home();
        let app = app(&home);
        app.grant("otter", &["src/a.rs"]);
        app.write(".clearway.toml", text);
        let mut one = Client::claude(&home, &app, "one");
        one.before_edit("src/a.rs").denied();
        one.before_edit("src/b.rs").silent();
    }
}

#[test]
fn settings_of_the_user_that_are_wrong_are_told_once_and_only_where_somebody_invited_us() {
    let home = home();
    let (app, other) = (app(&home), home.repository("other", &[("x.rs", "\n")]));
    invited(&app);
    home.user_config("postur = \"x\"\n");
    Client::claude(&home, &other, "two").before_edit("x.rs").silent();
    let mut one = Client::claude(&home, &app, "one");
    assert!(one.before_edit("src/a.rs").told().contains("postur"));
    one.before_edit("src/b.rs").silent();
    home.user_config("");
    grow_old(&home);
    assert_eq!(one.before_edit("src/a.rs").told(), "Clearway works again; edits are checked.");
}

#[test]
fn a_line_of_a_hook_that_cannot_be_read_is_no_denial() {
    let home = home();
    let app = app(&home);
    for words in [
        ["hook"].as_slice(),
        &["hook", "claude", "--bad"],
        &["--agent", "ada", "hook", "foo"],
        &["hook", "foo"],
    ] {
        assert_eq!(app.clearway().run(words).code(), 1, "{words:?}");
    }
    assert_eq!(app.clearway().run(&["reserve", "--bad", "hook"]).code(), 2);
}

#[test]
fn a_directory_is_nothing_that_a_call_writes() {
    let home = home();
    let app = app(&home);
    invited(&app);
    Client::claude(&home, &app, "one").before_edit("src").silent();
    assert!(super::gate::held(&app).is_empty());
}

#[test]
fn a_scope_whose_directory_is_removed_is_missed_by_whoever_edited_there() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let mut one = Client::claude(&home, &app, "one");
    one.before_edit("src/a.rs").silent();
    let scope = home.only_store().parent().expect("a directory").to_owned();
    let kept = scope.with_extension("kept");
    fs::rename(&scope, &kept).expect("a directory");
    let told = one.before_edit("src/b.rs").told();
    assert!(told.starts_with("Edits are not checked by Clearway for now"), "{told}");
    home.user_config("posture = \"unattended\"\n");
    let refused = one.before_edit("src/b.rs").denied();
    assert!(refused.contains("Trying again does not help"), "{refused}");
    let other = home.repository("other", &[("x.rs", "\n")]);
    Client::claude(&home, &other, "two").before_edit("x.rs").silent();
}

#[test]
fn a_scope_whose_directory_is_removed_is_missed_where_only_a_command_ran() {
    let home = home();
    let app = app(&home);
    invited(&app);
    home.user_config("posture = \"unattended\"\n");
    let mut one = Client::claude(&home, &app, "one");
    let run = json!({"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": {"command": "true"}});
    one.event("PreToolUse", &run).silent();
    let scope = home.only_store().parent().expect("a directory").to_owned();
    fs::rename(&scope, scope.with_extension("kept")).expect("a directory");
    let refused = one.before_edit("src/a.rs").denied();
    assert!(refused.contains("Trying again does not help"), "{refused}");
}

/// A call of a client whose model hears a denial, and otherwise only what is said after a call.
fn late(app: &Repository<'_>, after: bool, file: &str) -> clearway_testkit::Ran {
    let payload = json!({
        "sessionId": "late", "timestamp": 1, "cwd": app.path(), "toolName": "edit",
        "toolArgs": {"path": app.path().join(file)},
    });
    let event = if after { "postToolUse" } else { "preToolUse" };
    app.clearway().run_with(payload.to_string().as_bytes(), &["hook", "copilot", event])
}

#[test]
fn whoever_was_refused_during_an_outage_is_told_that_it_is_over() {
    let home = home();
    home.user_config("posture = \"unattended\"\n");
    let (app, lock) = broken(&home, BREAKS[0].1);
    assert!(late(&app, false, "src/a.rs").expect(2).stdout().contains("Trying again does not help"));
    drop(lock);
    grow_old(&home);
    assert_eq!(late(&app, false, "src/a.rs").expect(0).stdout(), "");
    let told = late(&app, true, "src/a.rs").expect(0).stdout();
    assert!(told.contains("Clearway works again; edits are checked."), "{told}");
    assert_eq!(late(&app, true, "src/a.rs").expect(0).stdout(), "", "it is said once");
}

#[test]
fn a_command_that_destroys_during_an_outage_passes_with_a_word_or_not_at_all() {
    let runs = |client: &mut Client, command: &str| {
        client.event("PreToolUse", &json!({"tool_name": "Bash", "tool_input": {"command": command}}))
    };
    for (posture, is_refused) in [("solo", false), ("unattended", true)] {
        for command in ["rm src/a.rs", "git reset --hard"] {
            let home = home();
            home.user_config(&format!("posture = \"{posture}\"\n"));
            let (app, _lock) = broken(&home, BREAKS[0].1);
            let mut one = Client::claude(&home, &app, "one");
            runs(&mut one, "ls").silent();
            let answer = runs(&mut one, command);
            if is_refused {
                let reason = answer.denied();
                assert!(reason.starts_with("Not run: Clearway cannot keep what it destroys: "), "{reason}");
                assert!(reason.contains("Trying again does not help"), "{reason}");
                runs(&mut one, command).denied();
            } else {
                let told = answer.told();
                assert!(told.contains("what a command destroys is not kept: "), "{told}");
                runs(&mut one, command).silent();
                one.before_edit("src/b.rs").silent();
            }
            runs(&mut one, "ls").silent();
        }
    }
}

#[test]
fn without_a_home_nothing_is_said_where_nobody_invited_us_and_one_word_elsewhere() {
    let home = home();
    let (app, other) = (app(&home), home.repository("other", &[("x.rs", "\n")]));
    invited(&app);
    Client::claude(&home, &app, "one").before_edit("src/a.rs").silent();
    let edit = |repository: &Repository<'_>, file: &str, kept: &str| {
        let payload = json!({
            "session_id": "two", "transcript_path": "/t", "cwd": repository.path(), "hook_event_name": "PreToolUse",
            "tool_name": "Edit", "tool_input": {"file_path": repository.path().join(file)},
        });
        let line =
            format!("env -u HOME -u XDG_STATE_HOME {kept} clearway hook claude <<'END'\n{payload}\nEND");
        let output = home.shell(repository.path(), &line).output().expect("a shell");
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    for kept in ["-u XDG_CONFIG_HOME", ""] {
        assert_eq!(edit(&other, "x.rs", kept), "", "nobody invited us");
        let told = edit(&app, "src/b.rs", kept);
        assert!(told.contains("Edits are not checked by Clearway for now: "), "{told}");
        assert_eq!(edit(&app, "src/b.rs", kept), "", "one word is enough");
        fs::remove_file(memory(&home).expect("something is remembered")).expect("a file");
    }
}

#[test]
fn a_denial_is_one_whatever_flags_the_line_of_the_hook_has() {
    let home = home();
    let app = app(&home);
    app.grant("otter", &["src/a.rs"]);
    let payload = json!({
        "session_id": "one", "transcript_path": "/t", "cwd": app.path(), "hook_event_name": "PreToolUse",
        "tool_name": "Edit", "tool_input": {"file_path": app.path().join("src/a.rs")},
    });
    for words in [["hook", "claude"].as_slice(), &["hook", "--json", "claude"], &["hook", "claude", "--json"]]
    {
        let ran = app.clearway().run_with(payload.to_string().as_bytes(), words).expect(2);
        assert!(ran.stdout().contains("with otter ("), "{words:?}: {}", ran.stdout());
    }
}

#[test]
fn a_model_that_hears_nothing_before_a_call_hears_of_an_outage_after_it() {
    for client in ["gemini", "cursor", "copilot"] {
        let home = home();
        let (app, lock) = broken(&home, BREAKS[0].1);
        let asks = |is_over: bool| {
            let file = app.path().join("src/a.rs");
            let payload = match client {
                "gemini" => json!({
                    "session_id": "one", "transcript_path": "/t", "timestamp": "t", "cwd": app.path(),
                    "hook_event_name": if is_over { "AfterTool" } else { "BeforeTool" },
                    "tool_name": "write_file", "tool_input": {"file_path": file, "content": "x"},
                }),
                "cursor" => json!({
                    "conversation_id": "one", "cursor_version": "2", "cwd": app.path(), "tool_use_id": "t",
                    "hook_event_name": if is_over { "postToolUse" } else { "preToolUse" },
                    "tool_name": "Write", "tool_input": {"file_path": file, "content": "x"},
                }),
                _ => json!({
                    "sessionId": "one", "timestamp": 1, "cwd": app.path(), "toolName": "edit",
                    "toolArgs": {"path": file},
                }),
            };
            let event = if is_over { "postToolUse" } else { "preToolUse" };
            let words = ["hook", client, event];
            let words = if client == "copilot" { &words[..] } else { &words[..2] };
            app.clearway().run_with(payload.to_string().as_bytes(), words).expect(0).stdout()
        };
        let hears = |said: &str, what: &str| {
            let document: serde_json::Value = serde_json::from_str(said).unwrap_or_default();
            let of_gemini = &document["hookSpecificOutput"]["additionalContext"];
            let heard = [of_gemini, &document["additional_context"], &document["additionalContext"]];
            heard.iter().filter_map(|text| text.as_str()).any(|text| text.contains(what))
        };
        let outage = "Edits are not checked by Clearway for now: ";
        assert!(!hears(&asks(false), outage), "{client} has no ear before a call");
        let said = asks(true);
        assert!(hears(&said, outage), "{client}: {said}");
        assert_eq!((asks(false), asks(true)), Default::default(), "{client}: once for the whole outage");
        drop(lock);
        grow_old(&home);
        asks(false);
        let said = asks(true);
        assert!(hears(&said, "Clearway works again; edits are checked."), "{client}: {said}");
    }
}

/// A disk that was full is found to have room again by whoever is granted something, also outside of any hook.
#[test]
fn an_agent_that_only_runs_commands_hears_that_a_full_disk_has_room_again() {
    let home = home();
    let (app, lock) = broken(&home, BREAKS[0].1);
    let mut one = Client::claude(&home, &app, "one");
    let ls = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
    one.before_edit("src/a.rs").told();
    drop(lock);
    let path = memory(&home).expect("something is remembered");
    let text = fs::read_to_string(&path).expect("text");
    fs::write(&path, text.replace("store-busy", "store-full")).expect("a file");
    grow_old(&home);
    one.event("PreToolUse", &ls).silent();
    app.agent("otter").ok(&["reserve", "docs/x.md"]);
    assert_eq!(one.event("PreToolUse", &ls).told(), "Clearway works again; edits are checked.");
    one.event("PreToolUse", &ls).silent();
}

#[test]
fn what_one_sessions_own_environment_breaks_is_no_trouble_of_others() {
    for variable in [
        "CLEARWAY_MODE=bogus",
        "CLEARWAY_STORE=/nowhere/x.db",
        "CLEARWAY_TIMEOUTS_STORE=zz",
        "CLEARWAY_AGENT=a b!",
    ] {
        for posture in ["solo", "unattended"] {
            let home = home();
            home.user_config(&format!("posture = \"{posture}\"\n"));
            let app = app(&home);
            invited(&app);
            let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
            let mut broken = Client::claude_behind(&home, &app, "three", &["env", variable]);
            one.before_edit("src/a.rs").silent();
            app.write("src/a.rs", "changed\n");
            one.after_edit("src/a.rs").silent();
            let first = broken.before_edit("src/b.rs");
            one.before_edit("src/a.rs").silent();
            assert!(
                two.before_edit("src/a.rs").denied().contains("src/a.rs is with"),
                "{variable}, {posture}"
            );
            let again = broken.before_edit("src/b.rs");
            match posture {
                "solo" => {
                    assert!(first.told().contains("not checked"), "{variable}");
                    again.silent();
                }
                _ => assert!(first.denied() != "" && again.denied() != "", "{variable}: nobody watches"),
            }
            assert_eq!(one.before_edit("src/c.rs").code, 0, "{variable}, {posture}");
        }
    }
}

#[test]
fn a_directory_of_notes_that_is_somebody_elses_leaves_no_edit_unchecked() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let notes = home.path().join("run/clearway");
    drop(fs::remove_dir_all(&notes));
    std::os::unix::fs::symlink(&notes, &notes).expect("a link to itself");
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    one.before_edit("src/a.rs").silent();
    app.write("src/a.rs", "changed\n");
    assert!(two.before_edit("src/a.rs").denied().contains("src/a.rs is with"));
}
