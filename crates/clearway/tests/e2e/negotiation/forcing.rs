//! Taking what was asked for: from whom, when, and what is left of it.

use super::{ask, asked, failing_git, of_kind, pass};
use crate::hooks::told::reads;
use crate::{app, each, home_long_after_boot, list, number, text};
use clearway_testkit::Client;

fn forced(id: &str) -> [&str; 4] {
    ["force", id, "--reason", "the release is due"]
}

#[test]
fn a_deadline_takes_nothing_and_reaches_both_sides_without_any_process() {
    let home = home_long_after_boot();
    let repository = app(&home);
    let (mut one, mut two) =
        (Client::claude(&home, &repository, "one"), Client::claude(&home, &repository, "two"));
    repository.grant("eve", &["docs/"]);
    one.before_edit("src/a.rs").silent();
    repository.write("src/a.rs", "changed\n");
    one.after_edit("src/a.rs").silent();
    reads(&mut two).silent();
    let reply = repository.clearway().session("two").ok(&["ask", "src/a.rs", "add logout", "--urgent"]);
    let id = text(&reply["negotiations"][0], "id").to_owned();
    let told = reads(&mut one).told();
    assert!(told.contains("asks for src/a.rs (\"add logout\")") && told.contains(&id), "{told}");
    pass(&home, 5);
    let open = repository.clearway().ok(&["negotiations"]);
    assert_eq!(
        open["negotiations"][0]["state"], "escalatable",
        "it counts though nobody recorded it: {open}"
    );
    let (holder, asker) = (reads(&mut one).told(), reads(&mut two).told());
    assert!(holder.contains("still waits for your answer on src/a.rs"), "{holder}");
    assert!(asker.contains("did not answer for src/a.rs in time"), "{asker}");
    reads(&mut one).silent();
    reads(&mut two).silent();
    assert_eq!(of_kind(&repository, "negotiation.overdue").len(), 1);
    assert_eq!(each(&repository.clearway().ok(&["who", "src/a.rs"]), "holders", "pattern"), ["src/a.rs"]);
}

#[test]
fn nobody_forces_who_lives_or_who_said_later_and_the_time_left_is_told() {
    let home = home_long_after_boot();
    let repository = app(&home);
    repository.grant("ada", &["src/a.rs", "--ttl", "3h"]);
    let id = text(&ask(&repository, "bob", &["src/a.rs", "why", "--urgent"]), "id").to_owned();
    let early = repository.agent("bob").fails("force-too-early", 1, &forced(&id));
    assert_eq!(
        (&early["details"]["why"], &early["retry"]["when"]),
        (&"deadline".into(), &"after".into()),
        "{early}"
    );
    let left_ms = |error: &serde_json::Value| {
        assert_eq!(error["details"]["left_ms"], error["retry"]["ms"], "{error}");
        number(&error["details"], "left_ms")
    };
    assert!((1..=300_000).contains(&left_ms(&early)), "{early}");
    assert!(text(&early, "message").contains("ada has another 5m to answer"), "{early}");
    repository.agent("ada").ok(&["answer", &id, "later", "20"]);
    pass(&home, 19);
    let later = repository.agent("bob").fails("force-too-early", 1, &forced(&id));
    assert_eq!(later["details"]["why"], "later", "{later}");
    assert!((1..=60_000).contains(&left_ms(&later)), "{later}");
    pass(&home, 2);
    repository.agent("ada").ok(&["renew"]);
    let alive = repository.agent("bob").fails("force-too-early", 1, &forced(&id));
    assert_eq!(alive["details"]["why"], "active", "{alive}");
    assert!((1..=600_001).contains(&left_ms(&alive)), "twice the window of silence is missing: {alive}");
    assert!(of_kind(&repository, "negotiation.forced").is_empty());
    assert_eq!(each(&repository.clearway().ok(&["leases"]), "leases", "agent"), ["ada"]);
}

