//! The executor: one command, one transaction, written once for every engine.
//!
//! Load what the command declares, decide, append the events with their hashes, apply them to the projections,
//! remember the outcome, commit. The decision is a parameter, so that a test can hand in a wrong one and
//! product code carries none.

use crate::contract::{Engine, Opened, Remembered, Snapshot, StoreError, StoredEvent, Transaction, in_order};
use clearway_core::agent::AgentName;
use clearway_core::alert::Alert;
use clearway_core::command::Request;
use clearway_core::decide::{Decide, Decision, Notice, Success, Verdict, alerts, identify, since_granted};
use clearway_core::event::{Body, Durability, Event};
use clearway_core::facts::{FactQuery, Facts};
use clearway_core::failure::Failure;
use clearway_core::ids::{AgentId, ScopeKey, Seq};
use clearway_core::limits::LOOKS_AGAIN_MAX;
use clearway_core::slice::{Due, ReadSet, Slice};
use clearway_core::slug::Slug;
use clearway_core::snapshot::Kept;
use clearway_core::time::{Mono, Now};
use clearway_core::wait::WaitEnd;
use clearway_wire::{canonical, chain, outcome};
use std::collections::BTreeSet;

/// How often a drawn id may turn out taken before something else must be wrong.
const ID_DRAWS_MAX: usize = 8;

/// The outside as the executor needs it. Never called with a lock held, but for the clock and randomness.
pub trait World {
    /// Reads the clock.
    fn now(&mut self) -> Result<Now, StoreError>;

    /// Fills the buffer with unpredictable bytes.
    fn draw(&mut self, bytes: &mut [u8]);

    /// Answers every query; what cannot be told is answered as unknown.
    fn gather(&mut self, queries: &BTreeSet<FactQuery>, facts: &mut Facts);
}

/// How to execute: the decision, and the least any commit has to promise.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// The decision.
    pub decide: Decide,
    /// The least durable commit.
    pub durability: Durability,
}

impl Default for Rules {
    fn default() -> Self {
        Self { decide: clearway_core::decide::decide, durability: Durability::Normal }
    }
}

/// What a caller is told.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The revision the answer belongs to.
    pub rev: Seq,
    /// Who the caller turned out to be.
    pub agent: Option<(AgentId, AgentName)>,
    /// Things to know beside the answer.
    pub notices: Vec<Notice>,
    /// Snapshots that have yet to be named after the numbers it gave them.
    pub kept: Vec<Kept>,
    /// What a person is told who does not watch.
    pub alerts: Vec<Alert>,
    /// Whether this is the answer to an earlier, equal request.
    pub replayed: bool,
    /// Whether the scope came into being by it.
    pub began: bool,
    /// The instant it was decided at.
    pub now: Now,
    /// The answer.
    pub outcome: Result<Success, Failure>,
}

/// Executes one request against one scope.
pub fn execute(
    engine: &mut dyn Engine,
    world: &mut dyn World,
    rules: Rules,
    scope: &ScopeKey,
    request: &Request,
) -> Result<Reply, StoreError> {
    with_facts(world, |world, facts| Ask { rules, scope, request, facts }.attempt_again(engine, world))
}

/// What executing the request would answer now: the same decision on a snapshot, and nothing is written.
pub fn preview(
    engine: &mut dyn Engine,
    world: &mut dyn World,
    rules: Rules,
    scope: &ScopeKey,
    request: &Request,
) -> Result<Reply, StoreError> {
    with_facts(world, |world, facts| Ask { rules, scope, request, facts }.preview(engine, world))
}

/// What one attempt came to, or the facts it lacks.
type Attempt<T> = Result<T, Lacking>;

/// Facts that a decision lacks.
#[derive(Clone, Debug)]
pub struct Lacking {
    /// Which.
    pub facts: BTreeSet<FactQuery>,
    /// When it was made, so that whoever looks for them does so no earlier.
    pub at: Mono,
}

