//! The verbs that look: leases, who, agents, events, status. None of them writes.

use crate::failures::store_failure;
use crate::session::Session;
use crate::targets::path_target;
use clearway_core::agent::{self, AgentName, Liveness};
use clearway_core::decide::identify;
use clearway_core::event::{Body, Event};
use clearway_core::facts::{FactQuery, Facts};
use clearway_core::failure::{Details, Failure, LeaseView};
use clearway_core::ids::{AgentId, LeaseId, Seq};
use clearway_core::lease::Lease;
use clearway_core::limits::EVENTS_PER_READ;
use clearway_core::pattern::Fold;
use clearway_core::slice::{AgentLookup, AgentView, ReadSet, Slice};
use clearway_core::slug::Slug;
use clearway_core::target::Target;
use clearway_core::text::quoted;
use clearway_core::time::Now;
use clearway_store::contract::{LeaseListing, Listed, StoredEvent};
use clearway_wire::canonical;
use clearway_wire::chain::ChainHash;
use std::collections::BTreeMap;

/// Ended leases shown by `leases --history` when nothing narrows them.
const HISTORY_ROWS: usize = 1_000;

/// Which leases to show.
#[derive(Clone, Debug, Default)]
pub struct LeaseFilter {
    /// `--agent-name`.
    pub agent: Option<String>,
    /// `--pattern`: those that overlap it.
    pub pattern: Option<String>,
    /// `--history`: ended ones too.
    pub history: bool,
}

/// Leases found.
#[derive(Clone, Debug)]
pub struct Leases {
    /// The revision looked at.
    pub rev: Seq,
    /// The instant.
    pub now: Now,
    /// In the order of their fences. An overdue one is shown as expired, though nobody recorded it yet.
    pub leases: Vec<LeaseView>,
    /// Rows nobody can read.
    pub unreadable: Vec<String>,
}

/// Who holds a path.
#[derive(Clone, Debug)]
pub struct Who {
    /// The revision looked at.
    pub rev: Seq,
    /// The instant.
    pub now: Now,
    /// The path or pattern asked about.
    pub path: String,
    /// Everyone whose lease overlaps it.
    pub holders: Vec<LeaseView>,
}

/// Agents found.
#[derive(Clone, Debug)]
pub struct Agents {
    /// The revision looked at.
    pub rev: Seq,
    /// The instant.
    pub now: Now,
    /// In the order they came.
    pub agents: Vec<AgentSeen>,
}

/// One agent as an onlooker sees it.
#[derive(Clone, Debug)]
pub struct AgentSeen {
    /// The agent.
    pub view: AgentView,
    /// How alive it looks.
    pub liveness: Liveness,
}

/// Which events to show.
#[derive(Clone, Debug, Default)]
pub struct EventFilter {
    /// `--from`: the first seq to show, or `SEQ@HASH`: continue after that event, which must still be there.
    pub from: Option<String>,
    /// `--limit`.
    pub limit: Option<usize>,
    /// `--kind`.
    pub kind: Option<String>,
    /// `--agent-name`.
    pub agent: Option<String>,
}

/// Events found, and where to go on.
#[derive(Clone, Debug)]
pub struct Events {
    /// In order.
    pub events: Vec<EventSeen>,
    /// The last event looked at, shown or not.
    pub last: Seq,
}

/// One event with names for ids.
#[derive(Clone, Debug)]
pub struct EventSeen {
    /// The event.
    pub event: Event,
    /// Its hash.
    pub hash: ChainHash,
    /// The actor's name.
    pub agent: Option<AgentName>,
}

/// One look at everything.
#[derive(Clone, Debug)]
pub struct Status {
    /// The revision looked at.
    pub rev: Seq,
    /// The instant.
    pub now: Now,
    /// Who the caller is here, if it is known.
    pub me: Option<(AgentId, AgentName)>,
    /// Every agent that is not gone, and every gone one that still holds something.
    pub agents: Vec<AgentSeen>,
    /// Live leases.
    pub leases: Vec<LeaseView>,
    /// What needs a person.
    pub warnings: Vec<String>,
}

