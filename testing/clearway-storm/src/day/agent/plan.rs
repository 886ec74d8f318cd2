//! What an agent is asked for: turns of work, and which files they are about.

use super::{Agent, Edit, FILES_PER_AGENT, Step, own_file, repository_of};
use crate::day::AGENTS;
use crate::day::client::Kind;
use crate::day::issues::Issues;

impl Agent {
    /// What the person asks for next; the first step of it.
    pub(super) fn next_turn(&mut self, issues: &mut Issues, now: u64) -> Step {
        if self.client.is_none() {
            return Step::Begin("startup");
        }
        match self.random.below(100) {
            0..4 if self.kind == Kind::Claude => return Step::Clear,
            4..9 => return Step::Leave,
            _ => {}
        }
        let issue = issues.given_to(self.number, now).filter(|file| !self.is_promised(file));
        let files = self.files_of_turn(issue.as_ref());
        files.first().into_iter().for_each(|file| issues.began(self.number, file, now));
        self.plan = self.turn_of_work(&files).into();
        if self.random.chance(3) {
            let at = self.random.below(self.plan.len());
            self.plan.insert(at, Step::Crash);
        }
        self.plan.pop_front().unwrap_or(Step::TurnEnd)
    }

    fn turn_of_work(&mut self, files: &[String]) -> Vec<Step> {
        let mut steps = Vec::new();
        if self.kind == Kind::Codex && self.random.chance(8) {
            let file = self.free_file();
            let reserve = format!("clearway reserve {} --reason 'split it'", self.seen(&file));
            self.claimed = Some(file);
            steps.push(Step::Shell(reserve));
        }
        let subagent =
            (self.kind == Kind::Claude && self.random.chance(15)).then(|| format!("worker-{}", self.edits));
        for (number, file) in files.iter().enumerate() {
            steps.extend(
                (0..self.random.between(1, 3))
                    .map(|_| Step::Read(own_file(self.number, self.random.below(FILES_PER_AGENT)))),
            );
            steps.push(Step::Read(file.clone()));
            let by = subagent.clone().filter(|_| number == 0);
            steps.extend(
                (0..self.random.between(1, 3)).map(|_| Step::Before(self.edit(files, file, by.clone()))),
            );
            steps.extend(by.map(Step::SubagentEnd));
            self.tests(&mut steps);
        }
        for _ in 0..self.random.between(1, 3) {
            self.mend(files, &mut steps);
        }
        steps.extend(files.first().map(|file| Step::Before(second_idea(file))));
        self.brief_files(&mut steps);
        if self.random.chance(80) {
            steps.push(Step::Commit);
        }
        steps.push(Step::TurnEnd);
        steps
    }

    /// The issue first; then, as often as not, what it left in files and did not commit; and something new. What tools
    /// write for everybody is nothing to go over by hand.
    fn files_of_turn(&mut self, issue: Option<&String>) -> Vec<String> {
        let own = self.changed.iter().filter(|file| !file.ends_with("/Cargo.lock"));
        let unfinished: Vec<String> =
            if self.random.chance(50) { own.take(2).cloned().collect() } else { Vec::new() };
        let new: Vec<String> = (0..self.random.between(2, 4)).map(|_| self.some_file()).collect();
        let mut files = [unfinished, new].concat();
        files.sort();
        files.dedup();
        files.retain(|file| Some(file) != issue);
        issue.cloned().into_iter().chain(files).collect()
    }

    /// Goes over what it wrote once more, as after tests that failed: from what it has in mind, and not from the files.
    fn mend(&mut self, files: &[String], steps: &mut Vec<Step>) {
        for file in files {
            if self.random.chance(60) {
                steps.push(Step::Before(self.edit(files, file, None)));
            }
        }
        self.tests(steps);
    }

    fn tests(&mut self, steps: &mut Vec<Step>) {
        if self.random.chance(60) {
            steps.push(Step::Shell("cargo test".to_owned()));
        }
    }

    fn edit(&mut self, files: &[String], file: &str, subagent: Option<String>) -> Edit {
        let several = self.kind == Kind::Codex && self.random.chance(30);
        let whole = self.kind != Kind::Codex && self.random.chance(25);
        let anew = !several && self.random.chance(8);
        let files = if several { files.iter().take(2).cloned().collect() } else { vec![file.to_owned()] };
        Edit { files, whole, anew, subagent }
    }

    /// Files that everybody edits now and then.
    fn brief_files(&mut self, steps: &mut Vec<Step>) {
        let repository = repository_of(self.number);
        for (name, percent) in [("CHANGELOG.md", 20), ("Cargo.lock", 10)] {
            if self.random.chance(percent) {
                let files = vec![format!("{repository}/{name}")];
                steps.push(Step::Read(files[0].clone()));
                steps.push(Step::Before(Edit { files, whole: false, anew: false, subagent: None }));
            }
        }
    }

    /// Mostly a file of its own part, sometimes one of somebody else's, rarely one of another repository.
    fn some_file(&mut self) -> String {
        let others: Vec<usize> = (0..AGENTS).filter(|other| *other != self.number).collect();
        let near: Vec<usize> = others
            .iter()
            .copied()
            .filter(|other| repository_of(*other) == repository_of(self.number))
            .collect();
        let part = match self.random.below(100) {
            0..1 => self.random.one_of(&others).copied(),
            1..5 => self.random.one_of(&near).copied(),
            _ => None,
        };
        let file = own_file(part.unwrap_or(self.number), self.random.below(FILES_PER_AGENT));
        if self.is_promised(&file) { self.free_file() } else { file }
    }

    /// A file of its own part that it does not wait for.
    pub(super) fn free_file(&mut self) -> String {
        let from = self.random.below(FILES_PER_AGENT);
        let mut own =
            (from..from + FILES_PER_AGENT).map(|file| own_file(self.number, file % FILES_PER_AGENT));
        own.find(|file| !self.is_promised(file)).unwrap_or_else(|| own_file(self.number, from))
    }

    fn is_promised(&self, file: &String) -> bool {
        self.promised.iter().any(|files| files.contains(file))
    }
}

/// What a turn is about is written twice: the first idea is undone as its agent remembers it, and the second stays.
fn second_idea(file: &str) -> Edit {
    Edit { files: vec![file.to_owned()], whole: false, anew: true, subagent: None }
}
