//! A rebase goes over a whole checkout, and is refused before it begins.

use super::GitAnswer;
use crate::config::Enforcement;
use crate::session::Session;
use clearway_core::command::Command;
use clearway_core::failure::Failure;
use clearway_core::hint::Hint;
use clearway_core::slug::Slug;

impl Session<'_> {
    pub(super) fn check_rebase(&mut self) -> Result<GitAnswer, Failure> {
        let scene = self.scene()?;
        if scene.foreign().next().is_none() {
            return Ok(GitAnswer::Silent);
        }
        let (key, rebase) = (self.site.key.clone(), Command::Rebase(self.site.worktree()));
        let would_be = match self.preview_in(&key, rebase.clone())?.outcome {
            Ok(_) => return Ok(GitAnswer::Silent),
            Err(failure) if failure.slug == Slug::OthersAtWork || scene.is_person => failure,
            Err(failure) => return Err(failure),
        };
        match self.config.mode() {
            _ if scene.is_person && would_be.slug == Slug::NoIdentity => Ok(GitAnswer::Silent),
            Enforcement::Observe if !scene.is_person => Ok(GitAnswer::Silent),
            Enforcement::Enforce if !scene.is_person => {
                let refused = self.command(rebase)?.outcome;
                let hint = self.elsewhere();
                Ok(refused
                    .map_or_else(|failure| GitAnswer::Refused(failure.hint(hint)), |_| GitAnswer::Silent))
            }
            _ => Ok(GitAnswer::Warned(would_be)),
        }
    }

    /// A checkout of its own, where nobody else is.
    fn elsewhere(&self) -> Hint {
        let root = self.site.root.as_ref().map(|root| root.display().to_string()).unwrap_or_default();
        let name = self.name_beside(&root);
        Hint::Advice(format!("rebase in a checkout of your own: git worktree add --detach {name}"))
    }
}
