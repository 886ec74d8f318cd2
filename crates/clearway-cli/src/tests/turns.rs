//! Turns that nobody took, as whoever looks at the queue sees them before anybody wrote that down.

use super::stage::Stage;
use clearway_core::limits::OFFER_MS;
use serde_json::Value;

/// Who waits, and whose turn it is, as every look at the queue tells it.
#[track_caller]
fn queue(stage: &mut Stage) -> Vec<String> {
    let mut listed = |line: &str, list: &str| -> Vec<String> {
        let found = stage.run(&format!("{line} --json")).expect(0).json();
        let told = |wait: &Value| format!("{} {} {}", wait["position"], wait["agent"], wait["state"]);
        found[list].as_array().unwrap().iter().map(told).map(|text| text.replace('"', "")).collect()
    };
    let waits = listed("waits", "waits");
    assert_eq!((listed("status", "waits"), listed("who f", "waiters")), (waits.clone(), waits.clone()));
    waits
}

fn log_length(stage: &mut Stage) -> usize {
    stage.run("events --json").expect(0).stdout.lines().count()
}

#[test]
fn a_turn_that_was_not_taken_passes_on_for_whoever_looks() {
    let mut stage = Stage::default();
    stage.run("--agent ada reserve f").expect(0);
    stage.run("--agent bob reserve --queue f").expect(0);
    stage.run("--agent eve reserve --queue f").expect(0);
    stage.run("--agent ada release f").expect(0);
    assert_eq!(queue(&mut stage), ["1 bob offered", "2 eve waiting"]);
    stage.pass_ms(OFFER_MS);
    let before = log_length(&mut stage);
    assert_eq!(queue(&mut stage), ["1 eve offered", "2 bob waiting"]);
    assert_eq!(log_length(&mut stage), before, "looking records nothing");
    stage.run("sweep").expect(0);
    assert_eq!(queue(&mut stage), ["1 eve offered", "2 bob waiting"]);
}

#[test]
fn a_turn_that_came_by_silence_is_told_to_whoever_looks() {
    let mut stage = Stage::default();
    stage.run("--agent ada reserve f --ttl 10s").expect(0);
    stage.run("--agent bob reserve --queue f").expect(0);
    stage.run("--agent eve reserve --queue f").expect(0);
    assert_eq!(queue(&mut stage), ["1 bob waiting", "2 eve waiting"]);
    stage.pass_ms(10_000);
    let before = log_length(&mut stage);
    assert_eq!(queue(&mut stage), ["1 bob offered", "2 eve waiting"]);
    let status = stage.run("--agent bob status").expect(0).stdout;
    assert!(
        status.contains("f (your turn)") && status.contains("next: clearway --agent bob wait "),
        "{status}"
    );
    let line = stage.run("--agent bob statusline").expect(0).stdout;
    assert!(line.contains("1 turn is yours"), "{line}");
    assert_eq!(log_length(&mut stage), before, "looking records nothing");
}

/// Whoever held it in between is remembered, also if its lease ran out and nobody wrote that down.
#[test]
fn a_path_changed_hands_also_by_a_lease_that_ran_out() {
    let mut stage = Stage::default();
    for agent in ["bob", "cy"] {
        stage.run(&format!("--agent {agent} reserve g")).expect(0);
        stage.run(&format!("--agent {agent} release g")).expect(0);
    }
    stage.run("--agent ada reserve g --ttl 1s").expect(0);
    stage.pass_ms(1_000);
    let reply = stage.run("--agent bob reserve g --json").expect(0).json();
    assert_eq!(reply["notices"][0]["code"], "changed-hands", "{reply:#}");
    assert_eq!(reply["notices"][0]["agent"], "ada", "{reply:#}");
    stage.run("--agent bob release g").expect(0);
    let again = stage.run("--agent bob reserve g --json").expect(0).json();
    assert_eq!(again["notices"].as_array().map(Vec::len), Some(0), "{again:#}");
}

#[test]
fn one_who_waits_for_three_leases_is_one_and_the_holder_is_told() {
    let mut stage = Stage::default();
    stage.run("--agent ada reserve f g h").expect(0);
    stage.run("--agent bob reserve --queue f g h").expect(0);
    let line = stage.run("--agent ada statusline").expect(0).stdout;
    assert!(line.starts_with("1 waits for you, 3 leases"), "{line}");
    let status = stage.run("--agent ada status").expect(0).stdout;
    assert!(status.contains("wait for you: bob (f)"), "{status}");
}

#[test]
fn a_place_that_never_was_cannot_be_left() {
    let mut stage = Stage::default();
    stage.run("--agent ada reserve f").expect(0);
    let queued = stage.run("--agent bob reserve --queue f --json").expect(0).json();
    let id = queued["queued"]["id"].as_str().unwrap().to_owned();
    let unknown = stage.run("--agent bob wait --cancel zzzzzzzz --json").expect(5);
    assert_eq!(unknown.json()["error"]["slug"], "not-found");
    let mixed = stage.run(&format!("--agent bob wait --cancel {id} zzzzzzzz --json")).expect(5);
    assert_eq!(mixed.json()["error"]["slug"], "not-found");
    assert_eq!(queue(&mut stage).len(), 1, "nothing is half done");
    for _ in 0..2 {
        stage.run(&format!("--agent bob wait --cancel {id}")).expect(0);
    }
}

#[test]
fn a_refusal_shows_a_few_of_many_in_the_way_and_programs_all() {
    let mut stage = Stage::default();
    let files: Vec<String> = (0..20).map(|number| format!("m1/{number}")).collect();
    stage.run(&format!("--agent ada reserve {}", files.join(" "))).expect(0);
    let refused = stage.run("--agent bob reserve m1/**").expect(1).stderr;
    assert!(refused.contains("and 12 more: clearway --agent bob leases"), "{refused}");
    assert!(refused.lines().count() <= 30, "{refused}");
    let all = stage.run("--agent bob reserve m1/** --json").expect(1).json();
    assert_eq!(all["error"]["details"]["blockers"].as_array().map(Vec::len), Some(20), "{all:#}");
}

#[test]
fn a_turn_that_could_not_be_taken_is_not_held_against_its_waiter_by_whoever_looks() {
    let mut stage = Stage::default();
    stage.run("--agent ada reserve f --shared").expect(0);
    stage.run("--agent ben reserve g").expect(0);
    stage.run("--agent bob reserve --queue f g --shared").expect(0);
    stage.run("--agent eve reserve --queue g").expect(0);
    stage.run("--agent ben release g").expect(0);
    stage.run("--agent ada reserve f").expect(0);
    stage.pass_ms(OFFER_MS);
    let found = stage.run("waits --json").expect(0).json();
    let agents: Vec<&Value> = found["waits"].as_array().unwrap().iter().map(|wait| &wait["agent"]).collect();
    assert_eq!(agents, ["bob", "eve"], "an upgrade took it away");
}

#[test]
fn whoever_let_two_turns_pass_waits_no_more_for_whoever_looks() {
    let mut stage = Stage::default();
    stage.run("--agent ada reserve f").expect(0);
    stage.run("--agent bob reserve --queue f").expect(0);
    stage.run("--agent ada release f").expect(0);
    stage.pass_ms(OFFER_MS);
    stage.run("sweep").expect(0);
    assert_eq!(queue(&mut stage), ["1 bob offered"]);
    stage.pass_ms(OFFER_MS);
    assert_eq!(queue(&mut stage), [""; 0]);
}
