//! Handing leases over, and stopping the agents for a while.

use crate::{app, each, home, list, number, text};
use clearway_testkit::{Clearway, Home, Repository, Terminal, eventually};
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Child;

/// A command of somebody who has the operator's key.
fn operator(home: &Home, repository: &Repository<'_>) -> impl Fn() -> Clearway {
    repository.grant("root", &["--kind", "name", "root"]);
    let (key, directory) = (home.operator_key(), repository.path().to_owned());
    move || home.clearway(&directory).agent("root").env("CLEARWAY_OPERATOR_KEY", &key)
}

#[test]
fn a_lease_that_is_handed_over_keeps_its_id_and_gets_a_new_fence() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["src/a.rs", "--ttl", "1h", "--reason", "the parser"]);
    let kept = repository.grant("alice", &["main.rs"]);
    repository.grant("bob", &["docs/"]);
    let (id, fence) = (text(&lease, "id"), number(&lease, "fence"));
    let reply = repository.agent("alice").ok(&["transfer", "--to", "bob", &format!("{id}@{fence}")]);
    let moved = &reply["leases"][0];
    assert_eq!((text(moved, "id"), text(moved, "agent"), number(moved, "ttl_ms")), (id, "bob", 3_600_000));
    assert!(number(moved, "fence") > fence && moved["reason"] == "the parser");
    repository.agent("alice").fails("not-holder", 3, &["renew", id]);
    repository.agent("bob").fails("stale-fence", 4, &["renew", &format!("{id}@{fence}")]);
    let stale = repository.agent("alice").fails("stale-fence", 4, &["renew", &format!("{id}@{fence}")]);
    assert_eq!(each(&stale["details"], "held_now", "agent"), ["bob"], "{stale}");
    repository.agent("bob").ok(&["renew", &format!("{id}@{}", number(moved, "fence"))]);
    let own = repository.clearway().ok(&["leases", "--agent-name", "alice"]);
    assert_eq!(each(&own, "leases", "id"), [text(&kept, "id")], "the others stay");
    let by_pattern = repository.agent("bob").ok(&["transfer", "--to", "alice", "src/"]);
    assert_eq!(each(&by_pattern, "leases", "id"), [id]);
}

#[test]
fn an_operator_who_names_what_others_hold_by_its_path_is_told_the_whole_command() {
    let home = home();
    let repository = app(&home);
    let operator = operator(&home, &repository);
    let lease = repository.grant("alice", &["src/a.rs"]);
    repository.grant("bob", &["docs/"]);
    for words in [["transfer", "--to", "bob", "src/a.rs"].as_slice(), &["renew", "src/a.rs"]] {
        operator().fails("not-found", 5, words);
    }
    let words = ["transfer", "--to", "bob", "src/a.rs", "--reason", "alice went home"];
    let error = operator().fails("not-found", 5, &words);
    let hint = error["hints"][0].as_str().expect("a hint");
    assert!(hint.contains("transfer ID --to NAME --reason TEXT"), "{error}");
    let id = text(&lease, "id");
    let words = ["transfer", id, "--to", "bob", "--reason", "alice went home"];
    assert_eq!(operator().ok(&words)["leases"][0]["agent"], "bob");
    let nothing = operator().ok(&["release", "src/a.rs", "--reason", "it is over"]);
    assert!(text(&nothing["notices"][0], "message").contains("release ID --reason TEXT"), "{nothing}");
}

#[test]
fn five_hundred_leases_change_hands_in_one_call_beside_readers() {
    let home = home();
    let repository = app(&home);
    repository.grant("bob", &["docs/"]);
    for half in 0..2 {
        let paths: Vec<String> = (0..250).map(|number| format!("gen/{half}/{number}.rs")).collect();
        let words: Vec<&str> = ["reserve"].into_iter().chain(paths.iter().map(String::as_str)).collect();
        repository.agent("alice").ok(&words);
    }
    let transfer = repository.agent("alice").spawn(&["--json", "transfer", "--to", "bob", "--all"]);
    let mut seen = BTreeSet::new();
    let transfer = eventually_ended(transfer, || {
        let agents = repository.clearway().ok(&["leases"]);
        let of = |name: &str| each(&agents, "leases", "agent").iter().filter(|agent| **agent == name).count();
        seen.insert((of("alice"), of("bob")));
    });
    assert_eq!(list(&transfer, "leases").len(), 500);
    seen.insert((0, 501));
    assert!(seen.is_subset(&BTreeSet::from([(500, 1), (0, 501)])), "all or none: {seen:?}");
    let moved = repository.kinds().iter().filter(|kind| *kind == "lease.transferred").count();
    assert_eq!(moved, 500);
}

