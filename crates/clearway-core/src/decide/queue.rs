//! The queue: who waits for what, whose turn it is, and who would wait for ever.
//!
//! First come, first served, and nobody barges: a request is granted only if it is in the way of no earlier wait.
//! Giving something back grants nothing by itself; whoever waits takes it in a transaction of its own.

use super::authority::may_act_for;
use super::cycle;
use super::draft::Draft;
use super::freeze;
use super::identity::Identified;
use super::plan::{Planner, Step, ahead, blocked, blockers};
use super::reserve::grant_turn;
use super::selection::held_by;
use super::{Notice, Success};
use crate::command::{Await, Leave, Reserve, Stay};
use crate::event::{Actor, Body};
use crate::facts::{FactQuery, Facts, Process};
use crate::failure::{Failure, LeaseView};
use crate::hint::Hint;
use crate::ids::{AgentId, Entropy, WaitId};
use crate::lease::{Grade, Lease};
use crate::limits::{
    OFFER_MS, OFFERS_PER_WAIT_MAX, WAITER_PULSE_MS, WAITER_SILENCE_MS, WAITS_PER_AGENT_MAX,
    WAITS_PER_SCOPE_MAX,
};
use crate::slice::{Freeze, Note, Slice};
use crate::slug::Slug;
use crate::time::Now;
use crate::wait::{Queued, Wait, WaitEnd, WaitView, position};
use std::collections::BTreeSet;

/// The queue as it stands, whether or not anybody recorded what became of those who waited, and whose turn has come: by
/// the very rules that record it. What is around the waits has to be in the slice ([`Slice::around_turns`]).
pub fn standing_queue(slice: &Slice, facts: &Facts, now: &Now) -> Result<Vec<WaitView>, BTreeSet<FactQuery>> {
    if !slice.scope.is_of(&now.boot) {
        return Ok(Vec::new());
    }
    let mut draft = Draft::of_nobody(slice, now, facts);
    let unknown = draft.evidence_of_waits();
    if !unknown.is_empty() {
        return Err(unknown);
    }
    draft.record_wait_ends()?;
    let unknown = draft.record_offers(&mut |_| {});
    if unknown.is_empty() { Ok(draft.queue) } else { Err(unknown) }
}

