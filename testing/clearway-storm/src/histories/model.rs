//! A plain model of leases on single files and the queue for them, written from the rules and not from the product. It
//! knows no clock: histories for it are over before anything runs out.

use super::ledger::mode_of;
use super::operation::{Ask, Ended, How, Which};
use super::witness::{Judged, is_taking};
use clearway_core::event::Body;
use clearway_core::lease::Mode;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What an operation was asked and answered.
#[derive(Clone, Debug)]
pub(super) enum Act {
    /// A reservation.
    Reserve { patterns: Vec<String>, mode: Mode, waits: Waits, got: Got },
    /// Something with leases of the caller.
    OnLeases { verb: Verb, which: Which, got: Got },
    /// A question.
    Check { pattern: String, mode: Mode, blockers: BTreeSet<String>, ahead: BTreeSet<String> },
    /// Leaving the queue at these places.
    Cancel(BTreeSet<String>),
    /// Others find that whoever waited here is gone.
    FoundGone(String),
    /// Becoming known.
    Come,
    /// Nothing.
    Nothing,
}

/// What is done with leases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Release,
    Renew,
    Transfer(String),
}

/// Whether a reservation stays when it is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    No,
    Queued,
    Attached,
}

/// What came of it.
#[derive(Clone, Debug)]
pub(super) enum Got {
    /// Leases by id with their fences, and what was over before.
    Leases { fences: BTreeMap<String, u64>, already: BTreeSet<String>, place: Option<String> },
    /// A place in the queue.
    Place(Option<String>),
    /// A refusal because of these.
    Held { blockers: BTreeSet<String>, ahead: BTreeSet<String> },
    /// Another refusal.
    Refused(String),
}

/// A lease.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Held {
    agent: String,
    pattern: String,
    mode: Mode,
    fence: u64,
    live: bool,
}

/// A place in the queue.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    id: String,
    agent: String,
    patterns: Vec<String>,
    mode: Mode,
}

/// The state.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Model {
    leases: BTreeMap<String, Held>,
    queue: Vec<Place>,
    known: BTreeSet<String>,
    last_fence: u64,
}

/// Where a step leads.
#[derive(Clone, Debug)]
pub(super) enum Next {
    Done(Model),
    Waits(Model),
}

impl Act {
    pub(super) fn of(judged: &Judged<'_>) -> Self {
        let operation = judged.operation;
        match &operation.ask {
            Ask::Sweep => Self::Nothing,
            _ if matches!(operation.ended, Ended::Killed) && judged.events.is_empty() => Self::Nothing,
            Ask::Reserve { .. } if judged.is_only_known() => Self::Come,
            Ask::Reserve { patterns, shared, how, .. } => {
                let waits = match how {
                    How::Now => Waits::No,
                    How::Queue => Waits::Queued,
                    How::Wait(_) => Waits::Attached,
                };
                Self::Reserve {
                    patterns: patterns.clone(),
                    mode: mode_of(*shared),
                    waits,
                    got: Got::of(judged),
                }
            }
            Ask::Release(which) => {
                Self::OnLeases { verb: Verb::Release, which: which.clone(), got: Got::of(judged) }
            }
            Ask::Renew(which) => {
                Self::OnLeases { verb: Verb::Renew, which: which.clone(), got: Got::of(judged) }
            }
            Ask::Transfer { which, to } => Self::OnLeases {
                verb: Verb::Transfer(to.clone()),
                which: which.clone(),
                got: Got::of(judged),
            },
            Ask::Check { pattern, shared } => {
                let reply = operation.success().unwrap_or(&Value::Null);
                let (blockers, ahead) = in_the_way(reply);
                Self::Check { pattern: pattern.clone(), mode: mode_of(*shared), blockers, ahead }
            }
            Ask::Cancel => Self::Cancel(match operation.success() {
                Some(reply) => texts(&reply["cancelled"]),
                None => {
                    judged.events.iter().filter_map(|event| Some(event.body.wait()?.to_string())).collect()
                }
            }),
        }
    }

    /// A killed waiter leaves a place that ends when others look.
    pub(super) fn found_gone(judged: &Judged<'_>) -> Option<Self> {
        matches!(judged.operation.ended, Ended::Killed)
            .then(|| place_of(judged).map(Self::FoundGone))
            .flatten()
    }
}

