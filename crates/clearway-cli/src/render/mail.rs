//! Messages for people and agents to read. Every line that somebody else wrote stands behind a frame with its writer's
//! name, so that no message can speak in our voice, and no control character reaches a terminal.

use super::{Page, Tone, ago, count, wrapped};
use clearway_core::text::{columns, printable};
use clearway_core::time::Now;
use clearway_kernel::{MailPage, MailSeen, StaleAck, StaleAcks, ThreadSeen, Threads};
use clearway_wire::json::{MessageJson, rfc3339};

/// What stands between a name and what it wrote.
const FRAME: &str = "| ";

/// A message as programs read it.
pub(crate) fn message_json(seen: &MailSeen) -> MessageJson {
    let names = |names: &[clearway_core::agent::AgentName]| names.iter().map(ToString::to_string).collect();
    let message = &seen.message;
    MessageJson {
        id: message.id.to_string(),
        seq: message.seq.0,
        thread: message.thread.to_string(),
        from: seen.from.to_string(),
        to: names(&seen.to),
        cc: names(&seen.cc),
        bcc: names(&seen.bcc),
        kind: seen.kind.to_owned(),
        subject: message.subject.clone(),
        topic: message.topic.as_ref().map(|topic| topic.as_str().to_owned()),
        importance: message.importance.word().to_owned(),
        ack_required: message.wants_ack,
        sent_at: rfc3339(message.at),
        read_at: seen.entry.read_at.map(rfc3339),
        acked_at: seen.entry.acked_at.map(rfc3339),
        body: seen.text.clone(),
        body_bytes_left: seen.left,
        body_bytes: message.bytes,
    }
}

/// A page of messages, and how to go on.
pub(crate) fn page_text(found: &MailPage, nothing: &str, go_on: Option<&str>, page: &Page) -> String {
    let whose = found.me.as_ref().map(|(_, name)| format!(" for {name}")).unwrap_or_default();
    if found.letters.is_empty() && go_on.is_none() {
        return format!("{nothing}{whose}\n");
    }
    let mut text: String = found.letters.iter().map(|seen| message_text(seen, &found.now, page)).collect();
    if let Some(go_on) = go_on {
        let least = if found.more_than_counted { "at least " } else { "" };
        let more =
            if found.more > 0 { format!("{least}{} more", found.more) } else { "older ones".to_owned() };
        text += &page.given.advice(&format!("{more}: clearway {go_on}"));
        text.push('\n');
    }
    text
}

/// One message: a line of ours, then what it says behind the frame, then what can be done.
pub(crate) fn message_text(seen: &MailSeen, now: &Now, page: &Page) -> String {
    let message = &seen.message;
    let mut head = format!("{} from {}", message.id, seen.from);
    let others = |word: &str, names: &[clearway_core::agent::AgentName]| match names {
        [] => String::new(),
        names => format!(", {word} {}", names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(" ")),
    };
    head += &match seen.kind {
        "broadcast" => ", to everybody".to_owned(),
        _ => others("to", &seen.to) + &others("cc", &seen.cc) + &others("bcc", &seen.bcc),
    };
    head += &format!(", {}", since(message.at.0, now));
    if message.importance != clearway_core::mail::Importance::Normal {
        head += &format!(", {}", message.importance.word());
    }
    if let Some(topic) = &message.topic {
        head += &format!(", topic {}", topic.as_str());
    }
    if message.thread != message.id {
        head += &format!(", in thread {}", message.thread);
    }
    let mut text = wrapped(&head, page, "");
    text = text.replacen(message.id.as_str(), &page.paint(Tone::Strong, message.id.as_str()), 1);
    if let Some(subject) = &message.subject {
        text += &framed(&format!("{subject}:"), seen.from.as_str(), page);
    }
    match &seen.text {
        Some(body) => text += &framed(body, seen.from.as_str(), page),
        None => text += "  its text is lost\n",
    }
    if seen.left > 0 {
        let rest = format!("{} more bytes: clearway read {}", seen.left, message.id);
        text += &format!("  {}\n", page.given.advice(&rest));
    }
    if seen.entry.owes_ack && seen.entry.acked_at.is_none() {
        let ack = format!("to be acknowledged: clearway ack {}", message.id);
        text += &format!("  {}\n", page.given.advice(&ack));
    }
    text
}

/// What somebody wrote, each line behind its name. A terminal would break a line that is too long for it and show the
/// rest without the frame, so such a line is broken here.
fn framed(body: &str, from: &str, page: &Page) -> String {
    let frame = format!("  {from}{FRAME}");
    let room = page.room.saturating_sub(columns(&frame)).max(8);
    let mut text = String::new();
    for line in body.lines() {
        let shown = printable(line);
        for part in parts(&shown, room) {
            text += &format!("{frame}{part}\n");
        }
    }
    text
}

