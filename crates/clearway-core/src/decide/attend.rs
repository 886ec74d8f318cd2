//! What a client's hooks tell of their agent: it is there, it used a tool, its turn or its session is over.

use super::draft::Draft;
use super::identity::Identified;
use super::selection::held_by;
use super::transfer::hand_over;
use super::{Notice, Step, Success};
use crate::command::{Attend, Care, Hit, Used};
use crate::event::{Actor, Body};
use crate::facts::{FactQuery, Facts};
use crate::ids::{AgentId, Entropy, LeaseId, WaitId};
use crate::lease::{Grade, Lease};
use crate::limits::TARGETS_PER_REQUEST_MAX;
use crate::slice::{AgentView, Memo, Note, Writing};
use crate::snapshot::SnapshotCause;
use crate::target::{Target, Worktree};
use crate::wait::{Wait, WaitEnd, WaitView};
use std::collections::BTreeSet;

/// Takes note of it. An agent that nobody knows yet is known from the start of its session or its first lease on, and
/// there is nothing to note of it before.
pub(super) fn attend(
    draft: &mut Draft<'_>,
    attend: &Attend,
    identified: &Identified,
    entropy: &mut Entropy<'_>,
) -> Step {
    let is_end = matches!(attend, Attend::End);
    let ended_before = identified.known.as_ref().is_none_or(|view| view.agent.ended_at.is_some());
    let is_nobody = identified.known.is_none() && !matches!(attend, Attend::Start);
    if is_nobody || (is_end && ended_before) {
        return Ok(Ok(Success::Done));
    }
    let (me, actor) = draft.register(identified, entropy);
    if matches!(attend, Attend::Call | Attend::Done { .. } | Attend::Ran { .. }) {
        draft.end_earlier_calls(me, identified.newcomer.client);
    }
    Ok(Ok(match attend {
        Attend::Start | Attend::Call => Success::Done,
        Attend::Done { files, worktree, failed } => {
            if !failed {
                draft.report_written(me, actor, files, worktree)?;
            }
            let targets: Vec<Target> = files.iter().map(|used| used.target.clone()).collect();
            let written = |writing: &Writing| writing.is_of(&targets, worktree);
            if draft.memo_of(me).is_some_and(|memo| memo.writing.iter().any(written)) {
                draft.memo(me).writing.retain(|writing| !written(writing));
            }
            Success::released(put_down(draft, me, actor, files))
        }
        Attend::Ran { hits } => {
            hits.iter().for_each(|hit| report(draft, me, actor, *hit));
            Success::Done
        }
        Attend::Rest => {
            draft.put_down(me, |_| true);
            draft.memo(me).writing.clear();
            if !remind(draft, me) {
                draft.memo(me).resting = true;
                draft.rests = true;
            }
            Success::Done
        }
        Attend::End => Success::released(end(draft, me, actor)?),
    }))
}

/// Whoever ends its turn while somebody waits for what it could let go is reminded of that, once for each who waits, and
/// goes on.
fn remind(draft: &mut Draft<'_>, me: AgentId) -> bool {
    if !draft.hears {
        return false;
    }
    let mine: Vec<Lease> =
        held_by(draft, Some(me)).into_iter().filter(|lease| lease.bound.is_none()).collect();
    let reminded = draft.memo_of(me).map(|memo| memo.reminded.clone()).unwrap_or_default();
    let family = draft.root_of(me);
    let waited_for = |wait: &Wait| {
        let lease = mine.iter().find(|lease| wait.wanted.conflicts_with_lease(lease))?;
        let target = wait.wanted.wants.iter().map(|want| &want.target).find(|want| lease.is_on(want))?;
        let (held, worktree, grade) = (lease.target.clone(), lease.worktree.clone(), lease.grade);
        let (target, by) = (target.display(), draft.name_of(wait.agent));
        Some((wait.id, Notice::StillWaitedFor { target, held, worktree, grade, by }))
    };
    let others = draft.queue.iter().map(|view| &view.wait);
    let mut others =
        others.filter(|wait| draft.root_of(wait.agent) != family && !reminded.contains(&wait.id));
    let Some((wait, notice)) = others.find_map(waited_for) else { return false };
    let waiting: Vec<WaitId> = draft.queue.iter().map(|view| view.wait.id).collect();
    let reminded = &mut draft.memo(me).reminded;
    reminded.retain(|known| waiting.contains(known));
    reminded.push(wait);
    draft.notices.push(notice);
    true
}

/// The leases of a tool call that is over are not in hand any more; what is held for a moment only is given back.
fn put_down(draft: &mut Draft<'_>, me: AgentId, actor: Actor, files: &[Used]) -> Vec<LeaseId> {
    let how = |lease: &Lease| files.iter().find(|used| used.target == lease.target).map(|used| used.how);
    let used: Vec<Lease> =
        held_by(draft, Some(me)).into_iter().filter(|lease| how(lease).is_some()).collect();
    draft.put_down(me, |id| used.iter().any(|lease| lease.id == id));
    let over = used.iter().filter(|lease| lease.grade == Grade::Auto && how(lease) == Some(Care::Brief));
    over.map(|lease| draft.give_back(actor, lease)).collect()
}

