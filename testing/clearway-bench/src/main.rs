//! Measures what an agent waits for, beside what the machine itself costs, and prints Markdown.
//!
//! `clearway-bench BINARY [--quick]`, or with the name of a part for that alone; started by `cargo xtask bench`. It asserts nothing: times depend on the machine
//! and its load. Whatever has a goal is measured in turns with its floor, so that load hits both.

mod figures;
mod floors;
mod git;
mod hooks;
mod inside;
mod mail;
mod memory;
mod one_shot;
mod repository;
mod seed;
mod snapshots;

use figures::Table;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The product's allocator, so that the kernel is measured as it runs.
#[cfg(target_env = "musl")]
#[global_allocator]
static HEAP: clearway_store_sqlite::Heap = clearway_store_sqlite::Heap::new();

/// What went wrong, in words: a benchmark has no caller that would tell errors apart.
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// How often things are repeated.
#[derive(Clone, Copy, Debug)]
struct Effort {
    /// Calls of the binary, for each verb and store.
    calls: usize,
    /// Starts of slow programs that only stand for comparison.
    slow_starts: usize,
    /// Transactions inside one process.
    transactions: usize,
}

const THOROUGH: Effort = Effort { calls: 400, slow_starts: 40, transactions: 4_000 };
const QUICK: Effort = Effort { calls: 60, slow_starts: 10, transactions: 500 };

/// A part of what is measured: a table under a heading.
struct Part {
    heading: &'static str,
    /// How it is asked for alone.
    flag: &'static str,
    measure: fn(&Path, Effort) -> Outcome<Table>,
}

const PARTS: [Part; 8] = [
    Part { heading: "One call, start to exit", flag: "--calls", measure: one_shot::measure },
    Part { heading: "A hook before an edit", flag: "--hooks", measure: hooks::measure },
    Part { heading: "A snapshot at 100,000 files", flag: "--snapshots", measure: snapshots::measure },
    Part { heading: "An inbox with a long past", flag: "--mail", measure: mail::measure },
    Part { heading: "Git with our hooks", flag: "--git", measure: git::measure },
    Part { heading: "Floors of this machine", flag: "--floors", measure: floors::measure },
    Part { heading: "Inside one process", flag: "--inside", measure: |_, effort| inside::measure(effort) },
    Part { heading: "Size", flag: "--size", measure: |binary, _| memory::measure(binary) },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let measured = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [binary] => measure(Path::new(binary), THOROUGH, &PARTS),
        [binary, "--quick"] => measure(Path::new(binary), QUICK, &PARTS),
        [binary, flag] => match PARTS.iter().position(|part| part.flag == *flag) {
            Some(at) => measure(Path::new(binary), QUICK, &PARTS[at..=at]),
            None => Err(usage().into()),
        },
        _ => Err(usage().into()),
    };
    match measured {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("clearway-bench: {why}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> String {
    let alone: Vec<&str> = PARTS.iter().map(|part| part.flag).collect();
    format!("usage: clearway-bench BINARY [--quick | {}]", alone.join(" | "))
}

fn measure(binary: &Path, effort: Effort, parts: &[Part]) -> Outcome<()> {
    let place = tempfile::Builder::new().prefix("clearway-bench-").tempdir()?;
    let binary = installed(binary, place.path())?;
    for part in parts {
        println!("## {}\n\n{}", part.heading, (part.measure)(&binary, effort)?);
    }
    Ok(())
}

/// The binary as an installation puts it somewhere: in one go. What a linker wrote in small pieces lies in the kernel's
/// memory in small pieces too, and every start of it then takes a third longer, until the machine starts anew.
fn installed(binary: &Path, place: &Path) -> Outcome<PathBuf> {
    let copy = place.canonicalize()?.join("clearway");
    std::fs::copy(binary, &copy)?;
    Ok(copy)
}
