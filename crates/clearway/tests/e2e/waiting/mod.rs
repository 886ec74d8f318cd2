//! Waiting: places in the queue, turns, and how they end.

mod endings;
mod places;
mod processes;
mod turns;

use crate::{list, text};
use clearway_testkit::{Repository, eventually};
use serde_json::Value;
use std::process::{Child, Output};

/// Far longer than any test takes.
const LONG: &str = "10m";
/// The shortest time there is to wait.
const A_MOMENT: &str = "100ms";

/// Asks for a place: the place.
#[track_caller]
fn queue(repository: &Repository<'_>, agent: &str, words: &[&str]) -> Value {
    let reply = repository.agent(agent).ok(&[&["reserve", "--queue"], words].concat());
    assert!(list(&reply, "leases").is_empty() && reply["queued"].is_object(), "{reply}");
    reply["queued"].clone()
}

/// A process that waits, once the others can see that it does.
fn waiter(repository: &Repository<'_>, agent: &str, words: &[&str]) -> Child {
    let line = [&["--json", "reserve", "--wait", LONG], words].concat();
    let child = repository.agent(agent).spawn(&line);
    eventually("the process has its place", || {
        let waits = waits(repository);
        waits.iter().any(|wait| wait["pid"] == child.id()).then_some(())
    });
    child
}

fn waits(repository: &Repository<'_>) -> Vec<Value> {
    list(&repository.clearway().ok(&["waits"]), "waits").to_vec()
}

fn answer(output: &Output) -> Value {
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "nothing is said while waiting");
    serde_json::from_slice(&output.stdout).expect("one JSON document")
}

fn done(child: Child) -> Value {
    answer(&child.wait_with_output().expect("the process ends"))
}

/// The agents that were granted something, in order.
fn granted(repository: &Repository<'_>) -> Vec<String> {
    let events = repository.events().into_iter().filter(|event| event["kind"] == "lease.granted");
    events.map(|event| text(&event, "agent").to_owned()).collect()
}

/// How the waits ended, in order.
fn ends(repository: &Repository<'_>) -> Vec<String> {
    let events = repository.events().into_iter().filter(|event| event["kind"] == "wait.ended");
    events.map(|event| text(&event["data"], "cause").to_owned()).collect()
}
