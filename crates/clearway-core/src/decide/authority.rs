//! Who may act on what is whose.

use super::draft::Draft;
use crate::command::Verb;
use crate::event::Actor;
use crate::failure::{Details, Failure};
use crate::hint::Hint;
use crate::ids::AgentId;
use crate::lease::Lease;
use crate::slug::Slug;

/// What is an agent's may be acted on by itself, by the root of its family, and by an operator.
pub(super) fn may_act_for(draft: &Draft<'_>, actor: Actor, owner: AgentId) -> bool {
    stands_for(draft, actor, owner) || draft.operator_reason.is_some()
}

/// Whether the actor is that agent, or the root of its family: what is typed in a subagent's shell is the root's.
pub(super) fn stands_for(draft: &Draft<'_>, actor: Actor, owner: AgentId) -> bool {
    actor.agent.is_some_and(|agent| agent == owner || agent == draft.root_of(owner))
}

/// What an agent holds itself, and what its subagents hold. What is named of it is in the slice, whoever of them holds
/// it.
pub(super) fn of_family(draft: &Draft<'_>, actor: Actor) -> Vec<Lease> {
    draft.leases_now().filter(|lease| stands_for(draft, actor, lease.holder)).cloned().collect()
}

/// Refuses to let anybody else act on a lease. The attempt is recorded.
pub(super) fn may_act(draft: &mut Draft<'_>, actor: Actor, lease: &Lease) -> Result<(), Failure> {
    if may_act_for(draft, actor, lease.holder) {
        return Ok(());
    }
    let name = draft.name_of(lease.holder).to_string();
    draft.record_denial(actor, lease.id.to_string(), Slug::NotHolder);
    let verb = draft.verb;
    let to = if verb == Verb::Transfer { " --to NAME" } else { "" };
    let message = format!("lease {} on {} is held by {name}, not by you", lease.id, draft.placed(lease));
    let how = format!("clearway {verb} {}{to} --reason TEXT", lease.id);
    let hint = match lease.bound.is_some() {
        true => Hint::from("it is given back when the command that keeps it ends"),
        false => Hint::for_operator(&format!("an operator at a terminal may {verb} it: {how}")),
    };
    Err(Failure::new(Slug::NotHolder, message)
        .hint(hint)
        .details(Details::Fields(vec![("lease", lease.id.to_string().into()), ("agent", name.into())])))
}
