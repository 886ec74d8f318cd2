//! Extending leases.

use super::authority::of_family;
use super::draft::Draft;
use super::identity::Identified;
use super::kept;
use super::replay::lapsed;
use super::selection::{Chosen, by_target, held_by, live_by_id, refuse_part, refuse_unheld};
use super::{Notice, Step, Success};
use crate::agent::Liveness;
use crate::command::{Renew, Selection};
use crate::event::{Actor, Body};
use crate::failure::{Failure, LeaseView};
use crate::ids::{AgentId, Entropy};
use crate::lease::{Lease, Terms};

/// Extends the named leases, all or none.
pub(super) fn renew(
    draft: &mut Draft<'_>,
    renew: &Renew,
    identified: &Identified,
    entropy: &mut Entropy<'_>,
) -> Step {
    let actor = draft.act_as(identified);
    let unknown = kept::evidence(draft, &renew.selection, actor);
    if !unknown.is_empty() {
        return Err(unknown);
    }
    let leases = match chosen(draft, &renew.selection, actor) {
        Ok(leases) => leases,
        Err(failure) => return Ok(Err(failure)),
    };
    let actor = if leases.is_empty() { actor } else { draft.sign(identified, entropy) };
    let renewed = leases.into_iter().map(|lease| extend(draft, actor, renew, lease)).collect();
    Ok(Ok(Success::Renewed(renewed)))
}

/// The live leases meant. One that ended is no error in a selection of everything, but it is when it was named.
fn chosen(draft: &mut Draft<'_>, selection: &Selection, actor: Actor) -> Result<Vec<Lease>, Failure> {
    match selection {
        Selection::All => {
            draft.notices.extend(run_out(draft, actor.agent));
            Ok(held_by(draft, actor.agent))
        }
        Selection::These { leases, targets, worktree } => {
            let mut chosen = Chosen { live: live_by_id(draft, leases, actor)?, ..Chosen::default() };
            let mine = of_family(draft, actor);
            by_target(draft, targets, worktree, mine, &mut chosen);
            refuse_unheld(&chosen)?;
            refuse_part(selection, &chosen, draft.verb.word())?;
            Ok(chosen.live)
        }
    }
}

/// What the caller may believe to hold still: this very decision found it to be over.
fn run_out(draft: &Draft<'_>, agent: Option<AgentId>) -> Vec<Notice> {
    let expired = draft.expired.iter().filter_map(|id| draft.slice.lease(*id));
    let own = expired.filter(|lease| Some(lease.holder) == agent);
    own.filter_map(|lease| lapsed(&draft.view(), draft.slice, lease)).collect()
}

fn extend(draft: &mut Draft<'_>, actor: Actor, renew: &Renew, mut lease: Lease) -> LeaseView {
    let view = draft.view();
    let ttl_ms = renew.ttl_ms.unwrap_or(lease.ttl_ms);
    // A sign of life may have carried the lease further than its row says; a renewal never shortens it.
    let deadline = lease.deadline_given(view.last_seen(lease.holder)).max(draft.now.mono.plus_ms(ttl_ms));
    let reason = renew.reason.clone().or_else(|| lease.reason.clone());
    let operator_reason = draft.operator_reason_for(actor, &lease);
    lease.set_terms(Terms { ttl_ms, deadline, reason, ..lease.terms() });
    draft.push(actor, Body::LeaseRenewed { lease: lease.id, terms: lease.terms(), operator_reason });
    shown(draft, actor, &lease)
}

/// Renewing is a sign of life of whoever does it, which for an operator says nothing about the holder.
fn shown(draft: &Draft<'_>, actor: Actor, lease: &Lease) -> LeaseView {
    let view = draft.view();
    let renewed = match view.holder(lease) {
        Some(holder) if actor.agent == Some(lease.holder) => LeaseView::new(lease, holder, Liveness::Active),
        Some(holder) => LeaseView::new(lease, holder, view.liveness(holder)),
        None => LeaseView::of_nobody(lease),
    };
    LeaseView { deadline: lease.deadline_given(None), ..renewed }
}