impl Draft<'_> {
    /// Records an event about a wait, in the log and in the queue as the rest of this decision sees it.
    pub(super) fn push_wait(&mut self, actor: Actor, body: Body) {
        let seq = self.next_seq();
        if let Body::WaitBegan(wait) = &body {
            self.queue.push(WaitView { wait: wait.clone(), heard: None });
        }
        let id = body.wait();
        self.queue.retain_mut(|view| {
            Some(view.wait.id) != id
                || crate::fold::change_wait(&mut view.wait, seq, &body) == crate::fold::Standing::Waits
        });
        self.queue.sort_by_key(|view| view.wait.place);
        self.push(actor, body);
    }

    pub(super) fn end_wait(&mut self, actor: Actor, view: &WaitView, cause: WaitEnd) {
        let (wait, agent, last_heard) = (view.wait.id, view.wait.agent, view.heard);
        let by_operator = cause == WaitEnd::Cancelled && actor.agent != Some(agent);
        let operator_reason = self.operator_reason.clone().filter(|_| by_operator);
        self.push_wait(actor, Body::WaitEnded { wait, agent, cause, last_heard, operator_reason });
    }

    /// Records the end of every wait that is over, and what becomes of every turn that was not taken in time.
    pub(super) fn record_wait_ends(&mut self) -> Result<(), BTreeSet<FactQuery>> {
        for view in self.queue.clone() {
            let agent = self.slice.agent(view.wait.agent).map(|known| &known.agent);
            if let Some(cause) = view.over(agent, self.facts, self.now.mono) {
                self.end_wait(Actor::KERNEL, &view, cause);
            } else if let Some(until) = view.falls_back(self.facts, self.now.mono) {
                let (wait, process) = (view.wait.id, None);
                self.push_wait(Actor::KERNEL, Body::WaitAttached { wait, process, until });
            }
        }
        let mut missing = BTreeSet::new();
        for view in self.queue.clone().iter().filter(|view| view.offer_lapsed(self.now.mono)) {
            missing.extend(self.let_pass(view).err().into_iter().flatten());
        }
        if missing.is_empty() { Ok(()) } else { Err(missing) }
    }

    /// What becomes of a turn that was not taken. One that could not have been taken is not held against its waiter;
    /// otherwise the waiter goes to the end of the queue, unless that is the second time or it would wait there for ever.
    fn let_pass(&mut self, view: &WaitView) -> Result<(), BTreeSet<FactQuery>> {
        let wait = &view.wait;
        let paused = freeze::during_offer(self.slice, self.now, wait);
        if self.turn_of(wait, paused.as_ref())?.is_none() {
            self.push_wait(Actor::KERNEL, Body::WaitWithdrawn { wait: wait.id });
            return Ok(());
        }
        let mut last = self.clone();
        last.push_wait(Actor::KERNEL, Body::WaitPassed { wait: wait.id });
        let as_last = Wait { place: self.next_seq(), ..wait.clone() };
        let is_circle = !wait.is_of_edit() && cycle::find(&last, &as_last)?.is_some();
        let is_over = wait.offers >= OFFERS_PER_WAIT_MAX || is_circle;
        if is_over {
            self.end_wait(Actor::KERNEL, view, WaitEnd::Lapsed);
            // It was promised to be told, and nothing else would.
            if let Some(want) = wait.wanted.wants.first() {
                self.note(wait.agent, Note::PlaceOver { target: want.target.display() });
            }
        } else {
            *self = last;
        }
        Ok(())
    }

    /// What has to be known of the agents and processes that wait, to tell which of them are gone.
    pub(super) fn evidence_of_waits(&self) -> BTreeSet<FactQuery> {
        self.evidence_of(|_| true)
    }

    /// The same of those who wait for any of these leases: whoever is turned away is told how many there are.
    pub(super) fn evidence_of_waiters(&self, leases: &[LeaseView]) -> BTreeSet<FactQuery> {
        let waits_for = |wait: &Wait| leases.iter().any(|held| wait.wanted.conflicts_with_lease(&held.lease));
        self.evidence_of(waits_for)
    }

    pub(super) fn evidence_of(&self, concerns: impl Fn(&Wait) -> bool) -> BTreeSet<FactQuery> {
        let concerned = || self.queue.iter().map(|view| &view.wait).filter(|wait| concerns(wait));
        let agents = concerned().filter_map(|wait| self.slice.agent(wait.agent)?.agent.process.clone());
        let waiting = concerned().filter_map(|wait| wait.attached.clone());
        let unknown = agents.chain(waiting).filter(|process| self.facts.process(process).is_none());
        unknown.map(FactQuery::Process).collect()
    }

    /// Offers their turn to agents that have no process waiting. Only waits whose surroundings were read can be
    /// judged; whoever changes something reads the surroundings of those it changes it for. The facts that were
    /// missing are told: without them nobody has a turn. What would make way for a request makes way for a turn: its
    /// holder would take up its work again and be in the way of whoever was told that it is free.
    /// Whoever asked to be granted what it waits for is granted it instead.
    pub(super) fn record_offers(&mut self, entropy: &mut Entropy<'_>) -> BTreeSet<FactQuery> {
        let candidates: Vec<WaitView> =
            self.queue.iter().filter(|view| self.slice.surveyed.contains(&view.wait.id)).cloned().collect();
        let mut missing = BTreeSet::new();
        for WaitView { wait, .. } in candidates {
            if wait.attached.is_some() || wait.offered_until.is_some() {
                continue;
            }
            match self.turn_of(&wait, self.frozen.as_ref()) {
                Ok(Some(steps)) => match self.unsheltered(&steps) {
                    unknown if unknown.is_empty() => {
                        missing.extend(self.keep_promise(&wait, &steps, entropy));
                        // What made way for that turn may have been asked for.
                        self.close_negotiations();
                    }
                    unknown => missing.extend(unknown),
                },
                Ok(None) => {}
                Err(queries) => missing.extend(queries),
            }
        }
        missing
    }

    /// Grants a turn to who was promised so, or else offers it.
    fn keep_promise(
        &mut self,
        wait: &Wait,
        steps: &[Step],
        entropy: &mut Entropy<'_>,
    ) -> BTreeSet<FactQuery> {
        let granted = match self.promised.remove(&wait.id).or_else(|| self.promises(wait, steps)) {
            Some(from) => grant_turn(self, wait, steps, entropy).map(|granted| granted.then_some(from)),
            None => Ok(None),
        };
        match (granted, wait.wanted.wants.first()) {
            (Ok(Some(from)), Some(want)) => {
                // What was taken for it was not let go, and is told as that.
                if !self.is_forced_from(from, &want.target) {
                    let (target, from) = (want.target.display(), self.name_of(from));
                    self.note(wait.agent, Note::Granted { target, from });
                }
            }
            (Ok(_), _) => self.offer(wait, steps),
            (Err(missing), _) => return missing,
        }
        BTreeSet::new()
    }

    fn offer(&mut self, wait: &Wait, steps: &[Step]) {
        for room in steps.iter().map(Step::room) {
            // Whoever is offered the turn hears of it by the offer, and of what is kept before it looks.
            let said = self.make_room(room, Actor::KERNEL, wait.agent);
            let is_kept = |notice: &Notice| matches!(notice, Notice::Kept { .. });
            if self.me() == Some(wait.agent) {
                self.notices.extend(said.into_iter().filter(is_kept));
            }
        }
        let until = self.now.mono.plus_ms(OFFER_MS);
        self.push_wait(Actor::KERNEL, Body::WaitOffered { wait: wait.id, until });
        self.note(wait.agent, Note::Turn(wait.id));
    }

    /// How everything would be granted under this pause, or none; `None` if it would not be.
    fn turn_of(
        &self,
        wait: &Wait,
        frozen: Option<&Freeze>,
    ) -> Result<Option<Vec<Step>>, BTreeSet<FactQuery>> {
        let client = self.slice.agent(wait.agent).map(|view| view.agent.client);
        let steps = Planner::at(self, wait.agent, &wait.wanted, wait.place).plan()?;
        let is_admitted = |client| freeze::admit(frozen, &wait.wanted, client, &steps).is_ok();
        let is_turn = blocked(&steps).next().is_none() && client.is_some_and(is_admitted);
        Ok(is_turn.then_some(steps))
    }

    /// Ends an agent's waits for everything that it holds now, as far as their surroundings were read. What a command of it
    /// takes now, in the agent's turn, was the turn.
    pub(super) fn record_fulfilled(&mut self, holder: AgentId, actor: Actor, by: Option<&Process>) {
        let held = held_by(self, Some(holder));
        let fulfilled: Vec<WaitView> = self
            .queue
            .iter()
            .filter(|view| self.slice.surveyed.contains(&view.wait.id))
            .filter(|view| view.wait.agent == holder && is_held(&view.wait, &held, by))
            .cloned()
            .collect();
        for view in fulfilled {
            self.end_wait(actor, &view, WaitEnd::Granted);
        }
    }

    /// An edit of several files that was refused keeps a place for all of them. Once its agent took one of them by itself
    /// and nobody is in the way of the rest, it has gone on another way: a turn would keep files from others that it
    /// may never come back to.
    pub(super) fn give_up_what_was_taken_in_part(&mut self, me: AgentId, actor: Actor) {
        let rev = self.slice.scope.rev;
        let is_new = |lease: &&Lease| lease.holder == me && lease.fence.seq > rev;
        let new: Vec<Lease> = self.leases_now().filter(is_new).cloned().collect();
        let is_part = |wait: &Wait| {
            let mut wants = wait.wanted.wants.iter();
            wants.any(|want| new.iter().any(|lease| lease.covers(&want.target)))
        };
        let is_concerned = |view: &&WaitView| {
            let WaitView { wait, .. } = view;
            let is_edit = wait.wanted.grade == Grade::Auto && wait.attached.is_none();
            wait.agent == me && is_edit && is_part(wait) && self.slice.surveyed.contains(&wait.id)
        };
        // What is not known yet is asked for when turns are offered.
        let has_come =
            |view: &&WaitView| matches!(self.turn_of(&view.wait, self.frozen.as_ref()), Ok(Some(_)));
        let over: Vec<WaitView> = self.queue.iter().filter(is_concerned).filter(has_come).cloned().collect();
        over.iter().for_each(|view| self.end_wait(actor, view, WaitEnd::Cancelled));
    }
}

