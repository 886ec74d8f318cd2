//! Conversations of which the caller has a message.

use super::{Called, MailPage, MailSeen, Measure, Room, parties};
use crate::mailing::message_id;
use crate::session::Session;
use clearway_core::agent::AgentName;
use clearway_core::failure::Failure;
use clearway_core::ids::{AgentId, Seq};
use clearway_core::mail::{Importance, Letter, Message, MessageId, ROWS_MAX, Standing, Which};
use clearway_core::slug::Slug;
use clearway_core::time::Now;
use std::collections::{BTreeMap, BTreeSet};

/// A thread.
#[derive(Clone, Debug)]
pub struct ThreadSeen {
    /// Its newest message.
    pub newest: Message,
    /// The newest subject of it.
    pub subject: Option<String>,
    /// How many messages of it the caller has.
    pub messages: u64,
    /// How many of them are unread.
    pub unread: u64,
    /// Who is part of it, the caller aside.
    pub with: Vec<AgentName>,
    /// The most important message of it.
    pub importance: Importance,
    /// Whether the caller is still asked to acknowledge one.
    pub ack_owed: bool,
}

/// Threads.
#[derive(Clone, Debug)]
pub struct Threads {
    /// The revision looked at.
    pub rev: Seq,
    /// The instant.
    pub now: Now,
    /// The one with the newest message first.
    pub threads: Vec<ThreadSeen>,
    /// How to go on.
    pub next: Option<u64>,
}

impl Session<'_> {
    /// Shows the messages of a thread that the caller has, the newest page of it, oldest first.
    pub fn thread(
        &mut self,
        id: &str,
        before: Option<u64>,
        measure: &Measure<'_, MailSeen>,
    ) -> Result<(MessageId, MailPage), Failure> {
        let id = message_id(id)?;
        let unknown = || {
            Failure::new(Slug::UnknownThread, format!("no thread of yours has a message {id}"))
                .hint("see your threads: clearway threads")
        };
        let look = self.mailbox(Which::Before(Seq(u64::MAX)))?.ok_or_else(unknown)?;
        let named = self.with_texts(&look, std::slice::from_ref(&id))?;
        let of_me = named.first().filter(|letter| letter.message.is_of(look.me)).ok_or_else(unknown)?;
        let thread = of_me.message.thread.clone();
        let before = Seq(before.unwrap_or(u64::MAX));
        let is_wanted = |letter: &&Letter| letter.message.thread == thread && letter.message.seq < before;
        let wanted: Vec<Letter> = look.letters.iter().filter(is_wanted).cloned().collect();
        let found = wanted.len();
        let mut letters = self.fitting(&look, wanted.into_iter(), usize::MAX, measure)?;
        let more = found.saturating_sub(letters.len()) as u64;
        let next = letters.last().map(|seen| seen.message.seq.0).filter(|_| more > 0);
        letters.reverse();
        Ok((thread, MailPage { more, next, ..look.page(letters) }))
    }

    /// Lists the threads that the caller is part of.
    pub fn threads(
        &mut self,
        before: Option<u64>,
        measure: &Measure<'_, ThreadSeen>,
    ) -> Result<Threads, Failure> {
        let Some(look) = self.mailbox(Which::Before(Seq(u64::MAX)))? else {
            let MailPage { rev, now, .. } = self.nothing()?;
            return Ok(Threads { rev, now, threads: Vec::new(), next: None });
        };
        let mut grouped: BTreeMap<&MessageId, Vec<&Letter>> = BTreeMap::new();
        for letter in &look.letters {
            grouped.entry(&letter.message.thread).or_default().push(letter);
        }
        let before = Seq(before.unwrap_or(u64::MAX));
        let mut threads: Vec<Vec<&Letter>> = grouped.into_values().collect();
        threads.retain(|letters| letters[0].message.seq < before);
        threads.sort_by_key(|letters| std::cmp::Reverse(letters[0].message.seq));
        let found = threads.len();
        threads.truncate(ROWS_MAX);
        let all = threads.iter().flatten().flat_map(|letter| parties(&letter.message, look.me));
        let names = self.called(all)?;
        let mut room = Room::of_an_answer();
        let seen = threads.iter().map(|letters| thread_seen(letters, look.me, &names));
        let threads: Vec<ThreadSeen> =
            seen.take_while(|thread| room.takes(measure(thread, &look.now))).collect();
        let has_more = threads.len() < found;
        let next = threads.last().map(|thread| thread.newest.seq.0).filter(|_| has_more);
        Ok(Threads { rev: look.rev, now: look.now, threads, next })
    }
}

fn thread_seen(letters: &[&Letter], me: AgentId, names: &Called) -> ThreadSeen {
    let messages = || letters.iter().map(|letter| &letter.message);
    let standing = |wanted: Standing| {
        let is_it = |letter: &&&Letter| letter.entry_of(me).is_some_and(|entry| entry.standing == wanted);
        letters.iter().filter(is_it).count()
    };
    let owes = |letter: &&Letter| {
        letter.entry_of(me).is_some_and(|entry| entry.owes_ack && entry.acked_at.is_none())
    };
    let others = messages().flat_map(|message| parties(message, me)).filter(|agent| *agent != me);
    let with: BTreeSet<AgentName> = others.filter_map(|agent| names.get(&agent).cloned()).collect();
    ThreadSeen {
        newest: letters[0].message.clone(),
        subject: messages().find_map(|message| message.subject.clone()),
        messages: letters.len() as u64,
        unread: standing(Standing::Unread) as u64,
        with: with.into_iter().take(WITH_MAX).collect(),
        importance: messages().map(|message| message.importance).min().unwrap_or_default(),
        ack_owed: letters.iter().any(owes),
    }
}

/// How many others of a thread are named.
const WITH_MAX: usize = 10;
