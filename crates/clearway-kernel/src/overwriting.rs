//! Whole-file writes of what many edit briefly: nobody keeps such a file, so nothing but a look at its lines keeps those
//! of others that are not committed.
//!
//! Whoever is still there has a say: a call that would remove its lines is refused. What somebody left who is gone is
//! told and not refused, as for any file.

use crate::editing::is_granted;
use crate::listings::AgentSeen;
use crate::session::Session;
use clearway_core::agent::{AgentName, Liveness};
use clearway_core::decide::{Left, Notice};
use clearway_core::failure::Failure;
use clearway_core::ids::AgentId;
use clearway_core::path::CanonicalPath;
use clearway_core::pattern::Pattern;
use clearway_core::target::Target;
use clearway_store::Reply;
use std::collections::BTreeMap;

/// What a file is to hold after a call, as the client tells before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeText {
    /// The file, as the client named it.
    pub file: String,
    /// All of its text; empty if it is to go.
    pub text: String,
}

/// Lines of others that a call would remove from a file that nobody keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overwrite {
    /// The file.
    pub file: Target,
    /// Whose lines, of those who are there, and how many.
    pub lines: Vec<(AgentName, u64)>,
}

impl Session<'_> {
    /// What others who are there would lose of files that are to be written as a whole, of the first such file. Of those
    /// who are gone the caller is told.
    pub(crate) fn at_stake(
        &mut self,
        reply: &mut Reply,
        whole: &[(CanonicalPath, &str)],
    ) -> Result<Option<Overwrite>, Failure> {
        let Some((me, _)) = reply.agent.clone().filter(|_| is_granted(reply)) else { return Ok(None) };
        for (path, text) in whole {
            let lost = self.left_out(path.as_str(), text, |author| author != me)?;
            if lost.is_empty() {
                continue;
            }
            let Losers { lines, gone } = self.losers(me, lost)?;
            let file = Target::Path(Pattern::literal(path));
            let left = |(from, left)| Notice::LeftBehind { target: file.display(), from, left };
            reply.notices.extend(gone.into_iter().map(left));
            if !lines.is_empty() {
                return Ok(Some(Overwrite { file, lines }));
            }
        }
        Ok(None)
    }

    /// Those of another family. Nobody has a say for whom nobody knows any more.
    fn losers(&mut self, me: AgentId, lost: BTreeMap<AgentId, u64>) -> Result<Losers, Failure> {
        let seen = self.agents()?.agents;
        let of = |id: AgentId| seen.iter().find(|seen| seen.view.agent.id == id);
        let family = of(me).map(|seen| seen.view.agent.root);
        let mut losers = Losers::default();
        for (author, count) in lost {
            let other = of(author).filter(|seen| Some(seen.view.agent.root) != family);
            let Some(AgentSeen { view, liveness, .. }) = other else { continue };
            let name = view.agent.name.clone();
            match liveness {
                Liveness::Gone if view.agent.halted.is_some() => losers.gone.push((name, Left::Halted)),
                Liveness::Gone => losers.gone.push((name, Left::Ended)),
                _ => losers.lines.push((name, count)),
            }
        }
        Ok(losers)
    }
}

/// Whose lines would be removed.
#[derive(Debug, Default)]
struct Losers {
    /// Of those who are there, and how many.
    lines: Vec<(AgentName, u64)>,
    /// Of those who are gone, and by what.
    gone: Vec<(AgentName, Left)>,
}
