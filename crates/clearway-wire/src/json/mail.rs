//! Messages as programs read them.

use super::{hex, integer, rfc3339};
use clearway_core::mail::{MailEvent, Message, Policy, Role, Topic};
use schemars::JsonSchema;
use serde::Serialize;

/// A message as its reader may see it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Message")]
pub struct MessageJson {
    /// Its id: for `read`, `ack` and `--thread`.
    pub id: String,
    /// Its place in the log, which orders messages.
    pub seq: u64,
    /// The id of the message that its thread began with.
    pub thread: String,
    /// Who wrote it.
    pub from: String,
    /// Whom it is addressed to.
    pub to: Vec<String>,
    /// Who is to know.
    pub cc: Vec<String>,
    /// Who is to know without the others knowing; whoever did not write it sees no more than itself here.
    pub bcc: Vec<String>,
    /// As what the reader has it: `to`, `cc`, `bcc`, `broadcast`, or `from` if it wrote it.
    pub kind: String,
    /// What it is about, in its writer's words.
    pub subject: Option<String>,
    /// What it is about, in one word.
    pub topic: Option<String>,
    /// `urgent`, `high`, `normal` or `low`.
    pub importance: String,
    /// Whether recipients are asked to acknowledge it.
    pub ack_required: bool,
    /// When it was sent.
    pub sent_at: String,
    /// When the reader read it.
    pub read_at: Option<String>,
    /// When the reader acknowledged it.
    pub acked_at: Option<String>,
    /// Its text, or as much of it as the answer has room for; null if the text is lost.
    pub body: Option<String>,
    /// How many bytes of the text are left out here: `read` shows all of it.
    pub body_bytes_left: u64,
    /// The size of the text.
    pub body_bytes: u64,
}

/// The facts of an event of mail. The text is not among them: it lies beside the log.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum MailFacts {
    /// `mail.sent`
    Sent {
        /// Its id.
        message: String,
        /// The message its thread began with, where it is this one. Which thread an answer is in would tell who got that
        /// blindly.
        thread: Option<String>,
        /// Who got it, and as what; blind copies are not listed.
        recipients: Vec<RecipientFacts>,
        /// Whether it went to everybody who was there.
        broadcast: bool,
        /// What it is about.
        subject: Option<String>,
        /// The same in one word.
        topic: Option<String>,
        /// How soon it wants to be read.
        importance: String,
        /// Whether recipients are asked to acknowledge it.
        ack_required: bool,
        /// BLAKE3 of its text.
        digest: String,
        /// The size of its text.
        bytes: u64,
    },
    /// `mail.read`
    Read {
        /// Who read.
        reader_id: String,
        /// Messages, by the seqs of their events.
        messages: Vec<u64>,
    },
    /// `mail.acknowledged`
    Acknowledged {
        /// Who took note.
        reader_id: String,
        /// The message, by the seq of its event.
        message_seq: u64,
        /// Whether everybody did who was asked to.
        settled: bool,
    },
    /// `mail.rules-set`
    RulesSet {
        /// From whom it takes mail: `open`, `auto`, `contacts` or `block`.
        policy: String,
        /// Whom it knows.
        contact_ids: Vec<String>,
    },
    /// `mail.forgotten`
    Forgotten {
        /// The latest message that is kept no longer, by the seq of its event.
        up_to: u64,
    },
}

/// One who got a message.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RecipientFacts {
    /// Who.
    pub agent_id: String,
    /// `to` or `cc`.
    pub role: String,
}

impl MailFacts {
    pub(super) fn new(event: &MailEvent) -> Self {
        match event {
            MailEvent::Sent(message) => Self::sent(message),
            MailEvent::Read { agent, messages } => Self::Read {
                reader_id: agent.to_string(),
                messages: messages.iter().map(|message| integer(message.0)).collect(),
            },
            MailEvent::Acknowledged { agent, message, settled, .. } => Self::Acknowledged {
                reader_id: agent.to_string(),
                message_seq: integer(message.0),
                settled: *settled,
            },
            MailEvent::RulesSet { rules, .. } => Self::RulesSet {
                policy: Policy::word(rules.policy).to_owned(),
                contact_ids: rules.contacts.iter().map(ToString::to_string).collect(),
            },
            MailEvent::Forgotten { up_to } => Self::Forgotten { up_to: integer(up_to.0) },
        }
    }

    fn sent(message: &Message) -> Self {
        let facts = |one: &clearway_core::mail::Recipient| RecipientFacts {
            agent_id: one.agent.to_string(),
            role: one.role.word().to_owned(),
        };
        // Whoever reads the log is not told either who got it blindly.
        let visible = message.recipients.iter().filter(|one| one.role != Role::Bcc);
        Self::Sent {
            message: message.id.to_string(),
            thread: (message.thread == message.id).then(|| message.thread.to_string()),
            recipients: visible.map(facts).collect(),
            broadcast: message.broadcast,
            subject: message.subject.clone(),
            topic: message.topic.as_ref().map(Topic::as_str).map(str::to_owned),
            importance: message.importance.word().to_owned(),
            ack_required: message.wants_ack,
            digest: hex(&message.digest),
            bytes: integer(message.bytes),
        }
    }
}

impl MessageJson {
    /// When something happened, as programs read it.
    pub fn at(wall: Option<clearway_core::time::Wall>) -> Option<String> {
        wall.map(rfc3339)
    }
}
