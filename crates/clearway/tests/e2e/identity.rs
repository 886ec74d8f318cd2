//! Who is calling: one agent per client session, name or terminal, and nobody else's.

use crate::{app, each, home, list, number, text};
use clearway_testkit::{Home, Terminal, eventually};
use serde_json::Value;
use std::path::Path;

#[test]
fn a_client_session_is_one_agent_however_often_it_calls() {
    let home = home();
    let repository = app(&home);
    let act = |session: &str, file: &str| repository.clearway().session(session).ok(&["reserve", file]);
    let (one, two, other) = (act("s-1", "a.rs"), act("s-1", "b.rs"), act("s-2", "c.rs"));
    assert_eq!(one["agent_id"], two["agent_id"]);
    assert_ne!(one["agent_id"], other["agent_id"]);
    assert_eq!(list(&repository.clearway().session("s-1").ok(&["release", "--all"]), "released").len(), 2);
    let agents = repository.clearway().ok(&["agents"]);
    assert_eq!(each(&agents, "agents", "client"), ["claude-code", "claude-code"]);
}

#[test]
fn every_client_is_known_by_its_own_variable() {
    let home = home();
    let repository = app(&home);
    let clients = [
        ("CLAUDE_CODE_SESSION_ID", "claude-code"),
        ("CODEX_THREAD_ID", "codex"),
        ("CODEX_SESSION_ID", "codex"),
        ("GEMINI_SESSION_ID", "gemini"),
    ];
    for (variable, client) in clients {
        let reply = repository.clearway().env(variable, format!("s-{variable}")).ok(&["reserve", variable]);
        let agents = repository.clearway().ok(&["agents"]);
        let agent = list(&agents, "agents").iter().find(|agent| agent["id"] == reply["agent_id"]);
        assert_eq!(agent.expect("registered")["client"], client, "{variable}");
    }
}

#[test]
fn nobody_is_told_what_is_its_own_under_the_name_of_a_session_it_is_not_in() {
    let home = home();
    let repository = app(&home);
    let name = text(&repository.clearway().session("s-1").ok(&["reserve", "a.rs"]), "agent").to_owned();
    for words in [["status"].as_slice(), &["mine"], &["check", "b.rs"]] {
        let error = repository.agent(&name).fails("not-you", 3, words);
        assert!(text(&error, "message").contains("session you are not in"), "{error}");
        repository.agent(&name).session("s-1").ok(words);
    }
    repository.agent(&name).ok(&["leases"]);
}

#[test]
fn a_name_nobody_chose_is_unique_and_safe_everywhere() {
    let home = home();
    let repository = app(&home);
    for number in 0..8 {
        repository.clearway().session(&format!("s-{number}")).ok(&["reserve", &format!("{number}.rs")]);
    }
    let agents = repository.clearway().ok(&["agents"]);
    let names = each(&agents, "agents", "name");
    let plain = |name: &&str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
    assert!(names.iter().all(plain), "{names:?}");
    let distinct: std::collections::BTreeSet<&&str> = names.iter().collect();
    assert_eq!(distinct.len(), 8);
}

#[test]
fn the_flag_is_stronger_than_the_variable_and_both_than_the_session() {
    let home = home();
    let repository = app(&home);
    let variable = repository.clearway().env("CLEARWAY_AGENT", "variable").session("s-1");
    assert_eq!(variable.ok(&["reserve", "a.rs"])["agent"], "variable");
    let flag = repository.agent("flag").env("CLEARWAY_AGENT", "variable").session("s-1");
    assert_eq!(flag.ok(&["reserve", "b.rs"])["agent"], "flag");
}

#[test]
fn a_name_of_a_client_session_acts_only_inside_it() {
    let home = home();
    let repository = app(&home);
    let lease = repository.clearway().session("s-1").ok(&["reserve", "src/a.rs"])["leases"][0].clone();
    let (name, id) = (text(&lease, "agent"), text(&lease, "id"));
    for words in [["release", id].as_slice(), &["renew", id], &["reserve", "b.rs"], &["release", "--all"]] {
        let error = repository.agent(name).fails("not-you", 3, words);
        assert!(text(&error, "message").contains(name), "{error}");
        repository.agent(name).session("s-2").fails("not-you", 3, words);
        repository.clearway().env("CLEARWAY_AGENT", name).fails("not-you", 3, words);
    }
    assert!(repository.is_clear("bob", "b.rs") && !repository.is_clear("bob", "src/a.rs"));
    let inside = repository.agent(name).session("s-1").ok(&["reserve", "b.rs"]);
    assert_eq!(inside["agent_id"], lease["agent_id"]);
    let denied = repository.kinds().iter().filter(|kind| *kind == "action.denied").count();
    assert!(denied >= 1, "every denial is on record");
}

#[test]
fn leaving_out_the_name_is_no_way_round() {
    let home = home();
    let repository = app(&home);
    let lease = repository.clearway().session("s-1").ok(&["reserve", "src/a.rs"])["leases"][0].clone();
    let script = format!("clearway --json release {}", text(&lease, "id"));
    let output = home.session_shell(&Terminal::open(), repository.path(), &script).output().expect("a shell");
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(!repository.is_clear("bob", "src/a.rs"));
}

