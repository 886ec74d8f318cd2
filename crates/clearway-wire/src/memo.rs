//! The bytes of what is remembered of an agent. Soft state: what cannot be read is forgotten.

use crate::canonical::{agent_id, lease_id, small};
use crate::codec::{DecodeError, Reader, Writer};
use crate::negotiating::negotiation_id;
use crate::waiting::wait_id;
use clearway_core::agent::AgentName;
use clearway_core::ids::Seq;
use clearway_core::mail::Importance;
use clearway_core::refused::RefusedEdit;
use clearway_core::slice::{Announced, Answer, Memo, Note, Overwritten, Writing};
use clearway_core::target::Worktree;
use clearway_core::time::Mono;

const VERSION: u8 = 7;
/// The version before, in which refused edits were one number and what was written over was not kept.
const COUNTED: u8 = 5;

/// The bytes of a memo.
pub fn encode(memo: &Memo) -> Vec<u8> {
    let mut out = Writer::default();
    out.byte(VERSION);
    out.flag(memo.resting);
    out.list(memo.in_hand.iter(), |out, (lease, until)| {
        out.text(lease.as_str());
        out.number(until.0);
    });
    out.list(memo.writing.iter(), write_writing);
    out.list(memo.edited.iter(), write_writing);
    out.list(memo.left.iter(), |out, (worktree, path)| {
        out.text(&worktree.0);
        out.text(path);
    });
    out.list(memo.notes.iter(), write_note);
    out.number(memo.told_since.0);
    out.number(u64::from(memo.told));
    out.list(memo.broadcasts.iter(), |out, at| out.number(at.0));
    out.list(memo.forced.iter(), |out, at| out.number(at.0));
    out.list(memo.refused.iter(), write_refused);
    out.list(memo.overwritten.iter(), |out, known| {
        out.text(known.lease.as_str());
        out.text(&known.path);
        out.option(known.by, |out, by| out.text(by.as_str()));
    });
    out.list(memo.reminded.iter(), |out, wait| out.text(wait.as_str()));
    out.finish()
}

/// Reads a memo back.
pub fn decode(bytes: &[u8]) -> Memo {
    try_decode(bytes).unwrap_or_default()
}

fn try_decode(bytes: &[u8]) -> Result<Memo, DecodeError> {
    let mut input = Reader::new(bytes);
    let is_counted = match input.version(VERSION)? {
        VERSION => false,
        COUNTED => true,
        other => return Err(DecodeError::unknown("memo", other.to_string())),
    };
    let memo = Memo {
        resting: input.flag("rest")?,
        in_hand: input.list(|input| Ok((lease_id(input)?, Mono(input.number()?))))?,
        writing: input.list(read_writing)?,
        edited: input.list(read_writing)?,
        left: input.list(|input| Ok((Worktree(input.text()?.to_owned()), input.text()?.to_owned())))?,
        notes: input.list(read_note)?,
        told_since: Mono(input.number()?),
        told: small(&mut input, "count")?,
        broadcasts: input.list(|input| input.number().map(Mono))?,
        forced: input.list(|input| input.number().map(Mono))?,
        refused: if is_counted { read_counted(&mut input)? } else { input.list(read_refused)? },
        overwritten: if is_counted { Vec::new() } else { input.list(read_overwritten)? },
        reminded: input.list(wait_id)?,
    };
    input.end()?;
    Ok(memo)
}

fn write_writing(out: &mut Writer, writing: &Writing) {
    out.text(&writing.path);
    out.text(&writing.worktree.0);
    out.number(writing.until.0);
}

fn read_writing(input: &mut Reader<'_>) -> Result<Writing, DecodeError> {
    let (path, worktree) = (input.text()?.to_owned(), Worktree(input.text()?.to_owned()));
    Ok(Writing { path, worktree, until: Mono(input.number()?) })
}

fn write_refused(out: &mut Writer, refused: &RefusedEdit) {
    out.text(&refused.target);
    out.list(refused.blockers.iter(), |out, lease| out.text(lease.as_str()));
    out.number(refused.since.0);
    out.number(u64::from(refused.times));
}

