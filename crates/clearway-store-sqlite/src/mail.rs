//! Mail in rows: messages with their texts, and mailboxes that find what is unread without looking at what is read.

use crate::load::{Loader, ScopeRow};
use crate::transaction::SqliteTransaction;
use clearway_core::event::Body;
use clearway_core::ids::{AgentId, Seq};
use clearway_core::mail::{
    Entry, Importance, Letter, MailEvent, MailRead, MailSlice, MailState, Mailbox, Message, MessageId, Role,
    Rules, Standing, Which,
};
use clearway_core::pattern::Fold;
use clearway_core::slice::Slice;
use clearway_core::time::Wall;
use clearway_store::contract::{LostTexts, StoreError, checked_text};
use clearway_wire::{canonical, mail};
use rusqlite::{Connection, OptionalExtension, Result, Row, ToSql, params};
use std::collections::BTreeMap;

/// The columns of a mailbox entry, in the order [`read_entry`] reads them.
const ENTRY_COLUMNS: &str = "entry.agent, entry.seq, entry.importance, entry.role, entry.standing, entry.owes, entry.read_at, entry.acked_at";

impl Loader<'_> {
    /// Mail of a read set. Whoever asks for none pays nothing.
    pub(crate) fn mail(&self, read: &MailRead, slice: &Slice) -> Result<MailSlice> {
        let mut found = MailSlice::default();
        for id in &read.ids {
            found.letters.extend(self.named(id, read.alone, read.texts)?);
        }
        found.letters.extend(self.oldest(read.oldest)?);
        if read.count {
            let mut statement =
                self.connection.prepare_cached("SELECT count(*) FROM messages WHERE scope = ?")?;
            found.count = statement.query_row([self.scope.id], |row| row.get(0))?;
        }
        if let Some(mailbox) = &read.mailbox {
            let letters = self.mailbox(mailbox, read.texts)?;
            found.merge(MailSlice { letters, ..MailSlice::default() });
        }
        if read.rules {
            for view in &slice.agents {
                let rules = rules_of(self.connection, self.scope.id, view.agent.id)?;
                found.rules.extend(rules.map(|rules| (view.agent.id, rules)));
            }
        }
        Ok(found)
    }

    /// Agents that did not end and were seen in this boot.
    pub(crate) fn everyone(&self, read: &MailRead) -> Result<Vec<AgentId>> {
        if !read.everyone {
            return Ok(Vec::new());
        }
        let mut statement = self.connection.prepare_cached(
            "SELECT agent FROM presence CROSS JOIN agents ON agents.scope = presence.scope AND agents.id = presence.agent \
             WHERE presence.scope = ? AND presence.boot = ? AND ended_at IS NULL",
        )?;
        let ids = statement.query_map(params![self.scope.id, self.now.boot.0], |row| row.get(0))?;
        let ids = ids.collect::<Result<Vec<String>>>()?;
        Ok(ids.iter().filter_map(|id| AgentId::parse(id)).collect())
    }

    fn oldest(&self, limit: usize) -> Result<Vec<Letter>> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let mut statement = self
            .connection
            .prepare_cached("SELECT seq FROM messages WHERE scope = ? ORDER BY seq LIMIT ?")?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let seqs = statement.query_map(params![self.scope.id, limit], |row| row.get(0))?;
        let messages = seqs.collect::<Result<Vec<u64>>>()?.into_iter().map(|seq| self.message(Seq(seq)));
        let messages = messages.collect::<Result<Vec<_>>>()?.into_iter().flatten();
        Ok(messages.map(|message| Letter { message, entries: Vec::new(), text: None }).collect())
    }

    fn named(&self, id: &MessageId, alone: Option<AgentId>, texts: bool) -> Result<Option<Letter>> {
        let mut statement =
            self.connection.prepare_cached("SELECT seq FROM messages WHERE scope = ? AND id = ?")?;
        let seq: Option<u64> =
            statement.query_row(params![self.scope.id, id.as_str()], |row| row.get(0)).optional()?;
        let Some(message) = seq.map(|seq| self.message(Seq(seq))).transpose()?.flatten() else {
            return Ok(None);
        };
        let mut entries = Vec::new();
        let everyone = std::iter::once(message.from).chain(message.recipients.iter().map(|one| one.agent));
        for agent in everyone.filter(|agent| alone.is_none_or(|alone| alone == *agent)) {
            entries.extend(self.entry(agent, message.seq)?);
        }
        let text = if texts { text_of(self.connection, self.scope.id, &message)? } else { None };
        Ok(Some(Letter { message, entries, text }))
    }

    fn message(&self, seq: Seq) -> Result<Option<Message>> {
        let mut statement =
            self.connection.prepare_cached("SELECT message FROM messages WHERE scope = ? AND seq = ?")?;
        let bytes = statement.query_row(params![self.scope.id, seq.0], |row| row.get::<_, Vec<u8>>(0));
        let stored = bytes.ok().and_then(|bytes| mail::decode_message(&bytes).ok());
        stored.map_or_else(|| self.recorded(seq), |message| Ok(Some(message)))
    }

    /// The message as its event has it, for a row that cannot be read.
    fn recorded(&self, seq: Seq) -> Result<Option<Message>> {
        let mut statement =
            self.connection.prepare_cached("SELECT bytes FROM events WHERE scope = ? AND seq = ?")?;
        let bytes: Option<Vec<u8>> =
            statement.query_row(params![self.scope.id, seq.0], |row| row.get(0)).optional()?;
        let event = bytes.and_then(|bytes| canonical::decode(seq, &bytes, Fold::Exact).ok());
        Ok(event.and_then(|event| match event.body {
            Body::Mail(MailEvent::Sent(message)) => Some(*message),
            _ => None,
        }))
    }

    fn entry(&self, agent: AgentId, seq: Seq) -> Result<Option<Entry>> {
        let text =
            format!("SELECT {ENTRY_COLUMNS} FROM mailbox AS entry WHERE scope = ? AND agent = ? AND seq = ?");
        let mut statement = self.connection.prepare_cached(&text)?;
        let found = statement.query_row(params![self.scope.id, agent.as_str(), seq.0], read_entry);
        Ok(found.optional()?.flatten())
    }

    /// The index of what waits for something holds nothing else, so that a mailbox of a million messages answers like an
    /// empty one.
    fn mailbox(&self, mailbox: &Mailbox, texts: bool) -> Result<Vec<Letter>> {
        let (before, part) = match mailbox.which {
            Which::Unread => (u64::MAX, "standing = 1 AND standing > 0 ORDER BY importance, seq"),
            Which::Unsettled => {
                (u64::MAX, "standing > 0 AND (standing > 1 OR owes = 1) ORDER BY importance, seq")
            }
            Which::Before(seq) => (seq.0, "seq < ?4 ORDER BY seq DESC"),
        };
        let text = format!(
            "SELECT {ENTRY_COLUMNS} FROM mailbox AS entry WHERE scope = ?1 AND agent = ?2 AND ?4 >= 0 AND {part} LIMIT ?3"
        );
        let limit = i64::try_from(mailbox.limit).unwrap_or(i64::MAX);
        let before = i64::try_from(before).unwrap_or(i64::MAX);
        let mut statement = self.connection.prepare_cached(&text)?;
        let values = params![self.scope.id, mailbox.of.as_str(), limit, before];
        let entries = statement.query_map(values, read_entry)?.collect::<Result<Vec<_>>>()?;
        let mut letters = Vec::with_capacity(entries.len());
        for entry in entries.into_iter().flatten() {
            let Some(message) = self.message(entry.seq)? else { continue };
            let text = if texts { text_of(self.connection, self.scope.id, &message)? } else { None };
            letters.push(Letter { message, entries: vec![entry], text });
        }
        Ok(letters)
    }
}

