//! What lies in the caller's mailbox. Nobody else's is ever shown.
//!
//! A mailbox is looked through in bounded steps, and an answer has a budget of bytes: what did not fit is counted, and
//! the answer says how to go on.

mod search;
mod stale;
mod threads;

pub use stale::{StaleAck, StaleAcks};
pub use threads::{ThreadSeen, Threads};

use crate::identity::agent_name;
use crate::mailing::{mail_answer, message_id, message_ids, topic};
use crate::session::Session;
use clearway_core::agent::AgentName;
use clearway_core::duration;
use clearway_core::failure::Failure;
use clearway_core::hint::AGENTS;
use clearway_core::ids::{AgentId, Seq};
use clearway_core::mail::{
    ANSWER_BYTES_MAX, Answer, Entry, Letter, MESSAGES_PER_REQUEST_MAX, MailRead, Mailbox, Message, MessageId,
    ROWS_MAX, Role, SCAN_MAX, Topic, Which, excerpt,
};
use clearway_core::slice::{AgentLookup, ReadSet};
use clearway_core::slug::Slug;
use clearway_core::text::quoted;
use clearway_core::time::{Now, Wall};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of an answer that are not messages: its envelope, and what is said around them.
const AROUND_BYTES: usize = 1_024;
/// Messages whose texts are read at once.
const TEXTS_AT_ONCE: usize = 64;

/// Looks into a mailbox of which other calls of the same agent show everything first.
const LOOKS_MAX: usize = 16;

/// How many bytes of an answer something takes, in the form that it is shown in.
pub type Measure<'a, T> = dyn Fn(&T, &Now) -> usize + 'a;

/// The room that an answer has for what it lists.
struct Room {
    left: usize,
    is_used: bool,
}

impl Room {
    fn of_an_answer() -> Self {
        Self { left: ANSWER_BYTES_MAX - AROUND_BYTES, is_used: false }
    }

    /// Takes so many bytes, if they are left. Whatever is first is shown: what nobody can get past would keep everything
    /// behind it from its reader.
    fn takes(&mut self, bytes: usize) -> bool {
        let fits = bytes <= self.left || !self.is_used;
        self.left = self.left.saturating_sub(if fits { bytes } else { 0 });
        self.is_used = true;
        fits
    }
}

/// `inbox` as it was typed.
#[derive(Clone, Debug, Default)]
pub struct InboxWords {
    /// `--all`: what was read too, and what one wrote, newest first.
    pub all: bool,
    /// `--peek`: what is shown stays unread.
    pub peek: bool,
    /// `--kind`.
    pub kind: Option<String>,
    /// `--thread`.
    pub thread: Option<String>,
    /// `--topic`.
    pub topic: Option<String>,
    /// `--since`: no longer ago than this.
    pub since: Option<String>,
    /// `--from`.
    pub from: Option<String>,
    /// `--before`, with `--all`.
    pub before: Option<u64>,
    /// `--skip`, with `--peek`.
    pub skip: usize,
    /// `--limit`: no more messages than this.
    pub limit: Option<usize>,
}

/// A message as its reader may see it.
#[derive(Clone, Debug)]
pub struct MailSeen {
    /// The message.
    pub message: Message,
    /// Who wrote it.
    pub from: AgentName,
    /// Whom it is addressed to, as far as the reader may know.
    pub to: Vec<AgentName>,
    /// Who is to know.
    pub cc: Vec<AgentName>,
    /// Who is to know without the others knowing.
    pub bcc: Vec<AgentName>,
    /// As what the reader has it.
    pub kind: &'static str,
    /// It in the reader's mailbox.
    pub entry: Entry,
    /// Its text, as far as it is shown; `None` if it is lost.
    pub text: Option<String>,
    /// How many bytes of the text are not shown.
    pub left: u64,
}

/// A page of messages.
#[derive(Clone, Debug)]
pub struct MailPage {
    /// The revision looked at.
    pub rev: Seq,
    /// The instant.
    pub now: Now,
    /// Whose mailbox.
    pub me: Option<(AgentId, AgentName)>,
    /// What is shown.
    pub letters: Vec<MailSeen>,
    /// How many more were found.
    pub more: u64,
    /// Whether there may be still more than that.
    pub more_than_counted: bool,
    /// How to go on.
    pub next: Option<u64>,
    /// Whether what is shown counts as read from now on.
    pub marked_read: bool,
    /// How many messages were looked through.
    pub searched: u64,
}

