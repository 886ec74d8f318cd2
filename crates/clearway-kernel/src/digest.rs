//! A night in few lines: what agents did since an instant, and what waits for a person.

use crate::ledger::{AgentCost, Cost};
use crate::overwritten::{OverwrittenFile, overwritten};
use crate::session::Session;
use clearway_core::agent::AgentName;
use clearway_core::event::{Body, Event};
use clearway_core::failure::Failure;
use clearway_core::ids::{AgentId, LeaseId, Seq, WaitId};
use clearway_core::limits::EVENTS_PER_READ;
use clearway_core::pattern::Fold;
use clearway_core::time::{Now, Wall};
use clearway_core::wait::Wait;
use clearway_store::contract::{Snapshot, StoreError};
use clearway_wire::canonical;
use std::collections::BTreeMap;

/// What happened since an instant.
#[derive(Clone, Debug)]
pub struct Digest {
    /// The revision looked at.
    pub rev: Seq,
    /// The instant looked back from.
    pub now: Now,
    /// How far.
    pub since: Wall,
    /// Events of that time.
    pub events: u64,
    /// Who committed how often, as git tells it; `None` if git cannot tell.
    pub commits: Option<Vec<(String, u64)>>,
    /// Who did something, the busiest first.
    pub agents: Vec<(String, Deeds)>,
    /// The longest that anybody waited.
    pub longest_wait: Option<LongestWait>,
    /// Leases that were taken from somebody who was gone.
    pub taken_over: Vec<Passed>,
    /// Changes that somebody left behind who ended.
    pub left_behind: Vec<Passed>,
    /// Files of somebody that somebody else wrote.
    pub overwritten: Vec<OverwrittenFile>,
    /// Acts of operators, with the kinds of their events.
    pub operator_acts: Vec<(String, &'static str)>,
    /// Acts that were denied.
    pub denied: u64,
    /// What hooks said.
    pub cost: Cost,
    /// What needs a person now.
    pub needs: Vec<String>,
}

/// What one agent did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deeds {
    /// Leases it got.
    pub leases: u64,
    /// How often it was refused something.
    pub refused: u64,
    /// How often it waited.
    pub waits: u64,
    /// How long together.
    pub waited_ms: u64,
}

/// A wait that was longer than every other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongestWait {
    /// Who.
    pub agent: String,
    /// For what.
    pub target: String,
    /// How long.
    pub ms: u64,
    /// Whether it goes on.
    pub is_open: bool,
}

/// A lease that went from somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    /// On what.
    pub target: String,
    /// Whose it was.
    pub from: String,
    /// Who has it; `None` for nobody.
    pub to: Option<String>,
}

impl Session<'_> {
    /// What happened since an instant of the wall clock.
    pub fn digest(&mut self, since: Wall) -> Result<Digest, Failure> {
        let status = self.status()?;
        let events = self.events_since(since, status.rev)?;
        let names = self.agent_names()?;
        let cost = self.cost_since(since)?;
        let mut tally = Tally::default();
        events.iter().for_each(|event| tally.add(event));
        let open = tally.open.values().cloned().collect::<Vec<Wait>>();
        open.iter().for_each(|wait| tally.waited(wait, status.now.wall, true));
        for (name, agent) in &cost.agents {
            tally.refused_by_hooks(names.iter().find(|(_, known)| known.as_str() == name), *agent);
        }
        let targets = self.lease_names(&tally.leases())?;
        let name_of = |id: AgentId| names.get(&id).map_or_else(|| id.to_string(), ToString::to_string);
        let passed = |(lease, from, to): &(LeaseId, AgentId, Option<AgentId>)| Passed {
            target: targets.get(lease).cloned().unwrap_or_else(|| lease.to_string()),
            from: name_of(*from),
            to: to.map(name_of),
        };
        let mut agents: Vec<(String, Deeds)> =
            tally.deeds.iter().map(|(id, deeds)| (name_of(*id), *deeds)).collect();
        agents.sort_by_key(|(name, deeds)| (std::cmp::Reverse(deeds.leases + deeds.refused), name.clone()));
        let longest_wait = tally.longest.take().map(|(agent, target, ms, is_open)| LongestWait {
            agent: name_of(agent),
            target,
            ms,
            is_open,
        });
        Ok(Digest {
            rev: status.rev,
            since,
            events: events.len() as u64,
            commits: self.outside.commits_since(&self.site, since),
            agents,
            longest_wait,
            taken_over: tally.taken_over.iter().map(passed).collect(),
            left_behind: tally.left_behind.iter().map(passed).collect(),
            overwritten: overwritten(&events, &name_of),
            operator_acts: tally
                .acts
                .iter()
                .map(|(id, kind)| (id.map_or_else(|| "a person".to_owned(), name_of), *kind))
                .collect(),
            denied: tally.denied,
            cost,
            needs: status.warnings,
            now: status.now,
        })
    }

    /// The events of the end of the log whose time is not before an instant, in order.
    pub(crate) fn events_since(&mut self, since: Wall, head: Seq) -> Result<Vec<Event>, Failure> {
        self.some_events_since(since, head, &|_| true)
    }

    /// Those of them that are of a kind which is asked for; the others are not read to their ends.
    pub(crate) fn some_events_since(
        &mut self,
        since: Wall,
        head: Seq,
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<Event>, Failure> {
        let fold = self.fold()?;
        let found = self.read(|snapshot| late_events(snapshot, since, head, fold, is_wanted))?;
        Ok(found.unwrap_or_default())
    }

    fn agent_names(&mut self) -> Result<BTreeMap<AgentId, AgentName>, Failure> {
        let agents = self.agents()?.agents;
        Ok(agents.into_iter().map(|seen| (seen.view.agent.id, seen.view.agent.name)).collect())
    }
}

