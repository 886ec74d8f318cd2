//! What an agent does all day: turns of reading, editing, testing and committing, with a person in between who takes
//! their time, breaks, clients that die, and sessions that end with work left in files. It does as it is told: what is
//! refused is left alone until its turn is announced, and other files are worked on meanwhile.

mod hearing;
mod plan;

use super::World;
use super::client::{Answer, Client, Event, Kind, Put, Speaker, Tool};
use crate::random::Random;
use crate::stage::Outcome;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Files of an agent's own part of a repository.
pub(super) const FILES_PER_AGENT: usize = 12;
/// When people go and eat, in seconds since the day began.
const NOON: u64 = 3 * 3_600;

/// One agent: whatever its person runs, session after session.
#[derive(Debug)]
pub(super) struct Agent {
    number: usize,
    kind: Kind,
    random: Random,
    /// When it does something next.
    pub(super) due: u64,
    client: Option<Client>,
    session: String,
    sessions: usize,
    /// How often it began anew, and not as the agent it was.
    beginnings: usize,
    plan: VecDeque<Step>,
    turn: Turn,
    /// What it changed and did not commit.
    changed: BTreeSet<String>,
    /// What it was refused, and promised to be told about.
    promised: Vec<Vec<String>>,
    /// What it read in this turn.
    read: BTreeMap<String, String>,
    /// What its changed files held before it changed them.
    base: BTreeMap<String, String>,
    claimed: Option<String>,
    edits: usize,
    has_eaten: bool,
}

#[derive(Clone, Debug, Default)]
struct Turn {
    done: usize,
    refused: usize,
}

#[derive(Clone, Debug)]
enum Step {
    Begin(&'static str),
    Read(String),
    Before(Edit),
    After(Begun),
    Shell(String),
    ShellDone(String),
    Commit,
    SubagentEnd(String),
    TurnEnd,
    Clear,
    Leave,
    Crash,
}

#[derive(Clone, Debug)]
struct Edit {
    files: Vec<String>,
    whole: bool,
    /// It undoes what it did so far, as it remembers it.
    anew: bool,
    subagent: Option<String>,
}

/// An edit that was admitted, and what it puts into each of its files.
#[derive(Clone, Debug)]
struct Begun {
    edit: Edit,
    tool: Tool,
}

/// The repository that an agent works in.
pub(super) fn repository_of(number: usize) -> &'static str {
    if number % 10 < 7 { "app" } else { "lib" }
}

/// A file of an agent's own part, named with its repository. No two repositories have a file of the same name.
pub(super) fn own_file(number: usize, file: usize) -> String {
    let repository = repository_of(number);
    let directory = if repository == "app" { "src" } else { "core" };
    format!("{repository}/{directory}/part{number}/file{file}.rs")
}

impl Agent {
    pub(super) fn new(seed: u64, number: usize) -> Self {
        let mut random = Random::for_one(seed, number);
        let kind = [Kind::Claude, Kind::Codex, Kind::Claude, Kind::Gemini][number % 4];
        Self {
            number,
            kind,
            due: random.below(600) as u64,
            random,
            client: None,
            session: String::new(),
            sessions: 0,
            beginnings: 0,
            plan: VecDeque::new(),
            turn: Turn::default(),
            changed: BTreeSet::new(),
            promised: Vec::new(),
            read: BTreeMap::new(),
            base: BTreeMap::new(),
            claimed: None,
            edits: 0,
            has_eaten: false,
        }
    }

    /// Does the next thing, and says when it is due again.
    pub(super) fn act(&mut self, world: &mut World<'_>) -> Outcome<()> {
        let step = match self.plan.pop_front() {
            Some(step) => step,
            None => self.next_turn(&mut world.issues, world.now),
        };
        let seconds = self.play(world, step)?;
        self.due = world.now + seconds as u64;
        Ok(())
    }

    /// Finishes what runs and commits what it has.
    pub(super) fn call_it_a_day(&mut self, world: &mut World<'_>) -> Outcome<()> {
        while let Some(step @ (Step::After(_) | Step::ShellDone(_))) = self.plan.pop_front() {
            self.play(world, step)?;
        }
        self.plan.clear();
        if self.client.is_some() {
            self.play(world, Step::Commit)?;
        }
        Ok(())
    }

