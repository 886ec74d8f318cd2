//! Who may act for others: a person at a terminal or with the key, and never an agent.
//!
//! The one place that decides it. Whether there is a terminal and whether the key was shown are facts of the caller;
//! which of the processes above are clients is in the slice.

use super::identity::registered;
use crate::agent::Caller;
use crate::command::{Command, Force, Request};
use crate::failure::Failure;
use crate::slice::Slice;
use crate::slug::Slug;

/// Whether the caller is inside an agent's session: by a session variable, or below a process registered as a client.
pub(super) fn inside_agent(slice: &Slice, caller: &Caller) -> bool {
    caller.in_client_session() || caller.ancestors.iter().any(|process| registered(slice, process).is_some())
}

/// Refuses a caller that claims an operator's authority without having it, or claims none for what takes one. Otherwise
/// whoever claims none passes.
pub(super) fn may_operate(slice: &Slice, request: &Request) -> Result<(), Failure> {
    let caller = &request.caller;
    let Some(act) = &caller.operator else {
        return match request.command {
            Command::Anchor
            | Command::Halt(_)
            | Command::Continue(_)
            | Command::Force(Force { without_snapshot: true, .. }) => {
                Err(not_operator(&request.command, "the caller does not claim to be one"))
            }
            _ => Ok(()),
        };
    };
    if inside_agent(slice, caller) {
        return Err(not_operator(&request.command, "this is an agent's session"));
    }
    if act.at_terminal || act.holds_key {
        return Ok(());
    }
    Err(not_operator(&request.command, "there is no terminal and no operator key")
        .hint("without a terminal: name the key with CLEARWAY_OPERATOR_KEY=FILE"))
}

fn not_operator(command: &Command, why: &str) -> Failure {
    let act = match command {
        Command::Anchor => "an anchor is signed by an operator",
        Command::Freeze { .. } | Command::Thaw => "whether agents may edit is for an operator to say",
        Command::Halt(_) | Command::Continue(_) => "an agent is stopped by a person",
        Command::Force(_) => "taking what cannot be kept first is an operator's act",
        Command::Commit(_) => "letting a commit take along what is with others is an operator's act",
        _ => "--reason is for an operator's act",
    };
    Failure::new(Slug::NotOperator, format!("{act}, and {why}"))
        .hint("ask a person to run it in a terminal of their own")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::{Agent, AgentName, Client, ClientSession, IdentityKey, OperatorAct};
    use crate::command::ScopeBirth;
    use crate::facts::Process;
    use crate::ids::AgentId;
    use crate::slice::AgentView;
    use crate::time::Wall;

    fn process(pid: u32) -> Process {
        Process { host: "h".into(), boot: "b".into(), pid_namespace: "p".into(), pid, start: 1 }
    }

    fn registered_as(client: Client, pid: u32) -> Slice {
        let id = AgentId::parse("abcdefgh").unwrap();
        let agent = Agent {
            id,
            name: AgentName::parse("x").unwrap(),
            client,
            key: IdentityKey("k".to_owned()),
            parent: None,
            root: id,
            process: Some(process(pid)),
            registered_at: Wall(0),
            ended_at: None,
            halted: None,
        };
        let view = AgentView {
            agent,
            sign: None,
            live_leases: 0,
            shortest_ttl_ms: None,
            memo: crate::slice::Memo::default(),
        };
        Slice { agents: vec![view], ..Slice::default() }
    }

    fn judge(slice: &Slice, caller: Caller) -> Result<(), Failure> {
        let birth = ScopeBirth::default();
        may_operate(slice, &Request { caller, command: Command::Sweep, idempotency_key: None, birth })
    }

    fn claiming(at_terminal: bool, holds_key: bool) -> Caller {
        let act = OperatorAct { reason: "why".to_owned(), at_terminal, holds_key };
        Caller { operator: Some(act), ancestors: vec![process(7), process(8)], ..Caller::default() }
    }

    #[test]
    fn an_operator_has_a_terminal_or_the_key_and_whoever_claims_nothing_passes() {
        let empty = Slice::default();
        for (at_terminal, holds_key) in [(true, false), (false, true), (true, true)] {
            judge(&empty, claiming(at_terminal, holds_key)).unwrap();
        }
        assert_eq!(judge(&empty, claiming(false, false)).unwrap_err().slug, Slug::NotOperator);
        judge(&empty, Caller::default()).unwrap();
        let birth = ScopeBirth::default();
        let (caller, command) = (Caller::default(), Command::Anchor);
        let anchor = Request { caller, command, idempotency_key: None, birth };
        assert_eq!(may_operate(&empty, &anchor).unwrap_err().slug, Slug::NotOperator);
    }

    #[test]
    fn below_a_registered_client_nobody_is_the_operator() {
        for (client, pid, allowed) in
            [(Client::Codex, 8, false), (Client::Codex, 9, true), (Client::Terminal, 8, true)]
        {
            let answer = judge(&registered_as(client, pid), claiming(true, true));
            assert_eq!(answer.is_ok(), allowed, "{client:?} {pid}");
        }
    }

    #[test]
    fn in_a_client_session_nobody_is_the_operator() {
        let session =
            ClientSession { client: Client::Gemini, session: "s".to_owned(), subagent: None, process: None };
        let caller = Caller { session: Some(session), ..claiming(true, true) };
        assert_eq!(judge(&Slice::default(), caller).unwrap_err().slug, Slug::NotOperator);
        let either = Caller { rival_sessions: vec!["A", "B"], ..claiming(true, true) };
        assert_eq!(judge(&Slice::default(), either).unwrap_err().slug, Slug::NotOperator);
        let below = Caller { sessions_above: vec!["A"], ..claiming(true, true) };
        assert_eq!(judge(&Slice::default(), below).unwrap_err().slug, Slug::NotOperator);
    }
}
