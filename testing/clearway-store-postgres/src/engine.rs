//! The engine: one connection, one scope at a time, and whose clock counts.

use crate::errors::Trouble;
use crate::link::{CHANNEL, Link, Statement, Value, place};
use crate::load::{Keyed, Loaded, When, all_agents, questions, read_view};
use crate::tables::{self, AGENTS, EVENTS, IDEMPOTENCY, LEASES, NEGOTIATIONS, SCOPES, WAITS, number};
use crate::transaction::PostgresTransaction;
use clearway_core::fold::State;
use clearway_core::ids::{AgentId, ScopeKey, Seq};
use clearway_core::slice::{AgentView, ReadSet, Slice};
use clearway_core::time::{BootKey, Mono, Now, Wall};
use clearway_store::contract::{
    Capabilities, Engine, Examination, Head, Holder, LeaseListing, Listed, LostTexts, MachineClock, Opened,
    Remembered, Snapshot, StoreError, StoredEvent, Transaction, in_order,
};
use clearway_wire::chain::digest;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio_postgres::Row;

/// How often a follower looks for itself, should no announcement come.
const POLL_MS: u64 = 200;
/// What the server's clock shows for a scope.
const INSTANT: &str = "SELECT instant_ms($1) AS mono, \
                       floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS wall";

/// How the engine is set up.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where the server's socket lies.
    pub directory: PathBuf,
    /// The longest wait for another writer.
    pub timeout: Duration,
    /// Which clock deadlines live on.
    pub clock: Clock,
}

/// Which clock deadlines live on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The server's: callers may sit on several machines.
    Server,
    /// The caller's: for stories that move time.
    Caller,
}

/// A database behind the storage contract.
#[derive(Debug)]
pub struct PostgresEngine {
    settings: Settings,
    link: Option<Link>,
    /// The name of the server's clock: the store's own, so that deadlines outlive a restart and a failover.
    boot: BootKey,
    version: String,
    listening: bool,
}

impl PostgresEngine {
    /// Connects. The tables must be there: see [`install`](crate::install).
    pub fn connect(settings: Settings) -> Result<Self, StoreError> {
        let boot = BootKey(String::new());
        let mut engine = Self { settings, link: None, boot, version: String::new(), listening: false };
        engine.link()?;
        Ok(engine)
    }

    /// How often the engine waited for an answer since it connected.
    pub fn round_trips(&self) -> u64 {
        self.link.as_ref().map_or(0, Link::trips)
    }

    /// The connection; a new one if the last was cut. Never called inside a transaction, which dies with its own.
    fn link(&mut self) -> Result<&mut Link, StoreError> {
        let path = place(&self.settings.directory);
        if self.link.as_ref().is_none_or(Link::is_closed) {
            let unavailable = |reason| StoreError::Unavailable { path: path.clone(), reason };
            let mut link = Link::open(&self.settings.directory).map_err(unavailable)?;
            let question = "SELECT id, current_setting('server_version') AS version FROM store";
            let answers =
                link.run(&[Statement::plain(question)]).map_err(|trouble| trouble.store_error(&path))?;
            let row = answers.first().and_then(|rows| rows.first());
            let text = |name| row.and_then(|row| tables::column::<String>(row, name)).unwrap_or_default();
            (self.boot, self.version) = (BootKey(format!("postgres:{}", text("id"))), text("version"));
            (self.link, self.listening) = (Some(link), false);
        }
        let lost = || StoreError::Internal("the connection just made is gone".to_owned());
        self.link.as_mut().ok_or_else(lost)
    }

    fn ask(&mut self, statement: Statement) -> Result<Vec<Row>, StoreError> {
        let path = place(&self.settings.directory);
        let answers = self.link()?.run(&[statement]).map_err(|trouble| trouble.store_error(&path))?;
        Ok(answers.into_iter().next().unwrap_or_default())
    }

