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
        let notes = root().join("docs/benchmarks-notes.md");
        let notes =
            std::fs::read_to_string(&notes).map_err(|error| format!("{}: {error}", notes.display()))?;
        std::fs::write(&path, page(&tables, quick, &notes))
            .map_err(|error| format!("{}: {error}", path.display()))?;
        println!("written to {}", path.display());
    }
    Ok(())
}

/// The tables with what is to be known about them, which is kept by hand.
fn page(tables: &str, quick: bool, notes: &str) -> String {
    let command = if quick { "cargo xtask bench --quick --write" } else { "cargo xtask bench --write" };
    format!(
        "# Benchmarks\n\n\
         Written by `{command}` on {date}; do not edit, but for the notes at the end, which are those of\n\
         [benchmarks-notes.md](benchmarks-notes.md). Goals are ratios within one run on one machine: everything in a\n\
         table was measured in turns with its floor, so that the load of the moment hits both. A goal that was missed is\n\
         marked. Times are printed, never asserted; what is asserted are the instruction counts in\n\
         [testing/instructions.toml](../testing/instructions.toml).\n\n\
         Machine: {machine}.\n\n{tables}\n{notes}",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_ends_with_the_notes_that_are_kept_by_hand() {
        let notes = std::fs::read_to_string(root().join("docs/benchmarks-notes.md")).unwrap();
        assert!(notes.starts_with("## "), "a heading of the page");
        assert!(page("| a |\n", false, &notes).ends_with(&format!("| a |\n\n{notes}")));
        let written = std::fs::read_to_string(root().join("docs/benchmarks.md")).unwrap();
        assert!(written.ends_with(&notes), "write it anew: cargo xtask bench --write");
    }
}
