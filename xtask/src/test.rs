//! Everything a change has to pass, step by step, each with its time and with the command that repeats it alone.

use crate::invocation::Invocation;
use crate::root;
use std::time::Instant;

/// How long each fuzz target runs here; long runs are started by hand.
const FUZZ_SECONDS: u32 = 10;

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tier {
    /// What every change passes.
    Short,
    /// That, and what takes long.
    Long,
}

/// Runs every step; the first that fails ends it.
pub(crate) fn run(tier: Tier) -> Result<(), String> {
    let started = Instant::now();
    let mut steps = steps()?;
    if tier == Tier::Long {
        steps.push(step("simulation", "cargo run --locked --release --package clearway-sim -- --long"));
        steps.push(step("wrong decisions", "cargo run --locked --release --package clearway-sim -- --bugs"));
    }
    for (index, (name, invocation)) in steps.iter().enumerate() {
        println!("\n[{}/{}] {name}: {invocation}", index + 1, steps.len());
        let step = Instant::now();
        let outcome = invocation.run();
        let seconds = step.elapsed().as_secs_f64();
        outcome.map_err(|why| {
            format!("step {name:?} failed after {seconds:.1} s\n  {why}\n  repeat it with: {invocation}")
        })?;
        println!("[{}/{}] {name}: passed in {seconds:.1} s", index + 1, steps.len());
    }
    println!("\ntest: all {} steps passed in {:.0} s", steps.len(), started.elapsed().as_secs_f64());
    Ok(())
}

fn steps() -> Result<Vec<(String, Invocation)>, String> {
    let mut steps = vec![
        step("format", "cargo fmt --all --check"),
        step("format of fuzz", "cargo fmt --check --manifest-path fuzz/Cargo.toml"),
        step("lints", "cargo clippy --locked --workspace --all-targets -- -D warnings"),
        ("documentation".to_owned(), Invocation::new(DOCUMENTATION).with("RUSTDOCFLAGS", "-Dwarnings")),
    ];
    if Invocation::new("cargo deny --version").succeeds() {
        steps.push(step("supply", "cargo deny --offline check bans licenses sources"));
    }
    steps.push(step("build", "cargo build --locked --workspace"));
    let nextest = Invocation::new("cargo nextest --version").succeeds();
    let tests = if nextest {
        "cargo nextest run --locked --workspace"
    } else {
        "cargo test --locked --workspace --all-targets"
    };
    steps.push(step("tests", tests));
    steps.push(step("examples in documentation", "cargo test --locked --workspace --doc"));
    for target in fuzz_targets()? {
        steps.push(step(&format!("fuzzing of {target}"), &format!("fuzz/run.sh {target} {FUZZ_SECONDS}")));
    }
    steps.push(step("instruction counts", "cargo xtask instructions"));
    Ok(steps)
}

const DOCUMENTATION: &str = "cargo doc --locked --no-deps --workspace";

fn step(name: &str, line: &str) -> (String, Invocation) {
    (name.to_owned(), Invocation::new(line))
}

/// The targets, as the manifest of the fuzz crate names them.
fn fuzz_targets() -> Result<Vec<String>, String> {
    let path = root().join("fuzz/Cargo.toml");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let manifest: toml::Table = text.parse().map_err(|error| format!("{}: {error}", path.display()))?;
    let bins = manifest.get("bin").and_then(toml::Value::as_array).cloned().unwrap_or_default();
    Ok(bins.iter().filter_map(|bin| bin.get("name")?.as_str().map(str::to_owned)).collect())
}
