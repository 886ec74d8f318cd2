//! Wrong decisions. Each wraps the right one and changes what it sees or what it says; the simulation has to find every
//! one of them. They live here alone: the decision is a parameter of the executor, so product code carries none.

mod answers;
mod blind;
mod deaf;
mod talk;

use clearway_core::command::{Await, Command, Request, Reserve};
use clearway_core::decide::{Decide, Decision, Success, Verdict, identify};
use clearway_core::event::{Body, Event};
use clearway_core::ids::AgentId;
use clearway_core::slice::Slice;

/// One wrong decision.
#[derive(Clone, Copy, Debug)]
pub struct Bug {
    /// What it does wrong.
    pub name: &'static str,
    /// The decision.
    pub decide: Decide,
}

/// Every wrong decision.
pub fn all() -> Vec<Bug> {
    let all = [blind::BUGS, deaf::BUGS, answers::BUGS, talk::BUGS].concat();
    all.into_iter().map(|(name, decide)| Bug { name, decide }).collect()
}

type Named = (&'static str, Decide);

/// The slice, seen otherwise.
fn seen(slice: &Slice, change: impl FnOnce(&mut Slice)) -> Slice {
    let mut slice = slice.clone();
    change(&mut slice);
    slice
}

/// The request, heard otherwise.
fn heard(request: &Request, change: impl FnOnce(&mut Request)) -> Request {
    let mut request = request.clone();
    change(&mut request);
    request
}

/// The answer, given otherwise.
fn said(decision: Decision, change: impl FnOnce(&mut Verdict)) -> Decision {
    match decision {
        Decision::Ready(mut verdict) => {
            change(&mut verdict);
            Decision::Ready(verdict)
        }
        lacks => lacks,
    }
}

/// Who asks, as far as it is known.
fn caller(slice: &Slice, request: &Request) -> Option<AgentId> {
    identify(slice, &request.caller).ok()?.known.map(|view| view.agent.id)
}

/// What a request for leases asks for.
fn reserve_of(request: &mut Request) -> Option<&mut Reserve> {
    match &mut request.command {
        Command::Reserve(reserve) | Command::Await(Await { reserve, .. }) => Some(reserve),
        _ => None,
    }
}

/// Leaves out the last event, if it is of this kind.
fn without_last(verdict: &mut Verdict, kind: impl Fn(&Body) -> bool) {
    if verdict.events.last().is_some_and(|event: &Event| kind(&event.body)) {
        verdict.events.pop();
    }
}

/// The leases that an answer shows.
fn shown(verdict: &mut Verdict) -> &mut [clearway_core::failure::LeaseView] {
    match &mut verdict.outcome {
        Ok(Success::Reserved { leases, .. } | Success::Renewed(leases) | Success::Transferred(leases)) => {
            leases
        }
        _ => &mut [],
    }
}