    /// Locks the scope, reads clock and scope behind the lock, and asks whatever else is known to be asked: one
    /// round trip. Each statement sees what was committed before it began, so those behind the lock see everything.
    fn start(
        &mut self,
        scope: &ScopeKey,
        more: Vec<Statement>,
    ) -> Result<(PostgresTransaction<'_>, Now, Vec<Vec<Row>>), StoreError> {
        let (timeout, boot) = (self.settings.timeout, self.boot.clone());
        let path = place(&self.settings.directory);
        let timeout_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX).max(1);
        let key = lock_key(scope);
        let mut batch = vec![
            Statement::plain("BEGIN ISOLATION LEVEL READ COMMITTED"),
            Statement::new(
                "SELECT set_config('lock_timeout', $1, true)",
                vec![Value::text(timeout_ms.to_string())],
            ),
            Statement::new("SELECT pg_advisory_xact_lock($1)", vec![Value::Number(Some(key))]),
            Statement::new(INSTANT, vec![Value::text(scope.as_str())]),
            scope_row(scope),
        ];
        batch.extend(more);
        let link = self.link()?;
        let mut answers =
            link.run(&batch).map_err(|trouble| given_up(link, trouble, key, timeout_ms, &path))?;
        let rest = answers.split_off(5);
        let now = read_instant(&answers[3], boot)?;
        let view = View::new(link, path, scope.clone(), &answers[4]);
        Ok((PostgresTransaction::new(view, now.mono), now, rest))
    }
}

/// The number by which a scope is locked. Two scopes that share one wait for each other, and nothing worse.
fn lock_key(scope: &ScopeKey) -> i64 {
    let bytes = digest(scope.as_str());
    i64::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]])
}

fn scope_row(scope: &ScopeKey) -> Statement {
    let text = format!("SELECT {} FROM scopes s WHERE s.scope = $1", SCOPES.columns("s"));
    Statement::new(text, vec![Value::text(scope.as_str())])
}

fn read_instant(rows: &[Row], boot: BootKey) -> Result<Now, StoreError> {
    let read = |row: &Row| {
        Some(Now { boot, mono: Mono(number(row, "mono")?), wall: Wall(tables::column(row, "wall")?) })
    };
    rows.first().and_then(read).ok_or_else(|| StoreError::Internal("the server has no clock".to_owned()))
}

/// Ends a transaction that could not begin; a wait that was too long names whoever is in the way.
fn given_up(link: &mut Link, trouble: Trouble, key: i64, waited_ms: u64, path: &str) -> StoreError {
    let _ = link.run(&[Statement::plain("ROLLBACK")]);
    if !trouble.is_lock_wait() {
        return trouble.store_error(path);
    }
    let question = "SELECT a.application_name || ', server process ' || a.pid || ', ' || a.state AS holder \
        FROM pg_locks l JOIN pg_stat_activity a USING (pid) \
        WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 \
        AND (l.classid::bigint << 32 | l.objid::bigint) = $1";
    let rows = link.run(&[Statement::new(question, vec![Value::Number(Some(key))])]).unwrap_or_default();
    let holders =
        rows.iter().flatten().filter_map(|row| tables::column(row, "holder")).map(Holder::Told).collect();
    StoreError::Busy { waited_ms, holders }
}

impl Engine for PostgresEngine {
    fn capabilities(&self) -> Capabilities {
        Capabilities { engine: "postgres", version: self.version.clone(), durable: true }
    }

    fn now(&mut self, machine: &mut MachineClock<'_>) -> Result<Now, StoreError> {
        if self.settings.clock == Clock::Caller {
            return machine();
        }
        let rows = self.ask(Statement::new(INSTANT, vec![Value::text("")]))?;
        read_instant(&rows, self.boot.clone())
    }

