//! The kernel inside one process: what a long-lived program pays for each transaction.

use crate::figures::{Goal, Samples, Table, ratio, us};
use crate::repository::Repository;
use crate::seed::{self, Machine};
use crate::{Effort, Outcome};
use clearway_core::event::Durability;
use clearway_core::slice::ReadSet;
use clearway_store::contract::Engine;
use clearway_store::{Rules, World};
use std::io::Write;
use std::time::Instant;

const RESERVE_US: Goal = Goal { most: 50.0, unit: " us" };
const FULL: Goal = Goal::times(3.0);
const LOOKUP: Goal = Goal::times(1.3);
/// Leases in the store whose transactions are measured.
const LEASES: usize = 1_000;
/// A bare write of the disk's own unit.
const PAGE_BYTES: usize = 4_096;

pub(crate) fn measure(effort: Effort) -> Outcome<Table> {
    let repository = Repository::new()?;
    let mut engine = repository.engine();
    seed::seed(&repository, &mut engine, LEASES)?;
    let normal = reserves(&repository, &mut engine, Durability::Normal, effort.transactions)?;
    let full_count = effort.transactions.div_ceil(4);
    let full = reserves(&repository, &mut engine, Durability::Full, full_count)?;
    let disk = flushes(&repository, full_count)?;
    let (few, many) = (lookups(100, effort)?, lookups(100_000, effort)?);

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

/// Reserves a new file and gives it back, so that the store keeps its size; the reserve is timed.
fn reserves(
    repository: &Repository,
    engine: &mut dyn Engine,
    durability: Durability,
    count: usize,
) -> Outcome<Samples> {
    let rules = Rules { durability, ..Rules::default() };
    let (mut machine, mut samples) = (Machine::default(), Samples::default());
    let worktree = repository.worktree();
    for number in 0..count {
        let file = format!("bench/file{number:06}.rs");
        let command = seed::reserve(&worktree, std::slice::from_ref(&file))?;
        let started = Instant::now();
        seed::run(repository, engine, &mut machine, rules, "measured", command)?;
        samples.add(started.elapsed());
        let command = seed::release(&worktree, &file)?;
        seed::run(repository, engine, &mut machine, Rules::default(), "measured", command)?;
    }
    Ok(samples)
}

/// What the disk itself takes, on the file system the store lies on.
fn flushes(repository: &Repository, count: usize) -> Outcome<Samples> {
    let mut file = std::fs::File::create(repository.file("floor"))?;
    let mut samples = Samples::default();
    for _ in 0..count {
        let started = Instant::now();
        file.write_all(&[7; PAGE_BYTES])?;
        file.sync_data()?;
        samples.add(started.elapsed());
    }
    Ok(samples)
}

/// Finding what may be in the way of one file, in a store of so many leases.
fn lookups(leases: usize, effort: Effort) -> Outcome<Samples> {
    let repository = Repository::new()?;
    let mut engine = repository.engine();
    seed::seed(&repository, &mut engine, leases)?;
    let scope = repository.scope();
    let now = Machine::default().now()?;
    let mut samples = Samples::default();
    for number in 0..effort.transactions {
        let mut read = ReadSet::default();
        read.meet(&repository.worktree(), &seed::target(&seed::file(number * 7 % leases))?);
        let mut snapshot = engine.snapshot(&scope)?.ok_or("the seeded store is not there")?;
        let started = Instant::now();
        let slice = snapshot.load(&read, &now)?;
        samples.add(started.elapsed());
        if slice.leases.len() != 1 {
            return Err(format!("{} candidates for one held file", slice.leases.len()).into());
        }
    }
    Ok(samples)
}
