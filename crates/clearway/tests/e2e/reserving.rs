//! Taking leases: what is granted, to whom, and what the refused are told.

use crate::{app, each, home, list, number, text};

#[test]
fn a_grant_tells_everything_about_the_lease() {
    let home = home();
    let repository = app(&home);
    let reply =
        repository.agent("alice").ok(&["reserve", "src/*.rs", "--ttl", "10m", "--reason", "refactoring"]);
    let lease = &reply["leases"][0];
    let is_id = |id: &str| id.len() == 8 && id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    assert!(is_id(text(lease, "id")) && is_id(text(lease, "agent_id")), "{lease}");
    for (field, expected) in [
        ("kind", "path"),
        ("pattern", "src/*.rs"),
        ("mode", "exclusive"),
        ("grade", "claimed"),
        ("agent", "alice"),
        ("reason", "refactoring"),
        ("state", "active"),
    ] {
        assert_eq!(text(lease, field), expected);
    }
    assert_eq!(text(lease, "worktree"), repository.path().display().to_string());
    assert_eq!((number(lease, "ttl_ms"), number(lease, "expires_in_ms")), (600_000, 600_000));
    let seconds = |field: &str| text(lease, field)[17..19].parse::<u64>().ok();
    assert_eq!(seconds("created_at"), seconds("expires_at"), "ten minutes keep the seconds");
    assert_eq!((&reply["agent"], &reply["rev"]), (&"alice".into(), &4.into()));
    let listed = repository.clearway().ok(&["leases", "--agent-name", "alice"]);
    assert_eq!((&listed["leases"][0]["id"], &listed["leases"][0]["state"]), (&lease["id"], &"active".into()));
}

#[test]
fn a_second_agent_is_refused_and_told_who_holds_it() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["src/*.rs", "--reason", "refactoring"]);
    let blockers = repository.blockers("bob", &["src/a.rs"]);
    let [blocker] = blockers.as_slice() else { panic!("{blockers:?}") };
    for field in ["id", "agent", "agent_id", "pattern", "mode", "reason", "fence"] {
        assert_eq!(blocker[field], lease[field], "{field}");
    }
    assert_eq!((&blocker["liveness"], &blocker["waiters"]), (&"active".into(), &0.into()));
    let leases = repository.clearway().ok(&["leases"]);
    assert_eq!(list(&leases, "leases").len(), 1, "a refusal leaves no lease");
}

#[test]
fn a_refusal_names_every_holder_in_the_way() {
    let home = home();
    let repository = app(&home);
    for (agent, pattern) in [("alice", "src/a.rs"), ("bob", "src/b.rs"), ("carol", "docs/")] {
        repository.grant(agent, &[pattern, "--reason", agent]);
    }
    let blockers = repository.blockers("dave", &["src/", "docs/x.md"]);
    let agents: Vec<&str> = blockers.iter().map(|blocker| text(blocker, "agent")).collect();
    assert_eq!(agents, ["alice", "bob", "carol"]);
    assert!(blockers.iter().all(|blocker| blocker["reason"] == blocker["agent"]));
}

#[test]
fn a_refusal_says_when_to_try_again_and_what_to_type() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs", "--ttl", "5m"]);
    let error = repository.agent("bob").fails("reservation-held", 1, &["reserve", "src/a.rs"]);
    assert_eq!(error["retry"]["when"], "after");
    assert!((1..=300_000).contains(&number(&error["retry"], "ms")), "{error}");
    assert!(
        error["hints"][0].as_str().is_some_and(|hint| hint.ends_with("clearway --agent bob who src/a.rs")),
        "{error}"
    );
}

#[test]
fn readers_share_and_a_writer_excludes() {
    let home = home();
    let repository = app(&home);
    let check = |first: &[&str], second: &[&str], granted: bool| {
        repository.grant("alice", &[&["src/"], first].concat());
        let words = [&["reserve", "src/a.rs"], second].concat();
        repository.agent("bob").json(&words).expect(i32::from(!granted));
        let asked = [&["check", "src/a.rs"], second].concat();
        repository.agent("carol").json(&asked).expect(i32::from(!granted));
        repository.agent("alice").ok(&["release", "--all"]);
        repository.agent("bob").ok(&["release", "--all"]);
    };
    check(&["--shared"], &["--shared"], true);
    check(&["--shared"], &[], false);
    check(&[], &["--shared"], false);
    check(&[], &[], false);
}

