//! Taking leases.

use super::cycle;
use super::draft::Draft;
use super::freeze;
use super::identity::Identified;
use super::inside;
use super::left::is_free;
use super::past::{changed_hands, kept_at_turn, left_behind, unknown_leftovers};
use super::plan::{Blocked, Planner, Room, Step, ahead, blocked, blockers};
use super::queue::{self, Asking};
use super::quota::Held;
use super::way::RoomWhy;
use super::{Notice, Refused, Step as Answer, Success};
use crate::agent::Liveness;
use crate::command::{Await, Reserve, Stay, Want};
use crate::event::{Actor, Body};
use crate::facts::FactQuery;
use crate::failure::{Ahead, Details, Failure, LeaseView, Retry};
use crate::hint::Hint;
use crate::ids::{AgentId, Entropy, LeaseId, SetId};
use crate::lease::{Grade, Lease, Mode};
use crate::limits::{BEHIND_WAITERS_MS, COMMAND_RETRY_MS, LOOPING_REFUSALS_MAX};
use crate::slice::{Freeze, Note};
use crate::slug::Slug;
use crate::target::{Target, Worktree};
use crate::wait::{Wait, WaitEnd, WaitView};
use std::collections::BTreeSet;

/// What is wanted, and what is to become of it if it cannot be had now.
#[derive(Clone, Copy, Debug)]
pub(super) enum Asked<'a> {
    /// It is refused.
    Now(&'a Reserve),
    /// It waits.
    OrWait(&'a Await),
}

impl<'a> Asked<'a> {
    fn reserve(self) -> &'a Reserve {
        match self {
            Self::Now(reserve) | Self::OrWait(Await { reserve, .. }) => reserve,
        }
    }

    /// Whether the answer is told to somebody: a process that waits at its place asks again and again, and would look at
    /// every other one each time.
    fn is_told(&self) -> bool {
        !matches!(self, Self::OrWait(Await { wait: Some(_), stay: Stay::Attached(_), .. }))
    }

    /// Whether the process that asks waits at its place already: what it runs inside of was looked at when it came.
    fn waits_already(&self, draft: &Draft<'_>) -> bool {
        self.attended(draft).is_some()
    }

    /// The place at which the process that asks waits.
    fn attended<'d>(&self, draft: &'d Draft<'_>) -> Option<&'d WaitView> {
        let Self::OrWait(Await { wait: Some(id), stay: Stay::Attached(process), .. }) = self else {
            return None;
        };
        draft.queue.iter().find(|view| view.wait.id == *id && view.wait.attached.as_ref() == Some(process))
    }

    /// A process that is refused what its turn has come for waits no longer, and nobody stands behind it until it has been
    /// silent for long enough. A place that was kept without it goes on so.
    fn leave(&self, draft: &mut Draft<'_>, actor: Actor) {
        let own = self.attended(draft).filter(|view| view.wait.kept_until.is_none()).cloned();
        own.iter().for_each(|view| draft.end_wait(actor, view, WaitEnd::Cancelled));
    }
}

/// Grants, extends, queues or refuses.
pub(super) fn reserve(
    draft: &mut Draft<'_>,
    asked: Asked<'_>,
    identified: &Identified,
    entropy: &mut Entropy<'_>,
) -> Answer {
    let reserve = asked.reserve();
    let (me, actor) = draft.register(identified, entropy);
    let steps = Planner::new(draft, me, reserve).plan()?;
    let asking = Asking { me, actor, steps: &steps };
    let frozen = freeze::admit(draft.frozen.as_ref(), reserve, identified.newcomer.client, &steps).err();
    let blocked = blocked(&steps).count();
    if frozen.is_some() || blocked == steps.len() || (blocked > 0 && !reserve.best_effort) {
        return turn_away(draft, asked, asking, frozen, entropy);
    }
    let new = reserve.wants.iter().zip(&steps).filter(|(_, step)| matches!(step, Step::Grant { .. }));
    let mut unknown = unknown_leftovers(draft, me, &reserve.worktree, new.map(|(want, _)| want));
    unknown.extend(draft.unsheltered(&steps));
    match within_quota(draft, me, reserve, &steps) {
        Ok(()) if !unknown.is_empty() => Err(unknown),
        Ok(()) => {
            let answer = take(draft, reserve, asking, entropy)?;
            if answer.is_err() {
                asked.leave(draft, actor);
            }
            Ok(answer)
        }
        Err(failure) => Ok(Err(draft.denied(actor, reserve.subject(), failure))),
    }
}

