//! What of the mail a command or a look asks for, as data, and what it is answered with.

use super::{Entry, Message, MessageId, Rules};
use crate::ids::{AgentId, Seq};
use std::collections::BTreeMap;

/// The mail that a command has to see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MailRead {
    /// Messages by their ids, with every mailbox they are in.
    pub ids: Vec<MessageId>,
    /// What is in one mailbox.
    pub mailbox: Option<Mailbox>,
    /// What the agents of the slice said about their mail.
    pub rules: bool,
    /// Every agent that did not end and gave a sign of life in this boot.
    pub everyone: bool,
    /// Whether the texts are read as well.
    pub texts: bool,
    /// Whose mailbox alone the named messages are looked up in.
    pub alone: Option<AgentId>,
    /// So many of the oldest messages of the scope, in no mailbox.
    pub oldest: usize,
    /// How many messages there are.
    pub count: bool,
}

impl MailRead {
    /// Whether it asks for nothing.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// A part of one mailbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mailbox {
    /// Whose.
    pub of: AgentId,
    /// Which part.
    pub which: Which,
    /// How many messages at most.
    pub limit: usize,
}

/// Which part of a mailbox, and in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// What is unread, in the order of importance and then of time.
    Unread,
    /// What waits to be acknowledged, by its agent or by others, in no particular order.
    Unsettled,
    /// Everything before an instant of the log, newest first.
    Before(Seq),
}

/// A message, in mailboxes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// The message.
    pub message: Message,
    /// It in mailboxes: in every one if it was named, in one if that was asked for.
    pub entries: Vec<Entry>,
    /// Its text, if that was asked for and is still what was sent.
    pub text: Option<String>,
}

impl Letter {
    /// It in the mailbox of one agent.
    pub fn entry_of(&self, agent: AgentId) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.agent == agent)
    }
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MailSlice {
    /// Messages, in the order that was asked for.
    pub letters: Vec<Letter>,
    /// What agents said about their mail.
    pub rules: BTreeMap<AgentId, Rules>,
    /// How many messages there are.
    pub count: u64,
}

impl MailSlice {
    /// The message of that name.
    pub fn named(&self, id: &MessageId) -> Option<&Letter> {
        self.letters.iter().find(|letter| letter.message.id == *id)
    }

    /// Takes in what a second reading found.
    pub fn merge(&mut self, other: Self) {
        let known: Vec<Seq> = self.letters.iter().map(|letter| letter.message.seq).collect();
        self.letters.extend(other.letters.into_iter().filter(|new| !known.contains(&new.message.seq)));
        self.rules.extend(other.rules);
        self.count = self.count.max(other.count);
    }
}
