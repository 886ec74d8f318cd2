//! A message as it stands in one mailbox.

use super::Importance;
use crate::ids::{AgentId, Seq};
use crate::time::Wall;

/// As what somebody has a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// It wrote it.
    From,
    /// It is addressed.
    To,
    /// It is to know.
    Cc,
    /// It is to know, and nobody is to know of that.
    Bcc,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::From, Self::To, Self::Cc, Self::Bcc];

    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Self::From => "from",
            Self::To => "to",
            Self::Cc => "cc",
            Self::Bcc => "bcc",
        }
    }

    /// The one of that word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.word() == word)
    }
}

/// What a message in a mailbox still waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// Nothing.
    Kept,
    /// To be read.
    Unread,
    /// To be acknowledged by the mailbox's agent.
    Owed,
    /// To be acknowledged by others.
    Awaited,
}

impl Standing {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Kept, Self::Unread, Self::Owed, Self::Awaited];

    /// Its number in stored rows; only what waits for something has one above zero.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The one of that number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|standing| standing.number() == number)
    }
}

/// A message in one mailbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Whose mailbox.
    pub agent: AgentId,
    /// The message.
    pub seq: Seq,
    /// How soon it wants to be read.
    pub importance: Importance,
    /// As what its agent has it.
    pub role: Role,
    /// What it waits for.
    pub standing: Standing,
    /// Whether its agent is asked to acknowledge it.
    pub owes_ack: bool,
    /// When it was read.
    pub read_at: Option<Wall>,
    /// When it was acknowledged.
    pub acked_at: Option<Wall>,
}

impl Entry {
    /// Takes note that it was read. The first time counts.
    pub(super) fn read(&mut self, at: Wall) {
        if self.standing == Standing::Unread {
            self.standing = if self.owes_ack { Standing::Owed } else { Standing::Kept };
            self.read_at = Some(at);
        }
    }

    /// Takes note that it was acknowledged, and so read. The first time counts.
    pub(super) fn acknowledge(&mut self, at: Wall) {
        self.standing = Standing::Kept;
        self.read_at = self.read_at.or(Some(at));
        self.acked_at = self.acked_at.or(Some(at));
    }
}
