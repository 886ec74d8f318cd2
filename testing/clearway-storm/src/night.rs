//! The bad night: ten scripted agents in one repository on a small disk, and everything that goes wrong at night, in a
//! minute. Processes are killed, one holder falls silent, one agent runs wild, the power fails, the disk fills up.
//!
//! In the morning the log verifies, the stored state is its fold, every waiter was answered, and nobody waited for the
//! dead longer than the dead's own silence allows.

use crate::random::Random;
use crate::stage::{Outcome, Programs, Reply};
use clearway_testkit::checker::History;
use clearway_testkit::namespace::Namespace;
use clearway_testkit::process::kill;
use clearway_testkit::{Home, Repository};
use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How much is done.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Where every choice comes from.
    pub seed: u64,
    /// Rounds of each agent in each watch of the night.
    pub rounds: usize,
}

const AGENTS: usize = 10;
const PATHS: [&str; 4] = ["src/main.rs", "src/lib.rs", "docs/**", "Cargo.toml"];
/// The silence that leases of the night allow: time is compressed.
const TTL: &str = "2s";
const TTL_MS: u64 = 2_000;
/// A waiter looks every quarter of a second, and further back in the queue less often; this is room for that and for a
/// loaded machine. It bounds how long a queue of living agents may take, too: each of them works a few milliseconds.
const SLACK_MS: u64 = 20_000;
const WAIT: &str = "60s";
const DISK_MIB_MIN: usize = 4;
/// The log of so many rounds takes another one, the wild one's included.
const ROUNDS_TO_A_MIB: usize = 3;

/// Lives through the night; what was seen.
pub fn run(programs: &Programs, effort: Effort) -> Outcome<String> {
    let mut home = Home::new(&programs.clearway.display().to_string());
    let night = Night::begin(&home, effort);
    let told = night.pass();
    drop(night);
    told.map_err(|why| format!("{why}\nkept: {}", home.keep().display()))
}

struct Night<'h> {
    home: &'h Home,
    repository: Repository<'h>,
    machine: Namespace,
    effort: Effort,
    seen: Mutex<Seen>,
}

/// What the agents were answered.
#[derive(Debug, Default)]
struct Seen {
    granted: usize,
    queued: usize,
    refused: BTreeMap<String, usize>,
    killed: usize,
    longest_wait_ms: u64,
}

impl<'h> Night<'h> {
    fn begin(home: &'h Home, effort: Effort) -> Self {
        let repository = home.repository("app", &[("src/main.rs", "fn main() {}\n"), ("src/lib.rs", "\n")]);
        let machine = Namespace::of_boot(home.path(), "0b5e5a1e-0000-4000-8000-00000000000a");
        let mebibytes = DISK_MIB_MIN + effort.rounds / ROUNDS_TO_A_MIB;
        machine.script(&format!("mount -t tmpfs -o size={mebibytes}m,mode=700 tmpfs '{}'", disk(home)));
        Self { home, repository, machine, effort, seen: Mutex::default() }
    }

    fn pass(&self) -> Outcome<String> {
        self.watch(Hour::Evening)?;
        self.holder_falls_silent()?;
        self.power_fails()?;
        self.watch(Hour::Midnight)?;
        self.disk_fills_up()?;
        self.watch(Hour::Morning)?;
        self.everyone_leaves()?;
        self.in_the_morning()
    }

    /// Every agent works its rounds, one runs wild beside them, and some calls are killed.
    fn watch(&self, hour: Hour) -> Outcome<()> {
        let over = AtomicBool::new(false);
        std::thread::scope(|threads| {
            let wild = threads.spawn(|| self.run_wild(&over));
            let agents: Vec<_> =
                (0..AGENTS).map(|number| threads.spawn(move || self.work(hour, number))).collect();
            let worked: Vec<Outcome<()>> = agents
                .into_iter()
                .map(|agent| agent.join().unwrap_or(Err("an agent failed".to_owned())))
                .collect();
            over.store(true, Ordering::Relaxed);
            let ran = wild.join().unwrap_or(Err("the wild one failed".to_owned()));
            worked.into_iter().chain([ran]).collect()
        })
    }

