//! The model: an engine in memory, simple enough to be right by reading. State is the fold, a load is a filter
//! over it, a transaction is a copy that replaces the original on commit.

use crate::contract::{
    Capabilities, Engine, Examination, Head, LeaseListing, Listed, LostTexts, Remembered, Snapshot,
    StoreError, StoredEvent, Transaction, checked_text, in_order,
};
use clearway_core::agent::SignOfLife;
use clearway_core::event::{Durability, Event};
use clearway_core::fold::State;
use clearway_core::ids::{AgentId, ScopeKey, Seq, WaitId};
use clearway_core::lease::Lease;
use clearway_core::limits::{IDEMPOTENCY_KEYS_MAX, IDEMPOTENCY_MS};
use clearway_core::mail::{Entry, Letter, MailRead, MailSlice, Mailbox, Message, Role, Standing, Which};
use clearway_core::negotiation::Negotiation;
use clearway_core::pattern::Pattern;
use clearway_core::slice::{AgentLookup, AgentView, Due, Memo, ReadSet, RefusalMemory, Slice, Soft};
use clearway_core::time::{BootKey, Mono, Now};
use clearway_core::wait::{Wait, WaitView};
use std::collections::{BTreeMap, BTreeSet};

/// Scopes in memory.
#[derive(Debug, Default)]
pub struct MemoryEngine {
    scopes: BTreeMap<ScopeKey, Scope>,
    generous: bool,
}

impl MemoryEngine {
    /// One that answers every question with every lease there is, which the contract allows.
    pub fn generous() -> Self {
        Self { generous: true, ..Self::default() }
    }
}

/// Everything about one scope.
#[derive(Clone, Debug, Default)]
struct Scope {
    state: State,
    log: Vec<StoredEvent>,
    seen: BTreeMap<AgentId, (BootKey, Mono)>,
    memos: BTreeMap<AgentId, (BootKey, Memo)>,
    refusals: BTreeMap<String, (BootKey, RefusalMemory)>,
    heard: BTreeMap<WaitId, (BootKey, Mono)>,
    remembered: Vec<Keyed>,
    texts: BTreeMap<Seq, String>,
    generous: bool,
}

/// A remembered outcome and when, on which clock.
#[derive(Clone, Debug)]
struct Keyed {
    boot: BootKey,
    at: Mono,
    remembered: Remembered,
}

impl Keyed {
    /// What another boot remembered has no age on this clock; it stays until its place is needed.
    fn is_forgotten(&self, now: &Now) -> bool {
        self.boot == now.boot && now.mono.since(self.at) >= IDEMPOTENCY_MS
    }
}

impl Engine for MemoryEngine {
    fn capabilities(&self) -> Capabilities {
        Capabilities { engine: "memory", version: "model".to_owned(), durable: false }
    }

    fn begin(
        &mut self,
        scope: &ScopeKey,
        create: bool,
    ) -> Result<Option<Box<dyn Transaction + '_>>, StoreError> {
        if !create && !self.scopes.contains_key(scope) {
            return Ok(None);
        }
        let generous = self.generous;
        let place =
            self.scopes.entry(scope.clone()).or_insert_with(|| Scope { generous, ..Scope::default() });
        Ok(Some(Box::new(Copy { work: place.clone(), place })))
    }

    fn snapshot(&mut self, scope: &ScopeKey) -> Result<Option<Box<dyn Snapshot + '_>>, StoreError> {
        Ok(self.scopes.get(scope).map(|scope| Box::new(scope.clone()) as Box<dyn Snapshot>))
    }

    fn scopes(&mut self) -> Result<Vec<ScopeKey>, StoreError> {
        let written = self.scopes.iter().filter(|(_, scope)| scope.state.scope.rev.0 > 0);
        Ok(written.map(|(key, _)| key.clone()).collect())
    }

    fn changed(&mut self, scope: &ScopeKey, after: Seq, _wait_ms: u64) -> Result<bool, StoreError> {
        Ok(self.scopes.get(scope).is_some_and(|scope| scope.state.scope.rev > after))
    }

    fn examine(&mut self, scope: &ScopeKey) -> Result<Examination, StoreError> {
        Ok(Examination { exists: self.scopes.contains_key(scope), ..Examination::default() })
    }

    fn witness(&mut self, _scope: &ScopeKey) -> Result<Option<Head>, StoreError> {
        Ok(None)
    }

    fn make_room(&mut self, _scope: &ScopeKey) -> Result<bool, StoreError> {
        Ok(false)
    }

    fn flush(&mut self, _scope: &ScopeKey) -> Result<(), StoreError> {
        Ok(())
    }

    fn rebuild(&mut self, scope: &ScopeKey, state: &State) -> Result<(), StoreError> {
        if let Some(scope) = self.scopes.get_mut(scope) {
            scope.state = state.clone();
        }
        Ok(())
    }
}

