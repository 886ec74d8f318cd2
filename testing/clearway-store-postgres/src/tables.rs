//! Rows and the values they stand for: per table one list of columns, one way in, one way out.

use crate::link::{Statement, Value};
use clearway_core::agent::{Agent, AgentName, Client, IdentityKey};
use clearway_core::facts::Process;
use clearway_core::ids::{AgentId, Epoch, Fence, LeaseId, ScopeKey, Seq, SetId, WaitId};
use clearway_core::lease::{End, Ended, Grade, Lease, Mode};
use clearway_core::negotiation::Negotiation;
use clearway_core::pattern::{Fold, Pattern};
use clearway_core::slice::{Freeze, ScopeState};
use clearway_core::target::{ResourceName, Target, Worktree};
use clearway_core::time::{BootKey, Mono, Wall};
use clearway_core::wait::Wait;
use clearway_store::contract::{Head, StoredEvent};
use clearway_wire::chain::ChainHash;
use clearway_wire::{negotiating, waiting};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

/// A table: its name, the columns that identify a row within a scope, and all columns but the scope.
#[derive(Debug)]
pub(crate) struct Table {
    name: &'static str,
    key: &'static str,
    columns: &'static [&'static str],
}

/// The scope's own row.
pub(crate) const SCOPES: Table = Table {
    name: "scopes",
    key: "",
    columns: &[
        "rev",
        "head",
        "epoch",
        "boot",
        "folds",
        "live_leases",
        "root_patterns",
        "live_waits",
        "frozen_until",
        "frozen_reason",
        "clock_ms",
    ],
};
/// The log.
pub(crate) const EVENTS: Table = Table { name: "events", key: "seq", columns: &["seq", "bytes", "hash"] };
/// Agents.
pub(crate) const AGENTS: Table = Table {
    name: "agents",
    key: "id",
    columns: &[
        "id",
        "name",
        "client",
        "key",
        "parent",
        "root",
        "process",
        "registered_at",
        "ended_at",
        "halted",
    ],
};
/// Leases, live and ended.
pub(crate) const LEASES: Table = Table {
    name: "leases",
    key: "id",
    columns: &[
        "id",
        "space",
        "worktree",
        "anchor",
        "pattern",
        "write_set",
        "mode",
        "grade",
        "holder",
        "fence",
        "reason",
        "slot",
        "bound",
        "handed_by",
        "makes_way",
        "ceded",
        "ttl_ms",
        "granted",
        "deadline",
        "end_max",
        "created_at",
        "ended_how",
        "ended_at",
    ],
};
/// Places in the queue. What was heard of them is beside these columns, so that writing a row again leaves it.
pub(crate) const WAITS: Table = Table {
    name: "waits",
    key: "id",
    columns: &[
        "id",
        "agent",
        "wanted",
        "place",
        "attached",
        "until",
        "kept_until",
        "offered_until",
        "offers",
        "since",
        "created_at",
    ],
};
/// Requests to holders. What they are searched by is beside their bytes.
pub(crate) const NEGOTIATIONS: Table = Table {
    name: "negotiations",
    key: "id",
    columns: &["id", "over", "lease", "requester", "holder", "body"],
};
/// Remembered answers.
pub(crate) const IDEMPOTENCY: Table = Table {
    name: "idempotency",
    key: "agent, key",
    columns: &["agent", "key", "request", "rev", "outcome", "boot", "at"],
};
/// Signs of life.
pub(crate) const PRESENCE: Table =
    Table { name: "presence", key: "agent", columns: &["agent", "boot", "last_seen"] };
/// What is remembered of agents.
pub(crate) const MEMOS: Table = Table { name: "memos", key: "agent", columns: &["agent", "boot", "memo"] };
/// Last refusals.
pub(crate) const REFUSALS: Table =
    Table { name: "refusals", key: "principal", columns: &["principal", "key", "boot", "since", "repeats"] };

impl Table {
    /// The columns, each under the name `alias` of the table.
    pub(crate) fn columns(&self, alias: &str) -> String {
        self.columns.iter().map(|column| format!("{alias}.{column}")).collect::<Vec<_>>().join(", ")
    }