/// What an agent has not read.
#[derive(Clone, Debug)]
pub struct Unread {
    /// How many messages.
    pub count: u64,
    /// Whether there are no more than that.
    pub is_all: bool,
    /// Who wrote the one that is to be read first.
    pub from: AgentName,
    /// What it is about.
    pub subject: Option<String>,
}

impl Session<'_> {
    /// Shows the caller's mail: what is unread, which then counts as read, or with `--all` everything.
    pub fn inbox(
        &mut self,
        words: &InboxWords,
        measure: &Measure<'_, MailSeen>,
    ) -> Result<MailPage, Failure> {
        for _ in 0..LOOKS_MAX {
            if let Some(page) = self.look_into(words, measure)? {
                return Ok(page);
            }
        }
        let message = "whatever was found in the mailbox, another call of the same agent showed first";
        Err(Failure::new(Slug::StoreBusy, message).hint("look again: clearway inbox"))
    }

    /// A page; `None` if all of it was shown elsewhere meanwhile.
    fn look_into(
        &mut self,
        words: &InboxWords,
        measure: &Measure<'_, MailSeen>,
    ) -> Result<Option<MailPage>, Failure> {
        let filter = self.filter(words)?;
        let before = Seq(words.before.unwrap_or(u64::MAX));
        let which = if words.all { Which::Before(before) } else { Which::Unread };
        let Some(look) = self.mailbox(which)? else { return self.nothing().map(Some) };
        let is_all = look.letters.len() < SCAN_MAX;
        let wanted: Vec<Letter> =
            look.letters.iter().filter(|letter| filter.admits(letter, look.me)).cloned().collect();
        let found = wanted.len();
        let rest = wanted.into_iter().skip(words.skip);
        let mut letters = self.fitting(&look, rest, words.limit.unwrap_or(usize::MAX), measure)?;
        let shown = words.skip + letters.len();
        let marks = !words.all && !words.peek;
        if marks && !letters.is_empty() {
            // What is shown differs from call to call, so that no key stands for it.
            self.forget_idempotency_key();
            let reply = self.mark_read(letters.iter().map(|seen| seen.message.id.clone()).collect())?;
            let answer = reply.outcome?;
            let Some(Answer::Read(marked)) = mail_answer(&answer) else {
                return Err(Failure::new(Slug::Internal, "messages were marked, and nothing says which"));
            };
            // What another look of the same agent marked meanwhile is shown there.
            letters.retain(|seen| marked.contains(&seen.message.id));
            if letters.is_empty() {
                return Ok(None);
            }
        }
        let next = match words.all {
            true => letters.last().map(|seen| seen.message.seq.0),
            false => Some(shown as u64).filter(|_| words.peek),
        };
        let more = found.saturating_sub(shown) as u64;
        let more_than_counted = !is_all;
        Ok(Some(MailPage {
            more,
            more_than_counted,
            next: next.filter(|_| more > 0 || more_than_counted),
            marked_read: marks,
            ..look.page(letters)
        }))
    }

    /// Shows messages of the caller with all of their texts, which then count as read.
    pub fn read_messages(&mut self, ids: &[String]) -> Result<MailPage, Failure> {
        let ids = message_ids(ids)?;
        self.mark_read(ids.clone())?.outcome?;
        let Some(look) = self.mailbox(Which::Before(Seq(0)))? else { return self.nothing() };
        let letters = self.with_texts(&look, &ids)?;
        let names = self.called(letters.iter().flat_map(|letter| parties(&letter.message, look.me)))?;
        let seen = letters.into_iter().filter_map(|letter| {
            let text = letter.text.clone();
            Some(MailSeen { text, left: 0, ..seen(letter, look.me, &names)? })
        });
        let letters: Vec<MailSeen> = seen.collect();
        Ok(MailPage { marked_read: true, ..look.page(letters) })
    }

    /// What the caller has not read; `None` if that is nothing.
    pub fn unread(&mut self) -> Result<Option<Unread>, Failure> {
        let Some(look) = self.mailbox_of(Which::Unread, ROWS_MAX, MailRead::default())? else {
            return Ok(None);
        };
        let Some(first) = look.letters.first().map(|letter| letter.message.clone()) else { return Ok(None) };
        let from = self.called([first.from])?.remove(&first.from);
        let count = look.letters.len() as u64;
        Ok(from.map(|from| Unread {
            count,
            is_all: look.letters.len() < ROWS_MAX,
            from,
            subject: first.subject,
        }))
    }

    /// As many messages as an answer has room for, with their texts.
    fn fitting(
        &mut self,
        look: &Look,
        letters: impl Iterator<Item = Letter>,
        limit: usize,
        measure: &Measure<'_, MailSeen>,
    ) -> Result<Vec<MailSeen>, Failure> {
        let (mut room, mut shown) = (Room::of_an_answer(), Vec::new());
        let ids: Vec<MessageId> =
            letters.take(limit.min(MESSAGES_PER_REQUEST_MAX)).map(|letter| letter.message.id).collect();
        for ids in ids.chunks(TEXTS_AT_ONCE) {
            for seen in self.excerpts(look, ids)? {
                if !room.takes(measure(&seen, &look.now)) {
                    return Ok(shown);
                }
                shown.push(seen);
            }
        }
        Ok(shown)
    }

    /// Messages as a list shows them, with the beginnings of their texts.
    fn excerpts(&mut self, look: &Look, ids: &[MessageId]) -> Result<Vec<MailSeen>, Failure> {
        let letters = self.with_texts(look, ids)?;
        let names = self.called(letters.iter().flat_map(|letter| parties(&letter.message, look.me)))?;
        let excerpt_of = |letter: Letter| {
            let text = letter.text.clone();
            let mut seen = seen(letter, look.me, &names)?;
            if let Some(text) = &text {
                let (part, rest) = excerpt(text, seen.from.as_str().len());
                (seen.text, seen.left) = (Some(part.to_owned()), rest);
            }
            Some(seen)
        };
        Ok(letters.into_iter().filter_map(excerpt_of).collect())
    }

    fn with_texts(&mut self, look: &Look, ids: &[MessageId]) -> Result<Vec<Letter>, Failure> {
        let mail = MailRead { ids: ids.to_vec(), texts: true, alone: Some(look.me), ..MailRead::default() };
        let read = ReadSet { mail, ..ReadSet::default() };
        let found = self.read(|snapshot| snapshot.load(&read, &look.now))?;
        Ok(found.unwrap_or_default().mail.letters)
    }

    /// What agents are called; one whose row is lost goes by its id.
    fn called(&mut self, ids: impl IntoIterator<Item = AgentId>) -> Result<Called, Failure> {
        let ids: BTreeSet<AgentId> = ids.into_iter().collect();
        let agents = AgentLookup { ids: ids.iter().copied().collect(), ..AgentLookup::default() };
        let (read, now) = (ReadSet { agents, ..ReadSet::default() }, self.now()?);
        let slice = self.read(|snapshot| snapshot.load(&read, &now))?.unwrap_or_default();
        let by_id = ids.into_iter().filter_map(|id| Some((id, AgentName::parse(id.as_str())?)));
        let mut names: Called = by_id.collect();
        names.extend(slice.agents.into_iter().map(|view| (view.agent.id, view.agent.name)));
        Ok(names)
    }

    fn mailbox(&mut self, which: Which) -> Result<Option<Look>, Failure> {
        self.mailbox_of(which, SCAN_MAX, MailRead::default())
    }

    /// A part of the caller's mailbox; `None` for somebody who is not known here and so has none.
    fn mailbox_of(&mut self, which: Which, limit: usize, read: MailRead) -> Result<Option<Look>, Failure> {
        let key = self.site.key.clone();
        let Some(view) = self.identified_in(&key)??.known else { return Ok(None) };
        let (me, name, now) = (view.agent.id, view.agent.name, self.now()?);
        let mail = MailRead { mailbox: Some(Mailbox { of: me, which, limit }), ..read };
        let read = ReadSet { mail, ..ReadSet::default() };
        let slice = self.read(|snapshot| snapshot.load(&read, &now))?.unwrap_or_default();
        let (rev, letters) = (slice.scope.rev, slice.mail.letters);
        Ok(Some(Look { rev, now, me, name, letters }))
    }

    fn nothing(&mut self) -> Result<MailPage, Failure> {
        let (now, rev) =
            (self.now()?, self.read(|snapshot| snapshot.head())?.map_or(Seq(0), |head| head.rev));
        Ok(MailPage {
            rev,
            now,
            me: None,
            letters: Vec::new(),
            more: 0,
            more_than_counted: false,
            next: None,
            marked_read: false,
            searched: 0,
        })
    }

    fn filter(&mut self, words: &InboxWords) -> Result<Filter, Failure> {
        let from = match &words.from {
            Some(name) => Some(self.agent_called(name)?),
            None => None,
        };
        let since = match &words.since {
            Some(text) => {
                let ms = i64::try_from(span_ms(text)?).unwrap_or(i64::MAX);
                Some(Wall(self.now()?.wall.0.saturating_sub(ms)))
            }
            None => None,
        };
        Ok(Filter {
            kind: words.kind.clone(),
            thread: words.thread.as_deref().map(message_id).transpose()?,
            topic: words.topic.as_deref().map(topic).transpose()?,
            since,
            from,
        })
    }

    fn agent_called(&mut self, text: &str) -> Result<AgentId, Failure> {
        let name = agent_name(text)?;
        let agents = AgentLookup {
            ids: AgentId::parse(text).into_iter().collect(),
            names: vec![name.clone()],
            ..AgentLookup::default()
        };
        let (read, now) = (ReadSet { agents, ..ReadSet::default() }, self.now()?);
        let slice = self.read(|snapshot| snapshot.load(&read, &now))?.unwrap_or_default();
        let found = slice.agent_meant(&name).map(|view| view.agent.id);
        found.ok_or_else(|| {
            Failure::new(Slug::UnknownRecipient, format!("nobody here is called {name}")).hint(AGENTS)
        })
    }
}

