//! Deadlines: silence ends a lease, for every operation at the same instant, and once.

use crate::{app, each, home, list, number, text};
use clearway_testkit::{Repository, eventually, until};
use serde_json::Value;

/// Waits until a lease on `pattern` is over for somebody else.
fn until_clear(repository: &Repository<'_>, pattern: &str) {
    eventually("the lease runs out", || repository.is_clear("nobody", pattern).then_some(()));
}

fn expiries(repository: &Repository<'_>) -> Vec<Value> {
    repository.events().into_iter().filter(|event| event["kind"] == "lease.expired").collect()
}

#[test]
fn at_the_deadline_every_operation_agrees_that_it_is_over() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["a.rs", "--ttl", "1s"]);
    let id = text(&lease, "id");
    until_clear(&repository, "a.rs");
    let before = home.state_files();
    let overdue = repository.clearway().ok(&["sweep", "--dry-run"]);
    assert_eq!((&overdue["expired"][0], &overdue["dry_run"]), (&id.into(), &true.into()));
    assert_eq!(list(&repository.clearway().ok(&["leases"]), "leases").len(), 0);
    assert_eq!(list(&repository.clearway().ok(&["who", "a.rs"]), "holders").len(), 0);
    assert_eq!(list(&repository.clearway().ok(&["status"]), "leases").len(), 0);
    let history = repository.clearway().ok(&["leases", "--history"]);
    assert_eq!(
        (&history["leases"][0]["state"], number(&history["leases"][0], "expires_in_ms")),
        (&"expired".into(), 0)
    );
    assert_eq!(repository.clearway().ok(&["agents"])["agents"][0]["leases"], 0);
    before.assert_same(&home.state_files(), "looking");
    let error = repository.agent("alice").fails("lease-expired", 4, &["renew", id]);
    assert_eq!(error["details"]["lease"]["state"], "expired", "{error}");
    let reply = repository.agent("alice").ok(&["release", id]);
    assert_eq!((list(&reply, "released").len(), &reply["already_released"][0]), (0, &id.into()));
    assert_eq!(expiries(&repository).len(), 1);
    let again = repository.grant("alice", &["a.rs"]);
    assert!(again["id"] != lease["id"] && number(&again, "fence") > number(&lease, "fence"));
}

#[test]
fn whoever_reserves_first_after_the_deadline_records_the_expiry_before_the_grant() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs", "--ttl", "1s"]);
    let lease = eventually("bob gets it", || {
        let ran = repository.agent("bob").json(&["reserve", "a.rs"]);
        (ran.code() == 0).then(|| ran.value()["leases"][0].clone())
    });
    let story: Vec<String> =
        repository.kinds().into_iter().filter(|kind| kind.starts_with("lease.")).collect();
    assert_eq!(story, ["lease.granted", "lease.expired", "lease.granted"]);
    let expired = &expiries(&repository)[0];
    assert_eq!((&expired["data"]["cause"], &expired["agent"]), (&"silence".into(), &Value::Null));
    assert_eq!(lease["agent"], "bob");
}

#[test]
fn concurrent_sweeps_record_each_expiry_once() {
    let home = home();
    let repository = home.repository("app", &[]);
    let names: Vec<String> = (0..20).map(|n| format!("n{n}")).collect();
    let words: Vec<&str> =
        ["--kind", "name", "--ttl", "1s"].into_iter().chain(names.iter().map(String::as_str)).collect();
    repository.grant("alice", &words);
    eventually("all run out", || {
        let overdue = repository.clearway().ok(&["sweep", "--dry-run"]);
        (list(&overdue, "expired").len() == 20).then_some(())
    });
    assert_eq!(expiries(&repository).len(), 0, "a dry run records nothing");
    let sweeps: Vec<_> = (0..6).map(|_| repository.agent("sweeper").spawn(&["sweep", "--json"])).collect();
    let mut recorded = 0;
    for sweep in sweeps {
        let output = sweep.wait_with_output().expect("a sweep");
        let reply: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        recorded += list(&reply, "expired").len();
    }
    let ids: std::collections::BTreeSet<String> =
        expiries(&repository).iter().map(|event| text(&event["data"], "lease").to_owned()).collect();
    assert_eq!((recorded, ids.len(), expiries(&repository).len()), (20, 20, 20));
    assert!(!repository.kinds().contains(&"lease.released".to_owned()));
    assert_eq!(
        list(&repository.clearway().ok(&["sweep"]), "expired").len(),
        0,
        "a second sweep finds nothing"
    );
}