/// Tries until the facts that an attempt asks for are known. They are gathered while nothing is locked, so there may be
/// more to ask about each time, as when many begin to wait at once, and what was seen may be overtaken. What is overtaken
/// again and again counts as the worst it may be; what asks for the same even then never settles.
pub fn with_facts<T>(
    world: &mut dyn World,
    mut attempt: impl FnMut(&mut dyn World, &Facts) -> Result<Attempt<T>, StoreError>,
) -> Result<T, StoreError> {
    let (mut facts, mut asked, mut again) = (Facts::default(), BTreeSet::new(), 0);
    loop {
        let lacking = match attempt(world, &facts)? {
            Ok(done) => return Ok(done),
            Err(lacking) => lacking,
        };
        if lacking.facts.is_subset(&asked) {
            again += 1;
            if again > LOOKS_AGAIN_MAX || !lacking.facts.iter().all(FactQuery::is_of_a_moment) {
                return Err(StoreError::Internal("the facts a decision asks for never settle".to_owned()));
            }
            if again == LOOKS_AGAIN_MAX {
                facts.assume_the_worst(&lacking.facts);
                continue;
            }
        }
        facts.look_from(lacking.at);
        world.gather(&lacking.facts, &mut facts);
        asked.extend(lacking.facts);
    }
}

/// One request to one scope, with the facts known so far.
#[derive(Clone, Copy, Debug)]
struct Ask<'a> {
    rules: Rules,
    scope: &'a ScopeKey,
    request: &'a Request,
    facts: &'a Facts,
}