/// The text of a message, if it is still what was sent.
fn text_of(connection: &Connection, scope: i64, message: &Message) -> Result<Option<String>> {
    let mut statement = connection.prepare_cached("SELECT text FROM messages WHERE scope = ? AND seq = ?")?;
    let text = statement.query_row(params![scope, message.seq.0], |row| Ok(row.get::<_, String>(0).ok()));
    Ok(checked_text(message, text.optional()?.flatten()))
}

fn rules_of(connection: &Connection, scope: i64, agent: AgentId) -> Result<Option<Rules>> {
    let mut statement = connection.prepare_cached("SELECT mail FROM agents WHERE scope = ? AND id = ?")?;
    let bytes = statement.query_row(params![scope, agent.as_str()], |row| row.get::<_, Option<Vec<u8>>>(0));
    Ok(bytes.optional()?.flatten().and_then(|bytes| mail::decode_rules(&bytes).ok()))
}

/// Reads an entry; `None` if its values make no sense.
fn read_entry(row: &Row<'_>) -> Result<Option<Entry>> {
    let read = || {
        Some(Entry {
            agent: AgentId::parse(&row.get::<_, String>(0).ok()?)?,
            seq: Seq(row.get(1).ok()?),
            importance: *Importance::ALL.get(row.get::<_, usize>(2).ok()?)?,
            role: Role::from_word(&row.get::<_, String>(3).ok()?)?,
            standing: Standing::from_number(row.get(4).ok()?)?,
            owes_ack: row.get(5).ok()?,
            read_at: row.get::<_, Option<i64>>(6).ok()?.map(Wall),
            acked_at: row.get::<_, Option<i64>>(7).ok()?.map(Wall),
        })
    };
    Ok(read())
}