    /// Makes a call to hear whether what was promised has come, and uses it if so.
    pub(super) fn comes_by(&mut self, world: &mut World<'_>) -> Outcome<()> {
        if self.client.is_none() || self.promised.is_empty() {
            return Ok(());
        }
        self.play(world, Step::Read(own_file(self.number, 0)))?;
        while let Some(step) = self.plan.pop_front() {
            self.play(world, step)?;
        }
        self.play(world, Step::Commit).map(|_| ())
    }

    /// Promises that were not kept though nobody is in the way.
    pub(super) fn forgotten(&self, world: &World<'_>) -> usize {
        let is_free =
            |files: &&Vec<String>| !files.iter().any(|file| world.ledger.is_taken(&self.session, file));
        self.promised.iter().filter(is_free).count()
    }

    fn play(&mut self, world: &mut World<'_>, step: Step) -> Outcome<usize> {
        match step {
            Step::Begin(source) => self.begin(world, source),
            Step::Read(file) => {
                let tool = Tool::Read(self.seen(&file));
                let before = self.call(world, None, &Event::Before(&tool))?;
                self.hear(world, &before);
                self.read.insert(file.clone(), world.text(&file)?);
                let after = self.call(world, None, &Event::After(&tool))?;
                self.hear(world, &after);
                Ok(self.random.between(5, 25))
            }
            Step::Before(edit) => self.before(world, edit),
            Step::After(begun) => self.after(world, &begun),
            Step::Shell(command) => self.shell(world, command),
            Step::ShellDone(command) => {
                let answer = self.call(world, None, &Event::After(&Tool::Shell(command)))?;
                self.hear(world, &answer);
                Ok(self.random.between(10, 30))
            }
            Step::Commit => self.commit(world),
            Step::SubagentEnd(name) => {
                self.call(world, Some(&name), &Event::SubagentEnd)?;
                Ok(5)
            }
            Step::TurnEnd => self.end_turn(world),
            Step::Clear => {
                self.call(world, None, &Event::End("clear"))?;
                self.sessions += 1;
                let new = self.session_name();
                world.ledger.goes_on_as(&self.session, &new);
                self.session = new;
                let answer = self.call(world, None, &Event::Start("clear"))?;
                self.hear(world, &answer);
                Ok(self.random.between(20, 120))
            }
            Step::Leave => {
                self.call(world, None, &Event::End("other"))?;
                self.gone(world)?;
                Ok(self.random.between(120, 1_200))
            }
            Step::Crash => {
                world.figures.crashes += 1;
                self.gone(world)?;
                if self.random.chance(50) {
                    self.plan.push_back(Step::Begin("resume"));
                }
                Ok(self.random.between(120, 900))
            }
        }
    }

    fn session_name(&self) -> String {
        format!("session-{}-{}", self.number, self.sessions)
    }

    /// How this agent names a file: from where it works.
    fn seen(&self, file: &str) -> String {
        match file.split_once('/') {
            Some((repository, path)) if repository == repository_of(self.number) => path.to_owned(),
            _ => format!("../{file}"),
        }
    }

    fn begin(&mut self, world: &mut World<'_>, source: &'static str) -> Outcome<usize> {
        if source == "startup" {
            self.sessions += 1;
            self.beginnings += 1;
            self.session = self.session_name();
            world.figures.sessions += 1;
            // What its predecessor left: it looks, and commits what nobody works on, or does not look.
            let looks = self.random.chance(50);
            let session = self.session.clone();
            self.changed.retain(|file| looks && !world.ledger.is_taken(&session, file));
        } else {
            world.ledger.comes_back(&self.session);
        }
        let cwd = world.directory(repository_of(self.number));
        let name = format!("{}-at-{}", self.session, world.now);
        self.client = Some(Client::start(world.home, &world.clock, self.kind, &cwd, &name)?);
        let answer = self.call(world, None, &Event::Start(source))?;
        self.hear(world, &answer);
        if !self.changed.is_empty() && source == "startup" {
            self.plan.push_front(Step::Commit);
        }
        Ok(self.random.between(10, 60))
    }

