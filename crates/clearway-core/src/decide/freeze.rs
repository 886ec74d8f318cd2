//! A pause ordered by a person: agents get no new path leases until it ends. What they hold stays theirs.

use super::Success;
use super::draft::Draft;
use super::identity::Identified;
use crate::agent::Client;
use crate::command::Reserve;
use crate::event::Body;
use crate::failure::{Failure, Retry};
use crate::ids::Entropy;
use crate::slice::Freeze;
use crate::slug::Slug;
use crate::target::Target;

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
    draft.frozen = Some(freeze.clone());
    Ok(Success::Frozen(freeze))
}

/// Ends the pause. Ending one that is over is no error and no event.
pub(super) fn thaw(
    draft: &mut Draft<'_>,
    identified: &Identified,
    entropy: &mut Entropy<'_>,
) -> Result<Success, Failure> {
    let reason = operator_reason(draft, identified)?;
    let was_frozen = current(draft).is_some();
    if was_frozen {
        let actor = draft.sign(identified, entropy);
        draft.push(actor, Body::ScopeThawed { reason });
        draft.frozen = None;
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

/// The pause in force.
fn current<'a>(draft: &'a Draft<'_>) -> Option<&'a Freeze> {
    draft.frozen.as_ref().filter(|freeze| draft.now.mono < freeze.until)
}

/// Refuses an agent's request for paths while a pause is in force. A person is never kept from working by one.
pub(super) fn admit(draft: &Draft<'_>, reserve: &Reserve, client: Client) -> Result<(), Failure> {
    let wants_paths = reserve.wants.iter().any(|want| matches!(want.target, Target::Path(_)));
    let Some(freeze) = current(draft).filter(|_| wants_paths && client != Client::Terminal) else {
        return Ok(());
    };
    let left_ms = freeze.until.since(draft.now.mono);
    let message = format!(
        "a person stopped new edits here for another {}: {}",
        crate::time::rounded(left_ms),
        freeze.reason
    );
    Err(Failure::new(Slug::Frozen, message)
        .hint("finish what you hold; new leases are granted again after that")
        .retry(Retry::AfterMs(left_ms.max(1))))
}
