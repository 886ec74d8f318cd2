//! The canonical bytes of an event: made once, stored verbatim, hashed as stored.
//!
//! A decoder reads every version up to its own and refuses newer ones. Old events are never rewritten, so a
//! field that comes later is read as absent in older versions.

use crate::codec::{DecodeError, Reader, Writer};
use crate::mail;
use crate::negotiating::{self, negotiation_id, read_negotiation, urgency, write_negotiation};
use crate::waiting::{read_wait, wait_id, write_wait};
use clearway_core::agent::{Agent, AgentName, Client, Established, IdentityKey};
use clearway_core::event::{Actor, Body, Event};
use clearway_core::facts::Process;
use clearway_core::ids::{AgentId, Epoch, Fence, LeaseId, Seq, SetId};
use clearway_core::lease::{End, Ended, ExpiryCause, Grade, Lease, Mode, Terms};
use clearway_core::pattern::{Fold, Pattern};
use clearway_core::snapshot::{Keeping, SnapshotCause};
use clearway_core::target::{ResourceName, Target, Worktree};
use clearway_core::time::{BootKey, Mono, Wall};
use clearway_core::wait::WaitEnd;

/// The version written by this build.
pub const VERSION: u8 = 1;

/// The bytes of an event. Its seq is not among them: it is hashed beside them.
pub fn encode(event: &Event) -> Vec<u8> {
    let mut out = Writer::default();
    out.byte(VERSION);
    out.text(event.body.kind());
    out.signed(event.at.0);
    out.option(event.actor.agent, |out, agent| out.text(agent.as_str()));
    out.text(event.actor.how.word());
    encode_body(&mut out, &event.body);
    out.finish()
}

/// The kind of an event and when it happened, without reading the rest: enough to pass over what nobody asked for.
pub fn stamp(bytes: &[u8]) -> Result<(&str, Wall), DecodeError> {
    let mut input = Reader::new(bytes);
    input.version(VERSION)?;
    let kind = input.text()?;
    Ok((kind, Wall(input.signed()?)))
}

/// Reads an event back. `fold` is the scope's: patterns are compared under it.
pub fn decode(seq: Seq, bytes: &[u8], fold: Fold) -> Result<Event, DecodeError> {
    let mut input = Reader::new(bytes);
    input.version(VERSION)?;
    let kind = input.text()?;
    let at = Wall(input.signed()?);
    let agent = input.option(|input| input.word("agent", AgentId::parse))?;
    let how = input.word("way of knowing", Established::from_word)?;
    let body = decode_body(&mut input, kind, fold)?;
    input.end()?;
    Ok(Event { seq, at, actor: Actor { agent, how }, body })
}

