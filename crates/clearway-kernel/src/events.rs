//! The verb that reads the log: events in their order, from a cursor on. It writes nothing.

use crate::failures::store_failure;
use crate::session::Session;
use clearway_core::agent::AgentName;
use clearway_core::event::{Body, Event};
use clearway_core::failure::{Details, Failure};
use clearway_core::ids::{AgentId, LeaseId, Seq};
use clearway_core::limits::EVENTS_PER_READ;
use clearway_core::mail::{MailEvent, Role};
use clearway_core::nearest::nearest;
use clearway_core::pattern::Fold;
use clearway_core::slice::ReadSet;
use clearway_core::slug::Slug;
use clearway_core::text::quoted;
use clearway_store::contract::StoredEvent;
use clearway_wire::canonical;
use clearway_wire::chain::ChainHash;
use std::collections::{BTreeMap, BTreeSet};

/// Which events to show.
#[derive(Clone, Debug, Default)]
pub struct EventFilter {
    /// `--from`: the first seq to show, or `SEQ@HASH`: continue after that event, which must still be there.
    pub from: Option<String>,
    /// `--limit`.
    pub limit: Option<usize>,
    /// `--last`: only so many, the latest ones.
    pub last: Option<usize>,
    /// `--kind`.
    pub kind: Option<String>,
    /// `--agent-name`.
    pub agent: Option<String>,
    /// `--run`: the events of a run. No kind of event belongs to one yet.
    pub run: Option<String>,
}

/// Events found, and where to go on.
#[derive(Clone, Debug)]
pub struct Events {
    /// In order.
    pub events: Vec<EventSeen>,
    /// The last event looked at, shown or not.
    pub last: Seq,
    /// What to read from to go on after it. It holds that event's hash, so that a log that was replaced is noticed.
    pub cursor: String,
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

impl Session<'_> {
    /// Reads the log.
    pub fn events(&mut self, filter: &EventFilter) -> Result<Events, Failure> {
        if let Some(kind) = filter.kind.as_deref().filter(|kind| kinds_of(kind).is_empty()) {
            return Err(unknown_kind(kind));
        }
        let after = self.start_of(filter)?;
        let limit = filter.limit.unwrap_or(usize::MAX);
        let fold = self.fold()?;
        let names = self.names()?;
        let cursor = filter.from.clone().unwrap_or_else(|| Seq(1).to_string());
        let mut found = Events { events: Vec::new(), last: after, cursor };
        while found.events.len() < limit {
            let last = found.last;
            let batch = self.read(|snapshot| snapshot.events(last, EVENTS_PER_READ))?.unwrap_or_default();
            let ends = batch.len() < EVENTS_PER_READ;
            for stored in &batch {
                if found.events.len() == limit {
                    break;
                }
                found.last = stored.seq;
                found.cursor = format!("{}@{}", stored.seq, stored.hash);
                let Some(event) = self.without_blind(decode(stored, fold)?, fold)? else { continue };
                let agent = event.actor.agent.and_then(|id| names.get(&id).cloned());
                let seen = EventSeen { event, hash: stored.hash, agent };
                found.events.extend(wanted(filter, &seen).then_some(seen));
            }
            keep_last(&mut found.events, filter.last);
            if ends {
                break;
            }
        }
        self.refuse_gone(found.last)?;
        Ok(found)
    }

    /// An event without what would tell who got a message blindly; `None` if it tells nothing else.
    fn without_blind(&mut self, event: Event, fold: Fold) -> Result<Option<Event>, Failure> {
        let Body::Mail(mail) = &event.body else { return Ok(Some(event)) };
        let body = match mail.clone() {
            MailEvent::Read { agent, mut messages } => {
                let mut blind = Vec::new();
                for message in &messages {
                    blind.extend(self.is_blind(*message, agent, fold)?.then_some(*message));
                }
                messages.retain(|message| !blind.contains(message));
                (!messages.is_empty()).then_some(MailEvent::Read { agent, messages })
            }
            MailEvent::Acknowledged { agent, message, .. } if self.is_blind(message, agent, fold)? => None,
            other => Some(other),
        };
        Ok(body.map(|mail| Event { body: Body::Mail(mail), ..event }))
    }

