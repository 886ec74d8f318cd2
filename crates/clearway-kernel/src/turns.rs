//! Turns at what git keeps one of: the index of a checkout, and what is put aside of a repository.
//!
//! A hook takes them by leases on names for the length of the call, and what it took is noted outside of the store, so that
//! the hook after the call gives it back. A call that is never heard of again keeps nothing: its leases have an absolute end,
//! and the next such call of the same agent, or the end of its turn, ends them before.

use crate::editing::fresh;
use crate::hooking::{HookCall, unheard, welcome};
use crate::outside::Outside;
use crate::passing::{name_after, note_down};
use crate::session::Session;
use clearway_core::command::{Command, LeaseRef, Release, Reserve, Selection};
use clearway_core::failure::{Details, Failure, Retry};
use clearway_core::ids::{Fence, LeaseId};
use clearway_core::lease::Grade;
use clearway_core::slug::Slug;
use clearway_core::target::{ResourceName, Target};
use std::path::{Path, PathBuf};

/// How long a hook waits for its turn; clients give it five seconds in all.
const TURN_WAIT_MS: u64 = 3_000;
/// How often it looks meanwhile, beside being rung.
const TURN_LOOK_MS: u64 = 50;
/// How long a call has its turns, if it is not heard of again.
pub(crate) const TURN_MS_MAX: u64 = 30_000;
/// Bytes of a note; beyond that the older half goes.
const NOTE_BYTES_MAX: u64 = 16 * 1_024;

/// What a call has to give back when it is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// A lease.
    Lease(LeaseRef),
    /// Entries that were put aside after this one, or after none, are the caller's.
    Aside(Option<String>),
    /// Others may edit again.
    Edits,
}

/// Notes what a call has to give back, with the checkout it is of.
pub(crate) fn note(outside: &mut dyn Outside, call: &HookCall, root: &Path, due: &Due) {
    let Some(path) = note_of(outside, call) else { return };
    let line = format!("{}\t{}", due.word(), root.display());
    // Without it what was taken ends by itself.
    note_down(outside, &path, &line, NOTE_BYTES_MAX);
}

/// Gives back what a call of a session that is over has taken, and writes down what it put aside. What cannot be given
/// back ends by itself.
pub(crate) fn settle(outside: &mut dyn Outside, call: &HookCall) {
    give_back(outside, call, |_| true);
}

/// The same of a call that did not run, or that was never heard of again. Whose what was put aside since is cannot be told
/// any more.
pub fn abandon(outside: &mut dyn Outside, call: &HookCall) {
    give_back(outside, call, |due| !matches!(due, Due::Aside(_)));
}

fn give_back(outside: &mut dyn Outside, call: &HookCall, counts: impl Fn(&Due) -> bool) {
    let Some(path) = note_of(outside, call) else { return };
    let Ok(Some(text)) = outside.read_text(&path) else { return };
    drop(outside.remove_file(&path));
    let globals = unheard(&call.globals());
    for (root, mut due) in by_root(&text) {
        due.retain(&counts);
        let Ok(Some(ground)) = welcome(outside, &globals, Path::new(&root)) else { continue };
        if let Ok(mut session) = Session::on(outside, &globals, ground) {
            drop(session.give_up(&due));
        }
    }
}

fn by_root(text: &str) -> Vec<(String, Vec<Due>)> {
    let mut found: Vec<(String, Vec<Due>)> = Vec::new();
    for line in text.lines() {
        let Some((root, due)) = line.split_once('\t').and_then(|(word, root)| Some((root, Due::read(word)?)))
        else {
            continue;
        };
        match found.iter_mut().find(|(known, _)| known == root) {
            Some((_, dues)) => dues.push(due),
            None => found.push((root.to_owned(), vec![due])),
        }
    }
    found
}

fn note_of(outside: &dyn Outside, call: &HookCall) -> Option<PathBuf> {
    outside.passing_file(&format!("turns-{}", name_after(&call.session.key().0))).ok()
}

impl Due {
    fn word(&self) -> String {
        match self {
            Self::Lease(LeaseRef { id, fence }) => match fence {
                Some(fence) => format!("lease {id} {fence}"),
                None => format!("lease {id}"),
            },
            Self::Aside(top) => format!("aside {}", top.as_deref().unwrap_or("-")),
            Self::Edits => "edits".to_owned(),
        }
    }

