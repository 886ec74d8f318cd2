//! Giving back: what is released, by whom, and what stays.

use crate::{app, each, home, list, number, text};

use serde_json::{Value, json};

#[test]
fn a_released_lease_is_over_and_frees_the_way() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["src/a.rs"]);
    let reply = repository.agent("alice").ok(&["release", text(&lease, "id")]);
    assert_eq!(reply["released"][0], lease["id"]);
    assert_eq!((list(&reply, "remaining").len(), list(&reply, "already_released").len()), (0, 0));
    assert_eq!(list(&repository.clearway().ok(&["leases"]), "leases").len(), 0);
    assert!(repository.is_clear("bob", "src/a.rs"));
    let history = repository.clearway().ok(&["leases", "--history"]);
    assert_eq!(each(&history, "leases", "state"), ["released"]);
}

#[test]
fn releasing_again_is_no_error_and_no_event() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["src/a.rs"]);
    repository.agent("alice").ok(&["release", text(&lease, "id")]);
    let events = repository.events().len();
    let reply = repository.agent("alice").ok(&["release", text(&lease, "id")]);
    assert_eq!((list(&reply, "released").len(), &reply["already_released"][0]), (0, &lease["id"]));
    let nothing = repository.agent("alice").ok(&["release", "src/"]);
    assert_eq!(list(&nothing, "released").len(), 0);
    repository.agent("alice").ok(&["release", "--all"]);
    assert_eq!(repository.events().len(), events);
}

#[test]
fn everything_is_released_by_one_word_with_one_event_each() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs", "b.rs"]);
    repository.grant("alice", &["--kind", "name", "build"]);
    repository.grant("bob", &["c.rs"]);
    let reply = repository.agent("alice").ok(&["release", "--all"]);
    assert_eq!(list(&reply, "released").len(), 3);
    let released: Vec<Value> =
        repository.events().into_iter().filter(|event| event["kind"] == "lease.released").collect();
    let ids: Vec<&str> = released.iter().map(|event| text(&event["data"], "lease")).collect();
    assert_eq!(ids, each_text(&reply, "released"));
    let left = repository.clearway().ok(&["leases"]);
    assert_eq!(each(&left, "leases", "agent"), ["bob"]);
}

fn each_text<'v>(value: &'v Value, field: &str) -> Vec<&'v str> {
    list(value, field).iter().filter_map(Value::as_str).collect()
}

#[test]
fn by_pattern_only_what_lies_inside_is_released_and_the_rest_is_named() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a/x"]);
    repository.grant("alice", &["a/y"]);
    repository.grant("alice", &["b/z"]);
    let wide = repository.grant("alice", &["*/w"]);
    let reply = repository.agent("alice").ok(&["release", "a/*"]);
    assert_eq!(list(&reply, "released").len(), 2);
    assert_eq!(each(&reply, "remaining", "id"), [text(&wide, "id")]);
    assert!(repository.is_clear("bob", "a/x"), "nobody is told released while it is held");
    assert!(!repository.is_clear("bob", "a/w") && !repository.is_clear("bob", "b/z"));
}

#[test]
fn part_of_a_lease_can_be_kept_in_the_same_act() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/"]);
    let reply = repository.agent("alice").ok(&["release", "src/", "--keep", "src/a.rs"]);
    assert_eq!(list(&reply, "released").len(), 1);
    assert!(repository.is_clear("bob", "src/b.rs"));
    assert!(!repository.is_clear("bob", "src/a.rs"));
}

#[test]
fn whoever_gives_back_a_part_of_a_set_is_told_what_is_left_of_it() {
    let home = home();
    let repository = app(&home);
    repository.agent("alice").ok(&["reserve", "--kind", "write-set", "src/a.rs", "src/b.rs"]);
    repository.grant("alice", &["main.rs"]);
    let reply = repository.agent("alice").ok(&["release", "src/a.rs"]);
    assert_eq!(crate::each(&reply, "remaining", "pattern"), ["src/b.rs"]);
}

