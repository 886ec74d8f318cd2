//! Who is calling: one order for every interface.
//!
//! An explicit claim, then the innermost client session, then a registered process above the caller, then the terminal.

use super::operator::inside_agent;
use crate::agent::{AgentName, Caller, Client, ClientSession, Established, IdentityKey};
use crate::facts::Process;
use crate::failure::{Details, Failure};
use crate::hint::Hint;
use crate::input::no_session_id;
use crate::slice::{AgentView, Slice};
use crate::slug::Slug;

/// Who the caller is: an agent of this scope, or what it will be registered as.
#[derive(Clone, Debug)]
pub struct Identified {
    /// The agent, if it is known here.
    pub known: Option<AgentView>,
    /// How it was established.
    pub how: Established,
    /// What to register it as otherwise.
    pub newcomer: Newcomer,
    /// What the known agent goes on as, if that is something new.
    pub(crate) back: Option<Back>,
}

/// What an agent goes on as.
#[derive(Clone, Debug)]
pub(crate) struct Back {
    pub(crate) key: IdentityKey,
    pub(crate) process: Option<Process>,
}

/// An agent that is not registered yet.
#[derive(Clone, Debug)]
pub struct Newcomer {
    pub(crate) client: Client,
    pub(crate) key: IdentityKey,
    /// A chosen name; otherwise one is made.
    pub(crate) name: Option<AgentName>,
    pub(crate) process: Option<Process>,
    /// The agent of its session, where it is a subagent.
    pub(crate) parent: Option<Box<Identified>>,
}

/// Finds the caller among the agents of the slice.
pub fn identify(slice: &Slice, caller: &Caller) -> Result<Identified, Failure> {
    if let Some(name) = &caller.claim {
        return by_claim(slice, caller, name);
    }
    if let Some(variable) = caller.malformed_sessions.first() {
        return Err(no_session_id(variable));
    }
    if !caller.rival_sessions.is_empty() {
        return Err(rivals(&caller.rival_sessions));
    }
    if let Some(session) = &caller.session {
        return Ok(by_session(slice, session, caller));
    }
    if let Some(view) = caller.ancestors.iter().find_map(|process| registered(slice, process)) {
        return Ok(known(view, Established::Ancestry));
    }
    match &caller.terminal {
        Some(process) => Ok(by_terminal(slice, process)),
        None => {
            Err(Failure::new(Slug::NoIdentity, "cannot tell who is calling: no agent session, no terminal")
                .hint("name yourself: clearway --agent NAME …"))
        }
    }
}

/// Whether nothing says that an agent calls: no name that was chosen, no client's session, no client above. A person is
/// kept from nothing by what agents hold.
pub fn is_person(slice: &Slice, caller: &Caller) -> bool {
    caller.claim.is_none() && !inside_agent(slice, caller)
}

fn by_claim(slice: &Slice, caller: &Caller, name: &AgentName) -> Result<Identified, Failure> {
    let taken = slice.agents.iter().find(|view| view.agent.name == *name);
    let own_key = caller.session.as_ref().map(ClientSession::root_key);
    match taken {
        Some(view) if view.agent.client == Client::Manual => Ok(known(view, Established::Claim)),
        Some(view) if Some(&view.agent.key) == own_key.as_ref() => Ok(known(view, Established::Session)),
        Some(view) => Err(not_you(view)),
        None if slice.agent_meant(name).is_some() => Err(is_an_id(name)),
        None => Ok(Identified {
            known: None,
            how: Established::Claim,
            newcomer: Newcomer {
                client: Client::Manual,
                key: IdentityKey::manual(name),
                name: Some(name.clone()),
                process: None,
                parent: None,
            },
            back: None,
        }),
    }
}

fn rivals(variables: &[&str]) -> Failure {
    let message = format!(
        "{} are set at once, and nothing tells which session is the inner one",
        variables.join(" and ")
    );
    Failure::new(Slug::NoIdentity, message)
        .hint("name yourself: clearway --agent NAME …")
        .hint("or leave out the session you are not in: env -u VARIABLE clearway …")
}

fn not_you(view: &AgentView) -> Failure {
    let message = format!(
        "the name {} belongs to a {} session you are not in",
        view.agent.name,
        view.agent.client.word()
    );
    Failure::new(Slug::NotYou, message)
        .hint(Hint::for_anybody(
            "leave out --agent and CLEARWAY_AGENT to act as yourself, or choose a name nobody has: clearway agents",
        ))
        .details(Details::field("agent", view.agent.name.to_string()))
}

