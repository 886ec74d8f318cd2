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
/// Random days in each of four quarters in the long tier.
const UNDO_SEQUENCES_LONG: &str = "250";
/// Storms that show with the released binary alone what they are for; `cargo test` plays the others small.
const STORMS_SHORT: [&str; 4] = ["fairness", "wakeups", "histories", "day --seed 1"];
const STORMS_LONG: [&str; 6] = ["histories", "fairness", "wakeups", "pauses", "night", "day"];

/// How much is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tier {
    /// What every change has to pass.
    Short,
    /// Hours: the same, and then every campaign that has a long form.
    Long,
}

/// One thing to do, by name.
type Step = (String, Invocation);

/// Runs every step; the first that fails ends it.
pub(crate) fn run(tier: Tier) -> Result<(), String> {
    let started = Instant::now();
    let mut stages = stages()?;
    if tier == Tier::Long {
        stages.extend(alone(long_steps()));
        stages.push(fuzzing(FUZZ_SECONDS_LONG)?);
    }
    let count: usize = stages.iter().map(Vec::len).sum();
    let mut done = 0;
    for stage in &stages {
        let numbers: Vec<String> =
            (1..=stage.len()).map(|step| format!("[{}/{count}]", done + step)).collect();
        together(stage.iter().zip(&numbers))?;
        done += stage.len();
    }
    println!("\ntest: all {count} steps passed in {:.0} s", started.elapsed().as_secs_f64());
    Ok(())
}

/// Runs steps at the same time; what fails is told when all are over.
fn together<'a>(steps: impl Iterator<Item = (&'a Step, &'a String)>) -> Result<(), String> {
    std::thread::scope(|threads| {
        let running: Vec<_> = steps.map(|(step, number)| threads.spawn(move || one(step, number))).collect();
        let outcomes =
            running.into_iter().map(|step| step.join().map_err(|_| "a step panicked".to_owned())?);
        let failed: Vec<String> = outcomes.filter_map(Result::err).collect();
        if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
    })
}

fn one((name, invocation): &Step, number: &str) -> Result<(), String> {
    println!("\n{number} {name}: {invocation}");
    let started = Instant::now();
    let outcome = invocation.run();
    let seconds = started.elapsed().as_secs_f64();
    outcome.map_err(|why| {
        format!("step {name:?} failed after {seconds:.1} s\n  {why}\n  repeat it with: {invocation}")
    })?;
    println!("{number} {name}: passed in {seconds:.1} s");
    Ok(())
}

/// Steps in their order; those of one stage run at the same time.
fn stages() -> Result<Vec<Vec<Step>>, String> {
    let lints = "cargo clippy --locked --workspace --all-targets -- -D warnings";
    let clients = Invocation::program(&release::target_directory().join("debug/clearway-clients"));
    let tests = match Invocation::new("cargo nextest --version").succeeds() {
        true => "cargo nextest run --locked --workspace",
        false => "cargo test --locked --workspace --all-targets",
    };
    let mut stages: Vec<Vec<Step>> = alone(forms());
    stages.push(vec![step("build of the tests", &format!("{tests} --no-run"))]);
    // Installing waits for the network, during which the compiler has the machine to itself.
    stages.push(vec![step("lints", lints), ("real clients".to_owned(), clients)]);
    stages.extend(alone(looks()));
    stages.push(vec![step("tests", tests)]);
    stages.push(vec![step("examples in documentation", "cargo test --locked --workspace --doc")]);
    stages.push(fuzzing(FUZZ_SECONDS)?);
    stages.push(vec![step("released binaries", "cargo xtask release --with-storms")]);
    stages.push(vec![step("installed binary and its demonstration", "cargo xtask install")]);
    stages.push(vec![step("instruction counts", "cargo xtask instructions")]);
    stages.extend(STORMS_SHORT.iter().map(|name| vec![(format!("storm: {name}"), storm(name))]));
    Ok(stages)
}

/// Stages of one step each.
fn alone(steps: Vec<Step>) -> Vec<Vec<Step>> {
    steps.into_iter().map(|step| vec![step]).collect()
}

/// What is found without a compiler.
fn forms() -> Vec<Step> {
    vec![
        step("machine", "scripts/setup --check"),
        step("format", "cargo fmt --all --check"),
        step("format of fuzz", "cargo fmt --check --manifest-path fuzz/Cargo.toml"),
    ]
}

/// What is found without running anything of ours.
fn looks() -> Vec<Step> {
    let mut steps = vec![
        step("compiles for macOS", MAC),
        ("documentation".to_owned(), Invocation::new(DOCUMENTATION).with("RUSTDOCFLAGS", "-Dwarnings")),
    ];
    if Invocation::new("cargo deny --version").succeeds() {
        steps.push(step("supply", "cargo deny --offline check bans licenses sources"));
    }
    steps
}

/// Every fuzz target for so many seconds. Each keeps one core busy.
fn fuzzing(seconds: u32) -> Result<Vec<Step>, String> {
    let one =
        |target: &String| step(&format!("fuzzing of {target}"), &format!("fuzz/run.sh {target} {seconds}"));
    Ok(fuzz_targets()?.iter().map(one).collect())
}

/// One storm with the released binary. What plays it is built as that is: processes that loop through the engine have to
/// be as fast as the binary beside them.
fn storm(name: &str) -> Invocation {
    let [storm, binary] = ["clearway-storm", "clearway"].map(|name| release::directory().join(name));
    Invocation::program(&storm).and(name).and("--binary").path(&binary)
}

fn long_steps() -> Vec<Step> {
    let mut steps: Vec<Step> =
        STORMS_LONG.iter().map(|name| (format!("long storm: {name}"), storm(name).and("--long"))).collect();
    steps.push(step("long simulation", "cargo run --locked --release --package clearway-sim -- --long"));
    steps.push((
        "faults at every point".to_owned(),
        Invocation::new("cargo test --locked --package clearway --test nemesis at_any_write")
            .with("NEMESIS_POINTS", "all"),
    ));
    steps.push((
        "a thousand random days of destructive commands and undos".to_owned(),
        Invocation::new("cargo test --locked --package clearway --test e2e keeping::random")
            .with("CLEARWAY_UNDO_SEQUENCES", UNDO_SEQUENCES_LONG),
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
    steps
}

/// The crates that know the system. The others are the same everywhere, or need a compiler for C.
const MAC: &str = "cargo check --locked --target aarch64-apple-darwin -p clearway-platform -p clearway-git";
const DOCUMENTATION: &str = "cargo doc --locked --no-deps --workspace";

fn step(name: &str, line: &str) -> Step {
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