fn read_refused(input: &mut Reader<'_>) -> Result<RefusedEdit, DecodeError> {
    let (target, blockers) = (input.text()?.to_owned(), input.list(lease_id)?);
    Ok(RefusedEdit { target, blockers, since: Mono(input.number()?), times: small(input, "count")? })
}

/// Since when how many edits were refused. Of which ones that was is not known, so none of them counts.
fn read_counted(input: &mut Reader<'_>) -> Result<Vec<RefusedEdit>, DecodeError> {
    input.number()?;
    small(input, "count")?;
    Ok(Vec::new())
}

fn read_overwritten(input: &mut Reader<'_>) -> Result<Overwritten, DecodeError> {
    let (lease, path) = (lease_id(input)?, input.text()?.to_owned());
    Ok(Overwritten { lease, path, by: input.option(agent_id)? })
}

fn write_note(out: &mut Writer, note: &Note) {
    match note {
        Note::WaitedFor(wait) => {
            out.byte(0);
            out.text(wait.as_str());
        }
        Note::Turn(wait) => {
            out.byte(1);
            out.text(wait.as_str());
        }
        Note::PassedOn { target, to, kept } => {
            out.byte(if kept.is_some() { 6 } else { 2 });
            out.text(target);
            out.text(to.as_str());
            if let Some(number) = kept {
                out.number(number.0);
            }
        }
        Note::WrittenOver { target, by } => {
            out.byte(3);
            out.text(target);
            out.list(by.iter(), |out, name| out.text(name.as_str()));
        }
        Note::WroteOver { target, holder } => {
            out.byte(4);
            out.text(target);
            out.text(holder.as_str());
        }
        Note::CommittedUnchecked { target, commit, by } => {
            out.byte(7);
            out.text(target);
            out.text(commit);
            out.list(by.iter(), |out, name| out.text(name.as_str()));
        }
        Note::PlaceOver { target } => {
            out.byte(5);
            out.text(target);
        }
        Note::Mail(announced) => {
            out.byte(20);
            out.text(announced.from.as_str());
            out.text(&announced.about);
            out.text(announced.importance.word());
            out.flag(announced.wants_ack);
            out.number(u64::from(announced.count));
        }
        Note::Asked(negotiation) => {
            out.byte(8);
            out.text(negotiation.as_str());
        }
        Note::Answered { target, holder, answer } => {
            out.byte(9);
            out.text(target);
            out.text(holder.as_str());
            write_answer(out, answer);
        }
        Note::Overdue(negotiation) => {
            out.byte(10);
            out.text(negotiation.as_str());
        }
        Note::Forced { target, by, to, reason, kept } => {
            out.byte(14);
            out.text(target);
            out.text(by.as_str());
            out.text(to.as_str());
            out.text(reason);
            out.option(*kept, |out, number| out.number(number.0));
        }
        Note::Taken { target, from, kept } => {
            out.byte(15);
            out.text(target);
            out.text(from.as_str());
            out.option(*kept, |out, number| out.number(number.0));
        }
        Note::Continued { reason } => {
            out.byte(16);
            out.text(reason);
        }
        Note::Granted { target, from } => {
            out.byte(12);
            out.text(target);
            out.text(from.as_str());
        }
        Note::Circle { target, by, yielder } => {
            out.byte(13);
            out.text(target);
            out.text(by.as_str());
            out.option(yielder.as_ref(), |out, (agent, what)| {
                out.text(agent.as_str());
                out.text(what);
            });
        }
    }
}

