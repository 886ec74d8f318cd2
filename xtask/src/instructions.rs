//! Instruction counts of the hot verbs: a gate that does not depend on the load of the machine.
//!
//! The released binary runs under valgrind in a fixed place with a fixed environment. What is counted still varies with
//! drawn ids: their order decides how the store's pages split and when its log is folded in, which every call reads. So
//! the least of several runs is compared, within a tolerance wider than that.

use crate::sandbox::Sandbox;
use crate::{release, root};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How far a count may move, either way, before somebody has to look: a count that fell is written down too. Drawn ids
/// alone moved `reserve_new` by 3.2 % once.
const TOLERANCE_PERCENT: u64 = 6;
/// The least of so many runs counts.
const RUNS: u32 = 3;
/// The session of the agent whose calls are counted, and of another one that stands in its way.
const SESSIONS: [&str; 2] = ["counted-0000", "holding-0000"];
/// The target the table was counted on; others execute other instructions.
const TARGET: &str = "x86_64-unknown-linux-musl";

type Counts = BTreeMap<String, u64>;

/// Counts and compares with the table.
pub(crate) fn check() -> Result<(), String> {
    if release::target() != TARGET {
        println!("instruction counts are kept for {TARGET}; this machine is another, so nothing is compared");
        return Ok(());
    }
    let (expected, found) = (read_table()?, count()?);
    let mut moved = Vec::new();
    for (verb, count) in &found {
        let before = expected.get(verb).copied().unwrap_or(0);
        let percent = (*count as f64 - before as f64) * 100.0 / (before.max(1) as f64);
        println!("{verb:<16} {count:>12}  table {before:>12}  {percent:+.2} %");
        if count.abs_diff(before) * 100 > before * TOLERANCE_PERCENT {
            moved.push(verb.as_str());
        }
    }
    if moved.is_empty() && expected.len() == found.len() {
        return Ok(());
    }
    Err(format!(
        "instruction counts moved by more than {TOLERANCE_PERCENT} %: {}; if that is meant, update the table with: \
         cargo xtask instructions --write",
        moved.join(", ")
    ))
}

/// Counts and writes the table.
pub(crate) fn write() -> Result<(), String> {
    let mut text = format!(
        "# Instructions of one call of the released binary ({TARGET}), counted by valgrind.\n\
         # Compared within {TOLERANCE_PERCENT} % by `cargo xtask instructions`, written by `cargo xtask instructions --write`.\n\n\
         [instructions]\n"
    );
    for (verb, count) in count()? {
        println!("{verb:<16} {count:>12}");
        text.push_str(&format!("{verb} = {count}\n"));
    }
    std::fs::write(table_path(), text).map_err(|error| format!("{}: {error}", table_path().display()))
}

fn table_path() -> PathBuf {
    root().join("testing/instructions.toml")
}

fn read_table() -> Result<Counts, String> {
    let path = table_path();
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let table: toml::Table = text.parse().map_err(|error| format!("{}: {error}", path.display()))?;
    let counts = table.get("instructions").and_then(toml::Value::as_table).cloned().unwrap_or_default();
    let read = |(verb, count): (String, toml::Value)| Some((verb, u64::try_from(count.as_integer()?).ok()?));
    Ok(counts.into_iter().filter_map(read).collect())
}

fn count() -> Result<Counts, String> {
    let binary = release::build()?;
    let sandbox = Sandbox::new()?;
    let caller = Caller { binary: &binary, sandbox: &sandbox };
    // Some life in the store: a scope without any is answered faster than any in use.
    for index in 0..16 {
        caller.call(
            1,
            &["reserve", &format!("held/dir{index}/file.rs"), &format!("held/tree{index}/**")],
            0,
        )?;
    }
    let mut counts = Counts::new();
    for run in 0..RUNS {
        let (new, held) = (format!("src/new{run}.rs"), format!("held/dir{run}/file.rs"));
        // A sign of life just before, so that none is due in the counted call.
        let own = format!("src/warm{run}.rs");
        caller.call(0, &["reserve", &own], 0)?;
        for (verb, words, code) in [
            ("noop", vec!["--version"], 0),
            ("check_free", vec!["check", "src/free.rs"], 0),
            ("reserve_new", vec!["reserve", new.as_str()], 0),
            ("reserve_refused", vec!["reserve", held.as_str()], 1),
            ("reserve_own", vec!["reserve", own.as_str()], 0),
            ("release", vec!["release", new.as_str()], 0),
        ] {
            let counted = caller.count(&words, code)?;
            let least = counts.entry(verb.to_owned()).or_insert(counted);
            *least = counted.min(*least);
        }
    }
    Ok(counts)
}

/// Calls the binary in its sandbox.
struct Caller<'a> {
    binary: &'a Path,
    sandbox: &'a Sandbox,
}

impl Caller<'_> {
    fn call(&self, session: usize, words: &[&str], code: i32) -> Result<(), String> {
        self.expect(self.binary, session, words, words, code)
    }

    fn count(&self, words: &[&str], code: i32) -> Result<u64, String> {
        let out = self.sandbox.file("callgrind.out");
        let file = format!("--callgrind-out-file={}", out.display());
        let mut arguments = vec!["--tool=callgrind", "--quiet", &file];
        let binary = self.binary.display().to_string();
        arguments.push(&binary);
        arguments.extend(words);
        self.expect(Path::new("valgrind"), 0, &arguments, words, code)?;
        let text = std::fs::read_to_string(&out).map_err(|error| format!("{}: {error}", out.display()))?;
        let total = text.lines().find_map(|line| line.strip_prefix("summary: ")?.trim().parse().ok());
        total.ok_or_else(|| format!("valgrind counted nothing for {words:?}"))
    }

    fn expect(
        &self,
        program: &Path,
        session: usize,
        arguments: &[&str],
        words: &[&str],
        code: i32,
    ) -> Result<(), String> {
        let mut command = self.sandbox.command(program);
        command.args(arguments).env("CLAUDE_CODE_SESSION_ID", SESSIONS[session]);
        let status = command.status().map_err(|error| {
            format!("cannot run {}: {error}; scripts/setup installs what is missing", program.display())
        })?;
        if status.code() == Some(code) {
            return Ok(());
        }
        Err(format!("clearway {} ended with {status}, not with {code}", words.join(" ")))
    }
}