impl Session<'_> {
    /// Lists leases.
    pub fn leases(&mut self, filter: &LeaseFilter) -> Result<Leases, Failure> {
        let pattern =
            filter.pattern.as_deref().map(|text| path_target(self.outside, &self.site, text)).transpose()?;
        let wanted = if filter.history { LeaseListing::WithEnded(HISTORY_ROWS) } else { LeaseListing::Live };
        let mut found = self.look(wanted)?;
        let here = self.site.worktree();
        found.leases.retain(|view| {
            let by_agent = filter.agent.as_ref().is_none_or(|name| view.agent.as_str() == name);
            let by_pattern = pattern
                .as_ref()
                .is_none_or(|pattern| view.lease.worktree == here && view.lease.target.overlaps(pattern));
            by_agent && by_pattern && (filter.history || view.lease.ended.is_none())
        });
        Ok(found)
    }

    /// Tells who holds a path or pattern.
    pub fn who(&mut self, argument: &str) -> Result<Who, Failure> {
        let target = path_target(self.outside, &self.site, argument)?;
        let here = self.site.worktree();
        let now = self.now()?;
        let mut read = ReadSet::default();
        read.meet(&here, &target);
        read.history.clear();
        let slice = self.read(|snapshot| snapshot.load(&read, &now))?.unwrap_or_default();
        let live: Vec<Lease> = slice
            .leases
            .iter()
            .filter(|lease| lease.worktree == here && lease.target.overlaps(&target))
            .cloned()
            .collect();
        let facts = self.process_facts(&slice.agents);
        let holders = show(&live, &slice.agents, &facts, &now, same_boot(&slice, &now));
        let mut holders: Vec<LeaseView> =
            holders.into_iter().filter(|view| view.lease.ended.is_none()).collect();
        holders.sort_by_key(|view| view.lease.fence);
        Ok(Who { rev: slice.scope.rev, now, path: target.display(), holders })
    }

    /// Lists agents, each with the leases it effectively holds.
    pub fn agents(&mut self) -> Result<Agents, Failure> {
        let found = self.look(LeaseListing::Live)?;
        let Leases { rev, now, leases, .. } = found;
        let views = self.read(|snapshot| snapshot.agents(&now))?.unwrap_or_default();
        let mut held: BTreeMap<AgentId, u64> = BTreeMap::new();
        for view in leases.iter().filter(|view| view.lease.ended.is_none()) {
            *held.entry(view.lease.holder).or_default() += 1;
        }
        let holding = |view: AgentView| AgentView {
            live_leases: held.get(&view.agent.id).copied().unwrap_or(0),
            ..view
        };
        let views: Vec<AgentView> = views.into_iter().map(holding).collect();
        let facts = self.process_facts(&views);
        Ok(Agents { rev, agents: seen(views, &facts, &now), now })
    }

    /// What `sweep` would record.
    pub fn overdue(&mut self) -> Result<(Seq, Vec<LeaseId>), Failure> {
        let found = self.look(LeaseListing::Live)?;
        let over = found.leases.iter().filter(|view| view.lease.ended.is_some());
        Ok((found.rev, over.map(|view| view.lease.id).collect()))
    }

    /// Reads the log.
    pub fn events(&mut self, filter: &EventFilter) -> Result<Events, Failure> {
        if let Some(kind) = filter.kind.as_deref().filter(|kind| !Body::KINDS.contains(kind)) {
            let message = format!("no event has the kind {}", quoted(kind));
            return Err(Failure::new(Slug::Usage, message).hint(format!("kinds: {}", Body::KINDS.join(", "))));
        }
        let after = self.start_of(filter)?;
        let limit = filter.limit.unwrap_or(usize::MAX);
        let fold = self.fold()?;
        let names = self.names()?;
        let mut found = Events { events: Vec::new(), last: after };
        while found.events.len() < limit {
            let last = found.last;
            let batch = self.read(|snapshot| snapshot.events(last, EVENTS_PER_READ))?.unwrap_or_default();
            let ends = batch.len() < EVENTS_PER_READ;
            for stored in batch {
                if found.events.len() == limit {
                    break;
                }
                found.last = stored.seq;
                let event = decode(&stored, fold)?;
                let agent = event.actor.agent.and_then(|id| names.get(&id).cloned());
                let seen = EventSeen { event, hash: stored.hash, agent };
                found.events.extend(wanted(filter, &seen).then_some(seen));
            }
            if ends {
                break;
            }
        }
        Ok(found)
    }

    /// Waits until there is something after `after`, at most `wait_ms`.
    pub fn wait_for_events(&mut self, after: Seq, wait_ms: u64) -> Result<bool, Failure> {
        let key = self.site.key.clone();
        self.engine.changed(&key, after, wait_ms).map_err(|error| store_failure(&error))
    }

    /// One look at everything.
    pub fn status(&mut self) -> Result<Status, Failure> {
        let agents = self.agents()?;
        let found = self.look(LeaseListing::Live)?;
        let leases: Vec<LeaseView> =
            found.leases.into_iter().filter(|view| view.lease.ended.is_none()).collect();
        let holds = |id: AgentId| leases.iter().any(|view| view.lease.holder == id);
        let visible = |seen: &AgentSeen| seen.liveness != Liveness::Gone || holds(seen.view.agent.id);
        let agents: Vec<AgentSeen> = agents.agents.into_iter().filter(visible).collect();
        let warnings = warnings(&leases, &found.unreadable);
        let me = self.me()?;
        Ok(Status { rev: found.rev, now: found.now, me, agents, leases, warnings })
    }

    /// Who the caller is in this scope, if it is known here.
    pub fn me(&mut self) -> Result<Option<(AgentId, AgentName)>, Failure> {
        let read = ReadSet { agents: AgentLookup::of(&self.caller), ..ReadSet::default() };
        let now = self.now()?;
        let slice = self.read(|snapshot| snapshot.load(&read, &now))?.unwrap_or_default();
        let known = identify(&slice, &self.caller).ok().and_then(|identified| identified.known);
        Ok(known.map(|view| (view.agent.id, view.agent.name)))
    }

    pub(crate) fn now(&mut self) -> Result<Now, Failure> {
        let outside = &mut *self.outside;
        self.engine.now(&mut || outside.now()).map_err(|error| store_failure(&error))
    }

    fn look(&mut self, wanted: LeaseListing) -> Result<Leases, Failure> {
        let now = self.now()?;
        let found = self.read(|snapshot| {
            let slice = snapshot.load(&ReadSet::default(), &now)?;
            Ok((slice, snapshot.leases(wanted, &now)?, snapshot.agents(&now)?))
        })?;
        let (slice, listed, agents) = found.unwrap_or((Slice::default(), Listed::default(), Vec::new()));
        let facts = self.process_facts(&agents);
        let leases = show(&listed.leases, &agents, &facts, &now, same_boot(&slice, &now));
        Ok(Leases { rev: slice.scope.rev, now, leases, unreadable: listed.unreadable })
    }

    /// What the machine says of the processes behind agents.
    fn process_facts(&mut self, agents: &[AgentView]) -> Facts {
        let queries =
            agents.iter().filter_map(|view| view.agent.process.clone()).map(FactQuery::Process).collect();
        let mut facts = Facts::default();
        self.outside.gather(&queries, &mut facts);
        facts
    }

    fn fold(&mut self) -> Result<Fold, Failure> {
        let now = self.now()?;
        let slice = self.read(|snapshot| snapshot.load(&ReadSet::default(), &now))?.unwrap_or_default();
        Ok(slice.scope.fold)
    }

    fn names(&mut self) -> Result<BTreeMap<AgentId, AgentName>, Failure> {
        let now = self.now()?;
        let agents = self.read(|snapshot| snapshot.agents(&now))?.unwrap_or_default();
        Ok(agents.into_iter().map(|view| (view.agent.id, view.agent.name)).collect())
    }

    /// The event before the first one to show. A cursor with a hash must find its event unchanged.
    fn start_of(&mut self, filter: &EventFilter) -> Result<Seq, Failure> {
        let Some(text) = filter.from.as_deref() else { return Ok(Seq(0)) };
        let bad = || {
            Failure::new(Slug::Usage, format!("--from {} is neither SEQ nor SEQ@HASH", quoted(text)))
                .hint("from the beginning: --from 1")
        };
        let (seq, hash) = match text.split_once('@') {
            Some((seq, hash)) => (seq, Some(ChainHash::from_hex(hash).ok_or_else(bad)?)),
            None => (text, None),
        };
        let seq: u64 = seq.parse().map_err(|_| bad())?;
        let Some(hash) = hash else { return Ok(Seq(seq.saturating_sub(1))) };
        let before = Seq(seq.saturating_sub(1));
        let found = self.read(|snapshot| snapshot.events(before, 1))?.unwrap_or_default();
        match found.first() {
            Some(event) if event.seq == Seq(seq) && event.hash == hash => Ok(Seq(seq)),
            _ => Err(diverged(seq)),
        }
    }
}

