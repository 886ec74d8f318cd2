//! Measures what an agent waits for, beside what the machine itself costs, and prints Markdown.
//!
//! `clearway-bench BINARY [--quick]`, started by `cargo xtask bench`. It asserts nothing: times depend on the machine
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

/// The headings of tables that can be had alone.
const MAIL: &str = "An inbox with a long past";
const GIT: &str = "Git with our hooks";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let measured = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [binary] => measure(Path::new(binary), THOROUGH),
        [binary, "--quick"] => measure(Path::new(binary), QUICK),
        [binary, "--mail"] => measure_alone(Path::new(binary), MAIL, mail::measure),
        [binary, "--git"] => measure_alone(Path::new(binary), GIT, git::measure),
        _ => Err("usage: clearway-bench BINARY [--quick | --mail | --git]".into()),
    };
    match measured {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("clearway-bench: {why}");
            ExitCode::FAILURE
        }
    }
}

/// One table alone, briefly.
fn measure_alone(binary: &Path, heading: &str, measure: fn(&Path, Effort) -> Outcome<Table>) -> Outcome<()> {
    let place = tempfile::Builder::new().prefix("clearway-bench-").tempdir()?;
    let binary = installed(binary, place.path())?;
    print(heading, measure(&binary, QUICK)?);
    Ok(())
}

fn measure(binary: &Path, effort: Effort) -> Outcome<()> {
    let place = tempfile::Builder::new().prefix("clearway-bench-").tempdir()?;
    let binary = installed(binary, place.path())?;
    print("One call, start to exit", one_shot::measure(&binary, effort)?);
    print("A hook before an edit", hooks::measure(&binary, effort)?);
    print("A snapshot at 100,000 files", snapshots::measure(&binary, effort)?);
    print(MAIL, mail::measure(&binary, effort)?);
    print(GIT, git::measure(&binary, effort)?);
    print("Floors of this machine", floors::measure(&binary, effort)?);
    print("Inside one process", inside::measure(effort)?);
    print("Size", memory::measure(&binary)?);
    Ok(())
}

/// The binary as an installation puts it somewhere: in one go. What a linker wrote in small pieces lies in the kernel's
/// memory in small pieces too, and every start of it then takes a third longer, until the machine starts anew.
fn installed(binary: &Path, place: &Path) -> Outcome<PathBuf> {
    let copy = place.canonicalize()?.join("clearway");
    std::fs::copy(binary, &copy)?;
    Ok(copy)
}

fn print(heading: &str, table: Table) {
    println!("## {heading}\n\n{table}");
}