#[test]
fn what_is_left_of_a_set_is_told_by_id_too_and_is_the_holders_own() {
    let home = home();
    let repository = app(&home);
    repository.grant("bob", &["main.rs"]);
    let set = ["reserve", "--kind", "write-set", "src/a.rs", "src/b.rs", "src/c.rs"];
    let taken = repository.agent("alice").ok(&set);
    let ids = crate::each(&taken, "leases", "id");
    repository.agent("alice").ok(&["transfer", ids[2], "--to", "bob"]);
    let reply = repository.agent("alice").ok(&["release", ids[0]]);
    assert_eq!(crate::each(&reply, "remaining", "pattern"), ["src/b.rs"]);
}

/// A word of eight letters may be an id, a file, or something that somebody holds.
#[test]
fn what_is_held_under_a_word_that_looks_like_an_id_is_released_by_that_word() {
    let home = home();
    let repository = app(&home);
    repository.write("makefile@1", "");
    let alice = || repository.agent("alice");
    for words in [["--kind", "name", "database"].as_slice(), &["newfile1"], &["makefile@1"], &["newfile2@7"]]
    {
        let lease = repository.grant("alice", words);
        alice().ok(&[&["renew"], words].concat());
        let reply = alice().ok(&[&["release"], words].concat());
        assert_eq!(reply["released"], json!([lease["id"]]), "{words:?}");
    }
    alice().fails("not-found", 5, &["release", "newfile1"]);
    let lease = repository.grant("alice", &["src/a.rs"]);
    let fenced = format!("{}@{}", text(&lease, "id"), lease["fence"]);
    assert_eq!(alice().ok(&["release", &fenced])["released"], json!([lease["id"]]));
}

#[test]
fn only_the_holder_releases_or_renews() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["src/a.rs"]);
    let id = text(&lease, "id");
    for words in [["release", id], ["renew", id]] {
        let error = repository.agent("bob").fails("not-holder", 3, &words);
        assert!(text(&error, "message").contains("alice"), "{error}");
        repository.clearway().session("s-1").fails("not-holder", 3, &words);
    }
    let reply = repository.agent("bob").ok(&["release", "src/a.rs"]);
    assert_eq!(list(&reply, "released").len(), 0, "a pattern means one's own leases");
    repository.agent("bob").ok(&["release", "--all"]);
    assert!(!repository.is_clear("bob", "src/a.rs"));
    let denied: Vec<Value> =
        repository.events().into_iter().filter(|event| event["kind"] == "action.denied").collect();
    assert_eq!(
        (&denied[0]["data"]["subject"], &denied[0]["data"]["reason"]),
        (&id.into(), &"not-holder".into())
    );
}

#[test]
fn one_unknown_id_in_a_list_changes_nothing() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["src/a.rs"]);
    for verb in ["release", "renew"] {
        repository.agent("alice").fails("not-found", 5, &[verb, text(&lease, "id"), "00000000"]);
    }
    assert!(!repository.is_clear("bob", "src/a.rs"));
}

#[test]
fn a_stale_fence_changes_nothing_and_tells_who_holds_now() {
    let home = home();
    let repository = app(&home);
    let shared = repository.grant("alice", &["s.rs", "--shared"]);
    let (id, old) = (text(&shared, "id"), number(&shared, "fence"));
    let exclusive = repository.grant("alice", &["s.rs"]);
    for verb in ["release", "renew"] {
        let error = repository.agent("alice").fails("stale-fence", 4, &[verb, &format!("{id}@{old}")]);
        assert_eq!(error["details"]["lease"]["fence"], exclusive["fence"], "{error}");
        assert_eq!(error["details"]["lease"]["agent"], "alice");
    }
    assert!(!repository.is_clear("bob", "s.rs"));
    let current = format!("{id}@{}", number(&exclusive, "fence"));
    repository.agent("alice").ok(&["renew", &current]);
    assert_eq!(repository.agent("alice").ok(&["release", &current])["released"][0], id);
}

