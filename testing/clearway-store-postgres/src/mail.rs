//! Mail in rows: asked for apart from everything else, since only mail asks for it.

use crate::engine::View;
use crate::link::{Statement, Value};
use crate::tables::{column, number, optional_signed};
use clearway_core::ids::{AgentId, ScopeKey, Seq};
use clearway_core::mail::{
    Entry, Importance, Letter, MailEvent, MailRead, MailSlice, MailState, Mailbox, Message, MessageId, Role,
    Standing, Which,
};
use clearway_core::time::Wall;
use clearway_store::contract::{LostTexts, StoreError, checked_text};
use clearway_wire::mail;
use tokio_postgres::Row;

const ENTRIES: &str = "b.agent, b.seq, b.importance, b.role, b.standing, b.owes, b.read_at, b.acked_at";

impl View<'_> {
    /// Mail of a read set, for these agents.
    pub(crate) fn mail(&mut self, read: &MailRead, agents: &[AgentId]) -> Result<MailSlice, StoreError> {
        let mut found = MailSlice::default();
        for id in &read.ids {
            found.letters.extend(self.named(id, read.alone, read.texts)?);
        }
        if read.oldest > 0 {
            let text = "SELECT message, text FROM messages WHERE scope = $1 ORDER BY seq LIMIT $2";
            let rows = self.ask(text.to_owned(), vec![Value::number(read.oldest as u64)])?;
            let messages = rows.iter().filter_map(read_message);
            let letter = |(message, _)| Letter { message, entries: Vec::new(), text: None };
            found.letters.extend(messages.map(letter));
        }
        if read.count {
            let text = "SELECT count(*) AS count FROM messages WHERE scope = $1";
            let rows = self.ask(text.to_owned(), Vec::new())?;
            found.count = rows.first().and_then(|row| number(row, "count")).unwrap_or(0);
        }
        if let Some(mailbox) = &read.mailbox {
            let letters = self.mailbox(mailbox, read.texts)?;
            found.merge(MailSlice { letters, ..MailSlice::default() });
        }
        if read.rules {
            let ids = agents.iter().map(ToString::to_string).collect();
            let text = "SELECT agent, rules FROM mail_rules WHERE scope = $1 AND agent = ANY ($2)";
            let rows = self.ask(text.to_owned(), vec![Value::Texts(ids)])?;
            found.rules = rows.iter().filter_map(read_rules).collect();
        }
        Ok(found)
    }

    fn named(
        &mut self,
        id: &MessageId,
        alone: Option<AgentId>,
        texts: bool,
    ) -> Result<Option<Letter>, StoreError> {
        let text = "SELECT m.message, m.text FROM messages m WHERE m.scope = $1 AND m.id = $2";
        let rows = self.ask(text.to_owned(), vec![Value::text(id.as_str())])?;
        let Some((message, text)) = rows.first().and_then(read_message) else { return Ok(None) };
        let question = format!("SELECT {ENTRIES} FROM mailbox b WHERE b.scope = $1 AND b.seq = $2");
        let rows = self.ask(question, vec![Value::number(message.seq.0)])?;
        let text = checked_text(&message, text.filter(|_| texts));
        let entries = rows.iter().filter_map(read_entry);
        let entries = entries.filter(|entry| alone.is_none_or(|alone| alone == entry.agent)).collect();
        Ok(Some(Letter { message, entries, text }))
    }

    fn mailbox(&mut self, mailbox: &Mailbox, texts: bool) -> Result<Vec<Letter>, StoreError> {
        let (before, part) = match mailbox.which {
            Which::Unread => (u64::MAX, "b.standing = 1 ORDER BY b.importance, b.seq"),
            Which::Unsettled => {
                (u64::MAX, "b.standing > 0 AND (b.standing > 1 OR b.owes = 1) ORDER BY b.importance, b.seq")
            }
            Which::Before(seq) => (seq.0, "true ORDER BY b.seq DESC"),
        };
        let question = format!(
            "SELECT {ENTRIES}, m.message, m.text FROM mailbox b JOIN messages m ON m.scope = b.scope AND m.seq = b.seq \
             WHERE b.scope = $1 AND b.agent = $2 AND b.seq < $3 AND {part} LIMIT $4"
        );
        let values = vec![
            Value::text(mailbox.of.as_str()),
            Value::number(before),
            Value::number(mailbox.limit as u64),
        ];
        let rows = self.ask(question, values)?;
        let letter = |row: &Row| {
            let (message, text) = read_message(row)?;
            let text = checked_text(&message, text.filter(|_| texts));
            Some(Letter { message, entries: vec![read_entry(row)?], text })
        };
        Ok(rows.iter().filter_map(letter).collect())
    }

    pub(crate) fn mail_state(&mut self) -> Result<MailState, StoreError> {
        let mut state = MailState::default();
        for row in self.ask("SELECT message, text FROM messages WHERE scope = $1".to_owned(), Vec::new())? {
            read_message(&row).into_iter().for_each(|(message, _)| state.keep(message));
        }
        let entries = self.ask(format!("SELECT {ENTRIES} FROM mailbox b WHERE b.scope = $1"), Vec::new())?;
        let entries = entries.iter().filter_map(read_entry);
        state.entries = entries.map(|entry| ((entry.agent, entry.seq), entry)).collect();
        let rules =
            self.ask("SELECT agent, rules FROM mail_rules WHERE scope = $1".to_owned(), Vec::new())?;
        state.rules = rules.iter().filter_map(read_rules).collect();
        Ok(state)
    }

    pub(crate) fn lost_texts(&mut self) -> Result<LostTexts, StoreError> {
        let rows = self.ask("SELECT message, text FROM messages WHERE scope = $1".to_owned(), Vec::new())?;
        let mut lost = LostTexts::default();
        for (message, text) in rows.iter().filter_map(read_message) {
            lost.look_at(&message, text);
        }
        Ok(lost)
    }
}