#[test]
fn a_sweep_needs_no_name_and_no_terminal_and_is_the_kernels_act() {
    let home = home();
    let repository = home.repository("app", &[]);
    let lease = repository.grant("alice", &["--kind", "name", "--ttl", "1s", "port"]);
    eventually("it runs out", || {
        let overdue = home.json_without_terminal(repository.path(), &["sweep", "--dry-run"]);
        (list(&overdue, "expired").len() == 1).then_some(())
    });
    let swept = home.json_without_terminal(repository.path(), &["sweep"]);
    assert_eq!((&swept["expired"][0], &swept["agent"]), (&lease["id"], &Value::Null));
    let expired = &expiries(&repository)[0];
    assert_eq!((&expired["agent"], &expired["how"]), (&Value::Null, &"kernel".into()), "{expired}");
    assert_eq!(list(&repository.clearway().ok(&["agents"]), "agents").len(), 1, "nobody was registered");
}

#[test]
fn leases_that_end_apart_end_in_their_order() {
    let home = home();
    let repository = home.repository("app", &[]);
    for (name, ttl) in [("first", "1s"), ("second", "1001ms"), ("third", "1002ms")] {
        repository.grant(name, &["--kind", "name", "--ttl", ttl, name]);
    }
    eventually("all run out", || {
        let overdue = repository.clearway().ok(&["sweep", "--dry-run"]);
        (list(&overdue, "expired").len() == 3).then_some(())
    });
    let swept = repository.clearway().ok(&["sweep"]);
    let leases = repository.clearway().ok(&["leases", "--history"]);
    let pattern = |id: &Value| {
        let lease = list(&leases, "leases").iter().find(|lease| lease["id"] == *id).expect("the lease");
        text(lease, "pattern").to_owned()
    };
    let order: Vec<String> = list(&swept, "expired").iter().map(pattern).collect();
    assert_eq!(order, ["first", "second", "third"]);
    assert_eq!(each(&leases, "leases", "state"), ["expired", "expired", "expired"]);
}

#[test]
fn an_absolute_end_comes_whatever_the_holder_does() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs", "--ttl", "1h", "--max", "1s"]);
    eventually("the end comes", || {
        repository.agent("alice").ok(&["renew"]);
        repository.is_clear("bob", "a.rs").then_some(())
    });
    repository.grant("bob", &["a.rs"]);
    assert_eq!(expiries(&repository)[0]["data"]["cause"], "maximum");
}

#[test]
fn a_holder_that_gives_signs_of_life_keeps_what_it_holds() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["a.rs", "--ttl", "3s"]);
    repository.grant("silent", &["b.rs", "--ttl", "3s"]);
    until("what somebody silent took later runs out", || {
        repository.agent("alice").ok(&["reserve", "--kind", "name", "pulse"]);
        assert!(!repository.is_clear("bob", "a.rs"));
        repository.is_clear("bob", "b.rs")
    });
    repository.agent("alice").ok(&["renew", text(&lease, "id")]);
    let ended: Vec<Value> =
        expiries(&repository).iter().map(|event| event["data"]["lease"].clone()).collect();
    assert!(!ended.contains(&lease["id"]), "{ended:?}");
}

#[test]
fn looking_is_no_sign_of_life() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs", "--ttl", "1s"]);
    eventually("the lease runs out while its holder looks at it", || {
        for words in [["leases"].as_slice(), &["who", "a.rs"], &["status"], &["check", "a.rs"]] {
            repository.agent("alice").ok(words);
        }
        repository.is_clear("bob", "a.rs").then_some(())
    });
    assert_eq!(repository.grant("bob", &["a.rs"])["agent"], "bob");
}

#[test]
fn what_ran_out_counts_against_no_quota() {
    let home = home();
    let repository = home.repository("app", &[]);
    let names: Vec<String> = (0..1_000).map(|n| format!("n{n}")).collect();
    for part in names.chunks(250) {
        let words = ["--kind", "name", "--ttl", "1s", "--max", "1s"].into_iter();
        repository.grant("alice", &words.chain(part.iter().map(String::as_str)).collect::<Vec<_>>());
    }
    eventually("all run out", || {
        let leases = repository.clearway().ok(&["leases"]);
        list(&leases, "leases").is_empty().then_some(())
    });
    repository.grant("alice", &["--kind", "name", "one-more"]);
}