#[test]
fn a_session_variable_that_holds_no_session_id_is_refused() {
    let home = home();
    let repository = app(&home);
    for value in ["a b", "x'y", "$(id)", "a\nb", &"x".repeat(129)] {
        let error = repository.clearway().session(value).fails("no-identity", 2, &["reserve", "a.rs"]);
        assert!(text(&error, "message").contains("CLAUDE_CODE_SESSION_ID"), "{error}");
    }
    assert!(home.state_files().is_empty());
    repository.clearway().session("").agent("alice").ok(&["reserve", "a.rs"]);
}

#[test]
fn a_session_variable_that_tells_nothing_keeps_nobody_from_looking() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let broken = || repository.clearway().session("a b");
    let looks: [&[&str]; 9] = [
        &["leases"],
        &["agents"],
        &["status"],
        &["events"],
        &["who", "src/a.rs"],
        &["sweep"],
        &["config", "show"],
        &["audit", "verify"],
        &["audit", "export"],
    ];
    for words in looks {
        broken().json(words).expect(0);
    }
    assert_eq!(broken().agent("bob").ok(&["reserve", "b.rs"])["agent"], "bob", "a name is enough");
    broken().operator(&home).fails("not-operator", 3, &["release", "--all", "--reason", "tidy"]);
    let check = |clearway: clearway_testkit::Clearway, code: i32| {
        let report = clearway.json(&["doctor"]).expect(code).value();
        let checks =
            if code == 0 { report["checks"].clone() } else { report["error"]["details"]["checks"].clone() };
        let about = |check: &&Value| check["about"] == "identity";
        checks.as_array().and_then(|checks| checks.iter().find(about)).expect("a check").clone()
    };
    let malformed = check(broken(), 1);
    assert!(malformed["status"] == "wrong" && text(&malformed, "text").contains("CLAUDE_CODE_SESSION_ID"));
    assert!(text(&malformed, "hint").contains("unset the variable"), "{malformed}");
    let rivals = check(repository.clearway().session("s-1").env("CODEX_THREAD_ID", "t-1"), 1);
    assert!(rivals["status"] == "wrong" && text(&rivals, "text").contains("CODEX_THREAD_ID"), "{rivals}");
    assert!(text(&rivals, "hint").contains("--agent NAME"), "{rivals}");
    assert_eq!(check(repository.agent("alice").session("a b"), 0)["status"], "ok");
    let nobody = home.json_without_terminal(repository.path(), &["doctor"]);
    let nobody = list(&nobody, "checks").iter().find(|check| check["about"] == "identity").cloned();
    let nobody = nobody.expect("a check");
    assert!(nobody["status"] == "note" && text(&nobody, "hint").contains("--agent NAME"), "{nobody}");
}

#[test]
fn an_agent_started_by_another_agent_is_itself() {
    let home = home();
    let repository = app(&home);
    let (claude, codex) = ("CLAUDE_CODE_SESSION_ID=s-1", "CODEX_THREAD_ID=t-1");
    let nested = [(claude, codex, "codex"), (codex, claude, "claude-code")];
    for (outer, inner, client) in nested {
        let call = format!("clearway --json reserve {client}.rs; clearway --json reserve {client}.md");
        let script = format!(r#"{outer} sh -c '{inner} sh -c "{call}; true"; true'; true"#);
        let output = home.shell(repository.path(), &script).output().expect("a shell");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let replies: Vec<Value> =
            said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(replies[0]["agent_id"], replies[1]["agent_id"], "{said}");
        let agents = repository.clearway().ok(&["agents"]);
        let agent = list(&agents, "agents").iter().find(|agent| agent["id"] == replies[0]["agent_id"]);
        assert_eq!(agent.expect("registered")["client"], client);
    }
}

#[test]
fn sessions_that_nothing_tells_apart_are_refused_by_name() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let both = || repository.clearway().session("s-1").env("CODEX_THREAD_ID", "t-1");
    let error = both().fails("no-identity", 2, &["reserve", "b.rs"]);
    for variable in ["CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID"] {
        assert!(text(&error, "message").contains(variable), "{error}");
    }
    assert!(error["hints"][0].as_str().is_some_and(|hint| hint.contains("--agent")), "{error}");
    assert_eq!(both().agent("bob").ok(&["reserve", "b.rs"])["agent"], "bob");
    both().ok(&["leases"]);
    both().ok(&["sweep"]);
    let one_client = repository.clearway().env("CODEX_SESSION_ID", "s-2").env("CODEX_THREAD_ID", "t-1");
    one_client.ok(&["reserve", "c.rs"]);
    let words = ["release", "src/a.rs", "--reason", "tidy"];
    both().operator(&home).fails("not-operator", 3, &words);
}

