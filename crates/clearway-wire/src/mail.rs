//! The bytes of mail: its events, its stored rows, its remembered answers.

use crate::canonical::{agent_id, owned};
use crate::codec::{DecodeError, Reader, Writer};
use clearway_core::agent::AgentName;
use clearway_core::ids::{AgentId, Seq};
use clearway_core::mail::{
    Answer, Importance, MailEvent, Message, MessageId, Policy, Recipient, Role, Rules, Sent, Topic,
};
use clearway_core::time::Wall;
use std::collections::BTreeSet;

/// The version of stored rows.
const VERSION: u8 = 1;

/// The bytes of a message in its row.
pub fn encode_message(message: &Message) -> Vec<u8> {
    let mut out = Writer::default();
    out.byte(VERSION);
    write_message(&mut out, message);
    out.finish()
}

/// Reads the row of a message.
pub fn decode_message(bytes: &[u8]) -> Result<Message, DecodeError> {
    let mut input = Reader::new(bytes);
    input.version(VERSION)?;
    let message = read_message(&mut input)?;
    input.end()?;
    Ok(message)
}

/// The bytes of an agent's rules in its row.
pub fn encode_rules(rules: &Rules) -> Vec<u8> {
    let mut out = Writer::default();
    out.byte(VERSION);
    write_rules(&mut out, rules);
    out.finish()
}

/// Reads the row of an agent's rules.
pub fn decode_rules(bytes: &[u8]) -> Result<Rules, DecodeError> {
    let mut input = Reader::new(bytes);
    input.version(VERSION)?;
    let rules = read_rules(&mut input)?;
    input.end()?;
    Ok(rules)
}

pub(crate) fn write_event(out: &mut Writer, event: &MailEvent) {
    match event {
        MailEvent::Sent(message) => write_message(out, message),
        MailEvent::Read { agent, messages } => {
            out.text(agent.as_str());
            out.list(messages.iter(), |out, message| out.number(message.0));
        }
        MailEvent::Acknowledged { agent, message, from, settled } => {
            out.text(agent.as_str());
            out.number(message.0);
            out.text(from.as_str());
            out.flag(*settled);
        }
        MailEvent::RulesSet { agent, rules } => {
            out.text(agent.as_str());
            write_rules(out, rules);
        }
        MailEvent::Forgotten { up_to } => out.number(up_to.0),
    }
}

/// Reads an event of mail; `None` for any other kind.
pub(crate) fn read_event(input: &mut Reader<'_>, kind: &str) -> Result<Option<MailEvent>, DecodeError> {
    Ok(Some(match kind {
        "mail.sent" => MailEvent::Sent(Box::new(read_message(input)?)),
        "mail.read" => MailEvent::Read {
            agent: agent_id(input)?,
            messages: input.list(|input| input.number().map(Seq))?,
        },
        "mail.acknowledged" => MailEvent::Acknowledged {
            agent: agent_id(input)?,
            message: Seq(input.number()?),
            from: agent_id(input)?,
            settled: input.flag("settled")?,
        },
        "mail.rules-set" => MailEvent::RulesSet { agent: agent_id(input)?, rules: read_rules(input)? },
        "mail.forgotten" => MailEvent::Forgotten { up_to: Seq(input.number()?) },
        _ => return Ok(None),
    }))
}

fn write_message(out: &mut Writer, message: &Message) {
    out.number(message.seq.0);
    out.text(message.id.as_str());
    out.text(message.thread.as_str());
    out.text(message.from.as_str());
    out.list(message.recipients.iter(), |out, one| {
        out.text(one.role.word());
        out.text(one.agent.as_str());
    });
    out.flag(message.broadcast);
    out.option(message.subject.as_deref(), Writer::text);
    out.option(message.topic.as_ref().map(Topic::as_str), Writer::text);
    out.text(message.importance.word());
    out.flag(message.wants_ack);
    message.digest.iter().for_each(|byte| out.byte(*byte));
    out.number(message.bytes);
    out.signed(message.at.0);
}

