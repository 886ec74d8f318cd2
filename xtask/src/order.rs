//! The functions that short calls run, in the order they come to them.
//!
//! A call pays for every 64 KB of the binary that it touches first, more than for most of what it does there. So the
//! functions of the calls that somebody waits for are traced by valgrind, and `crates/clearway/build.rs` has the linker
//! put them side by side. A list that is out of date costs time and nothing else: names the linker does not find are
//! passed over.

use crate::invocation::Invocation;
use crate::sandbox::Sandbox;
use crate::{release, root};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::process::Stdio;

/// The longest number in a name of Rust's: 64 bits, to the base of 62.
const NUMBER_DIGITS_MAX: usize = 11;

/// The agent whose calls are traced, and another one that stands in its way.
const SESSIONS: [&str; 2] = ["traced-0000", "holding-0000"];

/// Traces and writes the list.
pub(crate) fn write() -> Result<(), String> {
    let target = release::target();
    let line = format!("cargo build --quiet --locked --profile traced --target {target} --package clearway");
    Invocation::new(&line).run()?;
    let binary = release::target_directory().join(target).join("traced/clearway");
    let sandbox = Sandbox::new()?;
    let tracer = Tracer { binary: &binary, sandbox: &sandbox };
    let functions = tracer.trace_all()?;
    let text = functions.iter().fold(
        "# Written by `cargo xtask order`: what short calls run, for the linker to put side by side.\n"
            .to_owned(),
        |text, function| text + function + "\n",
    );
    println!("{} functions", functions.len());
    let path = root().join("crates/clearway/first-functions.txt");
    std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
}

struct Tracer<'a> {
    binary: &'a Path,
    sandbox: &'a Sandbox,
}

impl Tracer<'_> {
    /// Every function once, those of the shortest and most frequent calls first: each call then finds what it shares
    /// with them in one place, and its own after it.
    fn trace_all(&self) -> Result<Vec<String>, String> {
        let (own, new, held) = ("src/own.rs", "src/new.rs", "src/held.rs");
        let uninvited = self.trace(&["hook", "claude"], Some(&payload("PreToolUse", own)))?;
        self.call(1, &["reserve", held])?;
        let fresh = self.trace(&["hook", "claude"], Some(&payload("PreToolUse", own)))?;
        let mut lists = vec![uninvited];
        for (event, path) in
            [("PreToolUse", own), ("PostToolUse", own), ("PreToolUse", new), ("PreToolUse", held)]
        {
            lists.push(self.trace(&["hook", "claude"], Some(&payload(event, path)))?);
        }
        for words in [["check", "a.rs"], ["reserve", "a.rs"], ["reserve", "a.rs"], ["release", "a.rs"]] {
            lists.push(self.trace(&words, None)?);
        }
        lists.extend([fresh, self.trace(&["reserve", held], None)?, self.trace(&["status"], None)?]);
        let mut seen = BTreeSet::new();
        Ok(lists.into_iter().flatten().filter(|name| seen.insert(name.clone())).collect())
    }

    fn call(&self, session: usize, words: &[&str]) -> Result<(), String> {
        let mut command = self.sandbox.command(self.binary);
        let status = command.args(words).env("CLAUDE_CODE_SESSION_ID", SESSIONS[session]).status();
        let status = status.map_err(|error| format!("cannot run {}: {error}", self.binary.display()))?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("clearway {} ended with {status}", words.join(" ")))
        }
    }

    /// The functions of one call, in the order they were first entered. Any end of it is one to be quick for.
    fn trace(&self, words: &[&str], input: Option<&str>) -> Result<Vec<String>, String> {
        let told = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
        let (out, given) = (self.sandbox.file("callgrind.out"), self.sandbox.file("input"));
        std::fs::write(&given, input.unwrap_or_default()).map_err(|error| told(&given, error))?;
        let mut command = self.sandbox.command(Path::new("valgrind"));
        command.args(["--tool=callgrind", "--quiet", "--demangle=no"]);
        command.arg(format!("--callgrind-out-file={}", out.display())).arg(self.binary).args(words);
        command.env("CLAUDE_CODE_SESSION_ID", SESSIONS[0]);
        command.stdin(File::open(&given).map_or_else(|_| Stdio::null(), Stdio::from));
        let status = command.status();
        status.map_err(|error| {
            format!("cannot run valgrind: {error}; scripts/setup installs what is missing")
        })?;
        let text = std::fs::read_to_string(&out).map_err(|error| told(&out, error))?;
        let names: Vec<String> = text.lines().filter_map(function).collect();
        if names.is_empty() { Err(format!("valgrind traced nothing for {words:?}")) } else { Ok(names) }
    }
}