fn is_held(wait: &Wait, held: &[Lease], by: Option<&Process>) -> bool {
    let wanted = &wait.wanted;
    wanted.wants.iter().all(|want| {
        held.iter().any(|lease| {
            lease.mode >= wanted.mode
                && lease.covers(&want.target)
                && wait.is_for(lease, by)
                && wanted.touches(&lease.target, &lease.worktree)
        })
    })
}

/// Who asks, and what stands in its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asking<'a> {
    pub(super) me: AgentId,
    pub(super) actor: Actor,
    pub(super) steps: &'a [Step],
}

/// Keeps or takes a place for a request that cannot be granted now; `None` if it has waited long enough.
pub(super) fn stay(
    draft: &mut Draft<'_>,
    request: &Await,
    asking: Asking<'_>,
    entropy: &mut Entropy<'_>,
) -> Result<Option<Result<Success, Failure>>, BTreeSet<FactQuery>> {
    let own = match own_wait(draft, request, asking.me) {
        None if request.wait.is_none() => wider_wait(draft, &request.reserve, asking.me)?,
        own => own,
    };
    let process = match &request.stay {
        Stay::Durable => None,
        Stay::Attached(process) => Some(process.clone()),
        Stay::Last => {
            own.iter().for_each(|view| draft.end_wait(asking.actor, view, WaitEnd::TimedOut));
            return Ok(None);
        }
    };
    let waited = own.as_ref().is_some_and(|view| view.wait.attached.is_some());
    let wait = match (own, request.wait) {
        (Some(view), _) => keep(draft, request, asking.actor, &view, process),
        (None, Some(id)) => return Ok(Some(Err(not_there(id)))),
        (None, None) => match begin(draft, request, asking, process, entropy)? {
            Ok(wait) => wait,
            Err(failure) => return Ok(Some(Err(failure))),
        },
    };
    if waited && wait.attached.is_none() && !wait.is_of_edit() {
        let circle = cycle::find_with_edits(draft, &wait)?;
        draft.tell_waiter(asking.me, circle.as_ref());
    }
    Ok(Some(Ok(queued(draft, wait, asking.steps))))
}