/// The statements that bring rows up to date with an event.
pub(crate) fn apply(scope: &ScopeKey, at: Wall, event: &MailEvent) -> Vec<Statement> {
    let own = || Value::text(scope.as_str());
    let at = || Value::Number(Some(at.0));
    match event {
        MailEvent::Sent(message) => std::iter::once(insert_message(scope, message))
            .chain(message.entries().map(|entry| insert_entry(scope, &entry)))
            .collect(),
        MailEvent::Read { agent, messages } => messages
            .iter()
            .map(|message| {
                Statement::new(
                    "UPDATE mailbox SET standing = owes * 2, read_at = $2 \
                     WHERE scope = $1 AND agent = $3 AND seq = $4 AND standing = 1",
                    vec![own(), at(), Value::text(agent.as_str()), Value::number(message.0)],
                )
            })
            .collect(),
        MailEvent::Acknowledged { agent, message, from, settled } => {
            let acked = Statement::new(
                "UPDATE mailbox SET standing = 0, read_at = coalesce(read_at, $2), acked_at = coalesce(acked_at, $2) \
                 WHERE scope = $1 AND agent = $3 AND seq = $4",
                vec![own(), at(), Value::text(agent.as_str()), Value::number(message.0)],
            );
            let done = Statement::new(
                "UPDATE mailbox SET standing = 0 WHERE scope = $1 AND agent = $2 AND seq = $3",
                vec![own(), Value::text(from.as_str()), Value::number(message.0)],
            );
            std::iter::once(acked).chain(settled.then_some(done)).collect()
        }
        MailEvent::RulesSet { agent, rules } => {
            vec![set_rules(scope, *agent, mail::encode_rules(rules))]
        }
        MailEvent::Forgotten { up_to } => ["mailbox", "messages"]
            .map(|table| {
                let text = format!("DELETE FROM {table} WHERE scope = $1 AND seq <= $2");
                Statement::new(text, vec![own(), Value::number(up_to.0)])
            })
            .into(),
    }
}

/// The text of a message goes into its row.
pub(crate) fn keep_text(scope: &ScopeKey, message: Seq, text: &str) -> Statement {
    Statement::new(
        "UPDATE messages SET text = $3 WHERE scope = $1 AND seq = $2",
        vec![Value::text(scope.as_str()), Value::number(message.0), Value::Bytes(text.as_bytes().to_vec())],
    )
}