fn encode_body(out: &mut Writer, body: &Body) {
    match body {
        Body::ScopeOpened { place, fold } => {
            out.text(place);
            out.flag(*fold == Fold::Insensitive);
        }
        Body::EpochBegan { epoch, boot, lost_tail, operator_reason } => {
            out.number(u64::from(epoch.0));
            out.text(&boot.0);
            out.number(*lost_tail);
            out.option(operator_reason.as_deref(), Writer::text);
        }
        Body::AgentRegistered(agent) => write_agent(out, agent),
        Body::AgentResumed { agent, key, process } => {
            out.text(agent.as_str());
            out.text(&key.0);
            out.option(process.as_ref(), write_process);
        }
        Body::AgentEnded { agent } => out.text(agent.as_str()),
        Body::LeaseOrphaned { lease, holder } => {
            out.text(lease.as_str());
            out.text(holder.as_str());
        }
        Body::LeaseGranted(lease) => write_lease(out, lease),
        Body::LeaseRenewed { lease, terms, operator_reason } => {
            out.text(lease.as_str());
            write_terms(out, terms);
            out.option(operator_reason.as_deref(), Writer::text);
        }
        Body::LeaseDowngraded { lease, terms } | Body::LeaseClaimed { lease, terms } => {
            out.text(lease.as_str());
            write_terms(out, terms);
        }
        Body::LeaseUpgraded { lease, slot, terms } => {
            out.text(lease.as_str());
            out.option(*slot, |out, slot| out.number(u64::from(slot)));
            write_terms(out, terms);
        }
        Body::LeaseReleased { lease, holder, operator_reason } => {
            out.text(lease.as_str());
            out.text(holder.as_str());
            out.option(operator_reason.as_deref(), Writer::text);
        }
        Body::LeaseExpired { lease, holder, cause, last_seen } => {
            out.text(lease.as_str());
            out.text(holder.as_str());
            out.text(cause.word());
            out.option(*last_seen, |out, seen| out.number(seen.0));
        }
        Body::LeaseYielded { lease, holder, to } | Body::LeaseTakenOver { lease, holder, to } => {
            out.text(lease.as_str());
            out.text(holder.as_str());
            out.text(to.as_str());
        }
        Body::LeaseSplit { lease, holder, path, to } => {
            out.text(lease.as_str());
            out.text(holder.as_str());
            write_target(out, path);
            out.text(to.as_str());
        }
        Body::LeaseTransferred { lease, from, to, deadline, operator_reason } => {
            out.text(lease.as_str());
            out.text(from.as_str());
            out.text(to.as_str());
            out.number(deadline.0);
            out.option(operator_reason.as_deref(), Writer::text);
        }
        Body::WaitBegan(wait) => write_wait(out, wait),
        Body::WaitAttached { wait, process, until } => {
            out.text(wait.as_str());
            out.option(process.as_ref(), write_process);
            out.number(until.0);
        }
        Body::WaitOffered { wait, until } => {
            out.text(wait.as_str());
            out.number(until.0);
        }
        Body::WaitPassed { wait } | Body::WaitWithdrawn { wait } => out.text(wait.as_str()),
        Body::WaitEnded { wait, agent, cause, last_heard, operator_reason } => {
            out.text(wait.as_str());
            out.text(agent.as_str());
            out.text(cause.word());
            out.option(*last_heard, |out, heard| out.number(heard.0));
            out.option(operator_reason.as_deref(), Writer::text);
        }
        Body::ScopeFrozen { until, reason } => {
            out.number(until.0);
            out.text(reason);
        }
        Body::ScopeThawed { reason } => out.text(reason),
        Body::CommitAllowed { paths, blockers, reason } => {
            out.list(paths.iter(), |out, path| out.text(path));
            out.list(blockers.iter(), |out, blocker| out.text(blocker.as_str()));
            out.text(reason);
        }
        Body::CommitUnchecked { commit, paths, blockers } => {
            out.text(commit);
            out.list(paths.iter(), |out, path| out.text(path));
            out.list(blockers.iter(), |out, blocker| out.text(blocker.as_str()));
        }
        Body::LeaseOverwritten { lease, holder, path } => {
            out.text(lease.as_str());
            out.text(holder.as_str());
            out.text(path);
        }
        Body::SnapshotTaken(keeping) => write_keeping(out, keeping),
        Body::NegotiationAsked(negotiation) => write_negotiation(out, negotiation),
        Body::NegotiationRaised { negotiation, urgency, then_reserve, deadline } => {
            out.text(negotiation.as_str());
            out.text(urgency.word());
            out.flag(*then_reserve);
            out.number(deadline.0);
        }
        Body::NegotiationDeferred { negotiation, until, deadline } => {
            out.text(negotiation.as_str());
            out.option(*until, |out, until| out.number(until.0));
            out.number(deadline.0);
        }
        Body::NegotiationOverdue { negotiation } => out.text(negotiation.as_str()),
        Body::NegotiationEnded { negotiation, how, released, reason } => {
            out.text(negotiation.as_str());
            out.text(how.word());
            out.number(*released);
            out.option(reason.as_deref(), Writer::text);
        }
        Body::NegotiationForced { negotiation, lease, holder, target, reason, last_seen } => {
            out.text(negotiation.as_str());
            out.text(lease.as_str());
            out.text(holder.as_str());
            write_target(out, target);
            out.text(reason);
            out.option(*last_seen, |out, seen| out.number(seen.0));
        }
        Body::AgentHalted { agent, reason } | Body::AgentContinued { agent, reason } => {
            out.text(agent.as_str());
            out.text(reason);
        }
        Body::ReservationRefused { targets, mode, blockers, repeats } => {
            out.list(targets.iter(), |out, target| out.text(target));
            out.text(mode.word());
            out.list(blockers.iter(), |out, blocker| out.text(blocker.as_str()));
            out.number(*repeats);
        }
        Body::ActionDenied { action, subject, reason, repeats } => {
            out.text(action);
            out.text(subject);
            out.text(reason);
            out.number(*repeats);
        }
        Body::Mail(event) => mail::write_event(out, event),
    }
}

