//! Builds what is measured and what measures, runs it, and keeps the tables where asked.

use crate::{release, root};
use std::process::{Command, Stdio};

/// Measures; `--quick` with fewer repetitions, `--write` into docs/benchmarks.md.
pub(crate) fn run(options: &[&str]) -> Result<(), String> {
    if let Some(unknown) = options.iter().find(|option| !matches!(**option, "--quick" | "--write")) {
        return Err(format!("bench knows --quick and --write, not {unknown}"));
    }
    let (quick, write) = (options.contains(&"--quick"), options.contains(&"--write"));
    let binary = release::build()?;
    release::build_package("clearway-bench")?;
    let mut command = Command::new(release::directory().join("clearway-bench"));
    command.arg(&binary).args(quick.then_some("--quick")).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = command.output().map_err(|error| format!("cannot run clearway-bench: {error}"))?;
    if !output.status.success() {
        return Err(format!("clearway-bench: {}", output.status));
    }
    let tables = String::from_utf8_lossy(&output.stdout).into_owned();
    println!("{tables}");
    if write {
        let path = root().join("docs/benchmarks.md");
        std::fs::write(&path, page(&tables, quick))
            .map_err(|error| format!("{}: {error}", path.display()))?;
        println!("written to {}", path.display());
    }
    Ok(())
}

fn page(tables: &str, quick: bool) -> String {
    let command = if quick { "cargo xtask bench --quick --write" } else { "cargo xtask bench --write" };
    format!(
        "# Benchmarks\n\n\
         Written by `{command}` on {date}; do not edit. Goals are ratios within one run on one machine: everything in a\n\
         table was measured in turns with its floor, so that the load of the moment hits both. A goal that was missed is\n\
         marked. Times are printed, never asserted; what is asserted are the instruction counts in\n\
         [testing/instructions.toml](../testing/instructions.toml).\n\n\
         Machine: {machine}.\n\n{tables}",
        date = said("date", &["-u", "+%Y-%m-%d"]),
        machine = machine(),
    )
}

/// Processor, how many, kernel.
fn machine() -> String {
    let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let names: Vec<&str> = processors
        .lines()
        .filter(|line| line.starts_with("model name"))
        .filter_map(|line| line.split(": ").nth(1))
        .collect();
    let name = names.first().copied().unwrap_or("an unnamed processor");
    format!("{} x {name}, Linux {}", names.len().max(1), said("uname", &["-r"]))
}

fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}
