//! Agents whose edits are refused by each other: all of them are told that waiting ends nothing, and who had best give
//! way. Every place stays what it is.

use super::gate::invited;
use super::told::{reads, run_what_follows};
use crate::{app, each, home, list};
use clearway_testkit::{Client, Home, Repository, eventually, until};
use serde_json::json;

/// Agents with an uncommitted change each, of `src/0.rs` and so on, in this order.
fn at_work(home: &Home, app: &Repository<'_>, sessions: &[&str]) -> Vec<Client> {
    invited(app);
    let mut clients: Vec<Client> = sessions.iter().map(|id| Client::claude(home, app, id)).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        let file = format!("src/{number}.rs");
        client.before_edit(&file).silent();
        app.write(&file, "changed\n");
        client.after_edit(&file).silent();
    }
    clients
}

fn waits(app: &Repository<'_>) -> usize {
    list(&app.clearway().ok(&["waits"]), "waits").len()
}

const CIRCLE: &str = "neither comes by waiting";

#[test]
fn two_whose_edits_are_refused_by_each_other_are_both_told_of_the_circle() {
    let home = home();
    let app = app(&home);
    let mut both = at_work(&home, &app, &["two", "one"]);
    let plain = both[0].before_edit("src/1.rs").denied();
    assert!(!plain.contains(CIRCLE), "nobody waits for the first yet: {plain}");
    let closer = both[1].before_edit("src/0.rs").denied();
    assert!(closer.contains("You are queued, 1st") && closer.contains(CIRCLE), "{closer}");
    assert!(closer.contains("wants src/1.rs, which you hold"), "{closer}");
    assert!(closer.contains("The least work is lost if you give back src/1.rs: commit it, or: "), "{closer}");
    assert!(closer.len() <= 800, "{} bytes: {closer}", closer.len());
    let other = reads(&mut both[0]).told();
    assert!(other.contains("wants src/0.rs, which you hold") && other.contains(CIRCLE), "{other}");
    assert!(other.contains("The least work is lost if claude-") && other.contains("gives back src/1.rs"));
    reads(&mut both[0]).silent();
    reads(&mut both[1]).silent();
    assert_eq!(waits(&app), 2, "every place stays");
    run_what_follows(&home, app.path(), &closer, "commit it, or: ");
    let turn = reads(&mut both[0]).told();
    assert!(turn.contains("src/1.rs is free, and kept for you"), "{turn}");
    both[0].before_edit("src/1.rs").silent();
    assert_eq!(waits(&app), 1);
}

#[test]
fn three_in_a_circle_are_each_told_from_where_they_stand() {
    let home = home();
    let app = app(&home);
    let mut all = at_work(&home, &app, &["s0", "s1", "s2"]);
    for (client, file) in [(0, "src/1.rs"), (1, "src/2.rs")] {
        assert!(!all[client].before_edit(file).denied().contains(CIRCLE));
    }
    let closer = all[2].before_edit("src/0.rs").denied();
    assert!(closer.contains("wants src/2.rs, which you hold"), "{closer}");
    assert!(closer.contains("if you give back src/2.rs"), "the youngest lease is given back: {closer}");
    for (client, held) in [(0, "src/0.rs"), (1, "src/1.rs")] {
        let told = reads(&mut all[client]).told();
        assert!(told.contains(&format!("wants {held}, which you hold")) && told.contains(CIRCLE), "{told}");
        assert!(told.contains("gives back src/2.rs"), "{told}");
        reads(&mut all[client]).silent();
    }
    assert_eq!(waits(&app), 3);
}

#[test]
fn a_circle_that_is_open_again_is_told_to_nobody() {
    let home = home();
    let app = app(&home);
    let mut both = at_work(&home, &app, &["one", "two"]);
    both[0].before_edit("src/1.rs").denied();
    both[1].before_edit("src/0.rs").denied();
    app.clearway().session("two").ok(&["release", "src/1.rs"]);
    let told = reads(&mut both[0]).told();
    assert!(told.contains("src/1.rs is free") && !told.contains(CIRCLE), "{told}");
    reads(&mut both[0]).silent();
}

#[test]
fn a_chain_is_no_circle_and_a_file_without_a_change_makes_way_as_ever() {
    let home = home();
    let app = app(&home);
    let mut all = at_work(&home, &app, &["s0", "s1", "s2"]);
    assert!(!all[0].before_edit("src/1.rs").denied().contains(CIRCLE));
    assert!(!all[1].before_edit("src/2.rs").denied().contains(CIRCLE));
    app.git(&["checkout", "-q", "--", "src"]);
    app.git(&["clean", "-qf", "--", "src"]);
    let told = all[2].before_edit("src/0.rs").told();
    assert!(told.contains("waits for src/2.rs") && !told.contains(CIRCLE), "{told}");
    let held = app.clearway().ok(&["leases"]);
    assert!(each(&held, "leases", "pattern").contains(&"src/0.rs"), "{held}");
}

