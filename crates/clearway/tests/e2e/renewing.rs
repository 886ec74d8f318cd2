//! Extending leases.

use crate::{app, each, home, list, number, text};
use clearway_testkit::eventually;

#[test]
fn without_ids_everything_one_holds_is_renewed() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs", "b.rs"]);
    repository.grant("bob", &["c.rs"]);
    let reply = repository.agent("alice").ok(&["renew"]);
    assert_eq!(each(&reply, "leases", "pattern"), ["a.rs", "b.rs"]);
    assert_eq!(list(&repository.agent("carol").ok(&["renew"]), "leases").len(), 0);
}

#[test]
fn a_part_of_a_lease_is_neither_renewed_nor_handed_over_and_the_whole_is_named() {
    let home = home();
    let repository = app(&home);
    let alice = || repository.agent("alice");
    repository.grant("bob", &["b.rs"]);
    for words in [["renew", "d/x"].as_slice(), &["transfer", "--to", "bob", "d/x"], &["renew", "d/*"]] {
        for hint in 0..2 {
            let lease = repository.grant("alice", &["d/**"]);
            let before = repository.events().len();
            let error = alice().fails("not-found", 5, words);
            let told = text(&error, "message");
            assert!(told.contains(text(&lease, "id")) && told.contains("d/**"), "{told}");
            assert_eq!(repository.events().len(), before, "nothing was changed");
            let (_, command) =
                error["hints"][hint].as_str().and_then(|hint| hint.split_once(": ")).expect("it");
            let ran = home.shell(repository.path(), command).output().expect("a shell");
            assert!(ran.status.success(), "{command}: {}", String::from_utf8_lossy(&ran.stderr));
            assert!(String::from_utf8_lossy(&ran.stdout).contains("d/**"), "{command}");
            alice().ok(&["release", "--all"]);
            repository.agent("bob").ok(&["release", "d/**"]);
        }
    }
    repository.grant("alice", &["d/x"]);
    repository.grant("alice", &["d/**"]);
    assert_eq!(each(&alice().ok(&["renew", "d/x"]), "leases", "pattern"), ["d/x"]);
}

#[test]
fn leases_are_renewed_by_pattern_name_and_all_of_them_like_they_are_released() {
    let home = home();
    let repository = app(&home);
    let alice = || repository.agent("alice");
    let lease = repository.grant("alice", &["src/a.rs"]);
    repository.grant("alice", &["main.rs"]);
    repository.grant("alice", &["--kind", "name", "build"]);
    repository.grant("bob", &["docs/"]);
    let patterns = |words: &[&str]| {
        let reply = alice().ok(words);
        let codes: Vec<String> = each(&reply, "notices", "code").iter().map(ToString::to_string).collect();
        (each(&reply, "leases", "pattern").iter().map(ToString::to_string).collect::<Vec<_>>(), codes)
    };
    let none: [&str; 0] = [];
    for (words, renewed, notices) in [
        (["renew", "src/"].as_slice(), ["src/a.rs"].as_slice(), none.as_slice()),
        (&["renew", "main.rs", text(&lease, "id")], &["src/a.rs", "main.rs"], &none),
        (&["renew", "--kind", "name", "build"], &["build"], &none),
        (&["renew", "--all"], &["src/a.rs", "main.rs", "build"], &none),
    ] {
        let (found, told) = patterns(words);
        assert_eq!(
            (found.as_slice(), told.as_slice()),
            (
                renewed.iter().map(ToString::to_string).collect::<Vec<_>>().as_slice(),
                notices.iter().map(ToString::to_string).collect::<Vec<_>>().as_slice(),
            ),
            "{words:?}"
        );
    }
    alice().fails("usage", 2, &["renew", "--all", "main.rs"]);
    for unheld in [["renew", "docs/"].as_slice(), &["renew", "build"], &["renew", "main.rs", "docs/"]] {
        alice().fails("not-found", 5, unheld);
    }
}

#[test]
fn a_renewal_keeps_id_and_fence_and_never_shortens() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["a.rs", "--ttl", "10m", "--reason", "refactoring"]);
    let longer =
        repository.agent("alice").ok(&["renew", text(&lease, "id"), "--ttl", "20m"])["leases"][0].clone();
    assert_eq!((&longer["id"], &longer["fence"]), (&lease["id"], &lease["fence"]));
    assert_eq!((number(&longer, "expires_in_ms"), &longer["reason"]), (1_200_000, &"refactoring".into()));
    let shorter = repository.agent("alice").ok(&["renew", "--ttl", "1s"])["leases"][0].clone();
    assert!(number(&shorter, "expires_in_ms") > 1_100_000, "{shorter}");
    let seen = repository.clearway().ok(&["leases"])["leases"][0].clone();
    assert!(number(&seen, "expires_in_ms") > 1_100_000, "the list agrees: {seen}");
}

