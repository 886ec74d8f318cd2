//! A message, and the words it is described with.

use super::limits::TOPIC_CHARS_MAX;
use super::{Entry, Role, Standing};
use crate::agent::AgentName;
use crate::ids::{AgentId, Entropy, Id, Seq};
use crate::text::is_plain_name;
use crate::time::Wall;
use std::fmt;

/// Names one message in its scope. Whoever sends may choose it; the same id again is the same message or an error.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(String);

impl MessageId {
    /// Draws a fresh id.
    pub fn draw(entropy: &mut Entropy<'_>) -> Self {
        Self(Id::draw(entropy).to_string())
    }

    /// Reads an id: up to 64 letters, digits, `.`, `_` and `-`.
    pub fn parse(text: &str) -> Option<Self> {
        is_plain_name(text).then(|| Self(text.to_owned()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

/// What a message is about, in one word for filters. Capital letters do not tell two of them apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Topic(String);

impl Topic {
    /// Reads a topic: letters and digits of any script, `.`, `_`, `-`, `/` and `:`.
    pub fn parse(text: &str) -> Option<Self> {
        let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | ':');
        let fits = !text.is_empty() && text.chars().count() <= TOPIC_CHARS_MAX && text.chars().all(is_plain);
        fits.then(|| Self(text.to_lowercase()))
    }

    /// The topic as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// How soon a message wants to be read: its place in an inbox, and whether it may go beyond what an agent is told in an
/// hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Importance {
    /// Before everything else, and told at the next tool call whatever was told before.
    Urgent,
    /// Before what is ordinary.
    High,
    /// As it comes.
    #[default]
    Normal,
    /// After everything else, and never announced.
    Low,
}

impl Importance {
    /// All of them, in the order in which they are read.
    pub const ALL: [Self; 4] = [Self::Urgent, Self::High, Self::Normal, Self::Low];

    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Urgent => "urgent",
            Self::High => "high",
            Self::Normal => "normal",
            Self::Low => "low",
        }
    }

    /// The one of that word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|importance| importance.word() == word)
    }

    /// Its place in the order in which messages are read.
    pub fn rank(self) -> u8 {
        self as u8
    }
}

/// One who gets a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipient {
    /// Who.
    pub agent: AgentId,
    /// As what.
    pub role: Role,
}

/// A message without its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The event that records it, and its place among all messages.
    pub seq: Seq,
    /// Its name.
    pub id: MessageId,
    /// The message its thread began with; itself, if it begins one.
    pub thread: MessageId,
    /// Who wrote it.
    pub from: AgentId,
    /// Who got it, each agent once.
    pub recipients: Vec<Recipient>,
    /// Whether it went to everybody who was there.
    pub broadcast: bool,
    /// What it is about, in its writer's words.
    pub subject: Option<String>,
    /// What it is about, in one word.
    pub topic: Option<Topic>,
    /// How soon it wants to be read.
    pub importance: Importance,
    /// Whether every recipient is asked to say that it took note.
    pub wants_ack: bool,
    /// The digest of its text.
    pub digest: [u8; 32],
    /// The size of its text.
    pub bytes: u64,
    /// When, for people.
    pub at: Wall,
}

impl Message {
    /// Whether an agent wrote it or got it.
    pub fn is_of(&self, agent: AgentId) -> bool {
        self.from == agent || self.role_of(agent).is_some()
    }

    /// As what an agent got it.
    pub fn role_of(&self, agent: AgentId) -> Option<Role> {
        self.recipients.iter().find(|recipient| recipient.agent == agent).map(|recipient| recipient.role)
    }

    /// Those whom `reader` may know of as recipients: nobody but the writer and themselves sees who got it blindly.
    pub fn visible_to(&self, reader: AgentId) -> impl Iterator<Item = &Recipient> {
        let sees_all = self.from == reader;
        self.recipients.iter().filter(move |one| sees_all || one.role != Role::Bcc || one.agent == reader)
    }

    /// Whether another message says the same to the same: only their places in the log may differ.
    pub fn says_the_same_as(&self, other: &Self) -> bool {
        let placed = Self { seq: other.seq, at: other.at, ..self.clone() };
        match self.broadcast && other.broadcast {
            // Who was there then is not who is there now.
            true => Self { recipients: other.recipients.clone(), ..placed } == *other,
            false => placed == *other,
        }
    }

    /// The mailbox entries it begins with: one of its writer, and one of each recipient.
    pub fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        let standing = if self.wants_ack { Standing::Awaited } else { Standing::Kept };
        let own = self.entry(self.from, Role::From, standing);
        let others = self.recipients.iter().map(|one| self.entry(one.agent, one.role, Standing::Unread));
        std::iter::once(own).chain(others)
    }

    fn entry(&self, agent: AgentId, role: Role, standing: Standing) -> Entry {
        Entry {
            agent,
            seq: self.seq,
            importance: self.importance,
            role,
            standing,
            owes_ack: self.wants_ack && role != Role::From,
            read_at: None,
            acked_at: None,
        }
    }
}

/// The first line of a text, for lists: what a message without a subject is shown by.
pub(crate) fn first_line(text: &str, chars_max: usize) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    match line.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// The names of recipients in one role.
pub(crate) fn names_in(
    role: Role,
    recipients: &[Recipient],
    name_of: impl Fn(AgentId) -> AgentName,
) -> Vec<AgentName> {
    recipients.iter().filter(|one| one.role == role).map(|one| name_of(one.agent)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_differ_by_more_than_capital_letters() {
        assert_eq!(Topic::parse("BUILD"), Topic::parse("build"));
        for text in ["", "a b", "a\nb", "\u{1b}[31m", &"x".repeat(TOPIC_CHARS_MAX + 1)] {
            assert_eq!(Topic::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn importance_is_the_order_of_reading() {
        let ranks: Vec<u8> = Importance::ALL.iter().map(|importance| importance.rank()).collect();
        assert_eq!(ranks, [0, 1, 2, 3]);
        for importance in Importance::ALL {
            assert_eq!(Importance::from_word(importance.word()), Some(importance));
        }
    }

    #[test]
    fn the_first_line_is_short_and_not_empty_if_any_is_not() {
        assert_eq!(first_line("\n  one \ntwo", 80), "one");
        assert_eq!(first_line(&"ä".repeat(9), 4), "ääää…");
        assert_eq!(first_line("", 4), "");
    }
}