#[test]
fn a_sharer_becomes_a_writer_only_alone() {
    let home = home();
    let repository = app(&home);
    let shared = repository.grant("alice", &["s.rs", "--shared"]);
    repository.grant("bob", &["s.rs", "--shared"]);
    let blockers = repository.blockers("alice", &["s.rs"]);
    assert_eq!(blockers.iter().map(|blocker| text(blocker, "agent")).collect::<Vec<_>>(), ["bob"]);
    let still = repository.clearway().ok(&["leases", "--agent-name", "alice"]);
    assert_eq!(each(&still, "leases", "mode"), ["shared"]);
    repository.agent("bob").ok(&["release", "s.rs"]);
    let exclusive = repository.grant("alice", &["s.rs"]);
    assert_eq!((&exclusive["id"], &exclusive["mode"]), (&shared["id"], &"exclusive".into()));
    assert!(number(&exclusive, "fence") > number(&shared, "fence"), "an upgrade has a new fence");
    let all = repository.clearway().ok(&["leases"]);
    assert_eq!(each(&all, "leases", "mode"), ["exclusive"], "one row");
}

#[test]
fn a_writer_that_only_reads_on_lets_others_read() {
    let home = home();
    let repository = app(&home);
    let exclusive = repository.grant("alice", &["s.rs"]);
    let shared = repository.grant("alice", &["s.rs", "--shared"]);
    assert_eq!((&shared["id"], &shared["fence"]), (&exclusive["id"], &exclusive["fence"]));
    repository.grant("bob", &["s.rs", "--shared"]);
    assert!(repository.kinds().contains(&"lease.downgraded".to_owned()));
}

#[test]
fn an_absolute_end_stated_later_counts_unless_an_earlier_one_was_stated() {
    let home = home();
    let repository = app(&home);
    let left = |words: &[&str]| {
        number(&repository.grant("alice", &[&["a.rs", "--ttl", "2h"], words].concat()), "expires_in_ms")
    };
    assert!(left(&[]) > 3_600_000);
    assert!(left(&["--max", "50m"]) <= 3_000_000, "reserving again");
    assert!(left(&["--shared", "--max", "30m"]) <= 1_800_000, "lowering");
    assert!(left(&["--max", "10m"]) <= 600_000, "raising");
    assert!(left(&["--max", "1h"]) <= 600_000, "the earlier end stays");
    assert!(repository.clearway().ok(&["audit", "verify"])["ok"].as_bool().unwrap_or(false));
}

#[test]
fn raising_and_lowering_a_lease_states_its_terms_anew() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs", "--shared", "--ttl", "1m", "--reason", "reading"]);
    let raised = repository.grant("alice", &["a.rs", "--ttl", "1h", "--reason", "writing"]);
    assert_eq!((text(&raised, "reason"), number(&raised, "ttl_ms")), ("writing", 3_600_000));
    assert!(number(&raised, "expires_in_ms") > 1_800_000);
    let lowered = repository.grant("alice", &["a.rs", "--shared", "--ttl", "2h"]);
    assert_eq!((text(&lowered, "reason"), number(&lowered, "ttl_ms")), ("writing", 7_200_000));
    let stored = repository.clearway().ok(&["leases"]);
    assert_eq!(each(&stored, "leases", "reason"), ["writing"]);
}

#[test]
fn reserving_again_what_one_holds_extends_the_same_lease() {
    let home = home();
    let repository = app(&home);
    let first = repository.grant("alice", &["src/a.rs", "--ttl", "1m", "--reason", "refactoring"]);
    for ttl in ["2m", "3m", "4m", "5m"] {
        let again = repository.grant("alice", &["src/a.rs", "--ttl", ttl]);
        assert_eq!((&again["id"], &again["fence"]), (&first["id"], &first["fence"]));
        assert_eq!(again["reason"], "refactoring", "a stated reason is not lost");
    }
    let agents = repository.clearway().ok(&["agents"]);
    assert_eq!(agents["agents"][0]["leases"], 1);
    let lease = repository.clearway().ok(&["leases"])["leases"][0].clone();
    assert!(number(&lease, "expires_in_ms") > 240_000, "{lease}");
    let shorter = repository.grant("alice", &["src/a.rs", "--ttl", "1s"]);
    assert!(number(&shorter, "expires_in_ms") > 240_000, "a renewal never shortens: {shorter}");
}