/// What becomes of a request that cannot be granted now: it waits, or it is refused.
pub(super) fn turn_away(
    draft: &mut Draft<'_>,
    asked: Asked<'_>,
    asking: Asking<'_>,
    frozen: Option<Freeze>,
    entropy: &mut Entropy<'_>,
) -> Answer {
    let (reserve, steps) = (asked.reserve(), asking.steps);
    let unsure = if asked.is_told() { draft.evidence_of_waiters(&blockers(steps)) } else { BTreeSet::new() };
    if !unsure.is_empty() {
        return Err(unsure);
    }
    if draft.is_hook && reserve.grade == Grade::Auto {
        let times = count_refusal(draft, reserve, asking);
        draft.notices.extend((times >= LOOPING_REFUSALS_MAX).then_some(Notice::Looping { times }));
        draft.notices.extend(with_subagent(draft, asking));
    }
    let around = if asked.waits_already(draft) { None } else { inside::never(draft, reserve, asking)? };
    if let Some(around) = around {
        return Ok(Err(draft.refuse_inside(reserve, asking, &around)));
    }
    let stays = match asked {
        Asked::OrWait(wait) => queue::stay(draft, wait, asking, entropy)?,
        Asked::Now(_) => None,
    };
    draft.notices.extend(frozen.as_ref().map(|freeze| freeze.notice(draft.now)));
    Ok(stays.unwrap_or_else(|| {
        Err(match frozen {
            Some(freeze) => refuse_frozen(draft, reserve, asking, &freeze),
            None => refuse(draft, reserve, asking),
        })
    }))
}

/// An edit was refused; how often the same was lately, told by the first of its files that cannot be had.
fn count_refusal(draft: &mut Draft<'_>, reserve: &Reserve, asking: Asking<'_>) -> u32 {
    let mut asked = reserve.wants.iter().zip(asking.steps);
    let first = asked.find_map(|(want, step)| match step {
        Step::Blocked(Blocked { leases, .. }) => {
            Some((want, leases.iter().map(|view| view.lease.id).collect()))
        }
        _ => None,
    });
    let (want, blockers) = match (first, reserve.wants.first()) {
        (Some((want, blockers)), _) => (Some(want), blockers),
        (None, any) => (any, Vec::new()),
    };
    let target = want.map(|want| want.target.display()).unwrap_or_default();
    let now = draft.now.mono;
    draft.memo(asking.me).count_refusal(target, blockers, now)
}

/// A subagent that is in its parent's way. Of one that was cancelled nobody may have told that it is over.
fn with_subagent(draft: &Draft<'_>, asking: Asking<'_>) -> Option<Notice> {
    let is_below = |agent: AgentId| agent != asking.me && !draft.can_block(asking.me, agent);
    let LeaseView { lease, agent, .. } =
        blockers(asking.steps).into_iter().find(|blocker| is_below(blocker.lease.holder))?;
    Some(Notice::WithSubagent { held: lease.target, worktree: lease.worktree, by: agent })
}

