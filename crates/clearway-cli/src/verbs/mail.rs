//! `send`, `inbox`, `ack` and what else there is to do with mail.

use super::{Done, settled};
use crate::Host;
use crate::arguments::{
    BroadcastFlags, ContactsFlags, InboxFlags, MessageFlags, PolicyFlags, SaidFlags, SearchFlags, SendFlags,
    StaleAcksFlags, ThreadFlags, ThreadsFlags,
};
use crate::console::{Answer, Console, Problem, document};
use crate::given::Given;
use crate::render::mail::{
    message_json, message_text, page_text, stale_row, stale_text, thread_text, threads_text,
};
use crate::render::{Page, Tone, notices, wrapped};
use clearway_core::failure::Failure;
use clearway_core::mail::{self, BODY_BYTES_MAX, MessageId, Policy};
use clearway_core::slug::Slug;
use clearway_core::time::Now;
use clearway_kernel::{
    InboxWords, MailPage, MailSeen, Reply, RulesWords, SendWords, Session, StaleAck, StaleAcks, ThreadSeen,
    Threads, mail_answer,
};
use clearway_wire::json::{
    AckReply, Acted, Actor, InboxReply, Looked, MailRulesReply, MessageJson, MessagesReply, ReadReply,
    SearchReply, SendReply, StaleAckJson, StaleAcksReply, ThreadJson, ThreadReply, ThreadsReply, rfc3339,
};
use serde::Serialize;
use std::time::Duration;

/// How long whoever writes into our standard input may take.
const INPUT_WAIT: Duration = Duration::from_secs(30);

/// The text of a message, from standard input where that is said.
pub(super) fn text(host: &mut dyn Host, said: &SaidFlags) -> Result<String, Problem> {
    if said.text != "-" {
        return Ok(said.text.clone());
    }
    let too_large = || {
        let message = format!("the text of a message has at most {BODY_BYTES_MAX} bytes; this one has more");
        Failure::new(Slug::TooLarge, message).hint("put it into a file and name the file")
    };
    let bytes = host.input(BODY_BYTES_MAX, INPUT_WAIT).map_err(|_| too_large())?;
    Ok(String::from_utf8(bytes).map_err(|_| {
        Failure::new(Slug::Usage, "the text on standard input is not UTF-8").hint("send text")
    })?)
}

pub(super) fn send(session: &mut Session<'_>, flags: SendFlags, text: String) -> Result<Acts, Problem> {
    let importance = flags.said.importance();
    let words = SendWords {
        to: flags.to,
        cc: flags.cc,
        bcc: flags.bcc,
        everyone: false,
        text,
        subject: flags.said.subject,
        topic: flags.topic,
        importance,
        wants_ack: flags.said.ack,
        thread: flags.thread,
        id: flags.said.id,
    };
    Acts::new(session.send(words)?)
}

pub(super) fn broadcast(
    session: &mut Session<'_>,
    flags: BroadcastFlags,
    text: String,
) -> Result<Acts, Problem> {
    let importance = flags.said.importance();
    let words = SendWords {
        everyone: true,
        text,
        subject: flags.said.subject,
        topic: Some(flags.topic),
        importance,
        wants_ack: flags.said.ack,
        id: flags.said.id,
        ..SendWords::default()
    };
    Acts::new(session.send(words)?)
}

pub(super) fn ack(session: &mut Session<'_>, flags: &MessageFlags) -> Result<Acts, Problem> {
    Acts::new(session.acknowledge(&flags.ids)?)
}

pub(super) fn policy(session: &mut Session<'_>, flags: &PolicyFlags) -> Result<Acts, Problem> {
    let policy = flags.policy.map(crate::arguments::PolicyWord::policy);
    Acts::new(session.mail_rules(&RulesWords { policy, ..RulesWords::default() })?)
}

pub(super) fn contacts(session: &mut Session<'_>, flags: ContactsFlags) -> Result<Acts, Problem> {
    Acts::new(session.mail_rules(&RulesWords { policy: None, add: flags.add, remove: flags.remove })?)
}