/// Whoever is in the way learns that somebody waits.
fn tell_holders(draft: &mut Draft<'_>, wait: &Wait, asking: Asking<'_>) {
    let holders: BTreeSet<AgentId> =
        blockers(asking.steps).iter().map(|blocker| blocker.lease.holder).collect();
    holders.into_iter().for_each(|holder| draft.note(holder, Note::WaitedFor(wait.id)));
}

/// The place the caller has already: the one it names, or an equal one that no process waits at.
fn own_wait(draft: &Draft<'_>, request: &Await, me: AgentId) -> Option<WaitView> {
    let mine = || draft.queue.iter().filter(|view| view.wait.agent == me);
    let equal = |view: &&WaitView| {
        view.wait.attached.is_none()
            && view.wait.wanted.bound == request.reserve.bound
            && view.wait.wanted.includes(&request.reserve)
            && request.reserve.includes(&view.wait.wanted)
    };
    match request.wait {
        Some(id) => mine().find(|view| view.wait.id == id).cloned(),
        None => mine().find(equal).cloned(),
    }
}

/// The place of an edit over more files, if nothing is in its way but what is in the way of this one: whoever tries a part
/// of a patch again waits for the same.
fn wider_wait(
    draft: &Draft<'_>,
    request: &Reserve,
    me: AgentId,
) -> Result<Option<WaitView>, BTreeSet<FactQuery>> {
    if request.grade != Grade::Auto {
        return Ok(None);
    }
    let is_wider = |view: &&WaitView| {
        let Wait { agent, wanted, attached, .. } = &view.wait;
        *agent == me && attached.is_none() && wanted.grade == Grade::Auto && view.wait.serves(request)
    };
    for view in draft.queue.iter().filter(is_wider) {
        let Wait { wanted, place, .. } = &view.wait;
        let steps = Planner::at(draft, me, wanted, *place).plan()?;
        let mut blocked =
            wanted.wants.iter().zip(&steps).filter(|(_, step)| matches!(step, Step::Blocked(_))).peekable();
        // Where nothing is in its way, what is in the way of this one is something else.
        if blocked.peek().is_some()
            && blocked.all(|(want, _)| request.wants.iter().any(|part| part.target.covers(&want.target)))
        {
            return Ok(Some(view.clone()));
        }
    }
    Ok(None)
}

/// A place that was named is kept or nothing: whoever gave it up was told that nobody waits there.
fn not_there(id: WaitId) -> Failure {
    Failure::new(Slug::NotFound, format!("nobody waits at {id}"))
        .hint(crate::hint::WAITS)
        .hint("take a new place: clearway reserve --wait 5m PATTERN")
}

fn keep(
    draft: &mut Draft<'_>,
    request: &Await,
    actor: Actor,
    view: &WaitView,
    process: Option<Process>,
) -> Wait {
    let now = draft.now.mono;
    if view.wait.attached != process {
        let until = until(draft, request, process.is_some());
        draft.push_wait(actor, Body::WaitAttached { wait: view.wait.id, process: process.clone(), until });
    }
    let heard = view.heard.unwrap_or(view.wait.since);
    if process.is_some() && now.since(heard) >= WAITER_PULSE_MS / 2 {
        draft.hear(view.wait.id);
    }
    let kept = draft.queue.iter().find(|other| other.wait.id == view.wait.id);
    kept.map_or_else(|| view.wait.clone(), |kept| kept.wait.clone())
}

