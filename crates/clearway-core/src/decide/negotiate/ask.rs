//! Asking who holds something for it. A refused edit is a request already: who asks goes on with the place it has.

use super::super::cycle;
use super::super::draft::Draft;
use super::super::freeze;
use super::super::identity::Identified;
use super::super::plan::{Planner, Step, blocked, blockers};
use super::super::queue::Asking;
use super::super::reserve::{self, Asked, turn_away};
use super::super::{Step as Outcome, Success};
use crate::command::{Ask, Await, Reserve, Stay};
use crate::event::{Actor, Body};
use crate::facts::FactQuery;
use crate::failure::{Circle, Failure, LeaseView};
use crate::hint::Hint;
use crate::ids::{AgentId, Entropy, NegotiationId, WaitId};
use crate::lease::Grade;
use crate::limits::{NEGOTIATIONS_PER_AGENT_MAX, WAIT_MS_MAX};
use crate::negotiation::{Negotiated, Negotiation, NegotiationState, Status, Urgency};
use crate::slice::Note;
use crate::slug::Slug;
use crate::wait::Wait;
use std::collections::BTreeSet;

/// Asks every holder in the way, each once: who asks again has what it asked for before.
pub(in super::super) fn ask(
    draft: &mut Draft<'_>,
    ask: &Ask,
    identified: &Identified,
    entropy: &mut Entropy<'_>,
) -> Outcome {
    let (me, actor) = draft.register(identified, entropy);
    let asked: Vec<String> = ask.reserve.wants.iter().map(|want| want.target.display()).collect();
    if ask.tells_answer {
        let is_told = |note: &Note| matches!(note, Note::Answered { target, .. } if asked.contains(target));
        draft.forget_note_if(me, is_told);
    }
    if ask.tells_circle {
        draft.tell_kept_circles(me);
    }
    let steps = Planner::new(draft, me, &ask.reserve).plan()?;
    if !steps.iter().any(Step::is_new) {
        // Whoever waited to be granted it was, when it was let go: this is how it hears of that.
        if ask.then_reserve && ask.tells_circle {
            draft.forget_note_if(
                me,
                |note| matches!(note, Note::Granted { target, .. } if asked.contains(target)),
            );
            return reserve::reserve(draft, Asked::Now(&ask.reserve), identified, entropy);
        }
        return Ok(Err(oneself(&ask.reserve)));
    }
    let frozen = freeze::admit(draft.frozen.as_ref(), &ask.reserve, identified.newcomer.client, &steps).err();
    // Under a pause a place is kept, and the turn comes when it is over.
    if blocked(&steps).next().is_none() && frozen.is_none() {
        return match ask.then_reserve {
            true => reserve::reserve(draft, Asked::Now(&ask.reserve), identified, entropy),
            false => Ok(Ok(Success::negotiated(Negotiated::default()))),
        };
    }
    let asking = Asking { me, actor, steps: &steps };
    let held = blockers(&steps);
    let others: Vec<LeaseView> = held.iter().filter(|view| view.lease.holder != me).cloned().collect();
    // What a command of its own keeps is nobody else's to give.
    if others.is_empty() && !held.is_empty() {
        return Ok(Err(oneself(&ask.reserve)));
    }
    if let Err(failure) = within_quota(draft, me) {
        return Ok(Err(draft.denied(actor, ask.reserve.subject(), failure)));
    }
    if let Some(circle) = circle(draft, &ask.reserve, me)? {
        draft.tell_of_circle(me, &circle);
        return Ok(Err(draft.refuse_circle((me, actor), &ask.reserve, circle)));
    }
    let place = Await { reserve: ask.reserve.clone(), stay: Stay::Durable, wait_ms: WAIT_MS_MAX, wait: None };
    let queued = match turn_away(draft, Asked::OrWait(&place), asking, frozen, entropy)? {
        Ok(Success::Queued { queued, .. }) => queued,
        other => return Ok(other),
    };
    let ids: Vec<NegotiationId> = others
        .iter()
        .filter_map(|blocker| ask_holder(draft, ask, (me, actor), blocker, queued.wait.id, entropy))
        .collect();
    let status = if ids.is_empty() { Status::Queued } else { Status::Requested };
    let negotiations = ids.into_iter().filter_map(|id| draft.show_negotiation(id)).collect();
    let remaining = held;
    let queued = Some(queued);
    Ok(Ok(Success::negotiated(Negotiated {
        status,
        negotiations,
        remaining,
        queued,
        ..Negotiated::default()
    })))
}

