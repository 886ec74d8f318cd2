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
    assert_eq!(queue(&mut stage), ["1 eve waiting", "2 bob waiting"]);
    assert_eq!(log_length(&mut stage), before, "looking records nothing");
    stage.run("sweep").expect(0);
    assert_eq!(queue(&mut stage), ["1 eve offered", "2 bob waiting"]);
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