    fn gone(&mut self, world: &mut World<'_>) -> Outcome<()> {
        world.ledger.goes(&self.session);
        (self.claimed, self.plan) = (None, VecDeque::new());
        self.promised.clear();
        self.read.clear();
        self.base.clear();
        self.client.take().map_or(Ok(()), Client::die)
    }

    fn call(&mut self, world: &mut World<'_>, subagent: Option<&str>, event: &Event<'_>) -> Outcome<Answer> {
        let cwd = world.directory(repository_of(self.number));
        let client = self.client.as_mut().ok_or("a client that is gone does something")?;
        let speaker = Speaker { session: &self.session, subagent, cwd: &cwd };
        let answer = client.call(&world.clock, speaker, event)?;
        world.figures.calls += 1;
        world.write_down(&self.session, &format!("{event:?} {answer:?}"))?;
        let told = [&answer.denied, &answer.told].into_iter().flatten().map(String::len).sum();
        world.figures.inject(format!("{}-{}", self.number, self.beginnings), world.now, told);
        Ok(answer)
    }

    fn before(&mut self, world: &mut World<'_>, edit: Edit) -> Outcome<usize> {
        world.figures.edits += 1;
        let tool = self.tool(world, &edit)?;
        let answer = self.call(world, edit.subagent.as_deref(), &Event::Before(&tool))?;
        let Some(reason) = &answer.denied else {
            world.ledger.begins(&self.session, &edit.files);
            // Whoever gets what it was refused needs not be told any more.
            self.promised.retain(|files| !files.iter().all(|file| edit.files.contains(file)));
            self.plan.push_front(Step::After(Begun { edit, tool }));
            self.hear(world, &answer);
            return Ok(self.random.between(2, 8));
        };
        let is_needed = edit.files.iter().any(|file| world.ledger.is_in_the_way(&self.session, file));
        world.figures.refuse(world.now, &self.session, reason, is_needed);
        self.turn.refused += 1;
        // Whoever is told of lines that it would have removed changes some lines, and not the whole.
        let in_place = reason.contains("edit it in place");
        if in_place || reason.contains("edit it again") {
            self.try_again(Edit { whole: edit.whole && !in_place, anew: edit.anew && !in_place, ..edit });
            return Ok(self.random.between(5, 20));
        }
        // What a subagent was promised ends with it.
        let is_promised = reason.contains("queue") && edit.subagent.is_none();
        if is_promised {
            world.ledger.promises(&self.session, &edit.files);
        }
        self.work_on_something_else(edit.files, is_promised);
        Ok(self.random.between(5, 20))
    }

    /// What somebody else has for the length of one call is read and edited again.
    fn try_again(&mut self, edit: Edit) {
        let reads: Vec<Step> = edit.files.iter().cloned().map(Step::Read).collect();
        self.plan.push_front(Step::Before(edit));
        reads.into_iter().for_each(|read| self.plan.push_front(read));
    }

    /// A refusal promises to tell; one that does not asks for something to be finished first.
    fn work_on_something_else(&mut self, files: Vec<String>, is_promised: bool) {
        let touches = |edit: &Edit| edit.files.iter().any(|file| files.contains(file));
        self.plan.retain(|step| !matches!(step, Step::Before(edit) if touches(edit)));
        if is_promised {
            self.promised.push(files);
        } else {
            self.plan.push_front(Step::Commit);
        }
        if self.turn.done == 0 && !self.plan.iter().any(|step| matches!(step, Step::Before(_))) {
            let file = self.free_file();
            let edit = Edit { files: vec![file.clone()], whole: false, anew: false, subagent: None };
            self.plan.push_front(Step::Before(edit));
            self.plan.push_front(Step::Read(file));
        }
    }

