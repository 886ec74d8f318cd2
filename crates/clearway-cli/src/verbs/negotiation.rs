//! `ask`, `answer`, `withdraw`, `negotiations`, `force`, `halt` and `resume`.

use super::changed::Changed;
use crate::arguments::{
    AnswerFlags, AskFlags, ForceFlags, HaltFlags, WAIT_AS_LONG_AS_ALLOWED, WithdrawFlags,
};
use crate::console::{Answer, Problem, document};
use crate::given::Given;
use crate::render::mail::since;
use crate::render::{Cell, Fit, Page, Table, Tone, and_more, count, holding, wrapped};
use crate::usage::explain_wait;
use clearway_core::limits::FORCE_SILENCE_WINDOWS;
use clearway_core::negotiation::{
    Negotiated, NegotiationEnd, NegotiationState, NegotiationView, Settled, Status,
};
use clearway_core::text::printable;
use clearway_core::time::{Now, rounded};
use clearway_core::wait::Queued;
use clearway_kernel::{AnswerWords, AskWords, Negotiations, Session};
use clearway_wire::json::{Looked, NegotiationJson, NegotiationsReply};

pub(super) fn ask(session: &mut Session<'_>, flags: AskFlags) -> Result<Changed, Problem> {
    let wait = flags.wait.map(|text| (text != WAIT_AS_LONG_AS_ALLOWED).then_some(text));
    let AskFlags { path: what, kind, why, urgent, then_reserve, .. } = flags;
    let words = AskWords { what, kind: kind.kind(), why, urgent, then_reserve, wait };
    let asked = session.ask(&words);
    let span = words.wait.flatten().unwrap_or_default();
    Changed::asked(asked.map_err(|failure| explain_wait(failure, &span, "ask PATH WHY --wait 5m"))?)
}

pub(super) fn answer(session: &mut Session<'_>, flags: AnswerFlags) -> Result<Changed, Problem> {
    let AnswerFlags { id, says, rest } = flags;
    Changed::new(session.answer(&AnswerWords { id, says, rest })?)
}

pub(super) fn withdraw(session: &mut Session<'_>, flags: &WithdrawFlags) -> Result<Changed, Problem> {
    Changed::new(session.withdraw(&flags.id)?)
}

pub(super) fn force(session: &mut Session<'_>, flags: &ForceFlags) -> Result<Changed, Problem> {
    Changed::new(session.force(&flags.id, &flags.reason, flags.without_snapshot)?)
}

pub(super) fn halt(session: &mut Session<'_>, flags: &HaltFlags) -> Result<Changed, Problem> {
    Changed::new(session.halt(&flags.whom, &flags.reason)?)
}

pub(super) fn resume(session: &mut Session<'_>, flags: &HaltFlags) -> Result<Changed, Problem> {
    Changed::new(session.resume(&flags.whom, &flags.reason)?)
}

pub(super) fn negotiations(session: &mut Session<'_>) -> Result<Asked, Problem> {
    Ok(Asked(session.negotiations()?))
}

/// The answer of `negotiations`.
#[derive(Debug)]
pub(super) struct Asked(Negotiations);

impl Answer for Asked {
    fn json(&self, _: &Given) -> String {
        let Negotiations { rev, now, negotiations } = &self.0;
        let body = NegotiationsReply { negotiations: NegotiationJson::list(negotiations, now) };
        document(&Looked::new(*rev, body))
    }

    fn text(&self, page: &Page) -> String {
        match self.0.negotiations.is_empty() {
            true => "nobody asks for anything\n".to_owned(),
            false => negotiation_table(&self.0.negotiations, &self.0.now).render(page, ""),
        }
    }
}

/// Requests to holders, one a line.
pub(super) fn negotiation_table(negotiations: &[NegotiationView], now: &Now) -> Table {
    // What comes next is what one looks for: names give way to it.
    let mut table = Table::new(&[Fit::Whole, Fit::Start, Fit::Last, Fit::Last, Fit::Whole]);
    table.head(&["id", "asked for", "who", "of", "next"]);
    for view in negotiations {
        let negotiation = &view.negotiation;
        table.row(vec![
            Cell::new(negotiation.id.as_str()),
            Cell::new(negotiation.target.display()).tone(Tone::Strong),
            Cell::new(view.requester.as_str()),
            Cell::new(view.holder.as_str()),
            Cell::new(next_of(view, now)),
        ]);
    }
    table
}

/// What comes next of a request that is open.
pub(super) fn next_of(view: &NegotiationView, now: &Now) -> String {
    let negotiation = &view.negotiation;
    let left = rounded(negotiation.deadline.since(now.mono));
    match &negotiation.state {
        _ if negotiation.overdue => {
            let silence_ms = FORCE_SILENCE_WINDOWS * negotiation.urgency.window_ms();
            format!("force if silent for {}", rounded(silence_ms))
        }
        NegotiationState::AfterCommit => "with its next commit".to_owned(),
        NegotiationState::Later(until) if *until > now.mono => {
            format!("later, in {}", rounded(until.since(now.mono)))
        }
        NegotiationState::Later(_) => format!("later is over, {left} left"),
        NegotiationState::Requested => format!("answer within {left}"),
        NegotiationState::Over(settled) => settled.how.word().to_owned(),
    }
}