/// A waiting process makes its last try when its own time is up, so the place outlives that by a little.
fn until(draft: &Draft<'_>, request: &Await, attached: bool) -> crate::time::Mono {
    let grace_ms = if attached { WAITER_SILENCE_MS } else { 0 };
    draft.now.mono.plus_ms(request.wait_ms).plus_ms(grace_ms)
}

fn begin(
    draft: &mut Draft<'_>,
    request: &Await,
    asking: Asking<'_>,
    process: Option<Process>,
    entropy: &mut Entropy<'_>,
) -> Result<Result<Wait, Failure>, BTreeSet<FactQuery>> {
    if let Err(failure) = within_quota(draft, asking.me) {
        return Ok(Err(draft.denied(asking.actor, request.reserve.subject(), failure)));
    }
    let wait = Wait {
        id: WaitId::draw(entropy),
        agent: asking.me,
        wanted: request.reserve.clone(),
        place: draft.next_seq(),
        until: until(draft, request, process.is_some()),
        attached: process,
        kept_until: None,
        offered_until: None,
        offers: 0,
        since: draft.now.mono,
        created_at: draft.now.wall,
    };
    let still = if wait.is_of_edit() { None } else { cycle::find(draft, &wait)? };
    if let Some(circle) = still {
        return Ok(Err(draft.refuse_circle((asking.me, asking.actor), &request.reserve, circle)));
    }
    let circle = cycle::find_with_edits(draft, &wait)?;
    draft.push_wait(asking.actor, Body::WaitBegan(wait.clone()));
    tell_holders(draft, &wait, asking);
    // Whoever is refused an edit goes on, so that every place stays what it is.
    if let Some(circle) = circle {
        draft.tell_of_circle(asking.me, &circle);
        // Whoever waits reads no answer before the end: it hears of it at its next tool call, or then.
        match wait.attached {
            Some(_) => draft.keep_for_closer(asking.me, &circle),
            None => draft.tell_closer(asking.me, &circle),
        }
    }
    Ok(Ok(wait))
}

fn within_quota(draft: &Draft<'_>, me: AgentId) -> Result<(), Failure> {
    let mine = draft.queue.iter().filter(|view| view.wait.agent == me).count();
    let all = draft.queue.len() as u64;
    let (what, limit) = if mine >= WAITS_PER_AGENT_MAX {
        ("waits of one agent", WAITS_PER_AGENT_MAX as u64)
    } else if all >= WAITS_PER_SCOPE_MAX {
        ("waits in one scope", WAITS_PER_SCOPE_MAX)
    } else {
        return Ok(());
    };
    Err(Failure::new(Slug::QuotaExceeded, format!("{what}: at most {limit}, and all are taken"))
        .hint(crate::hint::WAITS)
        .hint("leave the queue: clearway wait --cancel ID"))
}

fn queued(draft: &Draft<'_>, wait: Wait, steps: &[Step]) -> Success {
    let ahead = ahead(steps);
    let position = position(&wait, draft.queue.iter().map(|view| &view.wait));
    let agent = draft.name_of(wait.agent);
    let queued = Box::new(Queued { wait, agent, position });
    Success::Queued { queued, blockers: blockers(steps), ahead }
}

/// Leaves the queue. Leaving a place that is gone already is no error and no event.
pub(super) fn leave(
    draft: &mut Draft<'_>,
    leave: &Leave,
    identified: &Identified,
    entropy: &mut Entropy<'_>,
) -> Result<Success, Failure> {
    let actor = draft.act_as(identified);
    let chosen: Vec<WaitView> = match &leave.waits {
        None => draft.queue.iter().filter(|view| Some(view.wait.agent) == actor.agent).cloned().collect(),
        Some(ids) => draft.queue.iter().filter(|view| ids.contains(&view.wait.id)).cloned().collect(),
    };
    if let Some(foreign) = chosen.iter().find(|view| !may_act_for(draft, actor, view.wait.agent)) {
        let id = foreign.wait.id;
        draft.record_denial(actor, id.to_string(), Slug::NotHolder);
        return Err(Failure::new(Slug::NotHolder, format!("wait {id} is somebody else's"))
            .hint("see whose it is: clearway waits")
            .hint(Hint::for_operator(&format!(
                "a person may end it: clearway wait --cancel {id} --reason TEXT"
            ))));
    }
    let actor = if chosen.is_empty() { actor } else { draft.sign(identified, entropy) };
    for view in &chosen {
        draft.end_wait(actor, view, WaitEnd::Cancelled);
    }
    Ok(Success::Left { waits: chosen.into_iter().map(|view| view.wait.id).collect() })
}
