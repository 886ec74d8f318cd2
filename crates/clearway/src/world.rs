//! Time, randomness and facts for transactions, from the real machine.

use crate::facts;
use crate::machine::Machine;
use clearway_core::facts::{FactQuery, Facts};
use clearway_core::grasp::Grasp;
use clearway_core::limits::{SNAPSHOT_HOOK_MS_MAX, SNAPSHOT_MS_MAX};
use clearway_core::snapshot::SnapshotCause;
use clearway_core::target::Worktree;
use clearway_core::time::{BootKey, Mono, Now, Wall};
use clearway_kernel::{DraftOrder, Outside};
use clearway_platform::clock::Clock;
use clearway_platform::random;
use clearway_platform::stopwatch::Stopwatch;
use clearway_store::World;
use clearway_store::contract::StoreError;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

impl World for Machine {
    fn now(&mut self) -> Result<Now, StoreError> {
        let reading = self.clock.read().map_err(|error| StoreError::Internal(error.to_string()))?;
        Ok(Now {
            boot: BootKey(reading.boot.as_str().to_owned()),
            mono: Mono(reading.mono_ms),
            wall: Wall(reading.wall_ms),
        })
    }

    fn draw(&mut self, bytes: &mut [u8]) {
        // Without randomness no id would be unpredictable, and there is no way on from there.
        random::fill(bytes).unwrap_or_else(|error| panic!("the system gives no random bytes: {error}"));
    }

    fn gather(&mut self, queries: &BTreeSet<FactQuery>, facts: &mut Facts) {
        let stopwatch = Stopwatch::start();
        facts::gather(self.environment(), queries, facts);
        self.keep(queries, facts);
        self.asking_ms += stopwatch.elapsed_ms();
    }
}

impl Machine {
    /// Keeps what somebody is about to take over, each checkout at once. What becomes of what cannot be kept is for the
    /// decision to say.
    fn keep(&mut self, queries: &BTreeSet<FactQuery>, facts: &mut Facts) {
        let Ok(now) = self.now() else { return };
        let mut wanted: BTreeMap<(&Worktree, SnapshotCause), Vec<&str>> = BTreeMap::new();
        for query in queries {
            if let FactQuery::Keep(worktree, path, cause) = query {
                wanted.entry((worktree, *cause)).or_default().push(path);
            }
        }
        // A client waits for its hook; whoever typed a command can wait longer than be told that nothing was kept.
        let within_ms = if self.deadline.is_some() { SNAPSHOT_HOOK_MS_MAX } else { SNAPSHOT_MS_MAX };
        for ((worktree, cause), paths) in wanted {
            let order = DraftOrder {
                paths: paths.iter().map(|path| (*path).to_owned()).collect(),
                grasp: Grasp::everything(),
                gone: Vec::new(),
                cause,
                reason: None,
                at: now.wall,
                within_ms,
                ignored_beside: None,
            };
            let drafted = self.shelf(Path::new(&worktree.0)).and_then(|mut shelf| shelf.draft(&order));
            if let Err(failure) = &drafted {
                for path in &paths {
                    facts.learn_unkept(worktree.clone(), (*path).to_owned(), failure.message.clone());
                }
                continue;
            }
            let drafted = drafted.ok().flatten();
            for path in paths {
                let kept = drafted.as_ref().filter(|drafted| drafted.holds(path));
                let keeping = kept.map(|drafted| drafted.keeping(worktree.clone(), cause, None));
                facts.learn_kept(worktree.clone(), path.to_owned(), keeping);
            }
        }
    }
}