#[test]
fn what_a_wider_lease_of_ones_own_covers_needs_no_second_one() {
    let home = home();
    let repository = app(&home);
    let wide = repository.grant("alice", &["src/"]);
    let narrow = repository.grant("alice", &["src/a.rs"]);
    assert_eq!(narrow["id"], wide["id"]);
    assert_eq!(list(&repository.clearway().ok(&["leases"]), "leases").len(), 1);
}

#[test]
fn a_request_for_several_things_gets_all_or_none() {
    let home = home();
    let repository = app(&home);
    repository.grant("bob", &["y.rs"]);
    let blockers = repository.blockers("alice", &["x.rs", "y.rs"]);
    assert_eq!(blockers.iter().map(|blocker| text(blocker, "pattern")).collect::<Vec<_>>(), ["y.rs"]);
    assert!(repository.is_clear("carol", "x.rs"), "nothing of a refused request is held");
    let reply = repository.agent("alice").ok(&["reserve", "x.rs", "y.rs", "--best-effort"]);
    assert_eq!(each(&reply, "leases", "pattern"), ["x.rs"]);
    assert_eq!(each(&reply, "refused", "pattern"), ["y.rs"]);
    assert_eq!(reply["refused"][0]["blockers"][0]["agent"], "bob");
    let error =
        repository.agent("carol").fails("reservation-held", 1, &["reserve", "x.rs", "y.rs", "--best-effort"]);
    assert_eq!(list(&error["details"], "blockers").len(), 2, "best effort that gets nothing is refused");
}

#[test]
fn a_write_set_is_taken_and_shown_as_one() {
    let home = home();
    let repository = app(&home);
    let reply = repository.agent("alice").ok(&["reserve", "--kind", "write-set", "src/a.rs", "docs/*.md"]);
    let sets = each(&reply, "leases", "set_id");
    assert_eq!((sets.len(), sets[0]), (2, sets[1]));
    assert_eq!(each(&reply, "leases", "kind"), ["write-set", "write-set"]);
    repository.blockers("bob", &["docs/x.md"]);
    repository.blockers("bob", &["--kind", "write-set", "other.rs", "src/a.rs"]);
    assert!(repository.is_clear("bob", "other.rs"));
}

#[test]
fn silence_is_bounded_even_when_nobody_says_how() {
    let home = home();
    let repository = app(&home);
    for (arguments, ttl_ms) in [
        (&["a"] as &[&str], 1_800_000),
        (&["b", "--ttl", "60s"], 60_000),
        (&["c", "--ttl=60s"], 60_000),
        (&["d", "--ttl", "24h"], 86_400_000),
    ] {
        assert_eq!(number(&repository.grant("alice", arguments), "ttl_ms"), ttl_ms, "{arguments:?}");
    }
    home.user_config("[leases]\nclaimed_ttl = \"7m\"\n");
    assert_eq!(number(&repository.grant("alice", &["e"]), "ttl_ms"), 420_000);
}

#[test]
fn fences_rise_with_every_grant() {
    let home = home();
    let repository = app(&home);
    let mut last = 0;
    for round in 0..5 {
        let lease = repository.grant("alice", &["src/a.rs"]);
        assert!(number(&lease, "fence") > last, "round {round}");
        last = number(&lease, "fence");
        repository.agent("alice").ok(&["release", "--all"]);
    }
    assert!(last < 1 << 53, "every JSON reader keeps it exactly");
}

#[test]
fn whoever_regains_a_path_is_told_that_another_held_it() {
    let home = home();
    let repository = app(&home);
    for agent in ["alice", "bob"] {
        repository.grant(agent, &["src/a.rs"]);
        repository.agent(agent).ok(&["release", "--all"]);
    }
    let reply = repository.agent("alice").ok(&["reserve", "src/a.rs"]);
    let notice = &reply["notices"][0];
    assert_eq!(
        (&notice["code"], &notice["agent"], &notice["target"]),
        (&"changed-hands".into(), &"bob".into(), &"src/a.rs".into())
    );
    repository.agent("alice").ok(&["release", "--all"]);
    assert_eq!(list(&repository.agent("alice").ok(&["reserve", "src/a.rs"]), "notices").len(), 0);
}