fn diverged(seq: u64) -> Failure {
    Failure::new(
        Slug::CursorDiverged,
        format!("the log no longer holds the event {seq} that the cursor points at"),
    )
    .hint("read it again from the beginning: clearway events --from 1")
    .details(Details::Fields(vec![("restart_from", "1".to_owned())]))
}

fn decode(stored: &StoredEvent, fold: Fold) -> Result<Event, Failure> {
    canonical::decode(stored.seq, &stored.bytes, fold).map_err(|error| {
        Failure::new(Slug::StoreCorrupt, format!("event {} cannot be read: {error}", stored.seq))
            .hint("see how far the log can be trusted: clearway audit verify")
    })
}

fn wanted(filter: &EventFilter, seen: &EventSeen) -> bool {
    let by_kind = filter.kind.as_deref().is_none_or(|kind| seen.event.body.kind() == kind);
    let by_agent = filter
        .agent
        .as_deref()
        .is_none_or(|name| seen.agent.as_ref().is_some_and(|own| own.as_str() == name));
    by_kind && by_agent
}

fn same_boot(slice: &Slice, now: &Now) -> bool {
    slice.scope.boot.as_ref() == Some(&now.boot)
}

/// Leases as they effectively are: one whose time is over is shown as expired.
fn show(leases: &[Lease], agents: &[AgentView], facts: &Facts, now: &Now, same_boot: bool) -> Vec<LeaseView> {
    use clearway_core::lease::{End, Ended, ExpiryCause};
    let by_id: BTreeMap<AgentId, &AgentView> = agents.iter().map(|view| (view.agent.id, view)).collect();
    let show_one = |lease: &Lease| {
        let holder = by_id.get(&lease.holder)?;
        let liveness = agent::liveness(&holder.agent, holder.last_seen, facts, now.mono);
        let mut view = LeaseView::new(lease, holder, liveness);
        let over = !same_boot || lease.is_expired(holder.last_seen, now.mono);
        if lease.ended.is_none() && over {
            let cause = if same_boot { lease.expiry_cause(now.mono) } else { ExpiryCause::Reboot };
            view.lease.ended = Some(Ended { how: End::Expired(cause), at: now.wall });
        }
        Some(view)
    };
    leases.iter().filter_map(show_one).collect()
}

fn seen(views: Vec<AgentView>, facts: &Facts, now: &Now) -> Vec<AgentSeen> {
    let judge = |view: AgentView| {
        let liveness = agent::liveness(&view.agent, view.last_seen, facts, now.mono);
        AgentSeen { view, liveness }
    };
    views.into_iter().map(judge).collect()
}

fn warnings(leases: &[LeaseView], unreadable: &[String]) -> Vec<String> {
    let gone = leases.iter().filter(|view| view.liveness == Liveness::Gone);
    let mut found: Vec<String> = gone
        .map(|view| {
            let target = view.lease.target.display();
            format!("{} is gone and still holds {target}: the next to reserve it takes it over", view.agent)
        })
        .collect();
    found
        .extend(unreadable.iter().map(|id| format!("the row of lease {id} cannot be read: clearway doctor")));
    let roots =
        leases.iter().filter(|view| matches!(view.lease.target, Target::Path(ref p) if p.is_root_level()));
    let roots = roots.count();
    if roots > 100 {
        found.push(format!("{roots} patterns without a leading directory slow every request"));
    }
    found
}