    /// What an edit puts into its files: a line each, at the end of what is there or of what the agent remembers of it.
    fn tool(&mut self, world: &World<'_>, edit: &Edit) -> Outcome<Tool> {
        let mut puts = Vec::new();
        for file in &edit.files {
            self.edits += 1;
            let text = format!("// {} wrote this as its edit {}\n", self.session, self.edits);
            puts.push(Put { file: self.seen(file), text });
        }
        let is_whole = edit.whole || edit.anew;
        let (Some(file), Some(put)) = (edit.files.first(), puts.first().filter(|_| is_whole)) else {
            return Ok(Tool::Edit(puts));
        };
        let there = world.text(file)?;
        let text = format!("{}{}", self.remembered(edit, file).unwrap_or(&there), put.text);
        Ok(Tool::Write(Put { text, ..put.clone() }))
    }

    /// The tool has done its work.
    fn after(&mut self, world: &mut World<'_>, begun: &Begun) -> Outcome<usize> {
        let Begun { edit, tool } = begun;
        for (number, file) in edit.files.iter().enumerate() {
            let there = world.text(file)?;
            let text = match tool {
                Tool::Write(put) => put.text.clone(),
                Tool::Edit(puts) => format!("{there}{}", puts[number].text),
                Tool::Read(_) | Tool::Shell(_) => return Err("an edit is none".to_owned()),
            };
            if !self.changed.contains(file) {
                self.base.insert(file.clone(), there.clone());
            }
            world.write(file, &text)?;
            for line in world.ledger.wrote(&self.session, file, &there, &text) {
                world.write_down(&self.session, &format!("overwrote in {file}: {line}"))?;
            }
            self.read.insert(file.clone(), text);
            self.changed.insert(file.clone());
        }
        self.turn.done += 1;
        world.ledger.is_done(&self.session);
        let answer = self.call(world, edit.subagent.as_deref(), &Event::After(tool))?;
        self.hear(world, &answer);
        Ok(self.random.between(10, 40))
    }

    /// What an edit goes by, if not by what is there. Claude Code and Codex do not write over what changed since it was
    /// read; Gemini CLI does. Whoever undoes its own work does so from memory, whatever its client.
    fn remembered(&self, edit: &Edit, file: &str) -> Option<&String> {
        match edit {
            Edit { anew: true, .. } => self.base.get(file),
            Edit { whole: true, .. } if self.kind == Kind::Gemini => self.read.get(file),
            _ => None,
        }
    }

    fn shell(&mut self, world: &mut World<'_>, command: String) -> Outcome<usize> {
        let answer = self.call(world, None, &Event::Before(&Tool::Shell(command.clone())))?;
        let printed = answer.instead.clone().unwrap_or_default();
        match &self.claimed {
            Some(file) if command.starts_with("clearway reserve") && printed.contains("reserved as") => {
                world.ledger.claims(&self.session, file);
                world.figures.claims += 1;
            }
            Some(_) if command.starts_with("clearway") => {
                self.claimed = None;
                world.ledger.gives_back(&self.session);
            }
            _ => {}
        }
        self.plan.push_front(Step::ShellDone(command));
        self.hear(world, &answer);
        Ok(self.random.between(20, 90))
    }

    fn commit(&mut self, world: &mut World<'_>) -> Outcome<usize> {
        let changed = std::mem::take(&mut self.changed);
        self.base.clear();
        if !changed.is_empty() {
            world.commit(&changed, &self.session);
        }
        if let Some(file) = self.claimed.clone() {
            self.plan.push_front(Step::Shell(format!("clearway release {}", self.seen(&file))));
        }
        Ok(self.random.between(5, 15))
    }

    fn end_turn(&mut self, world: &mut World<'_>) -> Outcome<usize> {
        self.call(world, None, &Event::TurnEnd)?;
        world.figures.turns += 1;
        let turn = std::mem::take(&mut self.turn);
        world.figures.waiting += usize::from(turn.refused > 0 && turn.done == 0);
        self.read.clear();
        if !self.has_eaten && world.now >= NOON {
            self.has_eaten = true;
            return Ok(self.random.between(2_700, 4_500));
        }
        Ok(self.random.between(60, 600))
    }
}