/// A transaction: the work, and where it goes.
#[derive(Debug)]
struct Copy<'a> {
    work: Scope,
    place: &'a mut Scope,
}

impl Scope {
    fn view(&self, agent: AgentId, now: &Now) -> Option<AgentView> {
        let held = || self.live().filter(|lease| lease.holder == agent);
        Some(AgentView {
            agent: self.state.agents.get(&agent)?.clone(),
            sign: self.sign(agent, now),
            live_leases: held().count() as u64,
            shortest_ttl_ms: held().map(|lease| lease.ttl_ms).min(),
            memo: self.memo(agent, now),
        })
    }

    fn queue(&self, now: &Now) -> Vec<WaitView> {
        let heard = |id: WaitId| self.heard.get(&id).filter(|(boot, _)| *boot == now.boot).map(|(_, at)| *at);
        let view = |wait: &Wait| WaitView { wait: wait.clone(), heard: heard(wait.id) };
        let mut queue: Vec<WaitView> = self.state.waits.values().map(view).collect();
        queue.sort_by_key(|view| view.wait.place);
        queue
    }

    fn live(&self) -> impl Iterator<Item = &Lease> {
        self.state.leases.values().filter(|lease| lease.ended.is_none())
    }

    fn is_due(&self, lease: &Lease, now: &Now) -> bool {
        lease.is_expired(self.seen(lease.holder, now), now.mono)
    }

    fn seen(&self, agent: AgentId, now: &Now) -> Option<Mono> {
        self.sign(agent, now).and_then(SignOfLife::seen)
    }

    /// The last sign of life in this boot.
    fn sign(&self, agent: AgentId, now: &Now) -> Option<SignOfLife> {
        let stored = self.seen.get(&agent).filter(|(boot, _)| *boot == now.boot);
        stored.map(|(_, at)| SignOfLife::judged(*at, now.mono))
    }

    fn memo(&self, agent: AgentId, now: &Now) -> Memo {
        let memo = self.memos.get(&agent).filter(|(boot, _)| *boot == now.boot);
        memo.map(|(_, memo)| memo.clone()).unwrap_or_default()
    }

    /// A refusal of another boot is no repetition in this one.
    fn refusal(&self, principal: &str, now: &Now) -> Option<RefusalMemory> {
        self.refusals.get(principal).filter(|(boot, _)| *boot == now.boot).map(|(_, memory)| memory.clone())
    }

    /// Whether a lease is in the answer. The model is as stingy as the contract allows, so that a decision which
    /// relies on more than it asked for fails here; a generous one shows that more changes nothing.
    fn answers(&self, read: &ReadSet, lease: &Lease) -> bool {
        use clearway_core::target::Target;
        let overlaps = |(worktree, pattern): &(_, Pattern)| {
            lease.ended.is_none()
                && *worktree == lease.worktree
                && matches!(&lease.target, Target::Path(own) if own.collides_with(pattern))
        };
        let is_wider =
            |own: &Pattern, path: &Pattern| own.as_literal().is_none() && own.is_anchored_above(path);
        let was_there = |(worktree, pattern): &(_, _)| {
            lease.ended.is_some()
                && *worktree == lease.worktree
                && matches!(&lease.target, Target::Path(own) if own == pattern || is_wider(own, pattern))
        };
        let is_name =
            |name| lease.ended.is_none() && matches!(&lease.target, Target::Name(own) if own == name);
        self.generous
            || read.overlapping.iter().any(overlaps)
            || read.names.iter().any(is_name)
            || read.leases.contains(&lease.id)
            || (lease.ended.is_none() && read.held_by.contains(&lease.holder))
            || read.history.iter().any(was_there)
    }

