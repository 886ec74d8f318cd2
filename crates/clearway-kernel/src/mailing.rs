//! The verbs that send mail and say what became of it. What lies in a mailbox is looked at in `mailboxes.rs`.

use crate::identity::agent_name;
use crate::mutations::usage;
use crate::session::Session;
use clearway_core::agent::AgentName;
use clearway_core::command::Command;
use clearway_core::decide::{Notice, Success};
use clearway_core::failure::Failure;
use clearway_core::ids::Seq;
use clearway_core::mail::{
    Act, Answer, BODY_BYTES_MAX, CONTACTS_MAX, FORGET_EVERY, Importance, MESSAGES_PER_REQUEST_MAX, MailRead,
    MessageId, Policy, RECIPIENTS_MAX, RulesChange, SUBJECT_CHARS_MAX, Send, TOPIC_CHARS_MAX, Topic,
    outlived,
};
use clearway_core::redact::redact;
use clearway_core::slice::ReadSet;
use clearway_core::slug::Slug;
use clearway_core::text::quoted;
use clearway_store::Reply;
use clearway_wire::chain;

/// Pages of old messages that whoever sends forgets: as many as came in since the last time, and as many again. What is
/// left is for the next one, or for a sweep.
const PAGES_OF_SEND_MAX: u64 = 2;

/// `send` and `broadcast` as they were typed.
#[derive(Clone, Debug, Default)]
pub struct SendWords {
    /// To whom.
    pub to: Vec<String>,
    /// `--cc`.
    pub cc: Vec<String>,
    /// `--bcc`.
    pub bcc: Vec<String>,
    /// Whether it goes to everybody.
    pub everyone: bool,
    /// What it says.
    pub text: String,
    /// `--subject`.
    pub subject: Option<String>,
    /// `--topic`.
    pub topic: Option<String>,
    /// `--importance`.
    pub importance: Importance,
    /// `--ack`.
    pub wants_ack: bool,
    /// `--thread`.
    pub thread: Option<String>,
    /// `--id`.
    pub id: Option<String>,
}

/// `policy` and `contacts` as they were typed.
#[derive(Clone, Debug, Default)]
pub struct RulesWords {
    /// From whom mail is taken from now on.
    pub policy: Option<Policy>,
    /// `--add`.
    pub add: Vec<String>,
    /// `--remove`.
    pub remove: Vec<String>,
}

impl Session<'_> {
    /// Sends a message to all it names, or to nobody.
    pub fn send(&mut self, words: SendWords) -> Result<Reply, Failure> {
        let send = message(words)?;
        let names: Vec<AgentName> = send.named().cloned().collect();
        let reply = self.command(Command::Mail(Act::Send(Box::new(send))))?;
        if reply.outcome.is_ok() && reply.rev.0 % FORGET_EVERY == 0 {
            self.forget_old_mail(PAGES_OF_SEND_MAX);
        }
        self.with_meant_name(&names, reply)
    }

    /// Says that the caller took note of messages.
    pub fn acknowledge(&mut self, ids: &[String]) -> Result<Reply, Failure> {
        self.command(Command::Mail(Act::Acknowledge(message_ids(ids)?)))
    }

    /// Marks messages as read.
    pub(crate) fn mark_read(&mut self, ids: Vec<MessageId>) -> Result<Reply, Failure> {
        self.command(Command::Mail(Act::Read(ids)))
    }

    /// Says from whom the caller takes mail; without a change, asks.
    pub fn mail_rules(&mut self, words: &RulesWords) -> Result<Reply, Failure> {
        within(words.add.len() + words.remove.len(), CONTACTS_MAX, "contacts in one request")?;
        let change =
            RulesChange { policy: words.policy, add: names(&words.add)?, remove: names(&words.remove)? };
        let named: Vec<AgentName> = change.add.iter().chain(&change.remove).cloned().collect();
        let reply = self.command(Command::Mail(Act::SetRules(change)))?;
        self.with_meant_name(&named, reply)
    }

    /// Keeps messages no longer that were kept for long enough, at most so many pages of them. What cannot be forgotten
    /// now is forgotten another time.
    /// How many were forgotten.
    pub(crate) fn forget_old_mail(&mut self, pages_max: u64) -> u64 {
        let mut forgotten = 0;
        for _ in 0..pages_max {
            let Ok((count, goes_on)) = self.forget_a_page_of_mail() else { break };
            forgotten += count;
            if !goes_on {
                break;
            }
        }
        forgotten
    }

    /// How many were forgotten, and whether there may be more.
    fn forget_a_page_of_mail(&mut self) -> Result<(u64, bool), Failure> {
        let (now, retention) = (self.now()?, self.config.mail_retention());
        let mut read = ReadSet::default();
        read.mail.oldest = usize::try_from(FORGET_EVERY).unwrap_or(usize::MAX);
        let Some(mut found) = self.read(|snapshot| snapshot.load(&read, &now))? else {
            return Ok((0, false));
        };
        let first = found.mail.letters.first().map_or(found.scope.rev, |letter| letter.message.seq);
        // Each message is an event, so there cannot be more of them than events since the first one.
        if found.scope.rev.0.saturating_sub(first.0) >= retention.messages_max {
            read.mail = MailRead { count: true, ..read.mail };
            found = self.read(|snapshot| snapshot.load(&read, &now))?.unwrap_or_default();
        }
        let oldest = found.mail.letters.iter().map(|letter| &letter.message);
        let up_to: Option<Seq> = outlived(oldest, found.mail.count, now.wall, retention);
        let Some(up_to) = up_to else { return Ok((0, false)) };
        self.forget_idempotency_key();
        self.command(Command::Mail(Act::Forget(up_to)))?.outcome?;
        let forgotten = found.mail.letters.iter().filter(|letter| letter.message.seq <= up_to).count();
        let goes_on = found.mail.letters.last().is_some_and(|last| last.message.seq == up_to);
        Ok((forgotten as u64, goes_on))
    }

    /// An answer that finds nobody of a name, with the one that comes near.
    fn with_meant_name(&mut self, names: &[AgentName], mut reply: Reply) -> Result<Reply, Failure> {
        let Err(failure) = &mut reply.outcome else { return Ok(reply) };
        if failure.slug != Slug::UnknownRecipient {
            return Ok(reply);
        }
        for name in names {
            if let Some(Notice::UnknownAgent { near: Some(near), .. }) = self.unknown_agent(name.as_str())? {
                failure.hints.insert(0, format!("did you mean {near}?").into());
                break;
            }
        }
        Ok(reply)
    }
}

