//! Decisions that are wrong about requests to holders, and about agents that a person stopped.

use super::{Named, caller, said, seen};
use clearway_core::command::{Command, Request};
use clearway_core::decide::{Decision, Verdict, decide};
use clearway_core::event::{Actor, Body, Event};
use clearway_core::facts::Facts;
use clearway_core::ids::Entropy;
use clearway_core::negotiation::{Negotiation, NegotiationEnd, NegotiationState};
use clearway_core::slice::Slice;
use clearway_core::time::{Mono, Now};
use clearway_core::wait::WaitEnd;

pub(super) const BUGS: &[Named] = &[
    ("forces before the deadline", forces_early),
    ("forces although the holder takes longer", forces_despite_later),
    ("forces from whoever is active", forces_active),
    ("takes what was asked for at the deadline", takes_at_deadline),
    ("never tells that a deadline passed", never_overdue),
    ("asks anew instead of again", asks_twice),
    ("gives up the place of who was put off", loses_place),
    ("says released and lets go of nothing", released_in_words),
    ("forces a second time", forces_twice),
    ("lets anybody say no", anybody_says_no),
    ("lets an answer shorten the time", shortens_deadline),
    ("leaves a request open whose lease is over", never_closes),
    ("lets stopped agents go on", nobody_is_stopped),
];

/// The request that a force is about, seen otherwise.
fn forced(s: &Slice, r: &Request, change: impl Fn(&mut Negotiation)) -> Slice {
    let Command::Force(force) = &r.command else { return s.clone() };
    let is_it = |open: &&mut Negotiation| open.id == force.negotiation;
    seen(s, |slice| slice.negotiations.iter_mut().filter(is_it).for_each(change))
}

fn asked(s: &Slice, change: impl Fn(&mut Negotiation)) -> Slice {
    seen(s, |slice| slice.negotiations.iter_mut().for_each(change))
}

fn is_force(r: &Request) -> bool {
    matches!(r.command, Command::Force(_))
}

fn forces_early(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let due = |open: &mut Negotiation| {
        if open.later().is_none() && !open.overdue {
            (open.deadline, open.overdue) = (n.mono, true);
        }
    };
    let silent = without_signs(s, n);
    decide(&if is_force(r) { forced(&silent, r, due) } else { s.clone() }, r, f, n, e)
}

fn forces_despite_later(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let due = |open: &mut Negotiation| {
        if open.later().is_some() {
            (open.state, open.deadline, open.overdue) = (NegotiationState::Requested, n.mono, true);
        }
    };
    let silent = without_signs(s, n);
    decide(&if is_force(r) { forced(&silent, r, due) } else { s.clone() }, r, f, n, e)
}

fn forces_active(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    decide(&if is_force(r) { without_signs(s, n) } else { s.clone() }, r, f, n, e)
}

/// As if nobody had been heard of for long, where no lease ends by that.
fn without_signs(s: &Slice, n: &Now) -> Slice {
    if s.leases.iter().any(|lease| lease.ended.is_none() && lease.deadline <= n.mono) {
        return s.clone();
    }
    seen(s, |slice| {
        slice.agents.iter_mut().for_each(|view| view.sign = None);
        slice.leases.iter_mut().for_each(|lease| lease.granted = Mono(0));
    })
}

fn add(verdict: &mut Verdict, body: Body) {
    if let Some(last) = verdict.events.last() {
        let (seq, at) = (last.seq.next(), last.at);
        verdict.events.push(Event { seq, at, actor: Actor::KERNEL, body });
    }
}

fn takes_at_deadline(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    said(decide(s, r, f, n, e), |verdict| {
        let overdue = verdict.events.iter().find_map(|event| match &event.body {
            Body::NegotiationOverdue { negotiation } => s.negotiation(*negotiation).cloned(),
            _ => None,
        });
        if let Some(open) = overdue {
            let (lease, holder, to) = (open.lease, open.holder, open.requester);
            add(verdict, Body::LeaseTakenOver { lease, holder, to });
        }
    })
}

fn never_overdue(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let endless = |open: &mut Negotiation| open.deadline = Mono(u64::MAX);
    decide(&if is_force(r) { s.clone() } else { asked(s, endless) }, r, f, n, e)
}

fn asks_twice(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let forgotten = seen(s, |slice| slice.negotiations.clear());
    decide(if matches!(r.command, Command::Ask(_)) { &forgotten } else { s }, r, f, n, e)
}

fn loses_place(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    said(decide(s, r, f, n, e), |verdict| {
        let deferred = verdict.events.last().and_then(|event| match &event.body {
            Body::NegotiationDeferred { negotiation, .. } => s.negotiation(*negotiation).cloned(),
            _ => None,
        });
        if let Some(open) = deferred {
            let (wait, agent, cause) = (open.wait, open.requester, WaitEnd::Cancelled);
            let ended = Body::WaitEnded { wait, agent, cause, last_heard: None, operator_reason: None };
            add(verdict, ended);
        }
    })
}

/// The answer and what it came to, without what it was about.
fn released_in_words(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let answers = matches!(r.command, Command::Answer(_));
    said(decide(s, r, f, n, e), |verdict| {
        let first = verdict.events.first().map(|event| event.seq);
        let is_kept =
            |event: &Event| !matches!(event.body, Body::LeaseReleased { .. } | Body::LeaseSplit { .. });
        verdict.events.retain(|event| !answers || is_kept(event));
        let mut seq = first;
        for event in &mut verdict.events {
            event.seq = seq.unwrap_or(event.seq);
            seq = Some(event.seq.next());
        }
    })
}

fn forces_twice(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let reopened = |open: &mut Negotiation| {
        if open.settled().is_some_and(|settled| settled.how == NegotiationEnd::Forced) {
            open.state = NegotiationState::Requested;
        }
    };
    decide(&forced(s, r, reopened), r, f, n, e)
}

fn anybody_says_no(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let me = caller(s, r).filter(|_| matches!(r.command, Command::Answer(_)));
    let mine = |open: &mut Negotiation| open.holder = me.unwrap_or(open.holder);
    decide(&asked(s, mine), r, f, n, e)
}

fn shortens_deadline(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    said(decide(s, r, f, n, e), |verdict| {
        for event in &mut verdict.events {
            if let Body::NegotiationDeferred { deadline, .. } = &mut event.body {
                *deadline = n.mono.plus_ms(1);
            }
        }
    })
}

fn never_closes(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let gives_back = matches!(r.command, Command::Release(_) | Command::LetGo(_));
    let forgotten = seen(s, |slice| slice.negotiations.clear());
    decide(if gives_back { &forgotten } else { s }, r, f, n, e)
}

fn nobody_is_stopped(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let going = seen(s, |slice| slice.agents.iter_mut().for_each(|view| view.agent.halted = None));
    let takes =
        matches!(r.command, Command::Reserve(_) | Command::Await(_) | Command::Ask(_) | Command::Force(_));
    decide(if takes { &going } else { s }, r, f, n, e)
}