/// A part of a mailbox.
struct Look {
    rev: Seq,
    now: Now,
    me: AgentId,
    name: AgentName,
    letters: Vec<Letter>,
}

impl Look {
    fn page(self, letters: Vec<MailSeen>) -> MailPage {
        MailPage {
            rev: self.rev,
            now: self.now,
            me: Some((self.me, self.name)),
            letters,
            more: 0,
            more_than_counted: false,
            next: None,
            marked_read: false,
            searched: 0,
        }
    }
}

/// Which messages are wanted.
struct Filter {
    kind: Option<String>,
    thread: Option<MessageId>,
    topic: Option<Topic>,
    since: Option<Wall>,
    from: Option<AgentId>,
}

impl Filter {
    fn admits(&self, letter: &Letter, me: AgentId) -> bool {
        let message = &letter.message;
        let kind = letter.entry_of(me).map(|entry| kind_of(message, entry));
        self.kind.as_deref().is_none_or(|wanted| kind == Some(wanted))
            && self.thread.as_ref().is_none_or(|wanted| message.thread == *wanted || message.id == *wanted)
            && self.topic.as_ref().is_none_or(|wanted| message.topic.as_ref() == Some(wanted))
            && self.since.is_none_or(|since| message.at >= since)
            && self.from.is_none_or(|from| message.from == from)
    }
}