    fn due(&self, read: &ReadSet, now: &Now) -> Vec<Lease> {
        let mut overdue: Vec<Lease> = self.live().filter(|lease| self.is_due(lease, now)).cloned().collect();
        overdue.sort_by_key(|lease| (lease.deadline_given(self.seen(lease.holder, now)), lease.id));
        match read.due {
            Due::None => Vec::new(),
            Due::Some(limit) => overdue.into_iter().take(limit).collect(),
            Due::EveryLive => self.live().cloned().collect(),
        }
    }

    fn looked_up(&self, lookup: &AgentLookup) -> impl Iterator<Item = AgentId> {
        let asked = self.state.agents.values().filter(|agent| {
            lookup.names.contains(&agent.name)
                || lookup.keys.contains(&agent.key)
                || lookup.ids.contains(&agent.id)
                || agent.process.as_ref().is_some_and(|process| lookup.processes.contains(process))
        });
        asked.map(|agent| agent.id)
    }

    /// Open requests, and those that were named, each with its lease.
    fn negotiations(&self, read: &ReadSet, leases: &mut Vec<Lease>) -> Vec<Negotiation> {
        let is_wanted = |negotiation: &&Negotiation| {
            (read.waits && negotiation.is_open()) || read.negotiations.contains(&negotiation.id)
        };
        let found: Vec<Negotiation> = self.state.negotiations.values().filter(is_wanted).cloned().collect();
        for lease in found.iter().filter_map(|negotiation| self.state.leases.get(&negotiation.lease)) {
            if !leases.iter().any(|known| known.id == lease.id) {
                leases.push(lease.clone());
            }
        }
        found
    }

    fn wanted_agents(
        &self,
        read: &ReadSet,
        leases: &[Lease],
        waits: &[WaitView],
        negotiations: &[Negotiation],
        now: &Now,
    ) -> Vec<AgentId> {
        let holders = leases.iter().map(|lease| lease.holder);
        let waiters = waits.iter().map(|view| view.wait.agent);
        let sides = negotiations.iter().flat_map(|asked| [asked.requester, asked.holder]);
        let remembered = self.memos.keys().copied().filter(|_| read.remembered);
        let looked_up = self.looked_up(&read.agents);
        let mut ids: Vec<AgentId> =
            looked_up.chain(holders).chain(waiters).chain(sides).chain(remembered).collect();
        if read.mail.everyone {
            let seen = self.seen.iter().filter(|(_, (boot, _))| *boot == now.boot).map(|(agent, _)| *agent);
            let is_here =
                |agent: &AgentId| self.state.agents.get(agent).is_some_and(|agent| agent.ended_at.is_none());
            ids.extend(seen.filter(is_here));
        }
        let mut index = 0;
        while index < ids.len() {
            let parent = self.state.agents.get(&ids[index]).and_then(|agent| agent.parent);
            ids.extend(parent.filter(|parent| !ids.contains(parent)));
            index += 1;
        }
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}

/// Mail.
impl Scope {
    fn mail(&self, read: &MailRead, agents: &[AgentId]) -> MailSlice {
        let named = read.ids.iter().filter_map(|id| self.state.mail.named(id));
        let named = named.map(|message| self.letter(message, read.alone, read.texts));
        let oldest = self.state.mail.messages.values().take(read.oldest);
        let oldest =
            oldest.map(|message| Letter { message: message.clone(), entries: Vec::new(), text: None });
        let found = read.mailbox.iter().flat_map(|mailbox| self.mailbox(mailbox));
        let found = found.filter_map(|(of, seq)| {
            Some(self.letter(self.state.mail.messages.get(&seq)?, Some(of), read.texts))
        });
        let rules = agents.iter().filter(|_| read.rules);
        let rules = rules.filter_map(|agent| Some((*agent, self.state.mail.rules.get(agent)?.clone())));
        let count = if read.count { self.state.mail.messages.len() as u64 } else { 0 };
        let mut slice = MailSlice { rules: rules.collect(), letters: Vec::new(), count };
        slice
            .merge(MailSlice { letters: named.chain(found).chain(oldest).collect(), ..MailSlice::default() });
        slice
    }