pub(super) fn inbox(
    session: &mut Session<'_>,
    flags: InboxFlags,
    console: &Console<'_, '_>,
) -> Result<Pages, Problem> {
    let words = InboxWords {
        all: flags.all,
        peek: flags.peek,
        kind: flags.kind.map(|kind| kind.word().to_owned()),
        thread: flags.thread,
        topic: flags.topic,
        since: flags.since,
        from: flags.from,
        before: flags.before,
        skip: flags.skip,
        limit: flags.limit,
    };
    let filters = filters(&words);
    let shape = match words.all {
        true => Shape::All(filters),
        false => Shape::Inbox { filters, goes_on: words.skip > 0 },
    };
    Ok(Pages { page: session.inbox(&words, &|seen, now| bytes_of(seen, now, console))?, shape })
}

/// What a message takes of the answer that it is shown in.
fn bytes_of(seen: &MailSeen, now: &Now, console: &Console<'_, '_>) -> usize {
    match console.json {
        true => bytes_as_json(&message_json(seen)),
        false => message_text(seen, now, &console.page).len(),
    }
}

/// What something takes in a list, with what stands between it and the next.
fn bytes_as_json(value: &impl Serialize) -> usize {
    document(value).len() + ",".len()
}

/// What narrows an answer, as it has to be typed once more to go on.
fn filters(words: &InboxWords) -> String {
    let limit = words.limit.map(|limit| limit.to_string());
    let given = [
        ("--kind", &words.kind),
        ("--thread", &words.thread),
        ("--topic", &words.topic),
        ("--since", &words.since),
        ("--from", &words.from),
        ("--limit", &limit),
    ];
    let given = given.into_iter().filter_map(|(flag, value)| Some((flag, value.as_deref()?)));
    given.map(|(flag, value)| format!(" {flag} {}", clearway_core::shell::word(value))).collect()
}

pub(super) fn read(session: &mut Session<'_>, flags: &MessageFlags) -> Result<Pages, Problem> {
    Ok(Pages { page: session.read_messages(&flags.ids)?, shape: Shape::Read })
}

pub(super) fn thread(
    session: &mut Session<'_>,
    flags: &ThreadFlags,
    console: &Console<'_, '_>,
) -> Result<Pages, Problem> {
    let (thread, page) =
        session.thread(&flags.id, flags.before, &|seen, now| bytes_of(seen, now, console))?;
    Ok(Pages { page, shape: Shape::Thread(thread) })
}

pub(super) fn search(
    session: &mut Session<'_>,
    flags: &SearchFlags,
    console: &Console<'_, '_>,
) -> Result<Pages, Problem> {
    let text = flags.words.join(" ");
    let page = session.search(&text, flags.before, &|seen, now| bytes_of(seen, now, console))?;
    Ok(Pages { page, shape: Shape::Search(text) })
}

pub(super) fn threads(
    session: &mut Session<'_>,
    flags: &ThreadsFlags,
    console: &Console<'_, '_>,
) -> Result<ThreadList, Problem> {
    let measure = |thread: &ThreadSeen, now: &Now| match console.json {
        true => bytes_as_json(&thread_json(thread)),
        false => thread_text(thread, now, &console.page).len(),
    };
    Ok(ThreadList(session.threads(flags.before, &measure)?))
}

pub(super) fn stale_acks(
    session: &mut Session<'_>,
    flags: &StaleAcksFlags,
    console: &Console<'_, '_>,
) -> Result<Unacknowledged, Problem> {
    let measure = |stale: &StaleAck, now: &Now| match console.json {
        true => bytes_as_json(&stale_json(stale)),
        // Whoever it is, the line that tells the caller what to type is counted.
        false => stale_row(stale, now, true, &console.page).len(),
    };
    Ok(Unacknowledged(session.stale_acks(flags.older_than.as_deref(), &measure)?))
}

/// The answer of a verb that did something with mail.
#[derive(Debug)]
pub(super) struct Acts {
    answer: mail::Answer,
    done: Done,
}

impl Acts {
    fn new(reply: Reply) -> Result<Self, Problem> {
        let (success, done) = settled(reply)?;
        let answer = mail_answer(&success).cloned();
        let answer =
            answer.ok_or_else(|| Failure::new(Slug::Internal, "an answer that is not about mail"))?;
        Ok(Self { answer, done })
    }

    fn acted<T: Serialize>(&self, given: &Given, again: bool, body: T) -> String {
        let Done { rev, agent, notices, replayed, .. } = &self.done;
        let (actor, notices) = (Actor::new(agent.as_ref()), given.notices(notices));
        document(&Acted { ok: true, rev: rev.0, actor, replayed: *replayed || again, notices, body })
    }

