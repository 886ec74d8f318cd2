//! The replayed day: ten scripted agents work in two repositories as coding agents do, through the real hook, in hours
//! that pass in minutes. What is judged is what agents and their people would notice: refusals that nobody needed,
//! refusals at all, what agents had to read, turns spent waiting, work that vanished, promises that were not kept.
//!
//! One agent acts at a time, so that a seed repeats its day; what happens when many act at once is for other storms.

mod agent;
mod client;
mod clock;
mod issues;
mod ledger;
mod tally;

use crate::figures::Goals;
use crate::stage::{Outcome, Programs, Reply};
use agent::{Agent, FILES_PER_AGENT, own_file};
use clearway_testkit::{Home, Repository};

use clock::Clock;
use issues::Issues;
use ledger::Ledger;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;
use tally::Tally;

/// How much is done.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Where every choice comes from.
    pub seed: u64,
    /// How long the day is, in minutes of its own time.
    pub minutes: u64,
    /// Whether anything is refused.
    pub mode: Mode,
    /// Whether missing a goal is an error.
    pub goals: Goals,
}

/// What the hook does about an edit that is in the way of somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It refuses it.
    Enforce,
    /// It lets it pass, and nobody heeds what it tells. What is lost then is what there was to lose: where that is
    /// nothing, that nothing is lost says nothing.
    Observe,
}

const AGENTS: usize = 10;
const REPOSITORIES: [&str; 2] = ["app", "lib"];
/// How often, and how many seconds apart, those who wait come by in the evening, when everything is committed: long
/// enough for every turn to be offered and for the budget of what an agent is told to be renewed.
const EVENING: (usize, u64) = (40, 150);

/// Lives through the day; what was seen.
pub fn run(programs: &Programs, effort: Effort) -> Outcome<String> {
    let mut home = Home::new(&programs.clearway.display().to_string());
    if effort.mode == Mode::Observe {
        home.user_config("mode = \"observe\"\n");
    }
    let told = World::begin(&home, effort.mode).and_then(|mut world| world.live(effort));
    told.map_err(|why| format!("{why}\nkept: {}", home.keep().display()))
}

#[derive(Debug)]
struct World<'h> {
    home: &'h Home,
    repositories: Vec<Repository<'h>>,
    clock: Clock,
    ledger: Ledger,
    issues: Issues,
    figures: Tally,
    /// Whether agents heed what they are told.
    heeds: bool,
    /// Seconds since the day began.
    now: u64,
}

impl<'h> World<'h> {
    /// Two repositories that somebody invited us to.
    fn begin(home: &'h Home, mode: Mode) -> Outcome<Self> {
        let files: Vec<String> = (0..AGENTS)
            .flat_map(|number| (0..FILES_PER_AGENT).map(move |file| own_file(number, file)))
            .chain(
                REPOSITORIES
                    .iter()
                    .flat_map(|name| [format!("{name}/CHANGELOG.md"), format!("{name}/Cargo.lock")]),
            )
            .collect();
        let made = |name: &&str| {
            let own = files.iter().filter_map(|file| file.strip_prefix(&format!("{name}/")));
            let own: Vec<(&str, &str)> = own.map(|file| (file, "// first line\n")).collect();
            home.repository(name, &own)
        };
        let repositories: Vec<Repository<'h>> = REPOSITORIES.iter().map(made).collect();
        let clock = Clock::new(home)?;
        let world = Self {
            home,
            repositories,
            clock,
            ledger: Ledger::default(),
            issues: Issues::new(),
            figures: Tally::default(),
            heeds: mode == Mode::Enforce,
            now: 0,
        };
        for number in 0..REPOSITORIES.len() {
            world.clearway(number, &["reserve", "README.md"])?;
            world.clearway(number, &["release", "README.md"])?;
        }
        Ok(world)
    }

    fn live(&mut self, effort: Effort) -> Outcome<String> {
        let mut agents: Vec<Agent> = (0..AGENTS).map(|number| Agent::new(effort.seed, number)).collect();
        while let Some(next) = agents.iter_mut().min_by_key(|agent| agent.due) {
            if next.due >= effort.minutes * 60 {
                break;
            }
            self.go_to(next.due);
            next.act(self)?;
        }
        self.evening(&mut agents, effort.minutes * 60)?;
        for number in 0..REPOSITORIES.len() {
            self.clearway(number, &["audit", "verify"])?;
            self.clearway(number, &["doctor"])?;
        }
        self.figures.judged(effort, self.ledger.lost_bytes)
    }

    /// Everybody commits; whoever was promised something is told of it then.
    fn evening(&mut self, agents: &mut [Agent], end: u64) -> Outcome<()> {
        self.go_to(end);
        agents.iter_mut().try_for_each(|agent| agent.call_it_a_day(self))?;
        let (rounds, apart) = EVENING;
        for round in 1..=rounds as u64 {
            self.go_to(end + round * apart);
            agents.iter_mut().try_for_each(|agent| agent.comes_by(self))?;
        }
        self.figures.forgotten = agents.iter().map(|agent| agent.forgotten(self)).sum();
        Ok(())
    }

    fn go_to(&mut self, second: u64) {
        self.now = second;
        self.clock.move_to(second);
    }

    fn directory(&self, repository: &str) -> PathBuf {
        self.home.path().join("home").join(repository)
    }

    fn text(&self, file: &str) -> Outcome<String> {
        std::fs::read_to_string(self.directory(file)).map_err(|error| format!("{file}: {error}"))
    }

    fn write(&self, file: &str, text: &str) -> Outcome<()> {
        std::fs::write(self.directory(file), text).map_err(|error| format!("{file}: {error}"))
    }

    /// Commits these files as they are, and nothing else.
    fn commit(&mut self, files: &BTreeSet<String>, session: &str) {
        for (name, repository) in REPOSITORIES.iter().zip(&self.repositories) {
            let own: Vec<&str> =
                files.iter().filter_map(|file| file.strip_prefix(name)?.strip_prefix('/')).collect();
            if !own.is_empty() {
                let words = ["commit", "--quiet", "--allow-empty", "--message", session, "--"];
                repository.git(&[&words, own.as_slice()].concat());
            }
        }
        files.iter().for_each(|file| self.ledger.committed(file));
        self.figures.commits += 1;
    }

    /// What happened on the day, for somebody to look at who wonders why.
    fn write_down(&self, session: &str, what: &str) -> Outcome<()> {
        let (hour, minute) = (self.now / 3_600, self.now / 60 % 60);
        let line = format!("{hour}:{minute:02}:{:02} {session} {what}\n", self.now % 60);
        let path = self.home.path().join("day.log");
        let file = std::fs::File::options().append(true).create(true).open(path);
        file.and_then(|mut file| file.write_all(line.as_bytes())).map_err(|error| format!("day.log: {error}"))
    }

    fn clearway(&self, repository: usize, words: &[&str]) -> Outcome<Reply> {
        let clearway = self.repositories[repository].agent("ada").args(&["--json"]).args(words);
        let mut command = self.clock.now(clearway.into_command());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|error| format!("{words:?} does not start: {error}"))?;
        Reply::wait(child)?.expect(0).map_err(|why| format!("{words:?}: {why}"))
    }
}