/// The same of a snapshot that is at hand.
pub(crate) fn late_events(
    snapshot: &mut dyn Snapshot,
    since: Wall,
    head: Seq,
    fold: Fold,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<Event>, StoreError> {
    let (mut found, mut last) = (Vec::new(), head.0);
    while last > 0 {
        let after = last.saturating_sub(EVENTS_PER_READ as u64);
        let page = snapshot.events(Seq(after), (last - after) as usize)?;
        let stamps: Vec<_> = page.iter().map(|stored| canonical::stamp(&stored.bytes).ok()).collect();
        let is_newer = |(kind, at): (&str, Wall)| at >= since && is_wanted(kind);
        let wanted = page.iter().zip(&stamps).filter(|(_, stamp)| stamp.is_some_and(is_newer));
        let newer: Vec<Event> = wanted
            .filter_map(|(stored, _)| canonical::decode(stored.seq, &stored.bytes, fold).ok())
            .collect();
        found.splice(..0, newer);
        if stamps.iter().flatten().any(|(_, at)| *at < since) {
            break;
        }
        last = after;
    }
    Ok(found)
}

/// What events add up to.
#[derive(Debug, Default)]
struct Tally {
    deeds: BTreeMap<AgentId, Deeds>,
    open: BTreeMap<WaitId, Wait>,
    longest: Option<(AgentId, String, u64, bool)>,
    taken_over: Vec<(LeaseId, AgentId, Option<AgentId>)>,
    left_behind: Vec<(LeaseId, AgentId, Option<AgentId>)>,
    acts: Vec<(Option<AgentId>, &'static str)>,
    denied: u64,
}

impl Tally {
    fn add(&mut self, event: &Event) {
        match &event.body {
            Body::LeaseGranted(lease) => self.deeds.entry(lease.holder).or_default().leases += 1,
            Body::ReservationRefused { repeats, .. } => {
                if let Some(agent) = event.actor.agent {
                    self.deeds.entry(agent).or_default().refused += 1 + repeats;
                }
            }
            Body::WaitBegan(wait) => {
                self.deeds.entry(wait.agent).or_default().waits += 1;
                self.open.insert(wait.id, wait.clone());
            }
            Body::WaitEnded { wait, .. } => {
                if let Some(wait) = self.open.remove(wait) {
                    self.waited(&wait, event.at, false);
                }
            }
            Body::LeaseTakenOver { lease, holder, to } => self.taken_over.push((*lease, *holder, Some(*to))),
            Body::LeaseOrphaned { lease, holder } => self.left_behind.push((*lease, *holder, None)),
            Body::ActionDenied { repeats, .. } => self.denied += 1 + repeats,
            body if is_act_of_operator(body) => self.acts.push((event.actor.agent, body.kind())),
            _ => {}
        }
    }

    fn waited(&mut self, wait: &Wait, end: Wall, is_open: bool) {
        let ms = u64::try_from(end.0 - wait.created_at.0).unwrap_or(0);
        self.deeds.entry(wait.agent).or_default().waited_ms += ms;
        if self.longest.as_ref().is_none_or(|(_, _, longest, _)| ms > *longest) {
            let target = wait.wanted.wants.first().map(|want| want.target.display()).unwrap_or_default();
            self.longest = Some((wait.agent, target, ms, is_open));
        }
    }

    /// A hook's refusal keeps a place in the queue and leaves no event of a refusal; one that is not enforced leaves the
    /// event, and nobody was refused anything.
    fn refused_by_hooks(&mut self, agent: Option<(&AgentId, &AgentName)>, cost: AgentCost) {
        if let Some((id, _)) = agent.filter(|_| cost.refused + cost.let_pass > 0) {
            let deeds = self.deeds.entry(*id).or_default();
            deeds.refused = (deeds.refused + cost.refused).saturating_sub(cost.let_pass);
        }
    }

    fn leases(&self) -> Vec<LeaseId> {
        self.taken_over.iter().chain(&self.left_behind).map(|(lease, ..)| *lease).collect()
    }
}

fn is_act_of_operator(body: &Body) -> bool {
    matches!(
        body,
        Body::LeaseReleased { operator_reason: Some(_), .. }
            | Body::LeaseRenewed { operator_reason: Some(_), .. }
            | Body::LeaseTransferred { operator_reason: Some(_), .. }
            | Body::WaitEnded { operator_reason: Some(_), .. }
            | Body::EpochBegan { operator_reason: Some(_), .. }
            | Body::ScopeFrozen { .. }
            | Body::ScopeThawed { .. }
            | Body::CommitAllowed { .. }
    )
}