    fn as_whom(&self) -> String {
        self.done.agent.as_ref().map(|(_, name)| format!(" as {name}")).unwrap_or_default()
    }
}

fn texts<T: ToString>(values: &[T]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}

impl Answer for Acts {
    fn json(&self, given: &Given) -> String {
        match &self.answer {
            mail::Answer::Sent(sent) => self.acted(
                given,
                sent.again,
                SendReply {
                    id: sent.id.to_string(),
                    thread: sent.thread.to_string(),
                    seq: sent.seq.0,
                    to: texts(&sent.to),
                    cc: texts(&sent.cc),
                    bcc: texts(&sent.bcc),
                    denied: texts(&sent.denied),
                },
            ),
            mail::Answer::Acknowledged { now, already } => self.acted(
                given,
                false,
                AckReply { acknowledged: texts(now), already_acknowledged: texts(already) },
            ),
            mail::Answer::Rules { rules, contacts } => self.acted(
                given,
                false,
                MailRulesReply {
                    policy: rules.policy.word().to_owned(),
                    contacts: contacts.iter().map(|(_, name)| name.to_string()).collect(),
                },
            ),
            mail::Answer::Read(_) | mail::Answer::Forgotten => self.acted(given, false, ()),
        }
    }

    fn text(&self, page: &Page) -> String {
        let text = match &self.answer {
            mail::Answer::Sent(sent) => self.sent(sent, page),
            mail::Answer::Acknowledged { now, already } => self.acknowledged(now, already, page),
            mail::Answer::Rules { rules, contacts } => {
                let names: Vec<&str> = contacts.iter().map(|(_, name)| name.as_str()).collect();
                let contacts = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                let line = format!(
                    "policy{}: {}, mail is taken {}; contacts: {contacts}",
                    self.as_whom(),
                    rules.policy.word(),
                    taken(rules.policy)
                );
                wrapped(&line, page, "")
            }
            mail::Answer::Read(_) | mail::Answer::Forgotten => "done\n".to_owned(),
        };
        text + &notices(&self.done.notices, page)
    }
}

impl Acts {
    fn sent(&self, sent: &mail::Sent, page: &Page) -> String {
        let all = [&sent.to, &sent.cc, &sent.bcc].into_iter().flatten();
        let names: Vec<&str> = all.map(clearway_core::agent::AgentName::as_str).collect();
        let to = match names.len() {
            0..=5 => names.join(", "),
            count => format!("{} and {} more", names[..4].join(", "), count - 4),
        };
        let how = if sent.again { "had been sent" } else { "sent" };
        let line = format!("{}{} to {to}, id {}", page.paint(Tone::Good, how), self.as_whom(), sent.id);
        let denied = match texts(&sent.denied) {
            denied if denied.is_empty() => String::new(),
            denied => wrapped(&format!("not taken by {}", denied.join(", ")), page, "  "),
        };
        wrapped(&line, page, "") + &denied
    }

    fn acknowledged(&self, now: &[MessageId], already: &[MessageId], page: &Page) -> String {
        let mut text = String::new();
        if !now.is_empty() {
            let done = page.paint(Tone::Good, "acknowledged");
            text += &wrapped(&format!("{done}{}: {}", self.as_whom(), texts(now).join(" ")), page, "");
        }
        if !already.is_empty() {
            text += &wrapped(&format!("acknowledged before: {}", texts(already).join(" ")), page, "");
        }
        text
    }
}

fn taken(policy: Policy) -> &'static str {
    match policy {
        Policy::Open => "from everybody",
        Policy::Auto => "from contacts, in your threads, and from whom you have to do with",
        Policy::Contacts => "from contacts, and in your threads",
        Policy::Block => "from nobody",
    }
}

/// What a page of messages is an answer to.
#[derive(Debug)]
enum Shape {
    /// What is unread, with what narrows it; behind what was shown before, or from the first on.
    Inbox {
        filters: String,
        goes_on: bool,
    },
    /// Everything, with what narrows it.
    All(String),
    Read,
    Thread(MessageId),
    Search(String),
}

/// Messages.
#[derive(Debug)]
pub(super) struct Pages {
    page: MailPage,
    shape: Shape,
}