    /// Whether an agent got a message without the others knowing, as the log has it.
    fn is_blind(&mut self, message: Seq, agent: AgentId, fold: Fold) -> Result<bool, Failure> {
        let before = Seq(message.0.saturating_sub(1));
        let found = self.read(|snapshot| snapshot.events(before, 1))?.unwrap_or_default();
        let Some(sent) = found.first().filter(|stored| stored.seq == message) else { return Ok(false) };
        Ok(match decode(sent, fold)?.body {
            Body::Mail(MailEvent::Sent(message)) => message.role_of(agent) == Some(Role::Bcc),
            _ => false,
        })
    }

    /// What leases are on, whatever became of them: names for the ids in events.
    pub fn lease_names(&mut self, ids: &[LeaseId]) -> Result<BTreeMap<LeaseId, String>, Failure> {
        let now = self.now()?;
        let read = ReadSet { leases: ids.to_vec(), ..ReadSet::default() };
        let slice = self.read(|snapshot| snapshot.load(&read, &now))?.unwrap_or_default();
        Ok(slice.leases.iter().map(|lease| (lease.id, lease.target.display())).collect())
    }

    /// Waits until there is something after `after`, at most `wait_ms`. False if nobody is there any more to read it.
    pub fn wait_for_events(&mut self, after: Seq, wait_ms: u64) -> Result<bool, Failure> {
        let key = self.site.key.clone();
        self.engine.changed(&key, after, wait_ms).map_err(|error| store_failure(&error))?;
        Ok(self.outside.is_heard())
    }

    pub(crate) fn fold(&mut self) -> Result<Fold, Failure> {
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
    .details(Details::field("restart_from", "1".to_owned()))
}

/// Keeps the latest ones only.
fn keep_last(events: &mut Vec<EventSeen>, last: Option<usize>) {
    if let Some(last) = last {
        events.drain(..events.len().saturating_sub(last));
    }
}

fn decode(stored: &StoredEvent, fold: Fold) -> Result<Event, Failure> {
    canonical::decode(stored.seq, &stored.bytes, fold).map_err(|error| {
        Failure::new(Slug::StoreCorrupt, format!("event {} cannot be read: {error}", stored.seq))
            .hint("see how far the log can be trusted: clearway audit verify")
    })
}

/// Whether a kind of event is the one that is named, or one of the noun that is.
fn is_of_kind(kind: &str, named: &str) -> bool {
    kind == named || kind.strip_prefix(named).is_some_and(|verb| verb.starts_with('.'))
}

fn kinds_of(named: &str) -> Vec<&'static str> {
    Body::KINDS.into_iter().filter(|kind| is_of_kind(kind, named)).collect()
}

/// Says what comes nearest: a kind, the kinds of the noun that is named, or the nouns that there are.
fn unknown_kind(named: &str) -> Failure {
    let failure = Failure::new(Slug::Usage, format!("no event has the kind {}", quoted(named)));
    let nouns: BTreeSet<&str> = Body::KINDS.iter().filter_map(|kind| kind.split('.').next()).collect();
    if let Some(near) = nearest(named, Body::KINDS.into_iter().chain(nouns.iter().copied())) {
        return failure.hint(format!("did you mean {near}?"));
    }
    let noun = named.split('.').next().unwrap_or_default();
    let kinds = kinds_of(noun);
    if !kinds.is_empty() {
        return failure.hint(format!("kinds of {noun}: {}", kinds.join(", ")));
    }
    let nouns: Vec<&str> = nouns.into_iter().collect();
    failure.hint(format!("such as lease.granted, or lease for all of its kinds; also {}", nouns.join(", ")))
}

fn wanted(filter: &EventFilter, seen: &EventSeen) -> bool {
    let by_kind = filter.kind.as_deref().is_none_or(|kind| is_of_kind(seen.event.body.kind(), kind));
    let by_agent = filter
        .agent
        .as_deref()
        .is_none_or(|name| seen.agent.as_ref().is_some_and(|own| own.as_str() == name));
    by_kind && by_agent && filter.run.is_none()
}
