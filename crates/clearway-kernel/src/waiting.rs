//! Waiting for a turn. The kernel never blocks: this is a loop of tries around it, woken by the doorbell of the
//! scope, by the pulse that tells the others that somebody still waits here, and by a slow look at what rings nobody,
//! such as a holder that died or ran out of time.

use crate::failures::store_failure;
use crate::session::Session;
use clearway_core::command::{Await, Command, Reserve, Stay};
use clearway_core::decide::{Success, identify};
use clearway_core::event::Body;
use clearway_core::facts::Process;
use clearway_core::failure::{Ahead, Failure, LeaseView};
use clearway_core::hint::Hint;
use clearway_core::ids::{ScopeKey, Seq, WaitId};
use clearway_core::limits::{PULSES_PER_TTL, WAIT_MS_MAX, WAITER_PULSE_MS};
use clearway_core::slice::{AgentLookup, ReadSet};
use clearway_core::slug::Slug;
use clearway_core::time::{Mono, Now};
use clearway_core::wait::WaitEnd;
use clearway_store::Reply;

/// How often to look when nobody rings.
const LOOK_MS: u64 = 250;
/// Those far behind look less often, so that many who wait cost little: so much more for each one before them.
const LOOK_BEHIND_MS: u64 = 50;

/// What becomes of a request whose time is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtEnd {
    /// It keeps its place; its agent is told when the turn has come.
    Queue,
    /// It leaves the queue and is refused.
    GiveUp,
}

/// How things stand for somebody who waits.
#[derive(Clone, Debug)]
pub struct Standing<'a> {
    /// Its place among those in each other's way, counted from 1.
    pub position: u64,
    /// Leases in the way.
    pub blockers: &'a [LeaseView],
    /// Earlier waits in the way.
    pub ahead: &'a [Ahead],
    /// How long it has waited.
    pub waited_ms: u64,
    /// How long it will go on.
    pub left_ms: u64,
    /// The instant.
    pub now: &'a Now,
}

/// Is told now and then how things stand.
pub type Watcher<'a> = dyn FnMut(&Standing<'_>) + 'a;

