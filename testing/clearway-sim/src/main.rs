//! `cargo run -p clearway-sim -- [--seeds N] [--steps N] [--seed S] [--bugs]`: lives many lives, or one, or looks for the
//! wrong decisions, and says what came of it.

use clearway_sim::campaign::{Failed, Hunt, Outcome, Plan, campaign, hunt};
use clearway_sim::{Probe, live};
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
clearway-sim [--seeds N] [--steps N] [--seed S] [--bugs] [--long]

  --seeds N  how many lives
  --steps N  how many steps each
  --seed S   one life alone, told line by line
  --bugs     look for every wrong decision instead
  --long     as many lives as a long run has";

/// What the command line asks for.
#[derive(Debug)]
struct Options {
    plan: Plan,
    seed: Option<u64>,
    bugs: bool,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let options = match parse(&arguments) {
        Ok(options) => options,
        Err(why) => {
            eprintln!("clearway-sim: {why}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let passed = match options {
        Options { seed: Some(seed), plan, .. } => tell_one(seed, plan.steps),
        Options { bugs: true, plan, .. } => tell_hunt(&hunt(plan)),
        Options { plan, .. } => tell(plan, &campaign(plan)),
    };
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn parse(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options { plan: Plan::SHORT, seed: None, bugs: false };
    if arguments.iter().any(|word| word == "--long") {
        options.plan = Plan::LONG;
    }
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut number = || {
            let text = words.next().ok_or_else(|| format!("{word} needs a number"))?;
            text.parse::<u64>().map_err(|_| format!("{text:?} is no number"))
        };
        match word.as_str() {
            "--seeds" => options.plan.seeds = number()?,
            "--steps" => options.plan.steps = number()?,
            "--seed" => options.seed = Some(number()?),
            "--bugs" => options.bugs = true,
            "--long" => {}
            other => return Err(format!("cannot read {other:?}")),
        }
    }
    Ok(options)
}

fn tell_one(seed: u64, steps: u64) -> bool {
    let lived = live(seed, steps, clearway_core::decide::decide);
    lived.trace.lines.iter().for_each(|line| println!("{line}"));
    println!("seed {seed}: {} events", lived.events);
    lived.violation.is_none()
}

fn tell(plan: Plan, outcome: &Outcome) -> bool {
    let last = plan.first + outcome.lives.saturating_sub(1);
    println!(
        "seeds {} to {last}, {} steps each: {} events, {} lives lived twice",
        plan.first, plan.steps, outcome.events, outcome.twice
    );
    println!("\nsituations reached:");
    for probe in Probe::ALL {
        println!("{:>8}  {}", outcome.probes.count(*probe), probe.text());
    }
    if let Some(failed) = &outcome.failure {
        tell_failure(plan, failed);
        return false;
    }
    let unreached = outcome.probes.unreached();
    unreached.iter().for_each(|probe| println!("never reached: {}", probe.text()));
    println!("\nno invariant was violated");
    unreached.is_empty()
}

fn tell_failure(plan: Plan, failed: &Failed) {
    let kept = keep(failed);
    match &failed.violation {
        Some(violation) => println!(
            "\nseed {} step {}: {}: {}",
            failed.seed, failed.step, violation.invariant, violation.what
        ),
        None => println!("\nseed {} differs when lived again, from line {}", failed.seed, failed.step),
    }
    println!("again: cargo run -p clearway-sim -- --seed {} --steps {}", failed.seed, plan.steps);
    match kept {
        Ok(file) => println!("trace: {}", file.display()),
        Err(why) => println!("the trace could not be kept: {why}"),
    }
}

/// Keeps the trace of a failed life beside what was built.
fn keep(failed: &Failed) -> std::io::Result<PathBuf> {
    let built = std::env::current_exe()?;
    let target = built.ancestors().nth(2).map(PathBuf::from).unwrap_or_default();
    let file = target.join(format!("clearway-sim-{}.trace", failed.seed));
    std::fs::write(&file, failed.trace.lines.join("\n"))?;
    Ok(file)
}

fn tell_hunt(hunts: &[Hunt]) -> bool {
    for Hunt { bug, found } in hunts {
        match found {
            Some((seed, step, violation)) => {
                println!(
                    "{:<55} seed {seed:>3} step {step:>3}  {}: {}",
                    bug.name, violation.invariant, violation.what
                );
            }
            None => println!("{:<55} NOT FOUND", bug.name),
        }
    }
    let found = hunts.iter().filter(|hunt| hunt.found.is_some()).count();
    println!("\n{found} of {} wrong decisions found", hunts.len());
    found == hunts.len()
}