    /// Adds a row that must not be there.
    pub(crate) fn insert(&self, scope: &ScopeKey, values: Vec<Value>) -> Statement {
        let places: Vec<String> = (1..=self.columns.len() + 1).map(|place| format!("${place}")).collect();
        let (name, columns, places) = (self.name, self.columns.join(", "), places.join(", "));
        let values = std::iter::once(Value::text(scope.as_str())).chain(values).collect();
        Statement::new(format!("INSERT INTO {name} (scope, {columns}) VALUES ({places})"), values)
    }

    /// Adds a row or takes the place of the one that is there.
    pub(crate) fn replace(&self, scope: &ScopeKey, values: Vec<Value>) -> Statement {
        let mut statement = self.insert(scope, values);
        let key = if self.key.is_empty() { "scope".to_owned() } else { format!("scope, {}", self.key) };
        let set: Vec<String> =
            self.columns.iter().map(|column| format!("{column} = excluded.{column}")).collect();
        statement.text += &format!(" ON CONFLICT ({key}) DO UPDATE SET {}", set.join(", "));
        statement
    }

    /// Takes out one row of a table with ids.
    pub(crate) fn take_out(&self, scope: &ScopeKey, id: &str) -> Statement {
        let text = format!("DELETE FROM {} WHERE scope = $1 AND id = $2", self.name);
        Statement::new(text, vec![Value::text(scope.as_str()), Value::text(id)])
    }

    /// Takes out every row of a table with ids but these.
    pub(crate) fn keep_only(&self, scope: &ScopeKey, ids: Vec<String>) -> Statement {
        let text = format!("DELETE FROM {} WHERE scope = $1 AND id <> ALL ($2)", self.name);
        Statement::new(text, vec![Value::text(scope.as_str()), Value::Texts(ids)])
    }
}

pub(crate) fn scope_values(state: &ScopeState, head: &Head, clock: Mono) -> Vec<Value> {
    vec![
        Value::number(head.rev.0),
        Value::Bytes(head.hash.0.to_vec()),
        Value::number(u64::from(state.epoch.0)),
        Value::Text(state.boot.as_ref().map(|boot| boot.0.clone())),
        Value::number(u64::from(state.fold == Fold::Insensitive)),
        Value::number(state.live_leases),
        Value::number(state.root_patterns),
        Value::number(state.live_waits),
        state.frozen.as_ref().map_or(Value::Number(None), |freeze| Value::number(freeze.until.0)),
        Value::Text(state.frozen.as_ref().map(|freeze| freeze.reason.clone())),
        Value::number(clock.0),
    ]
}

pub(crate) fn read_scope(row: &Row) -> Option<(ScopeState, Head)> {
    let rev = Seq(number(row, "rev")?);
    let hash = ChainHash::from_slice(&column::<Vec<u8>>(row, "head")?)?;
    let state = ScopeState {
        rev,
        epoch: Epoch(u32::try_from(number(row, "epoch")?).ok()?),
        boot: column::<Option<String>>(row, "boot")?.map(BootKey),
        fold: if number(row, "folds")? == 1 { Fold::Insensitive } else { Fold::Exact },
        live_leases: number(row, "live_leases")?,
        root_patterns: number(row, "root_patterns")?,
        live_waits: number(row, "live_waits")?,
        frozen: read_freeze(row)?,
        lost_tail: 0,
    };
    Some((state, Head { rev, hash }))
}

fn read_freeze(row: &Row) -> Option<Option<Freeze>> {
    let Some(until) = optional_number(row, "frozen_until")? else { return Some(None) };
    Some(Some(Freeze { until: Mono(until), reason: column(row, "frozen_reason")? }))
}

pub(crate) fn event_values(event: &StoredEvent) -> Vec<Value> {
    vec![Value::number(event.seq.0), Value::Bytes(event.bytes.clone()), Value::Bytes(event.hash.0.to_vec())]
}

pub(crate) fn read_event(row: &Row) -> Option<StoredEvent> {
    let hash = ChainHash::from_slice(&column::<Vec<u8>>(row, "hash")?)?;
    Some(StoredEvent { seq: Seq(number(row, "seq")?), bytes: column(row, "bytes")?, hash })
}