impl Session<'_> {
    /// Tries until the request is granted or refused for another reason, at most `wait_ms`.
    pub(crate) fn wait_for(
        &mut self,
        scope: &ScopeKey,
        reserve: &Reserve,
        place: Option<Place>,
        wait_ms: u64,
        at_end: AtEnd,
        watch: &mut Watcher<'_>,
    ) -> Result<Reply, Failure> {
        let process = self.outside.own_process().ok_or_else(|| {
            Failure::new(Slug::Internal, "this process cannot be told apart from others, so it cannot wait")
                .hint("keep a place without waiting: clearway reserve --queue …")
        })?;
        let began = self.now()?.mono;
        let ends = began.plus_ms(wait_ms);
        let (wait, tried) = place.map(|place| (place.wait, place.seen)).unzip();
        let mut waiting = Waiting { reserve, wait, began, ends, tried, is_cancelled: false };
        loop {
            match self.try_and_wait(scope, &mut waiting, &process, at_end, watch) {
                Ok(None) => {}
                Ok(Some(reply)) => return Ok(reply),
                Err(failure) => self.outlive(scope, &waiting, failure)?,
            }
        }
    }

    /// A writer that stands still for a while is no reason to lose one's place.
    fn outlive(&mut self, scope: &ScopeKey, waiting: &Waiting<'_>, failure: Failure) -> Result<(), Failure> {
        match waiting.tried {
            Some(tried) if failure.slug == Slug::StoreBusy && waiting.ends > self.now()?.mono => {
                self.changed(scope, tried, LOOK_MS).map(|_| ())
            }
            _ => Err(failure),
        }
    }

    /// One try, and then nothing until another one makes sense; the answer if there is one.
    fn try_and_wait(
        &mut self,
        scope: &ScopeKey,
        waiting: &mut Waiting<'_>,
        process: &Process,
        at_end: AtEnd,
        watch: &mut Watcher<'_>,
    ) -> Result<Option<Reply>, Failure> {
        let left_ms = waiting.ends.since(self.now()?.mono);
        let stay = match (left_ms, at_end) {
            _ if waiting.is_cancelled => Stay::Last,
            (0, AtEnd::GiveUp) => Stay::Last,
            (0, AtEnd::Queue) => Stay::Durable,
            _ => Stay::Attached(process.clone()),
        };
        let reply = self.command_in(scope, waiting.command(stay.clone(), left_ms))?;
        match (&reply.outcome, &stay) {
            (Ok(Success::Queued { queued, .. }), Stay::Attached(_)) => {
                (waiting.wait, waiting.tried) = (Some(queued.wait.id), Some(reply.rev));
            }
            (Err(failure), _) if failure.slug == Slug::NotFound && waiting.wait.is_some() => {
                waiting.is_cancelled = self.was_cancelled(scope, waiting)?;
                waiting.wait.take_if(|_| !waiting.is_cancelled);
                return Ok(None);
            }
            _ if waiting.is_cancelled => return Ok(Some(given_up(reply))),
            _ => return Ok(Some(reply)),
        }
        self.until_something_changes(scope, waiting, &stay, reply, watch)?;
        Ok(None)
    }

    /// Whether a place that is gone was given up since it was last seen. Whoever gave it up was told that nobody waits
    /// there any more, so it is not taken anew; one that was lost otherwise is.
    fn was_cancelled(&mut self, scope: &ScopeKey, waiting: &Waiting<'_>) -> Result<bool, Failure> {
        let Waiting { wait: Some(id), tried: Some(tried), .. } = *waiting else { return Ok(false) };
        let Some(head) = self.read_in(scope, |snapshot| snapshot.head())? else { return Ok(false) };
        let cancels = |body: Body| is_cancellation(&body, id).then_some(());
        Ok(self.find_event(scope, tried.next()..=head.rev, cancels)?.is_some())
    }

    /// Returns when another try may succeed, when the others have to hear of this one, or when the time is up.
    fn until_something_changes(
        &mut self,
        scope: &ScopeKey,
        waiting: &Waiting<'_>,
        stay: &Stay,
        reply: Reply,
        watch: &mut Watcher<'_>,
    ) -> Result<(), Failure> {
        let pulse = reply.now.mono.plus_ms(self.pulse_ms(scope)?).min(waiting.ends);
        let mut seen = reply;
        loop {
            let Ok(Success::Queued { queued, blockers, ahead }) = &seen.outcome else { return Ok(()) };
            if Some(queued.wait.id) != waiting.wait {
                return Ok(());
            }
            let now = self.now()?;
            watch(&waiting.standing(queued.position, blockers, ahead, &now));
            let left_ms = pulse.since(now.mono);
            if left_ms == 0 {
                return Ok(());
            }
            let look_ms = LOOK_MS + LOOK_BEHIND_MS * (queued.position - 1).min(20);
            self.changed(scope, seen.rev, left_ms.min(look_ms))?;
            seen = self.preview_in(scope, waiting.command(stay.clone(), waiting.ends.since(now.mono)))?;
        }
    }

    /// How often whoever waits gives a sign of life: often enough for the place, and for what it holds meanwhile.
    fn pulse_ms(&mut self, scope: &ScopeKey) -> Result<u64, Failure> {
        let shortest = self.shortest_silence_ms(scope)?.unwrap_or(u64::MAX);
        Ok(WAITER_PULSE_MS.min(shortest / PULSES_PER_TTL))
    }

    /// The shortest silence that anything is granted to the caller for.
    pub(crate) fn shortest_silence_ms(&mut self, scope: &ScopeKey) -> Result<Option<u64>, Failure> {
        let (now, caller) = (self.now()?, self.caller.clone());
        let read = ReadSet { agents: AgentLookup::of(&caller), ..ReadSet::default() };
        let slice = self.read_in(scope, |snapshot| snapshot.load(&read, &now))?.unwrap_or_default();
        let me = identify(&slice, &caller).ok().and_then(|identified| identified.known);
        Ok(me.and_then(|view| view.shortest_ttl_ms))
    }

    pub(crate) fn changed(&mut self, scope: &ScopeKey, after: Seq, wait_ms: u64) -> Result<bool, Failure> {
        self.engine.changed(scope, after, wait_ms).map_err(|error| store_failure(&error))
    }
}

/// Whoever was sent away is told so before anything else.
fn given_up(mut reply: Reply) -> Reply {
    if let Err(failure) = &mut reply.outcome {
        failure.message = format!("your place in the queue was given up meanwhile; {}", failure.message);
        let who = "see who did, and why: clearway events --kind wait.ended --last 1";
        failure.hints.insert(0, Hint::from(who));
    }
    reply
}

fn is_cancellation(body: &Body, id: WaitId) -> bool {
    matches!(body, Body::WaitEnded { wait, cause: WaitEnd::Cancelled, .. } if *wait == id)
}

/// A place that somebody has already.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) wait: WaitId,
    /// The revision at which it was there.
    pub(crate) seen: Seq,
}

/// A request that waits.
#[derive(Debug)]
struct Waiting<'a> {
    reserve: &'a Reserve,
    wait: Option<WaitId>,
    began: Mono,
    ends: Mono,
    /// The revision that its last try left.
    tried: Option<Seq>,
    /// Whether its place was given up for it.
    is_cancelled: bool,
}

impl Waiting<'_> {
    fn command(&self, stay: Stay, left_ms: u64) -> Command {
        let wait_ms = if stay == Stay::Durable { WAIT_MS_MAX } else { left_ms };
        Command::Await(Await { reserve: self.reserve.clone(), stay, wait_ms, wait: self.wait })
    }

    fn standing<'b>(
        &self,
        position: u64,
        blockers: &'b [LeaseView],
        ahead: &'b [Ahead],
        now: &'b Now,
    ) -> Standing<'b> {
        let (waited_ms, left_ms) = (now.mono.since(self.began), self.ends.since(now.mono));
        Standing { position, blockers, ahead, waited_ms, left_ms, now }
    }
}