#[test]
fn a_stale_holder_is_told_who_took_its_place() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["src/a.rs"]);
    let id = text(&lease, "id");
    repository.agent("alice").ok(&["release", id]);
    repository.grant("bob", &["src/"]);
    let error = repository.agent("alice").fails("lease-expired", 4, &["renew", id]);
    assert_eq!(error["details"]["held_now"][0]["agent"], "bob", "{error}");
    assert!(text(&error, "message").contains("bob holds it now"), "{error}");
    let wrong = repository.agent("alice").fails("stale-fence", 4, &["release", &format!("{id}@7")]);
    assert_eq!(wrong["details"]["held_now"][0]["agent"], "bob", "{wrong}");
}

#[test]
fn a_file_with_the_name_of_an_id_is_a_file() {
    let home = home();
    let repository = home.repository("app", &[("makefile", ""), ("abcd1234", "")]);
    repository.grant("alice", &["abcd1234"]);
    let reply = repository.agent("alice").ok(&["release", "abcd1234"]);
    assert_eq!(list(&reply, "released").len(), 1);
}

/// The lease as an operator sees it end.
fn operator_event(repository: &clearway_testkit::Repository<'_>) -> Value {
    let released = repository.events().into_iter().find(|event| event["kind"] == "lease.released");
    released.expect("a release")["data"].clone()
}

#[test]
fn an_operator_at_a_terminal_releases_with_a_reason_that_is_recorded() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["src/a.rs"]);
    let script = format!("clearway release {} --reason 'alice went home'", text(&lease, "id"));
    let shown = home.terminal(repository.path(), &script);
    assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stdout));
    assert!(repository.is_clear("bob", "src/a.rs"));
    let data = operator_event(&repository);
    assert_eq!(
        (&data["operator_reason"], &data["holder_id"]),
        (&"alice went home".into(), &lease["agent_id"])
    );
    let told = repository.agent("alice").ok(&["reserve", "main.rs"])["notices"].to_string();
    assert!(told.contains("took src/a.rs from you: alice went home"), "{told}");
    let told = repository.agent("alice").ok(&["renew"])["notices"].to_string();
    assert!(!told.contains("took src/a.rs"), "once: {told}");
}

#[test]
fn every_operators_act_says_who_did_it() {
    let home = home();
    let repository = app(&home);
    repository.grant("bob", &["main.rs"]);
    let id = text(&repository.grant("alice", &["src/a.rs"]), "id").to_owned();
    let place = repository.agent("carol").ok(&["reserve", "src/a.rs", "--queue"])["queued"].clone();
    let acts = [
        (format!("wait --cancel {}", text(&place, "id")), "wait.ended"),
        (format!("renew {id}"), "lease.renewed"),
        (format!("transfer --to bob {id}"), "lease.transferred"),
        ("freeze --for 5m".to_owned(), "scope.frozen"),
        ("thaw".to_owned(), "scope.thawed"),
        (format!("release {id}"), "lease.released"),
    ];
    for (number, (act, kind)) in acts.iter().enumerate() {
        let operator = format!("mallory-{number}");
        let words: Vec<&str> = act.split(' ').chain(["--reason", "why not"]).collect();
        repository.agent(&operator).operator(&home).ok(&words);
        let events = repository.events();
        let event = events.iter().rfind(|event| event["kind"] == *kind).expect(kind);
        assert_eq!((text(event, "agent"), text(event, "how")), (operator.as_str(), "claim"), "{event}");
    }
    let id = text(&repository.grant("alice", &["src/a.rs"]), "id").to_owned();
    let script = format!("clearway release {id} --reason 'at a terminal'");
    let terminal = clearway_testkit::Terminal::open();
    let mut shell = home.session_shell(&terminal, repository.path(), &script);
    terminal.attach(&mut shell);
    assert!(shell.status().expect("a shell").success());
    let last = repository.events().into_iter().rfind(|event| event["kind"] == "lease.released");
    let last = last.expect("a release");
    assert!(text(&last, "agent").starts_with("term-") && text(&last, "how") == "terminal", "{last}");
    let before = repository.events().len();
    repository.agent("late").operator(&home).ok(&["release", &id, "--reason", "it is over"]);
    repository.agent("late").operator(&home).ok(&["thaw", "--reason", "it is over"]);
    assert_eq!(repository.events().len(), before, "where nothing is done nobody is registered");
}

