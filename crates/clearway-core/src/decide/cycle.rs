//! Circles of waiting: A waits for what B holds while B waits for what A holds.
//!
//! The graph has an edge from each wait to whoever holds what it waits for, and to whoever is earlier in line for it. An
//! agent goes on when all of its waits are over, and those of its subagents; one whose edit was refused works on
//! elsewhere, so that it waits for nobody by that, but its place is as far off as those who keep it from its turn. What
//! a command runs under is free when that command ends, whatever its agent waits for meanwhile: it goes on when what
//! waits inside of it does. A request that would close a circle is refused at once. A resource with room for several is
//! left out: any one of its holders can end that wait.
//!
//! Edits that are refused by each other stop nobody, and yet none of them is had before somebody gives way, nor is what is
//! asked for in words and hangs on such an edit: a second look counts every refused edit as a wait. Whoever closes a
//! circle by that keeps its place, and all who are part of it are told (`circled.rs`).
//!
//! What is not known yet is taken to stand in the way. Where that makes no circle there is none; where it does, all
//! that was taken for granted is asked for at once, however long the way was.

use super::draft::Draft;
use super::plan::{Planner, Step};
use crate::agent::AgentName;
use crate::command::Reserve;
use crate::event::Actor;
use crate::facts::{FactQuery, Facts, Process, StartedBy};
use crate::failure::{Circle, CircleStep, Details, Failure, LeaseView};
use crate::hint::Hint;
use crate::ids::{AgentId, LeaseId, WaitId};
use crate::lease::{Lease, Mode};
use crate::slug::Slug;
use crate::wait::Wait;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What goes on when something else does.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    /// An agent, as long as it waits for anything.
    Agent(AgentId),
    /// A process that runs a command of an agent.
    Command(AgentId, Process),
    /// A place in the queue, of an agent.
    Place(AgentId, WaitId),
}

impl Node {
    fn agent(&self) -> AgentId {
        match self {
            Self::Agent(agent) | Self::Command(agent, _) | Self::Place(agent, _) => *agent,
        }
    }

    /// What ends a lease.
    fn of_lease(lease: &Lease) -> Self {
        match &lease.bound {
            Some(process) => Self::Command(lease.holder, process.clone()),
            None => Self::Agent(lease.holder),
        }
    }

    fn of_wait(wait: &Wait) -> Self {
        Self::Place(wait.agent, wait.id)
    }
}

/// One waits for another.
#[derive(Clone, Debug)]
struct Edge {
    from: Node,
    to: Node,
    what: String,
    lease: Option<Lease>,
}

/// The circle that a wait would close in which everybody stands still, if there is one.
pub(super) fn find(draft: &Draft<'_>, wait: &Wait) -> Result<Option<Circle>, BTreeSet<FactQuery>> {
    search(Graph::new(draft), wait)
}

/// The circle that a wait closes if whoever was refused an edit waits for that, if there is one.
pub(super) fn find_with_edits(draft: &Draft<'_>, wait: &Wait) -> Result<Option<Circle>, BTreeSet<FactQuery>> {
    let mut waits = draft.queue.iter().map(|view| &view.wait).chain([wait]);
    if !waits.any(Wait::is_of_edit) {
        return Ok(None);
    }
    search(Graph { edits: true, ..Graph::new(draft) }, wait)
}

fn search(mut graph: Graph<'_>, wait: &Wait) -> Result<Option<Circle>, BTreeSet<FactQuery>> {
    let circle = graph.search(wait);
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
    for wait in waits.filter(|wait| !wait.is_of_edit()) {
        let circle = graph.search(wait);
        found.extend(circle.map(|circle| (wait.id, circle)));
    }
    graph.settle(found, BTreeMap::is_empty)
}

/// A lease that somebody should give back, on what.
type Yielded = (AgentName, LeaseId, String);

/// How many circles are looked for behind the first.
const CIRCLES_MORE_MAX: usize = 8;

