//! The short tier of the simulation: enough lives to reach every situation, and every wrong decision found.

use clearway_sim::campaign::{Hunt, Plan, campaign, hunt};
use clearway_sim::live;

#[test]
fn no_life_violates_an_invariant_and_every_situation_is_reached() {
    let outcome = campaign(Plan::SHORT);
    if let Some(failed) = outcome.failure {
        let tail = failed.trace.lines.iter().rev().take(12).rev().cloned().collect::<Vec<_>>().join("\n");
        panic!(
            "seed {} step {}: {:?}\n{tail}\nagain: cargo run -p clearway-sim -- --seed {} --steps {}",
            failed.seed,
            failed.step,
            failed.violation,
            failed.seed,
            Plan::SHORT.steps
        );
    }
    let unreached: Vec<&str> = outcome.probes.unreached().into_iter().map(|probe| probe.text()).collect();
    assert!(unreached.is_empty(), "never reached: {unreached:#?}");
}

#[test]
fn every_wrong_decision_is_found() {
    let hunts = hunt(Plan::SHORT);
    for Hunt { bug, found } in &hunts {
        match found {
            Some((seed, step, violation)) => {
                println!("{} -> seed {seed} -> step {step} -> {}", bug.name, violation.invariant);
            }
            None => println!("{} -> not found in {} seeds", bug.name, Plan::SHORT.seeds),
        }
    }
    let missed: Vec<&str> =
        hunts.iter().filter(|hunt| hunt.found.is_none()).map(|hunt| hunt.bug.name).collect();
    assert!(missed.is_empty(), "not found: {missed:?}");
    assert!(hunts.len() >= 25, "{} wrong decisions", hunts.len());
}

#[test]
fn equal_seeds_live_equal_lives_and_others_do_not() {
    let decide = clearway_core::decide::decide;
    for seed in [0, 7, 4_242] {
        let (one, other) = (live(seed, 100, decide), live(seed, 100, decide));
        assert_eq!(one.trace, other.trace);
        assert_ne!(one.trace, live(seed + 1, 100, decide).trace);
    }
}
