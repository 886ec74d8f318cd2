//! Where an agent is: at which terminal, in which directory and branch, and how a person goes on with its session.

use crate::listings::AgentSeen;
use crate::own::ENDED_ROWS;
use crate::session::Session;
use clearway_core::agent::{Agent, Liveness};
use clearway_core::failure::{Failure, LeaseView};
use clearway_core::ids::Seq;
use clearway_core::nearest::nearest;
use clearway_core::shell;
use clearway_core::slug::Slug;
use clearway_core::text::quoted;
use clearway_store::contract::LeaseListing;
use std::path::{Path, PathBuf};

/// Where a process is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessPlace {
    /// The terminal it reads from or writes to.
    pub terminal: Option<String>,
    /// The pane of tmux that it was started in.
    pub tmux_pane: Option<String>,
    /// The directory it works in.
    pub directory: Option<PathBuf>,
}

/// Where an agent is.
#[derive(Clone, Debug)]
pub struct AgentPlace {
    /// The revision looked at.
    pub rev: Seq,
    /// The agent.
    pub seen: AgentSeen,
    /// How long ago it gave its last sign of life.
    pub silent_ms: Option<u64>,
    /// The process of its client, if it lives.
    pub pid: Option<u32>,
    /// Where that is.
    pub place: ProcessPlace,
    /// The branch of the directory.
    pub branch: Option<String>,
    /// What goes on with its session.
    pub resume: Option<String>,
}

impl Session<'_> {
    /// Where the agent with this name or id is. What its process does not tell any more is told by what it held.
    pub fn where_is(&mut self, word: &str) -> Result<AgentPlace, Failure> {
        let key = self.site.key.clone();
        let survey = self.survey_in(&key, LeaseListing::WithEnded(ENDED_ROWS))?;
        let agents = survey.agents();
        let seen = meant(word, &agents, "where")?.clone();
        let agent = &seen.view.agent;
        // A subagent is where its session is.
        let top = agents.iter().find(|other| other.view.agent.id == agent.root).unwrap_or(&seen);
        let process = top.view.agent.process.clone().filter(|_| top.liveness != Liveness::Gone);
        let mut place =
            process.as_ref().and_then(|process| self.outside.place_of(process)).unwrap_or_default();
        place.directory = place.directory.or_else(|| last_worktree(&survey.leases(), agent));
        let branch = place.directory.as_deref().and_then(|directory| self.outside.branch_of(directory));
        let resume = resume(agent, place.directory.as_deref());
        let now = self.now()?;
        let silent_ms = seen.view.last_seen().map(|last| now.mono.since(last));
        let (rev, pid) = (survey.rev(), process.map(|process| process.pid));
        Ok(AgentPlace { rev, seen, silent_ms, pid, place, branch, resume })
    }
}

/// The agent that a word names or is the id of. `verb` is what was asked of it, up to the word.
pub(crate) fn meant<'a>(word: &str, agents: &'a [AgentSeen], verb: &str) -> Result<&'a AgentSeen, Failure> {
    let is_meant =
        |seen: &&AgentSeen| seen.view.agent.name.as_str() == word || seen.view.agent.id.to_string() == word;
    agents.iter().find(is_meant).ok_or_else(|| {
        let names = agents.iter().map(|seen| seen.view.agent.name.as_str());
        let failure = Failure::new(Slug::NotFound, format!("nobody here is called {}", quoted(word)));
        failure.hint(match nearest(word, names) {
            Some(near) => format!("did you mean: clearway {verb} {near}"),
            None => clearway_core::hint::AGENTS.to_owned(),
        })
    })
}

fn last_worktree(leases: &[LeaseView], agent: &Agent) -> Option<PathBuf> {
    let own = leases.iter().filter(|view| view.lease.holder == agent.id && !view.lease.worktree.0.is_empty());
    own.max_by_key(|view| view.lease.fence).map(|view| PathBuf::from(&view.lease.worktree.0))
}

/// The client's own command, from the directory: a session is found by the client where it began.
fn resume(agent: &Agent, directory: Option<&Path>) -> Option<String> {
    let own = agent.key.session_of(agent.client)?;
    let session = own.split_once('/').map_or(own, |(session, _)| session);
    let words = agent.client.resume_words()?;
    let command = format!("{words} {}", shell::word(session));
    let directory = directory.map(|directory| shell::word(&directory.display().to_string()));
    Some(directory.map_or(command.clone(), |directory| format!("cd {directory} && {command}")))
}
