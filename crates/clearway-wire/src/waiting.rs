//! The bytes of a place in the queue and of what is wanted there: in an event, in a remembered answer, in a row.

use crate::canonical::{
    agent_id, grade, mode, owned, read_process, read_target, small, write_process, write_target,
};
use crate::codec::{DecodeError, Reader, Writer};
use clearway_core::agent::AgentName;
use clearway_core::command::{Reserve, Want};
use clearway_core::failure::Ahead;
use clearway_core::ids::{Seq, WaitId};
use clearway_core::pattern::Fold;
use clearway_core::target::Worktree;
use clearway_core::time::{Mono, Wall};
use clearway_core::wait::{Queued, Wait};

/// The version of a row's bytes. Inside an event or an answer theirs counts.
const VERSION: u8 = 1;

/// What is wanted, for a row of its own.
pub fn encode_wanted(wanted: &Reserve) -> Vec<u8> {
    let mut out = Writer::default();
    out.byte(VERSION);
    write_reserve(&mut out, wanted);
    out.finish()
}

/// Reads it back.
pub fn decode_wanted(bytes: &[u8], fold: Fold) -> Result<Reserve, DecodeError> {
    let mut input = Reader::new(bytes);
    input.version(VERSION)?;
    let wanted = read_reserve(&mut input, fold)?;
    input.end()?;
    Ok(wanted)
}

pub(crate) fn write_wait(out: &mut Writer, wait: &Wait) {
    out.text(wait.id.as_str());
    out.text(wait.agent.as_str());
    write_reserve(out, &wait.wanted);
    out.number(wait.place.0);
    out.option(wait.attached.as_ref(), write_process);
    out.number(wait.until.0);
    out.option(wait.offered_until, |out, until| out.number(until.0));
    out.number(u64::from(wait.offers));
    out.number(wait.since.0);
    out.signed(wait.created_at.0);
}

pub(crate) fn read_wait(input: &mut Reader<'_>, fold: Fold) -> Result<Wait, DecodeError> {
    Ok(Wait {
        id: wait_id(input)?,
        agent: agent_id(input)?,
        wanted: read_reserve(input, fold)?,
        place: Seq(input.number()?),
        attached: input.option(read_process)?,
        until: Mono(input.number()?),
        kept_until: None,
        offered_until: input.option(|input| input.number().map(Mono))?,
        offers: small(input, "number of offers")?,
        since: Mono(input.number()?),
        created_at: Wall(input.signed()?),
    })
}

pub(crate) fn write_queued(out: &mut Writer, queued: &Queued) {
    write_wait(out, &queued.wait);
    out.text(queued.agent.as_str());
    out.number(queued.position);
}

pub(crate) fn read_queued(input: &mut Reader<'_>, fold: Fold) -> Result<Queued, DecodeError> {
    Ok(Queued {
        wait: read_wait(input, fold)?,
        agent: input.word("agent name", AgentName::parse)?,
        position: input.number()?,
    })
}

pub(crate) fn wait_id(input: &mut Reader<'_>) -> Result<WaitId, DecodeError> {
    input.word("wait", WaitId::parse)
}

pub(crate) fn write_ahead(out: &mut Writer, ahead: &Ahead) {
    out.text(ahead.wait.as_str());
    out.text(ahead.agent.as_str());
    out.text(&ahead.target);
    out.flag(ahead.offered);
}

pub(crate) fn read_ahead(input: &mut Reader<'_>) -> Result<Ahead, DecodeError> {
    Ok(Ahead {
        wait: wait_id(input)?,
        agent: input.word("agent name", AgentName::parse)?,
        target: input.text()?.to_owned(),
        offered: input.flag("offer")?,
    })
}

fn write_reserve(out: &mut Writer, reserve: &Reserve) {
    out.list(reserve.wants.iter(), |out, want| {
        write_target(out, &want.target);
        out.number(u64::from(want.capacity));
    });
    out.text(&reserve.worktree.0);
    out.text(reserve.mode.word());
    out.text(reserve.grade.word());
    out.flag(reserve.as_set);
    out.number(reserve.ttl_ms);
    out.option(reserve.max_ms, Writer::number);
    out.option(reserve.reason.as_deref(), Writer::text);
    out.flag(reserve.best_effort);
    out.option(reserve.bound.as_ref(), write_process);
    out.flag(reserve.makes_way);
}

fn read_reserve(input: &mut Reader<'_>, fold: Fold) -> Result<Reserve, DecodeError> {
    Ok(Reserve {
        wants: input.list(|input| {
            Ok(Want { target: read_target(input, fold)?, capacity: small(input, "capacity")? })
        })?,
        worktree: Worktree(input.text()?.to_owned()),
        mode: mode(input)?,
        grade: grade(input)?,
        as_set: input.flag("write-set")?,
        ttl_ms: input.number()?,
        max_ms: input.option(Reader::number)?,
        reason: owned(input)?,
        best_effort: input.flag("best effort")?,
        bound: input.option(read_process)?,
        makes_way: input.flag("claim that makes way")?,
    })
}
