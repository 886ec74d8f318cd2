//! Files that everybody writes: one call after the other, and nobody leases them.

use crate::config::Enforcement;
use crate::session::Session;
use clearway_core::command::{Command, Enter};
use clearway_core::failure::Failure;
use clearway_core::target::Target;
use clearway_store::Reply;

/// How long a hook waits for a call of somebody else that writes such a file; clients give it five seconds in all.
const COMMON_WAIT_MS: u64 = 2_000;
/// How often it looks meanwhile: the end of a call rings nobody.
const COMMON_LOOK_MS: u64 = 100;

impl Session<'_> {
    /// Becomes the one who writes files that everybody writes, until the call is over. Waits a moment for whoever is at it,
    /// where a refusal would be enforced.
    pub(crate) fn write_common(&mut self, files: &[Target], mode: Enforcement) -> Result<Reply, Failure> {
        self.forget_idempotency_key();
        let enter = Command::Enter(Enter { targets: files.to_vec(), worktree: self.site.worktree() });
        let patience_ms = if mode == Enforcement::Enforce { COMMON_WAIT_MS } else { 0 };
        let ends = self.now()?.mono.plus_ms(patience_ms);
        let scope = self.site.key.clone();
        loop {
            let reply = self.command(enter.clone())?;
            let left_ms = ends.since(reply.now.mono);
            if reply.outcome.is_ok() || left_ms == 0 {
                return Ok(reply);
            }
            self.changed(&scope, reply.rev, left_ms.min(COMMON_LOOK_MS))?;
        }
    }
}
