//! The witness check: the log is the order in which everything happened, so it only has to be shown that every
//! operation fits into it. Linear in the length of the history, and no search.
//!
//! Each event is given to the operation that made it; then each operation is asked whether its answer is true at its
//! revision and its events lie between its start and its end. What the clock did is judged with the slack that signs of
//! life leave, never stricter.

use super::breach::{Breach, Rule};
use super::ledger::{Ledger, mode_of};
use super::operation::{Ask, Ended, How, Operation, Which};
use super::windows::{Window, windows};
use super::{answers, refusals};
use clearway_core::event::{Body, Event};
use clearway_core::ids::AgentId;
use clearway_core::lease::ExpiryCause;
use clearway_core::pattern::{Fold, Pattern};
use clearway_core::target::Target;
use clearway_core::wait::WaitEnd;
use std::collections::BTreeMap;

/// How many breaches are told.
const BREACHES_MAX: usize = 20;

/// An operation with where it may lie in the log and what it did there.
#[derive(Clone, Debug)]
pub(super) struct Judged<'a> {
    pub(super) operation: &'a Operation,
    pub(super) window: Window,
    /// The agent, if it was ever registered.
    pub(super) me: Option<AgentId>,
    /// Its own events, in order.
    pub(super) events: Vec<&'a Event>,
    /// When the same agent's operation before it was over, in milliseconds.
    pub(super) seen_before_ms: u64,
}

impl Judged<'_> {
    /// Whether it was killed and left nothing but its agent's name.
    pub(super) fn is_only_known(&self) -> bool {
        let is_name = |event: &&Event| matches!(event.body, Body::AgentRegistered(_));
        matches!(self.operation.ended, Ended::Killed) && self.events.iter().all(is_name)
    }
}

/// Judges a history by its log; no breach, or the first ones.
pub fn judge(history: &[Operation], ledger: &Ledger) -> Vec<Breach> {
    let mut breaches = Vec::new();
    let judged = attributed(history, ledger, &mut breaches);
    for one in &judged {
        let found = match &one.operation.ended {
            Ended::Killed => whole(one, ledger),
            Ended::Answered { .. } if one.operation.success().is_some() => answers::judge(one, ledger),
            Ended::Answered { .. } => refusals::judge(one, ledger),
        };
        breaches.extend(found.err());
    }
    breaches.extend(timely(&judged, ledger));
    breaches.truncate(BREACHES_MAX);
    breaches
}

/// The events of each operation, by number.
pub(super) fn attributed<'a>(
    history: &'a [Operation],
    ledger: &'a Ledger,
    breaches: &mut Vec<Breach>,
) -> Vec<Judged<'a>> {
    let windows = windows(history);
    let mut judged: Vec<Judged<'a>> = history
        .iter()
        .zip(windows)
        .map(|(operation, window)| {
            let me = ledger.agents.get(&operation.agent).copied();
            Judged { operation, window, me, events: Vec::new(), seen_before_ms: 0 }
        })
        .collect();
    for one in &judged {
        breaches.extend(one.window.breach(one.operation));
    }
    for own in by_agent(history).values() {
        let mut before_ms = 0;
        for index in own {
            judged[*index].seen_before_ms = before_ms;
            before_ms = history[*index].completed_ns / 1_000_000 + 1;
        }
        let me = own.first().and_then(|index| judged[*index].me);
        let events =
            ledger.events.iter().filter(|event| event.actor.agent.is_some() && event.actor.agent == me);
        give(events, own, &mut judged, ledger, breaches);
    }
    strangers(&judged, ledger, breaches);
    judged
}

fn by_agent(history: &[Operation]) -> BTreeMap<&str, Vec<usize>> {
    let mut own: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, operation) in history.iter().enumerate() {
        own.entry(&operation.agent).or_default().push(index);
    }
    own
}

