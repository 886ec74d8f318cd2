//! The bytes of a negotiation: in an event, in a remembered answer, in a row.

use crate::canonical::{agent_id, lease_id, owned, read_target, write_target};
use crate::codec::{DecodeError, Reader, Writer};
use crate::outcome::{Layout, read_ids, read_view, write_ids, write_view};
use crate::waiting::{read_queued, wait_id, write_queued};
use clearway_core::agent::AgentName;
use clearway_core::ids::{Fence, NegotiationId};
use clearway_core::negotiation::{
    Negotiated, Negotiation, NegotiationEnd, NegotiationState, NegotiationView, Settled, Status, Urgency,
};
use clearway_core::pattern::Fold;
use clearway_core::target::Worktree;
use clearway_core::time::{Mono, Wall};

/// The version of a row's bytes. Inside an event or an answer theirs counts.
const VERSION: u8 = 1;

/// A negotiation, for a row of its own.
pub fn encode(negotiation: &Negotiation) -> Vec<u8> {
    let mut out = Writer::default();
    out.byte(VERSION);
    write_negotiation(&mut out, negotiation);
    out.finish()
}

/// Reads it back.
pub fn decode(bytes: &[u8], fold: Fold) -> Result<Negotiation, DecodeError> {
    let mut input = Reader::new(bytes);
    input.version(VERSION)?;
    let negotiation = read_negotiation(&mut input, fold)?;
    input.end()?;
    Ok(negotiation)
}

pub(crate) fn write_negotiation(out: &mut Writer, negotiation: &Negotiation) {
    out.text(negotiation.id.as_str());
    out.text(negotiation.requester.as_str());
    out.text(negotiation.holder.as_str());
    out.text(negotiation.lease.as_str());
    out.number(negotiation.fence.to_integer());
    write_target(out, &negotiation.target);
    out.text(&negotiation.worktree.0);
    out.text(&negotiation.why);
    out.text(negotiation.urgency.word());
    out.text(negotiation.wait.as_str());
    out.flag(negotiation.then_reserve);
    write_state(out, &negotiation.state);
    out.number(negotiation.deadline.0);
    out.flag(negotiation.overdue);
    out.number(negotiation.since.0);
    out.signed(negotiation.created_at.0);
}

pub(crate) fn read_negotiation(input: &mut Reader<'_>, fold: Fold) -> Result<Negotiation, DecodeError> {
    Ok(Negotiation {
        id: negotiation_id(input)?,
        requester: agent_id(input)?,
        holder: agent_id(input)?,
        lease: lease_id(input)?,
        fence: Fence::from_integer(input.number()?),
        target: read_target(input, fold)?,
        worktree: Worktree(input.text()?.to_owned()),
        why: input.text()?.to_owned(),
        urgency: urgency(input)?,
        wait: wait_id(input)?,
        then_reserve: input.flag("grant")?,
        state: read_state(input)?,
        deadline: Mono(input.number()?),
        overdue: input.flag("passed deadline")?,
        since: Mono(input.number()?),
        created_at: Wall(input.signed()?),
    })
}

fn write_state(out: &mut Writer, state: &NegotiationState) {
    match state {
        NegotiationState::Requested => out.byte(0),
        NegotiationState::AfterCommit => out.byte(1),
        NegotiationState::Later(until) => {
            out.byte(2);
            out.number(until.0);
        }
        NegotiationState::Over(settled) => {
            out.byte(3);
            out.text(settled.how.word());
            out.number(settled.released);
            out.option(settled.reason.as_deref(), Writer::text);
            out.signed(settled.at.0);
        }
    }
}

fn read_state(input: &mut Reader<'_>) -> Result<NegotiationState, DecodeError> {
    Ok(match input.byte()? {
        0 => NegotiationState::Requested,
        1 => NegotiationState::AfterCommit,
        2 => NegotiationState::Later(Mono(input.number()?)),
        3 => NegotiationState::Over(Settled {
            how: end(input)?,
            released: input.number()?,
            reason: owned(input)?,
            at: Wall(input.signed()?),
        }),
        other => return Err(DecodeError::unknown("state of a negotiation", other.to_string())),
    })
}

pub(crate) fn write_negotiated(out: &mut Writer, outcome: &Negotiated) {
    out.text(outcome.status.word());
    out.list(outcome.negotiations.iter(), |out, view| {
        write_negotiation(out, &view.negotiation);
        out.text(view.requester.as_str());
        out.text(view.holder.as_str());
    });
    write_ids(out, &outcome.released);
    out.list(outcome.split.iter(), |out, path| out.text(path));
    out.list(outcome.remaining.iter(), write_view);
    out.option(outcome.queued.as_deref(), write_queued);
}

pub(crate) fn read_negotiated(input: &mut Reader<'_>, layout: Layout) -> Result<Negotiated, DecodeError> {
    Ok(Negotiated {
        status: input.word("status", Status::from_word)?,
        negotiations: input.list(|input| {
            Ok(NegotiationView {
                negotiation: read_negotiation(input, layout.fold)?,
                requester: input.word("agent name", AgentName::parse)?,
                holder: input.word("agent name", AgentName::parse)?,
            })
        })?,
        released: read_ids(input)?,
        split: input.list(|input| input.text().map(str::to_owned))?,
        remaining: input.list(|input| read_view(input, layout))?,
        queued: input.option(|input| read_queued(input, layout.fold).map(Box::new))?,
    })
}

pub(crate) fn negotiation_id(input: &mut Reader<'_>) -> Result<NegotiationId, DecodeError> {
    input.word("negotiation", NegotiationId::parse)
}

pub(crate) fn urgency(input: &mut Reader<'_>) -> Result<Urgency, DecodeError> {
    input.word("urgency", Urgency::from_word)
}

pub(crate) fn end(input: &mut Reader<'_>) -> Result<NegotiationEnd, DecodeError> {
    input.word("end of a negotiation", NegotiationEnd::from_word)
}