/// Carries the plan out, unless somebody would then wait for ever.
fn take(draft: &mut Draft<'_>, reserve: &Reserve, asking: Asking<'_>, entropy: &mut Entropy<'_>) -> Answer {
    let Asking { me, actor, steps } = asking;
    // Whoever takes more while its family waits may come to be in the way of somebody whom the family waits for.
    let untaken = (draft.waits_in_family_of(me) && steps.iter().any(Step::is_new)).then(|| draft.clone());
    let mut taker = Taker { draft, reserve, me, actor, set: None, taken: Vec::new() };
    for (want, step) in reserve.wants.iter().zip(steps) {
        taker.take(want, step, entropy);
    }
    let leases = taker.taken;
    draft.record_fulfilled(me, actor, reserve.bound.as_ref());
    if let Some(untaken) = untaken
        && let Some(circle) = cycle::closed_between(&untaken, draft, me)?
    {
        *draft = untaken;
        return Ok(Err(draft.refuse_taking(actor, reserve, circle)));
    }
    if draft.is_hook && reserve.grade == Grade::Auto {
        draft.give_up_what_was_taken_in_part(me, actor);
        draft.take_in_hand(me, &leases);
        draft.forget_overwritten(me, reserve);
        draft.note_edits(me, reserve);
    }
    // A broad claim that gives a path away is still had.
    draft.told.extend(leases.iter().filter(|lease| !lease.makes_way).map(|lease| lease.id));
    let refused = refused(reserve, steps);
    if !refused.is_empty() {
        record_refusal(draft, reserve, asking);
    }
    Ok(Ok(Success::Reserved { leases: show(draft, &leases), refused }))
}

/// Grants an agent what it waits for, now that its turn has come and it asked for that; what it has of it then. Nothing if
/// it may hold no more, or somebody would then wait for ever.
pub(super) fn grant_turn(
    draft: &mut Draft<'_>,
    wait: &Wait,
    steps: &[Step],
    entropy: &mut Entropy<'_>,
) -> Result<bool, BTreeSet<FactQuery>> {
    let (me, actor, reserve) = (wait.agent, Actor::KERNEL, &wait.wanted);
    if within_quota(draft, me, reserve, steps).is_err() {
        return Ok(false);
    }
    draft.record_over(reserve);
    let (untaken, said) = (draft.clone(), draft.notices.clone());
    let mut taker = Taker { draft, reserve, me, actor, set: None, taken: Vec::new() };
    for (want, step) in reserve.wants.iter().zip(steps) {
        taker.take(want, step, entropy);
    }
    draft.record_fulfilled(me, actor, reserve.bound.as_ref());
    if cycle::closed_between(&untaken, draft, me)?.is_some() {
        *draft = untaken;
        return Ok(false);
    }
    // What the taker is to know is not for whoever let it go.
    draft.notices = said;
    Ok(true)
}

/// Grants those steps of a plan that nobody has to make room for, as far as the quota goes.
pub(super) fn grant_free(
    draft: &mut Draft<'_>,
    reserve: &Reserve,
    (me, actor): (AgentId, Actor),
    steps: &[Step],
    entropy: &mut Entropy<'_>,
) {
    if within_quota(draft, me, reserve, steps).is_err() {
        return;
    }
    let mut taker = Taker { draft, reserve, me, actor, set: None, taken: Vec::new() };
    for (want, step) in reserve.wants.iter().zip(steps).filter(|(_, step)| is_free(step)) {
        taker.take(want, step, entropy);
    }
}

/// What a plan leaves out.
fn refused(reserve: &Reserve, steps: &[Step]) -> Vec<Refused> {
    let left_out = reserve.wants.iter().zip(steps).filter_map(|(want, step)| match step {
        Step::Blocked(Blocked { leases, ahead }) => {
            Some(Refused { target: want.target.display(), blockers: leases.clone(), ahead: ahead.clone() })
        }
        _ => None,
    });
    left_out.collect()
}