#[test]
fn without_a_reason_even_a_person_at_a_terminal_is_not_the_holder() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["src/a.rs"]);
    let shown = home.terminal(repository.path(), &format!("clearway release {}", text(&lease, "id")));
    let said = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.status.code() == Some(3) && said.contains("not-holder"), "{said}");
    assert!(!repository.is_clear("bob", "src/a.rs"));
}

#[test]
fn an_operator_renews_for_somebody_else_with_a_reason_that_is_recorded() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["src/a.rs", "--ttl", "1h", "--reason", "parser"]);
    let id = text(&lease, "id");
    repository.agent("bob").fails("not-holder", 3, &["renew", id, "--ttl", "2h"]);
    let words = ["renew", id, "--ttl", "2h", "--reason", "alice is asleep"];
    repository.agent("bob").fails("not-operator", 3, &words);
    let shown =
        home.terminal(repository.path(), &format!("clearway renew {id} --ttl 2h --reason 'her tests run'"));
    assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stdout));
    let key = home.operator_key();
    let renewed = repository.agent("bob").env("CLEARWAY_OPERATOR_KEY", &key).ok(&words)["leases"][0].clone();
    assert_eq!((&renewed["agent"], &renewed["fence"]), (&"alice".into(), &lease["fence"]), "it stays hers");
    let renewals: Vec<Value> =
        repository.events().into_iter().filter(|event| event["kind"] == "lease.renewed").collect();
    let data = |number: usize| &renewals[number]["data"];
    assert_eq!(
        (&data(0)["operator_reason"], &data(0)["reason"]),
        (&"her tests run".into(), &"parser".into())
    );
    assert_eq!(
        (&renewals[1]["agent"], &data(1)["operator_reason"]),
        (&"bob".into(), &"alice is asleep".into())
    );
}

#[test]
fn a_holder_that_states_a_reason_is_still_the_holder() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["src/a.rs"]);
    let key = home.operator_key();
    repository.agent("alice").env("CLEARWAY_OPERATOR_KEY", &key).ok(&[
        "renew",
        text(&lease, "id"),
        "--reason",
        "x",
    ]);
    let renewed = repository.events().into_iter().find(|event| event["kind"] == "lease.renewed");
    assert_eq!(renewed.expect("a renewal")["data"]["operator_reason"], Value::Null);
}

#[test]
fn an_operator_without_a_terminal_shows_the_key() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["src/a.rs"]);
    let words = ["release", text(&lease, "id"), "--reason", "cleaning up"];
    repository.agent("bob").fails("not-operator", 3, &words);
    let key = home.operator_key();
    let forged = home.path().join("forged.key");
    clearway_testkit::write_private(&forged, &format!("{}\n", "0".repeat(64)));
    repository.agent("bob").env("CLEARWAY_OPERATOR_KEY", &forged).fails("not-operator", 3, &words);
    assert!(!repository.is_clear("bob", "src/a.rs"));
    repository.agent("bob").env("CLEARWAY_OPERATOR_KEY", &key).ok(&words);
    assert_eq!(operator_event(&repository)["operator_reason"], "cleaning up");
}

#[test]
fn an_agent_session_is_never_the_operator() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["src/a.rs"]);
    let key = home.operator_key();
    let words = ["release", text(&lease, "id"), "--reason", "cleaning up"];
    for variable in ["CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "CODEX_SESSION_ID", "GEMINI_SESSION_ID"] {
        let agent = repository.clearway().env(variable, "s-1").env("CLEARWAY_OPERATOR_KEY", &key);
        agent.fails("not-operator", 3, &words);
    }
    let claimed = repository.agent("root").session("s-1").env("CLEARWAY_OPERATOR_KEY", &key);
    claimed.fails("not-operator", 3, &words);
    let script =
        format!("CLAUDE_CODE_SESSION_ID=s-1 clearway release {} --reason 'cleaning up'", text(&lease, "id"));
    let shown = home.terminal(repository.path(), &script);
    assert_eq!(shown.status.code(), Some(3), "{}", String::from_utf8_lossy(&shown.stdout));
    assert!(!repository.is_clear("bob", "src/a.rs"));
}