/// What opens the circles that a wait would still close after the first is opened, as far as is known by now.
fn left_after(draft: &Draft<'_>, circle: &Circle, wait: &Wait) -> Vec<Yielded> {
    let mut trial = draft.clone();
    let (mut more, mut yielder) = (Vec::new(), circle.yielder.clone());
    while let Some((_, lease, _)) = yielder.filter(|_| more.len() < CIRCLES_MORE_MAX) {
        trial.end_lease(lease);
        yielder = find(&trial, wait).ok().flatten().and_then(|circle| circle.yielder);
        more.extend(yielder.clone());
    }
    more
}

/// The queue and the leases as a graph.
#[derive(Debug)]
struct Graph<'a> {
    draft: &'a Draft<'a>,
    /// Whether an agent is taken to go on only when it has what its edits were refused for.
    edits: bool,
    /// What is known, and what was taken for granted.
    facts: Facts,
    /// What was taken for granted.
    assumed: BTreeSet<FactQuery>,
}

impl<'a> Graph<'a> {
    fn new(draft: &'a Draft<'a>) -> Self {
        Self { draft, edits: false, facts: draft.facts.clone(), assumed: BTreeSet::new() }
    }

    /// A circle is one once nothing of it is taken for granted.
    fn settle<F>(self, found: F, is_none: impl FnOnce(&F) -> bool) -> Result<F, BTreeSet<FactQuery>> {
        if self.assumed.is_empty() || is_none(&found) { Ok(found) } else { Err(self.assumed) }
    }

    /// The first circle through a wait. The walk goes on behind it, so that whatever else may be one is known as well.
    fn search(&mut self, me: &Wait) -> Option<Circle> {
        let mut reached: BTreeMap<Node, Edge> = BTreeMap::new();
        let start = Node::of_wait(me);
        let mut open: VecDeque<Edge> = self.blocked_on(&start, me).into();
        let mut found = None;
        while let Some(edge) = open.pop_front() {
            if self.goes_on_with(&edge.to, me) {
                found = found.or_else(|| Some(self.circle(&start, edge, &reached)));
            } else if let Entry::Vacant(unseen) = reached.entry(edge.to.clone()) {
                open.extend(self.leaving(&edge.to, me));
                unseen.insert(edge);
            }
        }
        found
    }

    /// Whether something goes on only when a wait is over.
    fn goes_on_with(&mut self, node: &Node, wait: &Wait) -> bool {
        match node {
            Node::Agent(agent) => *agent == wait.agent && self.keeps_agent(wait),
            Node::Command(holder, process) => self.is_inside(wait, *holder, process),
            Node::Place(_, id) => *id == wait.id,
        }
    }

    /// Whether an agent goes on only when a wait of it is over.
    fn keeps_agent(&self, wait: &Wait) -> bool {
        self.edits || !wait.is_of_edit()
    }

    /// What something waits for: by each wait that it goes on with, and an agent for its subagents that wait, `me` being
    /// about to.
    fn leaving(&mut self, from: &Node, me: &Wait) -> Vec<Edge> {
        let draft = self.draft;
        let mut edges = Vec::new();
        for wait in draft.queue.iter().map(|view| &view.wait) {
            if self.goes_on_with(from, wait) {
                self.take_to_wait(wait);
                edges.extend(self.blocked_on(from, wait));
            }
        }
        if let Node::Agent(above) = from {
            let waits = draft.queue.iter().map(|view| &view.wait).filter(|wait| self.keeps_agent(wait));
            let waiting = waits.map(|wait| wait.agent).chain([me.agent]);
            edges.extend(waiting.filter(|agent| self.is_ancestor(*above, *agent)).map(|to| below(from, to)));
        }
        edges
    }

    /// Whoever waits is taken to be there. Once it is known that its process is not, its place is given up.
    fn take_to_wait(&mut self, wait: &Wait) {
        let client = self.draft.slice.agent(wait.agent).and_then(|view| view.agent.process.as_ref());
        let unknown =
            wait.attached.iter().chain(client).filter(|process| self.facts.process(process).is_none());
        self.assumed.extend(unknown.cloned().map(FactQuery::Process));
    }

