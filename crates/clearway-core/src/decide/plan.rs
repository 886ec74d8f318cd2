//! What a request for leases would do: grant, extend, raise, lower, or be refused, and by whom.
//!
//! The plan is made for all targets before anything is written, so that all-or-nothing is a comparison and not
//! a repair.

use super::draft::Draft;
use super::way::{RoomWhy, may_end};
use crate::command::{Reserve, Want};
use crate::facts::{FactQuery, Facts, Process};
use crate::failure::{Ahead, LeaseView};
use crate::ids::{AgentId, LeaseId, Seq};
use crate::lease::{Grade, Lease, Mode};
use crate::target::Target;
use crate::wait::WaitView;
use std::collections::BTreeSet;

/// What would become of one target.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A new lease, after these made room.
    Grant { slot: Option<u32>, room: Vec<Room> },
    /// The same lease, extended.
    Extend(LeaseId),
    /// The same lease, which makes way no more.
    Claim(LeaseId),
    /// The same lease, made exclusive, after these made room.
    Upgrade { lease: LeaseId, slot: Option<u32>, room: Vec<Room> },
    /// The same lease, made shared, after these made room.
    Downgrade { lease: LeaseId, room: Vec<Room> },
    /// Another target of this request covers it.
    Covered,
    /// Nothing: git ignores it, so nobody holds it and nobody is kept from it.
    Ignored,
    /// Nothing: these stand in the way.
    Blocked(Blocked),
}

impl Step {
    /// Whether it is for more than the caller has.
    pub(super) fn is_new(&self) -> bool {
        !matches!(
            self,
            Self::Extend(_) | Self::Claim(_) | Self::Downgrade { .. } | Self::Covered | Self::Ignored
        )
    }

    /// What has to end for it.
    pub(super) fn room(&self) -> &[Room] {
        match self {
            Self::Grant { room, .. } | Self::Upgrade { room, .. } | Self::Downgrade { room, .. } => room,
            Self::Extend(_) | Self::Claim(_) | Self::Covered | Self::Ignored | Self::Blocked(_) => &[],
        }
    }
}

/// What keeps a request from being granted.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocked {
    pub(super) leases: Vec<LeaseView>,
    /// Earlier waits that the request would overtake.
    pub(super) ahead: Vec<Ahead>,
}

/// A lease that ends, or gives a path, so that a request can be granted.
#[derive(Clone, Debug)]
pub(super) struct Room {
    pub(super) lease: Lease,
    pub(super) why: RoomWhy,
}

/// Everyone in the way of any step, each lease once.
pub(super) fn blockers(steps: &[Step]) -> Vec<LeaseView> {
    let mut seen = BTreeSet::new();
    blocked(steps)
        .flat_map(|blocked| &blocked.leases)
        .filter(|blocker| seen.insert(blocker.lease.id))
        .cloned()
        .collect()
}

/// Every earlier wait in the way of any step, each once.
pub(super) fn ahead(steps: &[Step]) -> Vec<Ahead> {
    let mut seen = BTreeSet::new();
    blocked(steps)
        .flat_map(|blocked| &blocked.ahead)
        .filter(|ahead| seen.insert(ahead.wait))
        .cloned()
        .collect()
}

pub(super) fn blocked(steps: &[Step]) -> impl Iterator<Item = &Blocked> {
    steps.iter().filter_map(|step| match step {
        Step::Blocked(blocked) => Some(blocked),
        _ => None,
    })
}

/// Makes plans from one draft.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planner<'a> {
    draft: &'a Draft<'a>,
    me: AgentId,
    reserve: &'a Reserve,
    facts: &'a Facts,
    /// The requester's place in the queue: only who waits longer goes first.
    place: Seq,
    /// Whether what git ignores is left out: a hook asks for what its agent writes, whatever that is.
    leaves_out_ignored: bool,
}