#[test]
fn a_day_of_unanswered_requests_takes_nothing_from_who_shows_signs_of_life() {
    let home = home_long_after_boot();
    let repository = app(&home);
    let lease = repository.grant("ada", &["src/a.rs", "--ttl", "24h"]);
    let id = asked(&repository, "bob", "src/a.rs");
    for _ in 0..5 {
        pass(&home, 285);
        repository.agent("ada").ok(&["renew"]);
        repository.agent("bob").fails("force-too-early", 1, &forced(&id));
    }
    assert_eq!(each(&repository.clearway().ok(&["leases"]), "leases", "id"), [text(&lease, "id")]);
    assert_eq!(of_kind(&repository, "negotiation.overdue").len(), 1, "once");
    pass(&home, 20);
    // A place in the queue is kept for a day, and what was asked from it ends with it.
    repository.agent("ada").ok(&["renew"]);
    let told = repository.agent("bob").ok(&["renew"]);
    assert!(
        list(&told, "notices")[0]["message"].as_str().unwrap().contains("you wait for it no more"),
        "{told}"
    );
    let over = repository.agent("bob").fails("already-answered", 4, &forced(&id));
    assert_eq!(over["details"]["status"], "lapsed", "{over}");
    assert_eq!(each(&repository.clearway().ok(&["leases"]), "leases", "id"), [text(&lease, "id")]);
}

/// Release, record, snapshot and notice are one: who, whom, what, why and when.
#[test]
fn a_force_is_recorded_keeps_what_was_not_committed_and_is_told_to_the_holder_once() {
    let home = home_long_after_boot();
    let repository = app(&home);
    let mut one = Client::claude(&home, &repository, "one");
    repository.grant("eve", &["docs/"]);
    one.before_edit("src/a.rs").silent();
    repository.write("src/a.rs", "half done\n");
    one.after_edit("src/a.rs").silent();
    repository.clearway().session("one").ok(&["reserve", "src/a.rs", "--ttl", "3h"]);
    let id = text(&ask(&repository, "bob", &["src/a.rs", "why", "--urgent"]), "id").to_owned();
    pass(&home, 11);
    let first = repository.agent("bob").ok(&forced(&id));
    assert_eq!((text(&first, "status"), number(&first, "released_count")), ("forced", 1), "{first}");
    let events = of_kind(&repository, "negotiation.forced");
    let event = &events[0];
    assert_eq!((text(event, "agent"), text(&event["data"], "reason")), ("bob", "the release is due"));
    assert_eq!((text(&event["data"], "pattern"), text(&event["data"], "negotiation")), ("src/a.rs", &*id));
    assert!(event["at"].is_string() && event["data"]["holder_id"].is_string(), "{event}");
    let before = repository.events().len();
    let second = repository.agent("bob").ok(&forced(&id));
    assert_eq!((&second["status"], &second["released"]), (&first["status"], &first["released"]));
    assert_eq!(repository.events().len(), before, "the second time is the first result again");
    let told = one.before_edit("src/b.rs").told();
    assert!(told.contains("bob took src/a.rs from you") && told.contains("the release is due"), "{told}");
    assert!(told.contains("clearway show s"), "{told}");
    let number = list(&repository.clearway().ok(&["snapshots"]), "snapshots")[0]["number"].to_string();
    assert!(told.contains(&format!("s{number}")), "{told}");
    assert!(!reads(&mut one).stdout.contains("bob took src/a.rs"), "once");
    repository.grant("bob", &["src/a.rs"]);
}

#[test]
fn what_was_let_go_meanwhile_is_not_taken_and_counts_nothing() {
    let home = home_long_after_boot();
    let repository = app(&home);
    repository.grant("ada", &["src/a.rs", "--ttl", "3h"]);
    let id = asked(&repository, "bob", "src/a.rs");
    pass(&home, 21);
    repository.agent("ada").ok(&["release", "src/a.rs"]);
    let events = repository.events().len();
    let late = repository.agent("bob").ok(&forced(&id));
    assert_eq!((text(&late, "status"), number(&late, "released_count")), ("already-released", 0));
    assert_eq!(repository.events().len(), events);
}

/// The lease that was asked for is pinned: one that the holder took since is another matter.
#[test]
fn a_lease_that_the_holder_took_since_is_not_taken_for_the_one_that_was_asked_for() {
    let home = home_long_after_boot();
    let repository = app(&home);
    repository.grant("ada", &["src/a.rs", "--ttl", "3h"]);
    let id = asked(&repository, "bob", "src/a.rs");
    repository.agent("ada").ok(&["release", "src/a.rs"]);
    repository.agent("bob").ok(&["wait", "--cancel"]);
    let second = repository.grant("ada", &["src/a.rs", "--ttl", "3h"]);
    pass(&home, 60);
    let late = repository.agent("bob").ok(&forced(&id));
    assert_eq!((text(&late, "status"), number(&late, "released_count")), ("already-released", 0));
    assert_eq!(late["remaining"][0]["id"], second["id"], "and it is said who has it: {late}");
}