fn decode_body(input: &mut Reader<'_>, kind: &str, fold: Fold) -> Result<Body, DecodeError> {
    Ok(match kind {
        "scope.opened" => Body::ScopeOpened {
            place: input.text()?.to_owned(),
            fold: if input.flag("fold")? { Fold::Insensitive } else { Fold::Exact },
        },
        "epoch.began" => Body::EpochBegan {
            epoch: epoch(input)?,
            boot: BootKey(input.text()?.to_owned()),
            lost_tail: input.number()?,
            operator_reason: owned(input)?,
        },
        "agent.registered" => Body::AgentRegistered(read_agent(input)?),
        "agent.resumed" => Body::AgentResumed {
            agent: agent_id(input)?,
            key: IdentityKey(input.text()?.to_owned()),
            process: input.option(read_process)?,
        },
        "agent.ended" => Body::AgentEnded { agent: agent_id(input)? },
        "lease.orphaned" => Body::LeaseOrphaned { lease: lease_id(input)?, holder: agent_id(input)? },
        "lease.granted" => Body::LeaseGranted(read_lease(input, fold)?),
        "lease.renewed" => Body::LeaseRenewed {
            lease: lease_id(input)?,
            terms: read_terms(input)?,
            operator_reason: owned(input)?,
        },
        "lease.upgraded" => Body::LeaseUpgraded {
            lease: lease_id(input)?,
            slot: input.option(|input| small(input, "slot"))?,
            terms: read_terms(input)?,
        },
        "lease.downgraded" => Body::LeaseDowngraded { lease: lease_id(input)?, terms: read_terms(input)? },
        "lease.claimed" => Body::LeaseClaimed { lease: lease_id(input)?, terms: read_terms(input)? },
        "lease.released" => Body::LeaseReleased {
            lease: lease_id(input)?,
            holder: agent_id(input)?,
            operator_reason: owned(input)?,
        },
        "lease.expired" => Body::LeaseExpired {
            lease: lease_id(input)?,
            holder: agent_id(input)?,
            cause: input
                .word("cause", |word| ExpiryCause::ALL.into_iter().find(|cause| cause.word() == word))?,
            last_seen: input.option(|input| input.number().map(Mono))?,
        },
        "lease.yielded" => {
            Body::LeaseYielded { lease: lease_id(input)?, holder: agent_id(input)?, to: agent_id(input)? }
        }
        "lease.split" => Body::LeaseSplit {
            lease: lease_id(input)?,
            holder: agent_id(input)?,
            path: read_target(input, fold)?,
            to: agent_id(input)?,
        },
        "lease.taken-over" => {
            Body::LeaseTakenOver { lease: lease_id(input)?, holder: agent_id(input)?, to: agent_id(input)? }
        }
        "lease.transferred" => Body::LeaseTransferred {
            lease: lease_id(input)?,
            from: agent_id(input)?,
            to: agent_id(input)?,
            deadline: Mono(input.number()?),
            operator_reason: owned(input)?,
        },
        "wait.began" => Body::WaitBegan(read_wait(input, fold)?),
        "wait.attached" => Body::WaitAttached {
            wait: wait_id(input)?,
            process: input.option(read_process)?,
            until: Mono(input.number()?),
        },
        "wait.offered" => Body::WaitOffered { wait: wait_id(input)?, until: Mono(input.number()?) },
        "wait.passed" => Body::WaitPassed { wait: wait_id(input)? },
        "wait.withdrawn" => Body::WaitWithdrawn { wait: wait_id(input)? },
        "wait.ended" => Body::WaitEnded {
            wait: wait_id(input)?,
            agent: agent_id(input)?,
            cause: input.word("cause", WaitEnd::from_word)?,
            last_heard: input.option(|input| input.number().map(Mono))?,
            operator_reason: owned(input)?,
        },
        "scope.frozen" => {
            Body::ScopeFrozen { until: Mono(input.number()?), reason: input.text()?.to_owned() }
        }
        "scope.thawed" => Body::ScopeThawed { reason: input.text()?.to_owned() },
        "commit.allowed" => Body::CommitAllowed {
            paths: input.list(|input| input.text().map(str::to_owned))?,
            blockers: input.list(lease_id)?,
            reason: input.text()?.to_owned(),
        },
        "commit.unchecked" => Body::CommitUnchecked {
            commit: input.text()?.to_owned(),
            paths: input.list(|input| input.text().map(str::to_owned))?,
            blockers: input.list(lease_id)?,
        },
        Body::LEASE_OVERWRITTEN => Body::LeaseOverwritten {
            lease: lease_id(input)?,
            holder: agent_id(input)?,
            path: input.text()?.to_owned(),
        },
        "snapshot.taken" => Body::SnapshotTaken(read_keeping(input)?),
        "negotiation.asked" => Body::NegotiationAsked(read_negotiation(input, fold)?),
        "negotiation.raised" => Body::NegotiationRaised {
            negotiation: negotiation_id(input)?,
            urgency: urgency(input)?,
            then_reserve: input.flag("grant")?,
            deadline: Mono(input.number()?),
        },
        "negotiation.deferred" => Body::NegotiationDeferred {
            negotiation: negotiation_id(input)?,
            until: input.option(|input| input.number().map(Mono))?,
            deadline: Mono(input.number()?),
        },
        "negotiation.overdue" => Body::NegotiationOverdue { negotiation: negotiation_id(input)? },
        "negotiation.ended" => Body::NegotiationEnded {
            negotiation: negotiation_id(input)?,
            how: negotiating::end(input)?,
            released: input.number()?,
            reason: owned(input)?,
        },
        "negotiation.forced" => Body::NegotiationForced {
            negotiation: negotiation_id(input)?,
            lease: lease_id(input)?,
            holder: agent_id(input)?,
            target: read_target(input, fold)?,
            reason: input.text()?.to_owned(),
            last_seen: input.option(|input| input.number().map(Mono))?,
        },
        "agent.halted" => Body::AgentHalted { agent: agent_id(input)?, reason: input.text()?.to_owned() },
        "agent.continued" => {
            Body::AgentContinued { agent: agent_id(input)?, reason: input.text()?.to_owned() }
        }
        "reservation.refused" => Body::ReservationRefused {
            targets: input.list(|input| input.text().map(str::to_owned))?,
            mode: mode(input)?,
            blockers: input.list(lease_id)?,
            repeats: input.number()?,
        },
        "action.denied" => Body::ActionDenied {
            action: input.text()?.to_owned(),
            subject: input.text()?.to_owned(),
            reason: input.text()?.to_owned(),
            repeats: input.number()?,
        },
        other => match mail::read_event(input, other)? {
            Some(event) => Body::Mail(event),
            None => return Err(DecodeError::unknown("event", other)),
        },
    })
}

