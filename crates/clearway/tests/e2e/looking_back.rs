//! `where`, `digest` and `status --cost`.

use crate::{app, home, list, number, text};
use clearway_testkit::{Client, Home, Repository, Terminal};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// The name that a client's agent got.
fn agent_of(app: &Repository<'_>, session: &str) -> String {
    let status = app.clearway().session(session).ok(&["status"]);
    text(&status, "agent").to_owned()
}

/// Two clients, of which the second is refused what the first one changes.
fn quarrel<'h>(home: &'h Home, app: &Repository<'h>) -> (Client, Client, String) {
    app.grant("ada", &["main.rs"]);
    app.agent("ada").ok(&["release", "--all"]);
    let (mut one, mut two) = (Client::claude(home, app, "one"), Client::claude(home, app, "two"));
    one.before_edit("src/a.rs").silent();
    app.write("src/a.rs", "changed\n");
    let reason = two.before_edit("src/a.rs").denied();
    (one, two, reason)
}

#[test]
fn where_tells_what_a_living_client_tells_and_how_to_go_on_with_it() {
    let home = home();
    let app = app(&home);
    app.git(&["checkout", "-q", "-b", "topic"]);
    let (one, ..) = quarrel(&home, &app);
    let name = agent_of(&app, "one");
    let place = app.clearway().ok(&["where", &name]);
    let root = app.path().display().to_string();
    assert_eq!((text(&place, "directory"), text(&place, "branch")), (root.as_str(), "topic"));
    assert_eq!(text(&place, "resume"), format!("cd {root} && claude --resume one"));
    assert_eq!(text(&place["agent"], "name"), name);
    let by_id = app.clearway().ok(&["where", text(&place["agent"], "id")]);
    assert_eq!(by_id["pid"], place["pid"]);
    let said = app.clearway().run(&["where", &name]).expect(0).stdout();
    assert!(said.contains("branch     topic\n") && said.contains("claude --resume one\n"), "{said}");
    one.die();
    let gone = app.clearway().ok(&["where", &name]);
    assert_eq!(
        (&gone["pid"], text(&gone, "directory")),
        (&Value::Null, root.as_str()),
        "where it held something"
    );
    let nobody = app.clearway().fails("not-found", 5, &["where", &name.replace("claude", "cloude")]);
    let hints = nobody["hints"].to_string();
    assert!(hints.contains(&format!("clearway where {name}")), "{hints}");
}

#[test]
fn where_names_the_terminal_and_the_pane_of_a_client() {
    let home = home();
    let app = app(&home);
    app.grant("ada", &["main.rs"]);
    let terminal = Terminal::open();
    let payload = json!({
        "session_id": "one", "transcript_path": "/t", "cwd": app.path(), "hook_event_name": "SessionStart",
        "source": "startup",
    });
    let file = home.path().join("payload.json");
    std::fs::write(&file, payload.to_string()).expect("a file");
    let script = r#"CLAUDE_PID=$$ "$1" hook claude < "$2" > /dev/null; echo up; cat"#;
    let mut command = Command::new("sh");
    command.args(["-c", script, "claude"]).arg(home.binary()).arg(&file).current_dir(app.path());
    command.env_clear().envs(home.environment()).env("TMUX_PANE", "%3");
    let mut client = command.stdin(terminal.end()).stdout(Stdio::piped()).spawn().expect("a shell");
    let mut line = String::new();
    BufReader::new(client.stdout.take().expect("a pipe")).read_line(&mut line).expect("it is up");
    let place = app.clearway().ok(&["where", &agent_of(&app, "one")]);
    assert_eq!(text(&place, "terminal"), terminal.device().display().to_string());
    assert_eq!(text(&place, "tmux_pane"), "%3");
    client.kill().and_then(|()| client.wait()).expect("it ends");
}

