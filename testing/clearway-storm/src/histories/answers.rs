//! Whether the answer of a success is true at its revision, and whether its events say the same.

use super::breach::{Breach, Rule};
use super::ledger::{Ledger, adds_to, mode_of};
use super::operation::{Ask, Which};
use super::witness::{Judged, is_taking, means, target_of};
use clearway_core::event::Body;
use clearway_core::ids::LeaseId;
use clearway_core::lease::Lease;
use clearway_core::wait::Wait;
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) fn judge(one: &Judged<'_>, ledger: &Ledger) -> Result<(), Breach> {
    let operation = one.operation;
    let Some((reply, rev)) = operation.success().zip(operation.rev()) else {
        return Err(Breach::new(
            Rule::AnswersAreTrue,
            format!("{}: a success without revision", operation.mark()),
        ));
    };
    let answer = Answer { one, ledger, reply, rev };
    if rev > ledger.rev() {
        return answer.untrue("its revision is not in the log");
    }
    match &operation.ask {
        Ask::Reserve { patterns, .. } => answer.reserved(patterns),
        Ask::Renew(which) => answer.renewed(which),
        Ask::Release(which) => answer.released(which),
        Ask::Transfer { which, to } => answer.transferred(which, to),
        Ask::Check { pattern, shared } => answer.checked(pattern, *shared),
        Ask::Cancel => answer.cancelled(),
        Ask::Sweep => answer.swept(),
    }
}

/// One answer beside the log.
struct Answer<'a> {
    one: &'a Judged<'a>,
    ledger: &'a Ledger,
    reply: &'a Value,
    rev: u64,
}