impl Draft<'_> {
    /// Ends leases that make room for somebody, and has their holders told. What `to` is to know of it.
    pub(super) fn make_room(&mut self, room: &[Room], actor: Actor, to: AgentId) -> Vec<Notice> {
        let mut notices = Vec::new();
        for Room { lease, why } in room {
            if let RoomWhy::Untouched(path) = why {
                notices.extend(self.cede(lease.id, path, actor, to));
                continue;
            }
            if !self.end_lease(lease.id) {
                continue;
            }
            let is_left = *why == RoomWhy::HolderGone;
            let (kept, said) = is_left.then(|| self.record_kept(actor, lease)).flatten().unzip();
            let said = said.or_else(|| self.told_unkept(lease).filter(|_| is_left));
            let from = self.view().holder(lease).map(|holder| holder.agent.name.clone());
            let (target, id, holder) = (lease.target.display(), lease.id, lease.holder);
            let (body, notice) = match why {
                RoomWhy::HolderGone if self.is_known_clean(lease) => (
                    Body::LeaseTakenOver { lease: id, holder, to },
                    from.map(|from| Notice::Yielded { target, from }),
                ),
                RoomWhy::HolderGone => (
                    Body::LeaseTakenOver { lease: id, holder, to },
                    from.map(|from| Notice::TookOver { target, from, is_gone: true }),
                ),
                // It would have been given back, had anybody told of the end of that call: nobody lost anything.
                RoomWhy::CallOver => {
                    self.push(actor, Body::LeaseYielded { lease: id, holder, to });
                    continue;
                }
                RoomWhy::Unchanged | RoomWhy::Untouched(_) => (
                    Body::LeaseYielded { lease: id, holder, to },
                    from.map(|from| Notice::Yielded { target, from }),
                ),
            };
            self.push(actor, body);
            notices.extend(notice.into_iter().chain(said));
            let to = self.name_of(to);
            self.note(holder, Note::PassedOn { target: lease.target.display(), to, kept });
        }
        notices
    }

    /// What has to be known of a file whose holder is gone before a hook takes it: nobody is told of changes in a file that
    /// has none. Whoever asks in words is told whose it was.
    pub(super) fn unknown_change(&self, lease: &Lease) -> Option<FactQuery> {
        let path = lease.target.literal().filter(|_| self.is_hook)?;
        let is_known = self.facts.dirty(&lease.worktree, path).is_some();
        (!is_known).then(|| FactQuery::Dirty(lease.worktree.clone(), path.to_owned()))
    }

    fn is_known_clean(&self, lease: &Lease) -> bool {
        let path = lease.target.literal().filter(|_| self.is_hook);
        path.is_some_and(|path| self.facts.dirty(&lease.worktree, path) == Some(false))
    }

    /// Takes a path out of a lease for somebody, and has its holder told. The rest stays what it is, under its fence.
    fn cede(&mut self, id: LeaseId, path: &Target, actor: Actor, to: AgentId) -> Option<Notice> {
        let mut lease = self.leases_now().find(|lease| lease.id == id)?.clone();
        lease.ceded.push(path.clone());
        let (holder, path) = (lease.holder, path.clone());
        let target = path.display();
        self.push(actor, Body::LeaseSplit { lease: id, holder, path, to });
        self.replace(lease);
        let (from, to) = (self.name_of(holder), self.name_of(to));
        self.note(holder, Note::PassedOn { target: target.clone(), to, kept: None });
        Some(Notice::Yielded { target, from })
    }
}

/// Carries out the steps of a plan.
#[derive(Debug)]
struct Taker<'a, 'b> {
    draft: &'a mut Draft<'b>,
    reserve: &'a Reserve,
    me: AgentId,
    actor: Actor,
    set: Option<SetId>,
    taken: Vec<Lease>,
}

impl Taker<'_, '_> {
    fn take(&mut self, want: &Want, step: &Step, entropy: &mut Entropy<'_>) {
        let notices = self.draft.make_room(step.room(), self.actor, self.me);
        self.draft.notices.extend(notices);
        match step {
            Step::Grant { slot, .. } => self.grant(want, *slot, entropy),
            Step::Extend(lease) => self.extend(want, *lease),
            Step::Claim(lease) => self.claim(want, *lease),
            Step::Upgrade { lease, slot, .. } => self.upgrade(want, *lease, *slot),
            Step::Downgrade { lease, .. } => self.downgrade(want, *lease),
            Step::Covered | Step::Ignored | Step::Blocked(_) => {}
        }
    }