fn read_note(input: &mut Reader<'_>) -> Result<Note, DecodeError> {
    Ok(match input.byte()? {
        0 => Note::WaitedFor(wait_id(input)?),
        1 => Note::Turn(wait_id(input)?),
        how @ (2 | 6) => {
            let target = input.text()?.to_owned();
            let to = input.word("agent name", AgentName::parse)?;
            let kept = (how == 6).then(|| input.number().map(Seq)).transpose()?;
            Note::PassedOn { target, to, kept }
        }
        3 => {
            let target = input.text()?.to_owned();
            let by = input.list(|input| input.word("agent name", AgentName::parse))?.into_iter().next();
            Note::WrittenOver { target, by }
        }
        4 => {
            let target = input.text()?.to_owned();
            Note::WroteOver { target, holder: input.word("agent name", AgentName::parse)? }
        }
        5 => Note::PlaceOver { target: input.text()?.to_owned() },
        7 => {
            let (target, commit) = (input.text()?.to_owned(), input.text()?.to_owned());
            let by = input.list(|input| input.word("agent name", AgentName::parse))?.into_iter().next();
            Note::CommittedUnchecked { target, commit, by }
        }
        20 => Note::Mail(Announced {
            from: input.word("agent name", AgentName::parse)?,
            about: input.text()?.to_owned(),
            importance: input.word("importance", Importance::from_word)?,
            wants_ack: input.flag("acknowledgement")?,
            count: small(input, "count")?,
        }),
        8 => Note::Asked(negotiation_id(input)?),
        9 => Note::Answered {
            target: input.text()?.to_owned(),
            holder: input.word("agent name", AgentName::parse)?,
            answer: read_answer(input)?,
        },
        10 => Note::Overdue(negotiation_id(input)?),
        // The first did not say for whom, which mostly is who took it.
        how @ (11 | 14) => {
            let target = input.text()?.to_owned();
            let by = input.word("agent name", AgentName::parse)?;
            let to = (how == 14).then(|| input.word("agent name", AgentName::parse)).transpose()?;
            let (to, reason) = (to.unwrap_or_else(|| by.clone()), input.text()?.to_owned());
            Note::Forced { target, by, to, reason, kept: input.option(|input| input.number().map(Seq))? }
        }
        15 => Note::Taken {
            target: input.text()?.to_owned(),
            from: input.word("agent name", AgentName::parse)?,
            kept: input.option(|input| input.number().map(Seq))?,
        },
        16 => Note::Continued { reason: input.text()?.to_owned() },
        12 => Note::Granted {
            target: input.text()?.to_owned(),
            from: input.word("agent name", AgentName::parse)?,
        },
        13 => Note::Circle {
            target: input.text()?.to_owned(),
            by: input.word("agent name", AgentName::parse)?,
            yielder: input.option(|input| {
                Ok((input.word("agent name", AgentName::parse)?, input.text()?.to_owned()))
            })?,
        },
        other => return Err(DecodeError::unknown("note", other.to_string())),
    })
}

fn write_answer(out: &mut Writer, answer: &Answer) {
    match answer {
        Answer::AfterCommit => out.byte(0),
        Answer::Later(until) => {
            out.byte(1);
            out.number(until.0);
        }
        Answer::No(reason) => {
            out.byte(2);
            out.text(reason);
        }
        Answer::HandedTo(to) => {
            out.byte(3);
            out.text(to.as_str());
        }
        Answer::Outlasted => out.byte(4),
    }
}