/// Everything stored about the mail of a scope; a row that cannot be read, or lies where it is not found, is missing.
pub(crate) fn read_state(connection: &Connection, scope: &ScopeRow) -> Result<MailState> {
    let mut state = MailState::default();
    let mut statement = connection.prepare("SELECT seq, id, message FROM messages WHERE scope = ?")?;
    let mut rows = statement.query([scope.id])?;
    while let Some(row) = rows.next()? {
        let message = row.get::<_, Vec<u8>>(2).ok().and_then(|bytes| mail::decode_message(&bytes).ok());
        let is_in_place = |message: &Message| {
            row.get(0).is_ok_and(|seq: u64| seq == message.seq.0)
                && row.get(1).is_ok_and(|id: String| id == message.id.as_str())
        };
        message.filter(is_in_place).into_iter().for_each(|message| state.keep(message));
    }
    let text = format!("SELECT {ENTRY_COLUMNS} FROM mailbox AS entry WHERE scope = ?");
    let mut statement = connection.prepare(&text)?;
    let entries = statement.query_map([scope.id], read_entry)?.collect::<Result<Vec<_>>>()?;
    state.entries = entries.into_iter().flatten().map(|entry| ((entry.agent, entry.seq), entry)).collect();
    let mut statement =
        connection.prepare("SELECT id, mail FROM agents WHERE scope = ? AND mail IS NOT NULL")?;
    let mut rows = statement.query([scope.id])?;
    while let Some(row) = rows.next()? {
        let agent = row.get::<_, String>(0).ok().and_then(|id| AgentId::parse(&id));
        let rules = row.get::<_, Vec<u8>>(1).ok().and_then(|bytes| mail::decode_rules(&bytes).ok());
        state.rules.extend(agent.zip(rules));
    }
    Ok(state)
}

/// Messages whose text is not what their event says.
pub(crate) fn lost_texts(connection: &Connection, scope: &ScopeRow) -> Result<LostTexts> {
    let mut statement = connection.prepare("SELECT message, text FROM messages WHERE scope = ?")?;
    let mut rows = statement.query([scope.id])?;
    let mut lost = LostTexts::default();
    while let Some(row) = rows.next()? {
        let stored = row.get::<_, Vec<u8>>(0).ok().and_then(|bytes| mail::decode_message(&bytes).ok());
        let Some(message) = stored else { continue };
        // What is there and is no text is not what was sent either.
        lost.look_at(&message, row.get(1).unwrap_or_else(|_| Some(String::new())));
    }
    Ok(lost)
}