#[test]
fn a_holder_that_died_can_be_forced_at_once() {
    let home = home_long_after_boot();
    let repository = app(&home);
    let mut one = Client::claude(&home, &repository, "one");
    repository.grant("eve", &["docs/"]);
    one.before_edit("src/a.rs").silent();
    repository.write("src/a.rs", "half done\n");
    let id = asked(&repository, "bob", "src/a.rs");
    repository.agent("bob").fails("force-too-early", 1, &forced(&id));
    one.die();
    let taken = repository.agent("bob").ok(&forced(&id));
    assert_eq!(text(&taken, "status"), "forced", "{taken}");
    assert_eq!(of_kind(&repository, "snapshot.taken").len(), 1, "what it left is kept first");
}

#[test]
fn third_parties_neither_answer_nor_force_and_a_person_may_force_by_the_same_rules() {
    let home = home_long_after_boot();
    let repository = app(&home);
    repository.grant("ada", &["src/a.rs", "--ttl", "3h"]);
    repository.grant("eve", &["docs/"]);
    let id = asked(&repository, "bob", "src/a.rs");
    repository.agent("eve").fails("not-party", 3, &["answer", &id, "release"]);
    repository.agent("bob").fails("not-party", 3, &["answer", &id, "release"]);
    repository.agent("eve").fails("not-party", 3, &forced(&id));
    let denied = of_kind(&repository, "action.denied");
    assert_eq!(denied.len(), 3, "each attempt is on record: {denied:?}");
    repository.agent("root").operator(&home).fails("force-too-early", 1, &forced(&id));
    pass(&home, 21);
    let taken = repository.agent("root").operator(&home).ok(&forced(&id));
    assert_eq!(text(&taken, "status"), "forced");
    assert_eq!(text(&of_kind(&repository, "negotiation.forced")[0], "agent"), "root");
}

#[test]
fn forces_are_limited_in_an_hour() {
    let home = home_long_after_boot();
    let repository = app(&home);
    let files: Vec<String> = (0..6).map(|n| format!("src/n{n}.rs")).collect();
    let words: Vec<&str> = files.iter().map(String::as_str).chain(["--ttl", "5h"]).collect();
    repository.agent("ada").ok(&[&["reserve"], &words[..]].concat());
    let ids: Vec<String> = files.iter().map(|file| asked(&repository, "bob", file)).collect();
    pass(&home, 21);
    for id in &ids[..5] {
        repository.agent("bob").ok(&forced(id));
    }
    repository.agent("bob").fails("quota-exceeded", 3, &forced(&ids[5]));
    assert_eq!(of_kind(&repository, "negotiation.forced").len(), 5);
}

/// Whoever forces a file out of a pattern takes that file, and the rest stays.
#[test]
fn a_force_takes_no_more_than_was_asked_for() {
    let home = home_long_after_boot();
    let repository = app(&home);
    repository.grant("ada", &["src/*.rs", "--ttl", "3h"]);
    let id = asked(&repository, "bob", "src/a.rs");
    pass(&home, 21);
    let taken = repository.agent("bob").ok(&forced(&id));
    assert_eq!((list(&taken, "released").len(), &taken["split"][0]), (0, &"src/a.rs".into()), "{taken}");
    let again = repository.agent("bob").ok(&forced(&id));
    assert_eq!(
        (&again["released"], &again["split"]),
        (&taken["released"], &taken["split"]),
        "the first result"
    );
    repository.grant("bob", &["src/a.rs"]);
    repository.agent("bob").fails("reservation-held", 1, &["reserve", "src/b.rs"]);
}

/// Two who force the same at once: one effect.
#[test]
fn of_many_forces_at_once_one_takes_it_and_all_are_told_the_same() {
    let home = home_long_after_boot();
    let repository = app(&home);
    repository.grant("ada", &["src/a.rs", "--ttl", "3h"]);
    let id = asked(&repository, "bob", "src/a.rs");
    pass(&home, 21);
    let words = [&["--json"], &forced(&id)[..]].concat();
    let children: Vec<_> = (0..4).map(|_| repository.agent("bob").spawn(&words)).collect();
    for child in children {
        let output = child.wait_with_output().expect("it ends");
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!((text(&told, "status"), output.status.code()), ("forced", Some(0)), "{told}");
    }
    assert_eq!(of_kind(&repository, "negotiation.forced").len(), 1);
    assert_eq!(of_kind(&repository, "lease.taken-over").len(), 1);
}

