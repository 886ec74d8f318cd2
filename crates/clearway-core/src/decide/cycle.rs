//! Circles of waiting: A waits for what B holds while B waits for what A holds.
//!
//! The graph has an edge from each waiting agent to whoever holds, or earlier waits for, what it waits for, and from
//! an agent to its subagents that wait, since it goes on when they are done. A request that would close a circle is
//! refused at once. A resource with room for several is left out: any one of its holders can end that wait.
//!
//! What is not known yet is taken to stand in the way. Where that makes no circle there is none; where it does, all
//! that was taken for granted is asked for at once, however long the way was.

use super::draft::Draft;
use super::plan::{Planner, Step};
use crate::agent::AgentName;
use crate::command::Reserve;
use crate::event::Actor;
use crate::facts::{FactQuery, Facts};
use crate::failure::{Circle, CircleStep, Details, Failure};
use crate::hint::Hint;
use crate::ids::{AgentId, LeaseId, Seq, WaitId};
use crate::lease::{Lease, Mode};
use crate::slug::Slug;
use crate::wait::{Wait, WaitView};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// One agent waits for another.
#[derive(Clone, Debug)]
struct Edge {
    from: AgentId,
    to: AgentId,
    what: String,
    lease: Option<Lease>,
}

/// The circle that `me` closes by waiting for `wanted` at `place`, if there is one.
pub(super) fn find(
    draft: &Draft<'_>,
    me: AgentId,
    wanted: &Reserve,
    place: Seq,
) -> Result<Option<Circle>, BTreeSet<FactQuery>> {
    let mut graph = Graph::new(draft);
    let circle = graph.search(me, wanted, place);
    graph.settle(circle, Option::is_none)
}

/// The circle that was closed between two drafts by what somebody came to hold whose family waits, if one was. One that
/// giving back or time had closed before is no reason to refuse what may be the way out: a wait that stood in a circle
/// before counts for nothing.
pub(super) fn closed_between(
    before: &Draft<'_>,
    after: &Draft<'_>,
    holder: AgentId,
) -> Result<Option<Circle>, BTreeSet<FactQuery>> {
    // Whatever was closed goes through the holder. Most often nothing is, and that is soon seen.
    let through = circles(after, after.waits_of_family(holder))?;
    if through.is_empty() {
        return Ok(None);
    }
    if let Some(circle) = new(&circles(before, before.waits_of_family(holder))?, through) {
        return Ok(Some(circle));
    }
    let all = |draft: &Draft<'_>| circles(draft, draft.queue.iter().map(|view| &view.wait));
    match (all(before), all(after)) {
        (Ok(before), Ok(after)) => Ok(new(&before, after)),
        (before, after) => Err(before.err().into_iter().chain(after.err()).flatten().collect()),
    }
}

/// One of a wait that was in none.
fn new(known: &BTreeMap<WaitId, Circle>, found: BTreeMap<WaitId, Circle>) -> Option<Circle> {
    found.into_iter().find_map(|(wait, circle)| (!known.contains_key(&wait)).then_some(circle))
}

/// The circles that waits stand in, each by its wait.
fn circles<'w>(
    draft: &Draft<'_>,
    waits: impl Iterator<Item = &'w Wait>,
) -> Result<BTreeMap<WaitId, Circle>, BTreeSet<FactQuery>> {
    let mut graph = Graph::new(draft);
    let mut found = BTreeMap::new();
    for wait in waits {
        let circle = graph.search(wait.agent, &wait.wanted, wait.place);
        found.extend(circle.map(|circle| (wait.id, circle)));
    }
    graph.settle(found, BTreeMap::is_empty)
}

/// The queue and the leases as a graph.
#[derive(Debug)]
struct Graph<'a> {
    draft: &'a Draft<'a>,
    /// What is known, and what was taken for granted.
    facts: Facts,
    /// What was taken for granted.
    assumed: BTreeSet<FactQuery>,
}

impl<'a> Graph<'a> {
    fn new(draft: &'a Draft<'a>) -> Self {
        Self { draft, facts: draft.facts.clone(), assumed: BTreeSet::new() }
    }

    /// A circle is one once nothing of it is taken for granted.
    fn settle<F>(self, found: F, is_none: impl FnOnce(&F) -> bool) -> Result<F, BTreeSet<FactQuery>> {
        if self.assumed.is_empty() || is_none(&found) { Ok(found) } else { Err(self.assumed) }
    }