fn write_keeping(out: &mut Writer, keeping: &Keeping) {
    out.text(&keeping.commit);
    out.text(&keeping.worktree.0);
    out.text(keeping.cause.word());
    out.option(keeping.reason.as_deref(), Writer::text);
    out.number(keeping.files);
    out.number(keeping.bytes);
}

fn read_keeping(input: &mut Reader<'_>) -> Result<Keeping, DecodeError> {
    Ok(Keeping {
        commit: input.text()?.to_owned(),
        worktree: Worktree(input.text()?.to_owned()),
        cause: input.word("cause", SnapshotCause::from_word)?,
        reason: owned(input)?,
        files: input.number()?,
        bytes: input.number()?,
    })
}

fn write_agent(out: &mut Writer, agent: &Agent) {
    out.text(agent.id.as_str());
    out.text(agent.name.as_str());
    out.text(agent.client.word());
    out.text(&agent.key.0);
    out.option(agent.parent, |out, parent| out.text(parent.as_str()));
    out.text(agent.root.as_str());
    out.option(agent.process.as_ref(), write_process);
    out.signed(agent.registered_at.0);
    out.option(agent.ended_at, |out, at| out.signed(at.0));
}

fn read_agent(input: &mut Reader<'_>) -> Result<Agent, DecodeError> {
    Ok(Agent {
        id: agent_id(input)?,
        name: input.word("agent name", AgentName::parse)?,
        client: input.word("client", Client::from_word)?,
        key: IdentityKey(input.text()?.to_owned()),
        parent: input.option(agent_id)?,
        root: agent_id(input)?,
        process: input.option(read_process)?,
        registered_at: Wall(input.signed()?),
        ended_at: input.option(|input| input.signed().map(Wall))?,
        halted: None,
    })
}

pub(crate) fn write_process(out: &mut Writer, process: &Process) {
    out.text(&process.host);
    out.text(&process.boot);
    out.text(&process.pid_namespace);
    out.number(u64::from(process.pid));
    out.number(process.start);
}

pub(crate) fn read_process(input: &mut Reader<'_>) -> Result<Process, DecodeError> {
    Ok(Process {
        host: input.text()?.to_owned(),
        boot: input.text()?.to_owned(),
        pid_namespace: input.text()?.to_owned(),
        pid: small(input, "pid")?,
        start: input.number()?,
    })
}

fn write_terms(out: &mut Writer, terms: &Terms) {
    out.number(terms.ttl_ms);
    out.number(terms.deadline.0);
    out.option(terms.end_max, |out, end| out.number(end.0));
    out.option(terms.reason.as_deref(), Writer::text);
}

