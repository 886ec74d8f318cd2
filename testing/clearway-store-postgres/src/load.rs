//! Answering a read set: a few statements that need nothing of each other, so that all go out at once.
//!
//! Which agents stand behind the leases and waits found, and who their ancestors are, the server works out itself. The
//! search for leases narrows by anchor and returns what it finds: deciding filters.

use crate::link::{Statement, Value};
use crate::tables::{
    self, AGENTS, IDEMPOTENCY, LEASES, NEGOTIATIONS, REFUSALS, WAITS, column, number, optional_number,
};
use clearway_core::agent::SignOfLife;
use clearway_core::ids::{AgentId, ScopeKey, Seq};
use clearway_core::limits::{IDEMPOTENCY_MS, SHARED_PAST_MAX};
use clearway_core::pattern::{Fold, Pattern};
use clearway_core::slice::{AgentView, Due, ReadSet, RefusalMemory, Slice};
use clearway_core::target::Worktree;
use clearway_core::time::{BootKey, Mono, Now};
use clearway_core::wait::WaitView;
use clearway_store::contract::Remembered;
use clearway_wire::memo;
use tokio_postgres::Row;

/// Ids of leases a read set asks for. Every part is answered by an index of its own.
const FOUND: &str = "\
    SELECT l.id FROM unnest($2, $3) AS want (worktree, anchor) JOIN leases l ON l.scope = $1 AND l.ended_how IS NULL \
        AND l.space = 0 AND l.worktree = want.worktree AND l.anchor = want.anchor \
    UNION SELECT l.id FROM unnest($4, $5, $6) AS want (worktree, low, high) JOIN leases l ON l.scope = $1 \
        AND l.ended_how IS NULL AND l.space = 0 AND l.worktree = want.worktree \
        AND l.anchor > want.low AND l.anchor < want.high \
    UNION SELECT l.id FROM leases l WHERE l.scope = $1 AND l.ended_how IS NULL AND l.space = 1 \
        AND l.worktree = '' AND l.anchor = ANY ($7) \
    UNION SELECT l.id FROM leases l WHERE l.scope = $1 AND l.id = ANY ($8) \
    UNION SELECT l.id FROM leases l WHERE l.scope = $1 AND l.ended_how IS NULL AND l.holder = ANY ($9) \
    UNION (SELECT DISTINCT ON (l.worktree, l.pattern, l.holder, l.handed_by) l.id FROM unnest($10, $11) AS want (worktree, pattern) \
        JOIN leases l ON l.scope = $1 AND l.ended_how IS NOT NULL AND l.space = 0 \
        AND l.worktree = want.worktree AND l.pattern = want.pattern \
        ORDER BY l.worktree, l.pattern, l.holder, l.handed_by, l.fence DESC) \
    UNION SELECT latest.id FROM unnest($10, $11) AS want (worktree, pattern), LATERAL (SELECT l.id FROM leases l \
        WHERE l.scope = $1 AND l.ended_how IS NOT NULL AND l.space = 0 \
        AND l.worktree = want.worktree AND l.pattern = want.pattern ORDER BY l.fence DESC LIMIT $29) AS latest \
    UNION SELECT l.id FROM unnest($23, $24) AS want (worktree, anchor) JOIN leases l ON l.scope = $1 \
        AND l.ended_how IS NOT NULL AND l.space = 0 AND l.anchor <> l.pattern \
        AND l.worktree = want.worktree AND l.anchor = want.anchor \
    UNION (SELECT l.id FROM leases l LEFT JOIN presence p ON p.scope = $1 AND p.agent = l.holder AND p.boot = $14 \
        WHERE l.scope = $1 AND l.ended_how IS NULL AND (l.deadline <= $13 OR l.end_max <= $13) \
        AND least(greatest(l.deadline, p.last_seen + l.ttl_ms), l.end_max) <= $13 \
        ORDER BY least(greatest(l.deadline, p.last_seen + l.ttl_ms), l.end_max), l.id COLLATE \"C\" LIMIT $12) \
    UNION SELECT n.lease FROM negotiations n WHERE n.scope = $1 AND ((n.over = 0 AND $22 = 1) OR n.id = ANY ($28)) \
    UNION SELECT l.id FROM leases l WHERE l.scope = $1 AND l.ended_how IS NULL AND $15 = 1";