    fn grant(&mut self, want: &Want, slot: Option<u32>, entropy: &mut Entropy<'_>) {
        let now = self.draft.now;
        let is_path = matches!(want.target, Target::Path(_));
        let in_set = self.reserve.as_set && is_path;
        let set = in_set.then(|| *self.set.get_or_insert_with(|| SetId::draw(entropy)));
        let lease = Lease {
            id: LeaseId::draw(entropy),
            target: want.target.clone(),
            set,
            mode: self.reserve.mode,
            grade: self.reserve.grade,
            holder: self.me,
            fence: self.draft.next_fence(),
            reason: self.reserve.reason.clone(),
            worktree: if is_path { self.reserve.worktree.clone() } else { Worktree::default() },
            slot,
            bound: self.reserve.bound.clone(),
            handed_by: None,
            makes_way: self.reserve.gives_way(&want.target),
            ceded: Vec::new(),
            ttl_ms: self.reserve.ttl_ms,
            granted: now.mono,
            deadline: now.mono.plus_ms(self.reserve.ttl_ms),
            end_max: self.reserve.max_ms.map(|ms| now.mono.plus_ms(ms)),
            created_at: now.wall,
            ended: None,
        };
        self.draft.push(self.actor, Body::LeaseGranted(lease.clone()));
        self.draft.notices.extend(changed_hands(self.draft, self.me, &lease));
        self.draft.notices.extend(left_behind(self.draft, self.me, &lease));
        self.draft.notices.extend(kept_at_turn(self.draft, self.me, &lease));
        self.draft.replace(lease.clone());
        self.taken.push(lease);
    }

    /// An explicit claim on what is held already is a renewal; a hook's is only a sign of life.
    fn extend(&mut self, want: &Want, id: LeaseId) {
        let Some(mut lease) = self.current(id) else { return };
        if self.taken.iter().any(|taken| taken.id == id) {
            return;
        }
        // Another call has it in hand by now, and that one may last as long.
        let is_brief = lease.lasts_one_call() && self.reserve.max_ms.is_some();
        if is_brief {
            lease.end_max = self.reserve.max_ms.map(|ms| self.draft.now.mono.plus_ms(ms));
        }
        if is_brief || self.reserve.grade == Grade::Claimed {
            self.restate(&mut lease, want);
            let renewed = Body::LeaseRenewed { lease: id, terms: lease.terms(), operator_reason: None };
            self.draft.push(self.actor, renewed);
            self.draft.replace(lease.clone());
        }
        self.taken.push(lease);
    }

    /// The lease as earlier steps of this request left it.
    fn current(&self, id: LeaseId) -> Option<Lease> {
        self.draft.leases_now().find(|lease| lease.id == id).cloned()
    }

    /// A lease that an earlier step answered already is answered once, as it is now.
    fn change(&mut self, lease: Lease) {
        self.draft.replace(lease.clone());
        self.taken.retain(|taken| taken.id != lease.id);
        self.taken.push(lease);
    }

    /// What a hook took, or a broad claim gave away path by path, is meant now. Its holder had it all along, so that the
    /// fence by which it is known stays, as with a renewal.
    fn claim(&mut self, want: &Want, id: LeaseId) {
        let Some(mut lease) = self.current(id) else { return };
        (lease.grade, lease.makes_way) = (Grade::Claimed, false);
        self.restate(&mut lease, want);
        self.draft.push(self.actor, Body::LeaseClaimed { lease: id, terms: lease.terms() });
        self.change(lease);
    }

    fn upgrade(&mut self, want: &Want, id: LeaseId, slot: Option<u32>) {
        let Some(mut lease) = self.current(id) else { return };
        (lease.mode, lease.slot) = (Mode::Exclusive, slot);
        lease.fence = self.draft.next_fence();
        self.restate(&mut lease, want);
        self.draft.push(self.actor, Body::LeaseUpgraded { lease: id, slot, terms: lease.terms() });
        self.change(lease);
        self.mean(want, id);
    }

    fn downgrade(&mut self, want: &Want, id: LeaseId) {
        let Some(mut lease) = self.current(id) else { return };
        lease.mode = Mode::Shared;
        self.restate(&mut lease, want);
        self.draft.push(self.actor, Body::LeaseDowngraded { lease: id, terms: lease.terms() });
        self.change(lease);
        self.mean(want, id);
    }

    /// What a hook took is claimed by whoever asks for it in words, in whatever mode.
    fn mean(&mut self, want: &Want, id: LeaseId) {
        let is_auto = self.current(id).is_some_and(|lease| lease.grade == Grade::Auto);
        if is_auto && self.reserve.grade == Grade::Claimed {
            self.claim(want, id);
        }
    }

