//! A decision in the making: the events so far, and who acts.

use super::identity::{Identified, identify};
use super::names::name_for;
use super::view::View;
use super::{Decision, Notice, Success, Verdict};
use crate::agent::{Agent, AgentName};
use crate::command::{Command, Request, Verb, Want};
use crate::event::{Actor, Body, Event};
use crate::facts::Facts;
use crate::failure::{Details, Failure, LeaseView};
use crate::ids::{AgentId, Entropy, Epoch, Fence, LeaseId, Seq, WaitId};
use crate::lease::{Lease, Mode};
use crate::limits::{PRESENCE_MS, PULSES_PER_TTL, REFUSAL_REPEAT_MS};
use crate::negotiation::Negotiation;
use crate::slice::{Freeze, Memo, Note, RefusalMemory, Slice, Soft};
use crate::slug::Slug;
use crate::snapshot::Kept;
use crate::target::Worktree;
use crate::time::Now;
use crate::wait::{WaitView, waiters_for};
use std::collections::{BTreeMap, BTreeSet};

/// Collects what a decision wants written.
#[derive(Clone, Debug)]
pub(super) struct Draft<'a> {
    pub(super) slice: &'a Slice,
    pub(super) now: &'a Now,
    /// What is known of the outside; it tells which leases lost the process that kept them.
    pub(super) facts: &'a Facts,
    pub(super) epoch: Epoch,
    /// Leases that this decision ended; they no longer count as live.
    pub(super) ended: BTreeSet<LeaseId>,
    /// Leases that this decision granted or changed, as they are now.
    fresh: Vec<Lease>,
    /// Leases that the caller is told it has.
    pub(super) told: BTreeSet<LeaseId>,
    /// The queue as this decision leaves it.
    pub(super) queue: Vec<WaitView>,
    /// Requests to holders as this decision leaves them.
    pub(super) negotiations: Vec<Negotiation>,
    /// Places whose agents are granted their turn instead of being offered it, and who let it go.
    pub(super) promised: BTreeMap<WaitId, AgentId>,
    /// The pause as this decision leaves it.
    pub(super) frozen: Option<Freeze>,
    pub(super) expired: Vec<LeaseId>,
    pub(super) notices: Vec<Notice>,
    pub(super) agent: Option<(AgentId, AgentName)>,
    /// The caller, once it was registered.
    registered: Option<(AgentId, Actor)>,
    /// The reason of an operator's act; `None` if the caller is no operator.
    pub(super) operator_reason: Option<String>,
    /// Who a new epoch is ascribed to.
    pub(super) recovered_by: Actor,
    pub(super) verb: Verb,
    /// Where the caller stands, if it names leases from there.
    here: Option<Worktree>,
    /// Snapshots that this decision recorded, by their commits.
    pub(super) kept: BTreeMap<String, Kept>,
    /// Agents that this decision registered, and whose children they are.
    newborn: Vec<(AgentId, Option<AgentId>)>,
    /// What is remembered of agents, as this decision leaves it.
    memos: BTreeMap<AgentId, Memo>,
    /// Whether the client itself calls, by its hook.
    pub(super) is_hook: bool,
    /// Whether the caller hears what is said beside the answer.
    pub(super) hears: bool,
    /// Whether nothing is going to be written, whatever is found.
    pub(super) only_looks: bool,
    /// Whether the caller rests from now on.
    pub(super) rests: bool,
    events: Vec<Event>,
    soft: Vec<Soft>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(slice: &'a Slice, request: &Request, now: &'a Now, facts: &'a Facts) -> Self {
        let unreadable = [slice.unreadable.as_slice(), &slice.unreadable_waits].concat();
        let notices =
            if unreadable.is_empty() { Vec::new() } else { vec![Notice::UnreadableRows(unreadable)] };
        Self {
            notices,
            operator_reason: request.caller.operator.as_ref().map(|act| act.reason.clone()),
            verb: request.command.verb(),
            here: request.command.names_from().cloned(),
            is_hook: request.caller.hook,
            hears: request.caller.hears,
            only_looks: false,
            ..Self::of_nobody(slice, now, facts)
        }
    }

    /// What is so without anybody asking for anything.
    pub(super) fn of_nobody(slice: &'a Slice, now: &'a Now, facts: &'a Facts) -> Self {
        Self {
            slice,
            now,
            facts,
            epoch: slice.scope.epoch,
            ended: BTreeSet::new(),
            fresh: Vec::new(),
            told: BTreeSet::new(),
            queue: slice.waits.clone(),
            negotiations: slice.negotiations.clone(),
            promised: BTreeMap::new(),
            frozen: slice.scope.frozen_at(now).cloned(),
            expired: Vec::new(),
            notices: Vec::new(),
            agent: None,
            registered: None,
            operator_reason: None,
            recovered_by: Actor::KERNEL,
            verb: Verb::Sweep,
            here: None,
            kept: BTreeMap::new(),
            newborn: Vec::new(),
            memos: BTreeMap::new(),
            is_hook: false,
            hears: false,
            only_looks: true,
            rests: false,
            events: Vec::new(),
            soft: Vec::new(),
        }
    }

    /// What a lease is on, with its checkout unless the caller stands there.
    pub(super) fn placed(&self, lease: &Lease) -> String {
        let (what, Worktree(root)) = (lease.target.display(), &lease.worktree);
        let is_here = root.is_empty() || self.here.as_ref().is_none_or(|here| *here == lease.worktree);
        if is_here { what } else { format!("{what} in {root}") }
    }

    pub(super) fn view(&self) -> View<'a> {
        View::new(self.slice, self.now, self.facts)
    }

    /// The lease with its holder's name and how many others than the caller still wait for it; `None` only if an engine
    /// forgot the holder.
    pub(super) fn show(&self, lease: &Lease) -> Option<LeaseView> {
        let holder = self.view().holder(lease)?;
        let me = self.me();
        let others = self.queue.iter().map(|view| &view.wait).filter(|wait| Some(wait.agent) != me);
        let waiters = waiters_for(lease, others);
        let in_hand = self.is_in_hand(lease);
        Some(LeaseView { waiters, in_hand, ..LeaseView::new(lease, holder, self.view().liveness(holder)) })
    }

    /// The seq the next event will have.
    pub(super) fn next_seq(&self) -> Seq {
        Seq(self.slice.scope.rev.0 + self.events.len() as u64 + 1)
    }

    /// The fence of a lease that the next event grants.
    pub(super) fn next_fence(&self) -> Fence {
        Fence { epoch: self.epoch, seq: self.next_seq() }
    }

    /// Whether this very decision granted it, gave it a new fence, or tells its holder that it has it.
    pub(super) fn is_given_here(&self, lease: &Lease) -> bool {
        lease.fence.seq > self.slice.scope.rev || self.told.contains(&lease.id)
    }

    pub(super) fn push(&mut self, actor: Actor, body: Body) {
        let event = Event { seq: self.next_seq(), at: self.now.wall, actor, body };
        self.events.push(event);
    }

    /// What is to be written so far.
    pub(super) fn events(&self) -> &[Event] {
        &self.events
    }

    /// Every live lease of the slice as this decision leaves it.
    pub(super) fn leases_now(&self) -> impl Iterator<Item = &Lease> {
        let fresh = |lease: &&Lease| self.fresh.iter().any(|fresh| fresh.id == lease.id);
        self.view().live_except(&self.ended).filter(move |lease| !fresh(lease)).chain(&self.fresh)
    }

    /// The calling agent, once it is known.
    pub(super) fn me(&self) -> Option<AgentId> {
        self.agent.as_ref().map(|(id, _)| *id)
    }

    /// What an agent is called; its id only if an engine forgot it.
    pub(super) fn name_of(&self, id: AgentId) -> AgentName {
        let known = self.slice.agent(id).map(|view| view.agent.name.clone());
        let own = || self.agent.iter().find(|(own, _)| *own == id).map(|(_, name)| name.clone());
        known.or_else(own).unwrap_or_else(|| AgentName::made(id.to_string()))
    }

    /// The top of an agent's family.
    pub(super) fn root_of(&self, agent: AgentId) -> AgentId {
        let parent = self.newborn.iter().find(|(own, _)| *own == agent).and_then(|(_, parent)| *parent);
        let known = self.slice.agent(parent.unwrap_or(agent));
        known.map_or(parent.unwrap_or(agent), |view| view.agent.root)
    }

    /// Whether a lease of one agent can stand in the way of another.
    pub(super) fn can_block(&self, holder: AgentId, requester: AgentId) -> bool {
        crate::agent::can_block(holder, requester, |id| match self.slice.agent(id) {
            Some(view) => view.agent.parent,
            None => self.newborn.iter().find(|(own, _)| *own == id).and_then(|(_, parent)| *parent),
        })
    }

    /// What is remembered of an agent, as it is by now.
    pub(super) fn memo_of(&self, agent: AgentId) -> Option<&Memo> {
        self.memos.get(&agent).or_else(|| self.slice.agent(agent).map(|view| &view.memo))
    }

    /// The same, to be changed.
    pub(super) fn memo(&mut self, agent: AgentId) -> &mut Memo {
        let known = || self.slice.agent(agent).map(|view| view.memo.clone()).unwrap_or_default();
        self.memos.entry(agent).or_insert_with(known)
    }

    /// From now on the lease is as given here.
    pub(super) fn replace(&mut self, lease: Lease) {
        self.fresh.retain(|other| other.id != lease.id);
        self.fresh.push(lease);
    }

    pub(super) fn end_lease(&mut self, id: LeaseId) -> bool {
        self.fresh.retain(|lease| lease.id != id);
        self.ended.insert(id)
    }

    /// Ends a lease because whoever may give it back does.
    /// Whose lease an operator gives back is told so: it may be at work on it.
    pub(super) fn give_back(&mut self, actor: Actor, lease: &Lease) -> LeaseId {
        let operator_reason = self.operator_reason_for(actor, lease);
        if let (Some(reason), Some(by)) = (&operator_reason, actor.agent) {
            let (target, by) = (lease.target.display(), self.name_of(by));
            let note = Note::Forced { target, to: by.clone(), by, reason: reason.clone(), kept: None };
            self.note(lease.holder, note);
        }
        self.end_lease(lease.id);
        self.push(actor, Body::LeaseReleased { lease: lease.id, holder: lease.holder, operator_reason });
        lease.id
    }

    /// Notes that a waiting process still waits.
    pub(super) fn hear(&mut self, wait: WaitId) {
        self.soft.push(Soft::Heard { wait, at: self.now.mono });
    }

    /// Keeps the text of a message beside the log.
    pub(super) fn keep_text(&mut self, message: Seq, text: &str) {
        self.soft.push(Soft::MailText { message, text: text.to_owned() });
    }

    /// The calling agent's actor, for events it causes.
    pub(super) fn act_as(&mut self, identified: &Identified) -> Actor {
        let known = identified.known.as_ref().map(|view| (view.agent.id, view.agent.name.clone()));
        self.agent = self.agent.take().or(known);
        Actor { agent: self.me(), how: identified.how }
    }

    /// The calling agent, registered now if it was not before.
    pub(super) fn register(
        &mut self,
        identified: &Identified,
        entropy: &mut Entropy<'_>,
    ) -> (AgentId, Actor) {
        // A request that comes to another one, as asking for what is free does, is made by one agent all the same.
        if let Some(registered) = self.registered {
            return registered;
        }
        let registered = self.register_first(identified, entropy);
        self.registered = Some(registered);
        registered
    }

    fn register_first(&mut self, identified: &Identified, entropy: &mut Entropy<'_>) -> (AgentId, Actor) {
        if let Some(view) = &identified.known {
            let actor = self.act_as(identified);
            self.resume(view.agent.id, identified, actor);
            return (view.agent.id, actor);
        }
        let parent = identified.newcomer.parent.as_ref().map(|parent| match &parent.known {
            Some(view) => (view.agent.id, view.agent.root),
            None => {
                let (id, _) = self.enroll(parent, None, entropy);
                (id, id)
            }
        });
        let (id, name) = self.enroll(identified, parent, entropy);
        self.agent = Some((id, name));
        (id, Actor { agent: Some(id), how: identified.how })
    }

    fn enroll(
        &mut self,
        identified: &Identified,
        parent: Option<(AgentId, AgentId)>,
        entropy: &mut Entropy<'_>,
    ) -> (AgentId, AgentName) {
        let id = AgentId::draw(entropy);
        let newcomer = &identified.newcomer;
        let name = newcomer.name.clone().unwrap_or_else(|| name_for(newcomer.client, id));
        let agent = Agent {
            id,
            name: name.clone(),
            client: newcomer.client,
            key: newcomer.key.clone(),
            parent: parent.map(|(parent, _)| parent),
            root: parent.map_or(id, |(_, root)| root),
            process: newcomer.process.clone(),
            registered_at: self.now.wall,
            ended_at: None,
            halted: None,
        };
        self.newborn.push((id, agent.parent));
        self.push(Actor { agent: Some(id), how: identified.how }, Body::AgentRegistered(agent));
        (id, name)
    }

    /// Whether this very decision found an agent back: what is known of the process it had is past.
    pub(super) fn is_back(&self, agent: AgentId) -> bool {
        let is_this =
            |event: &Event| matches!(&event.body, Body::AgentResumed { agent: back, .. } if *back == agent);
        self.events.iter().any(is_this)
    }

    /// Records once what a known agent goes on as.
    fn resume(&mut self, agent: AgentId, identified: &Identified, actor: Actor) {
        if let Some(back) = identified.back.clone().filter(|_| !self.is_back(agent)) {
            self.push(actor, Body::AgentResumed { agent, key: back.key, process: back.process });
        }
    }

    /// Who an event names. An operator's act is done by somebody who is known from then on; anybody else acts as who
    /// is known already.
    pub(super) fn sign(&mut self, identified: &Identified, entropy: &mut Entropy<'_>) -> Actor {
        match self.operator_reason {
            Some(_) => self.register(identified, entropy).1,
            None => self.act_as(identified),
        }
    }

    /// Going on without a lost tail is an operator's act, so it takes somebody who can be named. A log that was never begun
    /// lost nothing.
    pub(super) fn sign_recovery(
        &mut self,
        request: &Request,
        caller: Result<Identified, Failure>,
        entropy: &mut Entropy<'_>,
    ) -> Result<Result<Identified, Failure>, Failure> {
        let is_begun = self.slice.scope.rev.0 > 0;
        if !is_begun || self.operator_reason.is_none() || !matches!(request.command, Command::Recover) {
            return Ok(caller);
        }
        let identified = caller?;
        self.recovered_by = self.sign(&identified, entropy);
        Ok(Ok(identified))
    }

    /// The operator's reason, where the act is on a lease of somebody else.
    pub(super) fn operator_reason_for(&self, actor: Actor, lease: &Lease) -> Option<String> {
        self.operator_reason.clone().filter(|_| actor.agent != Some(lease.holder))
    }

    /// Records a refusal, or counts it if the same was recorded a moment ago.
    pub(super) fn refuse(&mut self, actor: Actor, key: String, body: impl FnOnce(u64) -> Body) {
        let principal = RefusalMemory::principal(actor.agent);
        let memory = self.slice.refusal.as_ref().filter(|memory| memory.principal == principal);
        let recent = |memory: &&RefusalMemory| {
            memory.key == key
                && self.now.mono.since(memory.since) < REFUSAL_REPEAT_MS
                && self.events.is_empty()
        };
        if let Some(memory) = memory.filter(recent) {
            let repeats = memory.repeats + 1;
            self.soft.push(Soft::Refused(RefusalMemory { repeats, ..memory.clone() }));
            return;
        }
        let repeats = memory.map_or(0, |memory| memory.repeats);
        self.push(actor, body(repeats));
        let since = self.now.mono;
        self.soft.push(Soft::Refused(RefusalMemory { principal, key, since, repeats: 0 }));
    }

    /// Records that leases were not granted: on what, and which leases were in the way. `why` tells apart what is refused
    /// for one reason and for another.
    pub(super) fn refuse_leases<'w>(
        &mut self,
        actor: Actor,
        why: &'static str,
        (mode, wants): (Mode, impl Iterator<Item = &'w Want>),
        blockers: Vec<LeaseId>,
    ) {
        let targets: Vec<String> = wants.map(|want| want.target.canonical().to_owned()).collect();
        let key = format!("{why} {} {targets:?} {blockers:?}", mode.word());
        self.refuse(actor, key, |repeats| Body::ReservationRefused { targets, mode, blockers, repeats });
    }

    /// Whether it is recorded that a caller was turned away before it became anybody: in a scope that exists, if it
    /// claimed what it is not.
    pub(super) fn records_denial(&self, failure: &Failure) -> bool {
        self.slice.scope.rev.0 > 0 && matches!(failure.slug, Slug::NotYou | Slug::NotOperator)
    }

    /// Records that a caller was turned away.
    pub(super) fn deny(&mut self, failure: &Failure, request: &Request) {
        if failure.slug == Slug::NotYou { self.deny_name(failure) } else { self.deny_operator(request) }
    }

    fn deny_name(&mut self, failure: &Failure) {
        let subject = match &failure.details {
            Details::Fields(fields) => fields.iter().map(|(_, field)| field.to_string()).collect(),
            _ => String::new(),
        };
        self.record_denial(Actor::CLAIMANT, subject, Slug::NotYou);
    }

    /// Whoever took an operator's authority without having it is named, where it is known who that is.
    fn deny_operator(&mut self, request: &Request) {
        let actor = match identify(self.slice, &request.caller) {
            Ok(identified) => self.act_as(&identified),
            Err(_) => Actor::CLAIMANT,
        };
        self.record_denial(actor, request.command.subject(), Slug::NotOperator);
    }

    /// The failure, after it was recorded.
    pub(super) fn denied(&mut self, actor: Actor, subject: String, failure: Failure) -> Failure {
        self.record_denial(actor, subject, failure.slug);
        failure
    }

    pub(super) fn record_denial(&mut self, actor: Actor, subject: String, slug: Slug) {
        let (action, reason) = (self.verb.to_string(), slug.as_str().to_owned());
        let key = format!("{action} {subject} {reason}");
        self.refuse(actor, key, |repeats| Body::ActionDenied { action, subject, reason, repeats });
    }

    pub(super) fn expired_ids(&self) -> Vec<LeaseId> {
        self.expired.clone()
    }

    pub(super) fn finish(mut self, outcome: Result<Success, Failure>) -> Decision {
        self.note_sign_of_life();
        self.remember();
        Decision::Ready(Box::new(Verdict {
            events: self.events,
            soft: self.soft,
            agent: self.agent,
            notices: self.notices,
            kept: self.kept.into_values().collect(),
            outcome,
        }))
    }

    /// Writes down what is remembered of agents, where that changed.
    fn remember(&mut self) {
        if let Some((me, _)) = self.agent.clone().filter(|_| !self.rests)
            && self.slice.agent(me).is_some_and(|view| view.memo.resting)
        {
            self.memo(me).resting = false;
        }
        for (agent, memo) in std::mem::take(&mut self.memos) {
            let before = self.slice.agent(agent).map(|view| view.memo.clone()).unwrap_or_default();
            if memo != before {
                self.soft.push(Soft::Noted { agent, memo });
            }
        }
    }

    /// A caller that writes anyway is seen for free; otherwise only when the last sign is old enough to
    /// matter for the shortest silence it was granted.
    fn note_sign_of_life(&mut self) {
        let Some((agent, _)) = self.agent else { return };
        let view = self.view();
        let shortest = self.slice.agent(agent).and_then(|view| view.shortest_ttl_ms);
        let patience = shortest.map_or(PRESENCE_MS, |ttl_ms| (ttl_ms / PULSES_PER_TTL).min(PRESENCE_MS));
        let stale = view.last_seen(agent).is_none_or(|seen| self.now.mono.since(seen) >= patience);
        if stale || !self.events.is_empty() {
            self.soft.push(Soft::Seen { agent, at: self.now.mono });
        }
    }
}
