//! Answers about mail.

use crate::json::MessageJson;
use schemars::JsonSchema;
use serde::Serialize;

/// `send` and `broadcast`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SendReply {
    /// The id of the message. Sending the same under the same id again answers with this once more.
    pub id: String,
    /// The id of the message that its thread began with.
    pub thread: String,
    /// Its place in the log.
    pub seq: u64,
    /// Whom it is addressed to.
    pub to: Vec<String>,
    /// Who is to know.
    pub cc: Vec<String>,
    /// Who is to know without the others knowing.
    pub bcc: Vec<String>,
    /// Who of everybody takes no mail of the caller.
    pub denied: Vec<String>,
}

/// `inbox`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InboxReply {
    /// Messages, the most important first and among these the oldest; with `--all` the newest first.
    pub messages: Vec<MessageJson>,
    /// How many more there are: the next call shows them.
    pub more: u64,
    /// Whether there may be even more than that.
    pub more_than_counted: bool,
    /// Where the next page begins: a value for `--before` (with `--all`) or `--skip` (with `--peek`).
    pub next: Option<u64>,
    /// Whether what is shown here counts as read from now on.
    pub marked_read: bool,
}

/// `read`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReadReply {
    /// The messages with all of their texts.
    pub messages: Vec<MessageJson>,
}

/// `ack`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AckReply {
    /// Acknowledged by this call.
    pub acknowledged: Vec<String>,
    /// Acknowledged before.
    pub already_acknowledged: Vec<String>,
}

/// `thread`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ThreadReply {
    /// The id of the message that it began with.
    pub thread: String,
    /// Messages of it that the caller wrote or got, oldest first.
    #[serde(flatten)]
    pub page: MessagesReply,
}

/// A page of messages.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MessagesReply {
    /// The messages.
    pub messages: Vec<MessageJson>,
    /// How many more were found than the answer has room for.
    pub more: u64,
    /// What `--before` takes to go on from here; null at the end.
    pub next: Option<u64>,
}

/// `threads`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ThreadsReply {
    /// Threads that the caller is part of, the one with the newest message first.
    pub threads: Vec<ThreadJson>,
    /// What `--before` takes to see older ones; null at the end.
    pub next: Option<u64>,
}

/// A thread.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ThreadJson {
    /// The id of the message that it began with.
    pub thread: String,
    /// The subject of its newest message that has one.
    pub subject: Option<String>,
    /// How many messages of it the caller has.
    pub messages: u64,
    /// How many of them are unread.
    pub unread: u64,
    /// Everybody whom the caller knows to be part of it.
    pub with: Vec<String>,
    /// The highest importance among them.
    pub importance: String,
    /// Whether the caller is still asked to acknowledge one.
    pub ack_owed: bool,
    /// When its newest message was sent.
    pub last_at: String,
}

/// `search`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SearchReply {
    /// Messages that hold every word, newest first.
    #[serde(flatten)]
    pub page: MessagesReply,
    /// How many messages were looked through.
    pub searched: u64,
}

/// `stale-acks`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StaleAcksReply {
    /// Messages that somebody was asked to acknowledge and did not, oldest first.
    pub stale: Vec<StaleAckJson>,
    /// How many more there are; a message of which nobody is listed counts as one.
    pub more: u64,
}

/// A message that is not acknowledged.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StaleAckJson {
    /// The message.
    pub id: String,
    /// Who wrote it.
    pub from: String,
    /// Who has not acknowledged it.
    pub agent: String,
    /// As what that agent has it.
    pub kind: String,
    /// What it is about.
    pub subject: Option<String>,
    /// How soon it wanted to be read.
    pub importance: String,
    /// When it was sent.
    pub sent_at: String,
    /// When that agent read it.
    pub read_at: Option<String>,
    /// How long ago it was sent.
    pub age_ms: u64,
}

/// `policy` and `contacts`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MailRulesReply {
    /// From whom the caller takes mail: `open`, `auto`, `contacts` or `block`.
    pub policy: String,
    /// Whom it takes mail from under every policy but `block`.
    pub contacts: Vec<String>,
}