    fn work(&self, hour: Hour, number: usize) -> Outcome<()> {
        let name = format!("agent-{number}");
        let mut random = Random::for_one(self.effort.seed ^ hour as u64, number);
        for _ in 0..self.effort.rounds {
            let path = random.one_of(&PATHS).copied().unwrap_or_default();
            let dies = random.chance(15).then(|| Duration::from_micros(random.below(8_000) as u64));
            let Some(reply) = self.call(&name, &["reserve", path, "--ttl", TTL, "--wait", WAIT], dies)?
            else {
                continue;
            };
            self.note(&reply)?;
            // Whoever dies on the way keeps what it had, and the others wait for its silence to pass.
            if reply.code == Some(0) && random.chance(85) {
                self.expect(&name, &["release", "--all"])?;
            }
        }
        Ok(())
    }

    /// Takes and gives back one path as fast as it can: it must not keep the others from theirs.
    fn run_wild(&self, over: &AtomicBool) -> Outcome<()> {
        while !over.load(Ordering::Relaxed) {
            self.expect("wild", &["reserve", "target/wild"])?;
            self.expect("wild", &["release", "target/wild"])?;
        }
        Ok(())
    }

    /// One holds what all want and does nothing more. Whoever waits gets it when its silence has passed.
    fn holder_falls_silent(&self) -> Outcome<()> {
        self.expect("idle", &["reserve", "quiet", "--ttl", TTL, "--wait", WAIT])?;
        let reply = self.expect("patient", &["reserve", "quiet", "--wait", WAIT])?;
        match reply.value["leases"][0]["agent"] == "patient" {
            true => self.expect("patient", &["release", "quiet"]).map(|_| ()),
            false => Err(format!("waited for the silent in vain: {reply:?}")),
        }
    }

    /// Everything that ran is gone at once, and the machine starts anew.
    fn power_fails(&self) -> Outcome<()> {
        let held = self.expect("agent-0", &["reserve", "src/main.rs", "--ttl", "1h", "--wait", WAIT])?;
        let waiting = self.spawn("agent-1", &["reserve", "src/main.rs", "--wait", WAIT])?;
        self.until_waiting("agent-1")?;
        kill(waiting.id());
        waiting.wait_with_output().map_err(|error| error.to_string())?;
        let boot = self.home.path().join("second-boot");
        std::fs::write(&boot, "0b5e5a1e-0000-4000-8000-00000000000b\n").map_err(|error| error.to_string())?;
        self.machine.script(&format!("mount --bind '{}' /proc/sys/kernel/random/boot_id", boot.display()));
        let taken = self.expect("agent-2", &["reserve", "src/main.rs"])?;
        let fence = |reply: &Reply| reply.value["leases"][0]["fence"].as_u64();
        if fence(&taken) <= fence(&held) {
            return Err(format!("fences did not rise over a boot: {held:?} {taken:?}"));
        }
        self.expect("agent-2", &["release", "--all"]).map(|_| ())
    }

    fn until_waiting(&self, name: &str) -> Outcome<()> {
        let started = Instant::now();
        loop {
            let waits = self.expect("onlooker", &["waits", "--agent-name", name])?;
            if waits.value["waits"].as_array().is_some_and(|waits| !waits.is_empty()) {
                return Ok(());
            }
            if started.elapsed() > Duration::from_secs(60) {
                return Err(format!("{name} never waits"));
            }
        }
    }

    /// No room at all: whoever holds something can give it back, nobody gets anything new, and room mends it.
    fn disk_fills_up(&self) -> Outcome<()> {
        const ATTEMPTS_MAX: usize = 400;
        self.expect("agent-3", &["reserve", "given-back"])?;
        let disk = disk(self.home);
        self.machine.script(&format!("dd if=/dev/zero of='{disk}/filler' bs=512 2>/dev/null || true"));
        let full = (0..ATTEMPTS_MAX).try_fold(None, |found, number| match found {
            Some(found) => Ok(Some(found)),
            None => {
                let reply = self.run("agent-4", &["reserve", &format!("more-{number}")])?;
                match (reply.code, reply.slug()) {
                    (Some(0), _) => Ok(None),
                    (Some(69), "store-full") => Ok(Some(reply)),
                    _ => Err(format!("on a full disk: {reply:?}")),
                }
            }
        })?;
        full.ok_or("the disk never became full")?;
        self.expect("agent-3", &["release", "given-back"])?;
        self.expect("onlooker", &["status"])?;
        self.machine.script(&format!("rm '{disk}/filler'"));
        self.expect("agent-4", &["release", "--all"]).map(|_| ())
    }

