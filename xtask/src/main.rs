//! Automation of this repository, started as `cargo xtask COMMAND`. It runs cargo and other programs; the product never
//! depends on it.

mod bench;
mod instructions;
mod invocation;
mod order;
mod release;
mod sandbox;
mod test;
mod tidy;

use invocation::Invocation;
use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask COMMAND

  test [--long]          everything a change has to pass: format, lints, documents, tests, fuzzing, instruction counts,
                         storms; --long goes on for hours with every campaign that has a long form
  bench [--quick] [--write]
                         times of the released binary and of the kernel beside the floors of this machine;
                         --write keeps them in docs/benchmarks.md
  instructions [--write] instruction counts of the hot verbs against testing/instructions.toml; --write updates it
  order                  traces which functions the hot verbs run, for the linker to put side by side
  docs                   writes the generated documents: the command line's reference and the schemas of its answers
  release [--with-storms]
                         builds the static binary, and what plays storms with it, and says where it is
  install                installs it as the README says, elsewhere for a moment, and has it show itself at work
  tidy                   the longest files and functions";

/// The test that compares the generated documents with those of the checkout writes them when it is told to. So this crate
/// needs nothing of the product, and stands ready before that is compiled.
const DOCUMENTS: &str =
    "cargo test --quiet --locked --package clearway-cli --lib docs::the_committed_documents";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["test"] => test::run(test::Tier::Short),
        ["test", "--long"] => test::run(test::Tier::Long),
        ["bench", options @ ..] => bench::run(options),
        ["instructions"] => instructions::check(),
        ["instructions", "--write"] => instructions::write(),
        ["order"] => order::write(),
        ["docs"] => Invocation::new(DOCUMENTS).with("CLEARWAY_UPDATE_DOCS", "1").run(),
        ["install"] => release::install(),
        ["release"] => release::build().map(|binary| println!("{}", binary.display())),
        ["release", "--with-storms"] => release::build().and_then(|binary| {
            release::build_package("clearway-storm").map(|()| println!("{}", binary.display()))
        }),
        ["tidy"] => tidy::run(),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => Err(format!("cannot read {words:?}\n\n{USAGE}")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the workspace.
fn root() -> std::path::PathBuf {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}