    /// Puts a lease of the caller on the terms of the request: it never gets a shorter silence, an earlier stated
    /// deadline or a later absolute end than it has. One that covers more than was asked for keeps its own terms.
    fn restate(&self, lease: &mut Lease, want: &Want) {
        let (now, asked) = (self.draft.now.mono, self.reserve);
        if lease.target == want.target {
            lease.ttl_ms = lease.ttl_ms.max(asked.ttl_ms);
            lease.reason = asked.reason.clone().or(lease.reason.take());
            lease.end_max = lease.end_max.into_iter().chain(asked.max_ms.map(|ms| now.plus_ms(ms))).min();
        }
        lease.deadline = lease.deadline.max(now.plus_ms(lease.ttl_ms));
    }
}

fn within_quota(draft: &Draft<'_>, me: AgentId, reserve: &Reserve, steps: &[Step]) -> Result<(), Failure> {
    let granted = || reserve.wants.iter().zip(steps).filter(|(_, step)| matches!(step, Step::Grant { .. }));
    let root_patterns = granted().filter(|(want, _)| want.target.is_root_level()).count() as u64;
    let before = Held::by(draft, me);
    before.may_become(before.with(granted().count() as u64, root_patterns)).map_err(|failure| {
        failure
            .hint("give back what is no longer needed: clearway release ID…")
            .hint("reserve a directory instead of its files: clearway reserve DIR/")
    })
}

fn refuse(draft: &mut Draft<'_>, reserve: &Reserve, asking: Asking<'_>) -> Failure {
    let blockers = record_refusal(draft, reserve, asking);
    let way_out = waited_for(draft, reserve, asking.me, &blockers)
        .unwrap_or_else(|| "wait for your turn: add --wait 5m; keep a place and go on: add --queue".into());
    held(draft, reserve, blockers, ahead(asking.steps), way_out)
}

/// What to tell somebody instead of waiting: whoever holds the thing waits for what the caller has of it, as two do who
/// share it and each want it alone. Only what every request sees is looked at.
fn waited_for(draft: &Draft<'_>, reserve: &Reserve, me: AgentId, blockers: &[LeaseView]) -> Option<Hint> {
    let is_own = |lease: &&Lease| {
        lease.holder == me && lease.bound.is_none() && reserve.touches(&lease.target, &lease.worktree)
    };
    let own: Vec<&Lease> = draft.leases_now().filter(is_own).collect();
    let holds =
        |agent: AgentId| blockers.iter().any(|view| view.lease.holder == agent && view.lease.bound.is_none());
    draft.queue.iter().map(|view| &view.wait).filter(|wait| holds(wait.agent)).find_map(|wait| {
        let lease = own.iter().find(|lease| wait.wanted.conflicts_with_lease(lease))?;
        let (target, waiting) = (lease.target.display(), draft.name_of(wait.agent));
        let purpose = format!("waiting would never end unless you give back {target} to {waiting}");
        Some(Hint::command(&purpose, "release", &[lease.id.as_str()]))
    })
}

fn refuse_frozen(draft: &mut Draft<'_>, reserve: &Reserve, asking: Asking<'_>, freeze: &Freeze) -> Failure {
    let (leases, ahead) = (blockers(asking.steps), ahead(asking.steps).into());
    let failure = freeze.failure(draft.now).details(Details::Blockers { leases, ahead });
    draft.denied(asking.actor, reserve.subject(), failure)
}

/// Records what was refused, and by whom. Under best effort that is a part of the request, otherwise all of it.
fn record_refusal(draft: &mut Draft<'_>, reserve: &Reserve, asking: Asking<'_>) -> Vec<LeaseView> {
    let blockers = blockers(asking.steps);
    let ids = blockers.iter().map(|blocker| blocker.lease.id).collect();
    let is_refused = |step: &Step| !reserve.best_effort || matches!(step, Step::Blocked(_));
    let asked = reserve.wants.iter().zip(asking.steps);
    let wants = asked.filter(|(_, step)| is_refused(step)).map(|(want, _)| want);
    draft.refuse_leases(asking.actor, "reserve", (reserve.mode, wants), ids);
    blockers
}

/// How many blockers a message spells out; the details hold them all.
const BLOCKERS_SAID: usize = 3;

