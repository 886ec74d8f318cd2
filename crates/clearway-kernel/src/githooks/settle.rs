//! What a commit is over with is given back.

use crate::passing::{Mark, name_after, note_down};
use crate::session::Session;
use clearway_core::command::{Command, Settle};
use clearway_core::failure::Failure;
use clearway_core::lease::{Grade, Lease};
use clearway_core::time::{Mono, Now};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Bytes of a mark, of which only the last line counts.
const MARK_BYTES_MAX: u64 = 1_024;

impl Session<'_> {
    /// Gives back what hooks took of the family on paths of a commit, `began` being when it began, if that is known. The
    /// checkouts in which others are at work.
    pub(crate) fn settle_commit(
        &mut self,
        committed: impl FnOnce(&mut Self) -> Result<Vec<String>, Failure>,
        began: Option<Mono>,
    ) -> Result<BTreeSet<String>, Failure> {
        let scene = self.scene()?;
        let is_automatic = |lease: &Lease| lease.grade == Grade::Auto && lease.target.literal().is_some();
        let may_end =
            |lease: &&Lease| lease.bound.is_none() && (is_automatic(lease) || scene.promises(lease.id));
        let own: Vec<&Lease> = scene.own().filter(may_end).collect();
        if own.is_empty() {
            return Ok(scene.elsewhere);
        }
        let committed: BTreeSet<String> = committed(self)?.into_iter().collect();
        // What was promised with the next commit passes on if nothing of it is left to commit, whether or not it is in this
        // one: there may never have been anything.
        let is_promised = |lease: &Lease| scene.promises(lease.id);
        let is_in_it = |lease: &&&Lease| {
            let is_committed = |path: &str| committed.contains(path);
            (is_automatic(lease) && lease.target.literal().is_some_and(is_committed)) || is_promised(lease)
        };
        let leases: Vec<_> = own.iter().filter(is_in_it).map(|lease| lease.id).collect();
        let began = began.or_else(|| self.marked_begin()).unwrap_or(scene.now);
        if !leases.is_empty() {
            self.command(Command::Settle(Settle { leases, began }))?.outcome?;
        }
        Ok(scene.elsewhere.clone())
    }

    fn mark(&self) -> Option<PathBuf> {
        let worktree = name_after(&self.site.worktree().0);
        self.outside.passing_file(&format!("commit-{}-{worktree}", self.site.key)).ok()
    }

    /// Notes when a commit began. One that nobody noted began when it was made.
    pub(super) fn mark_begin(&mut self, began: Mono) {
        let (Some(path), Ok(now)) = (self.mark(), self.now()) else { return };
        let mark = Mark::of(&Now { mono: began, ..now });
        note_down(self.outside, &path, &mark.to_string(), MARK_BYTES_MAX);
    }

    fn marked_begin(&mut self) -> Option<Mono> {
        let path = self.mark()?;
        let text = self.outside.read_text(&path).ok()??;
        drop(self.outside.remove_file(&path));
        Mark::parse(text.lines().next_back()?)?.at(&self.now().ok()?)
    }
}