/// Looks again and again until the process has ended: its answer.
fn eventually_ended(child: Child, mut look: impl FnMut()) -> Value {
    let reading = std::thread::spawn(|| child.wait_with_output());
    eventually("the process ends", || {
        look();
        reading.is_finished().then_some(())
    });
    let output = reading.join().expect("no panic").expect("its answer");
    serde_json::from_slice(&output.stdout).expect("one JSON document")
}

#[test]
fn of_ten_that_hand_the_same_over_at_once_exactly_one_moves_each_lease() {
    let home = home();
    let repository = app(&home);
    let first = repository.grant("alice", &["src/a.rs"]);
    let second = repository.grant("alice", &["main.rs"]);
    let names: Vec<String> = (0..10).map(|number| format!("to-{number}")).collect();
    for (number, name) in names.iter().enumerate() {
        repository.grant(name, &[&format!("own/{number}")]);
    }
    let ids = [text(&first, "id"), text(&second, "id")];
    let children: Vec<Child> = names
        .iter()
        .map(|name| repository.agent("alice").spawn(&["--json", "transfer", "--to", name, ids[0], ids[1]]))
        .collect();
    let replies: Vec<Value> = children.into_iter().map(|child| eventually_ended(child, || ())).collect();
    let won = replies.iter().filter(|reply| reply["ok"] == true).count();
    let lost = replies.iter().filter(|reply| reply["error"]["slug"] == "not-holder").count();
    assert_eq!((won, lost), (1, 9), "{replies:?}");
    let moved = repository.events().into_iter().filter(|event| event["kind"] == "lease.transferred");
    let moved: Vec<String> = moved.map(|event| text(&event["data"], "lease").to_owned()).collect();
    assert_eq!(moved, ids, "each once");
}

#[test]
fn what_has_run_out_is_not_handed_over() {
    let home = home();
    let repository = app(&home);
    let over = repository.grant("alice", &["src/a.rs", "--ttl", "1s"]);
    repository.grant("bob", &["docs/"]);
    eventually("it runs out", || repository.is_clear("carol", "src/a.rs").then_some(()));
    let reply = repository.agent("alice").ok(&["transfer", "--to", "bob", "--all"]);
    assert_eq!(list(&reply, "leases").len(), 0);
    repository.agent("alice").fails("lease-expired", 4, &["transfer", "--to", "bob", text(&over, "id")]);
    assert!(!repository.kinds().contains(&"lease.transferred".to_owned()));
}

#[test]
fn nobody_is_handed_what_it_cannot_hold_and_nothing_is_half_done() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["src/a.rs", "main.rs"]);
    let script = "clearway --json reserve t.rs";
    let gone = home.session_shell(&Terminal::open(), repository.path(), script).output().expect("a shell");
    let gone: Value = serde_json::from_slice(&gone.stdout).expect("JSON");
    let alice = || repository.agent("alice");
    for number in 0..4 {
        let names: Vec<String> = (0..250).map(|unit| format!("n-{number}-{unit}")).collect();
        let words = ["reserve", "--kind", "name"].into_iter().chain(names.iter().map(String::as_str));
        repository.agent("full").ok(&words.collect::<Vec<_>>());
    }
    let events = repository.events().len();
    let error = alice().fails("not-found", 5, &["transfer", "--to", "nobody", "--all"]);
    assert!(
        list(&error, "hints")[0].as_str().is_some_and(|hint| hint.ends_with("clearway --agent alice agents")),
        "{error}"
    );
    let error = alice().fails("recipient-gone", 3, &["transfer", "--to", text(&gone, "agent"), "--all"]);
    assert_eq!(error["details"]["agent"], gone["agent"]);
    let error = alice().fails("quota-exceeded", 3, &["transfer", "--to", "full", "--all"]);
    assert!(text(&error, "message").contains("would make 1002"), "{error}");
    assert_eq!(error["details"]["agent"], "full");
    alice().fails("usage", 2, &["transfer", "--to", "alice", "--all"]);
    alice().fails("usage", 2, &["transfer", "--to", "full"]);
    alice().fails("usage", 2, &["transfer", "--to", "full", "--all", text(&lease, "id")]);
    alice().fails("usage", 2, &["transfer", "--all"]);
    alice().fails("invalid-agent-name", 2, &["transfer", "--to", "no such name", "--all"]);
    alice().fails("not-found", 5, &["transfer", "--to", "full", text(&lease, "id"), "00000000"]);
    let error = alice().fails("not-found", 5, &["transfer", "--to", "full", "main.rs", "src/b.rs"]);
    assert!(text(&error, "message").contains("nothing on src/b.rs"), "{error}");
    let since: Vec<Value> = repository.events().split_off(events);
    assert_eq!(since.len(), 1, "the full one is on record: {since:?}");
    assert_eq!(since[0]["data"]["reason"], "quota-exceeded");
    assert_eq!(each(&repository.clearway().ok(&["who", "src/a.rs"]), "holders", "agent"), ["alice"]);
}

