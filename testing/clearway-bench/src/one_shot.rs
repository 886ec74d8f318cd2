//! Calls of the binary as an agent makes them: start, one transaction, exit.

use crate::figures::{Goal, Samples, Table, ms, ratio};
use crate::repository::Repository;
use crate::seed;
use crate::{Effort, Outcome};
use std::path::Path;

/// Active leases in the stores.
const STORES: [usize; 4] = [0, 100, 10_000, 100_000];
/// The floor of every goal here.
const FLOOR: &str = "/bin/true";

const CHECK: Goal = Goal::times(1.5);
const RESERVE: Goal = Goal::times(1.9);
/// What a reserve may take in the largest store.
const RESERVE_LARGEST: Goal = Goal::times(2.3);

pub(crate) fn measure(binary: &Path, effort: Effort) -> Outcome<Table> {
    let mut table = Table::new(&["call", "active leases", "p50", "p99", "x `/bin/true`", "goal"]);
    for leases in STORES {
        eprintln!("measuring calls with {leases} active leases");
        let repository = Repository::new()?;
        seed::seed(&repository, &mut repository.engine(), leases)?;
        std::env::set_current_dir(repository.root())?;
        let measured = in_turns(&repository, binary, leases, effort.calls);
        std::env::set_current_dir("/")?;
        let verbs = measured?;
        let floor = verbs.first().map_or(f64::NAN, |verb| verb.samples.median());
        verbs.iter().for_each(|verb| table.row(&verb.row(leases, floor)));
    }
    Ok(table)
}

/// One thing that is called again and again.
struct Verb {
    name: &'static str,
    code: i32,
    goal: fn(usize) -> Option<Goal>,
    samples: Samples,
}

impl Verb {
    fn new(name: &'static str, code: i32, goal: fn(usize) -> Option<Goal>) -> Self {
        Self { name, code, goal, samples: Samples::default() }
    }

    fn row(&self, leases: usize, floor: f64) -> [String; 6] {
        let times = self.samples.median() / floor;
        let goal = (self.goal)(leases).map(|goal| goal.said_of(times)).unwrap_or_default();
        let (p50, p99) = (ms(self.samples.median()), ms(self.samples.percentile(99)));
        [self.name.to_owned(), leases.to_string(), p50, p99, ratio(times), goal]
    }
}

fn reserve_goal(leases: usize) -> Option<Goal> {
    Some(if leases < 100_000 { RESERVE } else { RESERVE_LARGEST })
}

/// Every round calls everything once, the floor first.
fn in_turns(repository: &Repository, binary: &Path, leases: usize, rounds: usize) -> Outcome<Vec<Verb>> {
    let mut verbs = vec![
        Verb::new(FLOOR, 0, |_| None),
        Verb::new("`clearway --version`", 0, |_| None),
        Verb::new("`check`, free path", 0, |_| Some(CHECK)),
        Verb::new("`reserve`, new path", 0, reserve_goal),
        Verb::new("`release`", 0, reserve_goal),
        Verb::new("`reserve`, a directory", 0, |_| None),
        Verb::new("`reserve`, a pattern", 0, |_| None),
    ];
    if leases > 0 {
        verbs.push(Verb::new("`reserve`, refused", 1, reserve_goal));
    }
    for round in 0..=rounds {
        let (new, held) = (format!("bench/file{round}.rs"), seed::file(round * 37 % leases.max(1)));
        let (directory, pattern) = (format!("bench/directory{round}/"), format!("bench/**/of{round}-*.rs"));
        let lines: [&[&str]; 8] = [
            &[],
            &["--version"],
            &["check", "bench/free.rs"],
            &["reserve", &new],
            &["release", &new],
            &["reserve", &directory],
            &["reserve", &pattern],
            &["reserve", &held],
        ];
        for (verb, words) in verbs.iter_mut().zip(lines) {
            let program = if verb.name == FLOOR { Path::new(FLOOR) } else { binary };
            let (time, status) = repository.time(program, words)?;
            if status.code() != Some(verb.code) {
                return Err(format!("{} {words:?} ended with {status}", verb.name).into());
            }
            // The first round fills caches and registers the agent.
            if round > 0 {
                verb.samples.add(time);
            }
        }
        // Not measured: the store stays as large as it says it is.
        repository.time(binary, &["release", "--all"])?;
    }
    Ok(verbs)
}
