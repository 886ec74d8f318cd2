//! Commits whose hooks put aside what is not committed: the pre-commit framework and lint-staged take every unstaged change
//! out of the checkout while they run, whoever made it, and put it back over what is there then.
//!
//! Before such a commit of an agent, where others have uncommitted work, that work is kept as a snapshot; and until it is
//! over, edits of others in the checkout wait. `docs/adr/0014-edits-wait-for-stashing-hooks.md` says for how long, and why.

use crate::config::Enforcement;
use crate::passing::name_after;
use crate::session::Session;
use crate::sharing::Order;
use crate::shelter;
use crate::turns::{self, Due};
use clearway_core::command::{Attend, Care, Command, Enter};
use clearway_core::failure::Failure;
use clearway_core::git_line::{GitAct, GitUse};
use clearway_core::redact::redact;
use clearway_core::snapshot::SnapshotCause;
use clearway_core::target::{ResourceName, Target};
use clearway_core::text::truncate_columns;
use clearway_core::time::Mono;
use clearway_store::Reply;
use std::path::PathBuf;

/// How long an edit waits; clients give a hook five seconds in all.
const EDIT_WAIT_MS: u64 = 2_000;
/// How often it looks meanwhile: the end of a call rings nobody.
const EDIT_LOOK_MS: u64 = 50;

impl Session<'_> {
    /// Whether one of these commands commits, hooks of the repository put aside what is not committed meanwhile, and some
    /// of that is somebody else's.
    pub(crate) fn commit_puts_aside(&mut self, uses: &[GitUse]) -> Result<bool, Failure> {
        let commits = uses.iter().any(|used| used.act == GitAct::Commits);
        Ok(commits && self.outside.hooks_put_aside(&self.site) && self.has_work_of_others()?)
    }

    pub(crate) fn has_work_of_others(&mut self) -> Result<bool, Failure> {
        let changed = self.outside.changed_paths(&self.site)?;
        Ok(self.judged(&changed)?.iter().any(|judged| !judged.whose.may_go()))
    }

    /// Keeps everything that is not committed, and has others wait with their edits until the call is over.
    pub(crate) fn keep_before_hooks(&mut self, order: &Order<'_>) -> Result<Option<Failure>, Failure> {
        let reason = truncate_columns(&redact(order.command), shelter::COMMAND_COLUMNS).into_owned();
        if let Err(failure) = self.put_in_safety(reason) {
            return Ok(Some(failure));
        }
        let root = self.site.root.clone().unwrap_or_default();
        turns::note(self.outside, order.call, &root, &Due::Edits);
        Ok(None)
    }

    /// The same for whoever says itself when it is over.
    pub(crate) fn put_in_safety(&mut self, reason: String) -> Result<(), Failure> {
        self.take_snapshot(vec![String::new()], SnapshotCause::Command, Some(reason))?;
        let reply = self.command(Command::Enter(self.whole_checkout()))?;
        reply.outcome?;
        if let Some(mark) = self.mark_of_hooks() {
            let until = reply.now.mono.plus_ms(turns::TURN_MS_MAX);
            self.outside.write_private(&mark, &until.0.to_string())?;
        }
        Ok(())
    }

    /// Others may edit again.
    pub(crate) fn let_others_edit(&mut self) -> Result<(), Failure> {
        if let Some(mark) = self.mark_of_hooks() {
            self.outside.remove_file(&mark)?;
        }
        let Enter { targets, worktree } = self.whole_checkout();
        let done = Attend::done(Care::Common, targets, worktree);
        self.command(Command::Attend(done))?.outcome.map(|_| ())
    }

    /// The answer to an edit while hooks of somebody else's commit have put things aside, once it has waited for them;
    /// `None` if there are none. Nothing is asked where no such commit runs.
    pub(crate) fn behind_hooks(&mut self, mode: Enforcement) -> Result<Option<Reply>, Failure> {
        let Some(mark) = self.mark_of_hooks() else { return Ok(None) };
        let until = match self.outside.read_text(&mark) {
            Ok(text) => text.and_then(|text| text.trim().parse().ok()).map(Mono),
            // Where a mark cannot be read there may be one: the store knows.
            Err(_) => Some(Mono(u64::MAX)),
        };
        let Some(until) = until else { return Ok(None) };
        let now = self.now()?.mono;
        if until <= now {
            drop(self.outside.remove_file(&mark));
            return Ok(None);
        }
        let patience_ms = if mode == Enforcement::Enforce { EDIT_WAIT_MS } else { 0 };
        let (ends, scope) = (now.plus_ms(patience_ms), self.site.key.clone());
        loop {
            let reply = self.preview_in(&scope, Command::Enter(self.whole_checkout()))?;
            if reply.outcome.is_ok() {
                return Ok(None);
            }
            let left_ms = ends.since(reply.now.mono);
            if left_ms == 0 {
                return Ok(Some(reply));
            }
            self.changed(&scope, reply.rev, left_ms.min(EDIT_LOOK_MS))?;
        }
    }

    fn whole_checkout(&self) -> Enter {
        let targets = vec![Target::Name(ResourceName::git_stash())];
        Enter { targets, worktree: self.site.worktree() }
    }

    /// What tells edits, without a look into the store, that such a commit may run.
    fn mark_of_hooks(&self) -> Option<PathBuf> {
        let worktree = name_after(&self.site.worktree().0);
        self.outside.passing_file(&format!("hooks-{}-{worktree}", self.site.key)).ok()
    }
}