pub(crate) fn agent_values(agent: &Agent) -> Vec<Value> {
    vec![
        Value::text(agent.id.as_str()),
        Value::text(agent.name.as_str()),
        Value::text(agent.client.word()),
        Value::text(&agent.key.0),
        Value::Text(agent.parent.map(|parent| parent.to_string())),
        Value::text(agent.root.as_str()),
        Value::Text(agent.process.as_ref().map(Process::key)),
        Value::Number(Some(agent.registered_at.0)),
        Value::Number(agent.ended_at.map(|at| at.0)),
        Value::Text(agent.halted.clone()),
    ]
}

pub(crate) fn read_agent(row: &Row) -> Option<Agent> {
    Some(Agent {
        id: AgentId::parse(&column::<String>(row, "id")?)?,
        name: AgentName::parse(&column::<String>(row, "name")?)?,
        client: Client::from_word(&column::<String>(row, "client")?)?,
        key: IdentityKey(column(row, "key")?),
        parent: optional(row, "parent", AgentId::parse)?,
        root: AgentId::parse(&column::<String>(row, "root")?)?,
        process: optional(row, "process", Process::from_key)?,
        registered_at: Wall(column(row, "registered_at")?),
        ended_at: column::<Option<i64>>(row, "ended_at")?.map(Wall),
        halted: column(row, "halted")?,
    })
}

pub(crate) fn lease_values(lease: &Lease) -> Vec<Value> {
    let (space, anchor) = match &lease.target {
        Target::Path(pattern) => (0, pattern.anchor()),
        Target::Name(name) => (1, name.as_str()),
    };
    vec![
        Value::text(lease.id.as_str()),
        Value::number(space),
        Value::text(&lease.worktree.0),
        Value::text(anchor),
        Value::text(lease.target.canonical()),
        Value::Text(lease.set.map(|set| set.to_string())),
        Value::text(lease.mode.word()),
        Value::text(lease.grade.word()),
        Value::text(lease.holder.as_str()),
        Value::number(lease.fence.to_integer()),
        Value::Text(lease.reason.clone()),
        Value::Number(lease.slot.map(i64::from)),
        Value::text(lease.bound.as_ref().map(Process::key).unwrap_or_default()),
        Value::Text(lease.handed_by.map(|agent| agent.to_string())),
        Value::number(u64::from(lease.makes_way)),
        Value::text(lease.ceded.iter().map(Target::canonical).collect::<Vec<_>>().join("\n")),
        Value::number(lease.ttl_ms),
        Value::number(lease.granted.0),
        Value::number(lease.deadline.0),
        lease.end_max.map_or(Value::Number(None), |end| Value::number(end.0)),
        Value::Number(Some(lease.created_at.0)),
        Value::Text(lease.ended.map(|ended| ended.how.word().to_owned())),
        Value::Number(lease.ended.map(|ended| ended.at.0)),
    ]
}

pub(crate) fn read_lease(row: &Row, fold: Fold) -> Option<Lease> {
    let ended = match column::<Option<String>>(row, "ended_how")? {
        Some(how) => Some(Ended { how: End::from_word(&how)?, at: Wall(column(row, "ended_at")?) }),
        None => None,
    };
    Some(Lease {
        id: LeaseId::parse(&column::<String>(row, "id")?)?,
        target: target(number(row, "space")?, &column::<String>(row, "pattern")?, fold)?,
        set: optional(row, "write_set", SetId::parse)?,
        mode: word(&column::<String>(row, "mode")?, [Mode::Shared, Mode::Exclusive], Mode::word)?,
        grade: word(&column::<String>(row, "grade")?, [Grade::Auto, Grade::Claimed], Grade::word)?,
        holder: AgentId::parse(&column::<String>(row, "holder")?)?,
        fence: Fence::from_integer(number(row, "fence")?),
        reason: column(row, "reason")?,
        worktree: Worktree(column(row, "worktree")?),
        slot: column::<Option<i64>>(row, "slot")?.and_then(|slot| u32::try_from(slot).ok()),
        bound: match column::<String>(row, "bound")?.as_str() {
            "" => None,
            key => Some(Process::from_key(key)?),
        },
        handed_by: optional(row, "handed_by", AgentId::parse)?,
        makes_way: number(row, "makes_way")? == 1,
        ceded: column::<String>(row, "ceded")?
            .lines()
            .map(|path| target(0, path, fold))
            .collect::<Option<_>>()?,
        ttl_ms: number(row, "ttl_ms")?,
        granted: Mono(number(row, "granted")?),
        deadline: Mono(number(row, "deadline")?),
        end_max: optional_number(row, "end_max")?.map(Mono),
        created_at: Wall(column(row, "created_at")?),
        ended,
    })
}

