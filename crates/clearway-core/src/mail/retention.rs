//! How long messages are kept.

use super::Message;
use super::limits::{MESSAGE_KEPT_MS, MESSAGES_PER_SCOPE_MAX};
use crate::ids::Seq;
use crate::time::Wall;

/// How many messages a scope keeps, and each for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// How long.
    pub kept_ms: u64,
    /// How many; beyond that the oldest go.
    pub messages_max: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Self { kept_ms: MESSAGE_KEPT_MS, messages_max: MESSAGES_PER_SCOPE_MAX }
    }
}

/// The latest of the oldest messages that is kept no longer: it is too old, or there are too many after it.
pub fn outlived<'a>(
    oldest: impl IntoIterator<Item = &'a Message>,
    count: u64,
    now: Wall,
    retention: Retention,
) -> Option<Seq> {
    let surplus = count.saturating_sub(retention.messages_max);
    let kept_ms = i64::try_from(retention.kept_ms).unwrap_or(i64::MAX);
    let is_over =
        |(place, message): &(u64, &Message)| *place < surplus || now.0.saturating_sub(message.at.0) > kept_ms;
    (0..).zip(oldest).take_while(is_over).map(|(_, message)| message.seq).last()
}

#[cfg(test)]
mod tests {
    use super::super::{Importance, MessageId};
    use super::*;
    use crate::ids::AgentId;

    fn message(seq: u64, at: i64) -> Message {
        let (id, from) = (MessageId::parse("m").unwrap(), AgentId::parse("abcdefgh").unwrap());
        Message {
            seq: Seq(seq),
            thread: id.clone(),
            id,
            from,
            recipients: Vec::new(),
            broadcast: false,
            subject: None,
            topic: None,
            importance: Importance::Normal,
            wants_ack: false,
            digest: [0; 32],
            bytes: 0,
            at: Wall(at),
        }
    }

    #[test]
    fn messages_go_by_age_and_by_number_oldest_first() {
        let month = i64::try_from(MESSAGE_KEPT_MS).unwrap();
        let oldest = [message(3, 0), message(5, 10), message(9, 20)];
        let at = |now, count| outlived(&oldest, count, Wall(now), Retention::default()).map(|seq| seq.0);
        assert_eq!(at(month, 3), None);
        assert_eq!(at(month + 1, 3), Some(3));
        assert_eq!(at(month + 11, 3), Some(5));
        assert_eq!(at(0, MESSAGES_PER_SCOPE_MAX + 2), Some(5));
        let few = Retention { kept_ms: 5, messages_max: 2 };
        let kept = |now, count| outlived(&oldest, count, Wall(now), few).map(|seq| seq.0);
        assert_eq!([kept(0, 3), kept(6, 2), kept(16, 2), kept(5, 2)], [Some(3), Some(3), Some(5), None]);
    }
}