    /// Whether a wait keeps a command from ending: the process that waits was started by it, near or far, or the client
    /// of its agent was. Where nobody can see that, a process is taken to wait inside of what its own agent runs.
    fn is_inside(&mut self, wait: &Wait, holder: AgentId, command: &Process) -> bool {
        let client = self.draft.slice.agent(wait.agent).and_then(|view| view.agent.process.as_ref());
        let attached = wait.attached.as_ref().map(|process| (process, wait.agent == holder));
        let client = client.map(|process| (process, false));
        attached.into_iter().chain(client).any(|(process, unseen)| match self.facts.above_of(process) {
            Some(StartedBy::These(above)) => above.contains(command),
            Some(StartedBy::Unseen) => unseen,
            None => {
                self.assumed.insert(FactQuery::AboveOf(process.clone()));
                true
            }
        })
    }

    /// Who keeps a wait from being granted, by the very rule that grants it.
    fn blocked_on(&mut self, from: &Node, wait: &Wait) -> Vec<Edge> {
        let wanted = &wait.wanted;
        let steps = self.steps(wait);
        let edge =
            |to: Node, what: String, lease: Option<Lease>| Edge { from: from.clone(), to, what, lease };
        let mut edges = Vec::new();
        for (want, step) in wanted.wants.iter().zip(steps) {
            let Step::Blocked(blocked) = step else { continue };
            if want.capacity > 1 && wanted.mode == Mode::Exclusive {
                continue;
            }
            edges.extend(blocked.leases.into_iter().map(|LeaseView { lease, .. }| {
                edge(Node::of_lease(&lease), lease.target.display(), Some(lease))
            }));
            let earlier = blocked.ahead.iter().filter_map(|ahead| self.waiter(ahead.wait));
            // Nobody waits for itself by having come earlier.
            let others = earlier.filter(|to| *to != Node::Agent(wait.agent));
            edges.extend(others.map(|to| edge(to, want.target.display(), None)));
        }
        edges
    }

    fn steps(&mut self, wait: &Wait) -> Vec<Step> {
        let Wait { agent, wanted, place, .. } = wait;
        loop {
            match Planner::at(self.draft, *agent, wanted, *place).knowing(&self.facts).plan() {
                Ok(steps) => return steps,
                Err(missing) => {
                    self.facts.assume_the_worst(&missing);
                    self.assumed.extend(missing);
                }
            }
        }
    }

    /// Who waits at a place: an agent, which may wait elsewhere too; what is about to run a command, or the place that an
    /// edit left behind, waits there alone.
    fn waiter(&self, wait: WaitId) -> Option<Node> {
        let wait = self.draft.queue.iter().map(|view| &view.wait).find(|other| other.id == wait)?;
        let is_alone = wait.wanted.bound.is_some() || wait.is_of_edit();
        Some(if is_alone { Node::of_wait(wait) } else { Node::Agent(wait.agent) })
    }

    fn can_block(&self, holder: AgentId, requester: AgentId) -> bool {
        self.draft.can_block(holder, requester)
    }

    fn is_ancestor(&self, above: AgentId, below: AgentId) -> bool {
        above != below && !self.can_block(above, below)
    }

    /// The way back from the edge that closes the circle.
    fn circle(&self, start: &Node, last: Edge, reached: &BTreeMap<Node, Edge>) -> Circle {
        let mut way = vec![last];
        while let Some(edge) =
            way.last().filter(|edge| edge.from != *start).and_then(|edge| reached.get(&edge.from))
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
            agent: self.draft.name_of(edge.from.agent()),
            waits_for: edge.what,
            of: self.draft.name_of(edge.to.agent()),
            lease: edge.lease.as_ref().map(|lease| lease.id),
            kept_by: edge.lease.and_then(|lease| lease.bound).map(|process| process.pid),
        });
        Circle { steps: steps.collect(), yielder }
    }
}