impl Answer<'_> {
    fn breach(&self, rule: Rule, text: &str) -> Result<(), Breach> {
        let operation = self.one.operation;
        Err(Breach::new(rule, format!("{} of {} at {}: {text}", operation.mark(), operation.agent, self.rev)))
    }

    fn untrue(&self, text: &str) -> Result<(), Breach> {
        self.breach(Rule::AnswersAreTrue, text)
    }

    fn list(&self, name: &str) -> &[Value] {
        self.reply[name].as_array().map_or(&[], Vec::as_slice)
    }

    fn ids(&self, name: &str) -> BTreeSet<String> {
        self.list(name).iter().filter_map(|id| id.as_str().map(str::to_owned)).collect()
    }

    /// Every lease of the answer is what the log says it is, with this holder.
    fn leases_are_so(&self, holder: &str) -> Result<(), Breach> {
        for shown in self.list("leases") {
            let id = shown["id"].as_str().unwrap_or_default();
            let Some(lease) = self.ledger.lease(id).and_then(|line| line.at(self.rev)) else {
                return self.untrue(&format!("{id} is not live"));
            };
            let same = shown["fence"].as_u64() == Some(lease.fence.to_integer())
                && shown["mode"] == lease.mode.word()
                && shown["pattern"] == lease.target.display()
                && shown["agent_id"] == lease.holder.as_str()
                && shown["agent"] == holder
                && self.ledger.agents.get(holder) == Some(&lease.holder);
            if !same {
                return self.untrue(&format!("{shown} is not {lease:?}"));
            }
        }
        Ok(())
    }

    /// What the events of the operation took or gave, by lease.
    fn own(&self, wanted: fn(&Body) -> bool) -> BTreeSet<String> {
        let events = self.one.events.iter().filter(|event| wanted(&event.body));
        events.filter_map(|event| event.body.lease()).map(|id| id.to_string()).collect()
    }

    fn shown(&self) -> BTreeSet<String> {
        self.list("leases").iter().filter_map(|lease| lease["id"].as_str().map(str::to_owned)).collect()
    }

    fn reserved(&self, patterns: &[String]) -> Result<(), Breach> {
        self.leases_are_so(&self.one.operation.agent)?;
        if self.own(is_taking) != self.shown() {
            return self.untrue(&format!(
                "{:?} were taken, {:?} are shown",
                self.own(is_taking),
                self.shown()
            ));
        }
        if self.reply["queued"].is_object() {
            return self.queued();
        }
        let held: Vec<&Lease> =
            self.shown().iter().filter_map(|id| self.ledger.lease(id)?.at(self.rev)).collect();
        let is_held = |pattern: &String| {
            target_of(pattern).is_some_and(|wanted| held.iter().any(|lease| lease.target.covers(&wanted)))
        };
        if patterns.iter().all(is_held) { Ok(()) } else { self.untrue("not everything asked for is held") }
    }

    fn queued(&self) -> Result<(), Breach> {
        let id = self.reply["queued"]["id"].as_str().unwrap_or_default();
        let place = self.ledger.wait(id);
        let so = |line: &&super::ledger::WaitLine| {
            line.from <= self.rev && self.rev < line.to && Some(line.wait.agent) == self.one.me
        };
        if place.filter(so).is_none() {
            return self.untrue(&format!("{id} is no place of its own in the queue"));
        }
        if self.shown().is_empty() { Ok(()) } else { self.untrue("it waits and has leases too") }
    }

    fn renewed(&self, which: &Which) -> Result<(), Breach> {
        self.leases_are_so(&self.one.operation.agent)?;
        if self.own(is_taking) != self.shown() {
            return self.untrue(&format!(
                "{:?} were renewed, {:?} are shown",
                self.own(is_taking),
                self.shown()
            ));
        }
        if *which == Which::All && self.held() != self.shown() {
            return self.untrue(&format!("{:?} are held, {:?} were renewed", self.held(), self.shown()));
        }
        self.fences_held(which)?;
        self.in_time()
    }

    fn held(&self) -> BTreeSet<String> {
        let mine = self.ledger.live_at(self.rev).filter(|lease| Some(lease.holder) == self.one.me);
        mine.map(|lease| lease.id.to_string()).collect()
    }

    /// Right before the operation acted on it, a lease had the fence that was presented, and was the caller's.
    fn fences_held(&self, which: &Which) -> Result<(), Breach> {
        for event in &self.one.events {
            let acts = is_taking(&event.body)
                || matches!(event.body, Body::LeaseReleased { .. } | Body::LeaseTransferred { .. });
            let Some(id) = event.body.lease().filter(|_| acts) else { continue };
            let before = self.ledger.leases.get(&id).and_then(|line| line.at(event.seq.0 - 1));
            let presented = match which {
                Which::One { id: named, fence } if named == id.as_str() => Some(*fence),
                _ => None,
            };
            let is_good = before.is_some_and(|lease| {
                presented.is_none_or(|fence| fence == lease.fence.to_integer())
                    && (presented.is_none() || Some(lease.holder) == self.one.me)
            });
            if !is_good {
                return self
                    .breach(Rule::FencesHold, &format!("event {} acted on {id}: {before:?}", event.seq));
            }
        }
        Ok(())
    }

    /// At or after its deadline no lease is renewed, counting every sign of life its holder may have given before.
    fn in_time(&self) -> Result<(), Breach> {
        let asked_ms = self.one.operation.invoked_ns / 1_000_000;
        for event in self.one.events.iter().filter(|event| is_taking(&event.body)) {
            let Some(id) = event.body.lease() else { continue };
            let before = self.ledger.leases.get(&id).and_then(|line| line.at(event.seq.0 - 1));
            let late = before.is_some_and(|lease| {
                asked_ms >= lease.deadline.0.max(self.one.seen_before_ms + lease.ttl_ms)
            });
            if late {
                return self.breach(Rule::FencesHold, &format!("{id} was renewed after its deadline"));
            }
        }
        Ok(())
    }

    fn released(&self, which: &Which) -> Result<(), Breach> {
        let released = self.own(|body| matches!(body, Body::LeaseReleased { .. }));
        if released != self.ids("released") {
            return self.untrue(&format!("{released:?} were released, {:?} are named", self.ids("released")));
        }
        self.fences_held(which)?;
        let live = |id: &String| self.ledger.lease(id).is_some_and(|line| line.at(self.rev).is_some());
        if let Some(id) = self.ids("already_released").iter().find(|id| live(id)) {
            return self.untrue(&format!("{id} is said to be released and lives"));
        }
        let mut mine = self.ledger.live_at(self.rev).filter(|lease| Some(lease.holder) == self.one.me);
        match mine.find(|lease| means(which, lease.id.as_str(), &lease.target)) {
            Some(lease) => self.untrue(&format!("{} was to be released and lives", lease.id)),
            None => Ok(()),
        }
    }

    fn transferred(&self, which: &Which, to: &str) -> Result<(), Breach> {
        self.leases_are_so(to)?;
        if self.shown().is_empty() && matches!(which, Which::One { .. }) {
            return self.untrue("nothing was handed over");
        }
        self.fences_held(which)
    }

    fn cancelled(&self) -> Result<(), Breach> {
        let ended: BTreeSet<String> =
            self.one.events.iter().filter_map(|event| event.body.wait()).map(|id| id.to_string()).collect();
        if ended != self.ids("cancelled") {
            return self.untrue(&format!("{ended:?} were left, {:?} are named", self.ids("cancelled")));
        }
        let stays = self.waits().find(|wait| Some(wait.agent) == self.one.me);
        stays.map_or(Ok(()), |wait| self.untrue(&format!("{} is still in the queue", wait.id)))
    }

    fn waits(&self) -> impl Iterator<Item = &Wait> {
        let here = |line: &&super::ledger::WaitLine| line.from <= self.rev && self.rev < line.to;
        self.ledger.waits.values().filter(here).map(|line| &line.wait)
    }

    fn swept(&self) -> Result<(), Breach> {
        let is_expiry = |seq: u64, id: LeaseId| {
            let event = seq.checked_sub(1).and_then(|index| self.ledger.events.get(index as usize));
            event.is_some_and(|event| matches!(event.body, Body::LeaseExpired { lease, .. } if lease == id))
        };
        for id in self.ids("expired").iter().filter_map(|id| LeaseId::parse(id)) {
            let end =
                self.ledger.leases.get(&id).and_then(|line| line.spans.last()).map_or(0, |span| span.to);
            if !self.one.window.holds(end) || end > self.rev || !is_expiry(end, id) {
                return self.untrue(&format!("{id} did not expire by this"));
            }
        }
        Ok(())
    }

    fn checked(&self, pattern: &str, shared: bool) -> Result<(), Breach> {
        let Some(asked) = self.asked(pattern, shared) else {
            return self.untrue("cannot read what was asked");
        };
        match self.reply["clear"].as_bool() {
            Some(true) => self.clear(&asked),
            Some(false) => self.not_clear(&asked),
            None => self.untrue("it says neither clear nor not"),
        }
    }

    /// The lease that was asked about, in the form of one the caller holds.
    fn asked(&self, pattern: &str, shared: bool) -> Option<Lease> {
        let any = &self.ledger.leases.values().next()?.lease;
        let (target, mode) = (target_of(pattern)?, mode_of(shared));
        let holder = self.one.me.unwrap_or(any.holder);
        Some(Lease { target, mode, holder, ..any.clone() })
    }

    fn in_the_way(&self, lease: &Lease, asked: &Lease) -> bool {
        (Some(lease.holder) != self.one.me)
            && lease.mode.conflicts_with(asked.mode)
            && lease.target.overlaps(&asked.target)
    }

    /// Nobody who certainly lived then was in the way.
    fn clear(&self, asked: &Lease) -> Result<(), Breach> {
        let by_ms = self.one.operation.completed_ns / 1_000_000 + 1;
        let certain = |lease: &&Lease| self.in_the_way(lease, asked) && lease.deadline.0 > by_ms;
        if let Some(lease) = self.ledger.live_at(self.rev).find(certain) {
            return self.untrue(&format!("it says clear, and {} holds {}", lease.holder, lease.id));
        }
        let mine: Vec<&Lease> =
            self.ledger.live_at(self.rev).filter(|lease| Some(lease.holder) == self.one.me).collect();
        if mine.iter().any(|lease| lease.target.overlaps(&asked.target)) {
            return Ok(());
        }
        let waits_longer = |wait: &&Wait| {
            Some(wait.agent) != self.one.me
                && wait.attached.is_none()
                && wait.until.0 > by_ms
                && wait.wanted.conflicts_with_lease(asked)
                && !mine.iter().any(|held| adds_to(held, asked, wait))
        };
        let place = self.waits().filter(|wait| Some(wait.agent) == self.one.me).map(|wait| wait.place).min();
        match self.waits().find(waits_longer) {
            Some(wait) if place.is_none() => self.untrue(&format!("it says clear, and {} waits", wait.id)),
            _ => Ok(()),
        }
    }

    fn not_clear(&self, asked: &Lease) -> Result<(), Breach> {
        for blocker in self.list("blockers") {
            let lease = blocker["id"].as_str().and_then(|id| self.ledger.lease(id)?.at(self.rev));
            let fence = blocker["fence"].as_u64();
            if !lease
                .is_some_and(|lease| self.in_the_way(lease, asked) && fence == Some(lease.fence.to_integer()))
            {
                return self.untrue(&format!("{blocker} is not in the way"));
            }
        }
        for ahead in self.list("ahead") {
            let id = ahead["wait"].as_str().unwrap_or_default();
            if !self.waits().any(|wait| wait.id.as_str() == id && wait.wanted.conflicts_with_lease(asked)) {
                return self.untrue(&format!("{id} is not before it"));
            }
        }
        let somebody = !self.list("blockers").is_empty() || !self.list("ahead").is_empty();
        if somebody { Ok(()) } else { self.untrue("it is not clear, and nobody is in the way") }
    }
}
