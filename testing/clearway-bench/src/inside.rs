//! The kernel inside one process: what a long-lived program pays for each transaction.

use crate::figures::{Goal, Samples, Table, ratio, us};
use crate::repository::Repository;
use crate::seed::{self, Machine};
use crate::{Effort, Outcome};
use clearway_core::event::Durability;
use clearway_core::slice::ReadSet;
use clearway_store::contract::Engine as _;
use clearway_store::{Rules, World};
use clearway_store_sqlite::SqliteEngine;
use std::fs::File;
use std::io::Write;
use std::time::{Duration, Instant};

const RESERVE_US: Goal = Goal { most: 50.0, unit: " us" };
const FULL: Goal = Goal::times(3.0);
const LOOKUP: Goal = Goal::times(1.3);
/// Leases in the store whose transactions are measured.
const LEASES: usize = 1_000;
/// A bare write of the disk's own unit.
const PAGE_BYTES: usize = 4_096;

pub(crate) fn measure(effort: Effort) -> Outcome<Table> {
    let normal = Reserves::new()?.times(Durability::Normal, effort.transactions)?;
    let (full, disk) = beside_the_disk(effort.transactions.div_ceil(8))?;
    let (few, many) = lookups(effort.transactions)?;

    let mut table = Table::new(&["what", "p50", "p99", "against", "goal"]);
    let mut row = |what: &str, samples: &Samples, against: String, goal: String| {
        table.row(&[what.to_owned(), us(samples.median()), us(samples.percentile(99)), against, goal]);
    };
    row("reserve, NORMAL, 1,000 leases", &normal, String::new(), RESERVE_US.said_of(normal.median()));
    row("write of 4 KiB + fdatasync, bare", &disk, String::new(), String::new());
    let times = full.median() / disk.median();
    row(
        "reserve, FULL, 1,000 leases",
        &full,
        format!("{} of the bare one", ratio(times)),
        FULL.said_of(times),
    );
    row("conflict lookup, literal, 100 leases", &few, String::new(), String::new());
    let times = many.median() / few.median();
    let against = format!("{} of 100 leases", ratio(times));
    row("conflict lookup, literal, 100,000 leases", &many, against, LOOKUP.said_of(times));
    Ok(table)
}

/// A store in which new files are reserved and given back, so that it keeps its size.
struct Reserves {
    repository: Repository,
    engine: SqliteEngine,
    machine: Machine,
    done: usize,
}

impl Reserves {
    fn new() -> Outcome<Self> {
        let repository = Repository::new()?;
        let mut engine = repository.engine();
        seed::seed(&repository, &mut engine, LEASES)?;
        Ok(Self { repository, engine, machine: Machine::default(), done: 0 })
    }

    fn times(&mut self, durability: Durability, count: usize) -> Outcome<Samples> {
        let mut samples = Samples::default();
        for _ in 0..count {
            samples.add(self.time(durability)?);
        }
        Ok(samples)
    }

    /// How long the reserve takes; giving back is not counted.
    fn time(&mut self, durability: Durability) -> Outcome<Duration> {
        let Self { repository, engine, machine, done } = self;
        let worktree = repository.worktree();
        let file = format!("bench/file{done:06}.rs");
        *done += 1;
        let rules = Rules { durability, ..Rules::default() };
        let command = seed::reserve(&worktree, std::slice::from_ref(&file))?;
        let started = Instant::now();
        seed::run(repository, engine, machine, rules, "measured", command)?;
        let elapsed = started.elapsed();
        let command = seed::release(&worktree, &file)?;
        seed::run(repository, engine, machine, Rules::default(), "measured", command)?;
        Ok(elapsed)
    }
}

/// Fully durable reserves in turns with what the disk itself takes, on the file system the store lies on.
fn beside_the_disk(count: usize) -> Outcome<(Samples, Samples)> {
    let mut reserves = Reserves::new()?;
    let mut file = File::create(reserves.repository.file("floor"))?;
    let (mut full, mut disk) = (Samples::default(), Samples::default());
    for _ in 0..count {
        full.add(reserves.time(Durability::Full)?);
        let started = Instant::now();
        file.write_all(&[7; PAGE_BYTES])?;
        file.sync_data()?;
        disk.add(started.elapsed());
    }
    Ok((full, disk))
}

/// Finding what may be in the way of one file, in a small and in a large store by turns.
fn lookups(count: usize) -> Outcome<(Samples, Samples)> {
    let (mut few, mut many) = (Lookups::new(100)?, Lookups::new(100_000)?);
    let (mut of_few, mut of_many) = (Samples::default(), Samples::default());
    for number in 0..count {
        of_few.add(few.time(number)?);
        of_many.add(many.time(number)?);
    }
    Ok((of_few, of_many))
}

/// A store in which held files are looked up.
struct Lookups {
    repository: Repository,
    engine: SqliteEngine,
    leases: usize,
}

impl Lookups {
    fn new(leases: usize) -> Outcome<Self> {
        let repository = Repository::new()?;
        let mut engine = repository.engine();
        seed::seed(&repository, &mut engine, leases)?;
        Ok(Self { repository, engine, leases })
    }

    fn time(&mut self, number: usize) -> Outcome<Duration> {
        let now = Machine::default().now()?;
        let mut read = ReadSet::default();
        read.meet(&self.repository.worktree(), &seed::target(&seed::file(number * 7 % self.leases))?);
        let mut snapshot =
            self.engine.snapshot(&self.repository.scope())?.ok_or("the seeded store is not there")?;
        let started = Instant::now();
        let slice = snapshot.load(&read, &now)?;
        let elapsed = started.elapsed();
        match slice.leases.len() {
            1 => Ok(elapsed),
            count => Err(format!("{count} candidates for one held file").into()),
        }
    }
}
