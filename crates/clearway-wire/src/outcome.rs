//! The bytes of a remembered success, so that a repeated request gets the very same answer.

use crate::canonical::{read_lease, write_lease};
use crate::codec::{DecodeError, Reader, Writer};
use crate::mail;
use crate::negotiating::{read_negotiated, write_negotiated};
use crate::waiting::{read_ahead, read_queued, wait_id, write_ahead, write_queued};
use clearway_core::agent::{AgentName, Liveness};
use clearway_core::decide::{Refused, Success};
use clearway_core::failure::LeaseView;
use clearway_core::ids::{LeaseId, Seq};
use clearway_core::pattern::Fold;
use clearway_core::slice::Freeze;
use clearway_core::time::Mono;

const VERSION: u8 = 1;

/// The bytes of a success.
pub fn encode(success: &Success) -> Vec<u8> {
    let mut out = Writer::default();
    out.byte(VERSION);
    match success {
        Success::Reserved { leases, refused } => {
            out.byte(0);
            out.list(leases.iter(), write_view);
            out.list(refused.iter(), |out, refused| {
                out.text(&refused.target);
                out.list(refused.blockers.iter(), write_view);
                out.list(refused.ahead.iter(), write_ahead);
            });
        }
        Success::Renewed(leases) => {
            out.byte(1);
            out.list(leases.iter(), write_view);
        }
        Success::Released { released, already, remaining } => {
            out.byte(2);
            write_ids(&mut out, released);
            write_ids(&mut out, already);
            out.list(remaining.iter(), write_view);
        }
        Success::Swept { expired } => {
            out.byte(3);
            write_ids(&mut out, expired);
        }
        Success::Queued { queued, blockers, ahead } => {
            out.byte(4);
            write_queued(&mut out, queued);
            out.list(blockers.iter(), write_view);
            out.list(ahead.iter(), write_ahead);
        }
        Success::Left { waits } => {
            out.byte(5);
            out.list(waits.iter(), |out, wait| out.text(wait.as_str()));
        }
        Success::Transferred(leases) => {
            out.byte(6);
            out.list(leases.iter(), write_view);
        }
        Success::Frozen(freeze) => {
            out.byte(7);
            out.number(freeze.until.0);
            out.text(&freeze.reason);
        }
        Success::Thawed { was_frozen } => {
            out.byte(8);
            out.flag(*was_frozen);
        }
        Success::Kept { number } => {
            out.byte(9);
            out.number(number.0);
        }
        Success::Done => out.byte(10),
        Success::Mail(answer) => {
            out.byte(11);
            mail::write_answer(&mut out, answer);
        }
        Success::Negotiated(outcome) => {
            out.byte(12);
            write_negotiated(&mut out, outcome);
        }
        Success::Halted { agent, was_halted, ended } => {
            out.byte(13);
            out.text(agent.as_str());
            out.flag(*was_halted);
            write_ids(&mut out, ended);
        }
        Success::Continued { agent, was_halted } => {
            out.byte(14);
            out.text(agent.as_str());
            out.flag(*was_halted);
        }
    }
    out.finish()
}

/// Reads a success back.
pub fn decode(bytes: &[u8], fold: Fold) -> Result<Success, DecodeError> {
    let mut input = Reader::new(bytes);
    input.version(VERSION)?;
    let success = match input.byte()? {
        0 => Success::Reserved {
            leases: input.list(|input| read_view(input, fold))?,
            refused: input.list(|input| {
                let target = input.text()?.to_owned();
                let blockers = input.list(|input| read_view(input, fold))?;
                Ok(Refused { target, blockers, ahead: input.list(read_ahead)? })
            })?,
        },
        1 => Success::Renewed(input.list(|input| read_view(input, fold))?),
        2 => Success::Released {
            released: read_ids(&mut input)?,
            already: read_ids(&mut input)?,
            remaining: input.list(|input| read_view(input, fold))?,
        },
        3 => Success::Swept { expired: read_ids(&mut input)? },
        4 => Success::Queued {
            queued: Box::new(read_queued(&mut input, fold)?),
            blockers: input.list(|input| read_view(input, fold))?,
            ahead: input.list(read_ahead)?,
        },
        5 => Success::Left { waits: input.list(wait_id)? },
        6 => Success::Transferred(input.list(|input| read_view(input, fold))?),
        7 => Success::Frozen(Freeze { until: Mono(input.number()?), reason: input.text()?.to_owned() }),
        8 => Success::Thawed { was_frozen: input.flag("freeze")? },
        9 => Success::Kept { number: Seq(input.number()?) },
        10 => Success::Done,
        11 => Success::Mail(mail::read_answer(&mut input)?),
        12 => Success::Negotiated(Box::new(read_negotiated(&mut input, fold)?)),
        13 => Success::Halted {
            agent: input.word("agent name", AgentName::parse)?,
            was_halted: input.flag("halt")?,
            ended: read_ids(&mut input)?,
        },
        14 => Success::Continued {
            agent: input.word("agent name", AgentName::parse)?,
            was_halted: input.flag("halt")?,
        },
        other => return Err(DecodeError::unknown("outcome", other.to_string())),
    };
    input.end()?;
    Ok(success)
}

pub(crate) fn write_view(out: &mut Writer, view: &LeaseView) {
    write_lease(out, &view.lease);
    out.text(view.agent.as_str());
    out.number(view.deadline.0);
    out.text(&format!("{}{}", view.liveness.word(), if view.is_halted { HALTED } else { "" }));
    out.number(view.waiters);
}

pub(crate) fn read_view(input: &mut Reader<'_>, fold: Fold) -> Result<LeaseView, DecodeError> {
    let lease = read_lease(input, fold)?;
    let agent = input.word("agent name", AgentName::parse)?;
    let deadline = Mono(input.number()?);
    let (liveness, is_halted) = input.word("liveness", holder)?;
    let waiters = input.number()?;
    // That was so a moment long.
    Ok(LeaseView { lease, agent, deadline, liveness, is_halted, waiters, in_hand: false })
}

/// Stands behind the word for a holder whom a person stopped. What was kept before there was this has the word alone.
const HALTED: &str = " halted";

fn holder(text: &str) -> Option<(Liveness, bool)> {
    let (word, is_halted) = text.strip_suffix(HALTED).map_or((text, false), |word| (word, true));
    let known = [Liveness::Active, Liveness::Idle, Liveness::Gone];
    known.into_iter().find(|liveness| liveness.word() == word).map(|liveness| (liveness, is_halted))
}

pub(crate) fn write_ids(out: &mut Writer, ids: &[LeaseId]) {
    out.list(ids.iter(), |out, id| out.text(id.as_str()));
}

pub(crate) fn read_ids(input: &mut Reader<'_>) -> Result<Vec<LeaseId>, DecodeError> {
    input.list(|input| input.word("lease", LeaseId::parse))
}