pub(crate) fn wait_values(wait: &Wait) -> Vec<Value> {
    vec![
        Value::text(wait.id.as_str()),
        Value::text(wait.agent.as_str()),
        Value::Bytes(waiting::encode_wanted(&wait.wanted)),
        Value::number(wait.place.0),
        Value::Text(wait.attached.as_ref().map(Process::key)),
        Value::number(wait.until.0),
        wait.kept_until.map_or(Value::Number(None), |until| Value::number(until.0)),
        wait.offered_until.map_or(Value::Number(None), |until| Value::number(until.0)),
        Value::number(u64::from(wait.offers)),
        Value::number(wait.since.0),
        Value::Number(Some(wait.created_at.0)),
    ]
}

pub(crate) fn read_wait(row: &Row, fold: Fold) -> Option<Wait> {
    Some(Wait {
        id: WaitId::parse(&column::<String>(row, "id")?)?,
        agent: AgentId::parse(&column::<String>(row, "agent")?)?,
        wanted: waiting::decode_wanted(&column::<Vec<u8>>(row, "wanted")?, fold).ok()?,
        place: Seq(number(row, "place")?),
        attached: optional(row, "attached", Process::from_key)?,
        until: Mono(number(row, "until")?),
        kept_until: optional_number(row, "kept_until")?.map(Mono),
        offered_until: optional_number(row, "offered_until")?.map(Mono),
        offers: u32::try_from(number(row, "offers")?).ok()?,
        since: Mono(number(row, "since")?),
        created_at: Wall(column(row, "created_at")?),
    })
}

pub(crate) fn negotiation_values(negotiation: &Negotiation) -> Vec<Value> {
    vec![
        Value::text(negotiation.id.as_str()),
        Value::number(u64::from(!negotiation.is_open())),
        Value::text(negotiation.lease.as_str()),
        Value::text(negotiation.requester.as_str()),
        Value::text(negotiation.holder.as_str()),
        Value::Bytes(negotiating::encode(negotiation)),
    ]
}

pub(crate) fn read_negotiation(row: &Row, fold: Fold) -> Option<Negotiation> {
    negotiating::decode(&column::<Vec<u8>>(row, "body")?, fold).ok()
}

fn target(space: u64, text: &str, fold: Fold) -> Option<Target> {
    match space {
        0 => Pattern::from_canonical(text, fold).ok().map(Target::Path),
        _ => ResourceName::parse(text).ok().map(Target::Name),
    }
}

fn word<T: Copy>(written: &str, all: [T; 2], word: fn(T) -> &'static str) -> Option<T> {
    all.into_iter().find(|value| word(*value) == written)
}

pub(crate) fn column<'a, T: FromSql<'a>>(row: &'a Row, name: &str) -> Option<T> {
    row.try_get(name).ok()
}

pub(crate) fn number(row: &Row, name: &str) -> Option<u64> {
    optional_number(row, name)?
}

/// A number that may be below zero, or nothing.
pub(crate) fn optional_signed(row: &Row, name: &str) -> Option<Option<i64>> {
    column(row, name)
}

/// A number that may be absent: present and senseless is unreadable, absent is fine.
pub(crate) fn optional_number(row: &Row, name: &str) -> Option<Option<u64>> {
    match column::<Option<i64>>(row, name)? {
        Some(number) => u64::try_from(number).ok().map(Some),
        None => Some(None),
    }
}

fn optional<T>(row: &Row, name: &str, parse: impl FnOnce(&str) -> Option<T>) -> Option<Option<T>> {
    match column::<Option<String>>(row, name)? {
        Some(text) => parse(&text).map(Some),
        None => Some(None),
    }
}