#[test]
fn a_renewal_may_state_a_new_reason() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs", "--reason", "refactoring"]);
    let reply = repository.agent("alice").ok(&["renew", "--note", "still refactoring"]);
    assert_eq!(each(&reply, "leases", "reason"), ["still refactoring"]);
    assert_eq!(repository.blockers("bob", &["a.rs"])[0]["reason"], "still refactoring");
}

#[test]
fn what_was_released_cannot_be_renewed_and_is_reserved_anew_with_a_new_id() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["a.rs"]);
    let id = text(&lease, "id");
    repository.agent("alice").ok(&["release", id]);
    let error = repository.agent("alice").fails("lease-expired", 4, &["renew", id]);
    assert!(
        error["hints"][0].as_str().is_some_and(|hint| hint.ends_with("clearway --agent alice reserve a.rs")),
        "{error}"
    );
    let again = repository.grant("alice", &["a.rs"]);
    assert_ne!(again["id"], lease["id"]);
    assert!(number(&again, "fence") > number(&lease, "fence"));
}

#[test]
fn a_renewal_of_everything_names_what_had_run_out_before() {
    let home = home();
    let repository = app(&home);
    let short = repository.grant("alice", &["a.rs", "--ttl", "1s"]);
    repository.grant("alice", &["b.rs"]);
    eventually("the lease runs out", || repository.is_clear("nobody", "a.rs").then_some(()));
    let reply = repository.agent("alice").ok(&["renew"]);
    assert_eq!(each(&reply, "leases", "pattern"), ["b.rs"]);
    let notice = &list(&reply, "notices")[0];
    assert_eq!((&notice["code"], &notice["lease"]), (&"lapsed".into(), &short["id"]), "{reply}");
    assert_eq!((&notice["target"], &notice["state"]), (&"a.rs".into(), &"expired".into()), "{reply}");
    let again = repository.agent("alice").ok(&["renew"]);
    assert_eq!(list(&again, "notices").len(), 0, "it is said once: {again}");
}

#[test]
fn a_renewal_of_nothing_says_in_words_what_had_run_out() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs", "--ttl", "1s"]);
    eventually("the lease runs out", || repository.is_clear("nobody", "a.rs").then_some(()));
    let said = repository.agent("alice").run(&["renew"]).expect(0).stdout();
    assert!(said.contains("nothing to renew"), "{said}");
    assert!(said.contains("note: lease") && said.contains("on a.rs is over by now (expired)"), "{said}");
}

#[test]
fn a_shorter_span_that_shortens_nothing_says_so() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["a.rs", "--ttl", "2h"]);
    for arguments in [vec!["renew", "--ttl", "1m"], vec!["reserve", "a.rs", "--ttl", "5s"]] {
        let reply = repository.agent("alice").ok(&arguments);
        let notice = &list(&reply, "notices")[0];
        assert_eq!((&notice["code"], &notice["lease"]), (&"not-shortened".into(), &lease["id"]), "{reply}");
        assert!(text(notice, "message").contains("still ends in 2h"), "{notice}");
    }
    for arguments in [vec!["renew"], vec!["reserve", "a.rs"], vec!["renew", "--ttl", "3h"]] {
        let reply = repository.agent("alice").ok(&arguments);
        assert_eq!(list(&reply, "notices").len(), 0, "{arguments:?}: {reply}");
    }
}

/// Whoever would go on is told that it does not hold it any more, however it names it and whoever recorded the end.
#[test]
fn what_ran_out_is_not_renewed_by_its_path_and_told_beside_a_renewal_of_everything() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("ada", &["src/a.rs", "--ttl", "1s"]);
    let id = text(&lease, "id");
    eventually("it is free", || {
        Some(repository.clearway().ok(&["leases"])).filter(|leases| list(leases, "leases").is_empty())
    });
    repository.agent("bob").ok(&["sweep"]);
    for words in [["renew", id], ["renew", "src/a.rs"], ["renew", "src/"]] {
        let error = repository.agent("ada").fails("lease-expired", 4, &words);
        assert_eq!(error["details"]["lease"]["id"], id, "{error:#}");
    }
    repository.grant("bob", &["src/a.rs"]);
    let error = repository.agent("ada").fails("lease-expired", 4, &["renew", "src/a.rs"]);
    assert!(text(&error, "message").ends_with("has expired; bob holds it now"), "{error:#}");
    let told = repository.agent("ada").ok(&["renew"]);
    let notice = &told["notices"][0];
    assert_eq!((text(notice, "code"), text(notice, "lease")), ("lapsed", id), "{told:#}");
    repository.agent("ada").fails("not-found", 5, &["renew", "docs/"]);
    repository.agent("bob").ok(&["release", "--all"]);
    repository.grant("ada", &["src/a.rs"]);
    assert_eq!(repository.agent("ada").ok(&["renew"])["notices"], serde_json::json!([]), "it has it again");
}