#[test]
fn only_the_holder_or_a_person_with_a_reason_hands_over() {
    let home = home();
    let repository = app(&home);
    let root = operator(&home, &repository);
    let lease = repository.grant("alice", &["src/a.rs"]);
    repository.grant("bob", &["docs/"]);
    let words = ["transfer", "--to", "bob", text(&lease, "id")];
    let error = repository.agent("bob").fails("not-holder", 3, &words);
    assert!(list(&error, "hints")[0].as_str().is_some_and(|hint| hint.contains("--to NAME")), "{error}");
    let reasoned = [words.as_slice(), &["--reason", "alice is on holiday"]].concat();
    repository.agent("bob").fails("not-operator", 3, &reasoned);
    root().ok(&reasoned);
    let moved = repository.events().into_iter().find(|event| event["kind"] == "lease.transferred");
    assert_eq!(moved.expect("a transfer")["data"]["operator_reason"], "alice is on holiday");
}

#[test]
fn those_who_wait_keep_their_places_when_the_holder_changes() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    repository.grant("bob", &["docs/"]);
    let place = repository.agent("carol").ok(&["reserve", "src/a.rs", "--queue"])["queued"].clone();
    repository.agent("alice").ok(&["transfer", "--to", "bob", "--all"]);
    let waits = repository.clearway().ok(&["waits"]);
    assert_eq!(each(&waits, "waits", "id"), [text(&place, "id")]);
    assert_eq!(waits["waits"][0]["state"], "waiting");
    repository.agent("bob").ok(&["release", "src/a.rs"]);
    repository.agent("carol").ok(&["wait"]);
}

#[test]
fn whoever_is_handed_what_it_waits_for_waits_no_more() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let line = ["--json", "reserve", "src/a.rs", "--wait", "10m"];
    let child = repository.agent("bob").spawn(&line);
    eventually("bob waits", || {
        (list(&repository.clearway().ok(&["waits"]), "waits").len() == 1).then_some(())
    });
    repository.agent("alice").ok(&["transfer", "--to", "bob", "--all"]);
    let reply = eventually_ended(child, || ());
    assert_eq!(reply["leases"][0]["agent"], "bob", "{reply}");
    assert_eq!(list(&repository.clearway().ok(&["waits"]), "waits").len(), 0);
}

#[test]
fn nothing_is_handed_over_that_would_make_two_wait_for_each_other() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["x"]);
    repository.grant("bob", &["y"]);
    repository.grant("carol", &["z"]);
    repository.agent("bob").ok(&["reserve", "z", "--queue"]);
    repository.agent("carol").ok(&["reserve", "x", "--queue"]);
    let events = repository.events().len();
    let error = repository.agent("alice").fails("would-deadlock", 1, &["transfer", "--to", "bob", "--all"]);
    assert_eq!(each(&error["details"], "cycle", "agent"), ["bob", "carol"], "{error}");
    let since: Vec<Value> = repository.events().split_off(events);
    assert_eq!(since.len(), 1, "nothing but the refusal: {since:?}");
    assert_eq!(since[0]["data"]["reason"], "would-deadlock");
}