#[test]
fn who_tries_again_in_a_circle_keeps_its_place_and_one_line() {
    let home = home();
    let app = app(&home);
    let mut both = at_work(&home, &app, &["one", "two"]);
    both[0].before_edit("src/1.rs").denied();
    both[1].before_edit("src/0.rs").denied();
    let again = both[1].before_edit("src/0.rs").denied();
    assert!(again.contains("is still with") && !again.contains(CIRCLE), "{again}");
    assert_eq!(waits(&app), 2);
    let event = json!({"reason": "other"});
    both[1].event("SessionEnd", &event).silent();
    assert_eq!(waits(&app), 1, "the circle ends with who is in it");
}

#[test]
fn a_claim_that_closes_a_circle_through_a_refused_edit_is_told_to_all_of_it() {
    let home = home();
    let app = app(&home);
    for words in [["--queue"].as_slice(), &["--wait", "1s"]] {
        let mut both = at_work(&home, &app, &[&format!("one{}", words[0]), &format!("two{}", words[0])]);
        both[0].before_edit("src/1.rs").denied();
        let claim: Vec<&str> = ["reserve", "src/0.rs"].iter().chain(words).copied().collect();
        let closer = app.clearway().session(&format!("two{}", words[0])).ok(&claim);
        let circle = list(&closer, "notices").iter().find(|notice| notice["code"] == "circle").cloned();
        let said = circle.unwrap_or_else(|| panic!("{words:?}: {closer}"))["message"].to_string();
        assert!(said.contains("wants src/1.rs while your turn hangs on"), "{words:?}: {said}");
        assert!(said.contains("the least work is lost if you give back src/1.rs"), "{words:?}: {said}");
        let other = reads(&mut both[0]).told();
        assert!(other.contains("wants src/0.rs, which you hold") && other.contains(CIRCLE), "{other}");
        assert!(other.contains("gives back src/1.rs"), "{other}");
        reads(&mut both[0]).silent();
        assert_eq!(waits(&app), 2, "every place stays");
        app.git(&["clean", "-qf", "--", "src"]);
        for client in &mut both {
            client.event("SessionEnd", &json!({"reason": "other"}));
        }
    }
}

/// While it waits it hears of the circle, when giving way would help; what is gone by the end is not told then.
#[test]
fn whoever_waits_in_a_circle_hears_of_it_while_it_lasts_and_not_when_it_is_gone() {
    let home = home();
    let app = app(&home);
    let mut both = at_work(&home, &app, &["one", "two"]);
    both[0].before_edit("src/1.rs").denied();
    let claim = ["--json", "reserve", "src/0.rs", "--wait", "4s"];
    let waiting = app.clearway().session("two").spawn(&claim);
    let told = eventually("it hears of it", || {
        let answer = reads(&mut both[1]);
        (!answer.is_silent()).then(|| answer.told()).filter(|told| told.contains(CIRCLE))
    });
    assert!(told.contains("wants src/1.rs") && told.contains("give back src/1.rs"), "{told}");
    app.clearway().session("one").ok(&["wait", "--cancel"]);
    let closer = waiting.wait_with_output().expect("it ends").stdout;
    let closer: serde_json::Value = serde_json::from_slice(&closer).expect("JSON");
    assert!(!each(&closer, "notices", "code").contains(&"circle"), "{closer}");
}

/// The same of a request to the holder: it is heard of when the wait begins, or the moment somebody closes it.
#[test]
fn whoever_waits_for_an_answer_in_a_circle_hears_of_it_at_once() {
    let home = home();
    let app = app(&home);
    let mut both = at_work(&home, &app, &["one", "two"]);
    let ask = ["--json", "ask", "src/0.rs", "why", "--wait", "30m"];
    let answer_of = |mut waiting: std::process::Child| {
        until("its wait ends", || waiting.try_wait().expect("a process of ours").is_some());
        let told = waiting.wait_with_output().expect("it ended").stdout;
        let told: serde_json::Value = serde_json::from_slice(&told).expect("JSON");
        assert_eq!(
            (&told["status"], &*each(&told, "notices", "code")),
            (&"requested".into(), &["circle"][..])
        );
        told["notices"][0]["message"].as_str().expect("a text").to_owned()
    };
    let waiting = app.clearway().session("two").spawn(&ask);
    until("it waits", || waits(&app) == 1);
    assert!(both[0].before_edit("src/1.rs").denied().contains(CIRCLE));
    let said = answer_of(waiting);
    assert!(said.contains("wants src/1.rs") && said.contains("if you give back src/1.rs"), "{said}");
    reads(&mut both[1]).silent();
    app.clearway().session("two").ok(&["wait", "--cancel"]);
    let said = answer_of(app.clearway().session("two").spawn(&ask));
    assert!(said.contains("wants src/1.rs") && said.contains("if you give back src/1.rs"), "{said}");
    assert_eq!(waits(&app), 2, "every place stays");
}
