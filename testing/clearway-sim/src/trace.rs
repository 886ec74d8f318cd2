//! What happened in a life, one line a step: to be compared, kept when something is wrong, and read.

use crate::cast::ShellRef;
use clearway_core::command::{Await, Command, Request, Stay};
use clearway_core::decide::Success;
use clearway_core::event::{Body, Event};
use clearway_core::time::Now;
use clearway_store::Reply;

/// The lines so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// What happened.
    pub lines: Vec<String>,
    pub(crate) step: u64,
}

impl Trace {
    pub(crate) fn say(&mut self, line: &str) {
        self.lines.push(format!("{:>4} {line}", self.step));
    }
}

/// A process, by agent and number.
pub(crate) fn who(at: ShellRef) -> String {
    format!("agent {}/{}", at.member, at.shell)
}

/// What is asked for.
pub(crate) fn request(request: &Request) -> String {
    let how = match &request.command {
        Command::Await(Await { stay, wait_ms, wait, .. }) => {
            let place = wait.map(|id| format!(" at {id}")).unwrap_or_default();
            let stay = match stay {
                Stay::Durable => "nobody waits there".to_owned(),
                Stay::Attached(process) => format!("process {} waits", process.pid),
                Stay::Last => "for the last time".to_owned(),
            };
            format!(" or wait {wait_ms} ms{place} ({stay})")
        }
        _ => String::new(),
    };
    let key = request.idempotency_key.as_ref().map(|key| format!(" [{key}]")).unwrap_or_default();
    let operator = if request.caller.operator.is_some() { " as operator" } else { "" };
    format!("{}{how}{operator}{key}", request.digest_text())
}

/// A whole step.
pub(crate) fn step(at: ShellRef, now: &Now, asked: &Request, reply: &Reply, events: &[Event]) -> String {
    let written: Vec<String> = events.iter().map(|event| told(&event.body)).collect();
    let replayed = if reply.replayed { " (replayed)" } else { "" };
    format!(
        "{}+{} {} {} -> {}{replayed} @{} {written:?}",
        now.boot,
        now.mono.0,
        who(at),
        request(asked),
        outcome(reply),
        reply.rev,
    )
}

fn told(body: &Body) -> String {
    let lease = body.lease().map(|id| format!(" {id}"));
    let wait = body.wait().map(|id| format!(" {id}"));
    let cause = match body {
        Body::WaitEnded { cause, .. } => format!(" {}", cause.word()),
        Body::LeaseExpired { cause, .. } => format!(" {}", cause.word()),
        Body::AgentRegistered(agent) => format!(" {}", agent.name),
        _ => String::new(),
    };
    format!("{}{}{cause}", body.kind(), lease.or(wait).unwrap_or_default())
}

fn outcome(reply: &Reply) -> String {
    match &reply.outcome {
        Ok(Success::Reserved { leases, refused }) => {
            let ids: Vec<&str> = leases.iter().map(|view| view.lease.id.as_str()).collect();
            format!("reserved {} without {}", ids.join(","), refused.len())
        }
        Ok(Success::Queued { queued, .. }) => format!("queued {} as {}", queued.wait.id, queued.position),
        Ok(Success::Renewed(leases)) => format!("renewed {}", leases.len()),
        Ok(Success::Released { released, remaining, .. }) => {
            format!("released {}, {} remain", released.len(), remaining.len())
        }
        Ok(Success::Left { waits }) => format!("left {}", waits.len()),
        Ok(Success::Transferred(leases)) => format!("transferred {}", leases.len()),
        Ok(Success::Frozen(_)) => "frozen".to_owned(),
        Ok(Success::Thawed { .. }) => "thawed".to_owned(),
        Ok(Success::Kept { number }) => format!("kept {}", number.0),
        Ok(Success::Swept { expired }) => format!("swept {}", expired.len()),
        Ok(Success::Negotiated(outcome)) => format!("negotiated: {}", outcome.status.word()),
        Ok(Success::Halted { agent, .. }) => format!("halted {agent}"),
        Ok(Success::Continued { agent, .. }) => format!("continued {agent}"),
        Ok(Success::Done) => "done".to_owned(),
        Ok(Success::Mail(_)) => "mail".to_owned(),
        Err(failure) => failure.slug.to_string(),
    }
}