    fn mailbox(&self, mailbox: &Mailbox) -> Vec<(AgentId, Seq)> {
        let is_wanted = |entry: &&Entry| match mailbox.which {
            Which::Unread => entry.standing == Standing::Unread,
            Which::Unsettled => {
                entry.standing != Standing::Kept && (entry.owes_ack || entry.role == Role::From)
            }
            Which::Before(seq) => entry.seq < seq,
        };
        let range = (mailbox.of, Seq(0))..=(mailbox.of, Seq(u64::MAX));
        let own = self.state.mail.entries.range(range).map(|(_, entry)| entry);
        let mut found: Vec<&Entry> = own.filter(is_wanted).collect();
        match mailbox.which {
            Which::Before(_) => found.sort_by_key(|entry| std::cmp::Reverse(entry.seq)),
            _ => found.sort_by_key(|entry| (entry.importance, entry.seq)),
        }
        found.into_iter().take(mailbox.limit).map(|entry| (mailbox.of, entry.seq)).collect()
    }

    fn letter(&self, message: &Message, of: Option<AgentId>, with_text: bool) -> Letter {
        let everyone = std::iter::once(message.from).chain(message.recipients.iter().map(|one| one.agent));
        let readers = everyone.filter(|agent| of.is_none_or(|of| of == *agent));
        let entries = readers.filter_map(|agent| self.state.mail.entries.get(&(agent, message.seq)).cloned());
        let text = with_text.then(|| self.texts.get(&message.seq).cloned()).flatten();
        Letter { message: message.clone(), entries: entries.collect(), text: checked_text(message, text) }
    }
}

impl Snapshot for Scope {
    fn load(&mut self, read: &ReadSet, now: &Now) -> Result<Slice, StoreError> {
        let mut leases: Vec<Lease> =
            self.state.leases.values().filter(|lease| self.answers(read, lease)).cloned().collect();
        for lease in self.due(read, now) {
            if !leases.iter().any(|known| known.id == lease.id) {
                leases.push(lease);
            }
        }
        let waits = if read.waits { self.queue(now) } else { Vec::new() };
        let negotiations = self.negotiations(read, &mut leases);
        let agents_found = self.wanted_agents(read, &leases, &waits, &negotiations, now);
        Ok(in_order(Slice {
            scope: self.state.scope.clone(),
            agents: agents_found.iter().filter_map(|agent| self.view(*agent, now)).collect(),
            leases,
            unreadable: Vec::new(),
            unreadable_waits: Vec::new(),
            refusal: read.refusals_of.as_ref().and_then(|principal| self.refusal(principal, now)),
            waits,
            surveyed: BTreeSet::new(),
            mail: self.mail(&read.mail, &agents_found),
            negotiations,
        }))
    }

    fn head(&mut self) -> Result<Head, StoreError> {
        Ok(self.log.last().map_or(Head::EMPTY, |event| Head { rev: event.seq, hash: event.hash }))
    }

    fn events(&mut self, after: Seq, limit: usize) -> Result<Vec<StoredEvent>, StoreError> {
        Ok(self.log.iter().filter(|event| event.seq > after).take(limit).cloned().collect())
    }

    fn leases(&mut self, wanted: LeaseListing, _now: &Now) -> Result<Listed, StoreError> {
        let mut ended: Vec<Lease> =
            self.state.leases.values().filter(|lease| lease.ended.is_some()).cloned().collect();
        ended.sort_by_key(|lease| std::cmp::Reverse(lease.fence));
        let keep = if let LeaseListing::WithEnded(limit) = wanted { limit } else { 0 };
        let mut leases: Vec<Lease> = ended.into_iter().take(keep).chain(self.live().cloned()).collect();
        leases.sort_by_key(|lease| lease.fence);
        Ok(Listed { leases, unreadable: Vec::new() })
    }

    fn agents(&mut self, now: &Now) -> Result<Vec<AgentView>, StoreError> {
        Ok(self.state.agents.keys().filter_map(|agent| self.view(*agent, now)).collect())
    }