/// What a verb came to, for people.
pub(super) fn told(outcome: &Negotiated, now: &Now, page: &Page) -> String {
    let mut text = wrapped(&headline(outcome, now), page, "");
    if !matches!(outcome.status, Status::Requested | Status::Queued | Status::Deferred | Status::Refused) {
        for view in &outcome.remaining {
            text.push_str(&holding(view, now, page, "  "));
        }
    }
    if let Some(queued) = &outcome.queued {
        text.push_str(&page.given.advice(&place(queued, now)));
        text.push('\n');
    }
    text
}

/// What is left to do for who waits.
fn place(queued: &Queued, now: &Now) -> String {
    let (position, id) = (queued.position, &queued.wait.id);
    match queued.wait.offered_until {
        Some(until) => {
            format!("it is kept for you for {}; take it: clearway wait {id}", rounded(until.since(now.mono)))
        }
        None => format!("your place in the queue is {position}; wait there with: clearway wait {id}"),
    }
}

fn headline(outcome: &Negotiated, now: &Now) -> String {
    let what = |view: &NegotiationView| printable(&view.negotiation.target.display()).into_owned();
    let first = outcome.negotiations.first();
    let freed = freed(outcome);
    let about = |said: &dyn Fn(&NegotiationView) -> String| first.map(said).unwrap_or_default();
    match outcome.status {
        Status::FreeNow => "free now: nobody is in the way".to_owned(),
        Status::Queued => "queued: nobody holds it who could be asked".to_owned(),
        Status::Requested => {
            let asked: Vec<String> =
                outcome.negotiations.iter().take(3).map(|view| asked(view, now)).collect();
            let more = and_more(outcome.negotiations.len(), 3).map(|more| format!(" {more}"));
            format!("asked {}{}", asked.join(", "), more.unwrap_or_default())
        }
        Status::Released if outcome.released.is_empty() && outcome.split.is_empty() => {
            about(&|view| format!("the request for {} is over: it was let go", what(view)))
        }
        Status::Released => {
            about(&|view| format!("let go of {} for {}: {freed}", what(view), view.requester))
        }
        Status::PartlyReleased => {
            about(&|view| format!("let go of a part of {} for {}: {freed}", what(view), view.requester))
        }
        // Whoever has a place of its own there asked.
        Status::Deferred if outcome.queued.is_some() => {
            about(&|view| format!("{} keeps {} for now: {}", view.holder, what(view), next_of(view, now)))
        }
        Status::Deferred => about(&|view| {
            format!("{} has to wait for {}: {}", view.requester, what(view), next_of(view, now))
        }),
        Status::Refused => about(&|view| format!("{} keeps {}", view.holder, what(view))),
        Status::Withdrawn => about(&|view| format!("took back the request for {}", what(view))),
        Status::Lapsed => about(&|view| {
            let settled = view.negotiation.settled();
            let reason = settled.and_then(|settled| settled.reason.as_deref()).map(printable);
            let why = reason.unwrap_or("its lease is over".into());
            format!("the request for {} lapsed: {why}", what(view))
        }),
        Status::Forced if outcome.released.is_empty() && outcome.split.is_empty() => {
            about(&|view| already_over(view, &what(view), now))
        }
        Status::Forced => about(&|view| format!("took {} from {}: {freed}", what(view), view.holder)),
        Status::AlreadyReleased => about(&|view| already_over(view, &what(view), now)),
    }
}

/// How what was to be taken by force had ended before.
fn already_over(view: &NegotiationView, what: &str, now: &Now) -> String {
    let holder = &view.holder;
    match view.negotiation.settled() {
        Some(Settled { how: NegotiationEnd::Forced, reason, at, .. }) => {
            let since = since(at.0, now);
            let who = reason.as_deref().map(printable).unwrap_or_default();
            format!("{what} was taken from {holder} {since} ({who}): nothing more was taken")
        }
        Some(Settled { how: NegotiationEnd::Lapsed, .. }) => {
            format!("{holder} holds {what} no more: its lease is over, and nothing was taken")
        }
        _ => format!("{holder} had let go of {what} already: nothing was taken"),
    }
}

fn asked(view: &NegotiationView, now: &Now) -> String {
    let negotiation = &view.negotiation;
    format!(
        "{} for {} ({}, {})",
        view.holder,
        printable(&negotiation.target.display()),
        negotiation.id,
        next_of(view, now)
    )
}

/// What was let go, counted as it happened.
fn freed(outcome: &Negotiated) -> String {
    let leases = outcome.released.len() as u64;
    let split: Vec<String> = outcome.split.iter().map(|path| printable(path).into_owned()).collect();
    let parts = [
        (leases > 0 || split.is_empty()).then(|| count(leases, "lease", "leases")),
        (!split.is_empty()).then(|| format!("{} out of a wider lease", split.join(" "))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
