//! What truly stands in the way of a request, by the books and the truth about the outside.

use crate::ground;
use crate::ledger::Ledger;
use crate::world::SimWorld;
use clearway_core::command::{Reserve, Want};
use clearway_core::facts::{Process, ProcessLife};
use clearway_core::ids::AgentId;
use clearway_core::lease::{Grade, Lease, Mode};
use clearway_core::target::Target;
use clearway_core::time::Now;
use clearway_core::wait::Wait;
use std::collections::BTreeSet;

/// Silence after which a waiting process counts as gone.
pub(crate) const SILENCE_MS: u64 = 10_000;

/// The books at an instant, in a world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way<'a> {
    pub(crate) ledger: &'a Ledger,
    pub(crate) world: &'a SimWorld,
    pub(crate) now: &'a Now,
}

/// Who asks for what, from which place in the queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asker<'a> {
    pub(crate) agent: AgentId,
    pub(crate) wanted: &'a Reserve,
    pub(crate) place: u64,
}

/// An agent, and the command of it that is meant.
type Who<'a> = (AgentId, Option<&'a Process>);

impl Asker<'_> {
    fn who(&self) -> Who<'_> {
        (self.agent, self.wanted.bound.as_ref())
    }
}

impl<'a> Way<'a> {
    /// Somebody who asks now, from the earliest place at which it waits for the same.
    pub(crate) fn asker(&self, agent: AgentId, wanted: &'a Reserve) -> Asker<'a> {
        let includes = |wait: &&Wait| {
            wait.agent == agent
                && wait.wanted.mode >= wanted.mode
                && (wait.wanted.bound == wanted.bound || is_kept_for_agent(wait))
                && wanted.wants.iter().all(|want| {
                    let there = &wait.wanted.worktree;
                    let mut own = wait.wanted.wants.iter();
                    own.any(|own| ground::within(&want.target, &wanted.worktree, &own.target, there))
                })
        };
        let place = self.ledger.waits.values().filter(includes).map(|wait| wait.place.0).min();
        Asker { agent, wanted, place: place.unwrap_or(u64::MAX) }
    }

    /// Somebody at its own place in the queue.
    pub(crate) fn waiter(&self, wait: &'a Wait) -> Asker<'a> {
        Asker { agent: wait.agent, wanted: &wait.wanted, place: wait.place.0 }
    }

    /// The asker's own lease that answers the want, unless its mode has to change first.
    pub(crate) fn own(&self, asker: &Asker<'_>, want: &Want) -> Option<&'a Lease> {
        if self.changes_mode(asker, want) {
            return None;
        }
        self.mine(asker, want).find(|lease| {
            let here = &asker.wanted.worktree;
            lease.mode >= asker.wanted.mode && ground::covers(lease, &want.target, here)
        })
    }

    /// Whether the want is to make the asker's own shared lease exclusive.
    pub(crate) fn is_upgrade(&self, asker: &Asker<'_>, want: &Want) -> bool {
        self.mine(asker, want).any(|lease| lease.target == want.target && lease.mode < asker.wanted.mode)
    }

    fn mine(&self, asker: &Asker<'_>, want: &Want) -> impl Iterator<Item = &'a Lease> {
        let (agent, bound) = (asker.agent, asker.wanted.bound.clone());
        let there = self.ledger.on(&want.target, &asker.wanted.worktree, self.now).into_iter();
        there.filter(move |lease| lease.holder == agent && lease.bound == bound)
    }

    /// Leases that keep the want from being granted, whether or not they may be ended for it.
    pub(crate) fn leases(&self, asker: &Asker<'_>, want: &Want) -> Vec<&'a Lease> {
        let mut found = self.ledger.on(&want.target, &asker.wanted.worktree, self.now);
        found.retain(|lease| {
            is_conflict(lease.mode, asker.wanted.mode)
                && self.can_block((lease.holder, lease.bound.as_ref()), asker.who())
        });
        found
    }

    fn changes_mode(&self, asker: &Asker<'_>, want: &Want) -> bool {
        self.mine(asker, want).any(|lease| lease.target == want.target && lease.mode != asker.wanted.mode)
    }

    /// Earlier waits that would be overtaken. Whoever changes the mode of what it holds is waited for already.
    pub(crate) fn waits(&self, asker: &Asker<'_>, want: &Want) -> Vec<&'a Wait> {
        if self.changes_mode(asker, want) {
            return Vec::new();
        }
        let conflicts = |wait: &&Wait| {
            wait.place.0 < asker.place
                && is_conflict(wait.wanted.mode, asker.wanted.mode)
                && self.can_block((wait.agent, wait.wanted.bound.as_ref()), asker.who())
                && ground::touches(&wait.wanted, &want.target, &asker.wanted.worktree)
                && self.is_waiting(wait)
                && !self.adds_to_what_blocks(asker, want, wait)
        };
        self.ledger.waits.values().filter(conflicts).collect()
    }

    /// Whoever is in the way of a wait already may add to what it holds; others of its family, and its other commands,
    /// may not take one more share or unit of the same, and not what has to end first.
    pub(crate) fn adds_to_what_blocks(&self, asker: &Asker<'_>, want: &Want, wait: &Wait) -> bool {
        let family = self.ledger.family(asker.agent);
        let in_the_way: Vec<_> = self.leases(asker, want).into_iter().map(|lease| lease.id).collect();
        self.ledger.live(self.now).into_iter().any(|lease| {
            self.ledger.family(lease.holder) == family
                && !is_one_more(asker, lease, want)
                && !in_the_way.contains(&lease.id)
                && is_conflict(lease.mode, wait.wanted.mode)
                && ground::asks_for(&wait.wanted, lease)
                && self
                    .can_block((lease.holder, lease.bound.as_ref()), (wait.agent, wait.wanted.bound.as_ref()))
        })
    }

    /// Whether one may be in the other's way: it is not above the other, or is another command of the same agent.
    fn can_block(&self, one: Who<'_>, other: Who<'_>) -> bool {
        !self.ledger.is_above(one.0, other.0) || (one.0 == other.0 && one.1.is_some() && one.1 != other.1)
    }

    /// How many may be in the way before the want cannot be granted.
    pub(crate) fn free(&self, asker: &Asker<'_>, want: &Want) -> usize {
        // What a command kept is free when that is dead, whether or not anybody wrote it down.
        let is_shared = |lease: &&Lease| lease.mode == Mode::Shared && !self.has_lost_its_process(lease);
        let shared = self.leases(asker, want).iter().any(is_shared);
        let several = asker.wanted.mode == Mode::Exclusive && !shared;
        if several { ground::capacity(&want.target) - 1 } else { 0 }
    }

    /// Whether the want cannot be granted. Leases that `may_end` accepts are taken not to be in the way.
    pub(crate) fn is_blocked(
        &self,
        asker: &Asker<'_>,
        want: &Want,
        may_end: impl Fn(&Lease) -> bool,
    ) -> bool {
        if self.own(asker, want).is_some() {
            return false;
        }
        let mut leases = self.leases(asker, want);
        leases.retain(|lease| !may_end(lease));
        units(&leases) + self.waits(asker, want).len() > self.free(asker, want)
    }

    /// Whether a lease is free for whoever asks: its command, or without one its holder, is provably dead, or it is automatic and
    /// its file is unchanged.
    pub(crate) fn is_takeable(&self, lease: &Lease) -> bool {
        self.is_abandoned(lease) || self.is_unchanged(lease)
    }

    pub(crate) fn is_abandoned(&self, lease: &Lease) -> bool {
        match lease.bound {
            Some(_) => self.has_lost_its_process(lease),
            None => self.is_dead_agent(lease.holder),
        }
    }

    pub(crate) fn has_lost_its_process(&self, lease: &Lease) -> bool {
        lease.bound.as_ref().is_some_and(|process| self.is_dead(process))
    }

    pub(crate) fn is_unchanged(&self, lease: &Lease) -> bool {
        may_yield(lease) && !self.world.is_dirty(&lease.worktree, lease.target.canonical())
    }

    pub(crate) fn is_dead_agent(&self, agent: AgentId) -> bool {
        let process = self.ledger.agents.get(&agent).and_then(|agent| agent.process.as_ref());
        process.is_some_and(|process| self.is_dead(process))
    }

    pub(crate) fn is_dead(&self, process: &Process) -> bool {
        self.world.liveness(process) == ProcessLife::Dead
    }

    /// Whether a place in the queue still counts.
    pub(crate) fn is_waiting(&self, wait: &Wait) -> bool {
        let dead = wait.attached.as_ref().is_some_and(|process| self.is_dead(process));
        !dead && !self.is_dead_agent(wait.agent) && !self.is_overdue(wait)
    }

    /// Whether a wait is over by the clock alone.
    pub(crate) fn is_overdue(&self, wait: &Wait) -> bool {
        self.now.mono >= wait.until || self.is_silent(wait)
    }

    pub(crate) fn is_silent(&self, wait: &Wait) -> bool {
        let heard = self.ledger.heard(wait, self.now);
        wait.attached.is_some() && self.now.mono.0 >= heard.0 + SILENCE_MS
    }
}

impl<'a> Asker<'a> {
    /// What has to be granted: whatever lies within an earlier want comes with it.
    pub(crate) fn wants(&self) -> impl Iterator<Item = &'a Want> + use<'a> {
        let Reserve { wants, worktree, .. } = self.wanted;
        let comes_along = |index: usize| {
            let outer = &wants[..index];
            outer.iter().any(|want| ground::within(&wants[index].target, worktree, &want.target, worktree))
        };
        (0..wants.len()).filter(move |index| !comes_along(*index)).map(|index| &wants[index])
    }
}

/// How many units these are: two of one family may work on one.
pub(crate) fn units(leases: &[&Lease]) -> usize {
    let slots: BTreeSet<u32> = leases.iter().filter_map(|lease| lease.slot).collect();
    slots.len() + leases.iter().filter(|lease| lease.slot.is_none()).count()
}

/// Whether a place is kept for an agent, whichever of its commands comes for it.
pub(crate) fn is_kept_for_agent(wait: &Wait) -> bool {
    wait.wanted.bound.is_none() && wait.attached.is_none()
}

fn is_one_more(asker: &Asker<'_>, lease: &Lease, want: &Want) -> bool {
    let is_mine = lease.holder == asker.agent && lease.bound == asker.wanted.bound;
    let is_one_of_several = lease.mode == Mode::Shared || ground::capacity(&want.target) > 1;
    let within = ground::covers(lease, &want.target, &asker.wanted.worktree);
    !is_mine && is_one_of_several && within
}

/// Whether two holders of the same would be in each other's way.
pub(crate) fn is_conflict(one: Mode, other: Mode) -> bool {
    one == Mode::Exclusive || other == Mode::Exclusive
}

/// Whether a lease could yield at all: automatic, and on one file.
pub(crate) fn may_yield(lease: &Lease) -> bool {
    matches!(&lease.target, Target::Path(path) if path.as_literal().is_some()) && lease.grade == Grade::Auto
}
