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

/// Since 2 it tells whose holders a person stopped.
const VERSION: u8 = 2;

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
    let layout = Layout { version: input.version(VERSION)?, fold };
    let success = match input.byte()? {
        0 => Success::Reserved {
            leases: input.list(|input| read_view(input, layout))?,
            refused: input.list(|input| {
                let target = input.text()?.to_owned();
                let blockers = input.list(|input| read_view(input, layout))?;
                Ok(Refused { target, blockers, ahead: input.list(read_ahead)? })
            })?,
        },
        1 => Success::Renewed(input.list(|input| read_view(input, layout))?),
        2 => Success::Released {
            released: read_ids(&mut input)?,
            already: read_ids(&mut input)?,
            remaining: input.list(|input| read_view(input, layout))?,
        },
        3 => Success::Swept { expired: read_ids(&mut input)? },
        4 => Success::Queued {
            queued: Box::new(read_queued(&mut input, fold)?),
            blockers: input.list(|input| read_view(input, layout))?,
            ahead: input.list(read_ahead)?,
        },
        5 => Success::Left { waits: input.list(wait_id)? },
        6 => Success::Transferred(input.list(|input| read_view(input, layout))?),
        7 => Success::Frozen(Freeze { until: Mono(input.number()?), reason: input.text()?.to_owned() }),
        8 => Success::Thawed { was_frozen: input.flag("freeze")? },
        9 => Success::Kept { number: Seq(input.number()?) },
        10 => Success::Done,
        11 => Success::Mail(mail::read_answer(&mut input)?),
        12 => Success::Negotiated(Box::new(read_negotiated(&mut input, layout)?)),
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
    out.text(view.liveness.word());
    out.flag(view.is_halted);
    out.number(view.waiters);
}

pub(crate) fn read_view(input: &mut Reader<'_>, layout: Layout) -> Result<LeaseView, DecodeError> {
    let lease = read_lease(input, layout.fold)?;
    let agent = input.word("agent name", AgentName::parse)?;
    let deadline = Mono(input.number()?);
    let liveness = input.word("liveness", liveness)?;
    let is_halted = layout.version >= 2 && input.flag("halt")?;
    let waiters = input.number()?;
    // That was so a moment long.
    Ok(LeaseView { lease, agent, deadline, liveness, is_halted, waiters, in_hand: false })
}

/// How an answer was written, and where its paths are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    version: u8,
    pub(crate) fold: Fold,
}

fn liveness(word: &str) -> Option<Liveness> {
    [Liveness::Active, Liveness::Idle, Liveness::Gone].into_iter().find(|known| known.word() == word)
}

pub(crate) fn write_ids(out: &mut Writer, ids: &[LeaseId]) {
    out.list(ids.iter(), |out, id| out.text(id.as_str()));
}

pub(crate) fn read_ids(input: &mut Reader<'_>) -> Result<Vec<LeaseId>, DecodeError> {
    input.list(|input| input.word("lease", LeaseId::parse))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clearway_core::ids::{AgentId, Epoch, Fence};
    use clearway_core::lease::{Grade, Lease, Mode};
    use clearway_core::target::{ResourceName, Target, Worktree};
    use clearway_core::time::Wall;

    fn renewed(is_halted: bool) -> Success {
        let lease = Lease {
            id: LeaseId::parse("abcdefgh").unwrap(),
            target: Target::Name(ResourceName::parse("db").unwrap()),
            set: None,
            mode: Mode::Exclusive,
            grade: Grade::Claimed,
            holder: AgentId::parse("bcdefghj").unwrap(),
            fence: Fence { epoch: Epoch(1), seq: Seq(2) },
            reason: None,
            worktree: Worktree::default(),
            slot: None,
            bound: None,
            handed_by: None,
            makes_way: false,
            ceded: Vec::new(),
            ttl_ms: 3,
            granted: Mono(4),
            deadline: Mono(5),
            end_max: None,
            created_at: Wall(6),
            ended: None,
        };
        let (agent, deadline) = (AgentName::parse("otter").unwrap(), Mono(7));
        Success::Renewed(vec![LeaseView {
            lease,
            agent,
            deadline,
            liveness: Liveness::Active,
            is_halted,
            waiters: 8,
            in_hand: false,
        }])
    }

    /// As version 1 wrote it, which told of nobody that a person had stopped it.
    const OF_VERSION_1: &str = "\
        0101000000010000000861626364656667680100000002646200000000096578636c757369766500000007636c61696d\
        656400000008626364656667686a00000100000000020000000000000000000000000000000000000000030000000000\
        000004000000000000000500000000000000000600000000056f74746572000000000000000700000006616374697665\
        0000000000000008";

    #[test]
    fn what_version_1_wrote_is_an_answer_about_nobody_who_was_stopped() {
        let digits: Vec<char> = OF_VERSION_1.chars().filter(char::is_ascii_hexdigit).collect();
        let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
        let bytes: Vec<u8> = digits.chunks(2).map(byte).collect();
        assert_eq!(decode(&bytes, Fold::Exact), Ok(renewed(false)), "{:02x?}", encode(&renewed(false)));
        for is_halted in [false, true] {
            assert_eq!(decode(&encode(&renewed(is_halted)), Fold::Exact), Ok(renewed(is_halted)));
        }
    }
}