    /// The first circle through `me`. The walk goes on behind it, so that whatever else may be one is known as well.
    fn search(&mut self, me: AgentId, wanted: &Reserve, place: Seq) -> Option<Circle> {
        let mut reached: BTreeMap<AgentId, Edge> = BTreeMap::new();
        let mut open: VecDeque<Edge> = self.blocked_on(me, wanted, place).into();
        let mut found = None;
        while let Some(edge) = open.pop_front() {
            if edge.to == me {
                found = found.or_else(|| Some(self.circle(me, edge, &reached)));
            } else if let Entry::Vacant(unseen) = reached.entry(edge.to) {
                open.extend(self.leaving(edge.to, me));
                unseen.insert(edge);
            }
        }
        found
    }

    /// Whom an agent waits for: by each of its waits, and its subagents that wait, `me` being about to.
    fn leaving(&mut self, from: AgentId, me: AgentId) -> Vec<Edge> {
        let mut edges = Vec::new();
        for WaitView { wait, .. } in &self.draft.queue {
            if wait.agent == from {
                edges.extend(self.blocked_on(from, &wait.wanted, wait.place));
            } else if self.is_ancestor(from, wait.agent) {
                edges.push(below(from, wait.agent));
            }
        }
        if self.is_ancestor(from, me) {
            edges.push(below(from, me));
        }
        edges
    }

    /// Who keeps a request from being granted, by the very rule that grants it.
    fn blocked_on(&mut self, from: AgentId, wanted: &Reserve, place: Seq) -> Vec<Edge> {
        let steps = self.steps(from, wanted, place);
        let mut edges = Vec::new();
        for (want, step) in wanted.wants.iter().zip(steps) {
            let Step::Blocked(blocked) = step else { continue };
            if want.capacity > 1 && wanted.mode == Mode::Exclusive {
                continue;
            }
            // What another command of the same agent runs under ends with that command, whoever waits.
            let others = blocked.leases.into_iter().filter(|view| view.lease.holder != from);
            edges.extend(others.map(|view| Edge {
                from,
                to: view.lease.holder,
                what: view.lease.target.display(),
                lease: Some(view.lease),
            }));
            let earlier = blocked.ahead.iter().filter_map(|ahead| self.waiter(ahead.wait));
            let earlier = earlier.filter(|to| *to != from);
            edges.extend(earlier.map(|to| Edge { from, to, what: want.target.display(), lease: None }));
        }
        edges
    }

    fn steps(&mut self, from: AgentId, wanted: &Reserve, place: Seq) -> Vec<Step> {
        loop {
            match Planner::at(self.draft, from, wanted, place).knowing(&self.facts).plan() {
                Ok(steps) => return steps,
                Err(missing) => {
                    self.facts.assume_the_worst(&missing);
                    self.assumed.extend(missing);
                }
            }
        }
    }

    fn waiter(&self, wait: WaitId) -> Option<AgentId> {
        self.draft.queue.iter().find(|view| view.wait.id == wait).map(|view| view.wait.agent)
    }

    fn can_block(&self, holder: AgentId, requester: AgentId) -> bool {
        self.draft.can_block(holder, requester)
    }

    fn is_ancestor(&self, above: AgentId, below: AgentId) -> bool {
        above != below && !self.can_block(above, below)
    }

    /// The way back from the edge that closes the circle.
    fn circle(&self, me: AgentId, last: Edge, reached: &BTreeMap<AgentId, Edge>) -> Circle {
        let mut way = vec![last];
        while let Some(edge) =
            way.last().filter(|edge| edge.from != me).and_then(|edge| reached.get(&edge.from))
        {
            way.push(edge.clone());
        }
        way.reverse();
        // Whoever took its lease last has the least to lose by giving it back. Nobody can give back what a command keeps.
        let leases = way.iter().filter_map(|edge| edge.lease.as_ref());
        let youngest = leases.filter(|lease| lease.bound.is_none()).max_by_key(|lease| lease.fence);
        let yielder =
            youngest.map(|lease| (self.draft.name_of(lease.holder), lease.id, lease.target.display()));
        let steps = way.into_iter().map(|edge| CircleStep {
            agent: self.draft.name_of(edge.from),
            waits_for: edge.what,
            of: self.draft.name_of(edge.to),
            lease: edge.lease.as_ref().map(|lease| lease.id),
            kept_by: edge.lease.and_then(|lease| lease.bound).map(|process| process.pid),
        });
        Circle { steps: steps.collect(), yielder }
    }
}

fn below(from: AgentId, to: AgentId) -> Edge {
    Edge { from, to, what: "its subagent".to_owned(), lease: None }
}

impl Circle {
    fn told(&self) -> String {
        let told = |step: &CircleStep| format!("{} waits for {} of {}", step.agent, step.waits_for, step.of);
        self.steps.iter().map(told).collect::<Vec<_>>().join(", ")
    }