fn kind_of(message: &Message, entry: &Entry) -> &'static str {
    match entry.role {
        Role::To if message.broadcast => "broadcast",
        role => role.word(),
    }
}

/// Everybody whose name a reader is shown. Of a broadcast that is its writer alone: everybody got it.
fn parties(message: &Message, reader: AgentId) -> impl Iterator<Item = AgentId> {
    let visible = message.visible_to(reader).filter(|_| !message.broadcast).map(|one| one.agent);
    std::iter::once(message.from).chain(visible)
}

/// What agents are called.
type Called = BTreeMap<AgentId, AgentName>;

fn seen(letter: Letter, me: AgentId, names: &Called) -> Option<MailSeen> {
    let entry = letter.entry_of(me)?.clone();
    let message = letter.message;
    let in_role = |role: Role| -> Vec<AgentName> {
        let visible = message.visible_to(me).filter(|one| one.role == role && !message.broadcast);
        visible.filter_map(|one| names.get(&one.agent).cloned()).collect()
    };
    Some(MailSeen {
        from: names.get(&message.from)?.clone(),
        to: in_role(Role::To),
        cc: in_role(Role::Cc),
        bcc: in_role(Role::Bcc),
        kind: kind_of(&message, &entry),
        entry,
        message,
        text: None,
        left: 0,
    })
}

fn span_ms(text: &str) -> Result<u64, Failure> {
    duration::parse(text).map(duration::milliseconds).map_err(|error| {
        Failure::new(Slug::InvalidDuration, format!("{}: {error}", quoted(text)))
            .hint("durations look like 90s, 15m or 2h")
    })
}