fn held(
    draft: &Draft<'_>,
    reserve: &Reserve,
    leases: Vec<LeaseView>,
    ahead: Vec<Ahead>,
    way_out: Hint,
) -> Failure {
    let now = draft.now.mono;
    let mut said: Vec<String> = leases.iter().map(|blocker| describe(blocker, now)).collect();
    said.extend(ahead.iter().map(describe_ahead));
    if said.len() > BLOCKERS_SAID {
        let more = said.len() - BLOCKERS_SAID;
        said.truncate(BLOCKERS_SAID);
        said.push(format!("and {more} more"));
    }
    // When those are through who wait before, nobody can tell.
    let soonest = leases.iter().map(|blocker| free_in_ms(blocker, now)).min().unwrap_or(BEHIND_WAITERS_MS);
    let mut failure =
        Failure::new(Slug::ReservationHeld, said.join("; ")).retry(Retry::AfterMs(soonest.max(1)));
    const LOOK: &str = "see who holds it and until when";
    let is_blocked = |want: &&Want| {
        leases.iter().any(|blocker| blocker.lease.is_on(&want.target))
            || ahead.iter().any(|ahead| ahead.target == want.target.display())
    };
    let blocked = reserve.wants.iter().find(is_blocked).or(reserve.wants.first());
    failure = failure.hint(match blocked.map(|want| &want.target) {
        Some(Target::Path(pattern)) => Hint::command(LOOK, "who", &[pattern.canonical()]),
        Some(Target::Name(name)) => Hint::about_name(LOOK, "who", name.as_str()),
        None => Hint::from(format!("{LOOK}: clearway leases")),
    });
    failure = failure.hint(way_out);
    if reserve.wants.len() > 1 && !reserve.best_effort {
        failure = failure.hint("take what is free and skip the rest: add --best-effort");
    }
    failure.details(Details::Blockers { leases, ahead: ahead.into() })
}

fn describe_ahead(ahead: &Ahead) -> String {
    let turn = if ahead.offered { "has the turn" } else { "waits" };
    format!("{} {turn} for {} before you", ahead.agent, ahead.target)
}

/// Who holds it, doing what, until when, alive or not.
fn describe(blocker: &LeaseView, now: crate::time::Mono) -> String {
    let lease = &blocker.lease;
    let state = blocker.holder_word();
    let reason = lease.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let ends = match &lease.bound {
        Some(process) => format!("free when its command ends, process {}", process.pid),
        None => {
            let left = crate::time::rounded(blocker.deadline.since(now));
            format!("free in {left} unless it gives a sign of life")
        }
    };
    let (target, mode) = (lease.target.display(), lease.mode.word());
    format!("{target} is held by {} ({state}, {mode}){reason}; {ends}", blocker.agent)
}

/// After how long to try again. A command keeps its lease alive and may end at any moment.
fn free_in_ms(blocker: &LeaseView, now: crate::time::Mono) -> u64 {
    let left_ms = blocker.deadline.since(now);
    if blocker.lease.bound.is_some() { left_ms.min(COMMAND_RETRY_MS) } else { left_ms }
}

/// Shows once more what changed since it was granted: a turn that was promised to the caller may have come after it, and
/// made its own of what it shares.
pub(super) fn show_as_it_is_now(draft: &Draft<'_>, outcome: &mut Result<Success, Failure>) {
    let Ok(Success::Reserved { leases, .. }) = outcome else { return };
    for view in leases {
        let lease = draft.leases_now().find(|lease| lease.id == view.lease.id);
        if let Some(lease) = lease.filter(|lease| lease.fence != view.lease.fence) {
            view.deadline = lease.deadline_given(Some(draft.now.mono));
            view.lease = lease.clone();
        }
    }
}

fn show(draft: &Draft<'_>, leases: &[Lease]) -> Vec<LeaseView> {
    let Some((_, name)) = &draft.agent else { return Vec::new() };
    let seen = Some(draft.now.mono);
    leases
        .iter()
        .map(|lease| LeaseView {
            lease: lease.clone(),
            agent: name.clone(),
            deadline: lease.deadline_given(seen),
            liveness: Liveness::Active,
            is_halted: false,
            waiters: 0,
            in_hand: false,
        })
        .collect()
}