/// Ids of agents a read set looks up.
const LOOKED_UP: &str = "SELECT a.id FROM agents a WHERE a.scope = $1 \
    AND (a.name = ANY ($16) OR a.key = ANY ($17) OR a.process = ANY ($18) OR a.id = ANY ($26))";

/// An agent `a` with what is softly known of it and what it holds.
const VIEW: &str = "(SELECT p.last_seen FROM presence p WHERE p.scope = $1 AND p.agent = a.id AND p.boot = $14) \
    AS last_seen, (SELECT m.memo FROM memos m WHERE m.scope = $1 AND m.agent = a.id AND m.boot = $14) AS memo, h.live, h.shortest FROM agents a LEFT JOIN LATERAL (SELECT count(*) AS live, min(l.ttl_ms) AS shortest \
    FROM leases l WHERE l.scope = $1 AND l.holder = a.id AND l.ended_how IS NULL) h ON true WHERE a.scope = $1";

/// When a question is asked: at an instant that is known, or at whatever the server's clock shows.
#[derive(Clone, Debug)]
pub(crate) struct When {
    pub(crate) boot: BootKey,
    pub(crate) instant: Option<Mono>,
}

impl When {
    pub(crate) fn at(now: &Now) -> Self {
        Self { boot: now.boot.clone(), instant: Some(now.mono) }
    }
}

/// The statements that answer a read set, in the order [`Loaded::read`] takes their rows.
pub(crate) fn questions(scope: &ScopeKey, read: &ReadSet, when: &When) -> Vec<Statement> {
    // An unknown instant is the server's own, taken by the statement that needs it.
    let at_server = |text: String| match when.instant {
        Some(_) => text,
        None => text.replace("$13", "instant_ms($1)"),
    };
    let values = values(scope, read, when);
    let leases =
        format!("SELECT {} FROM leases l WHERE l.scope = $1 AND l.id IN ({FOUND})", LEASES.columns("l"));
    let wanted = format!(
        "{LOOKED_UP} UNION SELECT l.holder FROM leases l WHERE l.scope = $1 AND l.id IN ({FOUND}) \
         UNION SELECT w.agent FROM waits w WHERE w.scope = $1 AND $22 = 1 \
         UNION SELECT unnest(ARRAY[n.requester, n.holder]) FROM negotiations n WHERE n.scope = $1 \
         AND ((n.over = 0 AND $22 = 1) OR n.id = ANY ($28)) \
         UNION SELECT m.agent FROM memos m WHERE m.scope = $1 AND m.boot = $14 AND $25 = 1 \
         UNION SELECT p.agent FROM presence p JOIN agents e ON e.scope = $1 AND e.id = p.agent AND e.ended_at IS NULL \
         WHERE p.scope = $1 AND p.boot = $14 AND $27 = 1"
    );
    let family = format!(
        "WITH RECURSIVE wanted (id) AS (({wanted}) UNION \
         SELECT a.parent FROM wanted JOIN agents a ON a.scope = $1 AND a.id = wanted.id WHERE a.parent IS NOT NULL)"
    );
    let agents =
        format!("{family} SELECT {}, {VIEW} AND a.id IN (SELECT id FROM wanted)", AGENTS.columns("a"));
    let refusals = format!(
        "SELECT {} FROM refusals r WHERE r.scope = $1 AND r.boot = $14 \
         AND (r.principal = $19 OR r.principal = $20 OR r.principal IN ({LOOKED_UP}))",
        REFUSALS.columns("r")
    );
    let keyed = format!(
        "SELECT {} FROM idempotency k WHERE k.scope = $1 AND k.key = $21 AND k.agent IN ({LOOKED_UP})",
        IDEMPOTENCY.columns("k")
    );
    let negotiations = format!(
        "SELECT {} FROM negotiations n WHERE n.scope = $1 AND ((n.over = 0 AND $22 = 1) OR n.id = ANY ($28))",
        NEGOTIATIONS.columns("n")
    );
    let texts = [leases, agents, refusals, keyed, queue_text(), negotiations];
    texts.map(|text| Statement::new(at_server(text), values.clone())).into()
}