/// What a reply says of mail.
pub fn mail_answer(success: &Success) -> Option<&Answer> {
    match success {
        Success::Mail(answer) => Some(answer),
        _ => None,
    }
}

/// The words of a message within their limits, without secrets.
fn message(words: SendWords) -> Result<Send, Failure> {
    let recipients = words.to.len() + words.cc.len() + words.bcc.len();
    within(recipients, RECIPIENTS_MAX, "recipients of one message")?;
    if words.text.trim().is_empty() {
        return Err(usage("the message says nothing", "write what it is about: clearway send NAME TEXT"));
    }
    if words.text.len() > BODY_BYTES_MAX {
        let message = format!(
            "the text of a message has at most {BODY_BYTES_MAX} bytes; this one has {}",
            words.text.len()
        );
        return Err(Failure::new(Slug::TooLarge, message).hint("put it into a file and name the file"));
    }
    let text = redact(&words.text).into_owned();
    Ok(Send {
        id: words.id.as_deref().map(message_id).transpose()?,
        to: names(&words.to)?,
        cc: names(&words.cc)?,
        bcc: names(&words.bcc)?,
        everyone: words.everyone,
        subject: words.subject.as_deref().map(subject).transpose()?.filter(|text| !text.trim().is_empty()),
        digest: chain::digest(&text),
        text,
        topic: words.topic.as_deref().map(topic).transpose()?,
        importance: words.importance,
        wants_ack: words.wants_ack,
        thread: words.thread.as_deref().map(message_id).transpose()?,
    })
}

fn within(count: usize, max: usize, what: &str) -> Result<(), Failure> {
    if count <= max {
        return Ok(());
    }
    let message = format!("at most {max} {what}; these are {count}");
    Err(Failure::new(Slug::TooLarge, message).hint("write to fewer at a time"))
}

fn subject(text: &str) -> Result<String, Failure> {
    let characters = text.chars().count();
    if characters > SUBJECT_CHARS_MAX {
        let message =
            format!("a subject has at most {SUBJECT_CHARS_MAX} characters; this one has {characters}");
        return Err(Failure::new(Slug::TooLarge, message).hint("say the rest in the text"));
    }
    Ok(redact(text).into_owned())
}

/// Checks a topic.
pub(crate) fn topic(text: &str) -> Result<Topic, Failure> {
    Topic::parse(text).ok_or_else(|| {
        let message = format!("{} cannot be a topic", quoted(text));
        let hint = format!("use 1 to {TOPIC_CHARS_MAX} letters, digits, . _ - / and :");
        Failure::new(Slug::InvalidName, message).hint(hint)
    })
}

/// Checks the id of a message.
pub(crate) fn message_id(text: &str) -> Result<MessageId, Failure> {
    MessageId::parse(text).ok_or_else(|| {
        Failure::new(Slug::InvalidId, format!("{} cannot be the id of a message", quoted(text)))
            .hint("use 1 to 64 of A-Z a-z 0-9 . _ - and begin with a letter or digit")
    })
}

pub(crate) fn message_ids(texts: &[String]) -> Result<Vec<MessageId>, Failure> {
    within(texts.len(), MESSAGES_PER_REQUEST_MAX, "messages in one request")?;
    texts.iter().map(|text| message_id(text)).collect()
}

fn names(texts: &[String]) -> Result<Vec<AgentName>, Failure> {
    texts.iter().map(|text| agent_name(text)).collect()
}