impl Pages {
    fn acted<T: Serialize>(&self, body: T) -> String {
        let (rev, actor) = (self.page.rev.0, Actor::new(self.page.me.as_ref()));
        document(&Acted { ok: true, rev, actor, replayed: false, notices: Vec::new(), body })
    }

    fn messages(&self) -> Vec<MessageJson> {
        self.page.letters.iter().map(message_json).collect()
    }

    fn page(&self) -> MessagesReply {
        MessagesReply { messages: self.messages(), more: self.page.more, next: self.page.next }
    }
}

impl Answer for Pages {
    fn json(&self, _: &Given) -> String {
        let MailPage { rev, more, more_than_counted, next, marked_read, searched, .. } = self.page;
        match &self.shape {
            Shape::Inbox { .. } | Shape::All(_) => {
                let messages = self.messages();
                self.acted(InboxReply { messages, more, more_than_counted, next, marked_read })
            }
            Shape::Read => self.acted(ReadReply { messages: self.messages() }),
            Shape::Thread(thread) => {
                document(&Looked::new(rev, ThreadReply { thread: thread.to_string(), page: self.page() }))
            }
            Shape::Search(_) => document(&Looked::new(rev, SearchReply { page: self.page(), searched })),
        }
    }

    fn text(&self, page: &Page) -> String {
        let MailPage { more, next, .. } = self.page;
        let (nothing, go_on) = match &self.shape {
            Shape::Inbox { filters, goes_on } => {
                let nothing = match (filters.is_empty(), goes_on) {
                    (true, false) => "nothing unread",
                    (true, true) => "nothing more that is unread",
                    (false, false) => "nothing unread like that",
                    (false, true) => "nothing more unread like that",
                };
                let skip = next.map(|next| format!(" --peek --skip {next}")).unwrap_or_default();
                (nothing, format!("inbox{skip}{filters}"))
            }
            Shape::All(filters) => {
                let nothing = if filters.is_empty() { "no messages" } else { "no messages like that" };
                (nothing, format!("inbox --all --before {}{filters}", next.unwrap_or(0)))
            }
            Shape::Read => ("no messages", String::new()),
            Shape::Thread(id) => ("no messages", format!("thread {id} --before {}", next.unwrap_or(0))),
            Shape::Search(text) => (
                "nothing found",
                format!("search {} --before {}", clearway_core::shell::as_it_is(text), next.unwrap_or(0)),
            ),
        };
        let has_more = more > 0 || next.is_some() || self.page.more_than_counted;
        page_text(&self.page, nothing, has_more.then_some(go_on.as_str()), page)
    }
}

/// The answer of `threads`.
#[derive(Debug)]
pub(super) struct ThreadList(Threads);

impl Answer for ThreadList {
    fn json(&self, _: &Given) -> String {
        let threads = self.0.threads.iter().map(thread_json);
        document(&Looked::new(self.0.rev, ThreadsReply { threads: threads.collect(), next: self.0.next }))
    }

    fn text(&self, page: &Page) -> String {
        threads_text(&self.0, page)
    }
}

fn thread_json(thread: &ThreadSeen) -> ThreadJson {
    ThreadJson {
        thread: thread.newest.thread.to_string(),
        subject: thread.subject.clone(),
        messages: thread.messages,
        unread: thread.unread,
        with: texts(&thread.with),
        importance: thread.importance.word().to_owned(),
        ack_owed: thread.ack_owed,
        last_at: rfc3339(thread.newest.at),
    }
}

/// The answer of `stale-acks`.
#[derive(Debug)]
pub(super) struct Unacknowledged(StaleAcks);

impl Answer for Unacknowledged {
    fn json(&self, _: &Given) -> String {
        let stale = self.0.stale.iter().map(stale_json);
        document(&Looked::new(self.0.rev, StaleAcksReply { stale: stale.collect(), more: self.0.more }))
    }

    fn text(&self, page: &Page) -> String {
        stale_text(&self.0, page)
    }
}

fn stale_json(stale: &StaleAck) -> StaleAckJson {
    StaleAckJson {
        id: stale.message.id.to_string(),
        from: stale.from.to_string(),
        agent: stale.agent.to_string(),
        kind: stale.entry.role.word().to_owned(),
        subject: stale.message.subject.clone(),
        importance: stale.message.importance.word().to_owned(),
        sent_at: rfc3339(stale.message.at),
        read_at: stale.entry.read_at.map(rfc3339),
        age_ms: stale.age_ms,
    }
}
