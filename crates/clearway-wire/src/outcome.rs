//! The bytes of a remembered success, so that a repeated request gets the very same answer.

use crate::canonical::{read_lease, write_lease};
use crate::codec::{DecodeError, Reader, Writer};
use clearway_core::agent::{AgentName, Liveness};
use clearway_core::decide::{Refused, Success};
use clearway_core::failure::LeaseView;
use clearway_core::ids::LeaseId;
use clearway_core::pattern::Fold;
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
                Ok(Refused { target, blockers: input.list(|input| read_view(input, fold))? })
            })?,
        },
        1 => Success::Renewed(input.list(|input| read_view(input, fold))?),
        2 => Success::Released {
            released: read_ids(&mut input)?,
            already: read_ids(&mut input)?,
            remaining: input.list(|input| read_view(input, fold))?,
        },
        3 => Success::Swept { expired: read_ids(&mut input)? },
        other => return Err(DecodeError::unknown("outcome", other.to_string())),
    };
    input.end()?;
    Ok(success)
}

fn write_view(out: &mut Writer, view: &LeaseView) {
    write_lease(out, &view.lease);
    out.text(view.agent.as_str());
    out.number(view.deadline.0);
    out.text(view.liveness.word());
}

fn read_view(input: &mut Reader<'_>, fold: Fold) -> Result<LeaseView, DecodeError> {
    Ok(LeaseView {
        lease: read_lease(input, fold)?,
        agent: input.word("agent name", AgentName::parse)?,
        deadline: Mono(input.number()?),
        liveness: input.word("liveness", |word| {
            [Liveness::Active, Liveness::Idle, Liveness::Gone].into_iter().find(|l| l.word() == word)
        })?,
    })
}

fn write_ids(out: &mut Writer, ids: &[LeaseId]) {
    out.list(ids.iter(), |out, id| out.text(id.as_str()));
}

fn read_ids(input: &mut Reader<'_>) -> Result<Vec<LeaseId>, DecodeError> {
    input.list(|input| input.word("lease", LeaseId::parse))
}
