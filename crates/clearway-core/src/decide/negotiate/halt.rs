//! A person stops an agent: what it was about to do is not done, what it holds is nobody's, and its work is kept.

use super::super::attend::let_go;
use super::super::draft::Draft;
use super::super::identity::Identified;
use super::super::selection::held_by;
use super::super::{Notice, Step, Success};
use crate::agent::{Agent, AgentName};
use crate::command::{Attend, Command};
use crate::event::Body;
use crate::failure::Failure;
use crate::ids::Entropy;
use crate::lease::Lease;
use crate::slice::{AgentView, Note};
use crate::slug::Slug;
use crate::snapshot::SnapshotCause;
use crate::wait::WaitEnd;

/// Stops it. What it changed is kept and left behind, what is clean is given back, and so are its places in the queue.
/// Stopping it again changes nothing.
pub(in super::super) fn halt(
    draft: &mut Draft<'_>,
    name: &AgentName,
    identified: &Identified,
    entropy: &mut Entropy<'_>,
) -> Step {
    let agent = match meant(draft, name) {
        Ok(agent) => agent,
        Err(failure) => return Ok(Err(failure)),
    };
    let leases: Vec<Lease> =
        held_by(draft, Some(agent.id)).into_iter().filter(|lease| lease.bound.is_none()).collect();
    let was_halted = agent.halted.is_some();
    let actor = draft.sign(identified, entropy);
    let ended = let_go(draft, actor, &leases, SnapshotCause::Halt)?;
    // A turn that it cannot take would be in everybody's way.
    for view in draft.queue.clone().iter().filter(|view| view.wait.agent == agent.id) {
        draft.end_wait(actor, view, WaitEnd::Cancelled);
    }
    if !was_halted {
        let reason = draft.operator_reason.clone().unwrap_or_default();
        draft.push(actor, Body::AgentHalted { agent: agent.id, reason });
    }
    Ok(Ok(Success::Halted { agent: agent.name, was_halted, ended }))
}

/// Lets it go on. It takes up its work by its next edit, like anybody.
pub(in super::super) fn go_on(
    draft: &mut Draft<'_>,
    name: &AgentName,
    identified: &Identified,
    entropy: &mut Entropy<'_>,
) -> Result<Success, Failure> {
    let agent = meant(draft, name)?;
    let was_halted = agent.halted.is_some();
    if was_halted {
        let actor = draft.sign(identified, entropy);
        let reason = draft.operator_reason.clone().unwrap_or_default();
        draft.push(actor, Body::AgentContinued { agent: agent.id, reason: reason.clone() });
        draft.note(agent.id, Note::Continued { reason });
    }
    Ok(Success::Continued { agent: agent.name, was_halted })
}

fn meant(draft: &Draft<'_>, name: &AgentName) -> Result<Agent, Failure> {
    let found = draft.slice.agent_meant(name).map(|view| view.agent.clone());
    found.ok_or_else(|| {
        Failure::new(Slug::NotFound, format!("nobody here is called {name}")).hint(crate::hint::AGENTS)
    })
}

/// Refuses an agent that a person stopped whatever would take something.
pub(in super::super) fn is_halted(
    draft: &Draft<'_>,
    command: &Command,
    identified: &Identified,
) -> Result<(), Failure> {
    let takes = matches!(
        command,
        Command::Reserve(_)
            | Command::Await(_)
            | Command::Enter(_)
            | Command::Ask(_)
            | Command::Force(_)
            | Command::Transfer(_)
            | Command::Commit(_)
    );
    match stopped(draft, identified).filter(|_| takes) {
        None => Ok(()),
        Some((name, reason)) => Err(Failure::new(Slug::Halted, format!("a person stopped {name}: {reason}"))
            .hint("end your turn and say what is left to do")
            .hint(crate::hint::Hint::for_operator(&format!(
                "a person lets it go on: clearway resume {name} --reason TEXT"
            )))),
    }
}

/// Whoever is stopped hears so at whatever it does.
pub(in super::super) fn tell_halted(draft: &mut Draft<'_>, command: &Command, identified: &Identified) {
    let is_call = matches!(command, Command::Attend(Attend::Start | Attend::Call));
    if let Some((_, reason)) = stopped(draft, identified).filter(|_| is_call) {
        draft.notices.push(Notice::Halted { reason });
    }
}

/// Who of the caller and those above it was stopped, and why.
fn stopped(draft: &Draft<'_>, identified: &Identified) -> Option<(AgentName, String)> {
    let of = |view: &AgentView| Some((view.agent.name.clone(), view.agent.halted.clone()?));
    let own = identified.known.as_ref();
    let root = own.and_then(|known| draft.slice.agent(known.agent.root));
    let parent = identified.newcomer.parent.as_deref().and_then(|parent| parent.known.as_ref());
    own.into_iter().chain(root).chain(parent).find_map(of)
}