fn below(from: &Node, to: AgentId) -> Edge {
    Edge { from: from.clone(), to: Node::Agent(to), what: SUBAGENT.to_owned(), lease: None }
}

/// What an agent waits for that has one at work.
const SUBAGENT: &str = "its subagent";

impl Circle {
    fn told(&self) -> String {
        let told = |step: &CircleStep| {
            // Whoever is only earlier in line has nothing to give back.
            let is_had = step.lease.is_some() || step.waits_for == SUBAGENT;
            let how = if is_had { "of" } else { "behind" };
            format!("{} waits for {} {how} {}", step.agent, step.waits_for, step.of)
        };
        self.steps.iter().map(told).collect::<Vec<_>>().join(", ")
    }

    /// The refusal of a hand-over that would have closed it.
    pub(super) fn failure_of_transfer(self) -> Failure {
        let message = format!("they would wait for each other for ever: {}", self.told());
        Failure::new(Slug::WouldDeadlock, message)
            .hint("hand it to somebody who waits for nothing; see who waits for what: clearway waits")
            .details(Details::Circle(Box::new(self)))
    }

    /// The refusal of what would have closed it by being taken while the family waits. What was not taken is nothing to
    /// give back.
    fn failure_of_taking(self) -> Failure {
        let message = format!("they would wait for each other for ever: {}", self.told());
        Failure::new(Slug::WouldDeadlock, message)
            .hint("take it when you have what you wait for, or leave the queue: clearway wait --cancel")
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
    /// `more` are the leases of other circles that would be left then.
    fn failure(self, me: &AgentName, more: &[Yielded]) -> Failure {
        let failure = Failure::new(Slug::WouldDeadlock, format!("waiting would never end: {}", self.told()));
        let give_back = |purpose: String, leases: &[&LeaseId]| {
            let ids: Vec<&str> = leases.iter().map(|lease| lease.as_str()).collect();
            Hint::command(&purpose, "release", &ids)
        };
        let failure = match (&self.yielder, self.lease_of(me)) {
            (Some((agent, lease, target)), _) if agent == me => {
                let (own, others): (Vec<&Yielded>, Vec<&Yielded>) =
                    more.iter().partition(|(agent, ..)| agent == me);
                let targets: Vec<&str> = [target.as_str()]
                    .into_iter()
                    .chain(own.iter().map(|(_, _, target)| target.as_str()))
                    .collect();
                let leases: Vec<&LeaseId> =
                    [lease].into_iter().chain(own.iter().map(|(_, lease, _)| lease)).collect();
                let purpose = format!("the least work is lost if you give back {}", targets.join(" and "));
                let failure = failure.hint(give_back(purpose, &leases));
                let left = |(agent, _, target): &&Yielded| {
                    format!("after that {agent} has to give back {target}, too")
                };
                others.iter().map(left).fold(failure, Failure::hint)
            }
            (Some((agent, _, target)), own) => {
                let failure = failure.hint(format!("the least work is lost if {agent} gives back {target}"));
                let yourself = own.map(|(target, lease, waiting)| {
                    give_back(format!("or give back {target} yourself, which {waiting} waits for"), &[lease])
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
    pub(super) fn waits_of_family(&self, of: AgentId) -> impl Iterator<Item = &Wait> {
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

    /// Refuses a request that would close a circle, and records that. A `wait` may close more circles than one, each of
    /// which would refuse it again.
    pub(super) fn refuse_circle(
        &mut self,
        (me, actor): (AgentId, Actor),
        reserve: &Reserve,
        circle: Circle,
        wait: Option<&Wait>,
    ) -> Failure {
        let more = wait.map(|wait| left_after(self, &circle, wait)).unwrap_or_default();
        self.refuse_leases(actor, "deadlock", (reserve.mode, reserve.wants.iter()), circle.leases());
        circle.failure(&self.name_of(me), &more)
    }
}
