//! What the log says of mail.

use super::{Message, Rules};
use crate::event::Durability;
use crate::ids::{AgentId, Seq};

/// Something that happened to mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MailEvent {
    /// A message was sent.
    Sent(Box<Message>),
    /// An agent read messages.
    Read {
        /// Who.
        agent: AgentId,
        /// Which.
        messages: Vec<Seq>,
    },
    /// A recipient took note of a message.
    Acknowledged {
        /// Who.
        agent: AgentId,
        /// Which.
        message: Seq,
        /// Who wrote it.
        from: AgentId,
        /// Whether nobody else is still asked to.
        settled: bool,
    },
    /// An agent said from whom it takes mail.
    RulesSet {
        /// Who.
        agent: AgentId,
        /// From whom.
        rules: Rules,
    },
    /// Old messages were forgotten.
    Forgotten {
        /// The latest of them.
        up_to: Seq,
    },
}

impl MailEvent {
    /// Every kind.
    pub const KINDS: [&'static str; 5] =
        ["mail.sent", "mail.read", "mail.acknowledged", "mail.rules-set", "mail.forgotten"];

    /// The stable name of the kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Sent(_) => "mail.sent",
            Self::Read { .. } => "mail.read",
            Self::Acknowledged { .. } => "mail.acknowledged",
            Self::RulesSet { .. } => "mail.rules-set",
            Self::Forgotten { .. } => "mail.forgotten",
        }
    }

    /// What was told to somebody, and that it was, survives the loss of power.
    pub fn durability(&self) -> Durability {
        Durability::Full
    }
}
