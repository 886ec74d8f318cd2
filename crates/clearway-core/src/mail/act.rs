//! What can be done with mail, and what that comes to.

use super::{Importance, MessageId, Policy, Rules, Topic};
use crate::agent::AgentName;
use crate::ids::{AgentId, Seq};

/// What can be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Send a message.
    Send(Box<Send>),
    /// Mark messages as read.
    Read(Vec<MessageId>),
    /// Say that one took note of messages.
    Acknowledge(Vec<MessageId>),
    /// Say from whom one takes mail.
    SetRules(RulesChange),
    /// Forget messages up to an event.
    Forget(Seq),
}

/// What a verb of mail is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailVerb {
    /// Send to some.
    Send,
    /// Send to everybody.
    Broadcast,
    /// Read.
    Read,
    /// Acknowledge.
    Acknowledge,
    /// Change from whom one takes mail.
    Policy,
    /// Forget.
    Forget,
}

impl MailVerb {
    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::Broadcast => "broadcast",
            Self::Read => "read",
            Self::Acknowledge => "ack",
            Self::Policy => "policy",
            Self::Forget => "sweep",
        }
    }
}

impl Act {
    /// What it is called.
    pub fn verb(&self) -> MailVerb {
        match self {
            Self::Send(send) if send.everyone => MailVerb::Broadcast,
            Self::Send(_) => MailVerb::Send,
            Self::Read(_) => MailVerb::Read,
            Self::Acknowledge(_) => MailVerb::Acknowledge,
            Self::SetRules(_) => MailVerb::Policy,
            Self::Forget(_) => MailVerb::Forget,
        }
    }

    /// What it names, for the record of a denial.
    pub fn subject(&self) -> String {
        let words = |words: Vec<String>| words.join(" ");
        match self {
            Self::Send(send) => send.addressed(),
            Self::Read(ids) | Self::Acknowledge(ids) => words(ids.iter().map(ToString::to_string).collect()),
            Self::SetRules(_) | Self::Forget(_) => String::new(),
        }
    }
}

/// A message to be sent. Its words are within their limits, and secrets were taken out of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Send {
    /// Its name; one is drawn without it.
    pub id: Option<MessageId>,
    /// Whom it is addressed to.
    pub to: Vec<AgentName>,
    /// Who is to know.
    pub cc: Vec<AgentName>,
    /// Who is to know without anybody knowing of it.
    pub bcc: Vec<AgentName>,
    /// Whether it goes to everybody who is there instead.
    pub everyone: bool,
    /// What it is about.
    pub subject: Option<String>,
    /// What it says.
    pub text: String,
    /// The digest of what it says.
    pub digest: [u8; 32],
    /// What it is about, in one word.
    pub topic: Option<Topic>,
    /// How soon it wants to be read.
    pub importance: Importance,
    /// Whether every recipient is asked to say that it took note.
    pub wants_ack: bool,
    /// A message of the thread it belongs to.
    pub thread: Option<MessageId>,
}

impl Send {
    /// Everybody it names.
    pub fn named(&self) -> impl Iterator<Item = &AgentName> {
        self.to.iter().chain(&self.cc).chain(&self.bcc)
    }

    /// Those that everybody may know of, as a text.
    pub(crate) fn addressed(&self) -> String {
        self.to.iter().chain(&self.cc).map(AgentName::as_str).collect::<Vec<_>>().join(" ")
    }

    /// Messages it names.
    pub fn messages(&self) -> impl Iterator<Item = &MessageId> {
        self.id.iter().chain(&self.thread)
    }
}

/// What an agent changes about its mail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RulesChange {
    /// From whom it takes any, from now on.
    pub policy: Option<Policy>,
    /// Contacts it adds.
    pub add: Vec<AgentName>,
    /// Contacts it takes out.
    pub remove: Vec<AgentName>,
}

/// What an act came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A message was sent.
    Sent(Box<Sent>),
    /// These are read.
    Read(Vec<MessageId>),
    /// Messages are acknowledged.
    Acknowledged {
        /// By this call.
        now: Vec<MessageId>,
        /// Before it.
        already: Vec<MessageId>,
    },
    /// This is from whom mail is taken, with the contacts' names.
    Rules {
        /// From whom.
        rules: Rules,
        /// Who the contacts are.
        contacts: Vec<(AgentId, AgentName)>,
    },
    /// Old messages are forgotten.
    Forgotten,
}

/// A message that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Its name.
    pub id: MessageId,
    /// Its thread.
    pub thread: MessageId,
    /// Its event.
    pub seq: Seq,
    /// Whom it is addressed to.
    pub to: Vec<AgentName>,
    /// Who is to know.
    pub cc: Vec<AgentName>,
    /// Who is to know without anybody knowing of it.
    pub bcc: Vec<AgentName>,
    /// Who of everybody takes no mail of its writer.
    pub denied: Vec<AgentName>,
    /// Whether it had been sent before, and this is its first answer.
    pub again: bool,
}
