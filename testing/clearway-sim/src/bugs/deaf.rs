//! Decisions that take a request for another one.

use super::{Named, heard, reserve_of};
use clearway_core::agent::OperatorAct;
use clearway_core::command::{
    Await, Command, LeaseRef, Leave, Release, Renew, Request, Selection, Stay, Transfer,
};
use clearway_core::decide::{Decision, decide};
use clearway_core::facts::Facts;
use clearway_core::ids::Entropy;
use clearway_core::lease::Mode;
use clearway_core::slice::Slice;
use clearway_core::time::Now;

pub(super) const BUGS: &[Named] = &[
    ("does not check fences", no_fences),
    ("drops the second of several wants", one_want),
    ("hands out one unit more than there are", one_unit_more),
    ("hands out one unit less than there are", one_unit_less),
    ("takes an exclusive request for a shared one", always_shared),
    ("lets anybody act on any lease", everybody_operates),
    ("lets anybody leave for everybody", leaves_for_all),
    ("keeps a place after the last try", last_is_durable),
    ("forgets the absolute end", no_max),
    ("grants in part, unasked", always_best_effort),
];

fn no_fences(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let forget = |leases: &mut Vec<LeaseRef>| leases.iter_mut().for_each(|lease| lease.fence = None);
    let request = heard(r, |request| match &mut request.command {
        Command::Renew(Renew { selection: Selection::These { leases, .. }, .. })
        | Command::Release(Release { selection: Selection::These { leases, .. }, .. })
        | Command::Transfer(Transfer { selection: Selection::These { leases, .. }, .. }) => forget(leases),
        _ => {}
    });
    decide(s, &request, f, n, e)
}

fn one_want(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let request = heard(r, |request| {
        if let Some(reserve) = reserve_of(request) {
            reserve.wants.truncate(1);
        }
    });
    decide(s, &request, f, n, e)
}

fn with_capacity(r: &Request, change: impl Fn(u32) -> u32) -> Request {
    heard(r, |request| {
        if let Some(reserve) = reserve_of(request) {
            reserve.wants.iter_mut().for_each(|want| want.capacity = change(want.capacity));
        }
    })
}

fn one_unit_more(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let more = |capacity| if capacity > 1 { capacity + 1 } else { capacity };
    decide(s, &with_capacity(r, more), f, n, e)
}

fn one_unit_less(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    decide(s, &with_capacity(r, |capacity| capacity.saturating_sub(1).max(1)), f, n, e)
}

fn always_shared(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let request = heard(r, |request| {
        if let Some(reserve) = reserve_of(request) {
            reserve.mode = Mode::Shared;
        }
    });
    decide(s, &request, f, n, e)
}

fn operated(request: &mut Request) {
    request.caller.operator =
        Some(OperatorAct { reason: "because".to_owned(), at_terminal: true, holds_key: false });
}

fn everybody_operates(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let request = heard(r, |request| {
        if matches!(request.command, Command::Release(_) | Command::Renew(_) | Command::Transfer(_)) {
            operated(request);
        }
    });
    decide(s, &request, f, n, e)
}

fn leaves_for_all(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let request = heard(r, |request| {
        if let Command::Leave(Leave { waits: waits @ None }) = &mut request.command {
            *waits = Some(s.waits.iter().map(|view| view.wait.id).collect());
            operated(request);
        }
    });
    decide(s, &request, f, n, e)
}

fn last_is_durable(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let request = heard(r, |request| {
        if let Command::Await(Await { stay: stay @ Stay::Last, .. }) = &mut request.command {
            *stay = Stay::Durable;
        }
    });
    decide(s, &request, f, n, e)
}

fn no_max(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let request = heard(r, |request| {
        if let Some(reserve) = reserve_of(request) {
            reserve.max_ms = None;
        }
    });
    decide(s, &request, f, n, e)
}

fn always_best_effort(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let request = heard(r, |request| {
        if let Some(reserve) = reserve_of(request) {
            reserve.best_effort = true;
        }
    });
    decide(s, &request, f, n, e)
}
