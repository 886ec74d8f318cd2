//! Generated documentation: the reference of the command line, its settings, and the schemas of its answers.

mod settings;

use crate::arguments::{self, EVERYDAY};
use clearway_wire::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Every generated file below `docs/`, as its path there and its text.
fn files() -> Vec<(PathBuf, String)> {
    let mut files =
        vec![(PathBuf::from("cli.md"), reference()), (PathBuf::from("config.md"), settings::page())];
    for (name, schema) in json::schemas() {
        let text = serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n";
        files.push((Path::new("schemas").join(format!("{name}.json")), text));
    }
    files
}

const INTRODUCTION: &str = "\
# Command line

<!-- Generated from the program's own help by `cargo xtask docs`. -->

Every verb works from any subdirectory and worktree. With `--json` standard output holds exactly one JSON
document, also on failure (one per line for `events` and `audit export`); the schemas are in
[`schemas/`](schemas/), failures follow [`schemas/error.json`](schemas/error.json), and every error has a page in
[`errors/`](errors/), shown by `clearway explain SLUG`.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | an expected negative: somebody holds it, a verification failed |
| 2 | the command line cannot be read |
| 3 | refused by policy or role |
| 4 | the caller knows an older state |
| 5 | not found |
| 69 | the store, or a program that is needed, cannot be used |
| 70 | a defect of clearway |
| 74 | standard output cannot be written |
| 75 | busy for a moment, try again |
| 78 | a configuration file or variable is wrong |
| 124 to 127 | of `with`, beside the exit code of its command: see there |
";

fn reference() -> String {
    let mut command = arguments::with_every_flag(arguments::command());
    command.build();
    let mut text = INTRODUCTION.to_owned();
    section(&mut text, "clearway", &command, 2);
    let is_everyday = |verb: &&clap::Command| EVERYDAY.contains(&verb.get_name());
    for verb in command.get_subcommands().filter(is_everyday) {
        verb_sections(&mut text, "clearway", verb);
    }
    text.push_str("\n## More verbs\n");
    for verb in command.get_subcommands().filter(|verb| !is_everyday(verb)) {
        verb_sections(&mut text, "clearway", verb);
    }
    text
}

fn verb_sections(text: &mut String, above: &str, verb: &clap::Command) {
    let name = format!("{above} {}", verb.get_name());
    section(text, &name, verb, 3);
    verb.get_subcommands().for_each(|below| verb_sections(text, &name, below));
}

fn section(text: &mut String, name: &str, command: &clap::Command, level: usize) {
    let help = command.clone().render_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    // Writing to a String cannot fail.
    let _ =
        write!(text, "\n{} `{name}`\n\n```text\n{}\n```\n", "#".repeat(level), lines.join("\n").trim_end());
}

/// `cargo xtask docs` sets it, and has the documents written instead of compared.
const UPDATE: &str = "CLEARWAY_UPDATE_DOCS";

#[test]
#[allow(clippy::disallowed_methods, reason = "the files are those of the checkout")]
fn the_committed_documents_are_those_the_program_would_write() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for (path, text) in files() {
        let file = docs.join(&path);
        if std::env::var_os(UPDATE).is_some() {
            std::fs::write(file, text).unwrap();
        } else {
            let committed = std::fs::read_to_string(file).unwrap_or_default();
            assert!(committed == text, "docs/{} is out of date: cargo xtask docs", path.display());
        }
    }
}

#[test]
fn no_line_of_help_is_wider_than_a_terminal() {
    for line in reference().lines().skip_while(|line| !line.starts_with("```")) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}