    /// The refusal of a hand-over that would have closed it.
    pub(super) fn failure_of_transfer(self) -> Failure {
        let message = format!("they would wait for each other for ever: {}", self.told());
        Failure::new(Slug::WouldDeadlock, message)
            .hint("hand it to somebody who waits for nothing, or give it back: clearway release ID…")
            .hint("see who waits for what: clearway waits")
            .details(Details::Circle(Box::new(self)))
    }

    /// The refusal of what would have closed it by being taken while the family waits. What was not taken is nothing to
    /// give back.
    fn failure_of_taking(self) -> Failure {
        let message = format!("they would wait for each other for ever: {}", self.told());
        Failure::new(Slug::WouldDeadlock, message)
            .hint("take it when you have what you wait for, or leave the queue: clearway wait --cancel")
            .hint("see who waits for what: clearway waits")
            .details(Details::Circle(Box::new(self)))
    }

    /// The same without leases that are not there.
    fn without_untaken(mut self, draft: &Draft<'_>) -> Self {
        let is_there = |id: &LeaseId| draft.leases_now().any(|lease| lease.id == *id);
        self.steps.iter_mut().for_each(|step| step.lease = step.lease.filter(is_there));
        self.yielder = self.yielder.filter(|(_, lease, _)| is_there(lease));
        self
    }

    /// The refusal of whoever would have closed it by waiting. A command to give a lease back is for its holder alone.
    fn failure(self, me: &AgentName) -> Failure {
        let failure = Failure::new(Slug::WouldDeadlock, format!("waiting would never end: {}", self.told()));
        let give_back =
            |purpose: String, lease: &LeaseId| Hint::command(&purpose, "release", &[lease.as_str()]);
        let failure = match (&self.yielder, self.lease_of(me)) {
            (Some((agent, lease, target)), _) if agent == me => {
                failure.hint(give_back(format!("the least work is lost if you give back {target}"), lease))
            }
            (Some((agent, _, target)), own) => {
                let failure = failure.hint(format!("the least work is lost if {agent} gives back {target}"));
                let yourself = own.map(|(target, lease, waiting)| {
                    give_back(format!("or give back {target} yourself, which {waiting} waits for"), lease)
                });
                yourself.into_iter().fold(failure, Failure::hint)
            }
            (None, _) => failure.hint(self.end_of_command(me).unwrap_or_else(|| {
                "leave the queue where others wait behind you: clearway wait --cancel".to_owned()
            })),
        };
        failure.hint("work on something else meanwhile").details(Details::Circle(Box::new(self)))
    }

    /// How a circle of nothing but commands is opened. What somebody else runs is theirs to end.
    fn end_of_command(&self, me: &AgentName) -> Option<String> {
        let kept = || self.steps.iter().filter_map(|step| Some((step, step.kept_by?)));
        let (step, pid) = kept().find(|(step, _)| step.of == *me).or_else(|| kept().next())?;
        let (agent, target) = (&step.of, &step.waits_for);
        Some(match agent == me {
            true => format!("{target} is free when your command that keeps it ends, process {pid}"),
            false => format!("{target} is free when the command of {agent} that keeps it ends: ask {agent}"),
        })
    }

    /// The lease that an agent may give back to be no part of it any more, and who waits for that.
    fn lease_of(&self, me: &AgentName) -> Option<(&str, &LeaseId, &AgentName)> {
        let step = self.steps.iter().find(|step| step.of == *me && step.kept_by.is_none())?;
        Some((&step.waits_for, step.lease.as_ref()?, &step.agent))
    }

    /// The leases that hold it together.
    fn leases(&self) -> Vec<LeaseId> {
        self.steps.iter().filter_map(|step| step.lease).collect()
    }
}

impl Draft<'_> {
    fn waits_of_family(&self, of: AgentId) -> impl Iterator<Item = &Wait> {
        let family = self.root_of(of);
        self.queue.iter().map(|view| &view.wait).filter(move |wait| self.root_of(wait.agent) == family)
    }

    /// Whether an agent or anybody of its family waits for something.
    pub(super) fn waits_in_family_of(&self, agent: AgentId) -> bool {
        self.waits_of_family(agent).next().is_some()
    }

    /// Refuses to take what would close a circle, and records that.
    pub(super) fn refuse_taking(&mut self, actor: Actor, reserve: &Reserve, circle: Circle) -> Failure {
        let circle = circle.without_untaken(self);
        self.refuse_leases(actor, "deadlock", (reserve.mode, reserve.wants.iter()), circle.leases());
        circle.failure_of_taking()
    }

    /// Refuses a request that would close a circle, and records that.
    pub(super) fn refuse_circle(
        &mut self,
        (me, actor): (AgentId, Actor),
        reserve: &Reserve,
        circle: Circle,
    ) -> Failure {
        self.refuse_leases(actor, "deadlock", (reserve.mode, reserve.wants.iter()), circle.leases());
        circle.failure(&self.name_of(me))
    }
}