fn read_answer(input: &mut Reader<'_>) -> Result<Answer, DecodeError> {
    Ok(match input.byte()? {
        0 => Answer::AfterCommit,
        1 => Answer::Later(Mono(input.number()?)),
        2 => Answer::No(input.text()?.to_owned()),
        3 => Answer::HandedTo(input.word("agent name", AgentName::parse)?),
        4 => Answer::Outlasted,
        other => return Err(DecodeError::unknown("answer", other.to_string())),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clearway_core::ids::{AgentId, LeaseId, NegotiationId, WaitId};

    /// As version 5 wrote it.
    const OF_VERSION_5: &str = "05\
        01\
        00000001 00000008 6162636465666768 0000000000000007\
        00000000 00000000 00000000\
        00000001 05 00000001 61\
        0000000000000003 0000000000000002\
        00000000 00000000\
        0000000000000008 0000000000000003\
        00000001 00000008 6162636465666768";

    #[test]
    fn what_the_version_before_wrote_is_read_and_what_none_wrote_is_not() {
        let digits: Vec<char> = OF_VERSION_5.chars().filter(char::is_ascii_hexdigit).collect();
        let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
        let mut bytes: Vec<u8> = digits.chunks(2).map(byte).collect();
        let expect = Memo {
            resting: true,
            in_hand: vec![(LeaseId::parse("abcdefgh").unwrap(), Mono(7))],
            notes: vec![Note::PlaceOver { target: "a".to_owned() }],
            told_since: Mono(3),
            told: 2,
            reminded: vec![WaitId::parse("abcdefgh").unwrap()],
            ..Memo::default()
        };
        assert_eq!(decode(&bytes), expect);
        for other in [4, 6, VERSION] {
            bytes[0] = other;
            assert_eq!(decode(&bytes), Memo::default(), "{other}");
        }
        let mut bytes = encode(&Memo::default());
        bytes[0] = 6;
        assert!(try_decode(&bytes).is_err(), "also where it would fit");
    }

    #[test]
    fn a_memo_is_read_as_it_was_written_and_rubbish_as_nothing() {
        let (lease, wait) = (LeaseId::parse("abcdefgh").unwrap(), WaitId::parse("abcdefgh").unwrap());
        let asked = NegotiationId::parse("abcdefgh").unwrap();
        let to = AgentName::parse("heron").unwrap();
        let writing = |path: &str| Writing {
            path: path.to_owned(),
            worktree: Worktree("/w".to_owned()),
            until: Mono(9),
        };
        let memo = Memo {
            resting: true,
            in_hand: vec![(lease, Mono(7))],
            writing: vec![writing("Cargo.lock")],
            edited: vec![writing("src/a.rs"), writing("src/b.rs")],
            left: vec![(Worktree("/w".to_owned()), "src/a.rs".to_owned())],
            notes: vec![
                Note::WaitedFor(wait),
                Note::Turn(wait),
                Note::PassedOn { target: "a".to_owned(), to: to.clone(), kept: None },
                Note::PassedOn { target: "a".to_owned(), to: to.clone(), kept: Some(Seq(41)) },
                Note::WrittenOver { target: "a".to_owned(), by: Some(to.clone()) },
                Note::WrittenOver { target: "b".to_owned(), by: None },
                Note::CommittedUnchecked {
                    target: "a".to_owned(),
                    commit: "1f".to_owned(),
                    by: Some(to.clone()),
                },
                Note::CommittedUnchecked { target: "a".to_owned(), commit: "1f".to_owned(), by: None },
                Note::WroteOver { target: "a".to_owned(), holder: to.clone() },
                Note::PlaceOver { target: "a".to_owned() },
                Note::Mail(Announced {
                    from: AgentName::parse("otter").unwrap(),
                    about: "lunch".to_owned(),
                    importance: Importance::High,
                    wants_ack: true,
                    count: 3,
                }),
                Note::Asked(asked),
                Note::Answered { target: "a".to_owned(), holder: to.clone(), answer: Answer::AfterCommit },
                Note::Answered { target: "a".to_owned(), holder: to.clone(), answer: Answer::Later(Mono(4)) },
                Note::Answered { target: "a".to_owned(), holder: to.clone(), answer: Answer::No("b".into()) },
                Note::Answered {
                    target: "a".to_owned(),
                    holder: to.clone(),
                    answer: Answer::HandedTo(to.clone()),
                },
                Note::Answered { target: "a".to_owned(), holder: to.clone(), answer: Answer::Outlasted },
                Note::Overdue(asked),
                Note::Forced {
                    target: "a".into(),
                    by: to.clone(),
                    to: to.clone(),
                    reason: "b".into(),
                    kept: Some(Seq(41)),
                },
                Note::Taken { target: "a".into(), from: to.clone(), kept: Some(Seq(41)) },
                Note::Continued { reason: "b".into() },
                Note::Granted { target: "a".to_owned(), from: to.clone() },
                Note::Circle { target: "a".into(), by: to.clone(), yielder: Some((to, "b".into())) },
            ],
            told_since: Mono(3),
            told: 2,
            broadcasts: vec![Mono(1), Mono(2)],
            forced: vec![Mono(5), Mono(6)],
            refused: vec![RefusedEdit {
                target: "a".to_owned(),
                blockers: vec![lease],
                since: Mono(8),
                times: 3,
            }],
            overwritten: vec![
                Overwritten { lease, path: "a".to_owned(), by: None },
                Overwritten { lease, path: "b".to_owned(), by: Some(AgentId::parse("abcdefgh").unwrap()) },
            ],
            reminded: vec![wait],
        };
        assert_eq!(decode(&encode(&memo)), memo);
        for rubbish in [&b""[..], b"\xff", &encode(&memo)[..5]] {
            assert_eq!(decode(rubbish), Memo::default());
        }
    }
}
