//! What a client asks next: random, but with an eye on what it holds and waits for, so that leases change hands.

use super::operation::{Ask, How, Operation, Which};
use crate::random::Random;

/// What is contended for. Trees meet files, and there are fewer of both than clients.
const PATTERNS: [&str; 7] = ["a.rs", "b.rs", "src/one.rs", "src/two.rs", "src/**", "docs/x.md", "docs/**"];
/// What small histories are about.
const PATTERNS_SMALL: [&str; 2] = ["a.rs", "b.rs"];
/// What twins reserve, and what they release it by.
const FILES: [&str; 4] = ["a.rs", "src/one.rs", "src/two.rs", "docs/x.md"];
const TREES: [&str; 4] = ["a.rs", "src/**", "src/one.rs", "**"];
/// A lease that nobody sees running out.
const TTL_LONG: &str = "10m";
/// The shortest there is.
const TTL_SHORT: &str = "1s";
/// The shortest wait there is, and by how much others are longer: whoever waits looks at every change, which takes time
/// from those that make changes.
const WAIT_MS_MIN: u64 = 100;
const WAIT_MS_MORE: usize = 50;

/// How a history is made up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Many clients, every pattern, leases that run out.
    Large,
    /// Few operations on two files; nothing runs out, so that a search has to know no clock.
    Small,
    /// Every agent is two processes: they reserve files and release whole trees of them at the same time. Nothing runs
    /// out, and nobody is killed: what one of two left would be hard to tell from what the other did.
    Twins,
}

/// A client's own view of things. It may be wrong, since others act too.
#[derive(Clone, Debug)]
pub(super) struct Client {
    random: Random,
    size: Size,
    others: Vec<String>,
    held: Vec<(String, u64)>,
    stale: Vec<(String, u64)>,
    queued: Option<(Vec<String>, bool)>,
}

/// Stale names that a client remembers.
const STALE_MAX: usize = 8;

impl Client {
    pub(super) fn new(random: Random, size: Size, others: Vec<String>) -> Self {
        Self { random, size, others, held: Vec::new(), stale: Vec::new(), queued: None }
    }

    pub(super) fn next(&mut self) -> Ask {
        if self.size == Size::Twins {
            return self.next_of_twins();
        }
        if self.queued.is_some() && self.random.chance(60) {
            return self.come_back();
        }
        match self.random.below(100) {
            0..40 => self.reserve(),
            40..62 => self.give_back(),
            62..70 => self.of_one(Ask::Renew),
            70..75 => Ask::Renew(Which::All),
            75..81 => self.present_stale(),
            81..87 => self.hand_over(),
            87..94 => Ask::Check { pattern: self.pattern(), shared: self.random.chance(20) },
            94..97 => Ask::Sweep,
            _ => Ask::Release(Which::All),
        }
    }

    /// Never something by its id: which of the two it belongs to is the question.
    fn next_of_twins(&mut self) -> Ask {
        match self.random.below(100) {
            0..50 => {
                let (patterns, ttl) = (vec![self.pattern()], TTL_LONG.to_owned());
                Ask::Reserve { patterns, shared: self.random.chance(20), how: How::Now, ttl }
            }
            50..85 => {
                let tree = self.random.one_of(&TREES).copied().unwrap_or_default();
                Ask::Release(Which::Inside(tree.to_owned()))
            }
            85..92 => Ask::Check { pattern: self.pattern(), shared: false },
            92..97 => Ask::Renew(Which::All),
            _ => Ask::Release(Which::All),
        }
    }

    /// Takes what it waits for, or leaves the queue: a turn that nobody takes is kept for minutes.
    fn come_back(&mut self) -> Ask {
        match self.queued.clone() {
            Some((patterns, shared)) if self.random.chance(60) => {
                Ask::Reserve { patterns, shared, how: self.how(), ttl: TTL_LONG.to_owned() }
            }
            _ => Ask::Cancel,
        }
    }

    fn reserve(&mut self) -> Ask {
        let mut patterns = vec![self.pattern()];
        // Only files stand beside each other: one of two that cover each other would get no lease of its own.
        if self.random.chance(25) {
            patterns = vec!["a.rs".to_owned(), "b.rs".to_owned()];
        }
        let short = self.size == Size::Large && self.random.chance(12);
        let ttl = if short { TTL_SHORT } else { TTL_LONG }.to_owned();
        Ask::Reserve { patterns, shared: self.random.chance(20), how: self.how(), ttl }
    }