/// The function that a line of valgrind's introduces, without what changes with every build.
fn function(line: &str) -> Option<String> {
    let named = line.strip_prefix("fn=(").or_else(|| line.strip_prefix("cfn=("))?;
    let name = named.split_once(") ")?.1;
    // How deep it calls itself, and which unit the compiler took it from.
    let name = name.split('\'').next().unwrap_or(name);
    let name = name.split(".llvm.").next().unwrap_or(name);
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.$".contains(&byte));
    (!name.starts_with("0x") && is_plain)
        .then(|| if name.starts_with("_R") { lasting(name) } else { name.to_owned() })
}

/// A pattern for a name of Rust's, without the hashes of its crates (`Cs…_`) and without the places that parts of it
/// repeat (`B…_`), which move with the length of a hash. Other words that look like these are left out as well: a pattern
/// may say less than the name that it is made of.
fn lasting(name: &str) -> String {
    let without_number = |piece: &str| {
        let behind = |mark: &str| piece.rfind(mark).map(|at| at + mark.len());
        let is_near = |at: &usize| piece.len() - at <= NUMBER_DIGITS_MAX;
        let number = behind("Cs").filter(is_near).or_else(|| behind("B").filter(is_near));
        number.map_or_else(|| piece.to_owned(), |at| format!("{}*", &piece[..at]))
    };
    let (marked, last) = name.rsplit_once('_').unwrap_or(("", name));
    let pieces: Vec<String> = marked.split('_').map(without_number).collect();
    format!("{}_{last}", pieces.join("_"))
}

/// What a client tells before or after an edit.
fn payload(event: &str, path: &str) -> String {
    format!(
        r#"{{"session_id":"{}","hook_event_name":"{event}","tool_name":"Edit","tool_use_id":"{event}-{path}",
            "tool_input":{{"file_path":"{path}","old_string":"a","new_string":"b"}}}}"#,
        SESSIONS[0]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_named_without_what_changes_with_a_build() {
        let name = |line: &str| function(line);
        assert_eq!(
            name("fn=(12) _RNvNtCs7BliBxkEZsN_4core3fmt5write").as_deref(),
            Some("_RNvNtCs*_4core3fmt5write")
        );
        assert_eq!(
            name("fn=(2) _RINvNtCs7BliBxkEZsN_4core3ptr13drop_in_placeNtNtB4_3fmt5ErrorECsaz6eC2DG7lh_8clearway.llvm.77")
                .as_deref(),
            Some("_RINvNtCs*_4core3ptr13drop_in_placeNtNtB*_3fmt5ErrorECs*_8clearway")
        );
        assert_eq!(name("cfn=(3) yy_reduce.constprop.0").as_deref(), Some("yy_reduce.constprop.0"));
        assert_eq!(name("fn=(4) sqlite3Parser'2").as_deref(), Some("sqlite3Parser"));
        assert_eq!(name("fn=(4)"), None, "introduced before");
        assert_eq!(name("fn=(5) 0x0000000000401000"), None);
        assert_eq!(name("fn=(6) (below main)"), None);
        assert_eq!(name("calls=1 12"), None);
    }
}
