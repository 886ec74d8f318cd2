//! What a request means, as a text for comparing repetitions under one key.

use crate::command::{
    Answer, Ask, Await, Command, Force, LeaseRef, Release, Request, Reserve, Says, Selection,
};
use crate::facts::Process;
use crate::mail::{Act, MessageId, Policy, Send, Topic};
use crate::target::Target;
use std::fmt::Write as _;

impl Request {
    /// A text that is equal exactly for requests that mean the same, for comparing repetitions.
    pub fn digest_text(&self) -> String {
        self.command.digest_text()
    }
}

impl Command {
    /// The same: who asks is compared apart.
    pub fn digest_text(&self) -> String {
        let mut text = self.verb().to_string();
        match self {
            // How a request waits does not change what it asks for.
            Command::Reserve(reserve) | Command::Await(Await { reserve, .. }) => {
                describe_reserve(&mut text, reserve);
            }
            Command::Renew(renew) => {
                describe_selection(&mut text, &renew.selection);
                field(&mut text, "ttl", renew.ttl_ms.map(|ms| ms.to_string()).as_deref());
                field(&mut text, "reason", renew.reason.as_deref());
            }
            Command::Release(release) => describe_release(&mut text, release),
            Command::LetGo(process) => field(&mut text, "kept-by", Some(&process.key())),
            Command::Leave(leave) => {
                let waits = leave.waits.iter().flatten();
                waits.for_each(|wait| field(&mut text, "wait", Some(wait.as_str())));
            }
            Command::Transfer(transfer) => {
                field(&mut text, "to", Some(transfer.to.as_str()));
                describe_selection(&mut text, &transfer.selection);
            }
            Command::Freeze { for_ms } => field(&mut text, "for", Some(&for_ms.to_string())),
            // The commit is drawn anew each time; what is asked for is not.
            Command::Keep(keeping) => {
                field(&mut text, "worktree", Some(&keeping.worktree.0));
                field(&mut text, "reason", keeping.reason.as_deref());
            }
            Command::Mail(act) => describe_mail(&mut text, act),
            Command::Ask(Ask { reserve, why, urgency, then_reserve, tells_answer: _, tells_circle: _ }) => {
                describe_reserve(&mut text, reserve);
                field(&mut text, "why", Some(why));
                field(&mut text, "urgency", Some(urgency.word()));
                field(&mut text, "then-reserve", then_reserve.then_some("yes"));
            }
            Command::Answer(Answer { negotiation, says }) => {
                field(&mut text, "negotiation", Some(negotiation.as_str()));
                describe_answer(&mut text, says);
            }
            Command::Withdraw(negotiation) => field(&mut text, "negotiation", Some(negotiation.as_str())),
            Command::Force(Force { negotiation, reason, without_snapshot }) => {
                field(&mut text, "negotiation", Some(negotiation.as_str()));
                field(&mut text, "reason", Some(reason));
                field(&mut text, "without-snapshot", without_snapshot.then_some("yes"));
            }
            Command::Halt(agent) | Command::Continue(agent) => {
                field(&mut text, "agent", Some(agent.as_str()));
            }
            Command::Attend(_)
            | Command::Enter(_)
            | Command::Commit(_)
            | Command::Settle(_)
            | Command::Unchecked(_)
            | Command::Rebase(_)
            | Command::Upheave(_)
            | Command::Open
            | Command::Sweep
            | Command::Recover
            | Command::Thaw
            | Command::Anchor => {}
        }
        text
    }
}

fn describe_reserve(text: &mut String, reserve: &Reserve) {
    for want in &reserve.wants {
        describe_target(text, &want.target);
        field(text, "capacity", Some(&want.capacity.to_string()));
    }
    field(text, "worktree", Some(&reserve.worktree.0));
    field(text, "mode", Some(reserve.mode.word()));
    field(text, "grade", Some(reserve.grade.word()));
    field(text, "set", reserve.as_set.then_some("yes"));
    field(text, "ttl", Some(&reserve.ttl_ms.to_string()));
    field(text, "max", reserve.max_ms.map(|ms| ms.to_string()).as_deref());
    field(text, "reason", reserve.reason.as_deref());
    field(text, "best-effort", reserve.best_effort.then_some("yes"));
    field(text, "makes-way", reserve.makes_way.then_some("yes"));
    field(text, "bound", reserve.bound.as_ref().map(Process::key).as_deref());
}

fn describe_answer(text: &mut String, says: &Says) {
    match says {
        Says::Release(parts) => {
            field(text, "release", Some(""));
            parts.iter().for_each(|target| describe_target(text, target));
        }
        Says::AfterCommit => field(text, "after-commit", Some("")),
        Says::Later { for_ms } => field(text, "later", Some(&for_ms.to_string())),
        Says::No(reason) => field(text, "no", Some(reason)),
    }
}

fn describe_release(text: &mut String, release: &Release) {
    describe_selection(text, &release.selection);
    field(text, "keep", (!release.keep.is_empty()).then_some(""));
    release.keep.iter().for_each(|target| describe_target(text, target));
}

fn describe_mail(text: &mut String, act: &Act) {
    let ids = |text: &mut String, ids: &[MessageId]| {
        ids.iter().for_each(|id| field(text, "message", Some(id.as_str())));
    };
    match act {
        Act::Send(send) => describe_send(text, send),
        Act::Read(messages) | Act::Acknowledge(messages) => ids(text, messages),
        Act::SetRules(change) => {
            field(text, "policy", change.policy.map(Policy::word));
            change.add.iter().for_each(|name| field(text, "add", Some(name.as_str())));
            change.remove.iter().for_each(|name| field(text, "remove", Some(name.as_str())));
        }
        Act::Forget(up_to) => field(text, "up-to", Some(&up_to.to_string())),
    }
}

fn describe_send(text: &mut String, send: &Send) {
    for (role, names) in [("to", &send.to), ("cc", &send.cc), ("bcc", &send.bcc)] {
        names.iter().for_each(|name| field(text, role, Some(name.as_str())));
    }
    field(text, "id", send.id.as_ref().map(MessageId::as_str));
    field(text, "thread", send.thread.as_ref().map(MessageId::as_str));
    field(text, "subject", send.subject.as_deref());
    field(text, "text", Some(&send.text));
    field(text, "topic", send.topic.as_ref().map(Topic::as_str));
    field(text, "importance", Some(send.importance.word()));
    field(text, "wants-ack", send.wants_ack.then_some("yes"));
}

fn describe_selection(text: &mut String, selection: &Selection) {
    match selection {
        Selection::All => field(text, "all", Some("")),
        Selection::These { leases, targets, worktree } => {
            describe_refs(text, leases);
            targets.iter().for_each(|target| describe_target(text, target));
            field(text, "worktree", Some(&worktree.0));
        }
    }
}

fn describe_target(text: &mut String, target: &Target) {
    let space = if matches!(target, Target::Path(_)) { "path" } else { "name" };
    field(text, space, Some(target.canonical()));
}

fn describe_refs(text: &mut String, refs: &[LeaseRef]) {
    for lease in refs {
        field(text, "lease", Some(lease.id.as_str()));
        field(text, "fence", lease.fence.map(|fence| fence.to_string()).as_deref());
    }
}

/// Length before value, so that no value can imitate the next field.
fn field(text: &mut String, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        let _ = write!(text, "|{name}:{}:{value}", value.len());
    }
}
