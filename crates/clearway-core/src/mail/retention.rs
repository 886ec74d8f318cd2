//! How long messages are kept.

use super::Message;
use super::limits::{MESSAGE_KEPT_MS, MESSAGES_PER_SCOPE_MAX};
use crate::ids::Seq;
use crate::time::Wall;

/// The latest of the oldest messages that is kept no longer: it is too old, or there are too many after it.
pub fn outlived<'a>(oldest: impl IntoIterator<Item = &'a Message>, count: u64, now: Wall) -> Option<Seq> {
    let surplus = count.saturating_sub(MESSAGES_PER_SCOPE_MAX);
    let kept_ms = i64::try_from(MESSAGE_KEPT_MS).unwrap_or(i64::MAX);
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
        let at = |now, count| outlived(&oldest, count, Wall(now)).map(|seq| seq.0);
        assert_eq!(at(month, 3), None);
        assert_eq!(at(month + 1, 3), Some(3));
        assert_eq!(at(month + 11, 3), Some(5));
        assert_eq!(at(0, MESSAGES_PER_SCOPE_MAX + 2), Some(5));
    }
}