fn texts(list: &Value) -> BTreeSet<String> {
    list.as_array().into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

fn in_the_way(value: &Value) -> (BTreeSet<String>, BTreeSet<String>) {
    let names = |list: &str, name: &str| {
        let list = value[list].as_array().into_iter().flatten();
        list.filter_map(|one| one[name].as_str().map(str::to_owned)).collect()
    };
    (names("blockers", "id"), names("ahead", "wait"))
}

/// The place that an operation began or took up, if the log knows one.
fn place_of(judged: &Judged<'_>) -> Option<String> {
    judged.events.iter().find_map(|event| match &event.body {
        Body::WaitBegan(wait) => Some(wait.id.to_string()),
        Body::WaitAttached { wait, .. } => Some(wait.to_string()),
        _ => None,
    })
}

impl Got {
    fn of(judged: &Judged<'_>) -> Self {
        let operation = judged.operation;
        let place = place_of(judged);
        if let Some(reply) = operation.success() {
            let fence = |lease: &Value| Some((lease["id"].as_str()?.to_owned(), lease["fence"].as_u64()?));
            let shown = reply["leases"].as_array().into_iter().flatten().filter_map(fence);
            let released = texts(&reply["released"]).into_iter().map(|id| (id, 0));
            let already = texts(&reply["already_released"]);
            return match reply["queued"]["id"].as_str() {
                Some(id) => Self::Place(Some(id.to_owned())),
                None => Self::Leases { fences: shown.chain(released).collect(), already, place },
            };
        }
        if let Some(error) = operation.failure() {
            let (blockers, ahead) = in_the_way(&error["details"]);
            return match error["slug"].as_str() {
                Some("reservation-held") => Self::Held { blockers, ahead },
                slug => Self::Refused(slug.unwrap_or_default().to_owned()),
            };
        }
        let epoch = 1_u64 << 40;
        let acts = judged.events.iter().filter(|event| {
            is_taking(&event.body)
                || matches!(event.body, Body::LeaseReleased { .. } | Body::LeaseTransferred { .. })
        });
        let fence = |event: &&&clearway_core::event::Event| match &event.body {
            Body::LeaseGranted(lease) => Some((lease.id.to_string(), lease.fence.to_integer())),
            Body::LeaseUpgraded { lease, .. } | Body::LeaseTransferred { lease, .. } => {
                Some((lease.to_string(), epoch + event.seq.0))
            }
            body => body.lease().map(|id| (id.to_string(), 0)),
        };
        let fences: BTreeMap<String, u64> = acts.filter_map(|event| fence(&event)).collect();
        match (fences.is_empty(), place) {
            (true, Some(place)) => Self::Place(Some(place)),
            (true, None) => Self::Refused(String::new()),
            (false, place) => Self::Leases { fences, already: BTreeSet::new(), place },
        }
    }
}

impl Model {
    /// The state after an act with this answer; `None` if the answer would be wrong now.
    pub(super) fn after(&self, me: &str, act: &Act, waiting: bool) -> Option<Next> {
        let mut model = self.clone();
        match act {
            Act::Nothing => Some(Next::Done(model)),
            Act::Come => {
                model.known.insert(me.to_owned());
                Some(Next::Done(model))
            }
            Act::FoundGone(id) => {
                let before = model.queue.len();
                model.queue.retain(|place| place.id != *id);
                (model.queue.len() < before).then_some(Next::Done(model))
            }
            Act::Cancel(cancelled) => {
                let mine: BTreeSet<String> = self
                    .queue
                    .iter()
                    .filter(|place| place.agent == me)
                    .map(|place| place.id.clone())
                    .collect();
                model.queue.retain(|place| place.agent != me);
                (mine == *cancelled).then_some(Next::Done(model))
            }
            Act::Check { pattern, mode, blockers, ahead } => {
                let found = self.obstacles(me, std::slice::from_ref(pattern), *mode);
                (found == (blockers.clone(), ahead.clone())).then_some(Next::Done(model))
            }
            Act::Reserve { patterns, mode, waits, got } => {
                model.known.insert(me.to_owned());
                model.reserve(me, patterns, *mode, *waits, got, waiting)
            }
            Act::OnLeases { verb: Verb::Release, which, got } => {
                model.release(me, which, got).then_some(Next::Done(model))
            }
            Act::OnLeases { verb: Verb::Renew, which, got } => {
                self.renew(me, which, got).then_some(Next::Done(model))
            }
            Act::OnLeases { verb: Verb::Transfer(to), which, got } => {
                model.transfer(me, to, which, got).then_some(Next::Done(model))
            }
        }
    }

    fn live(&self) -> impl Iterator<Item = (&String, &Held)> {
        self.leases.iter().filter(|(_, held)| held.live)
    }

    fn own(&self, me: &str, pattern: &str) -> Option<(&String, &Held)> {
        self.live().find(|(_, held)| held.agent == me && held.pattern == pattern)
    }

    /// Leases and places in the way of a request, by id.
    fn obstacles(&self, me: &str, patterns: &[String], mode: Mode) -> (BTreeSet<String>, BTreeSet<String>) {
        let (mut blockers, mut ahead) = (BTreeSet::new(), BTreeSet::new());
        let includes = |place: &Place| {
            place.agent == me
                && place.mode >= mode
                && patterns.iter().all(|pattern| place.patterns.contains(pattern))
        };
        let own_place = self.queue.iter().position(includes).unwrap_or(self.queue.len());
        for pattern in patterns {
            let own = self.own(me, pattern);
            if own.is_some_and(|(_, held)| held.mode >= mode) {
                continue;
            }
            let others = self.live().filter(|(_, held)| {
                held.agent != me && held.pattern == *pattern && held.mode.conflicts_with(mode)
            });
            blockers.extend(others.map(|(id, _)| id.clone()));
            if own.is_none() {
                let earlier = self.queue[..own_place].iter().filter(|place| {
                    place.agent != me
                        && place.mode.conflicts_with(mode)
                        && place.patterns.contains(pattern)
                        && !self.blocks_already(me, pattern, place)
                });
                ahead.extend(earlier.map(|place| place.id.clone()));
            }
        }
        (blockers, ahead)
    }

    fn blocks_already(&self, me: &str, pattern: &str, place: &Place) -> bool {
        self.live().any(|(_, held)| {
            held.agent == me
                && held.pattern != pattern
                && place.patterns.contains(&held.pattern)
                && held.mode.conflicts_with(place.mode)
        })
    }

    fn reserve(
        mut self,
        me: &str,
        patterns: &[String],
        mode: Mode,
        waits: Waits,
        got: &Got,
        waiting: bool,
    ) -> Option<Next> {
        let found = self.obstacles(me, patterns, mode);
        let is_free = found.0.is_empty() && found.1.is_empty();
        match (is_free, got) {
            (true, Got::Leases { fences, .. }) => {
                self.take(me, patterns, mode, fences).then_some(())?;
                Some(Next::Done(self))
            }
            (false, Got::Held { blockers, ahead }) if waits == Waits::No => {
                (found == (blockers.clone(), ahead.clone())).then_some(Next::Done(self))
            }
            (false, Got::Leases { place, .. }) if waits == Waits::Attached && !waiting => {
                self.stay(me, patterns, mode, place.clone()?);
                Some(Next::Waits(self))
            }
            (false, Got::Place(place)) => {
                self.stay(me, patterns, mode, place.clone()?);
                Some(Next::Done(self))
            }
            (false, Got::Refused(slug)) if waits != Waits::No && slug == "would-deadlock" => {
                Some(Next::Done(self))
            }
            // A killed one of which the log knows nothing but that it was refused.
            (false, Got::Refused(slug)) if slug.is_empty() => Some(Next::Done(self)),
            _ => None,
        }
    }

    fn stay(&mut self, me: &str, patterns: &[String], mode: Mode, id: String) {
        if !self.queue.iter().any(|place| place.id == id) {
            self.queue.push(Place { id, agent: me.to_owned(), patterns: patterns.to_vec(), mode });
        }
    }

    /// Takes what is free; the ids and fences have to be those of the answer.
    fn take(&mut self, me: &str, patterns: &[String], mode: Mode, fences: &BTreeMap<String, u64>) -> bool {
        let mut left = fences.clone();
        // All of one request is granted at once: what rises has to pass everything before, not each other.
        let last_fence = self.last_fence;
        for pattern in patterns {
            let own = self.own(me, pattern).map(|(id, held)| (id.clone(), held.clone()));
            let Some((id, held)) = own else { continue };
            let Some(fence) = left.remove(&id) else { return false };
            let rises = held.mode < mode;
            // The log does not repeat the fence of what only went on.
            if !rises && fence != 0 && fence != held.fence || rises && fence <= last_fence {
                return false;
            }
            let fence = if rises { fence } else { held.fence };
            self.last_fence = self.last_fence.max(fence);
            self.leases.insert(id, Held { mode, fence, ..held });
        }
        let mut fresh: Vec<(String, u64)> = left.into_iter().collect();
        fresh.sort_by_key(|(_, fence)| *fence);
        let wanted: Vec<String> =
            patterns.iter().filter(|pattern| self.own(me, pattern).is_none()).cloned().collect();
        if fresh.len() != wanted.len() {
            return false;
        }
        for ((id, fence), pattern) in fresh.into_iter().zip(wanted) {
            if self.leases.contains_key(&id) || fence <= last_fence {
                return false;
            }
            self.last_fence = self.last_fence.max(fence);
            self.leases.insert(id, Held { agent: me.to_owned(), pattern, mode, fence, live: true });
        }
        self.leave_fulfilled(me);
        true
    }

    /// Whoever holds all it waits for waits no longer.
    fn leave_fulfilled(&mut self, me: &str) {
        let held: Vec<(String, Mode)> = self
            .live()
            .filter(|(_, held)| held.agent == me)
            .map(|(_, held)| (held.pattern.clone(), held.mode))
            .collect();
        let has = |pattern: &String, mode: Mode| {
            held.iter().any(|(own, own_mode)| own == pattern && *own_mode >= mode)
        };
        self.queue.retain(|place| {
            place.agent != me || !place.patterns.iter().all(|pattern| has(pattern, place.mode))
        });
    }

    /// The leases that a caller means, or why it may not have them. What is over is nobody's, and may be named by
    /// anybody who knows its fence.
    fn meant(&self, me: &str, which: &Which) -> Result<Vec<String>, &'static str> {
        let mine = |wanted: &dyn Fn(&Held) -> bool| {
            let own = self.live().filter(|(_, held)| held.agent == me && wanted(held));
            own.map(|(id, _)| id.clone()).collect::<Vec<_>>()
        };
        match which {
            Which::All => Ok(mine(&|_| true)),
            Which::Inside(pattern) => Ok(mine(&|held| held.pattern == *pattern)),
            Which::One { id, fence } => match self.leases.get(id) {
                None => Err("not-found"),
                Some(held) if held.fence != *fence => Err("stale-fence"),
                Some(held) if !held.live => Err("lease-expired"),
                Some(held) if held.agent != me => Err("not-holder"),
                Some(_) => Ok(vec![id.clone()]),
            },
        }
    }

    fn renew(&self, me: &str, which: &Which, got: &Got) -> bool {
        match (self.meant(me, which), got) {
            (Ok(meant), Got::Leases { fences, .. }) => {
                let same = |id: &String| {
                    fences.get(id).is_some_and(|fence| {
                        *fence == 0 || self.leases.get(id).is_some_and(|held| held.fence == *fence)
                    })
                };
                meant.len() == fences.len() && meant.iter().all(same)
            }
            (Err(why), Got::Refused(slug)) => slug.is_empty() || slug == why,
            _ => false,
        }
    }

    fn release(&mut self, me: &str, which: &Which, got: &Got) -> bool {
        let meant = self.meant(me, which);
        let (released, already) = match got {
            Got::Leases { fences, already, .. } => (fences.keys().cloned().collect::<Vec<_>>(), already),
            Got::Refused(slug) => return meant.is_err_and(|why| slug.is_empty() || slug == why),
            _ => return false,
        };
        let (live, over) = match (meant, which) {
            (Ok(live), _) => (live, BTreeSet::new()),
            (Err("lease-expired"), Which::One { id, .. }) => (Vec::new(), BTreeSet::from([id.clone()])),
            (Err(_), _) => return false,
        };
        for id in &live {
            self.leases.entry(id.clone()).and_modify(|held| held.live = false);
        }
        live == released && over == *already
    }

    fn transfer(&mut self, me: &str, to: &str, which: &Which, got: &Got) -> bool {
        let meant = if self.known.contains(to) { self.meant(me, which) } else { Err("not-found") };
        let (ids, fences) = match (meant, got) {
            (Err(why), Got::Refused(slug)) => return slug.is_empty() || slug == why,
            (Ok(_), Got::Refused(slug)) => return slug == "would-deadlock",
            (Ok(ids), Got::Leases { fences, .. }) => (ids, fences),
            _ => return false,
        };
        let good = ids.iter().all(|id| self.hand_over(id, to, fences));
        self.leave_fulfilled(to);
        good
    }

    /// Whoever holds the very same already has one lease on it afterwards: the stronger one.
    fn hand_over(&mut self, id: &String, to: &str, fences: &BTreeMap<String, u64>) -> bool {
        let Some(held) = self.leases.get(id).cloned() else { return false };
        let same = self.own(to, &held.pattern).map(|(id, own)| (id.clone(), own.clone()));
        if let Some((own, stronger)) = same.clone().filter(|(_, own)| own.mode >= held.mode) {
            self.leases.insert(id.clone(), Held { live: false, ..held });
            return fences.get(&own).is_none_or(|fence| *fence == 0 || *fence == stronger.fence);
        }
        if let Some((own, weaker)) = same {
            self.leases.insert(own, Held { live: false, ..weaker });
        }
        let Some(fence) = fences.get(id).copied().filter(|fence| *fence > self.last_fence) else {
            return false;
        };
        self.last_fence = fence;
        self.leases.insert(id.clone(), Held { agent: to.to_owned(), fence, ..held });
        true
    }
}
