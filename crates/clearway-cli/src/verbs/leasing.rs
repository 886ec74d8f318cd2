//! `reserve`, `check`, `renew`, `release` and `sweep`: what is asked, and the answers of those that only look.

use super::changed::{Changed, swept, texts};
use super::queueing::watched;
use super::{Outcome, answer};
use crate::arguments::{
    CheckFlags, ReleaseFlags, RenewFlags, ReserveFlags, SweepFlags, WAIT_AS_LONG_AS_ALLOWED, mode,
};
use crate::console::{Answer, Console, Problem, document};
use crate::given::Given;
use crate::render::{Page, Tone, before_you, holding, notices};
use crate::usage::explain_wait;
use clearway_core::ids::{LeaseId, Seq};
use clearway_core::text::printable;
use clearway_kernel::{Checked, ChosenWords, ReleaseWords, RenewWords, ReserveWords, Session};
use clearway_wire::json::{Acted, Actor, AheadJson, Blocker, CheckReply, Looked, SweepReply};

pub(super) fn reserve(
    session: &mut Session<'_>,
    flags: ReserveFlags,
    console: &mut Console<'_, '_>,
) -> Result<Changed, Problem> {
    let words = ReserveWords {
        targets: flags.patterns,
        kind: flags.kind.kind(),
        mode: mode(flags.shared),
        ttl: flags.ttl,
        max: flags.max,
        reason: flags.reason,
        best_effort: flags.best_effort,
        broad: flags.broad,
        strict: flags.strict,
    };
    let span = flags.wait.as_deref().map(|text| Some(text).filter(|text| *text != WAIT_AS_LONG_AS_ALLOWED));
    Changed::new(match (flags.queue, span) {
        (_, Some(span)) => {
            watched(console, |watch| session.reserve_or_wait(&words, span, watch)).map_err(|failure| {
                explain_wait(failure, span.unwrap_or_default(), "reserve --wait 5m PATTERN…")
            })?
        }
        (true, None) => session.reserve_or_queue(&words)?,
        (false, None) => session.reserve(&words)?,
    })
}

pub(super) fn check(session: &mut Session<'_>, flags: CheckFlags) -> Result<CheckAnswer, Problem> {
    let words = ReserveWords {
        targets: flags.patterns.clone(),
        kind: flags.kind.kind(),
        mode: mode(flags.shared),
        ttl: None,
        max: None,
        reason: None,
        best_effort: false,
        broad: flags.broad,
        strict: false,
    };
    Ok(CheckAnswer { asked: flags.patterns, checked: session.check(&words)? })
}

/// Somebody else's lease is an operator's matter: a stated reason claims that role.
pub(super) fn renew(session: &mut Session<'_>, flags: RenewFlags) -> Result<Changed, Problem> {
    if let Some(reason) = &flags.reason {
        session.act_as_operator(reason)?;
    }
    let chosen = ChosenWords { targets: flags.targets, kind: flags.kind.kind(), all: flags.all };
    let words = RenewWords { chosen, ttl: flags.ttl, note: flags.note };
    Changed::new(session.renew(&words)?)
}

/// Claims the operator's role in the same way as [`renew`].
pub(super) fn release(session: &mut Session<'_>, flags: ReleaseFlags) -> Result<Changed, Problem> {
    if let Some(reason) = &flags.reason {
        session.act_as_operator(reason)?;
    }
    let chosen = ChosenWords { targets: flags.targets, kind: flags.kind.kind(), all: flags.all };
    let words = ReleaseWords { chosen, keep: flags.keep };
    Changed::new(session.release(&words)?)
}

pub(super) fn sweep(session: &mut Session<'_>, flags: &SweepFlags) -> Outcome {
    match flags.dry_run {
        false => answer(Changed::new(session.sweep()?)?),
        true => {
            let (rev, expired) = session.overdue()?;
            answer(Overdue { rev, expired })
        }
    }
}

/// The answer of `check`.
#[derive(Debug)]
pub(super) struct CheckAnswer {
    asked: Vec<String>,
    checked: Checked,
}

impl Answer for CheckAnswer {
    fn json(&self, given: &Given) -> String {
        let Checked { rev, now, clear, blockers, ahead, notices } = &self.checked;
        document(&Looked::new(
            *rev,
            CheckReply {
                clear: *clear,
                blockers: Blocker::list(blockers, now),
                ahead: AheadJson::list(ahead),
                notices: given.notices(notices),
            },
        ))
    }

    fn text(&self, page: &Page) -> String {
        let Checked { now, blockers, ahead, notices: found, .. } = &self.checked;
        let asked = printable(&self.asked.join(" ")).into_owned();
        let mut text = match self.checked.clear {
            true => format!("{}: {asked}\n", page.paint(Tone::Good, "clear")),
            false => format!("{}: {asked}\n", page.paint(Tone::Care, "not clear")),
        };
        blockers.iter().for_each(|view| text.push_str(&holding(view, now, page, "  ")));
        text.push_str(&before_you(ahead, page));
        text + &notices(found.iter().filter(|notice| !notice.is_slip()), page)
    }

    fn aside(&self, page: &Page) -> String {
        notices(self.checked.notices.iter().filter(|notice| notice.is_slip()), page)
    }

    fn exit_code(&self) -> u8 {
        u8::from(!self.checked.clear)
    }
}

/// The answer of `sweep --dry-run`.
#[derive(Debug)]
struct Overdue {
    rev: Seq,
    expired: Vec<LeaseId>,
}

impl Answer for Overdue {
    fn json(&self, _: &Given) -> String {
        let body = SweepReply { expired: texts(&self.expired), dry_run: true };
        let (actor, notices) = (Actor::new(None), Vec::new());
        document(&Acted { ok: true, rev: self.rev.0, actor, replayed: false, notices, body })
    }

    fn text(&self, page: &Page) -> String {
        swept(&self.expired, "would be recorded as expired", page)
    }
}