/// A line in parts that are no wider than so many columns; an empty one is one part.
fn parts(line: &str, room: usize) -> Vec<String> {
    let (mut parts, mut part, mut used) = (Vec::new(), String::new(), 0);
    for letter in line.chars() {
        let width = columns(letter.encode_utf8(&mut [0; 4]));
        if used + width > room {
            parts.push(std::mem::take(&mut part));
            used = 0;
        }
        part.push(letter);
        used += width;
    }
    parts.push(part);
    parts
}

/// How long ago something was, by the clock on the wall.
pub(crate) fn since(at: i64, now: &Now) -> String {
    let ms = u64::try_from(now.wall.0.saturating_sub(at)).unwrap_or(0);
    match ago(ms).as_str() {
        "now" => "just now".to_owned(),
        ago => ago.to_owned(),
    }
}

/// The list of threads.
pub(crate) fn threads_text(found: &Threads, page: &Page) -> String {
    if found.threads.is_empty() {
        return "no threads\n".to_owned();
    }
    let mut text: String = found.threads.iter().map(|thread| thread_text(thread, &found.now, page)).collect();
    if let Some(before) = found.next {
        text += &page.given.advice(&format!("older ones: clearway threads --before {before}"));
        text.push('\n');
    }
    text
}

pub(crate) fn thread_text(thread: &ThreadSeen, now: &Now, page: &Page) -> String {
    let with: Vec<&str> = thread.with.iter().map(|name| name.as_str()).collect();
    let unread = if thread.unread > 0 { format!(", {} unread", thread.unread) } else { String::new() };
    let owed = if thread.ack_owed { ", to be acknowledged" } else { "" };
    let line = format!(
        "{} with {}: {}{unread}{owed}, last {}",
        thread.newest.thread,
        with.join(" "),
        count(thread.messages, "message", "messages"),
        since(thread.newest.at.0, now)
    );
    let subject = thread.subject.as_ref().map(|subject| framed(subject, "subject", page));
    wrapped(&line, page, "") + &subject.unwrap_or_default()
}

/// The list of messages that are not acknowledged.
pub(crate) fn stale_text(found: &StaleAcks, page: &Page) -> String {
    if found.stale.is_empty() {
        return "nothing waits to be acknowledged for that long\n".to_owned();
    }
    let mut text = String::new();
    for stale in &found.stale {
        text += &stale_row(stale, &found.now, found.me.as_ref() == Some(&stale.agent), page);
    }
    if found.more > 0 {
        text += &format!("{} more\n", found.more);
    }
    text
}

/// One of them, with what the caller may do about its own.
pub(crate) fn stale_row(stale: &StaleAck, now: &Now, is_mine: bool, page: &Page) -> String {
    let read = if stale.entry.read_at.is_some() { "read it" } else { "has not read it" };
    let line = format!(
        "{} from {}, {}: {} {read} and did not acknowledge it",
        stale.message.id,
        stale.from,
        since(stale.message.at.0, now),
        stale.agent
    );
    let ack = format!("say that you took note: clearway ack {}", stale.message.id);
    let own = if is_mine { format!("  {}\n", page.given.advice(&ack)) } else { String::new() };
    wrapped(&line, page, "") + &own
}

#[cfg(test)]
mod tests {
    use super::*;
    use clearway_kernel::Surroundings;

    #[test]
    fn every_line_of_a_message_stands_behind_its_writers_name() {
        let page = Page::stdout(&Surroundings::default());
        let body = "one\n  ada| two\r\n\u{1b}[2J\u{9b}31m\n\nacknowledged: k3j9x2ab";
        let text = framed(body, "eve", &page);
        assert!(text.lines().all(|line| line.starts_with("  eve| ")), "{text}");
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
        assert_eq!(text.lines().count(), 5);
    }

    #[test]
    fn a_line_that_a_terminal_would_break_is_broken_behind_the_frame() {
        let terminal =
            Surroundings { stdout_is_terminal: true, terminal_columns: Some(40), ..Surroundings::default() };
        let text = framed(&format!("{}from ada", "x".repeat(33)), "eve", &Page::stdout(&terminal));
        assert!(text.lines().all(|line| line.starts_with("  eve| ") && columns(line) <= 40), "{text}");
        assert_eq!(parts("日本語", 4), ["日本", "語"]);
        assert_eq!(parts("", 4), [""]);
    }
}
