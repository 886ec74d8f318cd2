//! A pause ordered by a person: agents get no new path leases until it ends. What they hold stays theirs.

use super::draft::Draft;
use super::identity::Identified;
use super::plan::Step;
use super::{Notice, Success};
use crate::agent::Client;
use crate::command::Reserve;
use crate::event::Body;
use crate::failure::{Failure, Retry};
use crate::ids::Entropy;
use crate::limits::OFFER_MS;
use crate::slice::{Freeze, Slice};
use crate::slug::Slug;
use crate::target::Target;
use crate::time::Now;
use crate::wait::Wait;

/// Begins a pause, or changes the one there is.
pub(super) fn freeze(
    draft: &mut Draft<'_>,
    identified: &Identified,
    for_ms: u64,
    entropy: &mut Entropy<'_>,
) -> Result<Success, Failure> {
    let reason = operator_reason(draft, identified)?;
    let actor = draft.sign(identified, entropy);
    let until = draft.now.mono.plus_ms(for_ms);
    draft.push(actor, Body::ScopeFrozen { until, reason: reason.clone() });
    let freeze = Freeze { until, reason };
    let before = draft.frozen.replace(freeze.clone());
    draft.notices.extend(before.map(|before| before.changed_to(&freeze, draft.now)));
    Ok(Success::Frozen(freeze))
}

/// Ends the pause. Ending one that is over is no error and no event.
pub(super) fn thaw(
    draft: &mut Draft<'_>,
    identified: &Identified,
    entropy: &mut Entropy<'_>,
) -> Result<Success, Failure> {
    let reason = operator_reason(draft, identified)?;
    let was_frozen = draft.frozen.take().is_some();
    if was_frozen {
        let actor = draft.sign(identified, entropy);
        draft.push(actor, Body::ScopeThawed { reason });
    }
    Ok(Success::Thawed { was_frozen })
}

fn operator_reason(draft: &mut Draft<'_>, identified: &Identified) -> Result<String, Failure> {
    draft.operator_reason.clone().ok_or_else(|| {
        let actor = draft.act_as(identified);
        draft.record_denial(actor, "scope".to_owned(), Slug::NotOperator);
        Failure::new(
            Slug::NotOperator,
            "only a person at a terminal may stop or restart the agents of a repository",
        )
        .hint("ask a person to run it in a terminal of their own")
    })
}

/// The pause that was in force during a part of the time for which a wait had its turn.
pub(super) fn during_offer(slice: &Slice, now: &Now, wait: &Wait) -> Option<Freeze> {
    let overlaps =
        |freeze: &Freeze| wait.offered_until.is_some_and(|end| end < freeze.until.plus_ms(OFFER_MS));
    slice.scope.frozen.clone().filter(|freeze| slice.scope.is_of(&now.boot) && overlaps(freeze))
}

/// Refuses an agent new paths under a pause. What it holds it may go on with, and a person is never kept from working.
pub(super) fn admit(
    frozen: Option<&Freeze>,
    reserve: &Reserve,
    client: Client,
    steps: &[Step],
) -> Result<(), Freeze> {
    let mut paths =
        reserve.wants.iter().zip(steps).filter(|(want, _)| matches!(want.target, Target::Path(_)));
    let frozen = frozen.filter(|_| client != Client::Terminal);
    match frozen.filter(|_| paths.any(|(_, step)| step.is_new())) {
        Some(freeze) => Err(freeze.clone()),
        None => Ok(()),
    }
}

impl Freeze {
    /// What somebody is told who waits until it is over.
    pub(super) fn notice(&self, now: &Now) -> Notice {
        Notice::Frozen { left_ms: self.until.since(now.mono), reason: self.reason.clone() }
    }

    /// What the person is told who put another pause in the place of this one.
    fn changed_to(self, now_in_force: &Self, now: &Now) -> Notice {
        Notice::FreezeChanged {
            was_left_ms: self.until.since(now.mono),
            left_ms: now_in_force.until.since(now.mono),
            was_for: self.reason,
        }
    }

    /// The refusal of an agent that wants something new.
    pub(super) fn failure(&self, now: &Now) -> Failure {
        self.refusal(now)
            .hint("finish what you hold; new leases are granted again after that")
            .hint("keep a place for then: add --queue, or wait: add --wait")
    }

    /// The refusal of whoever would hand an agent something new.
    pub(super) fn failure_of_transfer(&self, now: &Now) -> Failure {
        self.refusal(now).hint("keep it, and hand it over when new edits are admitted again")
    }

    fn refusal(&self, now: &Now) -> Failure {
        let left_ms = self.until.since(now.mono);
        let left = crate::time::rounded(left_ms);
        let message = format!("a person stopped new edits here for another {left}: {}", self.reason);
        Failure::new(Slug::Frozen, message).retry(Retry::AfterMs(left_ms.max(1)))
    }
}
