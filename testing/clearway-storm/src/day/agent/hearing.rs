//! What an agent does about what it is told: takes its turn, commits what others wait for, reads again.

use super::{Agent, Edit, Step};
use crate::day::World;
use crate::day::client::Answer;

impl Agent {
    /// What an agent does about what it is told.
    pub(super) fn hear(&mut self, world: &mut World<'_>, answer: &Answer) {
        for line in answer.told.iter().flat_map(|told| told.lines()) {
            if let Some((path, _)) = line.split_once(" is free, and kept for you") {
                self.take_turn(world, path);
            } else if line.contains(" waits for ") {
                self.commit_soon();
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

    fn commit_soon(&mut self) {
        if self.random.chance(60) {
            let at = self.between_calls();
            self.plan.insert(at, Step::Commit);
        }
    }

    /// Where in the plan no tool is running.
    fn between_calls(&self) -> usize {
        usize::from(matches!(self.plan.front(), Some(Step::After(_) | Step::ShellDone(_))))
    }
}