/// What a script run by the shell of a terminal of its own printed, one JSON document a line.
fn in_terminal(home: &Home, directory: &Path, script: &str) -> Vec<Value> {
    let output = home.session_shell(&Terminal::open(), directory, script).output().expect("a shell");
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn a_terminal_is_one_agent_and_another_terminal_another() {
    let home = home();
    let repository = app(&home);
    let script = "clearway --json reserve $0.rs; clearway --json reserve $0.md";
    let here = script.replace("$0", "a");
    let replies = in_terminal(&home, repository.path(), &here);
    assert_eq!(replies[0]["agent_id"], replies[1]["agent_id"]);
    let others = in_terminal(&home, repository.path(), &script.replace("$0", "b"));
    assert_ne!(replies[0]["agent_id"], others[0]["agent_id"]);
    let agents = repository.clearway().ok(&["agents"]);
    assert_eq!(each(&agents, "agents", "client"), ["terminal", "terminal"]);
}

#[test]
fn what_a_closed_terminal_held_goes_to_whoever_asks() {
    let home = home();
    let repository = app(&home);
    let lost = in_terminal(&home, repository.path(), "clearway --json reserve src/a.rs --ttl 24h")[0].clone();
    let from = text(&lost, "agent");
    let seen = repository.clearway().ok(&["who", "src/a.rs"]);
    assert_eq!(seen["holders"][0]["liveness"], "gone");
    assert!(repository.is_clear("bob", "src/a.rs"), "check is the decision of reserve");
    let warnings = repository.clearway().ok(&["status"]);
    assert!(warnings["warnings"][0].as_str().is_some_and(|warning| warning.contains(from)), "{warnings}");
    let reply = repository.agent("bob").ok(&["reserve", "src/a.rs"]);
    let notice = &reply["notices"][0];
    assert_eq!((&notice["code"], text(notice, "agent")), (&"took-over".into(), from));
    assert!(number(&reply["leases"][0], "fence") > number(&lost["leases"][0], "fence"));
    assert!(repository.kinds().contains(&"lease.taken-over".to_owned()));
    let old = in_terminal(
        &home,
        repository.path(),
        &format!("clearway --json renew {}", text(&lost["leases"][0], "id")),
    );
    let error = &old[0]["error"];
    assert_eq!(error["slug"], "lease-expired", "{error}");
    assert!(text(error, "message").ends_with("was taken over; bob holds it now"), "{error}");
}

#[test]
fn what_a_living_terminal_holds_stays() {
    let home = home();
    let repository = app(&home);
    let stop = repository.path().join("stop");
    let script = "clearway reserve src/a.rs && touch held; while [ ! -e stop ]; do sleep 0.02; done";
    let terminal = Terminal::open();
    let mut shell = home.session_shell(&terminal, repository.path(), script).spawn().expect("a shell");
    eventually("the shell holds it", || repository.path().join("held").exists().then_some(()));
    let blockers = repository.blockers("bob", &["src/a.rs"]);
    assert_eq!(blockers[0]["liveness"], "active");
    std::fs::write(stop, "").expect("a file");
    shell.wait().expect("the shell ends");
    repository.grant("bob", &["src/a.rs"]);
}

#[test]
fn a_closed_window_ends_its_shell_and_what_it_held_goes_to_whoever_asks() {
    let home = home();
    let repository = app(&home);
    let terminal = Terminal::open();
    let script = "clearway reserve src/a.rs && exec sleep 600";
    let mut shell = home.session_shell(&terminal, repository.path(), script).spawn().expect("a shell");
    eventually("the shell holds it", || (!repository.is_clear("bob", "src/a.rs")).then_some(()));
    drop(terminal);
    shell.wait().expect("the shell is hung up");
    assert_eq!(repository.agent("bob").ok(&["reserve", "src/a.rs"])["notices"][0]["code"], "took-over");
}

#[test]
fn a_caller_without_a_terminal_is_asked_for_its_name_and_holds_nothing() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let lines = [["reserve", "b.rs"].as_slice(), &["check", "b.rs"], &["renew"], &["release", "--all"]];
    for words in lines {
        let answer = home.json_without_terminal(repository.path(), words);
        assert_eq!(answer["error"]["slug"], "no-identity", "{words:?} {answer}");
        assert!(
            answer["error"]["hints"][0].as_str().is_some_and(|hint| hint.contains("--agent")),
            "{answer}"
        );
    }
    assert_eq!(list(&home.json_without_terminal(repository.path(), &["leases"]), "leases").len(), 1);
    assert_eq!(each(&repository.clearway().ok(&["agents"]), "agents", "name"), ["alice"]);
    let named = home.json_without_terminal(repository.path(), &["reserve", "b.rs", "--agent", "nightly"]);
    assert_eq!(named["agent"], "nightly");
}

#[test]
fn text_answers_say_as_whom() {
    let home = home();
    let repository = app(&home);
    for words in [["reserve", "a.rs"].as_slice(), &["renew"], &["release", "--all"]] {
        let said = repository.agent("alice").text(words);
        assert!(said.contains("as alice"), "{said}");
    }
}