/// The queue. What another boot heard of whoever waits has no age on this clock.
fn queue_text() -> String {
    format!(
        "SELECT {}, CASE WHEN w.heard_boot = $14 THEN w.heard END AS heard FROM waits w \
         WHERE w.scope = $1 AND $22 = 1 ORDER BY w.place",
        WAITS.columns("w")
    )
}

/// Every agent.
pub(crate) fn all_agents(scope: &ScopeKey, when: &When) -> Statement {
    let text = format!("SELECT {}, {VIEW} ORDER BY a.registered_at, a.id", AGENTS.columns("a"));
    Statement::new(text, values(scope, &ReadSet::default(), when))
}

fn values(scope: &ScopeKey, read: &ReadSet, when: &When) -> Vec<Value> {
    // What a survey is about is among what overlaps and the names.
    let ReadSet { agents, overlapping, names, leases, held_by, due, history, .. } = read;
    let ReadSet { refusals_of, key, remembered, waits, negotiations, surveyed: _, .. } = read;
    let on_the_way = |(worktree, pattern): &(Worktree, Pattern)| {
        let pair = |anchor: &str| (worktree.0.clone(), anchor.to_owned());
        ancestors(pattern.anchor()).into_iter().map(pair).collect::<Vec<_>>()
    };
    let (at, anchors) = overlapping.iter().flat_map(on_the_way).unzip();
    let (once_at, once_anchors) = history.iter().flat_map(on_the_way).unzip();
    // Below a single path as well: what is a file for one cannot be a directory for another.
    let beneath = |(worktree, pattern): &(Worktree, Pattern)| (worktree.0.clone(), below(pattern.anchor()));
    let (under, ranges): (Vec<String>, Vec<(String, String)>) = overlapping.iter().map(beneath).unzip();
    let (low, high) = ranges.into_iter().unzip();
    let limit = match due {
        Due::None | Due::EveryLive => 0,
        Due::Some(limit) => *limit as u64,
    };
    let texts = |texts: Vec<String>| Value::Texts(texts);
    vec![
        Value::text(scope.as_str()),
        texts(at),
        texts(anchors),
        texts(under),
        texts(low),
        texts(high),
        texts(names.iter().map(|name| name.as_str().to_owned()).collect()),
        texts(leases.iter().map(ToString::to_string).collect()),
        texts(held_by.iter().map(ToString::to_string).collect()),
        texts(history.iter().map(|(worktree, _)| worktree.0.clone()).collect()),
        texts(history.iter().map(|(_, pattern)| pattern.canonical().to_owned()).collect()),
        Value::number(limit),
        when.instant.map_or(Value::Number(None), |instant| Value::number(instant.0)),
        Value::text(&when.boot.0),
        Value::number(u64::from(*due == Due::EveryLive)),
        texts(agents.names.iter().map(|name| name.as_str().to_owned()).collect()),
        texts(agents.keys.iter().map(|key| key.0.clone()).collect()),
        texts(agents.processes.iter().map(clearway_core::facts::Process::key).collect()),
        Value::Text(refusals_of.clone()),
        Value::text(RefusalMemory::principal(None)),
        Value::Text(key.clone()),
        Value::number(u64::from(*waits)),
        texts(once_at),
        texts(once_anchors),
        Value::number(u64::from(*remembered)),
        texts(agents.ids.iter().map(ToString::to_string).collect()),
        Value::number(u64::from(read.mail.everyone)),
        texts(negotiations.iter().map(ToString::to_string).collect()),
        Value::number(SHARED_PAST_MAX as u64),
    ]
}

/// What a read set was answered with.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) slice: Slice,
    /// The last refusals of everybody the caller may turn out to be.
    pub(crate) refusals: Vec<RefusalMemory>,
    /// What the caller's key was used for, by whomever the caller may turn out to be.
    pub(crate) keyed: Vec<Keyed>,
}

