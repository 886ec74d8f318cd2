//! Everything a change has to pass, step by step, each with its time and with the command that repeats it alone.

use crate::invocation::Invocation;
use crate::{release, root};
use std::time::Instant;

/// How long each fuzz target runs.
const FUZZ_SECONDS: u32 = 10;
const FUZZ_SECONDS_LONG: u32 = 600;
/// Campaigns of random bit flips of the long tier, each with a seed of its own.
const FLIP_SEEDS_LONG: u32 = 60;
/// Random lives of the engine beside the memory model in the long tier.
const MODEL_LIVES_LONG: &str = "2000";
/// Storms that show with the released binary alone what they are for; `cargo test` plays the others small.
const STORMS_SHORT: [&str; 3] = ["fairness", "wakeups", "histories"];
const STORMS_LONG: [&str; 5] = ["histories", "fairness", "wakeups", "pauses", "night"];

/// How much is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tier {
    /// What every change has to pass.
    Short,
    /// Hours: the same, and then every campaign that has a long form.
    Long,
}

/// Runs every step; the first that fails ends it.
pub(crate) fn run(tier: Tier) -> Result<(), String> {
    let started = Instant::now();
    let mut steps = steps()?;
    if tier == Tier::Long {
        steps.extend(long_steps()?);
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
        step("machine", "scripts/setup --check"),
        step("format", "cargo fmt --all --check"),
        step("format of fuzz", "cargo fmt --check --manifest-path fuzz/Cargo.toml"),
        step("lints", "cargo clippy --locked --workspace --all-targets -- -D warnings"),
        ("documentation".to_owned(), Invocation::new(DOCUMENTATION).with("RUSTDOCFLAGS", "-Dwarnings")),
    ];
    if Invocation::new("cargo deny --version").succeeds() {
        steps.push(step("supply", "cargo deny --offline check bans licenses sources"));
    }
    steps.push(step("build", "cargo build --locked --workspace"));
    steps.push(step("real clients", "cargo run --quiet --locked --package clearway-clients"));
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
    steps.push(step("released binary", "cargo xtask release"));
    steps.push(step("installed binary and its demonstration", "cargo xtask install"));
    steps.push(step("instruction counts", "cargo xtask instructions"));
    steps.push(step("storms as they are released", &release::building("clearway-storm")));
    steps.extend(STORMS_SHORT.iter().map(|name| step(&format!("storm: {name}"), &storm(name))));
    Ok(steps)
}

/// One storm with the released binary. What plays it is built as that is: processes that loop through the engine have to
/// be as fast as the binary beside them.
fn storm(name: &str) -> String {
    let [storm, binary] = ["clearway-storm", "clearway"].map(|name| release::directory().join(name));
    format!("{} {name} --binary {}", storm.display(), binary.display())
}

fn long_steps() -> Result<Vec<(String, Invocation)>, String> {
    let mut steps: Vec<(String, Invocation)> = STORMS_LONG
        .iter()
        .map(|name| step(&format!("long storm: {name}"), &format!("{} --long", storm(name))))
        .collect();
    steps.push(step("long simulation", "cargo run --locked --release --package clearway-sim -- --long"));
    steps.push((
        "faults at every point".to_owned(),
        Invocation::new("cargo test --locked --package clearway --test nemesis at_any_write")
            .with("NEMESIS_POINTS", "all"),
    ));
    let model = "cargo test --locked --package clearway-store-sqlite --test engine model";
    steps.push((
        "many lives beside the model".to_owned(),
        Invocation::new(model).with("CLEARWAY_MODEL_LIVES", MODEL_LIVES_LONG),
    ));
    let flips = "cargo test --locked --package clearway --test nemesis flipped_bit";
    for seed in 1..=FLIP_SEEDS_LONG {
        let invocation = Invocation::new(flips).with("NEMESIS_SEED", &seed.to_string());
        steps.push((format!("bit flips of seed {seed}"), invocation));
    }
    for target in fuzz_targets()? {
        let line = format!("fuzz/run.sh {target} {FUZZ_SECONDS_LONG}");
        steps.push(step(&format!("long fuzzing of {target}"), &line));
    }
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
