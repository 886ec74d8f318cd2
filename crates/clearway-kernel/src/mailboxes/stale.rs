//! What somebody was asked to acknowledge and did not.

use super::{Look, MailPage, Measure, Room, span_ms};
use crate::session::Session;
use clearway_core::agent::AgentName;
use clearway_core::failure::Failure;
use clearway_core::ids::{AgentId, Seq};
use clearway_core::mail::{Entry, Letter, Message, ROWS_MAX, STALE_ACK_MS, Which};
use clearway_core::slice::ReadSet;
use clearway_core::time::Now;

/// A message that somebody did not acknowledge.
#[derive(Clone, Debug)]
pub struct StaleAck {
    /// The message.
    pub message: Message,
    /// Who wrote it.
    pub from: AgentName,
    /// Who did not.
    pub agent: AgentName,
    /// It in that agent's mailbox.
    pub entry: Entry,
    /// How long ago it was sent.
    pub age_ms: u64,
}

/// Messages that are not acknowledged.
#[derive(Clone, Debug)]
pub struct StaleAcks {
    /// The revision looked at.
    pub rev: Seq,
    /// The instant.
    pub now: Now,
    /// Who the caller is.
    pub me: Option<AgentName>,
    /// Oldest first.
    pub stale: Vec<StaleAck>,
    /// How many more; a message of which nobody is listed counts as one.
    pub more: u64,
}

impl Session<'_> {
    /// Lists messages that somebody was asked to acknowledge and did not: the caller, or who got them from it.
    pub fn stale_acks(
        &mut self,
        older_than: Option<&str>,
        measure: &Measure<'_, StaleAck>,
    ) -> Result<StaleAcks, Failure> {
        let ttl_ms = older_than.map(span_ms).transpose()?.unwrap_or(STALE_ACK_MS);
        let Some(look) = self.mailbox(Which::Unsettled)? else {
            let MailPage { rev, now, .. } = self.nothing()?;
            return Ok(StaleAcks { rev, now, me: None, stale: Vec::new(), more: 0 });
        };
        let age =
            |message: &Message| u64::try_from(look.now.wall.0.saturating_sub(message.at.0)).unwrap_or(0);
        let mut old: Vec<&Letter> =
            look.letters.iter().filter(|letter| age(&letter.message) >= ttl_ms).collect();
        old.sort_by_key(|letter| letter.message.seq);
        let (mut room, mut stale, mut more) = (Room::of_an_answer(), Vec::new(), 0);
        for letter in old {
            if more > 0 {
                more += 1;
                continue;
            }
            for row in self.rows_of(&look, letter, age(&letter.message))? {
                match more == 0 && stale.len() < ROWS_MAX && room.takes(measure(&row, &look.now)) {
                    true => stale.push(row),
                    false => more += 1,
                }
            }
        }
        Ok(StaleAcks { rev: look.rev, me: Some(look.name.clone()), now: look.now, stale, more })
    }

    /// A row for each who has not acknowledged a message.
    fn rows_of(&mut self, look: &Look, letter: &Letter, age_ms: u64) -> Result<Vec<StaleAck>, Failure> {
        let entries = self.owing(look, letter)?;
        let everybody = entries.iter().map(|entry| entry.agent).chain([letter.message.from]);
        let names = self.called(everybody)?;
        let row = |entry: Entry| {
            let name = |id: AgentId| names.get(&id).cloned();
            let (from, agent) = (name(letter.message.from)?, name(entry.agent)?);
            Some(StaleAck { message: letter.message.clone(), from, agent, entry, age_ms })
        };
        Ok(entries.into_iter().filter_map(row).collect())
    }

    /// Those who have not acknowledged a message: the caller, or everybody who got it from the caller.
    fn owing(&mut self, look: &Look, letter: &Letter) -> Result<Vec<Entry>, Failure> {
        let owes = |entry: &Entry| entry.owes_ack && entry.acked_at.is_none();
        if letter.message.from != look.me {
            return Ok(letter.entries.iter().filter(|entry| owes(entry)).cloned().collect());
        }
        let mut read = ReadSet::default();
        read.mail.ids = vec![letter.message.id.clone()];
        let slice = self.read(|snapshot| snapshot.load(&read, &look.now))?.unwrap_or_default();
        let entries = slice.mail.letters.into_iter().flat_map(|letter| letter.entries);
        Ok(entries.filter(owes).collect())
    }
}