#[test]
fn whoever_shared_a_path_and_left_first_is_no_news() {
    let home = home();
    let repository = app(&home);
    for agent in ["alice", "bob"] {
        repository.grant(agent, &["--shared", "src/a.rs"]);
    }
    for agent in ["bob", "alice"] {
        repository.agent(agent).ok(&["release", "--all"]);
    }
    assert_eq!(list(&repository.agent("alice").ok(&["reserve", "src/a.rs"]), "notices").len(), 0);
}

#[test]
fn a_refusal_of_several_leads_to_what_is_held() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["docs/"]);
    let error = repository.agent("bob").fails("reservation-held", 1, &["reserve", "src/a.rs", "docs/x.md"]);
    assert!(error["hints"][0].as_str().is_some_and(|hint| hint.ends_with("who docs/x.md")), "{error}");
    repository.grant("alice", &["--kind", "name", "build"]);
    let names = ["reserve", "--kind", "name", "free", "build"];
    let error = repository.agent("bob").fails("reservation-held", 1, &names);
    assert!(
        error["hints"][0].as_str().is_some_and(|hint| hint.ends_with("who --kind name build")),
        "{error}"
    );
}

#[test]
fn a_refusal_repeated_at_once_is_counted_not_logged_again() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["src/a.rs"]);
    for _ in 0..20 {
        repository.blockers("bob", &["src/a.rs"]);
        repository.agent("bob").fails("not-found", 5, &["release", "00000000"]);
    }
    let refused = repository.kinds().iter().filter(|kind| *kind == "reservation.refused").count();
    assert_eq!(refused, 1);
    repository.grant("bob", &["src/b.rs"]);
    repository.agent("alice").ok(&["release", text(&lease, "id")]);
    repository.grant("bob", &["src/a.rs"]);
    repository.grant("alice", &["docs/"]);
    repository.blockers("bob", &["docs/x.md"]);
    let events = repository.events();
    let last = events.last().expect("an event");
    assert_eq!((&last["kind"], number(&last["data"], "repeats")), (&"reservation.refused".into(), 19));
}

#[test]
fn a_quota_stops_one_agent_and_nobody_else() {
    let home = home();
    let repository = home.repository("app", &[]);
    let names = |from: usize, to: usize| (from..to).map(|n| format!("n{n}")).collect::<Vec<_>>();
    let reserve = |agent: &str, names: &[String]| {
        let words: Vec<&str> =
            ["reserve", "--kind", "name"].into_iter().chain(names.iter().map(String::as_str)).collect();
        repository.agent(agent).json(&words)
    };
    for from in (0..1_000).step_by(250) {
        reserve("alice", &names(from, from + 250)).expect(0);
    }
    repository.agent("alice").fails("quota-exceeded", 3, &["check", "--kind", "name", "n1000"]);
    repository.agent("bob").ok(&["check", "--kind", "name", "n1000"]);
    let error = reserve("alice", &names(1_000, 1_001)).expect(3).slug("quota-exceeded");
    assert!(text(&error, "message").contains("1000"), "{error}");
    reserve("alice", &names(0, 1)).expect(0);
    reserve("bob", &names(1_000, 1_001)).expect(0);
    repository.agent("alice").ok(&["release", "--kind", "name", "n0"]);
    reserve("alice", &names(1_001, 1_002)).expect(0);
}

#[test]
fn words_that_begin_with_a_dash_come_after_two_dashes() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["--", "-weird.rs"]);
    assert!(!repository.is_clear("bob", "-weird.rs"));
}

#[test]
fn flags_of_everywhere_may_stand_after_the_verb() {
    let home = home();
    let repository = app(&home);
    let reply = repository.clearway().run(&["reserve", "o.rs", "--json", "--agent", "bob"]).expect(0).value();
    assert_eq!(reply["agent"], "bob");
}
