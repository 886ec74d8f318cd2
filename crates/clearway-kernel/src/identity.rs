//! Who is calling, as far as the environment tells. [`clearway_core::decide::identify`] makes an agent of it.

use crate::outside::{Outside, Surroundings};
use crate::session::Hook;
use clearway_core::agent::{AgentName, Caller, Client, ClientSession, NamedSession, OperatorAct, innermost};
use clearway_core::decide::is_person;
use clearway_core::failure::Failure;
use clearway_core::input::session_id;
use clearway_core::limits::REASON_CHARS_MAX;
use clearway_core::slice::Slice;
use clearway_core::slug::Slug;
use std::collections::BTreeMap;

/// Puts together everything that tells who is calling. What a hook was told by its client counts for more than what the
/// environment says, which may be that of an outer session.
pub(crate) fn caller(
    outside: &mut dyn Outside,
    claim: Option<&str>,
    hook: Option<&Hook>,
) -> Result<Caller, Failure> {
    let claim = claim.map(agent_name).transpose()?;
    if let Some(Hook { session, hears, forks, earlier }) = hook {
        let (session, hears, forks) = (Some(session.clone()), *hears, *forks);
        let earlier = earlier.clone();
        return Ok(Caller { claim, session, hook: true, hears, forks, earlier, ..Caller::default() });
    }
    let (named, malformed_sessions) = sessions(&outside.surroundings().variables);
    let above = if named.len() > 1 { outside.started_with(&variables_of(&named)) } else { Vec::new() };
    let session = innermost(&named, &above).map(|one| one.session.clone());
    let alone = claim.is_none() && named.is_empty() && malformed_sessions.is_empty();
    let (ancestors, terminal) =
        if alone { (outside.ancestors(), outside.terminal_session()) } else { (Vec::new(), None) };
    let rival_sessions = match session {
        Some(_) => Vec::new(),
        None => variables_of(&named).into_keys().collect(),
    };
    let known = Caller { claim, session, ancestors, terminal, ..Caller::default() };
    Ok(Caller { rival_sessions, malformed_sessions, ..known })
}

/// Whether an agent calls, as far as can be told without the store that knows which processes are clients: those above
/// are known by what they are called.
pub(crate) fn is_agent_without_store(outside: &mut dyn Outside, claim: Option<&str>) -> bool {
    let nobody_known = Slice::default();
    let is_person = caller(outside, claim, None).is_ok_and(|caller| is_person(&nobody_known, &caller));
    !is_person || outside.is_below_client()
}

/// Whether the environment is an agent's, well-formed or not.
pub(crate) fn inside_session(variables: &BTreeMap<String, String>) -> bool {
    session_variables().iter().any(|name| variables.get(*name).is_some_and(|value| !value.is_empty()))
}

/// Every variable in which a client tells its session.
pub(crate) fn session_variables() -> Vec<&'static str> {
    Client::ALL.into_iter().flat_map(|client| client.session_variables()).copied().collect()
}

fn variables_of(named: &[NamedSession]) -> BTreeMap<&'static str, String> {
    named.iter().map(|one| (one.variable, one.session.session.clone())).collect()
}

/// The client sessions the variables speak of, at most one of each client, and the variables that hold no session id.
fn sessions(variables: &BTreeMap<String, String>) -> (Vec<NamedSession>, Vec<&'static str>) {
    let (mut named, mut malformed) = (Vec::new(), Vec::new());
    for client in Client::ALL {
        let set = |name: &&str| variables.get(*name).is_some_and(|value| !value.is_empty());
        let Some(variable) = client.session_variables().iter().copied().find(set) else { continue };
        match variables.get(variable).and_then(|value| session_id(value)) {
            Some(session) => {
                let session = ClientSession { client, session, subagent: None, process: None };
                named.push(NamedSession { variable, session });
            }
            None => malformed.push(variable),
        }
    }
    (named, malformed)
}

/// Checks a name somebody chose.
pub(crate) fn agent_name(text: &str) -> Result<AgentName, Failure> {
    AgentName::parse(text).ok_or_else(|| {
        let shown = clearway_core::text::printable(text);
        Failure::new(Slug::InvalidAgentName, format!("{shown:?} cannot be an agent's name"))
            .hint("use 1 to 64 of A-Z a-z 0-9 . _ - and begin with a letter or digit")
    })
}

/// Whether somebody types at a terminal and reads there what went wrong.
pub(crate) fn is_at_terminal(surroundings: &Surroundings) -> bool {
    surroundings.stdin_is_terminal && surroundings.stderr_is_terminal
}

/// What speaks for the caller as an operator; whether it suffices is decided with the command. A reason that says
/// nothing is refused here, like any other malformed word.
pub(crate) fn operator_act(reason: &str, at_terminal: bool, holds_key: bool) -> Result<OperatorAct, Failure> {
    if reason.trim().is_empty() {
        return Err(Failure::new(Slug::Usage, "an operator's act needs a reason that says something")
            .hint("say why in a few words: --reason \"the holder is on holiday\""));
    }
    Ok(OperatorAct { reason: reason_text(reason)?, at_terminal, holds_key })
}

/// Checks a free text and takes secrets out of it before anything else sees it.
pub(crate) fn reason_text(text: &str) -> Result<String, Failure> {
    let characters = text.chars().count();
    if characters > REASON_CHARS_MAX {
        let message =
            format!("a reason has at most {REASON_CHARS_MAX} characters; this one has {characters}");
        return Err(
            Failure::new(Slug::TooLarge, message).hint("say it shorter; details belong into the commit")
        );
    }
    Ok(clearway_core::redact::redact(text).into_owned())
}
