//! A snapshot of a large checkout, beside what git itself takes to look at it.

use crate::figures::{Goal, Samples, Table, ms, ratio};
use crate::repository::Repository;
use crate::{Effort, Outcome};
use std::path::Path;

const FILES: usize = 100_000;
/// Files that are changed and not committed.
const CHANGED: usize = 20;

const SNAPSHOT: Goal = Goal::times(2.0);

pub(crate) fn measure(binary: &Path, effort: Effort) -> Outcome<Table> {
    eprintln!("measuring snapshots of {FILES} files");
    let mut table = Table::new(&["call", "files", "p50", "p99", "x `git status`", "goal"]);
    let repository = Repository::new()?;
    std::env::set_current_dir(repository.root())?;
    let measured = fill(&repository).and_then(|()| in_turns(&repository, binary, effort.slow_starts / 2));
    std::env::set_current_dir("/")?;
    let (status, snapshot) = measured?;
    let floor = status.median();
    for (name, samples, goal) in
        [("`git status`", &status, None), ("`snapshot`, 20 changed", &snapshot, Some(SNAPSHOT))]
    {
        let times = samples.median() / floor;
        let goal = goal.map(|goal: Goal| goal.said_of(times)).unwrap_or_default();
        let (p50, p99) = (ms(samples.median()), ms(samples.percentile(99)));
        table.row(&[name.to_owned(), FILES.to_string(), p50, p99, ratio(times), goal]);
    }
    Ok(table)
}

/// A commit of many small files.
fn fill(repository: &Repository) -> Outcome<()> {
    repository.write_files(FILES)?;
    let who = ["-c", "user.name=Bench", "-c", "user.email=bench@example.org", "-c", "gc.auto=0"];
    for words in [["add", "--all"].as_slice(), &["commit", "--quiet", "--message", "all of them"]] {
        let (_, status) = repository.time(Path::new("git"), &[&who, words].concat())?;
        if !status.success() {
            return Err(format!("git {words:?}: {status}").into());
        }
    }
    Ok(())
}

/// Each round changes the same files anew, looks and keeps; the first one fills caches.
fn in_turns(repository: &Repository, binary: &Path, rounds: usize) -> Outcome<(Samples, Samples)> {
    let (mut status, mut snapshot) = (Samples::default(), Samples::default());
    for round in 0..=rounds.max(1) {
        for number in 0..CHANGED {
            std::fs::write(repository.numbered(number * FILES / CHANGED), format!("round {round}\n"))?;
        }
        let look: &[&str] = &["--no-optional-locks", "status", "--porcelain=v2", "--untracked-files=all"];
        for (program, words, samples) in
            [(Path::new("git"), look, &mut status), (binary, ["snapshot"].as_slice(), &mut snapshot)]
        {
            let (time, ended) = repository.time(program, words)?;
            if !ended.success() {
                return Err(format!("{} {words:?} ended with {ended}", program.display()).into());
            }
            if round > 0 {
                samples.add(time);
            }
        }
    }
    Ok((status, snapshot))
}
