//! A process that does nothing but reserve and release a path of its own, through the real engine: the busiest
//! neighbour there can be. It is this program in another role, started by [`crate::fairness`].

use crate::stage::{Outcome, engine, now};
use clearway_core::agent::{AgentName, Caller};
use clearway_core::command::{Command, Release, Request, Reserve, ScopeBirth, Selection, Want};
use clearway_core::facts::{FactQuery, Facts, ProcessLife, StartedBy};
use clearway_core::ids::ScopeKey;
use clearway_core::lease::{Grade, Mode};
use clearway_core::limits::TTL_MS_MAX;
use clearway_core::pattern::{Fold, Pattern};
use clearway_core::target::{Target, Worktree};
use clearway_core::time::Now;
use clearway_platform::clock::SystemClock;
use clearway_store::contract::StoreError;
use clearway_store::{Rules, World, execute};
use std::collections::BTreeSet;
use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Loops from the first line of standard input until its end, then tells how many transactions there were and how many
/// of them the store called busy.
pub fn play(home: &Path, scope: &str, name: &str) -> Outcome<String> {
    let scope = ScopeKey::parse(scope).ok_or(format!("{scope} is no scope"))?;
    let mut looper =
        Looper { engine: engine(home), machine: Machine::default(), scope, name: name.to_owned() };
    looper.turn()?;
    println!("ready");
    std::io::stdout().flush().map_err(|error| error.to_string())?;
    let mut line = String::new();
    let _ = std::io::stdin().lock().read_line(&mut line);
    let over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let _ = std::io::stdin().lock().read_line(&mut line);
            over.store(true, Ordering::Relaxed);
        });
        let (mut done, mut busy) = (0_u64, 0_u64);
        while !over.load(Ordering::Relaxed) {
            match looper.turn()? {
                Turn::Done => done += 2,
                Turn::Busy => busy += 1,
            }
        }
        Ok(format!("{done} {busy}\n"))
    })
}

/// What became of one reservation and its release.
enum Turn {
    Done,
    Busy,
}

struct Looper {
    engine: clearway_store_sqlite::SqliteEngine,
    machine: Machine,
    scope: ScopeKey,
    name: String,
}

impl Looper {
    fn turn(&mut self) -> Outcome<Turn> {
        let file = format!("loop/{}.rs", self.name);
        let target = Target::Path(Pattern::parse(&file, Fold::Exact).map_err(|error| error.to_string())?);
        let worktree = Worktree("/loop".to_owned());
        let reserve = Command::Reserve(Reserve {
            wants: vec![Want { target: target.clone(), capacity: 1 }],
            worktree: worktree.clone(),
            mode: Mode::Exclusive,
            grade: Grade::Claimed,
            as_set: false,
            ttl_ms: TTL_MS_MAX,
            max_ms: None,
            reason: None,
            best_effort: false,
            bound: None,
            makes_way: false,
        });
        let selection = Selection::These { leases: Vec::new(), targets: vec![target], worktree };
        let release = Command::Release(Release { selection, keep: Vec::new() });
        for command in [reserve, release] {
            if let Turn::Busy = self.execute(command)? {
                return Ok(Turn::Busy);
            }
        }
        Ok(Turn::Done)
    }

    fn execute(&mut self, command: Command) -> Outcome<Turn> {
        let request = Request {
            caller: Caller { claim: AgentName::parse(&self.name), ..Caller::default() },
            command,
            idempotency_key: None,
            birth: ScopeBirth::default(),
        };
        match execute(&mut self.engine, &mut self.machine, Rules::default(), &self.scope, &request) {
            Ok(reply) => reply.outcome.map(|_| Turn::Done).map_err(|failure| failure.message),
            Err(StoreError::Busy { .. }) => Ok(Turn::Busy),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// The real clock and real randomness. Nobody asks about processes where nobody contends for a path.
#[derive(Debug, Default)]
struct Machine {
    clock: SystemClock,
}

impl World for Machine {
    fn now(&mut self) -> Result<Now, StoreError> {
        now(&self.clock)
    }

    fn draw(&mut self, bytes: &mut [u8]) {
        clearway_platform::random::fill(bytes).unwrap_or_else(|error| panic!("no random bytes: {error}"));
    }

    fn gather(&mut self, queries: &BTreeSet<FactQuery>, facts: &mut Facts) {
        for query in queries {
            match query {
                FactQuery::Process(process) => facts.learn_process(process.clone(), ProcessLife::Unknown),
                FactQuery::Above => facts.learn_above(BTreeSet::new()),
                FactQuery::AboveOf(process) => facts.learn_above_of(process.clone(), StartedBy::Unseen),
                FactQuery::Ignored(worktree, path) => {
                    facts.learn_ignored(worktree.clone(), path.clone(), false);
                }
                FactQuery::Keep(worktree, path, _) => facts.learn_kept(worktree.clone(), path.clone(), None),
                FactQuery::Dirty(worktree, path) => facts.learn_dirty(worktree.clone(), path.clone(), true),
            }
        }
    }
}