/// Tells both sides that a file of one was written while the other had a call running; where others may have done it, the
/// holder alone, and that nobody is known to have.
fn report(draft: &mut Draft<'_>, me: AgentId, actor: Actor, hit: Hit) {
    let lease = draft.leases_now().find(|lease| lease.id == hit.lease && lease.holder != me).cloned();
    let Some(lease) = lease else { return };
    let target = lease.target.display();
    draft.report_overwritten(&lease, target.clone(), hit.explained.then_some((me, actor)));
    if hit.explained {
        let holder = draft.name_of(lease.holder);
        draft.note(me, Note::WroteOver { target, holder });
    }
}

/// What an agent leaves passes to its parent. Without one, what is clean is given back, and what is changed is marked as
/// left behind; its subagents end with it, for nobody would tell of their end any more.
fn end(draft: &mut Draft<'_>, me: AgentId, actor: Actor) -> Result<Vec<LeaseId>, BTreeSet<FactQuery>> {
    let parent = draft.slice.agent(me).and_then(|view| draft.slice.agent(view.agent.parent?)).cloned();
    let mut ending = if parent.is_none() { draft.slice.subagents_of(me) } else { Vec::new() };
    ending.push(me);
    let leases: Vec<Lease> = ending
        .iter()
        .flat_map(|agent| held_by(draft, Some(*agent)))
        .filter(|lease| lease.bound.is_none())
        .collect();
    let ended = match parent {
        Some(parent) => pass_up(draft, actor, &leases, &parent),
        None => let_go(draft, actor, &leases, SnapshotCause::Left)?,
    };
    let is_ending = |view: &&WaitView| ending.contains(&view.wait.agent);
    let waits: Vec<WaitView> = draft.queue.iter().filter(is_ending).cloned().collect();
    waits.iter().for_each(|view| draft.end_wait(actor, view, WaitEnd::Gone));
    let left = leases.iter().filter(|lease| ended.contains(&lease.id) && is_changed(lease, draft.facts));
    let left: BTreeSet<(Worktree, String)> =
        left.filter_map(|lease| Some((lease.worktree.clone(), lease.target.literal()?.to_owned()))).collect();
    for agent in ending {
        draft.push(actor, Body::AgentEnded { agent });
        *draft.memo(agent) = Memo::default();
    }
    draft.memo(me).left = left.into_iter().take(TARGETS_PER_REQUEST_MAX).collect();
    Ok(ended)
}

/// Where both hold the same, it goes on as the subagent's lease: the past of a path is told by its latest fence, and what
/// the parent leaves behind one day is not to lie behind something that was given back.
fn pass_up(draft: &mut Draft<'_>, actor: Actor, leases: &[Lease], parent: &AgentView) -> Vec<LeaseId> {
    for lease in leases {
        let own = held_by(draft, Some(parent.agent.id))
            .into_iter()
            .find(|own| own.target == lease.target && own.worktree == lease.worktree && own.bound.is_none());
        if let Some(own) = own.filter(|own| own.mode <= lease.mode && own.grade <= lease.grade) {
            draft.give_back(actor, &own);
        }
        hand_over(draft, actor, lease, parent);
    }
    draft.record_fulfilled(parent.agent.id, actor, None);
    Vec::new()
}

pub(super) fn let_go(
    draft: &mut Draft<'_>,
    actor: Actor,
    leases: &[Lease],
    cause: SnapshotCause,
) -> Result<Vec<LeaseId>, BTreeSet<FactQuery>> {
    let missing: BTreeSet<FactQuery> =
        leases.iter().filter_map(|lease| unknown(lease, draft.facts)).collect();
    if !missing.is_empty() {
        return Err(missing);
    }
    let facts = draft.facts;
    let changed = leases.iter().filter(|lease| is_changed(lease, facts));
    let unkept = draft.unkept(changed, cause);
    if !unkept.is_empty() {
        return Err(unkept);
    }
    let let_go = |lease: &Lease| match is_changed(lease, facts) {
        false => draft.give_back(actor, lease),
        true => {
            let kept = draft.record_kept(actor, lease);
            let said = kept.map(|(_, notice)| notice).or_else(|| draft.told_unkept(lease));
            draft.notices.extend(said);
            draft.end_lease(lease.id);
            draft.push(actor, Body::LeaseOrphaned { lease: lease.id, holder: lease.holder });
            lease.id
        }
    };
    Ok(leases.iter().map(let_go).collect())
}

fn unknown(lease: &Lease, facts: &Facts) -> Option<FactQuery> {
    let path = lease.target.literal().filter(|_| !lease.lasts_one_call())?;
    let is_known = facts.dirty(&lease.worktree, path).is_some();
    (!is_known).then(|| FactQuery::Dirty(lease.worktree.clone(), path.to_owned()))
}

/// Whether a lease is on a change that its holder leaves behind. What was held for one call is nobody's after it, whatever
/// is in it.
fn is_changed(lease: &Lease, facts: &Facts) -> bool {
    let path = lease.target.literal().filter(|_| !lease.lasts_one_call());
    path.is_some_and(|path| facts.dirty(&lease.worktree, path) == Some(true))
}