/// Gives each event of one agent to the operation that made it.
fn give<'a>(
    events: impl Iterator<Item = &'a Event>,
    own: &[usize],
    judged: &mut [Judged<'a>],
    ledger: &Ledger,
    breaches: &mut Vec<Breach>,
) {
    // An agent becomes known by the first thing it does, in the same breath.
    let mut name: Option<&'a Event> = None;
    for event in events {
        if matches!(event.body, Body::AgentRegistered(_)) {
            name = Some(event);
            continue;
        }
        match maker(event, own, judged, ledger) {
            Ok(index) => judged[index].events.extend(name.take().into_iter().chain([event])),
            Err(breach) => breaches.push(breach),
        }
    }
    let Some(event) = name else { return };
    match maker(event, own, judged, ledger) {
        Ok(index) => judged[index].events.push(event),
        Err(breach) => breaches.push(breach),
    }
}

/// Who made an event: whose answer names it, or whose mark it carries, or whose answer shows what was renewed; else
/// whose refusal it records; else who was killed, and last anybody else of that time who may have.
fn maker(event: &Event, own: &[usize], judged: &[Judged<'_>], ledger: &Ledger) -> Result<usize, Breach> {
    let seq = event.seq.0;
    // Operations are in the order of their starts, and so are floors. Ceilings are not where an agent is two processes.
    let begun = own.partition_point(|index| judged[*index].window.floor < seq);
    let near = || own[..begun].iter().copied().filter(|index| judged[*index].window.ceiling >= seq);
    let fitting = |index: &usize| {
        judged[*index].window.holds(seq) && fits_marked(judged[*index].operation, event, ledger)
    };
    let named = near().find(|index| names(judged[*index].operation, event));
    let marked = || near().find(|index| fitting(index) && carries_mark(judged[*index].operation, event));
    let shown = || near().find(|index| fitting(index) && shows_renewed(judged[*index].operation, event));
    let refused = || near().find(|index| fitting(index) && judged[*index].operation.failure().is_some());
    let killed = || near().find(|index| fitting(index) && judged[*index].operation.success().is_none());
    let found = named
        .or_else(marked)
        .or_else(shown)
        .or_else(refused)
        .or_else(killed)
        .or_else(|| near().find(fitting));
    found.ok_or_else(|| {
        let late = own.iter().any(|index| fits_marked(judged[*index].operation, event, ledger));
        let rule = if late { Rule::RealTime } else { Rule::EveryEventHasACause };
        let text = format!("event {seq} ({}) is no doing of an operation of that time", event.body.kind());
        Breach::new(rule, text)
    })
}

/// Events of agents that made no operation at all.
fn strangers(judged: &[Judged<'_>], ledger: &Ledger, breaches: &mut Vec<Breach>) {
    let known: std::collections::BTreeSet<AgentId> = judged.iter().filter_map(|one| one.me).collect();
    let stray =
        ledger.events.iter().find(|event| event.actor.agent.is_some_and(|agent| !known.contains(&agent)));
    breaches.extend(stray.map(|event| {
        let text = format!("event {} ({}) is of an agent without operations", event.seq, event.body.kind());
        Breach::new(Rule::EveryEventHasACause, text)
    }));
}

/// Whether the answer of a success names what the event did: such an event is nobody else's.
fn names(operation: &Operation, event: &Event) -> bool {
    let Some(reply) = operation.success() else { return false };
    let listed = |list: &str, id: &str| {
        reply[list].as_array().is_some_and(|ids| ids.iter().any(|found| found.as_str() == Some(id)))
    };
    match &event.body {
        Body::LeaseReleased { lease, .. } => listed("released", lease.as_str()),
        Body::WaitEnded { wait, .. } => listed("cancelled", wait.as_str()),
        Body::LeaseTransferred { lease, .. } => {
            matches!(operation.ask, Ask::Transfer { .. })
                && reply["leases"].as_array().into_iter().flatten().any(|found| {
                    found["id"].as_str() == Some(lease.as_str())
                        && found["fence"].as_u64().is_some_and(|fence| fence % (1 << 40) == event.seq.0)
                })
        }
        _ => false,
    }
}

/// Whether a success shows a lease that was renewed before its answer: the first of an agent that does renewed it.
fn shows_renewed(operation: &Operation, event: &Event) -> bool {
    let Body::LeaseRenewed { lease, .. } = &event.body else { return false };
    let leases = operation.success().and_then(|reply| reply["leases"].as_array());
    operation.rev() >= Some(event.seq.0)
        && leases.into_iter().flatten().any(|shown| shown["id"].as_str() == Some(lease.as_str()))
}

/// Whether an event bears the mark of an operation. A lease that is renewed by something inside it keeps the mark of an
/// operation before, which is not of that time.
fn carries_mark(operation: &Operation, event: &Event) -> bool {
    let reason = match &event.body {
        Body::LeaseGranted(lease) => &lease.reason,
        Body::LeaseRenewed { terms, .. }
        | Body::LeaseUpgraded { terms, .. }
        | Body::LeaseDowngraded { terms, .. }
        | Body::LeaseClaimed { terms, .. } => &terms.reason,
        Body::WaitBegan(wait) => &wait.wanted.reason,
        _ => return false,
    };
    reason.as_ref() == Some(&operation.mark())
}

/// The same for a success, whose answer may not name everything it did. Whoever was told that the store is busy did
/// nothing.
fn fits_marked(operation: &Operation, event: &Event, ledger: &Ledger) -> bool {
    let is_named = matches!(event.body, Body::LeaseReleased { .. } | Body::LeaseTransferred { .. });
    let is_transfer = matches!(operation.ask, Ask::Transfer { .. });
    let may_be_silent = operation.success().is_none() || !is_named || is_transfer;
    may_be_silent && !operation.was_busy() && fits(operation, event, ledger)
}

/// Whether an operation may have made an event.
fn fits(operation: &Operation, event: &Event, ledger: &Ledger) -> bool {
    let mark = Some(operation.mark());
    let target = |id| ledger.leases.get(&id).map(|line| &line.lease.target);
    match (&operation.ask, &event.body) {
        (Ask::Check { .. } | Ask::Sweep, _) => false,
        (Ask::Reserve { .. }, Body::AgentRegistered(_)) => true,
        (Ask::Reserve { .. }, Body::LeaseGranted(lease)) => lease.reason == mark,
        (Ask::Reserve { patterns, .. }, Body::LeaseRenewed { lease, terms, .. }) => {
            let wider = |pattern: &String| {
                let (wanted, own) = (target_of(pattern), target(*lease));
                wanted.zip(own).is_some_and(|(wanted, own)| *own != wanted && own.covers(&wanted))
            };
            terms.reason == mark || patterns.iter().any(wider)
        }
        (
            Ask::Reserve { .. },
            Body::LeaseUpgraded { terms, .. }
            | Body::LeaseDowngraded { terms, .. }
            | Body::LeaseClaimed { terms, .. },
        ) => terms.reason == mark,
        (Ask::Reserve { how, .. }, Body::WaitBegan(wait)) => *how != How::Now && wait.wanted.reason == mark,
        (Ask::Reserve { how, .. }, Body::WaitAttached { .. }) => *how != How::Now,
        (Ask::Reserve { .. }, Body::WaitEnded { cause, .. }) => *cause != WaitEnd::Cancelled,
        (Ask::Reserve { patterns, shared, .. }, Body::ReservationRefused { targets, mode, .. }) => {
            targets == patterns && *mode == mode_of(*shared)
        }
        (Ask::Renew(_), Body::LeaseRenewed { terms, .. }) => terms.reason == mark,
        (Ask::Release(which), Body::LeaseReleased { lease, .. }) => {
            target(*lease).is_some_and(|target| means(which, lease.as_str(), target))
        }
        (Ask::Transfer { which, .. }, Body::LeaseTransferred { lease, .. }) => {
            target(*lease).is_some_and(|target| means(which, lease.as_str(), target))
        }
        // Whoever holds the very same already has one lease on it afterwards.
        (Ask::Transfer { .. }, Body::LeaseReleased { .. }) => true,
        (Ask::Transfer { .. }, Body::WaitEnded { cause, .. }) => *cause == WaitEnd::Granted,
        (Ask::Release(_) | Ask::Renew(_) | Ask::Transfer { .. }, Body::ActionDenied { .. }) => true,
        (Ask::Cancel, Body::WaitEnded { cause, .. }) => *cause == WaitEnd::Cancelled,
        _ => false,
    }
}

/// Whether a lease is among those meant.
pub(super) fn means(which: &Which, id: &str, target: &Target) -> bool {
    match which {
        Which::All => true,
        Which::One { id: named, .. } => named == id,
        Which::Inside(pattern) => target_of(pattern).is_some_and(|pattern| pattern.contains(target)),
    }
}

pub(super) fn target_of(pattern: &str) -> Option<Target> {
    Pattern::parse(pattern, Fold::Exact).ok().map(Target::Path)
}

/// A killed operation: each of its transactions is there with all that belongs to it.
fn whole(one: &Judged<'_>, ledger: &Ledger) -> Result<(), Breach> {
    let Some(last) = one.events.last() else { return Ok(()) };
    let torn =
        |text: String| Err(Breach::new(Rule::KilledIsWhole, format!("{}: {text}", one.operation.mark())));
    match &one.operation.ask {
        Ask::Reserve { patterns, .. } => {
            let taken = one.events.iter().filter(|event| is_taking(&event.body)).count();
            if taken == 0 || taken == patterns.len() {
                return Ok(());
            }
            torn(format!("killed with {taken} of {} leases taken", patterns.len()))
        }
        Ask::Release(which)
            if one.events.iter().any(|event| matches!(event.body, Body::LeaseReleased { .. })) =>
        {
            let mut live = ledger.live_at(last.seq.0).filter(|lease| Some(lease.holder) == one.me);
            match live.find(|lease| means(which, lease.id.as_str(), &lease.target)) {
                None => Ok(()),
                Some(lease) => torn(format!("killed while releasing, and {} is still held", lease.id)),
            }
        }
        _ => Ok(()),
    }
}

pub(super) fn is_taking(body: &Body) -> bool {
    matches!(
        body,
        Body::LeaseGranted(_)
            | Body::LeaseRenewed { .. }
            | Body::LeaseUpgraded { .. }
            | Body::LeaseDowngraded { .. }
            | Body::LeaseClaimed { .. }
    )
}

/// What the kernel recorded as over was over, by the latest instant at which it can have been recorded.
fn timely(judged: &[Judged<'_>], ledger: &Ledger) -> Vec<Breach> {
    let latest_ns = latest(judged, ledger);
    let waiters: BTreeMap<String, &Operation> =
        judged.iter().map(|one| (one.operation.mark(), one.operation)).collect();
    let early = |event: &Event| {
        let by_ns = *latest_ns.get(event.seq.0 as usize)?;
        let by_ms = by_ns / 1_000_000 + 1;
        match &event.body {
            Body::LeaseExpired { lease, cause: ExpiryCause::Silence, .. } => {
                let before = ledger.leases.get(lease)?.at(event.seq.0 - 1)?;
                (by_ms < before.deadline.0).then(|| format!("lease {lease} expired before its time"))
            }
            Body::WaitEnded { wait, cause: WaitEnd::Gone | WaitEnd::Silent, .. } => {
                let reason = ledger.waits.get(wait)?.wait.wanted.reason.as_ref()?;
                let waiter = waiters.get(reason)?;
                let alive = matches!(waiter.ended, Ended::Answered { .. }) && by_ns < waiter.completed_ns;
                alive.then(|| format!("wait {wait} was called gone while its process waited"))
            }
            Body::WaitEnded { wait, cause: WaitEnd::TimedOut, .. } => {
                let until = ledger.waits.get(wait)?.wait.until;
                (by_ms < until.0).then(|| format!("wait {wait} timed out before its time"))
            }
            _ => None,
        }
        .map(|text| Breach::new(Rule::NothingEndsEarly, format!("event {}: {text}", event.seq)))
    };
    ledger.events.iter().filter_map(early).collect()
}

/// For each revision, the first end of an operation that was answered with it or a later one.
fn latest(judged: &[Judged<'_>], ledger: &Ledger) -> Vec<u64> {
    let mut latest = vec![u64::MAX; ledger.events.len() + 1];
    for one in judged {
        if let Some(slot) = one.operation.rev().and_then(|rev| latest.get_mut(rev as usize)) {
            *slot = (*slot).min(one.operation.completed_ns);
        }
    }
    for rev in (0..ledger.events.len()).rev() {
        latest[rev] = latest[rev].min(latest[rev + 1]);
    }
    latest
}
