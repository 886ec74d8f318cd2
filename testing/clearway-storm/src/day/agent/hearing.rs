//! What an agent does about what it is told: takes its turn, commits what others wait for, reads again.

use super::{Agent, Edit, Step};
use crate::day::World;
use crate::day::client::Answer;

impl Agent {
    /// What an agent does about what it is told.
    pub(super) fn hear(&mut self, world: &mut World<'_>, answer: &Answer) {
        if !world.heeds {
            return;
        }
        for line in answer.told.iter().flat_map(|told| told.lines()) {
            if let Some((path, _)) = line.split_once(" is free, and kept for you") {
                self.take_turn(world, path);
            } else if let Some((path, _)) = line.split_once(" was kept for you while you were away") {
                self.take_turn(world, path);
            } else if let Some((_, path)) = line.split_once(" waits for ") {
                self.commit_soon(path);
            } else {
                self.forget(line);
            }
        }
    }

    /// What it remembers of a file that a line speaks of is no longer to be relied on.
    fn forget(&mut self, line: &str) {
        let is_meant = |file: &String| file.split_once('/').is_some_and(|(_, path)| line.contains(path));
        self.read.retain(|file, _| !is_meant(file));
        self.base.retain(|file, _| !is_meant(file));
    }

    fn take_turn(&mut self, world: &mut World<'_>, path: &str) {
        let names = |file: &String| file.split_once('/').is_some_and(|(_, own)| own == path);
        let Some(found) = self.promised.iter().position(|files| files.iter().any(names)) else { return };
        let files = self.promised.swap_remove(found);
        world.figures.turns_taken += 1;
        let at = self.between_calls();
        let reads = files.iter().cloned().map(Step::Read);
        let edit = Step::Before(Edit { files: files.clone(), whole: false, anew: false, subagent: None });
        for (offset, step) in reads.chain([edit]).enumerate() {
            self.plan.insert(at + offset, step);
        }
    }

    /// Commits what somebody waits for when it is done with it: what is half done is of no use to anybody.
    fn commit_soon(&mut self, line: &str) {
        let is_meant = |file: &String| file.split_once('/').is_some_and(|(_, path)| line.starts_with(path));
        let is_edit = |step: &Step| matches!(step, Step::Before(edit) if edit.files.iter().any(is_meant));
        if self.random.chance(60) {
            let last = self.plan.iter().rposition(is_edit).map(|last| last + 1);
            self.plan.insert(last.unwrap_or_else(|| self.between_calls()), Step::Commit);
        }
    }

    /// Where in the plan no tool is running.
    fn between_calls(&self) -> usize {
        usize::from(matches!(self.plan.front(), Some(Step::After(_) | Step::ShellDone(_))))
    }
}