    /// Leases of killed agents are given back by them in the morning, and what nobody takes is left.
    fn everyone_leaves(&self) -> Outcome<()> {
        for number in 0..AGENTS {
            let name = format!("agent-{number}");
            self.expect(&name, &["wait", "--cancel"])?;
            self.expect(&name, &["release", "--all"])?;
        }
        self.expect("onlooker", &["sweep"]).map(|_| ())
    }

    fn in_the_morning(&self) -> Outcome<String> {
        self.expect("auditor", &["audit", "verify"])?;
        self.expect("auditor", &["doctor"])?;
        let export = self.expect("auditor", &["audit", "export"])?.stdout;
        let history = History::fold(&export)?;
        let stored = self.expect("auditor", &["leases"])?;
        let stored: BTreeSet<&str> = stored.value["leases"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|lease| lease["id"].as_str())
            .collect();
        let folded: BTreeSet<&str> = history.live.keys().map(String::as_str).collect();
        if stored != folded || history.epoch != 2 {
            return Err(format!("stored {stored:?}, folded {folded:?} in epoch {}", history.epoch));
        }
        let seen = self.seen.lock().map_err(|_| "what was seen is lost")?;
        let bound_ms = TTL_MS + SLACK_MS;
        if seen.longest_wait_ms > bound_ms {
            return Err(format!("somebody waited {} ms, more than {bound_ms} ms", seen.longest_wait_ms));
        }
        Ok(format!(
            "one night of {AGENTS} agents (seed {}): {} granted, {} queued, {:?} refused, {} killed; {} events, 2 boots, \
             a full disk; longest wait {} ms beside leases of {TTL_MS} ms; the log verifies and folds to what is stored\n",
            self.effort.seed,
            seen.granted,
            seen.queued,
            seen.refused,
            seen.killed,
            history.rev,
            seen.longest_wait_ms
        ))
    }

    /// Takes note of how a waiter was answered; anything but a grant, a place or a refusal is an error.
    fn note(&self, reply: &Reply) -> Outcome<()> {
        let mut seen = self.seen.lock().map_err(|_| "what was seen is lost")?;
        match (reply.code, reply.slug()) {
            (Some(0), _) if reply.value["queued"].is_object() => seen.queued += 1,
            (Some(0), _) => seen.granted += 1,
            (Some(1), slug @ ("reservation-held" | "would-deadlock")) => {
                *seen.refused.entry(slug.to_owned()).or_default() += 1;
            }
            _ => return Err(format!("a waiter was answered {reply:?}")),
        }
        Ok(())
    }

    /// A call that may die on the way; `None` if it did.
    fn call(&self, name: &str, words: &[&str], dies: Option<Duration>) -> Outcome<Option<Reply>> {
        let started = Instant::now();
        let child = self.spawn(name, words)?;
        if let Some(after) = dies {
            std::thread::sleep(after);
            // Entering the namespace replaces one program by the next in the same process.
            kill(child.id());
        }
        let reply = Reply::wait(child)?;
        let mut seen = self.seen.lock().map_err(|_| "what was seen is lost")?;
        if reply.code.is_none() {
            seen.killed += 1;
            return Ok(None);
        }
        let waited_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        seen.longest_wait_ms = seen.longest_wait_ms.max(waited_ms);
        Ok(Some(reply))
    }

    fn spawn(&self, name: &str, words: &[&str]) -> Outcome<std::process::Child> {
        let mut command = self.command(name, words);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().map_err(|error| format!("{words:?} does not start: {error}"))
    }

    fn run(&self, name: &str, words: &[&str]) -> Outcome<Reply> {
        Reply::wait(self.spawn(name, words)?)
    }

    fn expect(&self, name: &str, words: &[&str]) -> Outcome<Reply> {
        self.run(name, words)?.expect(0).map_err(|why| format!("{name} {words:?}: {why}"))
    }

    fn command(&self, name: &str, words: &[&str]) -> Command {
        let clearway = self.home.clearway(self.repository.path()).agent(name).args(&["--json"]).args(words);
        self.machine.enter(clearway.into_command())
    }
}

/// Parts of the night, each with random choices of its own.
#[derive(Clone, Copy, Debug)]
enum Hour {
    Evening = 1,
    Midnight = 2,
    Morning = 3,
}

fn disk(home: &Home) -> String {
    home.path().join("state").display().to_string()
}