    fn begin(
        &mut self,
        scope: &ScopeKey,
        _create: bool,
    ) -> Result<Option<Box<dyn Transaction + '_>>, StoreError> {
        let (transaction, ..) = self.start(scope, Vec::new())?;
        Ok(Some(Box::new(transaction)))
    }

    fn open(
        &mut self,
        scope: &ScopeKey,
        _create: bool,
        read: &ReadSet,
        machine: &mut MachineClock<'_>,
    ) -> Result<Opened<'_>, StoreError> {
        if self.settings.clock == Clock::Caller {
            let (mut transaction, ..) = self.start(scope, Vec::new())?;
            let now = machine()?;
            let slice = transaction.load(read, &now)?;
            return Ok(Opened { transaction: Some(Box::new(transaction)), now, slice });
        }
        self.link()?;
        let when = When { boot: self.boot.clone(), instant: None };
        let (mut transaction, now, answers) = self.start(scope, questions(scope, read, &when))?;
        let slice = transaction.take_first(&answers, read)?;
        Ok(Opened { transaction: Some(Box::new(transaction)), now, slice })
    }

    fn snapshot(&mut self, scope: &ScopeKey) -> Result<Option<Box<dyn Snapshot + '_>>, StoreError> {
        let path = place(&self.settings.directory);
        let begin = Statement::plain("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
        let link = self.link()?;
        let answers = link.run(&[begin, scope_row(scope)]).map_err(|trouble| trouble.store_error(&path))?;
        let view = PostgresSnapshot(View::new(link, path, scope.clone(), &answers[1]));
        Ok(if view.0.exists { Some(Box::new(view)) } else { None })
    }

    fn scopes(&mut self) -> Result<Vec<ScopeKey>, StoreError> {
        let rows = self.ask(Statement::plain("SELECT scope FROM scopes WHERE rev > 0"))?;
        let keys = rows.iter().filter_map(|row| tables::column::<String>(row, "scope"));
        let mut keys: Vec<ScopeKey> = keys.filter_map(|key| ScopeKey::parse(&key)).collect();
        keys.sort();
        Ok(keys)
    }

    fn changed(&mut self, scope: &ScopeKey, after: Seq, wait_ms: u64) -> Result<bool, StoreError> {
        let started = Instant::now();
        if !std::mem::replace(&mut self.listening, true) {
            self.ask(Statement::plain(&format!("LISTEN {CHANNEL}")))?;
        }
        loop {
            let rows = self.ask(scope_row(scope))?;
            if rows.first().and_then(|row| number(row, "rev")).is_some_and(|rev| rev > after.0) {
                return Ok(true);
            }
            let left = Duration::from_millis(wait_ms).saturating_sub(started.elapsed());
            if left.is_zero() {
                return Ok(false);
            }
            self.link()?.listen(left.min(Duration::from_millis(POLL_MS)));
        }
    }

    fn examine(&mut self, scope: &ScopeKey) -> Result<Examination, StoreError> {
        let exists = !self.ask(scope_row(scope))?.is_empty();
        let size = self.ask(Statement::plain("SELECT pg_database_size(current_database()) AS bytes"))?;
        let bytes = size.first().and_then(|row| number(row, "bytes")).unwrap_or(0);
        let place = place(&self.settings.directory);
        Ok(Examination { place, exists, schema: 1, schema_known: 1, bytes, ..Examination::default() })
    }

    /// Nothing outside the database remembers it.
    fn witness(&mut self, _scope: &ScopeKey) -> Result<Option<Head>, StoreError> {
        Ok(None)
    }

    /// A server's disk is its own matter.
    fn make_room(&mut self, _scope: &ScopeKey) -> Result<bool, StoreError> {
        Ok(false)
    }

    /// Every commit waits for the disk: a server that lost its tail would hand out fences twice, and no new boot
    /// of the machine would tell.
    fn flush(&mut self, _scope: &ScopeKey) -> Result<(), StoreError> {
        Ok(())
    }

    fn rebuild(&mut self, scope: &ScopeKey, state: &State) -> Result<(), StoreError> {
        let (transaction, ..) = self.start(scope, Vec::new())?;
        transaction.rebuild(state.clone())
    }
}

/// One scope as one transaction sees it.
#[derive(Debug)]
pub(crate) struct View<'a> {
    pub(crate) link: &'a mut Link,
    pub(crate) place: String,
    pub(crate) scope: ScopeKey,
    pub(crate) exists: bool,
    pub(crate) state: State,
    pub(crate) head: Head,
}