/// What was taken from an agent is shown to it, and not brought back over the work of who has it now.
#[test]
fn what_was_taken_by_force_is_not_brought_back_over_the_new_holders_work() {
    let home = home_long_after_boot();
    let app = app(&home);
    app.grant("eve", &["docs/"]);
    let mut one = Client::claude(&home, &app, "one");
    one.before_edit("src/a.rs").silent();
    app.write("src/a.rs", "half done\n");
    one.after_edit("src/a.rs").silent();
    let id = asked(&app, "bob", "src/a.rs");
    one.die();
    let taken = app.agent("bob").run(&["force", &id, "--reason", "it died"]).expect(0).stdout();
    assert!(taken.contains("take it: clearway --agent bob wait "), "{taken}");
    let (_, take) = taken.split_once("take it: ").expect("a command");
    let take = take.lines().next().expect("a line");
    assert!(home.shell(app.path(), take).output().expect("a shell").status.success(), "{take}");
    app.write("src/a.rs", "bob's work\n");
    let mut again = Client::claude(&home, &app, "one");
    let told = crate::hooks::told::reads(&mut again).told();
    assert!(told.contains("bob took src/a.rs from you") && told.contains(": clearway show s"), "{told}");
    let number = told.rsplit("show ").next().expect("a number").trim_end_matches('.').to_owned();
    app.clearway().session("one").fails("reservation-held", 1, &["restore", &number]);
    assert_eq!(std::fs::read_to_string(app.path().join("src/a.rs")).expect("a file"), "bob's work\n");
    app.clearway().session("one").ok(&["show", &number]);
}

/// Of two who asked for the same, one forces it: the other is told who did, and nothing that the holder never did.
#[test]
fn who_comes_after_anothers_force_is_told_who_took_it_and_when() {
    let home = home_long_after_boot();
    let app = app(&home);
    app.grant("ada", &["src/a.rs", "--ttl", "3h"]);
    let (first, second) = (asked(&app, "bob", "src/a.rs"), asked(&app, "eve", "src/a.rs"));
    pass(&home, 21);
    app.agent("bob").ok(&forced(&first));
    let ended = of_kind(&app, "negotiation.ended");
    let said = |field: &str| ended[0]["data"][field].clone();
    assert_eq!(
        (said("negotiation"), said("outcome")),
        (second.as_str().into(), "forced".into()),
        "{ended:?}"
    );
    assert_eq!((said("released"), text(&ended[0], "agent")), (0.into(), "bob"), "{ended:?}");
    let events = app.events().len();
    let late = app.agent("eve").ok(&forced(&second));
    assert_eq!((text(&late, "status"), number(&late, "released_count")), ("already-released", 0), "{late}");
    let request = &late["negotiations"][0];
    assert_eq!((text(request, "state"), number(request, "released")), ("forced", 0), "{late}");
    assert_eq!(text(request, "reason"), "bob took it: the release is due", "{late}");
    assert!(request["ended_at"].is_string(), "{late}");
    let text = app.agent("eve").run(&forced(&second)).expect(0).stdout();
    assert!(text.contains("src/a.rs was taken from ada just now (") || text.contains(" ago ("), "{text}");
    assert!(text.contains("bob took it: the release is due") && !text.contains("let go"), "{text}");
    let taken_back = app.agent("eve").run(&["withdraw", &second]).expect(0).stdout();
    assert!(taken_back.contains("src/a.rs was taken from ada"), "{taken_back}");
    assert_eq!(app.events().len(), events, "nothing more is taken");
    let again = app.agent("bob").ok(&forced(&first));
    assert_eq!((&again["status"], number(&again, "released_count")), (&"forced".into(), 1), "{again}");
}

/// A force takes one file out of a pattern. What others asked for of the same lease ends as it was taken, or goes on.
#[test]
fn a_request_for_what_was_taken_out_of_a_pattern_ends_by_that_and_one_for_the_rest_goes_on() {
    let home = home_long_after_boot();
    let app = app(&home);
    app.grant("ada", &["src/*.rs", "--ttl", "3h"]);
    let taken = asked(&app, "bob", "src/a.rs");
    let (same, other) = (asked(&app, "eve", "src/a.rs"), asked(&app, "cy", "src/b.rs"));
    let all = asked(&app, "dan", "src/*.rs");
    pass(&home, 21);
    app.agent("bob").ok(&forced(&taken));
    let ended = of_kind(&app, "negotiation.ended");
    assert_eq!(ended.len(), 1, "{ended:?}");
    let said = |field: &str| ended[0]["data"][field].clone();
    assert_eq!((said("negotiation"), said("outcome")), (same.as_str().into(), "forced".into()), "{ended:?}");
    let open = app.clearway().ok(&["negotiations"]);
    assert_eq!(each(&open, "negotiations", "id"), [&*other, &*all], "{open}");
    app.agent("ada").ok(&["answer", &other, "release"]);
    // However the rest of it ended since, the second time is the first result again.
    app.agent("ada").ok(&["release", "--all"]);
    let again = app.agent("bob").ok(&forced(&taken));
    assert_eq!((list(&again, "released").len(), &again["split"][0]), (0, &"src/a.rs".into()), "{again}");
}

