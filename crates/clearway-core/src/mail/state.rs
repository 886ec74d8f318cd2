//! What events mean for mail. Every projection an engine keeps is a cache of this.

use super::{Entry, MailEvent, Message, MessageId, Rules, Standing};
use crate::fold::FoldError;
use crate::ids::{AgentId, Seq};
use crate::time::Wall;
use std::collections::{BTreeMap, BTreeSet};

/// The mail of one scope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MailState {
    /// Every message that is kept.
    pub messages: BTreeMap<Seq, Message>,
    /// Where each of them is found by its name.
    pub names: BTreeMap<MessageId, Seq>,
    /// Every mailbox.
    pub entries: BTreeMap<(AgentId, Seq), Entry>,
    /// What agents said about their mail; whoever said nothing is not in it.
    pub rules: BTreeMap<AgentId, Rules>,
}

impl MailState {
    /// Takes one more event into account.
    pub fn apply(&mut self, seq: Seq, at: Wall, event: &MailEvent) -> Result<(), FoldError> {
        match event {
            MailEvent::Sent(message) => self.send(seq, message)?,
            MailEvent::Read { agent, messages } => {
                for message in messages {
                    self.entry(seq, *agent, *message)?.read(at);
                }
            }
            MailEvent::Acknowledged { agent, message, from, settled } => {
                self.entry(seq, *agent, *message)?.acknowledge(at);
                if *settled {
                    self.entry(seq, *from, *message)?.standing = Standing::Kept;
                }
            }
            MailEvent::RulesSet { agent, rules } => {
                self.rules.insert(*agent, rules.clone());
            }
            MailEvent::Forgotten { up_to } => {
                self.messages.retain(|message, _| message > up_to);
                self.names.retain(|_, message| &*message > up_to);
                self.entries.retain(|(_, message), _| message > up_to);
            }
        }
        Ok(())
    }

    /// The message of that name.
    pub fn named(&self, id: &MessageId) -> Option<&Message> {
        self.messages.get(self.names.get(id)?)
    }

    /// Puts a message where it is found, and into no mailbox.
    pub fn keep(&mut self, message: Message) {
        self.names.insert(message.id.clone(), message.seq);
        self.messages.insert(message.seq, message);
    }

    /// What is said differently here and there, by name.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let messages: BTreeSet<&Seq> = self.messages.keys().chain(other.messages.keys()).collect();
        let entries: BTreeSet<&(AgentId, Seq)> = self.entries.keys().chain(other.entries.keys()).collect();
        let rules: BTreeSet<&AgentId> = self.rules.keys().chain(other.rules.keys()).collect();
        let changed = messages.into_iter().filter(|seq| self.messages.get(seq) != other.messages.get(seq));
        let changed = changed.map(|seq| format!("message {seq}"));
        let moved = entries.into_iter().filter(|key| self.entries.get(key) != other.entries.get(key));
        let moved = moved.map(|(agent, seq)| format!("message {seq} in the mailbox of {agent}"));
        let ruled = rules.into_iter().filter(|agent| self.rules.get(agent) != other.rules.get(agent));
        changed.chain(moved).chain(ruled.map(|agent| format!("mail rules of {agent}"))).collect()
    }

    fn send(&mut self, seq: Seq, message: &Message) -> Result<(), FoldError> {
        if message.seq != seq || self.names.contains_key(&message.id) {
            return Err(FoldError::Twice { seq: seq.0, id: message.id.to_string() });
        }
        self.entries.extend(message.entries().map(|entry| ((entry.agent, entry.seq), entry)));
        self.keep(message.clone());
        Ok(())
    }

    fn entry(&mut self, seq: Seq, agent: AgentId, message: Seq) -> Result<&mut Entry, FoldError> {
        let missing = FoldError::NoSuchMail { seq: seq.0, agent, message: message.0 };
        self.entries.get_mut(&(agent, message)).ok_or(missing)
    }
}
