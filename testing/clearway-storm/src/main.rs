//! `clearway-storm STORM`: one command for each storm. It builds the binary under test first, in its own profile,
//! unless it is given one.

use clearway_storm::{
    Goals, Outcome, Programs, day, fairness, histories, looper, night, pauses, resident, wakeups,
};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

/// Loopers are the engine as the binary has it, with the binary's allocator.
#[cfg(target_env = "musl")]
#[global_allocator]
static HEAP: clearway_store_sqlite::Heap = clearway_store_sqlite::Heap::new();

const USAGE: &str = "\
clearway-storm STORM [--long] [--seed NUMBER] [--binary FILE]

It prints its seed first; one that fails says what it left where, and how to repeat it. With --long a goal for times
that is missed fails it too.

  histories [--operations NUMBER] [--histories NUMBER] [--clients NUMBER] [--small NUMBER]
            [--twins NUMBER] [--started PERCENT]
             calls of 16 processes at once, some killed, recorded and judged by the log
  fairness   64 processes loop through the store, and newcomers come by
  wakeups    leases handed over, and releases at the instant a waiter gives up
  pauses     processes that stand still past their deadlines and in the worst places
  night      ten agents, deaths, a power cut, a full disk
  day [--minutes NUMBER] [--observe]
             ten agents at work through the hook of their clients, for eight hours that pass in minutes
  judge DIRECTORY
             judges once more what a failed run of histories left";

const STORMS: [&str; 6] = ["histories", "fairness", "wakeups", "pauses", "night", "day"];

/// Seconds since 1970 would do as well; a seed that is printed is as good as any.
fn fresh_seed() -> u64 {
    let mut bytes = [0; 4];
    clearway_platform::random::fill(&mut bytes).map_or(1, |()| u64::from(u32::from_le_bytes(bytes)))
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(said) => {
            print!("{said}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("clearway-storm: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Outcome<String> {
    let (storm, rest) = words.split_first().ok_or(USAGE)?;
    match (*storm, rest) {
        ("looper", [home, scope, name]) => return looper::play(Path::new(home), scope, name),
        ("resident", []) => return resident::serve(),
        ("judge", [directory]) => return histories::judge_again(Path::new(directory)),
        (known, _) if STORMS.contains(&known) => {}
        _ => return Err(format!("cannot read {words:?}\n\n{USAGE}")),
    }
    let options = Options::read(rest)?;
    let programs = Programs { clearway: options.binary()?, storm: own_program()? };
    // Whatever becomes of it, also if it is killed or hangs, its seed is known.
    println!("{storm}: seed {}", options.seed);
    let played = play(storm, &programs, &options);
    played.map_err(|why| format!("{why}\nrepeat it with: clearway-storm {storm} {}", options.told()))
}

fn play(storm: &str, programs: &Programs, options: &Options) -> Outcome<String> {
    let (seed, long) = (options.seed, options.long);
    let goals = if long { Goals::All } else { Goals::Shares };
    match storm {
        "histories" => histories::run(programs, options.histories(), &mut |line| print!("{line}")),
        "fairness" => {
            let (newcomers, every) = (if long { 12_000 } else { 1_000 }, Duration::from_millis(5));
            fairness::run(programs, fairness::Effort { seed, loopers: 64, newcomers, every, goals })
        }
        "wakeups" => {
            let races = if long { 10_000 } else { 200 };
            wakeups::run(programs, wakeups::Effort { seed, hand_overs: 1_000, races, goals })
        }
        "pauses" => {
            let (holders, writers) = if long { (100, 1_000) } else { (5, 60) };
            pauses::run(programs, pauses::Effort { seed, holders, writers })
        }
        "day" => {
            let minutes = options.number("--minutes", if long { 8 * 60 } else { 60 });
            let mode = if options.observe { day::Mode::Observe } else { day::Mode::Enforce };
            day::run(programs, day::Effort { seed, minutes, mode, goals })
        }
        _ => night::run(programs, night::Effort { seed, rounds: if long { 200 } else { 12 } }),
    }
}

/// What stands after the storm's name.
#[derive(Debug)]
struct Options {
    seed: u64,
    long: bool,
    observe: bool,
    binary: Option<PathBuf>,
    numbers: Vec<(String, u64)>,
}

impl Options {
    fn read(words: &[&str]) -> Outcome<Self> {
        let mut options =
            Self { seed: fresh_seed(), long: false, observe: false, binary: None, numbers: Vec::new() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let flag = match *word {
                "--long" => Some(&mut options.long),
                "--observe" => Some(&mut options.observe),
                _ => None,
            };
            if let Some(flag) = flag {
                *flag = true;
                continue;
            }
            let value = words.next().ok_or(format!("{word} has no value\n\n{USAGE}"))?;
            let number = || value.parse::<u64>().map_err(|error| format!("{word} {value}: {error}"));
            match *word {
                "--seed" => options.seed = number()?,
                "--binary" => options.binary = Some(PathBuf::from(value)),
                "--operations" | "--histories" | "--clients" | "--small" | "--twins" | "--started"
                | "--minutes" => {
                    options.numbers.push(((*word).to_owned(), number()?));
                }
                _ => return Err(format!("cannot read {word}\n\n{USAGE}")),
            }
        }
        Ok(options)
    }

    /// The words that lead to these options.
    fn told(&self) -> String {
        let mut words = vec![format!("--seed {}", self.seed)];
        words.extend(self.long.then(|| "--long".to_owned()));
        words.extend(self.observe.then(|| "--observe".to_owned()));
        words.extend(self.binary.iter().map(|path| format!("--binary {}", path.display())));
        words.extend(self.numbers.iter().map(|(name, number)| format!("{name} {number}")));
        words.join(" ")
    }

    fn number(&self, name: &str, otherwise: u64) -> u64 {
        self.numbers.iter().find(|(found, _)| found == name).map_or(otherwise, |(_, number)| *number)
    }

    /// A long run is many histories one after the other: each is judged whole, and memory stays bounded.
    fn histories(&self) -> histories::Effort {
        let (many, small, twins, started) =
            if self.long { (100, 2_500, 20_000, 10) } else { (1, 60, 2_000, 100) };
        histories::Effort {
            seed: self.seed,
            operations: self.number("--operations", 20_000),
            histories: self.number("--histories", many),
            clients: self.number("--clients", 16) as usize,
            small: self.number("--small", small),
            twins: self.number("--twins", twins),
            started_percent: self.number("--started", started) as usize,
        }
    }

    fn binary(&self) -> Outcome<PathBuf> {
        match &self.binary {
            Some(path) => path.canonicalize().map_err(|error| format!("{}: {error}", path.display())),
            None => built(),
        }
    }
}

fn own_program() -> Outcome<PathBuf> {
    std::env::current_exe().map_err(|error| error.to_string())
}

/// Builds the binary in the profile of this program; they lie in one directory.
fn built() -> Outcome<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "--locked", "--package", "clearway"]);
    build.args((!cfg!(debug_assertions)).then_some("--release")).current_dir(env!("CARGO_MANIFEST_DIR"));
    let status = build.status().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !status.success() {
        return Err(format!("building clearway: {status}"));
    }
    Ok(own_program()?.with_file_name("clearway"))
}
