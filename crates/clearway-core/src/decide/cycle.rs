//! Circles of waiting: A waits for what B holds while B waits for what A holds.
//!
//! The graph has an edge from each waiting agent to whoever holds, or earlier waits for, what it waits for, and from
//! an agent to its subagents that wait, since it goes on when they are done. A request that would close a circle is
//! refused at once. A resource with room for several is left out: any one of its holders can end that wait.

use super::draft::Draft;
use super::plan::{Planner, Step};
use crate::agent::AgentName;
use crate::command::Reserve;
use crate::event::{Actor, Body};
use crate::facts::{FactQuery, Facts};
use crate::failure::{Circle, CircleStep, Details, Failure};
use crate::hint::Hint;
use crate::ids::{AgentId, LeaseId, Seq, WaitId};
use crate::lease::{Lease, Mode};
use crate::slug::Slug;
use crate::wait::WaitView;
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
    facts: &Facts,
) -> Result<Option<Circle>, BTreeSet<FactQuery>> {
    let graph = Graph { draft, facts };
    let mut reached: BTreeMap<AgentId, Edge> = BTreeMap::new();
    let mut open: VecDeque<Edge> = graph.blocked_on(me, wanted, place)?.into();
    while let Some(edge) = open.pop_front() {
        if edge.to == me {
            return Ok(Some(graph.circle(me, edge, &reached)));
        }
        if let Entry::Vacant(unseen) = reached.entry(edge.to) {
            open.extend(graph.leaving(edge.to, me)?);
            unseen.insert(edge);
        }
    }
    Ok(None)
}

/// The circle that somebody's family is in who was handed something while it waits, if there is one.
pub(super) fn find_through(
    draft: &Draft<'_>,
    recipient: AgentId,
    facts: &Facts,
) -> Result<Option<Circle>, BTreeSet<FactQuery>> {
    let family = draft.root_of(recipient);
    for WaitView { wait, .. } in draft.queue.iter().filter(|view| draft.root_of(view.wait.agent) == family) {
        if let Some(circle) = find(draft, wait.agent, &wait.wanted, wait.place, facts)? {
            return Ok(Some(circle));
        }
    }
    Ok(None)
}

/// The queue and the leases as a graph.
#[derive(Clone, Copy, Debug)]
struct Graph<'a> {
    draft: &'a Draft<'a>,
    facts: &'a Facts,
}

impl Graph<'_> {
    /// Whom an agent waits for: by each of its waits, and its subagents that wait, `me` being about to.
    fn leaving(&self, from: AgentId, me: AgentId) -> Result<Vec<Edge>, BTreeSet<FactQuery>> {
        let mut edges = Vec::new();
        for WaitView { wait, .. } in &self.draft.queue {
            if wait.agent == from {
                edges.extend(self.blocked_on(from, &wait.wanted, wait.place)?);
            } else if self.is_ancestor(from, wait.agent) {
                edges.push(below(from, wait.agent));
            }
        }
        if self.is_ancestor(from, me) {
            edges.push(below(from, me));
        }
        Ok(edges)
    }

    /// Who keeps a request from being granted, by the very rule that grants it.
    fn blocked_on(
        &self,
        from: AgentId,
        wanted: &Reserve,
        place: Seq,
    ) -> Result<Vec<Edge>, BTreeSet<FactQuery>> {
        let steps = Planner::at(self.draft, from, wanted, place, self.facts).plan()?;
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
        Ok(edges)
    }

    fn waiter(&self, wait: WaitId) -> Option<AgentId> {
        self.draft.queue.iter().find(|view| view.wait.id == wait).map(|view| view.wait.agent)
    }

    fn can_block(&self, holder: AgentId, requester: AgentId) -> bool {
        self.draft.view().can_block(holder, requester)
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
        // Whoever took its lease last has the least to lose by giving it back.
        let youngest = way.iter().filter_map(|edge| edge.lease.as_ref()).max_by_key(|lease| lease.fence);
        let yielder =
            youngest.map(|lease| (self.draft.name_of(lease.holder), lease.id, lease.target.display()));
        let steps = way.into_iter().map(|edge| CircleStep {
            agent: self.draft.name_of(edge.from),
            waits_for: edge.what,
            of: self.draft.name_of(edge.to),
            lease: edge.lease.map(|lease| lease.id),
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

    /// The refusal of whoever would have closed it by waiting. A command to give a lease back is for its holder alone.
    pub(super) fn failure(self, me: &AgentName) -> Failure {
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
            (None, _) => failure.hint("leave the queue where others wait behind you: clearway wait --cancel"),
        };
        failure.hint("work on something else meanwhile").details(Details::Circle(Box::new(self)))
    }

    /// The lease by which an agent is a part of it, and who waits for that.
    fn lease_of(&self, me: &AgentName) -> Option<(&str, &LeaseId, &AgentName)> {
        let step = self.steps.iter().find(|step| step.of == *me)?;
        Some((&step.waits_for, step.lease.as_ref()?, &step.agent))
    }

    /// The leases that hold it together.
    fn leases(&self) -> Vec<LeaseId> {
        self.steps.iter().filter_map(|step| step.lease).collect()
    }
}

impl Draft<'_> {
    pub(super) fn record_deadlock(
        &mut self,
        actor: Actor,
        targets: Vec<String>,
        mode: Mode,
        circle: &Circle,
    ) {
        let blockers = circle.leases();
        let key = format!("deadlock {} {targets:?} {blockers:?}", mode.word());
        self.refuse(actor, key, |repeats| Body::ReservationRefused { targets, mode, blockers, repeats });
    }
}