/// The one open request of an agent for a lease: the one there is, sooner if that is asked for, or a new one. Whoever tells
/// what was answered makes none.
fn ask_holder(
    draft: &mut Draft<'_>,
    ask: &Ask,
    (me, actor): (AgentId, Actor),
    blocker: &LeaseView,
    wait: WaitId,
    entropy: &mut Entropy<'_>,
) -> Option<NegotiationId> {
    let lease = &blocker.lease;
    let is_it = |open: &&Negotiation| {
        open.requester == me && open.lease == lease.id && open.fence == lease.fence && open.wait == wait
    };
    let open = draft.open_negotiations().find(is_it).cloned();
    if let Some(open) = open {
        raise(draft, ask, actor, &open);
        // Who asks again reads how it stands in the answer to that, and nothing there of a request before.
        if open.state != NegotiationState::Requested {
            draft.forget_answer(&open);
        }
        return Some(open.id);
    }
    if ask.tells_answer {
        return None;
    }
    let now = draft.now;
    let asked = Negotiation {
        id: NegotiationId::draw(entropy),
        requester: me,
        holder: lease.holder,
        lease: lease.id,
        fence: lease.fence,
        target: ask.reserve.wants[0].target.clone(),
        worktree: ask.reserve.worktree.clone(),
        why: ask.why.clone(),
        urgency: ask.urgency,
        wait,
        then_reserve: ask.then_reserve,
        state: NegotiationState::Requested,
        deadline: now.mono.plus_ms(ask.urgency.window_ms()),
        overdue: false,
        since: now.mono,
        created_at: now.wall,
    };
    let (id, holder) = (asked.id, asked.holder);
    draft.push_negotiation(actor, Body::NegotiationAsked(asked));
    // It hears why it is asked, and not beside that once more that somebody waits.
    draft.forget_note(holder, &Note::WaitedFor(wait));
    draft.note(holder, Note::Asked(id));
    Some(id)
}

/// Asking again sends nothing new. What is more urgent now is due sooner.
fn raise(draft: &mut Draft<'_>, ask: &Ask, actor: Actor, open: &Negotiation) {
    let urgency = open.urgency.max(ask.urgency);
    let then_reserve = open.then_reserve || ask.then_reserve;
    if (urgency, then_reserve) == (open.urgency, open.then_reserve) {
        return;
    }
    let is_sooner = urgency > open.urgency && open.state == NegotiationState::Requested;
    let soon = draft.now.mono.plus_ms(Urgency::Urgent.window_ms());
    let deadline = if is_sooner { open.deadline.min(soon) } else { open.deadline };
    let raised = Body::NegotiationRaised { negotiation: open.id, urgency, then_reserve, deadline };
    draft.push_negotiation(actor, raised);
}

fn oneself(reserve: &Reserve) -> Failure {
    let path = reserve.wants.first().map(|want| want.target.canonical()).unwrap_or_default();
    Failure::new(Slug::AskedOneself, format!("{path} is with you already")).hint(Hint::command(
        "see on which terms",
        "who",
        &[path],
    ))
}

fn within_quota(draft: &Draft<'_>, me: AgentId) -> Result<(), Failure> {
    let open = draft.open_negotiations().filter(|open| open.requester == me).count();
    if open < NEGOTIATIONS_PER_AGENT_MAX {
        return Ok(());
    }
    let message =
        format!("open requests of one agent: at most {NEGOTIATIONS_PER_AGENT_MAX}, and all are taken");
    Err(Failure::new(Slug::QuotaExceeded, message)
        .hint("see yours: clearway negotiations")
        .hint("take one back: clearway withdraw ID"))
}

/// Whom asking would make wait round and round. Whoever asks means to wait, by whatever it came to its place; an edit that
/// was refused and not asked for does not.
fn circle(draft: &Draft<'_>, reserve: &Reserve, me: AgentId) -> Result<Option<Circle>, BTreeSet<FactQuery>> {
    let asked: BTreeSet<WaitId> = draft.open_negotiations().map(|open| open.wait).collect();
    let mut meant = draft.clone();
    for view in meant.queue.iter_mut().filter(|view| asked.contains(&view.wait.id)) {
        view.wait.wanted.grade = Grade::Claimed;
    }
    let wanted = Reserve { grade: Grade::Claimed, ..reserve.clone() };
    let is_own = |wait: &&Wait| wait.agent == me && wait.wanted.includes(reserve) && wait.attached.is_none();
    let own = draft.queue.iter().map(|view| &view.wait).find(is_own);
    let wait = match own {
        Some(own) => Wait { wanted, ..own.clone() },
        None => Wait {
            // Nobody sees this one: it stands for a place that is not taken yet.
            id: WaitId(me.0),
            agent: me,
            wanted,
            place: draft.next_seq(),
            attached: None,
            until: draft.now.mono.plus_ms(WAIT_MS_MAX),
            kept_until: None,
            offered_until: None,
            offers: 0,
            since: draft.now.mono,
            created_at: draft.now.wall,
        },
    };
    cycle::find(&meant, &wait)
}