#[test]
fn a_freeze_keeps_agents_from_new_paths_and_leaves_them_what_they_hold() {
    let home = home();
    let repository = app(&home);
    let root = operator(&home, &repository);
    let lease = repository.grant("alice", &["src/a.rs"]);
    let frozen = root().ok(&["freeze", "--reason", "cutting the release", "--for", "1h"]);
    assert_eq!(number(&frozen, "frozen_for_ms"), 3_600_000);
    let error = repository.agent("bob").fails("frozen", 1, &["reserve", "main.rs"]);
    assert!(text(&error, "message").ends_with("cutting the release"), "{error}");
    assert!(number(&error["retry"], "ms") > 3_000_000, "{error}");
    let checked = |path: &str| repository.agent("bob").json(&["check", path]).expect(1).value();
    let free = checked("main.rs");
    assert_eq!(
        (&free["ok"], &free["clear"], list(&free, "blockers").len()),
        (&true.into(), &false.into(), 0)
    );
    assert_eq!((each(&free, "notices", "code"), &free["error"]), (vec!["frozen"], &Value::Null), "{free}");
    let held = checked("src/a.rs");
    assert_eq!(
        (each(&held, "blockers", "agent"), each(&held, "notices", "code")),
        (vec!["alice"], vec!["frozen"])
    );
    assert_eq!(repository.agent("bob").ok(&["check", "--kind", "name", "build"])["clear"], true);
    let said = repository.agent("bob").run(&["check", "main.rs"]).expect(1).stdout();
    assert!(said.starts_with("not clear: main.rs\nnote: new edits are stopped for another "), "{said}");
    repository.agent("bob").ok(&["reserve", "--kind", "name", "build"]);
    repository.agent("alice").ok(&["renew"]);
    let again = repository.agent("alice").ok(&["reserve", "src/a.rs"]);
    assert_eq!(again["leases"][0]["id"], lease["id"], "what it holds it may claim again");
    repository.agent("alice").fails("frozen", 1, &["reserve", "src/"]);
    let person = home.terminal(repository.path(), "clearway reserve docs/");
    assert!(person.status.success(), "a person is not kept from working: {:?}", person);
    let status = repository.clearway().ok(&["status"]);
    assert!(status["frozen_until"].is_string(), "{status}");
    for shown in [repository.clearway().text(&["status"]), repository.agent("bob").text(&["status"])] {
        assert!(shown.contains("frozen for another") && shown.contains("cutting the release"), "{shown}");
    }
    assert_eq!(root().ok(&["thaw", "--reason", "out"])["was_frozen"], true);
    assert_eq!(root().ok(&["thaw", "--reason", "out"])["was_frozen"], false);
    repository.grant("bob", &["main.rs"]);
    assert_eq!(repository.clearway().ok(&["status"])["frozen_until"], Value::Null);
}

#[test]
fn whoever_freezes_again_is_told_what_became_of_the_freeze_before() {
    let home = home();
    let repository = app(&home);
    let root = operator(&home, &repository);
    let first = root().ok(&["freeze", "--reason", "cutting the release", "--for", "1h"]);
    assert!(list(&first, "notices").is_empty(), "{first}");
    for (span, how) in [("5m", "shortened"), ("2h", "lengthened")] {
        let again = root().ok(&["freeze", "--reason", "cutting the release", "--for", span]);
        assert_eq!(each(&again, "notices", "code"), ["freeze-changed"], "{again}");
        let said = text(&again["notices"][0], "message");
        assert!(said.contains(&format!("is {how} from another ")), "{said}");
        assert!(said.starts_with("the freeze there was (\"cutting the release\") "), "{said}");
        assert!(said.ends_with(&format!(" to {span}")), "{said}");
    }
    let shown = root().text(&["freeze", "--reason", "a hotfix", "--for", "1m"]);
    assert!(
        shown.contains("note: the freeze there was (\"cutting the release\") is shortened from"),
        "{shown}"
    );
    root().ok(&["thaw", "--reason", "it is out"]);
    let anew = root().ok(&["freeze", "--reason", "another one"]);
    assert!(list(&anew, "notices").is_empty(), "what is over is not changed: {anew}");
}

#[test]
fn who_waits_out_a_freeze_is_told_why_and_has_the_turn_when_it_ends() {
    let home = home();
    let repository = app(&home);
    let root = operator(&home, &repository);
    root().ok(&["freeze", "--reason", "cutting the release"]);
    let reply = repository.agent("bob").ok(&["reserve", "main.rs", "--queue"]);
    assert!(reply["queued"].is_object() && reply["notices"][0]["code"] == "frozen", "{reply}");
    assert!(text(&reply["notices"][0], "message").contains("cutting the release"), "{reply}");
    let child = repository.agent("carol").spawn(&["--json", "reserve", "docs/", "--wait", "10m"]);
    eventually("carol waits", || {
        (list(&repository.clearway().ok(&["waits"]), "waits").len() == 2).then_some(())
    });
    root().ok(&["thaw", "--reason", "out"]);
    assert_eq!(eventually_ended(child, || ())["leases"][0]["agent"], "carol");
    assert_eq!(repository.clearway().ok(&["waits"])["waits"][0]["state"], "offered");
    repository.agent("bob").ok(&["wait"]);
}

