//! The real clients: Claude Code, Codex and Gemini CLI run our hook, obey it, and show their model what it said.

use clearway_clients::{CLAUDE, CODEX, GEMINI, RealClient, Script, play, play_to_death, resume};
use clearway_testkit::{Client, Home, Repository, eventually, process};
use serde_json::Value;

/// Writes every test once for each client.
macro_rules! each_client {
    ($($test:ident)*) => {
        mod claude { $(#[test] fn $test() { super::$test(&super::CLAUDE); })* }
        mod codex { $(#[test] fn $test() { super::$test(&super::CODEX); })* }
        mod gemini { $(#[test] fn $test() { super::$test(&super::GEMINI); })* }
    };
}

each_client! {
    a_file_with_somebodys_uncommitted_change_stays_as_it_is_and_the_model_is_told_why
    a_free_file_is_written_and_leased
    who_waits_is_told_at_its_next_call_that_it_is_its_turn
    the_end_of_a_session_gives_back_what_is_clean
    what_a_client_held_that_was_killed_is_granted_to_the_next
    a_session_that_is_resumed_is_the_agent_it_was
    a_binary_that_is_gone_keeps_nobody_from_working
    the_hook_and_the_command_line_of_one_session_are_one_agent
}

fn home() -> Home {
    Home::new(env!("CARGO_BIN_EXE_clearway"))
}

/// A repository that somebody invited us to.
fn app(home: &Home) -> Repository<'_> {
    let app = home.repository("app", &[("src/a.rs", "a\n"), ("src/b.rs", "b\n")]);
    app.grant("ada", &["docs/x.md"]);
    app.agent("ada").ok(&["release", "--all"]);
    app
}

fn content(app: &Repository<'_>, file: &str) -> String {
    std::fs::read_to_string(app.path().join(file)).expect("a file")
}

/// What is held: by whom, what.
fn held(app: &Repository<'_>) -> Vec<(String, String)> {
    let leases = app.clearway().ok(&["leases"]);
    let text = |lease: &Value, field: &str| lease[field].as_str().expect("a text").to_owned();
    let leases = leases["leases"].as_array().expect("a list");
    leases.iter().map(|lease| (text(lease, "agent"), text(lease, "pattern"))).collect()
}

fn files(held: &[(String, String)]) -> Vec<&str> {
    held.iter().map(|(_, file)| file.as_str()).collect()
}

/// Somebody else at work, with a change of `src/a.rs` that is not committed.
fn other(home: &Home, app: &Repository<'_>) -> Client {
    let mut other = Client::claude(home, app, "other");
    other.before_edit("src/a.rs").silent();
    app.write("src/a.rs", "a\nunfinished\n");
    other.after_edit("src/a.rs").silent();
    other
}

fn a_file_with_somebodys_uncommitted_change_stays_as_it_is_and_the_model_is_told_why(
    client: &'static RealClient,
) {
    let home = home();
    let app = app(&home);
    let _other = other(&home, &app);
    let played = play(client, &home, &app, Script::default().read("src/a.rs").edit("src/a.rs", "a", "mine"));
    assert_eq!(content(&app, "src/a.rs"), "a\nunfinished\n");
    for part in ["Not edited: src/a.rs is with claude-", "You are queued, 1st", "clearway ask src/a.rs"] {
        assert!(played.results[1].contains(part), "{part}: {:#?}", played.results);
    }
}

fn a_free_file_is_written_and_leased(client: &'static RealClient) {
    let home = home();
    let app = app(&home);
    let script = Script::default()
        .read("src/a.rs")
        .edit("src/a.rs", "a", "changed")
        .create("src/new.rs", "new")
        .meanwhile(|| assert_eq!(files(&held(&app)), ["src/a.rs", "src/new.rs"]));
    play(client, &home, &app, script);
    assert_eq!(content(&app, "src/a.rs"), "changed\n");
    assert_eq!(content(&app, "src/new.rs"), "new\n");
}

fn who_waits_is_told_at_its_next_call_that_it_is_its_turn(client: &'static RealClient) {
    let home = home();
    let app = app(&home);
    let _other = other(&home, &app);
    let script = Script::default()
        .read("src/a.rs")
        .edit("src/a.rs", "a", "mine")
        .meanwhile(|| {
            app.git(&["commit", "-qam", "finished"]);
            app.clearway().session("other").ok(&["release", "src/a.rs"]);
        })
        .shell("true")
        .read("src/a.rs")
        .edit("src/a.rs", "a", "mine");
    let played = play(client, &home, &app, script);
    assert_eq!(played.turn_of("src/a.rs is free, and kept for you"), Some(3), "{:#?}", played.results);
    assert_eq!(content(&app, "src/a.rs"), "mine\nunfinished\n");
}

fn the_end_of_a_session_gives_back_what_is_clean(client: &'static RealClient) {
    let home = home();
    let app = app(&home);
    let script =
        Script::default().create("src/done.rs", "done").create("src/open.rs", "open").meanwhile(|| {
            assert_eq!(files(&held(&app)), ["src/done.rs", "src/open.rs"]);
            app.git(&["add", "src/done.rs"]);
            app.git(&["commit", "-qm", "done"]);
        });
    play(client, &home, &app, script);
    // Gemini CLI does not wait for this hook.
    eventually("the session has ended", || app.kinds().contains(&"agent.ended".to_owned()).then_some(()));
    assert_eq!(files(&held(&app)), [""; 0]);
    assert_eq!(fates(&app, "src/done.rs"), ["lease.released"]);
    assert_eq!(fates(&app, "src/open.rs"), ["lease.orphaned"]);
}

fn what_a_client_held_that_was_killed_is_granted_to_the_next(client: &'static RealClient) {
    let home = home();
    let app = app(&home);
    let mut other = Client::claude(&home, &app, "other");
    let script = Script::default().create("src/new.rs", "new").meanwhile(|| {
        other.before_edit("src/new.rs").denied();
        process::kill(holder(&app));
    });
    play_to_death(client, &home, &app, script);
    let told = other.before_edit("src/new.rs").told();
    assert!(told.contains("src/new.rs is yours") && told.contains("is gone"), "{told}");
}

/// The process by which the one holder is known.
fn holder(app: &Repository<'_>) -> u32 {
    let (name, _) = held(app).remove(0);
    let events = app.events();
    let mut registered = events.iter().filter(|event| event["kind"] == "agent.registered");
    let its = registered.find(|event| event["data"]["name"] == name.as_str()).expect("an agent");
    u32::try_from(its["data"]["pid"].as_u64().expect("a process")).expect("a process id")
}

/// What became of the leases of a file.
fn fates(app: &Repository<'_>, file: &str) -> Vec<String> {
    let events = app.events();
    let granted = |event: &&Value| event["kind"] == "lease.granted" && event["data"]["pattern"] == file;
    let leases: Vec<&Value> = events.iter().filter(granted).map(|event| &event["data"]["lease"]).collect();
    let later = events.iter().filter(|event| event["kind"] != "lease.granted");
    let about = later.filter(|event| leases.contains(&&event["data"]["lease"]));
    about.map(|event| event["kind"].as_str().expect("a kind").to_owned()).collect()
}

fn the_hook_and_the_command_line_of_one_session_are_one_agent(client: &'static RealClient) {
    let home = home();
    let app = app(&home);
    let script = Script::default()
        .shell("clearway reserve src/b.rs")
        .create("src/new.rs", "new")
        .shell("clearway status; true")
        .meanwhile(|| {
            let held = held(&app);
            assert_eq!(files(&held), ["src/b.rs", "src/new.rs"]);
            assert_eq!(held[0].0, held[1].0, "one agent holds what its shell and what its hook took");
        });
    let played = play(client, &home, &app, script);
    let me = played.results[0].split_whitespace().find(|word| word.starts_with(client.name()));
    for part in [me.expect("a name"), "src/b.rs", "src/new.rs"] {
        assert!(played.results[2].contains(part), "{part}: {:#?}", played.results);
    }
}

fn a_binary_that_is_gone_keeps_nobody_from_working(client: &'static RealClient) {
    let home = home();
    let app = app(&home);
    let script = Script::default()
        .create("src/new.rs", "new")
        .meanwhile(|| std::fs::remove_file(home.path().join("bin/clearway")).expect("a link"))
        .create("src/more.rs", "more");
    play(client, &home, &app, script);
    assert_eq!(content(&app, "src/more.rs"), "more\n");
}

fn a_session_that_is_resumed_is_the_agent_it_was(client: &'static RealClient) {
    let home = home();
    let app = app(&home);
    play(client, &home, &app, Script::default().create("src/new.rs", "new"));
    eventually("the session has ended", || app.kinds().contains(&"agent.ended".to_owned()).then_some(()));
    resume(client, &home, &app, Script::default().create("src/new.rs", "new").create("src/more.rs", "more"));
    let events = app.events();
    let granted = |file: &str| {
        let is_it = |event: &&Value| event["kind"] == "lease.granted" && event["data"]["pattern"] == file;
        events.iter().find(is_it).map(|event| event["agent"].clone())
    };
    assert!(granted("src/more.rs").is_some(), "{events:#?}");
    assert_eq!(granted("src/more.rs"), granted("src/new.rs"));
}

#[test]
fn what_a_subagent_of_claude_held_is_its_parents() {
    let home = home();
    let app = app(&home);
    let script = Script::default()
        .create("src/own.rs", "own")
        .delegate("Write a file.", Script::default().create("src/sub.rs", "sub"))
        .meanwhile(|| assert_eq!(files(&held(&app)), ["src/own.rs", "src/sub.rs"]))
        .read("src/sub.rs")
        .edit("src/sub.rs", "sub", "changed");
    play(&CLAUDE, &home, &app, script);
    assert_eq!(content(&app, "src/sub.rs"), "changed\n");
    assert_eq!(fates(&app, "src/own.rs"), ["lease.orphaned"]);
    assert_eq!(fates(&app, "src/sub.rs"), ["lease.transferred", "lease.orphaned"]);
}

/// It sends nothing by which a hook could tell them apart.
#[test]
fn a_subagent_of_gemini_is_its_parent() {
    let home = home();
    let app = app(&home);
    let script = Script::default()
        .create("src/own.rs", "own")
        .delegate("Write a file.", Script::default().create("src/sub.rs", "sub"))
        .meanwhile(|| {
            let held = held(&app);
            assert_eq!(files(&held), ["src/own.rs", "src/sub.rs"]);
            assert_eq!(held[0].0, held[1].0);
        });
    play(&GEMINI, &home, &app, script);
}

const SEVERAL: &str = "*** Add File: src/new.rs\n+new\n*** Update File: src/a.rs\n*** Move to: src/moved.rs\n@@\n-a\n+b\n\
                       *** Delete File: src/b.rs\n";

#[test]
fn every_file_of_a_patch_of_codex_is_leased() {
    let home = home();
    let app = app(&home);
    let script = Script::default().patch(SEVERAL).meanwhile(|| {
        let held = held(&app);
        let mut files = files(&held);
        files.sort_unstable();
        assert_eq!(files, ["src/a.rs", "src/b.rs", "src/moved.rs", "src/new.rs"]);
    });
    play(&CODEX, &home, &app, script);
    assert_eq!(content(&app, "src/moved.rs"), "b\n");
    assert!(!app.path().join("src/b.rs").exists());
}

#[test]
fn one_file_that_is_held_keeps_back_a_whole_patch_of_codex_however_it_is_applied() {
    let home = home();
    let app = app(&home);
    let _other = other(&home, &app);
    let typed = format!("apply_patch <<'EOF'\n*** Begin Patch\n{SEVERAL}*** End Patch\nEOF");
    let there = "cd src && apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: a.rs\n*** End Patch\nEOF";
    let played = play(&CODEX, &home, &app, Script::default().patch(SEVERAL).shell(&typed).shell(there));
    for result in &played.results {
        assert!(result.contains("Not edited: src/a.rs is"), "{:#?}", played.results);
    }
    assert_eq!(app.git(&["status", "--porcelain"]), " M src/a.rs\n");
    assert_eq!(content(&app, "src/a.rs"), "a\nunfinished\n");
}