impl Ask<'_> {
    /// Tries a second time where that helps. On a full disk, with the room kept aside, if the command gives back more
    /// than it takes. After a commit whose answer was lost, under its key: the same request is answered like the first
    /// time or made now; without a key that would be a second request, so the caller has to look.
    fn attempt_again(
        self,
        engine: &mut dyn Engine,
        world: &mut dyn World,
    ) -> Result<Attempt<Reply>, StoreError> {
        let has_key = self.request.idempotency_key.is_some();
        match self.attempt_drawing(engine, world) {
            Err(StoreError::Full { .. })
                if self.request.command.gives_back() && engine.make_room(self.scope)? =>
            {
                self.attempt_drawing(engine, world)
            }
            Err(StoreError::Unsure { .. }) if has_key => self.attempt_drawing(engine, world),
            other => other,
        }
    }

    /// Tries again with fresh ids when one was taken.
    fn attempt_drawing(
        self,
        engine: &mut dyn Engine,
        world: &mut dyn World,
    ) -> Result<Attempt<Reply>, StoreError> {
        for _ in 0..ID_DRAWS_MAX {
            match self.attempt(engine, world) {
                Err(StoreError::IdTaken) => {}
                other => return other,
            }
        }
        Err(StoreError::IdTaken)
    }

    /// A scope comes into being by a command that is granted there, not by one that is refused: what is not there yet is
    /// decided about before anything is made.
    fn attempt(self, engine: &mut dyn Engine, world: &mut dyn World) -> Result<Attempt<Reply>, StoreError> {
        let read = self.request.read_set();
        let (now, slice) = match engine.open(self.scope, false, &read, &mut || world.now())? {
            Opened { transaction: Some(transaction), now, slice } => {
                return self.settle_in(transaction, world, slice, now);
            }
            Opened { now, slice, .. } => (now, slice),
        };
        // Nothing is kept of this decision unless it refuses, so no id has to be drawn for it.
        let decision =
            (self.rules.decide)(&slice, self.request, self.facts, &now, &mut |bytes| bytes.fill(0));
        if !matches!(&decision, Decision::Ready(verdict) if changes(verdict, Seq(0))) {
            return Ok(settle(decision, Seq(0), now));
        }
        match engine.open(self.scope, true, &read, &mut || world.now())? {
            Opened { transaction: Some(transaction), now, slice } => {
                self.settle_in(transaction, world, slice, now)
            }
            Opened { .. } => Err(StoreError::Internal("the scope was not made".to_owned())),
        }
    }

    fn settle_in(
        self,
        mut transaction: Box<dyn Transaction + '_>,
        world: &mut dyn World,
        slice: Slice,
        now: Now,
    ) -> Result<Attempt<Reply>, StoreError> {
        let slice = self.load_rest(&mut *transaction, slice, Purpose::Record, &now)?;
        if let Some(reply) = replay(&mut *transaction, &slice, self.request, &now)? {
            return Ok(Ok(reply));
        }
        let decision = self.decide(world, &slice, &now);
        let (mut rev, mut told) = (slice.scope.rev, Vec::new());
        if let Decision::Ready(verdict) = &decision
            && changes(verdict, rev)
        {
            rev = verdict.events.last().map_or(rev, |event| event.seq);
            told = alerts(&slice, verdict);
            write(transaction, self.scope, self.request, verdict, &now, self.rules.durability)?;
        }
        let began = slice.scope.rev == Seq(0) && rev > Seq(0);
        Ok(settle(decision, rev, now).map(|reply| Reply { alerts: told, began, ..reply }))
    }

    fn preview(self, engine: &mut dyn Engine, world: &mut dyn World) -> Result<Attempt<Reply>, StoreError> {
        let now = engine.now(&mut || world.now())?;
        let slice = match engine.snapshot(self.scope)? {
            Some(mut snapshot) => {
                let slice = snapshot.load(&Purpose::Answer.narrow(self.request.read_set()), &now)?;
                self.load_rest(&mut *snapshot, slice, Purpose::Answer, &now)?
            }
            None => Slice::default(),
        };
        Ok(settle(self.decide(world, &slice, &now), slice.scope.rev, now))
    }

    fn decide(self, world: &mut dyn World, slice: &Slice, now: &Now) -> Decision {
        let mut entropy = |bytes: &mut [u8]| world.draw(bytes);
        (self.rules.decide)(slice, self.request, self.facts, now, &mut entropy)
    }

    /// Reading has steps. What the request names has been read; this is what depends on the clock's boot and on who the
    /// caller turned out to be, and then what stands in the way of those who wait.
    fn load_rest<S: Snapshot + ?Sized>(
        self,
        snapshot: &mut S,
        mut slice: Slice,
        purpose: Purpose,
        now: &Now,
    ) -> Result<Slice, StoreError> {
        let is_over = slice.scope.rev.0 > 0 && !slice.scope.is_of(&now.boot);
        if is_over && purpose == Purpose::Record {
            slice = snapshot.load(&ReadSet { due: Due::EveryLive, ..self.request.read_set() }, now)?;
        }
        let agent = caller(&slice, self.request);
        let second = purpose.narrow(self.request.second_read_set(&slice, agent));
        slice.merge(snapshot.load(&second, now)?);
        if is_over && purpose == Purpose::Answer {
            slice.count_only_what_was_read();
        }
        if let Some(survey) = self.request.survey(&slice, agent, self.facts, now) {
            slice.merge(snapshot.load(&survey, now)?);
            slice.surveyed = survey.surveyed;
        }
        Ok(in_order(slice))
    }
}

/// What is read for: a record has to say what became of every lease of an earlier boot, an answer needs none of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Record,
    Answer,
}

impl Purpose {
    fn narrow(self, read: ReadSet) -> ReadSet {
        match self {
            Self::Record => read,
            Self::Answer => read.for_the_answer_alone(),
        }
    }
}

/// Whether there is anything to write. A refusal leaves no trace where nothing was before.
fn changes(verdict: &Verdict, rev: Seq) -> bool {
    match rev {
        Seq(0) => verdict.outcome.is_ok() && !verdict.events.is_empty(),
        _ => !verdict.events.is_empty() || !verdict.soft.is_empty(),
    }
}

fn settle(decision: Decision, rev: Seq, now: Now) -> Attempt<Reply> {
    match decision {
        Decision::NeedsFacts(facts) => Err(Lacking { facts, at: now.mono }),
        Decision::Ready(verdict) => {
            let Verdict { agent, notices, kept, outcome, .. } = *verdict;
            let alerts = Vec::new();
            Ok(Reply { rev, agent, notices, kept, alerts, replayed: false, began: false, now, outcome })
        }
    }
}

