//! Files that everybody writes: lock files, snapshots, generated ones. Nobody holds them, and no event tells of them; one
//! tool call after the other writes them, and each is believed in for a short while only. A commit whose hooks put aside
//! what is not committed writes all of a checkout, and has a name in their place.

use super::Success;
use super::draft::Draft;
use super::identity::Identified;
use crate::command::Enter;
use crate::failure::{Failure, Retry};
use crate::ids::{AgentId, Entropy};
use crate::limits::COMMON_MS_MAX;
use crate::slice::Writing;
use crate::slug::Slug;
use crate::target::Target;
use crate::time::rounded;

/// Lets a call write, unless a call of somebody else is at it.
pub(super) fn enter(
    draft: &mut Draft<'_>,
    enter: &Enter,
    identified: &Identified,
    entropy: &mut Entropy<'_>,
) -> Result<Success, Failure> {
    let (me, _) = draft.register(identified, entropy);
    if let Some(failure) = occupied(draft, me, enter) {
        return Err(failure);
    }
    let now = draft.now.mono;
    let memo = draft.memo(me);
    memo.writing.retain(|writing| writing.until > now && !writing.is_of(&enter.targets, &enter.worktree));
    let until = now.plus_ms(COMMON_MS_MAX);
    memo.writing.extend(Writing::all(&enter.targets, &enter.worktree, until));
    Ok(Success::Done)
}

/// Who writes one of the files now, said so that the call is made again.
fn occupied(draft: &Draft<'_>, me: AgentId, enter: &Enter) -> Option<Failure> {
    let now = draft.now.mono;
    let is_busy = |writing: &&Writing| writing.until > now && writing.is_of(&enter.targets, &enter.worktree);
    let others =
        draft.slice.agents.iter().filter(|view| view.agent.id != me && view.agent.ended_at.is_none());
    let (name, writing) = others
        .flat_map(|view| {
            view.memo.writing.iter().filter(is_busy).map(move |writing| (&view.agent.name, writing))
        })
        .max_by_key(|(_, writing)| writing.until)?;
    let left_ms = writing.until.since(now);
    let left = rounded(left_ms);
    let message = match enter.targets.iter().find(|target| target.canonical() == writing.path)? {
        Target::Path(pattern) => {
            format!("{name} is writing {} at this moment, for {left} at the most", pattern.display())
        }
        Target::Name(_) => format!(
            "{name} commits here, and hooks of that commit put aside what is not committed, for {left} at the most"
        ),
    };
    Some(Failure::new(Slug::ReservationHeld, message).retry(Retry::AfterMs(left_ms.max(1))))
}