#[test]
fn an_agent_can_neither_freeze_nor_thaw() {
    let home = home();
    let repository = app(&home);
    let root = operator(&home, &repository);
    repository.grant("alice", &["src/a.rs"]);
    for verb in ["freeze", "thaw"] {
        repository.agent("alice").fails("not-operator", 3, &[verb, "--reason", "x"]);
        repository.clearway().session("s-1").fails("not-operator", 3, &[verb, "--reason", "x"]);
        repository.agent("alice").fails("usage", 2, &[verb]);
    }
    let denied = repository.events().into_iter().find(|event| event["kind"] == "action.denied");
    let denied = denied.expect("a denial");
    assert_eq!((text(&denied["data"], "action"), text(&denied["data"], "subject")), ("freeze", "scope"));
    for span in ["0", "25h", "1ms", "soon"] {
        root().fails("invalid-duration", 2, &["freeze", "--reason", "x", "--for", span]);
    }
    root().fails("usage", 2, &["freeze", "--reason", "x", "--for"]);
    repository.grant("bob", &["main.rs"]);
}

#[test]
fn an_agent_is_handed_something_by_its_id_and_nobody_is_called_by_one() {
    let home = home();
    let repository = app(&home);
    repository.grant("bob", &["docs/"]);
    let lease = repository.grant("alice", &["src/a.rs"]);
    let agents = repository.clearway().ok(&["agents"]);
    let bob = list(&agents, "agents").iter().find(|agent| agent["name"] == "bob").expect("bob");
    let id = text(bob, "id");
    repository.agent(id).fails("invalid-agent-name", 2, &["reserve", "main.rs"]);
    let moved = repository.agent("alice").ok(&["transfer", "--to", id, text(&lease, "id")]);
    assert_eq!(moved["leases"][0]["agent"], "bob", "{moved:#}");
}

#[test]
fn while_new_edits_are_stopped_nobody_hands_an_agent_a_path() {
    let home = home();
    let repository = app(&home);
    let root = operator(&home, &repository);
    repository.grant("bob", &["docs/"]);
    let lease = repository.grant("alice", &["src/a.rs"]);
    root().ok(&["freeze", "--reason", "release"]);
    let error = repository.agent("alice").fails("frozen", 1, &["transfer", "--to", "bob", "src/a.rs"]);
    assert!(!error["hints"].to_string().contains("--queue"), "{error:#}");
    root().ok(&["transfer", "--to", "bob", text(&lease, "id"), "--reason", "alice is ill"]);
}

#[test]
fn a_slip_in_the_name_of_whom_to_hand_it_to_is_told_with_the_name_that_was_meant() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    repository.grant("robert", &["src/b.rs"]);
    for words in [["--to", "robrt", "src/a.rs"], ["--to", "robrt", "--all"]] {
        let error = repository.agent("alice").fails("not-found", 5, &[&["transfer"], &words[..]].concat());
        assert_eq!(error["hints"], serde_json::json!(["did you mean robert?"]), "{error}");
    }
    let error = repository.agent("alice").fails("not-found", 5, &["transfer", "--to", "zoe", "--all"]);
    assert!(error["hints"].to_string().contains("clearway --agent alice agents"), "{error}");
}

#[test]
fn what_a_pause_refuses_is_no_next_step() {
    let home = home();
    let repository = app(&home);
    let operator = operator(&home, &repository);
    repository.grant("bob", &["docs/"]);
    repository.agent("bob").ok(&["release", "--all"]);
    operator().ok(&["freeze", "--reason", "a release"]);
    let status = repository.agent("bob").text(&["status"]);
    let next = status.lines().last().expect("a line");
    assert!(next.contains("reserve --queue PATH"), "{status}");
    let words: Vec<&str> = next.rsplit_once("clearway ").expect("a command").1.split(' ').collect();
    let words: Vec<&str> =
        words.into_iter().map(|word| if word == "PATH" { "src/a.rs" } else { word }).collect();
    repository.clearway().ok(&words);
}