#[test]
fn what_hooks_cost_is_told_for_each_agent() {
    let home = home();
    let app = app(&home);
    let (mut one, _two, reason) = quarrel(&home, &app);
    let told = one.event("PreToolUse", &json!({"tool_name": "Read", "tool_input": {}})).told();
    let cost = app.clearway().ok(&["status", "--cost"]);
    let of = |session: &str| {
        let name = agent_of(&app, session);
        let agents = list(&cost, "agents");
        agents.iter().find(|agent| text(agent, "agent") == name).cloned().expect("its cost")
    };
    let (first, second) = (of("one"), of("two"));
    assert_eq!((number(&first, "told"), number(&first, "bytes")), (1, told.len() as u64));
    assert_eq!((number(&second, "refused"), number(&second, "bytes")), (1, reason.len() as u64));
    assert_eq!(number(&second, "tokens"), reason.len().div_ceil(4) as u64);
    let said = app.clearway().run(&["status", "--cost"]).expect(0).stdout();
    assert!(said.starts_with("agent"), "{said}");
}

#[test]
fn whoever_is_alone_costs_nothing_and_leaves_no_note() {
    let home = home();
    let app = app(&home);
    app.grant("ada", &["main.rs"]);
    app.agent("ada").ok(&["release", "--all"]);
    let mut one = Client::claude(&home, &app, "one");
    one.before_edit("src/a.rs").silent();
    one.after_edit("src/a.rs").silent();
    let said = app.clearway().run(&["status", "--cost"]).expect(0).stdout();
    assert_eq!(said, "hooks told nobody anything in the last day\n");
}

#[test]
fn a_hook_that_a_client_had_to_wait_for_is_counted_with_its_cause() {
    let home = home();
    let app = app(&home);
    app.grant("ada", &["main.rs"]);
    let lock = crate::open_store(&home);
    lock.execute_batch("BEGIN IMMEDIATE").expect("a lock");
    Client::claude(&home, &app, "one").before_edit("src/a.rs").told();
    drop(lock);
    let cost = app.clearway().ok(&["status", "--cost"]);
    assert_eq!((number(&cost, "slow"), text(&cost["slowest"][0], "cause")), (1, "store-busy"));
    assert!(number(&cost["slowest"][0], "ms") >= 250);
    let said = app.clearway().run(&["doctor", "--json"]).stdout();
    assert!(said.contains("1 hook call took 250 ms or longer in the last day; the slowest "), "{said}");
}

#[test]
fn a_night_is_told_in_few_lines_with_what_needs_a_person_first() {
    let home = home();
    let app = app(&home);
    let (mut one, mut two, _) = quarrel(&home, &app);
    let (first, second) = (agent_of(&app, "one"), agent_of(&app, "two"));
    one.event("SessionEnd", &json!({"reason": "other"})).silent();
    app.git(&["commit", "-q", "--allow-empty", "-m", "more"]);
    let digest = app.clearway().ok(&["digest", "--since", "1h"]);
    let left = json!([{"pattern": "src/a.rs", "from": first, "to": null}]);
    assert_eq!(digest["left_behind"], left);
    assert_eq!(text(&digest["longest_wait"], "pattern"), "src/a.rs");
    let deeds = list(&digest, "agents").iter().find(|agent| text(agent, "agent") == second).cloned();
    let deeds = deeds.expect("what the second one did");
    assert_eq!((number(&deeds, "refused"), number(&deeds, "waits")), (1, 1));
    assert!(number(&digest["commits"][0], "count") >= 1, "{digest}");
    assert_eq!(list(&digest, "commits").len(), 1, "{digest}");
    assert!(text_of(&digest["needs"][0]).contains("src/a.rs are not committed"), "{digest}");
    let said = app.clearway().run(&["digest"]).expect(0).stdout();
    assert!(said.lines().count() <= 40, "{said}");
    assert!(said.contains("needs you\n") && said.contains("left behind  src/a.rs by "), "{said}");
    two.before_edit("src/a.rs").told();
    let later = app.clearway().ok(&["digest", "--since", "2199-01-01T00:00:00Z"]);
    assert_eq!(number(&later, "events"), 0);
    app.clearway().fails("usage", 2, &["digest", "--since", "yesterday"]);
}

#[test]
fn a_night_of_many_agents_fits_forty_lines() {
    let home = home();
    let app = app(&home);
    for number in 0..30 {
        let agent = format!("a{number}");
        app.grant(&agent, &[&format!("src/f{number}.rs")]);
        app.agent(&agent).ok(&["reserve", "src/f0.rs", "--queue"]);
    }
    let said = app.clearway().run(&["digest"]).expect(0).stdout();
    assert!(said.lines().count() <= 40 && said.contains("and 18 more\n"), "{said}");
}

fn text_of(value: &Value) -> &str {
    value.as_str().expect("text")
}