fn read_message(input: &mut Reader<'_>) -> Result<Message, DecodeError> {
    Ok(Message {
        seq: Seq(input.number()?),
        id: message_id(input)?,
        thread: message_id(input)?,
        from: agent_id(input)?,
        recipients: input.list(|input| {
            let role = input.word("role", Role::from_word)?;
            Ok(Recipient { agent: agent_id(input)?, role })
        })?,
        broadcast: input.flag("broadcast")?,
        subject: owned(input)?,
        topic: input.option(|input| input.word("topic", topic))?,
        importance: input.word("importance", Importance::from_word)?,
        wants_ack: input.flag("acknowledgement")?,
        digest: digest(input)?,
        bytes: input.number()?,
        at: Wall(input.signed()?),
    })
}

/// Topics are stored in the one form that compares.
fn topic(word: &str) -> Option<Topic> {
    Topic::parse(word).filter(|topic| topic.as_str() == word)
}

fn digest(input: &mut Reader<'_>) -> Result<[u8; 32], DecodeError> {
    let mut digest = [0; 32];
    for byte in &mut digest {
        *byte = input.byte()?;
    }
    Ok(digest)
}

fn write_rules(out: &mut Writer, rules: &Rules) {
    out.text(rules.policy.word());
    out.list(rules.contacts.iter(), |out, contact| out.text(contact.as_str()));
}

/// Contacts stand in the one order they are written in.
fn read_rules(input: &mut Reader<'_>) -> Result<Rules, DecodeError> {
    let policy = input.word("policy", Policy::from_word)?;
    let contacts = input.list(agent_id)?;
    match contacts.windows(2).find(|pair| pair[0] >= pair[1]) {
        Some(pair) => Err(DecodeError::unknown("contact", pair[1].to_string())),
        None => Ok(Rules { policy, contacts: contacts.into_iter().collect::<BTreeSet<AgentId>>() }),
    }
}

pub(crate) fn write_answer(out: &mut Writer, answer: &Answer) {
    match answer {
        Answer::Sent(sent) => {
            out.byte(0);
            out.text(sent.id.as_str());
            out.text(sent.thread.as_str());
            out.number(sent.seq.0);
            for names in [&sent.to, &sent.cc, &sent.bcc, &sent.denied] {
                out.list(names.iter(), |out, name| out.text(name.as_str()));
            }
            out.flag(sent.again);
        }
        Answer::Read(ids) => {
            out.byte(1);
            write_ids(out, ids);
        }
        Answer::Acknowledged { now, already } => {
            out.byte(2);
            write_ids(out, now);
            write_ids(out, already);
        }
        Answer::Rules { rules, contacts } => {
            out.byte(3);
            write_rules(out, rules);
            out.list(contacts.iter(), |out, (id, name)| {
                out.text(id.as_str());
                out.text(name.as_str());
            });
        }
        Answer::Forgotten => out.byte(4),
    }
}

pub(crate) fn read_answer(input: &mut Reader<'_>) -> Result<Answer, DecodeError> {
    let name = |input: &mut Reader<'_>| input.word("agent name", AgentName::parse);
    Ok(match input.byte()? {
        0 => Answer::Sent(Box::new(Sent {
            id: message_id(input)?,
            thread: message_id(input)?,
            seq: Seq(input.number()?),
            to: input.list(name)?,
            cc: input.list(name)?,
            bcc: input.list(name)?,
            denied: input.list(name)?,
            again: input.flag("repetition")?,
        })),
        1 => Answer::Read(input.list(message_id)?),
        2 => Answer::Acknowledged { now: input.list(message_id)?, already: input.list(message_id)? },
        3 => Answer::Rules {
            rules: read_rules(input)?,
            contacts: input.list(|input| Ok((agent_id(input)?, name(input)?)))?,
        },
        4 => Answer::Forgotten,
        other => return Err(DecodeError::unknown("answer", other.to_string())),
    })
}

fn write_ids(out: &mut Writer, ids: &[MessageId]) {
    out.list(ids.iter(), |out, id| out.text(id.as_str()));
}

fn message_id(input: &mut Reader<'_>) -> Result<MessageId, DecodeError> {
    input.word("message", MessageId::parse)
}
