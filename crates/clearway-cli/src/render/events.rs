//! Events, one a line.

use super::{Page, Tone, count};
use clearway_core::event::Body;
use clearway_core::ids::{AgentId, LeaseId, Seq};
use clearway_core::mail::{MailEvent, Role};
use clearway_core::text::{printable, truncate_columns};
use clearway_core::time::rounded;
use clearway_kernel::EventSeen;
use clearway_wire::json::rfc3339;
use std::collections::BTreeMap;

/// The widest name of a kind.
const KIND_COLUMNS: usize = 19;

/// Names for ids, so that a line says whose and on what, wherever the reading began.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) agents: BTreeMap<AgentId, String>,
    leases: BTreeMap<LeaseId, String>,
}

impl Known {
    /// The leases that events speak of and nobody has named yet.
    pub(crate) fn missing(&self, events: &[EventSeen]) -> Vec<LeaseId> {
        let spoken_of = events.iter().flat_map(|seen| match &seen.event.body {
            Body::ReservationRefused { blockers, .. } => blockers.clone(),
            body => body.lease().into_iter().collect(),
        });
        spoken_of.filter(|id| !self.leases.contains_key(id)).collect()
    }

    /// Takes names in.
    pub(crate) fn learn_leases(&mut self, names: BTreeMap<LeaseId, String>) {
        self.leases.extend(names);
    }

    fn learn(&mut self, body: &Body) {
        match body {
            Body::AgentRegistered(agent) => {
                self.agents.insert(agent.id, agent.name.to_string());
            }
            Body::LeaseGranted(lease) => {
                self.leases.insert(lease.id, lease.target.display());
            }
            _ => {}
        }
    }

    fn agent(&self, id: AgentId) -> String {
        self.agents.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }

    fn lease(&self, id: LeaseId) -> String {
        self.leases.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }
}

/// One event as a line that fits a terminal.
pub(crate) fn line(seen: &EventSeen, known: &mut Known, page: &Page) -> String {
    let event = &seen.event;
    known.learn(&event.body);
    let at = rfc3339(event.at);
    let day_and_time = at.get(5..19).unwrap_or(&at).replace('T', " ");
    let actor = seen.agent.as_ref().map_or("-", |name| name.as_str());
    let front = format!("{:>5}  {day_and_time}  {:KIND_COLUMNS$}  ", event.seq.0, event.body.kind());
    let words = format!("{actor}: {}", words(event.seq, &event.body, known));
    let room = page.room.saturating_sub(front.chars().count());
    let words = truncate_columns(&printable(&words), room).into_owned();
    let words = words.replacen(actor, &page.paint(Tone::Strong, actor), 1);
    format!("{}{words}", page.paint(Tone::Faint, &front))
}