impl<'a> View<'a> {
    fn new(link: &'a mut Link, place: String, scope: ScopeKey, rows: &[Row]) -> Self {
        let found = rows.first().and_then(tables::read_scope);
        let exists = found.is_some();
        let (own, head) = found.unwrap_or((clearway_core::slice::ScopeState::default(), Head::EMPTY));
        Self { link, place, scope, exists, state: State { scope: own, ..State::default() }, head }
    }

    pub(crate) fn run(&mut self, statements: &[Statement]) -> Result<Vec<Vec<Row>>, StoreError> {
        let Self { link, place, .. } = self;
        link.run(statements).map_err(|trouble| trouble.store_error(place))
    }

    pub(crate) fn ask(&mut self, text: String, mut values: Vec<Value>) -> Result<Vec<Row>, StoreError> {
        values.insert(0, Value::text(self.scope.as_str()));
        Ok(self.run(&[Statement::new(text, values)])?.into_iter().next().unwrap_or_default())
    }

    pub(crate) fn loaded(&mut self, read: &ReadSet, now: &Now) -> Result<Loaded, StoreError> {
        let answers = self.run(&questions(&self.scope, read, &When::at(now)))?;
        Ok(Loaded::read(&answers, self.state.scope.fold))
    }

    /// The slice of what was loaded, in the contract's order.
    pub(crate) fn slice(&self, loaded: &Loaded, read: &ReadSet) -> Slice {
        let refusal = loaded.refusal_of(read.refusals_of.as_ref());
        in_order(Slice { scope: self.state.scope.clone(), refusal, ..loaded.slice.clone() })
    }

    pub(crate) fn load(&mut self, read: &ReadSet, now: &Now) -> Result<Slice, StoreError> {
        let loaded = self.loaded(read, now)?;
        let slice = self.slice(&loaded, read);
        self.with_mail(slice, read)
    }

    /// The same with the mail that was asked for, which takes round trips of its own.
    pub(crate) fn with_mail(&mut self, slice: Slice, read: &ReadSet) -> Result<Slice, StoreError> {
        if read.mail.is_nothing() {
            return Ok(slice);
        }
        let agents: Vec<AgentId> = slice.agents.iter().map(|view| view.agent.id).collect();
        Ok(Slice { mail: self.mail(&read.mail, &agents)?, ..slice })
    }

    pub(crate) fn events(&mut self, after: Seq, limit: usize) -> Result<Vec<StoredEvent>, StoreError> {
        let columns = EVENTS.columns("e");
        let text = format!(
            "SELECT {columns} FROM events e WHERE e.scope = $1 AND e.seq > $2 ORDER BY e.seq LIMIT $3"
        );
        let rows = self.ask(text, vec![Value::number(after.0), Value::number(limit as u64)])?;
        let read = |row| {
            let unreadable =
                || StoreError::Corrupt { path: self.place.clone(), reason: "an unreadable event".to_owned() };
            tables::read_event(row).ok_or_else(unreadable)
        };
        rows.iter().map(read).collect()
    }

    pub(crate) fn leases(&mut self, wanted: LeaseListing) -> Result<Listed, StoreError> {
        let limit = if let LeaseListing::WithEnded(limit) = wanted { limit as u64 } else { 0 };
        let columns = LEASES.columns("l");
        let text = format!(
            "SELECT {columns} FROM leases l WHERE l.scope = $1 AND l.ended_how IS NULL UNION ALL \
             (SELECT {columns} FROM leases l WHERE l.scope = $1 AND l.ended_how IS NOT NULL ORDER BY l.fence DESC LIMIT $2)"
        );
        let rows = self.ask(text, vec![Value::number(limit)])?;
        let mut listed = Listed::default();
        for row in &rows {
            match tables::read_lease(row, self.state.scope.fold) {
                Some(lease) => listed.leases.push(lease),
                None => listed.unreadable.push(tables::column(row, "id").unwrap_or_default()),
            }
        }
        listed.leases.sort_by_key(|lease| lease.fence);
        Ok(listed)
    }