    fn recall(&mut self, agent: AgentId, key: &str, now: &Now) -> Result<Option<Remembered>, StoreError> {
        let same = |keyed: &&Keyed| keyed.remembered.agent == agent && keyed.remembered.key == key;
        let found = self.remembered.iter().find(same).filter(|keyed| !keyed.is_forgotten(now));
        Ok(found.map(|keyed| keyed.remembered.clone()))
    }

    fn projection(&mut self) -> Result<State, StoreError> {
        Ok(self.state.clone())
    }

    fn lost_texts(&mut self) -> Result<LostTexts, StoreError> {
        let mut lost = LostTexts::default();
        for (seq, message) in &self.state.mail.messages {
            lost.look_at(message, self.texts.get(seq).cloned());
        }
        Ok(lost)
    }
}

impl Snapshot for Copy<'_> {
    fn load(&mut self, read: &ReadSet, now: &Now) -> Result<Slice, StoreError> {
        self.work.load(read, now)
    }

    fn head(&mut self) -> Result<Head, StoreError> {
        self.work.head()
    }

    fn events(&mut self, after: Seq, limit: usize) -> Result<Vec<StoredEvent>, StoreError> {
        self.work.events(after, limit)
    }

    fn leases(&mut self, wanted: LeaseListing, now: &Now) -> Result<Listed, StoreError> {
        self.work.leases(wanted, now)
    }

    fn agents(&mut self, now: &Now) -> Result<Vec<AgentView>, StoreError> {
        self.work.agents(now)
    }

    fn recall(&mut self, agent: AgentId, key: &str, now: &Now) -> Result<Option<Remembered>, StoreError> {
        self.work.recall(agent, key, now)
    }

    fn projection(&mut self) -> Result<State, StoreError> {
        self.work.projection()
    }

    fn lost_texts(&mut self) -> Result<LostTexts, StoreError> {
        self.work.lost_texts()
    }
}

impl Transaction for Copy<'_> {
    fn append(&mut self, event: &StoredEvent) -> Result<(), StoreError> {
        self.work.log.push(event.clone());
        Ok(())
    }

    fn apply(&mut self, event: &Event) -> Result<(), StoreError> {
        use clearway_core::event::Body;
        use clearway_core::fold::FoldError;
        let name_taken = |name| self.work.state.agents.values().any(|agent| agent.name == name);
        if matches!(&event.body, Body::AgentRegistered(agent) if name_taken(agent.name.clone())) {
            return Err(StoreError::IdTaken);
        }
        self.work.state.apply(event).map_err(|error| match error {
            FoldError::Twice { .. } => StoreError::IdTaken,
            other => StoreError::Internal(other.to_string()),
        })
    }

    fn soften(&mut self, soft: &Soft, now: &Now) -> Result<(), StoreError> {
        match soft {
            Soft::Seen { agent, at } => {
                self.work.seen.insert(*agent, (now.boot.clone(), *at));
            }
            Soft::Noted { agent, memo } => {
                self.work.memos.insert(*agent, (now.boot.clone(), memo.clone()));
            }
            Soft::Refused(memory) => {
                let of_this_boot = (now.boot.clone(), memory.clone());
                self.work.refusals.insert(memory.principal.clone(), of_this_boot);
            }
            Soft::Heard { wait, at } => {
                self.work.heard.insert(*wait, (now.boot.clone(), *at));
            }
            Soft::MailText { message, text } => {
                self.work.texts.insert(*message, text.clone());
            }
        }
        Ok(())
    }

    fn remember(&mut self, remembered: &Remembered, now: &Now) -> Result<(), StoreError> {
        let kept = &mut self.work.remembered;
        kept.retain(|keyed| {
            (keyed.remembered.agent, &keyed.remembered.key) != (remembered.agent, &remembered.key)
        });
        kept.push(Keyed { boot: now.boot.clone(), at: now.mono, remembered: remembered.clone() });
        let surplus = kept.len().saturating_sub(usize::try_from(IDEMPOTENCY_KEYS_MAX).unwrap_or(usize::MAX));
        kept.drain(..surplus);
        Ok(())
    }

    fn commit(self: Box<Self>, _durability: Durability) -> Result<(), StoreError> {
        *self.place = self.work;
        Ok(())
    }
}