fn words(seq: Seq, body: &Body, known: &Known) -> String {
    match body {
        Body::ScopeOpened { place, .. } => place.clone(),
        Body::EpochBegan { epoch, lost_tail: 0, .. } => format!("start {} of the machine", epoch.0),
        Body::EpochBegan { epoch, lost_tail, operator_reason: None, .. } => {
            format!("start {} of the machine, {} lost", epoch.0, count(*lost_tail, "event", "events"))
        }
        Body::EpochBegan { epoch, lost_tail, operator_reason: Some(reason), .. } => {
            let lost = count(*lost_tail, "lost event", "lost events");
            format!("epoch {} after {lost}, by an operator: {reason}", epoch.0)
        }
        Body::AgentRegistered(agent) => agent.client.word().to_owned(),
        Body::AgentResumed { process: Some(process), .. } => format!("goes on, process {}", process.pid),
        Body::AgentResumed { process: None, .. } => "goes on".to_owned(),
        Body::AgentEnded { agent } => known.agent(*agent),
        Body::LeaseOrphaned { lease, .. } => format!("{} with changes", known.lease(*lease)),
        Body::LeaseGranted(lease) => {
            format!("{} {}", lease.target.display(), lease.mode.word())
        }
        Body::LeaseRenewed { lease, terms, operator_reason } => {
            let by = operator_reason.as_ref().map(|reason| format!(", by an operator: {reason}"));
            format!("{} for {}{}", known.lease(*lease), rounded(terms.ttl_ms), by.unwrap_or_default())
        }
        Body::LeaseUpgraded { lease, .. } => format!("{} now exclusive", known.lease(*lease)),
        Body::LeaseDowngraded { lease, .. } => format!("{} now shared", known.lease(*lease)),
        Body::LeaseClaimed { lease, .. } => format!("{} now claimed", known.lease(*lease)),
        Body::LeaseReleased { lease, operator_reason: None, .. } => known.lease(*lease),
        Body::LeaseReleased { lease, holder, operator_reason: Some(reason) } => {
            format!("{} of {}, by an operator: {reason}", known.lease(*lease), known.agent(*holder))
        }
        Body::LeaseExpired { lease, holder, cause, .. } => {
            format!("{} of {}, {}", known.lease(*lease), known.agent(*holder), cause.word())
        }
        Body::LeaseYielded { lease, holder, .. } | Body::LeaseTakenOver { lease, holder, .. } => {
            format!("{} from {}", known.lease(*lease), known.agent(*holder))
        }
        Body::LeaseSplit { lease, holder, path, to } => {
            let (holder, to) = (known.agent(*holder), known.agent(*to));
            format!("{} out of {} of {holder}, for {to}", path.display(), known.lease(*lease))
        }
        Body::LeaseTransferred { lease, from, to, operator_reason, .. } => {
            let by = operator_reason.as_ref().map(|reason| format!(", by an operator: {reason}"));
            let (from, to) = (known.agent(*from), known.agent(*to));
            format!("{} from {from} to {to}{}", known.lease(*lease), by.unwrap_or_default())
        }
        Body::WaitBegan(wait) => {
            let targets: Vec<String> = wait.wanted.wants.iter().map(|want| want.target.display()).collect();
            format!("{} for {}", wait.id, targets.join(" "))
        }
        Body::WaitAttached { wait, process: Some(process), .. } => {
            format!("{wait}, process {} waits", process.pid)
        }
        Body::WaitAttached { wait, process: None, .. } => format!("{wait}, to be told"),
        Body::WaitOffered { wait, .. } => format!("{wait} has the turn"),
        Body::WaitPassed { wait } => format!("{wait} let its turn pass"),
        Body::WaitWithdrawn { wait } => format!("{wait} could not take its turn and keeps its place"),
        Body::WaitEnded { wait, agent, cause, operator_reason, .. } => {
            let by = operator_reason.as_ref().map(|reason| format!(" by an operator: {reason}"));
            format!("{wait} of {}, {}{}", known.agent(*agent), cause.word(), by.unwrap_or_default())
        }
        Body::ScopeFrozen { reason, .. } | Body::ScopeThawed { reason } => reason.clone(),
        Body::LeaseOverwritten { holder, path, .. } => format!("{path} of {}", known.agent(*holder)),
        Body::CommitUnchecked { commit, paths, .. } => {
            format!("{} in {commit}, past the check", paths.join(" "))
        }
        Body::CommitAllowed { paths, reason, .. } => format!("{}, by an operator: {reason}", paths.join(" ")),
        Body::SnapshotTaken(keeping) => {
            let why = keeping.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            let files = count(keeping.files, "file", "files");
            format!("s{} {files}, {}{why}", seq.0, keeping.cause.word())
        }
        Body::NegotiationAsked(asked) => {
            let (what, holder) = (asked.target.display(), known.agent(asked.holder));
            format!("{} of {holder} for {what}, {}: {}", asked.id, asked.urgency.word(), asked.why)
        }
        Body::NegotiationRaised { negotiation, urgency, .. } => format!("{negotiation}, {}", urgency.word()),
        Body::NegotiationDeferred { negotiation, until: Some(_), .. } => format!("{negotiation} later"),
        Body::NegotiationDeferred { negotiation, until: None, .. } => {
            format!("{negotiation} after its commit")
        }
        Body::NegotiationOverdue { negotiation } => format!("{negotiation} was not settled in time"),
        Body::NegotiationEnded { negotiation, how, reason, .. } => {
            let reason = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("{negotiation} {}{reason}", how.word())
        }
        Body::NegotiationForced { negotiation, holder, target, reason, .. } => {
            format!("{negotiation}, {} from {}: {reason}", target.display(), known.agent(*holder))
        }
        Body::AgentHalted { agent, reason } | Body::AgentContinued { agent, reason } => {
            format!("{}, by an operator: {reason}", known.agent(*agent))
        }
        Body::ReservationRefused { targets, blockers, .. } => {
            let in_the_way: Vec<String> = blockers.iter().map(|id| known.lease(*id)).collect();
            match in_the_way.is_empty() {
                true => format!("{}: others were first", targets.join(" ")),
                false => format!("{} met {}", targets.join(" "), in_the_way.join(", ")),
            }
        }
        Body::ActionDenied { action, subject, reason, .. } => format!("{action} {subject}: {reason}"),
        Body::Mail(event) => mail(event, known),
    }
}

/// What is said of mail in one line. Texts are not in the log.
fn mail(event: &MailEvent, known: &Known) -> String {
    match event {
        MailEvent::Sent(message) => {
            let to: Vec<String> = match message.broadcast {
                true => vec!["everybody".to_owned()],
                false => {
                    let visible = message.recipients.iter().filter(|one| one.role != Role::Bcc);
                    visible.map(|one| known.agent(one.agent)).collect()
                }
            };
            let about = message.subject.as_ref().map(|subject| format!(": {subject}")).unwrap_or_default();
            format!("{} to {}{about}", message.id, to.join(" "))
        }
        MailEvent::Read { messages, .. } => count(messages.len() as u64, "message", "messages"),
        MailEvent::Acknowledged { message, from, .. } => {
            format!("message {message} from {}", known.agent(*from))
        }
        MailEvent::RulesSet { rules, .. } => {
            let contacts: Vec<String> = rules.contacts.iter().map(|agent| known.agent(*agent)).collect();
            format!("{}, contacts: {}", rules.policy.word(), contacts.join(" "))
        }
        MailEvent::Forgotten { up_to } => format!("messages up to {up_to}"),
    }
}