#[test]
fn an_agent_that_drops_its_variable_and_opens_a_terminal_is_still_an_agent() {
    let home = home();
    let repository = app(&home);
    let id = text(&repository.grant("alice", &["src/a.rs"]), "id").to_owned();
    let key = home.operator_key();
    let release = format!("clearway --agent me release {id} --reason i-am-a-person");
    let keyed = format!("CLEARWAY_OPERATOR_KEY={} {release}", key.display());
    for variable in ["CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "CODEX_SESSION_ID", "GEMINI_SESSION_ID"] {
        for act in [&release, &keyed, "clearway audit anchor"] {
            let script = format!("env -u {variable} script -qec '{act}' /dev/null; exit $?");
            let shown =
                home.shell(repository.path(), &script).env(variable, "sneaky").output().expect("a shell");
            let said = String::from_utf8_lossy(&shown.stdout).into_owned();
            assert!(shown.status.code() == Some(3) && said.contains("not-operator"), "{script}: {said}");
        }
    }
    assert!(!repository.is_clear("bob", "src/a.rs"));
    assert!(home.terminal(repository.path(), &release).status.success(), "a person still may");
}

#[test]
fn a_refused_operators_act_is_on_record_with_who_tried() {
    let home = home();
    let repository = app(&home);
    let empty =
        repository.agent("bob").fails("not-operator", 3, &["release", "abcd1234", "--reason", "tidy"]);
    assert!(text(&empty, "message").contains("no terminal"), "{empty}");
    assert!(home.state_files().is_empty(), "a scope that does not exist is not made for it");
    let lease = repository.grant("alice", &["src/a.rs"]);
    repository.grant("bob", &["b.rs"]);
    let id = text(&lease, "id");
    let session = || repository.clearway().session("s-1");
    let agent = session().ok(&["reserve", "c.rs"]);
    for verb in ["release", "renew"] {
        repository.agent("bob").fails("not-operator", 3, &[verb, id, "--reason", "tidy"]);
        session().fails("not-operator", 3, &[verb, id, "--reason", "tidy"]);
        session().fails("not-operator", 3, &[verb, id, "--reason", "tidy"]);
    }
    let denied: Vec<Value> =
        repository.events().into_iter().filter(|event| event["kind"] == "action.denied").collect();
    let told: Vec<(&str, &str)> =
        denied.iter().map(|event| (text(event, "agent"), text(&event["data"], "action"))).collect();
    let claude = text(&agent, "agent");
    assert_eq!(told, [("bob", "release"), (claude, "release"), ("bob", "renew"), (claude, "renew")]);
    for event in &denied {
        assert_eq!((text(&event["data"], "subject"), text(&event["data"], "reason")), (id, "not-operator"));
    }
    assert_eq!(denied[3]["data"]["repeats"], 1, "a repetition is counted: {denied:#?}");
}

#[test]
fn what_best_effort_does_not_get_is_recorded_too() {
    let home = home();
    let repository = home.repository("app", &[("a", ""), ("b", "")]);
    repository.clearway().agent("alice").json(&["reserve", "a"]).expect(0);
    repository.clearway().agent("bob").json(&["reserve", "a", "b", "--best-effort"]).expect(0);
    assert!(repository.kinds().iter().any(|kind| kind == "reservation.refused"), "{:?}", repository.kinds());
}

