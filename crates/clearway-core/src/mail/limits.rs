//! Every limit of mail, by name and with its unit.

/// Bytes of a message's text.
pub const BODY_BYTES_MAX: usize = 100 * 1_024;
/// Characters of a subject.
pub const SUBJECT_CHARS_MAX: usize = 200;
/// Characters of a topic.
pub const TOPIC_CHARS_MAX: usize = 64;
/// Recipients that one message names.
pub const RECIPIENTS_MAX: usize = 100;
/// Agents that one broadcast reaches.
pub const BROADCAST_RECIPIENTS_MAX: usize = 1_000;
/// Broadcasts of one agent within [`BROADCASTS_MS`].
pub const BROADCASTS_MAX: usize = 10;
/// The span that [`BROADCASTS_MAX`] is counted in.
pub const BROADCASTS_MS: u64 = 60 * 1_000;
/// Contacts of one agent.
pub const CONTACTS_MAX: usize = 100;
/// Messages that one call marks as read or acknowledges.
pub const MESSAGES_PER_REQUEST_MAX: usize = 256;
/// Characters of a subject, or of a text's first line, that an agent is shown at a tool call.
pub const ANNOUNCED_CHARS_MAX: usize = 80;

/// Messages that one scope keeps where nothing else is configured; beyond that the oldest are forgotten.
pub const MESSAGES_PER_SCOPE_MAX: u64 = 1_000_000;
/// How long a message is kept where nothing else is configured.
pub const MESSAGE_KEPT_MS: u64 = 30 * 24 * 60 * 60 * 1_000;
/// Old messages are looked for once every so many revisions.
pub const FORGET_EVERY: u64 = 512;

/// Bytes of one answer that lists messages.
pub const ANSWER_BYTES_MAX: usize = 16 * 1_024;
/// Bytes of a text that a list shows; the rest is read by the message's id.
pub const SHOWN_BYTES_MAX: usize = 2_000;
/// Bytes that such a part of a text takes in an answer, with what is put around and between its lines.
pub const SHOWN_COST_MAX: usize = 4_000;
/// Messages of a mailbox that one call looks through.
pub const SCAN_MAX: usize = 10_000;
/// Messages of a mailbox whose text one call looks through.
pub const SEARCHED_MAX: usize = 2_000;
/// Threads, or messages that are not acknowledged, in one answer.
pub const ROWS_MAX: usize = 100;
/// After how long a message that is not acknowledged is listed as stale.
pub const STALE_ACK_MS: u64 = 10 * 60 * 1_000;