impl Loaded {
    /// Reads the answers to [`questions`]; rows of leases and waits that make no sense are named.
    pub(crate) fn read(answers: &[Vec<Row>], fold: Fold) -> Self {
        let [leases, agents, refusals, keyed, waits, negotiations] = answers else { return Self::default() };
        let mut slice = Slice { agents: agents.iter().filter_map(read_view).collect(), ..Slice::default() };
        for row in leases {
            match tables::read_lease(row, fold) {
                Some(lease) => slice.leases.push(lease),
                None => slice.unreadable.push(column(row, "id").unwrap_or_default()),
            }
        }
        for row in waits {
            match read_wait_view(row, fold) {
                Some(view) => slice.waits.push(view),
                None => slice.unreadable_waits.push(column(row, "id").unwrap_or_default()),
            }
        }
        slice.negotiations =
            negotiations.iter().filter_map(|row| tables::read_negotiation(row, fold)).collect();
        let refusals = refusals.iter().filter_map(read_refusal).collect();
        Self { slice, refusals, keyed: keyed.iter().filter_map(Keyed::read).collect() }
    }

    pub(crate) fn refusal_of(&self, principal: Option<&String>) -> Option<RefusalMemory> {
        self.refusals.iter().find(|memory| Some(&memory.principal) == principal).cloned()
    }
}

/// A remembered answer and its age.
#[derive(Clone, Debug)]
pub(crate) struct Keyed {
    pub(crate) remembered: Remembered,
    boot: String,
    at: Mono,
}

impl Keyed {
    pub(crate) fn read(row: &Row) -> Option<Self> {
        let remembered = Remembered {
            agent: AgentId::parse(&column::<String>(row, "agent")?)?,
            key: column(row, "key")?,
            request: column::<Vec<u8>>(row, "request")?.try_into().ok()?,
            rev: Seq(number(row, "rev")?),
            outcome: column(row, "outcome")?,
        };
        Some(Self { remembered, boot: column(row, "boot")?, at: Mono(number(row, "at")?) })
    }

    /// What another boot remembered has no age on this clock; it stays until its place is needed.
    pub(crate) fn is_forgotten(&self, now: &Now) -> bool {
        self.boot == now.boot.0 && now.mono.since(self.at) >= IDEMPOTENCY_MS
    }
}

pub(crate) fn read_view(row: &Row) -> Option<AgentView> {
    Some(AgentView {
        agent: tables::read_agent(row)?,
        // The server keeps the time for everybody: no sign of life is ahead of it.
        sign: optional_number(row, "last_seen")?.map(|at| SignOfLife::Seen(Mono(at))),
        live_leases: number(row, "live")?,
        shortest_ttl_ms: optional_number(row, "shortest")?,
        memo: column::<Option<Vec<u8>>>(row, "memo")?.map(|bytes| memo::decode(&bytes)).unwrap_or_default(),
    })
}

pub(crate) fn read_wait_view(row: &Row, fold: Fold) -> Option<WaitView> {
    let heard = optional_number(row, "heard")?.map(Mono);
    Some(WaitView { wait: tables::read_wait(row, fold)?, heard })
}

fn read_refusal(row: &Row) -> Option<RefusalMemory> {
    Some(RefusalMemory {
        principal: column(row, "principal")?,
        key: column(row, "key")?,
        since: Mono(number(row, "since")?),
        repeats: number(row, "repeats")?,
    })
}

/// The anchor itself and every directory above it, the root included.
fn ancestors(anchor: &str) -> Vec<&str> {
    let above = anchor.match_indices('/').map(|(end, _)| &anchor[..end]);
    let own = (!anchor.is_empty()).then_some(anchor);
    std::iter::once("").chain(above).chain(own).collect()
}

/// The open range of texts that lie below an anchor: `a/` up to `a0`, since `0` follows `/`.
fn below(anchor: &str) -> (String, String) {
    match anchor {
        "" => (String::new(), "\u{10ffff}".to_owned()),
        anchor => (format!("{anchor}/"), format!("{anchor}0")),
    }
}