/// The statements that make all rows anew. Messages are corrected, not made anew: the log has no texts.
pub(crate) fn rebuild(scope: &ScopeKey, state: &MailState, altered: &[MessageId]) -> Vec<Statement> {
    let own = || vec![Value::text(scope.as_str())];
    let altered = altered.iter().map(ToString::to_string).collect();
    let untold = Statement::new(
        "UPDATE messages SET text = NULL WHERE scope = $1 AND id = ANY ($2)",
        [own(), vec![Value::Texts(altered)]].concat(),
    );
    let kept = state.messages.values().map(|message| message.id.to_string()).collect();
    let gone = Statement::new(
        "DELETE FROM messages WHERE scope = $1 AND id <> ALL ($2)",
        [own(), vec![Value::Texts(kept)]].concat(),
    );
    let emptied = ["mailbox", "mail_rules"]
        .map(|table| Statement::new(format!("DELETE FROM {table} WHERE scope = $1"), own()));
    let messages = state.messages.values().map(|message| insert_message(scope, message));
    let messages = messages.map(|mut statement| {
        statement.text +=
            " ON CONFLICT (scope, seq) DO UPDATE SET id = excluded.id, message = excluded.message";
        statement
    });
    let entries = state.entries.values().map(|entry| insert_entry(scope, entry));
    let rules = state.rules.iter().map(|(agent, rules)| set_rules(scope, *agent, mail::encode_rules(rules)));
    [gone, untold].into_iter().chain(emptied).chain(messages).chain(entries).chain(rules).collect()
}

fn insert_message(scope: &ScopeKey, message: &Message) -> Statement {
    Statement::new(
        "INSERT INTO messages (scope, seq, id, message) VALUES ($1, $2, $3, $4)",
        vec![
            Value::text(scope.as_str()),
            Value::number(message.seq.0),
            Value::text(message.id.as_str()),
            Value::Bytes(mail::encode_message(message)),
        ],
    )
}

fn insert_entry(scope: &ScopeKey, entry: &Entry) -> Statement {
    Statement::new(
        "INSERT INTO mailbox (scope, agent, seq, importance, role, standing, owes, read_at, acked_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        vec![
            Value::text(scope.as_str()),
            Value::text(entry.agent.as_str()),
            Value::number(entry.seq.0),
            Value::number(u64::from(entry.importance.rank())),
            Value::text(entry.role.word()),
            Value::number(u64::from(entry.standing.number())),
            Value::number(u64::from(entry.owes_ack)),
            Value::Number(entry.read_at.map(|at| at.0)),
            Value::Number(entry.acked_at.map(|at| at.0)),
        ],
    )
}

fn set_rules(scope: &ScopeKey, agent: AgentId, rules: Vec<u8>) -> Statement {
    Statement::new(
        "INSERT INTO mail_rules (scope, agent, rules) VALUES ($1, $2, $3) \
         ON CONFLICT (scope, agent) DO UPDATE SET rules = excluded.rules",
        vec![Value::text(scope.as_str()), Value::text(agent.as_str()), Value::Bytes(rules)],
    )
}

fn read_rules(row: &Row) -> Option<(AgentId, clearway_core::mail::Rules)> {
    let rules = mail::decode_rules(&column::<Vec<u8>>(row, "rules")?).ok()?;
    Some((AgentId::parse(&column::<String>(row, "agent")?)?, rules))
}

fn read_message(row: &Row) -> Option<(Message, Option<String>)> {
    let message = mail::decode_message(&column::<Vec<u8>>(row, "message")?).ok()?;
    let text = column::<Option<Vec<u8>>>(row, "text")?.and_then(|bytes| String::from_utf8(bytes).ok());
    Some((message, text))
}

fn read_entry(row: &Row) -> Option<Entry> {
    Some(Entry {
        agent: AgentId::parse(&column::<String>(row, "agent")?)?,
        seq: Seq(number(row, "seq")?),
        importance: *Importance::ALL.get(usize::try_from(number(row, "importance")?).ok()?)?,
        role: Role::from_word(&column::<String>(row, "role")?)?,
        standing: Standing::from_number(u8::try_from(number(row, "standing")?).ok()?)?,
        owes_ack: number(row, "owes")? == 1,
        read_at: optional_signed(row, "read_at")?.map(Wall),
        acked_at: optional_signed(row, "acked_at")?.map(Wall),
    })
}