/// Where an agent is named its id will do as well, so nobody may be called by one.
fn is_an_id(name: &AgentName) -> Failure {
    Failure::new(Slug::InvalidAgentName, format!("{name} is the id of another agent here"))
        .hint(Hint::for_anybody("choose a name that is nobody's: clearway agents"))
}

/// The agent of a session, or of a subagent in it.
fn by_session(slice: &Slice, session: &ClientSession, caller: &Caller) -> Identified {
    let root = session_agent(slice, session, caller);
    let Some(_) = &session.subagent else { return root };
    let newcomer = Newcomer {
        client: session.client,
        key: session.key(),
        name: None,
        process: session.process.clone(),
        parent: Some(Box::new(root)),
    };
    let mut child = by_key(slice, newcomer, Established::Session);
    child.back = child.known.as_ref().and_then(|view| back(view, session.key(), session, caller.hook));
    child
}

/// A new session id from a client process that is known goes on as the agent of that process, and so does an earlier id
/// of one that is dead; one that is a branch of it is a child of that agent, because both may go on.
fn session_agent(slice: &Slice, session: &ClientSession, caller: &Caller) -> Identified {
    let newcomer = Newcomer {
        client: session.client,
        key: session.root_key(),
        name: None,
        process: session.process.clone(),
        parent: None,
    };
    let mut found = by_key(slice, newcomer, Established::Session);
    if found.known.is_none() && caller.hook {
        let of_process = |view: &&AgentView| {
            let agent = &view.agent;
            agent.client == session.client && agent.parent.is_none() && agent.ended_at.is_none()
        };
        let process = session.process.as_ref();
        let here =
            slice.agents.iter().filter(|view| process.is_some() && view.agent.process.as_ref() == process);
        let before = here.filter(of_process).max_by_key(|view| view.agent.registered_at);
        let resumed = |process: &Process| {
            let is_of_it = |view: &&AgentView| view.agent.process.as_ref() == Some(process);
            let of_it = slice.agents.iter().filter(is_of_it);
            of_it
                .filter(|view| view.agent.client == session.client && view.agent.parent.is_none())
                .max_by_key(|view| view.agent.registered_at)
        };
        let before = before.or_else(|| caller.earlier.iter().find_map(resumed));
        match caller.forks {
            true => {
                found.newcomer.parent = before.map(|view| Box::new(known(view, Established::Session)));
            }
            false => found.known = before.cloned(),
        }
    }
    found.back = found.known.as_ref().and_then(|view| back(view, session.root_key(), session, caller.hook));
    found
}

/// What an agent goes on as. Only the client itself knows its process and which session follows which; but whoever acts
/// after its end has not ended.
fn back(view: &AgentView, key: IdentityKey, session: &ClientSession, hook: bool) -> Option<Back> {
    let process = session.process.clone().filter(|_| hook).or_else(|| view.agent.process.clone());
    let is_new = view.agent.key != key || view.agent.process != process || view.agent.ended_at.is_some();
    is_new.then_some(Back { key, process })
}

fn by_terminal(slice: &Slice, process: &Process) -> Identified {
    let newcomer = Newcomer {
        client: Client::Terminal,
        key: IdentityKey::terminal(process),
        name: None,
        process: Some(process.clone()),
        parent: None,
    };
    by_key(slice, newcomer, Established::Terminal)
}

fn by_key(slice: &Slice, newcomer: Newcomer, how: Established) -> Identified {
    let known = slice.agents.iter().find(|view| view.agent.key == newcomer.key).cloned();
    Identified { known, how, newcomer, back: None }
}

/// The client whose process this is.
pub(super) fn registered<'a>(slice: &'a Slice, process: &Process) -> Option<&'a AgentView> {
    let is_client = |view: &&AgentView| {
        view.agent.process.as_ref() == Some(process)
            && view.agent.client != Client::Terminal
            && view.agent.parent.is_none()
    };
    slice.agents.iter().find(is_client)
}

fn known(view: &AgentView, how: Established) -> Identified {
    let newcomer = Newcomer {
        client: view.agent.client,
        key: view.agent.key.clone(),
        name: Some(view.agent.name.clone()),
        process: view.agent.process.clone(),
        parent: None,
    };
    Identified { known: Some(view.clone()), how, newcomer, back: None }
}