fn read_terms(input: &mut Reader<'_>) -> Result<Terms, DecodeError> {
    Ok(Terms {
        ttl_ms: input.number()?,
        deadline: Mono(input.number()?),
        end_max: input.option(|input| input.number().map(Mono))?,
        reason: owned(input)?,
    })
}

pub(crate) fn write_lease(out: &mut Writer, lease: &Lease) {
    out.text(lease.id.as_str());
    write_target(out, &lease.target);
    out.option(lease.set, |out, set| out.text(set.as_str()));
    out.text(lease.mode.word());
    out.text(lease.grade.word());
    out.text(lease.holder.as_str());
    out.number(lease.fence.to_integer());
    out.option(lease.reason.as_deref(), Writer::text);
    out.text(&lease.worktree.0);
    out.option(lease.slot, |out, slot| out.number(u64::from(slot)));
    out.option(lease.bound.as_ref(), write_process);
    out.option(lease.handed_by, |out, agent| out.text(agent.as_str()));
    out.flag(lease.makes_way);
    out.list(lease.ceded.iter(), write_target);
    out.number(lease.ttl_ms);
    out.number(lease.granted.0);
    out.number(lease.deadline.0);
    out.option(lease.end_max, |out, end| out.number(end.0));
    out.signed(lease.created_at.0);
    out.option(lease.ended, |out, ended| {
        out.text(ended.how.word());
        out.signed(ended.at.0);
    });
}

pub(crate) fn read_lease(input: &mut Reader<'_>, fold: Fold) -> Result<Lease, DecodeError> {
    Ok(Lease {
        id: lease_id(input)?,
        target: read_target(input, fold)?,
        set: input.option(|input| input.word("write-set", SetId::parse))?,
        mode: mode(input)?,
        grade: grade(input)?,
        holder: agent_id(input)?,
        fence: Fence::from_integer(input.number()?),
        reason: owned(input)?,
        worktree: Worktree(input.text()?.to_owned()),
        slot: input.option(|input| small(input, "slot"))?,
        bound: input.option(read_process)?,
        handed_by: input.option(agent_id)?,
        makes_way: input.flag("claim that makes way")?,
        ceded: input.list(|input| read_target(input, fold))?,
        ttl_ms: input.number()?,
        granted: Mono(input.number()?),
        deadline: Mono(input.number()?),
        end_max: input.option(|input| input.number().map(Mono))?,
        created_at: Wall(input.signed()?),
        ended: input.option(|input| {
            Ok(Ended { how: input.word("end", End::from_word)?, at: Wall(input.signed()?) })
        })?,
    })
}

pub(crate) fn write_target(out: &mut Writer, target: &Target) {
    out.flag(matches!(target, Target::Name(_)));
    out.text(target.canonical());
}

pub(crate) fn read_target(input: &mut Reader<'_>, fold: Fold) -> Result<Target, DecodeError> {
    let is_name = input.flag("target kind")?;
    let text = input.text()?;
    let bad = || DecodeError::unknown("target", text);
    if is_name {
        ResourceName::parse(text).map(Target::Name).map_err(|_| bad())
    } else {
        Pattern::from_canonical(text, fold).map(Target::Path).map_err(|_| bad())
    }
}

pub(crate) fn lease_id(input: &mut Reader<'_>) -> Result<LeaseId, DecodeError> {
    input.word("lease", LeaseId::parse)
}

pub(crate) fn agent_id(input: &mut Reader<'_>) -> Result<AgentId, DecodeError> {
    input.word("agent", AgentId::parse)
}

pub(crate) fn grade(input: &mut Reader<'_>) -> Result<Grade, DecodeError> {
    input.word("grade", |word| [Grade::Auto, Grade::Claimed].into_iter().find(|grade| grade.word() == word))
}

pub(crate) fn mode(input: &mut Reader<'_>) -> Result<Mode, DecodeError> {
    input.word("mode", |word| [Mode::Shared, Mode::Exclusive].into_iter().find(|mode| mode.word() == word))
}

fn epoch(input: &mut Reader<'_>) -> Result<Epoch, DecodeError> {
    small(input, "epoch").map(Epoch)
}

pub(crate) fn owned(input: &mut Reader<'_>) -> Result<Option<String>, DecodeError> {
    input.option(|input| input.text().map(str::to_owned))
}

pub(crate) fn small(input: &mut Reader<'_>, what: &'static str) -> Result<u32, DecodeError> {
    let value = input.number()?;
    u32::try_from(value).map_err(|_| DecodeError::unknown(what, value.to_string()))
}