impl<'a> Planner<'a> {
    pub(super) fn new(draft: &'a Draft<'a>, me: AgentId, reserve: &'a Reserve) -> Self {
        let serves = |view: &&WaitView| view.wait.agent == me && view.wait.serves(reserve);
        let place = draft.queue.iter().filter(serves).map(|view| view.wait.place).min();
        let leaves_out_ignored = draft.is_hook && reserve.grade == Grade::Auto;
        Self { leaves_out_ignored, ..Self::at(draft, me, reserve, place.unwrap_or(Seq(u64::MAX))) }
    }

    /// What an agent would get that asks from this place.
    pub(super) fn at(draft: &'a Draft<'a>, me: AgentId, reserve: &'a Reserve, place: Seq) -> Self {
        Self { draft, me, reserve, facts: draft.facts, place, leaves_out_ignored: false }
    }

    /// The same, were these the facts.
    pub(super) fn knowing(self, facts: &'a Facts) -> Self {
        Self { facts, ..self }
    }

    /// One step for each thing wanted, or the facts that are missing.
    pub(super) fn plan(&self) -> Result<Vec<Step>, BTreeSet<FactQuery>> {
        let mut queries = BTreeSet::new();
        let wants = &self.reserve.wants;
        let mut steps: Vec<Step> = Vec::with_capacity(wants.len());
        for (index, want) in wants.iter().enumerate() {
            let earlier = wants[..index].iter().zip(&steps);
            // What comes along with something is in nobody's way by itself, unless it may be had alone.
            let covered = |(other, step): (&Want, &Step)| {
                let is_firm = !self.reserve.gives_way(&other.target) || self.is_lenient(want);
                let comes_along = !self.reserve.best_effort || !matches!(step, Step::Blocked(_));
                comes_along && other.target.covers(&want.target) && is_firm
            };
            steps.push(if earlier.into_iter().any(covered) {
                Step::Covered
            } else {
                self.step(want).unwrap_or_else(|missing| {
                    queries.extend(missing);
                    Step::Covered
                })
            });
        }
        if queries.is_empty() { Ok(steps) } else { Err(queries) }
    }

    fn step(&self, want: &'a Want) -> Result<Step, BTreeSet<FactQuery>> {
        let mode = self.reserve.mode;
        match self.own(want) {
            Some(own) if own.target == want.target && own.mode < mode => self.upgrade(own, want),
            Some(own) if own.target == want.target && own.mode > mode => self.downgrade(own, want),
            Some(own) if self.is_weaker(own, want) => Ok(Step::Claim(own.id)),
            Some(own) => Ok(Step::Extend(own.id)),
            None if self.leaves_out_ignored && self.is_ignored(&want.target)? => Ok(Step::Ignored),
            None => self.grant(want),
        }
    }

    /// Whether git ignores what nobody of the caller's holds yet; what it has, it has.
    fn is_ignored(&self, target: &Target) -> Result<bool, BTreeSet<FactQuery>> {
        let Target::Path(pattern) = target else { return Ok(false) };
        let Some(path) = pattern.as_literal() else { return Ok(false) };
        let (worktree, path) = (&self.reserve.worktree, path.to_owned());
        let known = self.facts.ignored(worktree, &path);
        known.ok_or_else(|| BTreeSet::from([FactQuery::Ignored(worktree.clone(), path)]))
    }