#[test]
fn a_release_that_finds_nothing_succeeds_and_says_what_may_have_been_meant() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let ran = repository.agent("alice").run(&["release", "src/aa.rs"]).expect(0);
    assert!(
        ran.stderr().contains("you hold nothing on src/aa.rs; did you mean src/a.rs?"),
        "{}",
        ran.stderr()
    );
    let bare = repository.agent("bob").run(&["release", "src/a.rs"]).expect(0);
    assert!(bare.stderr().contains("you hold nothing on src/a.rs"), "{}", bare.stderr());
    assert_eq!(repository.agent("alice").run(&["release", "src/a.rs"]).expect(0).stderr(), "");
}

#[test]
fn a_lease_that_is_over_is_over_for_whoever_releases_it_whoever_holds_the_path_now() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["src/a.rs"]);
    repository.agent("alice").ok(&["release", "--all"]);
    repository.grant("bob", &["src/a.rs"]);
    for agent in ["alice", "bob", "carol"] {
        let reply = repository.agent(agent).ok(&["release", text(&lease, "id")]);
        assert_eq!(reply["already_released"][0], lease["id"], "{agent}");
    }
    assert!(!repository.is_clear("alice", "src/a.rs"), "nothing of bob's was released");
}

#[test]
fn an_operator_who_names_a_path_of_somebody_else_is_told_to_name_the_id() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    let shown = home.terminal(repository.path(), "clearway release src/a.rs --reason 'alice went home'");
    let shown = String::from_utf8_lossy(&shown.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("named by its id, which `leases` lists: clearway release ID"), "{shown}");
}

/// `--kind` says what words name, and `--all` has none.
#[test]
fn a_kind_beside_everything_is_refused_and_nothing_is_given_away() {
    let home = home();
    let repository = app(&home);
    repository.grant("ada", &["a.rs"]);
    repository.grant("ada", &["--kind", "name", "build"]);
    for words in [
        &["release", "--all", "--kind", "name"][..],
        &["transfer", "--all", "--kind", "name", "--to", "bob"],
        &["renew", "--kind", "name", "--ttl", "3h"],
    ] {
        repository.agent("ada").fails("usage", 2, words);
    }
    assert_eq!(list(&repository.clearway().ok(&["leases"]), "leases").len(), 2);
}

#[test]
fn whoever_names_what_only_others_hold_is_told_who() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    repository.grant("alice", &["--kind", "name", "build"]);
    let bob = || repository.agent("bob");
    let said = |reply: &Value| {
        assert_eq!((text(&reply["notices"][0], "code"), list(reply, "released").len()), ("nothing-held", 0));
        assert_eq!(reply["notices"][0]["agent"], "alice", "{reply}");
        text(&reply["notices"][0], "message").to_owned()
    };
    for words in [["release", "src/"].as_slice(), &["release", "src/a.rs"], &["release", "src/*.rs"]] {
        let message = said(&bob().ok(words));
        assert!(message.contains(", but alice does; see what you hold, and what others do"), "{message}");
    }
    assert!(said(&bob().ok(&["release", "--kind", "name", "build"])).contains("but alice does"));
    repository.grant("bob", &["src/b.rs"]);
    let slip = said(&bob().ok(&["release", "src/a.rs"]));
    assert!(slip.ends_with("you hold nothing on src/a.rs, but alice does; did you mean src/b.rs?"), "{slip}");
    assert_eq!(bob().ok(&["release", "src/"])["notices"], json!([]), "it holds something of it");
    assert_eq!(bob().ok(&["release", "docs/"])["notices"][0]["agent"], Value::Null, "nobody does");
    for words in [["renew", "src/"].as_slice(), &["transfer", "--to", "alice", "src/"]] {
        let error = bob().fails("not-found", 5, words);
        assert!(text(&error, "message").contains("you hold nothing on src/**, but alice does;"), "{error}");
    }
    for reader in ["r1", "r2", "r3", "r4", "r5"] {
        repository.grant(reader, &["docs/x.md", "--shared"]);
    }
    let many = bob().ok(&["release", "docs/"]);
    assert!(text(&many["notices"][0], "message").contains(", but r1, r2, r3 and 2 more do"), "{many}");
}