impl SqliteTransaction<'_> {
    /// Brings the rows of mail up to date with an event.
    pub(crate) fn apply_mail(&mut self, at: Wall, event: &MailEvent) -> std::result::Result<(), StoreError> {
        let scope = self.row()?.id;
        match event {
            MailEvent::Sent(message) => {
                self.insert(
                    "INSERT INTO messages (scope, seq, id, message) VALUES (?, ?, ?, ?)",
                    &[&scope, &message.seq.0, &message.id.as_str(), &mail::encode_message(message)],
                )?;
                message.entries().try_for_each(|entry| self.insert_entry(scope, &entry))
            }
            MailEvent::Read { agent, messages } => messages.iter().try_for_each(|message| {
                self.insert(
                    "UPDATE mailbox SET standing = owes * 2, read_at = ? \
                     WHERE scope = ? AND agent = ? AND seq = ? AND standing = 1",
                    &[&at.0, &scope, &agent.as_str(), &message.0],
                )
            }),
            MailEvent::Acknowledged { agent, message, from, settled } => {
                self.insert(
                    "UPDATE mailbox SET standing = 0, read_at = coalesce(read_at, ?1), acked_at = coalesce(acked_at, ?1) \
                     WHERE scope = ?2 AND agent = ?3 AND seq = ?4",
                    &[&at.0, &scope, &agent.as_str(), &message.0],
                )?;
                let text = "UPDATE mailbox SET standing = 0 WHERE scope = ? AND agent = ? AND seq = ?";
                let values: [&dyn ToSql; 3] = [&scope, &from.as_str(), &message.0];
                if *settled { self.insert(text, &values) } else { Ok(()) }
            }
            MailEvent::RulesSet { agent, rules } => self.set_rules(scope, *agent, rules),
            MailEvent::Forgotten { up_to } => {
                self.insert("DELETE FROM mailbox WHERE scope = ? AND seq <= ?", &[&scope, &up_to.0])?;
                self.insert("DELETE FROM messages WHERE scope = ? AND seq <= ?", &[&scope, &up_to.0])
            }
        }
    }

    /// Keeps the text of a message in its row.
    pub(crate) fn keep_text(
        &self,
        scope: i64,
        message: Seq,
        text: &str,
    ) -> std::result::Result<(), StoreError> {
        self.insert("UPDATE messages SET text = ? WHERE scope = ? AND seq = ?", &[&text, &scope, &message.0])
    }

    /// Makes the rows anew. The texts are in no event: those that are what was sent are kept.
    pub(crate) fn rebuild_mail(&mut self, state: &MailState) -> std::result::Result<(), StoreError> {
        let scope = self.row()?.id;
        let texts = self.run(|connection| texts(connection, scope))?;
        self.insert("DELETE FROM mailbox WHERE scope = ?", &[&scope])?;
        self.insert("DELETE FROM messages WHERE scope = ?", &[&scope])?;
        for message in state.messages.values() {
            self.insert(
                "INSERT INTO messages (scope, seq, id, message, text) VALUES (?, ?, ?, ?, ?)",
                &[
                    &scope,
                    &message.seq.0,
                    &message.id.as_str(),
                    &mail::encode_message(message),
                    &checked_text(message, texts.get(&message.seq).cloned()),
                ],
            )?;
        }
        state.entries.values().try_for_each(|entry| self.insert_entry(scope, entry))?;
        state.rules.iter().try_for_each(|(agent, rules)| self.set_rules(scope, *agent, rules))
    }

    fn set_rules(&self, scope: i64, agent: AgentId, rules: &Rules) -> std::result::Result<(), StoreError> {
        self.insert(
            "UPDATE agents SET mail = ? WHERE scope = ? AND id = ?",
            &[&mail::encode_rules(rules), &scope, &agent.as_str()],
        )
    }

    fn insert_entry(&self, scope: i64, entry: &Entry) -> std::result::Result<(), StoreError> {
        self.insert(
            "INSERT INTO mailbox (scope, agent, seq, importance, role, standing, owes, read_at, acked_at) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            &[
                &scope,
                &entry.agent.as_str(),
                &entry.seq.0,
                &entry.importance.rank(),
                &entry.role.word(),
                &entry.standing.number(),
                &entry.owes_ack,
                &entry.read_at.map(|at| at.0),
                &entry.acked_at.map(|at| at.0),
            ],
        )
    }
}

fn texts(connection: &Connection, scope: i64) -> Result<BTreeMap<Seq, String>> {
    let mut statement = connection.prepare("SELECT seq, text FROM messages WHERE scope = ?")?;
    let mut rows = statement.query([scope])?;
    let mut texts = BTreeMap::new();
    while let Some(row) = rows.next()? {
        if let (Ok(seq), Ok(text)) = (row.get(0), row.get(1)) {
            texts.insert(Seq(seq), text);
        }
    }
    Ok(texts)
}