    fn read(word: &str) -> Option<Self> {
        let words: Vec<&str> = word.split(' ').collect();
        match words.as_slice() {
            ["lease", id] => Some(Self::Lease(LeaseRef { id: LeaseId::parse(id)?, fence: None })),
            ["lease", id, fence] => {
                let fence = fence.parse().ok().map(Fence::from_integer);
                Some(Self::Lease(LeaseRef { id: LeaseId::parse(id)?, fence }))
            }
            ["aside", "-"] => Some(Self::Aside(None)),
            ["aside", top] => Some(Self::Aside(Some((*top).to_owned()))),
            ["edits"] => Some(Self::Edits),
            _ => None,
        }
    }
}

impl Session<'_> {
    /// Takes the turns at these names for a call, all of them or none; `Some` says who has them for longer than anybody
    /// waits.
    pub(crate) fn take_turn(
        &mut self,
        call: &HookCall,
        names: Vec<ResourceName>,
    ) -> Result<Option<Failure>, Failure> {
        if names.is_empty() {
            return Ok(None);
        }
        let reserve = Command::Reserve(self.turn_at(names));
        let ends = self.now()?.mono.plus_ms(TURN_WAIT_MS);
        let scope = self.site.key.clone();
        loop {
            let seen = self.preview_in(&scope, reserve.clone())?;
            let left_ms = ends.since(seen.now.mono);
            if seen.outcome.is_ok() || left_ms == 0 {
                break;
            }
            self.changed(&scope, seen.rev, left_ms.min(TURN_LOOK_MS))?;
        }
        let reply = self.command(reserve)?;
        let root = self.site.root.clone().unwrap_or_default();
        for lease in fresh(&reply) {
            note(self.outside, call, &root, &Due::Lease(lease));
        }
        match reply.outcome {
            Err(failure) if failure.slug == Slug::ReservationHeld => Ok(Some(occupied(&failure))),
            Err(failure) => Err(failure),
            Ok(_) => Ok(None),
        }
    }

    fn turn_at(&self, names: Vec<ResourceName>) -> Reserve {
        let names = names.into_iter().map(Target::Name);
        Reserve {
            max_ms: Some(TURN_MS_MAX),
            reason: Some("git".to_owned()),
            ..Reserve::alone(names, self.site.worktree(), Grade::Claimed, TURN_MS_MAX)
        }
    }

    fn give_up(&mut self, dues: &[Due]) -> Result<(), Failure> {
        // What was put aside is told by whom while nobody else can put anything aside.
        for due in dues {
            match due {
                Due::Aside(top) => self.note_put_aside(top.as_deref())?,
                Due::Edits => self.let_others_edit()?,
                Due::Lease(_) => {}
            }
        }
        let lease = |due: &Due| match due {
            Due::Lease(lease) => Some(*lease),
            Due::Aside(_) | Due::Edits => None,
        };
        let leases: Vec<LeaseRef> = dues.iter().filter_map(lease).collect();
        for lease in leases {
            // One that is over by now is no reason to keep the others.
            let release = Release { selection: Selection::of(vec![lease]), keep: Vec::new() };
            self.command(Command::Release(release))?.outcome.ok();
        }
        Ok(())
    }
}

/// Who has the turn, in one line.
fn occupied(failure: &Failure) -> Failure {
    let first = match &failure.details {
        Details::Blockers { leases, .. } => leases.first(),
        _ => None,
    };
    let message = match first {
        Some(view) => {
            let what = match &view.lease.target {
                Target::Name(name) if *name == ResourceName::git_stash() => "what git puts aside here",
                _ => "the index of this checkout",
            };
            format!("a command of {} has {what} this moment; try again", view.agent)
        }
        None => "others wait for the index of this checkout; try again".to_owned(),
    };
    Failure::new(Slug::ReservationHeld, message).retry(Retry::AfterMs(TURN_WAIT_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_is_read_back_with_where() {
        let lease = LeaseRef { id: LeaseId::parse("jgxvdrrg").unwrap(), fence: None };
        let dues = [Due::Lease(lease), Due::Aside(None), Due::Aside(Some("abc".to_owned())), Due::Edits];
        let lines: String = dues.iter().map(|due| format!("{}\t/w/a b\n", due.word())).collect();
        assert_eq!(by_root(&lines), [("/w/a b".to_owned(), dues.to_vec())]);
        assert_eq!(by_root("nonsense\nlease\t/w\n\tx\n"), []);
    }
}