fn caller(slice: &Slice, request: &Request) -> Option<AgentId> {
    identify(slice, &request.caller).ok()?.known.map(|view| view.agent.id)
}

/// The answer to an equal request under the same key, if there was one. A place in the queue answers only who asks for
/// one: whoever waits at it, or comes to take what it was for, is not told once more to wait.
fn replay(
    transaction: &mut dyn Transaction,
    slice: &Slice,
    request: &Request,
    now: &Now,
) -> Result<Option<Reply>, StoreError> {
    let (Some(key), Some(agent)) = (&request.idempotency_key, caller(slice, request)) else {
        return Ok(None);
    };
    let Some(remembered) = transaction.recall(agent, key, now)? else { return Ok(None) };
    let (mut notices, mut outcome) = (Vec::new(), Err(mismatch(key)));
    if remembered.is_of(&request.command) {
        let success = remembered.success(slice.scope.fold)?;
        if matches!(success, Success::Queued { .. }) && !request.command.asks_for_a_place() {
            return Ok(None);
        }
        let since = transaction.load(&success.read_again(), now)?;
        notices = since_granted(&success, &since, now);
        outcome = Ok(success);
    }
    let name = slice.agent(agent).map(|view| view.agent.name.clone());
    Ok(Some(Reply {
        rev: remembered.rev,
        agent: name.map(|name| (agent, name)),
        notices,
        kept: Vec::new(),
        alerts: Vec::new(),
        replayed: outcome.is_ok(),
        began: false,
        now: now.clone(),
        outcome,
    }))
}

fn mismatch(key: &str) -> Failure {
    let message = format!("the idempotency key {key} was used for a different request");
    Failure::new(Slug::IdempotencyMismatch, message).hint("use a fresh key for a new request")
}

fn write(
    mut transaction: Box<dyn Transaction + '_>,
    scope: &ScopeKey,
    request: &Request,
    verdict: &Verdict,
    now: &Now,
    floor: Durability,
) -> Result<(), StoreError> {
    if takes_room(request, verdict) {
        transaction.keep_room()?;
    }
    let mut hash = transaction.head()?.hash;
    for event in &verdict.events {
        let bytes = canonical::encode(event);
        hash = hash.next(scope, event.seq, &bytes);
        transaction.append(&StoredEvent { seq: event.seq, bytes, hash })?;
        transaction.apply(event)?;
    }
    for soft in &verdict.soft {
        transaction.soften(soft, now)?;
    }
    if let Some(remembered) = worth_remembering(request, verdict) {
        transaction.remember(&remembered, now)?;
    }
    let durability = verdict.events.iter().map(|event| event.body.durability()).max().unwrap_or_default();
    transaction.commit(durability.max(floor))
}

/// Whether it takes what giving back may need. A refusal is recorded as long as there is room, so is a sign of life and what
/// gives nobody anything, and whoever waited gets its turn, which takes no more than its place did.
fn takes_room(request: &Request, verdict: &Verdict) -> bool {
    let is_turn = |event: &Event| matches!(event.body, Body::WaitEnded { cause: WaitEnd::Granted, .. });
    let is_new = !verdict.events.is_empty() && !verdict.events.iter().any(is_turn);
    is_new && verdict.outcome.is_ok() && !request.command.takes_nothing()
}

/// Only a success that changed something is kept: a refused command may be tried again, and one that waits is. A place
/// that is kept without anybody trying is an answer like others.
fn worth_remembering(request: &Request, verdict: &Verdict) -> Option<Remembered> {
    let (key, (agent, _)) = (request.idempotency_key.clone()?, verdict.agent.clone()?);
    let (success, last) = (verdict.outcome.as_ref().ok()?, verdict.events.last()?);
    if matches!(success, Success::Queued { .. }) && !request.command.keeps_a_place() {
        return None;
    }
    let request = chain::digest(&request.digest_text());
    Some(Remembered { agent, key, request, rev: last.seq, outcome: outcome::encode(success) })
}
