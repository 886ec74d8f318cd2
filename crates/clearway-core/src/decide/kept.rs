//! Leases that a running command keeps. While its process is seen to live nobody gives one back: the next one would be
//! let in beside a command that runs on.

use super::Notice;
use super::draft::Draft;
use super::selection::held_by;
use crate::command::{Selection, Verb};
use crate::event::Actor;
use crate::facts::{FactQuery, Process, ProcessLife};
use crate::failure::{Details, Failure};
use crate::hint::Hint;
use crate::lease::Lease;
use crate::slug::Slug;
use crate::target::{Target, Worktree};
use std::collections::BTreeSet;

/// What has to be known of processes before what a selection means can be told from what they keep. The process that
/// speaks for itself lives.
pub(super) fn evidence(draft: &Draft<'_>, selection: &Selection, actor: Actor) -> BTreeSet<FactQuery> {
    let is_own = |lease: &Lease| Some(lease.holder) == actor.agent;
    let is_meant = |lease: &&Lease| match selection {
        Selection::All => is_own(lease),
        Selection::These { leases, targets, worktree } => {
            leases.iter().any(|named| named.id == lease.id)
                || (is_own(lease) && lease.is_on_any(targets, worktree))
        }
    };
    draft.evidence_of_leases(draft.leases_now().filter(is_meant))
}

/// Refuses to take a lease from the command that keeps it, and records that. Where nobody can see whether the process
/// lives, a person may know, and say so by releasing it.
pub(super) fn refuse(draft: &mut Draft<'_>, actor: Actor, lease: &Lease) -> Result<(), Failure> {
    let Some(process) = &lease.bound else { return Ok(()) };
    let is_unseen = draft.facts.process(process) == Some(ProcessLife::Unknown);
    if is_unseen && draft.verb == Verb::Release && draft.operator_reason.is_some() {
        return Ok(());
    }
    Err(draft.denied(actor, lease.id.to_string(), failure(draft, lease, process)))
}

/// Refuses targets on which the caller holds nothing but what its commands keep; beside something of its own, that is
/// left where it is.
pub(super) fn refuse_named(
    draft: &mut Draft<'_>,
    (targets, worktree): (&[Target], &Worktree),
    actor: Actor,
    mine: &[Lease],
) -> Result<(), Failure> {
    let is_mine = |target: &&Target| mine.iter().any(|lease| lease.is_on_any([*target], worktree));
    let (owned, others): (Vec<&Target>, Vec<&Target>) = targets.iter().partition(is_mine);
    let mut kept = of_commands(draft, actor).into_iter();
    let kept = kept.find(|lease| lease.is_on_any(others.iter().copied(), worktree));
    kept.map_or(Ok(()), |lease| refuse(draft, actor, &lease))?;
    leave(draft, actor, |lease| lease.is_on_any(owned.iter().copied(), worktree));
    Ok(())
}

/// Says of the caller's leases that its commands keep that they stay.
pub(super) fn leave(draft: &mut Draft<'_>, actor: Actor, is_meant: impl Fn(&Lease) -> bool) {
    let kept = of_commands(draft, actor).into_iter().filter(is_meant);
    let notices: Vec<Notice> = kept.filter_map(|lease| stays(draft, &lease)).collect();
    draft.notices.extend(notices);
}

fn stays(draft: &Draft<'_>, lease: &Lease) -> Option<Notice> {
    let process = lease.bound.as_ref()?;
    let pid = is_seen(draft, process).then_some(process.pid);
    Some(Notice::KeptByCommand { lease: lease.id, target: lease.target.display(), pid })
}

/// Whether its number means that process here: elsewhere it may be anybody's.
pub(super) fn is_seen(draft: &Draft<'_>, process: &Process) -> bool {
    draft.facts.process(process) == Some(ProcessLife::Alive)
}

fn of_commands(draft: &Draft<'_>, actor: Actor) -> Vec<Lease> {
    held_by(draft, actor.agent).into_iter().filter(|lease| lease.bound.is_some()).collect()
}

fn failure(draft: &Draft<'_>, lease: &Lease, process: &Process) -> Failure {
    let (target, pid) = (lease.target.display(), process.pid);
    let why = lease.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let message = format!("lease {} on {target} is kept by a running command, process {pid}{why}", lease.id);
    let hint = match is_seen(draft, process) {
        true => Hint::from(format!("it is given back when the command ends; to end it: kill {pid}")),
        false => Hint::for_operator(&format!(
            "it runs where it cannot be seen from here; if it is over, an operator at a terminal may release it: \
             clearway release {} --reason TEXT",
            lease.id
        )),
    };
    let fields = vec![("lease", lease.id.to_string().into()), ("pid", pid.into())];
    Failure::new(Slug::HeldByCommand, message).hint(hint).details(Details::Fields(fields))
}