/// Nobody let go of what ran out, and nobody is told so.
#[test]
fn a_force_of_what_ran_out_says_that_it_ran_out() {
    let home = home_long_after_boot();
    let app = app(&home);
    app.grant("ada", &["src/a.rs", "--ttl", "20m"]);
    let id = asked(&app, "bob", "src/a.rs");
    pass(&home, 21);
    let late = app.agent("bob").run(&forced(&id)).expect(0).stdout();
    assert!(late.contains("ada holds src/a.rs no more: its lease is over"), "{late}");
}

/// Nobody's work is taken unkept without a person saying so.
#[test]
fn what_cannot_be_kept_first_is_not_taken_but_where_a_person_says_so() {
    let home = home_long_after_boot();
    let repository = app(&home);
    repository.grant("ada", &["src/a.rs", "--ttl", "3h"]);
    repository.write("src/a.rs", "half done\n");
    let id = asked(&repository, "bob", "src/a.rs");
    pass(&home, 21);
    let empty = failing_git(&home);
    let error = repository.agent("bob").env("PATH", &empty).fails("git-failed", 69, &forced(&id));
    assert!(text(&error, "message").contains("could not be kept first"), "{error}");
    assert!(error["hints"].to_string().contains("--without-snapshot"), "{error}");
    assert_eq!(each(&repository.clearway().ok(&["leases"]), "leases", "agent"), ["ada"]);
    let without = [&forced(&id)[..], &["--without-snapshot"]].concat();
    repository.agent("bob").env("PATH", &empty).fails("not-operator", 3, &without);
    let taken = repository.agent("root").operator(&home).env("PATH", &empty).ok(&without);
    assert_eq!(text(&taken, "status"), "forced", "{taken}");
    assert!(each(&taken, "notices", "code").contains(&"unkept"), "it is said that nothing is kept: {taken}");
}

/// Each side reads what was done: to whom it went, by whose hand, and that the old holder is there.
#[test]
fn what_was_taken_by_force_is_told_as_that_to_both_sides() {
    let home = home_long_after_boot();
    let repository = app(&home);
    repository.grant("eve", &["docs/"]);
    let (mut one, mut two) =
        (Client::claude(&home, &repository, "one"), Client::claude(&home, &repository, "two"));
    for file in ["src/a.rs", "src/b.rs"] {
        one.before_edit(file).silent();
        repository.write(file, "half done\n");
        one.after_edit(file).silent();
    }
    reads(&mut two).silent();
    let session = |name: &'static str| repository.clearway().session(name);
    session("one").ok(&["renew", "--ttl", "3h"]);
    let of_one = text(&session("one").ok(&["renew"]), "agent").to_owned();
    let mut ids = Vec::new();
    for words in [&["ask", "src/a.rs", "why"][..], &["ask", "src/b.rs", "why", "--then-reserve"]] {
        let reply = session("two").ok(words);
        ids.push(text(&reply["negotiations"][0], "id").to_owned());
    }
    let of_two = text(&session("two").ok(&["negotiations"])["negotiations"][0], "requester").to_owned();
    pass(&home, 25);
    for id in &ids {
        repository.agent("root").operator(&home).ok(&forced(id));
    }
    let mut told_one = String::new();
    let mut told_two = String::new();
    for _ in 0..4 {
        told_one += &reads(&mut one).stdout;
        told_two += &reads(&mut two).stdout;
    }
    let by = format!("root took src/a.rs from you for {of_two}");
    assert!(told_one.contains(&by) && !told_one.contains("Do not write"), "{told_one}");
    assert!(
        told_two.contains(&format!("src/a.rs is kept for you: it was taken from {of_one}")),
        "{told_two}"
    );
    assert!(told_two.contains(&format!("src/b.rs is yours: it was taken from {of_one}")), "{told_two}");
    assert!(told_two.contains("also kept as s") && !told_two.contains("let go of it"), "{told_two}");
    let granted = two.before_edit("src/a.rs").told();
    assert!(granted.contains(&format!("is yours, taken from {of_one}. ")), "{granted}");
    assert!(!granted.contains("is gone"), "{granted}");
}