    pub(crate) fn agents(&mut self, now: &Now) -> Result<Vec<AgentView>, StoreError> {
        let answers = self.run(&[all_agents(&self.scope, &When::at(now))])?;
        Ok(answers.iter().flatten().filter_map(read_view).collect())
    }

    pub(crate) fn recall(
        &mut self,
        agent: AgentId,
        key: &str,
        now: &Now,
    ) -> Result<Option<Remembered>, StoreError> {
        let columns = IDEMPOTENCY.columns("k");
        let text =
            format!("SELECT {columns} FROM idempotency k WHERE k.scope = $1 AND k.agent = $2 AND k.key = $3");
        let rows = self.ask(text, vec![Value::text(agent.as_str()), Value::text(key)])?;
        let kept = rows.first().and_then(Keyed::read).filter(|keyed| !keyed.is_forgotten(now));
        Ok(kept.map(|keyed| keyed.remembered))
    }

    pub(crate) fn projection(&mut self) -> Result<State, StoreError> {
        let leases = self.leases(LeaseListing::WithEnded(usize::MAX))?.leases;
        let agents =
            self.ask(format!("SELECT {} FROM agents a WHERE a.scope = $1", AGENTS.columns("a")), Vec::new())?;
        let agents = agents.iter().filter_map(tables::read_agent);
        let waits =
            self.ask(format!("SELECT {} FROM waits w WHERE w.scope = $1", WAITS.columns("w")), Vec::new())?;
        let fold = self.state.scope.fold;
        let waits = waits.iter().filter_map(|row| tables::read_wait(row, fold));
        let text = format!("SELECT {} FROM negotiations n WHERE n.scope = $1", NEGOTIATIONS.columns("n"));
        let negotiations = self.ask(text, Vec::new())?;
        let negotiations = negotiations.iter().filter_map(|row| tables::read_negotiation(row, fold));
        Ok(State {
            scope: self.state.scope.clone(),
            agents: agents.map(|agent| (agent.id, agent)).collect(),
            leases: leases.into_iter().map(|lease| (lease.id, lease)).collect(),
            waits: waits.map(|wait| (wait.id, wait)).collect(),
            mail: self.mail_state()?,
            negotiations: negotiations.map(|negotiation| (negotiation.id, negotiation)).collect(),
        })
    }

    /// Ends the transaction without a trace; a connection that is gone has done so already.
    pub(crate) fn roll_back(&mut self) {
        if !self.link.is_closed() {
            let _ = self.link.run(&[Statement::plain("ROLLBACK")]);
        }
    }
}

/// A consistent view that ends with it.
#[derive(Debug)]
struct PostgresSnapshot<'a>(View<'a>);

impl Drop for PostgresSnapshot<'_> {
    fn drop(&mut self) {
        self.0.roll_back();
    }
}

impl Snapshot for PostgresSnapshot<'_> {
    fn load(&mut self, read: &ReadSet, now: &Now) -> Result<Slice, StoreError> {
        self.0.load(read, now)
    }

    fn head(&mut self) -> Result<Head, StoreError> {
        Ok(self.0.head)
    }

    fn events(&mut self, after: Seq, limit: usize) -> Result<Vec<StoredEvent>, StoreError> {
        self.0.events(after, limit)
    }

    fn leases(&mut self, wanted: LeaseListing, _now: &Now) -> Result<Listed, StoreError> {
        self.0.leases(wanted)
    }

    fn agents(&mut self, now: &Now) -> Result<Vec<AgentView>, StoreError> {
        self.0.agents(now)
    }

    fn recall(&mut self, agent: AgentId, key: &str, now: &Now) -> Result<Option<Remembered>, StoreError> {
        self.0.recall(agent, key, now)
    }

    fn projection(&mut self) -> Result<State, StoreError> {
        self.0.projection()
    }

    fn lost_texts(&mut self) -> Result<LostTexts, StoreError> {
        self.0.lost_texts()
    }
}