    fn how(&mut self) -> How {
        match self.random.below(100) {
            0..70 => How::Now,
            70..90 => How::Queue,
            _ => How::Wait(WAIT_MS_MIN + self.random.below(WAIT_MS_MORE) as u64),
        }
    }

    fn pattern(&mut self) -> String {
        let patterns: &[&str] = match self.size {
            Size::Large => &PATTERNS,
            Size::Small => &PATTERNS_SMALL,
            Size::Twins => &FILES,
        };
        self.random.one_of(patterns).map(|pattern| (*pattern).to_owned()).unwrap_or_default()
    }

    fn give_back(&mut self) -> Ask {
        if self.random.chance(25) {
            return Ask::Release(Which::Inside(self.pattern()));
        }
        self.of_one(Ask::Release)
    }

    /// Something with one of its leases, or a reservation if it has none.
    fn of_one(&mut self, ask: fn(Which) -> Ask) -> Ask {
        match self.random.one_of(&self.held).cloned() {
            Some((id, fence)) => ask(Which::One { id, fence }),
            None => self.reserve(),
        }
    }

    fn present_stale(&mut self) -> Ask {
        match self.random.one_of(&self.stale).cloned() {
            Some((id, fence)) if self.random.chance(50) => Ask::Renew(Which::One { id, fence }),
            Some((id, fence)) => Ask::Release(Which::One { id, fence }),
            None => self.reserve(),
        }
    }

    fn hand_over(&mut self) -> Ask {
        let to = self.random.one_of(&self.others).cloned();
        match (self.random.one_of(&self.held).cloned(), to) {
            (Some((id, fence)), Some(to)) => Ask::Transfer { which: Which::One { id, fence }, to },
            _ => self.reserve(),
        }
    }

    /// Takes note of an answer.
    pub(super) fn learn(&mut self, operation: &Operation) {
        self.learn_place(operation);
        let Some(reply) = operation.success() else { return self.doubt(&operation.ask) };
        for lease in reply["leases"].as_array().into_iter().flatten() {
            let (Some(id), Some(fence)) = (lease["id"].as_str(), lease["fence"].as_u64()) else { continue };
            self.drop_lease(id);
            match lease["agent"] == operation.agent.as_str() {
                true => self.held.push((id.to_owned(), fence)),
                false => self.remember_stale(id.to_owned(), fence),
            }
        }
        match &operation.ask {
            Ask::Release(Which::All) => std::mem::take(&mut self.held)
                .into_iter()
                .for_each(|(id, fence)| self.remember_stale(id, fence)),
            Ask::Release(_) => {
                let gone = ["released", "already_released"].map(|name| reply[name].as_array().cloned());
                for id in gone.into_iter().flatten().flatten() {
                    self.drop_lease(id.as_str().unwrap_or_default());
                }
            }
            _ => {}
        }
    }

    fn learn_place(&mut self, operation: &Operation) {
        match (&operation.ask, operation.success()) {
            (Ask::Cancel, Some(_)) => self.queued = None,
            (Ask::Reserve { patterns, shared, .. }, Some(reply)) => {
                self.queued = reply["queued"].is_object().then(|| (patterns.clone(), *shared));
            }
            _ => {}
        }
    }

    /// A lease that an operation was refused on, or was killed over, is not counted on any more.
    fn doubt(&mut self, ask: &Ask) {
        if let Ask::Release(Which::One { id, .. })
        | Ask::Renew(Which::One { id, .. })
        | Ask::Transfer { which: Which::One { id, .. }, .. } = ask
        {
            self.drop_lease(id);
        }
    }

    fn drop_lease(&mut self, id: &str) {
        let (gone, held) = std::mem::take(&mut self.held).into_iter().partition(|(held, _)| held == id);
        self.held = held;
        let gone: Vec<(String, u64)> = gone;
        gone.into_iter().for_each(|(id, fence)| self.remember_stale(id, fence));
    }

    fn remember_stale(&mut self, id: String, fence: u64) {
        self.stale.push((id, fence));
        if self.stale.len() > STALE_MAX {
            self.stale.remove(0);
        }
    }
}