    /// The caller's own lease on exactly this, or one that covers it in at least the wanted mode, and as firmly.
    fn own(&self, want: &Want) -> Option<&'a Lease> {
        let target = &want.target;
        let mine = || self.here().filter(|lease| self.is_mine(lease));
        let covers = |lease: &&Lease| {
            lease.mode >= self.reserve.mode && lease.covers(target) && !self.is_weaker(lease, want)
        };
        mine().find(|lease| lease.target == *target).or_else(|| mine().find(covers))
    }

    /// Whether a lease makes way where what is asked for would not.
    fn is_weaker(&self, lease: &Lease, want: &Want) -> bool {
        let yields = lease.grade == Grade::Auto && lease.target == want.target;
        (yields || lease.makes_way) && !self.is_lenient(want)
    }

    /// Whether what is asked for makes way itself, or is only the edit of a file under what is held already.
    fn is_lenient(&self, want: &Want) -> bool {
        self.reserve.grade == Grade::Auto || self.reserve.gives_way(&want.target)
    }

    /// Whether a lease is the caller's to use. A command has leases of its own, so that they last as long as it runs: what
    /// its agent holds is not in its way, and may be given back meanwhile.
    fn is_mine(&self, lease: &Lease) -> bool {
        lease.holder == self.me && lease.bound == self.reserve.bound
    }

    /// Whether one may be in the other's way: agents outside its family, and other commands of the agent itself.
    fn can_block(&self, one: (AgentId, Option<&Process>), other: (AgentId, Option<&Process>)) -> bool {
        self.draft.can_block(one.0, other.0) || (one.0 == other.0 && one.1.is_some() && one.1 != other.1)
    }

    /// Live leases that share the space of the request.
    fn here(&self) -> impl Iterator<Item = &'a Lease> + use<'a> {
        let planner = *self;
        self.draft.leases_now().filter(move |lease| planner.is_here(lease))
    }

    fn is_here(&self, lease: &Lease) -> bool {
        lease.is_in(&self.reserve.worktree)
    }

    fn grant(&self, want: &'a Want) -> Result<Step, BTreeSet<FactQuery>> {
        Ok(match self.clear(want, self.ahead(want))? {
            Ok((slot, room)) => Step::Grant { slot, room },
            Err(blocked) => Step::Blocked(blocked),
        })
    }

    /// An upgrade goes before everyone who waits: they wait for its holder already.
    fn upgrade(&self, own: &Lease, want: &'a Want) -> Result<Step, BTreeSet<FactQuery>> {
        Ok(match self.clear(want, Vec::new())? {
            Ok((slot, room)) => Step::Upgrade { lease: own.id, slot: own.slot.or(slot), room },
            Err(blocked) => Step::Blocked(blocked),
        })
    }

    /// Nobody else can be where one was alone. Only a resource of several units may have other exclusive holders,
    /// and nobody shares it with them: the unit stays what it is.
    fn downgrade(&self, own: &Lease, want: &'a Want) -> Result<Step, BTreeSet<FactQuery>> {
        Ok(match self.clear(want, Vec::new())? {
            Ok((_, room)) => Step::Downgrade { lease: own.id, room },
            Err(blocked) => Step::Blocked(blocked),
        })
    }

    /// Whether the way is clear: the slot to take and whom to end for it, or who blocks.
    #[expect(
        clippy::type_complexity,
        reason = "clear-or-blocked inside known-or-missing reads best spelled out"
    )]
    fn clear(
        &self,
        want: &'a Want,
        ahead: Vec<&'a WaitView>,
    ) -> Result<Result<(Option<u32>, Vec<Room>), Blocked>, BTreeSet<FactQuery>> {
        let found = self.obstacles(want, ahead);
        match self.need(want, &found) {
            Need::Nobody => Ok(Ok((self.free_slot(want, &[]), Vec::new()))),
            _ if found.unknown > 0 => Err(found.queries),
            Need::Room => Ok(Ok((self.free_slot(want, &found.room), found.room))),
            Need::More => Ok(Err(self.blocked(want, &found.firm, &found.ahead))),
        }
    }

    /// What is in the way, as far as that is known.
    fn obstacles(&self, want: &'a Want, ahead: Vec<&'a WaitView>) -> Obstacles<'a> {
        let mut found = Obstacles::default();
        for lease in self.in_the_way(want) {
            match self.judge(lease, want) {
                Ok(Some(why)) => found.room.push(Room { lease: lease.clone(), why }),
                Ok(None) => found.firm.push(lease),
                Err(missing) => found.lacks(missing),
            }
        }
        for waiting in ahead {
            match self.is_known(waiting) {
                true => found.ahead.push(waiting),
                false => found.lacks(self.evidence(waiting).into_iter().map(FactQuery::Process)),
            }
        }
        found
    }

    /// Of a wait for several things, the one in the way is named.
    fn blocked(&self, want: &Want, leases: &[&Lease], waits: &[&WaitView]) -> Blocked {
        let ahead = |waiting: &&WaitView| {
            let wait = &waiting.wait;
            let agent = self.draft.slice.agent(wait.agent)?.agent.name.clone();
            let meets = |other: &&Want| other.target.overlaps(&want.target);
            let wants = &wait.wanted.wants;
            let target = wants.iter().find(meets).or(wants.first())?.target.display();
            Some(Ahead { wait: wait.id, agent, target, offered: wait.offered_until.is_some() })
        };
        Blocked {
            leases: leases.iter().filter_map(|lease| self.draft.show(lease)).collect(),
            ahead: waits.iter().filter_map(ahead).collect(),
        }
    }

    /// Earlier waits that the want would overtake. Whoever is in the way of a wait already may add to what it holds,
    /// or the two would wait for each other. For others of its family, and other commands of its own, that does not go
    /// as far as one more share or unit of the very same, nor to what has to end first.
    fn ahead(&self, want: &'a Want) -> Vec<&'a WaitView> {
        let me = (self.me, self.reserve.bound.as_ref());
        let conflicts = |waiting: &&WaitView| {
            let wait = &waiting.wait;
            wait.place < self.place
                && wait.wanted.mode.conflicts_with(self.reserve.mode)
                && self.can_block((wait.agent, wait.wanted.bound.as_ref()), me)
                && wait.wanted.touches(&want.target, &self.reserve.worktree)
        };
        let family = self.draft.root_of(self.me);
        let adds_to = |waiting: &WaitView| {
            self.draft.leases_now().any(|lease| {
                self.draft.root_of(lease.holder) == family
                    && !self.is_one_more(lease, want)
                    && !self.is_in_the_way(lease, want)
                    && waiting.wait.wanted.conflicts_with_lease(lease)
                    && self.can_block(
                        (lease.holder, lease.bound.as_ref()),
                        (waiting.wait.agent, waiting.wait.wanted.bound.as_ref()),
                    )
            })
        };
        self.draft.queue.iter().filter(conflicts).filter(|waiting| !adds_to(waiting)).collect()
    }

    /// Whether the want is for a share or a unit of what somebody else has one of.
    fn is_one_more(&self, lease: &Lease, want: &Want) -> bool {
        let is_one_of_several = lease.mode == Mode::Shared || want.capacity > 1;
        !self.is_mine(lease) && is_one_of_several && self.is_here(lease) && lease.covers(&want.target)
    }

    /// The processes whose death would end a wait.
    fn evidence(&self, waiting: &WaitView) -> Vec<Process> {
        let agent = self.draft.slice.agent(waiting.wait.agent).and_then(|view| view.agent.process.clone());
        agent.into_iter().chain(waiting.wait.attached.clone()).collect()
    }

    fn is_known(&self, waiting: &WaitView) -> bool {
        self.evidence(waiting).iter().all(|process| self.facts.process(process).is_some())
    }

    /// Leases of others that conflict with the want, each in its own right.
    fn in_the_way(&self, want: &'a Want) -> impl Iterator<Item = &'a Lease> + use<'a> {
        let planner = *self;
        self.here().filter(move |lease| planner.is_in_the_way(lease, want))
    }

    fn is_in_the_way(&self, lease: &Lease, want: &Want) -> bool {
        self.is_here(lease)
            && lease.mode.conflicts_with(self.reserve.mode)
            && self.can_block((lease.holder, lease.bound.as_ref()), (self.me, self.reserve.bound.as_ref()))
            && lease.is_on(&want.target)
            && !self.made_way(lease, want)
    }

    /// Whether a lease is on what the caller's own on the wanted gave away: raising or lowering that takes nothing back.
    fn made_way(&self, lease: &Lease, want: &Want) -> bool {
        let own = |own: &Lease| {
            !own.ceded.is_empty()
                && self.is_mine(own)
                && own.target == want.target
                && own.ceded.contains(&lease.target)
        };
        self.here().any(own)
    }

    /// How far what is in the way keeps the request from being granted.
    fn need(&self, want: &'a Want, found: &Obstacles<'_>) -> Need {
        let held: Vec<&Lease> =
            found.firm.iter().copied().chain(found.room.iter().map(|room| &room.lease)).collect();
        let firm = units(&found.firm) + found.ahead.len();
        let soft = units(&held) - units(&found.firm) + found.unknown;
        let spare = self.spare(want, self.in_the_way(want));
        if firm > spare {
            Need::More
        } else if firm + soft > spare {
            Need::Room
        } else {
            Need::Nobody
        }
    }

    /// How many units may be held by others beside the one wanted, these being among the others. A resource with room for
    /// several exclusive holders is only full when as many hold it.
    fn spare(&self, want: &Want, mut others: impl Iterator<Item = &'a Lease>) -> usize {
        let capacity = if self.reserve.mode == Mode::Exclusive { want.capacity.max(1) as usize } else { 1 };
        if others.any(|lease| lease.mode == Mode::Shared) { 0 } else { capacity - 1 }
    }

    /// A lease in the way that one of these processes keeps and that does not yield, if they keep so much that others have
    /// nothing to give.
    pub(super) fn never_free(&self, want: &'a Want, processes: &BTreeSet<Process>) -> Option<&'a Lease> {
        let is_kept =
            |lease: &&Lease| lease.bound.as_ref().is_some_and(|process| processes.contains(process));
        let is_firm = |lease: &&Lease| self.judge(lease, want) == Ok(None);
        let kept: Vec<&Lease> = self.in_the_way(want).filter(is_kept).filter(is_firm).collect();
        let is_all = units(&kept) > self.spare(want, kept.iter().copied());
        kept.first().copied().filter(|_| is_all)
    }

    /// The unit that the agent of a command has itself, if no other command works on it; else the lowest unit that nobody
    /// holds once `room` is made, or else the lowest that only an ancestor holds: its lease is no obstacle, and there
    /// are no more units than there are.
    fn free_slot(&self, want: &Want, room: &[Room]) -> Option<u32> {
        if !matches!(want.target, Target::Name(_)) || self.reserve.mode == Mode::Shared {
            return None;
        }
        let ends = |lease: &&Lease| room.iter().any(|room| room.lease.id == lease.id);
        let slots = |lease: &Lease| lease.slot;
        let same = |lease: &&Lease| lease.target == want.target;
        let held: BTreeSet<u32> = self.here().filter(same).filter(|l| !ends(l)).filter_map(slots).collect();
        let firm: BTreeSet<u32> = self.in_the_way(want).filter(|l| !ends(l)).filter_map(slots).collect();
        let own = self.here().filter(same).filter(|lease| lease.holder == self.me).filter_map(slots);
        let own = own.filter(|unit| !firm.contains(unit)).min();
        let mut units = 0..want.capacity.max(1);
        own.or_else(|| units.clone().find(|unit| !held.contains(unit)))
            .or_else(|| units.find(|unit| !firm.contains(unit)))
    }

    /// Whether a lease in the way may be ended for this request.
    fn judge(&self, lease: &Lease, want: &Want) -> Result<Option<RoomWhy>, BTreeSet<FactQuery>> {
        may_end(self.draft, self.facts, lease, &want.target)
    }
}

/// What is in the way of one thing.
#[derive(Debug, Default)]
struct Obstacles<'a> {
    /// Leases that may be ended for it.
    room: Vec<Room>,
    /// Leases that may not.
    firm: Vec<&'a Lease>,
    /// Earlier waits.
    ahead: Vec<&'a WaitView>,
    /// How many more of which it is not known.
    unknown: usize,
    /// What would have to be known of those.
    queries: BTreeSet<FactQuery>,
}

impl Obstacles<'_> {
    fn lacks(&mut self, missing: impl IntoIterator<Item = FactQuery>) {
        self.queries.extend(missing);
        self.unknown += 1;
    }
}

/// How many units of a resource these are: two of one family may work on one.
fn units(leases: &[&Lease]) -> usize {
    let slots: BTreeSet<u32> = leases.iter().filter_map(|lease| lease.slot).collect();
    slots.len() + leases.iter().filter(|lease| lease.slot.is_none()).count()
}

/// What stands between a request and its grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    /// Nothing.
    Nobody,
    /// Leases that may be ended for it.
    Room,
    /// Leases that may not.
    More,
}
