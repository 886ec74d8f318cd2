//! Situations that a run has to have been in. One that is never reached means that the lives are too tame to prove
//! anything about it.

use crate::checks::way::{Way, is_conflict};
use crate::checks::{Scene, talk};
use crate::ground;
use crate::ledger::Ledger;
use clearway_core::command::{Await, Command, Stay};
use clearway_core::decide::{Notice, Success};
use clearway_core::event::{Body, Event};
use clearway_core::facts::ProcessLife;
use clearway_core::failure::{Circle, Details, Failure};
use clearway_core::ids::LeaseId;
use clearway_core::lease::{ExpiryCause, Lease, Mode};
use clearway_core::negotiation::{Negotiated, NegotiationEnd, NegotiationState, Status};
use clearway_core::slug::Slug;
use clearway_core::target::Target;
use clearway_core::wait::{Wait, WaitEnd};
use clearway_store::Reply;
use std::collections::BTreeMap;

macro_rules! probes {
    ($($name:ident = $text:literal,)*) => {
        /// A situation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "the text says it")]
        pub enum Probe { $($name,)* }

        impl Probe {
            /// Every situation.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// What it is, in words.
            pub fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

probes! {
    LeaseDiedWhileItsHolderWaited = "a lease ran out while its holder waited for another",
    OfferMade = "a turn was offered",
    OfferTaken = "an offered turn was taken",
    OfferLapsed = "an offered turn lapsed and passed on",
    OfferLapsedTwice = "a wait let its turn pass twice and was over",
    FirstWaiterKilled = "the first of the queue was killed",
    WaiterSilent = "a waiting process fell silent",
    WaiterTimedOut = "a wait ran out",
    WaiterLeft = "somebody left the queue",
    LastTryGranted = "a last try was granted",
    LastTryRefused = "a last try was refused and its place given up",
    WaitBecameDurable = "a waiting process went away and kept its place",
    WaitBecameAttached = "a process took over a place without one",
    StaleFenceAfterPause = "a resumed process presented a stale fence",
    ExpiredAfterPause = "a resumed process found its lease expired",
    SilentAfterPause = "a resumed process found its place gone",
    TransferWithWaiters = "a lease was handed over while others waited for it",
    TransferToTheGone = "a lease was not handed to somebody who is gone",
    TransferToTheWaiter = "a lease was handed to somebody who waited for it",
    TransferMerged = "a lease was handed to somebody who held the same",
    UpgradePastWaiters = "an upgrade went before those who waited",
    SecondUpgraderRefused = "a second upgrader was refused",
    Downgrade = "an exclusive lease became shared",
    CircleOfTwo = "a circle of two was refused",
    CircleOfThree = "a circle of three was refused",
    CircleInFamily = "a circle through a parent and its child was refused",
    DeadHolderTakenOver = "the lease of a dead holder was taken over",
    DeadCommandLeftIt = "the lease of a killed command was found to be over",
    UnknownHolderKept = "the lease of a holder nobody can ask about was kept",
    AutoYielded = "an automatic lease on an unchanged file yielded",
    AutoKept = "an automatic lease on a changed file was kept",
    RebootWithWaiters = "a new boot emptied the queue",
    RebootWithLeases = "a new boot ended leases",
    Recovery = "an operator recovered the log",
    FrozenRefusal = "a freeze refused an agent",
    FrozenWhileWaiting = "a freeze kept somebody waiting whose way was clear",
    FreezeRanOut = "a freeze ended by itself",
    FrozenPerson = "a person reserved during a freeze",
    CapacityInOrder = "a unit was granted to the first of several who waited",
    CapacityFull = "all units were held",
    CapacityBehindWaiters = "a unit was free and kept for those who waited",
    ChildUnderParent = "a child used what its parent held",
    ParentRefusedByChild = "a parent was refused by its child's lease",
    SiblingRefused = "a sibling was refused",
    TwoCommandsApart = "two commands of one agent excluded each other",
    AskedFromInside = "a command asked from inside another one for what that keeps",
    SetExtendedPastWaiter = "who blocked a waiter added to what it held",
    ReaderBehindWriter = "a reader stood behind a waiting writer",
    PartKept = "a part of a released lease was kept",
    PartlyGranted = "best effort granted a part",
    SetGranted = "several paths were granted as one set",
    ExpiredAtTheInstant = "a lease expired at the very instant",
    RenewedAtTheLast = "a lease was renewed in its last millisecond",
    MaximumCame = "an absolute end came",
    Replayed = "a request delivered twice was answered twice and done once",
    KeyReused = "a key was used for another request",
    CommitLost = "a process died between deciding and committing",
    CommitLostThenRepeated = "what was lost so was repeated with its key and done",
    OldFacts = "a decision was made on facts that were no longer true",
    MovedMeanwhile = "the log moved between gathering facts and deciding",
    WallClockWentBack = "the wall clock went back",
    HolderAsked = "a holder was asked for what it has",
    AskedAgain = "somebody asked for the same again",
    AskedSooner = "somebody asked again, and sooner",
    PartAskedFor = "a part of what somebody has was asked for",
    LetGoByAnswer = "a holder answered that it lets go",
    PartLetGo = "a holder let go of a part of what was asked for",
    SplitByAnswer = "one path was taken out of a lease that stays",
    LetGoByItself = "a holder gave back what it was asked for without an answer",
    CommitPromised = "a holder answered that it commits first",
    CommitKeptPromise = "a commit let go of what was promised",
    PutOff = "a holder answered that it takes longer",
    SaidNo = "a holder answered no",
    TakenBack = "somebody took its request back",
    NothingToAnswer = "a request was over because its lease was, though nobody let it go",
    DeadlinePassed = "a deadline passed without an answer",
    ForcedFromSilent = "a lease was forced from somebody silent",
    ForcedFromDead = "a lease was forced from somebody dead",
    ForcedPart = "a part of a lease was forced",
    ForcedByPerson = "a person forced what somebody else asked for",
    ForcedTooEarly = "a force came before the deadline",
    ForcedDespiteLater = "a force came while the holder still had time",
    ForcedActive = "a force came while the holder was active",
    ForcedTwice = "a lease was forced a second time",
    ForcedForNothing = "a force came after it was let go",
    AnsweredTooLate = "an answer came when the request was over",
    AnsweredByAnother = "somebody answered for another",
    GrantedWhenLetGo = "somebody was granted what it asked for as it was let go",
    RebootWhileAsked = "a new boot ended a request",
    Stopped = "a person stopped an agent that had held something",
    StoppedRefused = "a stopped agent was refused",
    WentOn = "a stopped agent was let go on",
    ChangedHands = "a path came back after another held it",
}

/// How often each situation was reached.
#[derive(Clone, Debug, Default)]
pub struct Probes(BTreeMap<Probe, u64>);

impl Probes {
    pub(crate) fn hit(&mut self, probe: Probe) {
        *self.0.entry(probe).or_default() += 1;
    }

    fn hit_if(&mut self, condition: bool, probe: Probe) {
        if condition {
            self.hit(probe);
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        other.0.iter().for_each(|(probe, count)| *self.0.entry(*probe).or_default() += count);
    }

    /// How often a situation was reached.
    pub fn count(&self, probe: Probe) -> u64 {
        self.0.get(&probe).copied().unwrap_or(0)
    }

    /// Those never reached.
    pub fn unreached(&self) -> Vec<Probe> {
        Probe::ALL.iter().copied().filter(|probe| self.count(*probe) == 0).collect()
    }

    /// Looks at one event, with the books before it.
    pub(crate) fn of_event(&mut self, scene: &Scene<'_>, ledger: &Ledger, event: &Event) {
        let way = Way { ledger, world: scene.world, now: scene.now };
        let lease = event.body.lease().and_then(|id| ledger.leases.get(&id));
        let wait = event.body.wait().and_then(|id| ledger.waits.get(&id));
        match &event.body {
            Body::LeaseGranted(lease) => self.of_grant(scene, &way, lease),
            Body::LeaseExpired { cause, .. } => self.of_expiry(scene, ledger, lease, *cause),
            Body::LeaseTakenOver { .. } => self.hit(Probe::DeadHolderTakenOver),
            Body::LeaseYielded { .. } => self.hit(Probe::AutoYielded),
            Body::LeaseDowngraded { .. } => self.hit(Probe::Downgrade),
            Body::LeaseUpgraded { .. } => {
                self.hit_if(lease.is_some_and(|lease| waiters(ledger, lease) > 0), Probe::UpgradePastWaiters);
            }
            Body::LeaseTransferred { to, .. } => {
                let Some(lease) = lease else { return };
                self.hit_if(waiters(ledger, lease) > 0, Probe::TransferWithWaiters);
                let waits = |wait: &Wait| wait.agent == *to && waits_for(wait, lease);
                self.hit_if(ledger.waits.values().any(waits), Probe::TransferToTheWaiter);
            }
            Body::LeaseRenewed { .. } => {
                let last = |lease: &Lease| ledger.ends_at(lease, scene.now).0 == scene.now.mono.0 + 1;
                self.hit_if(lease.is_some_and(last), Probe::RenewedAtTheLast);
            }
            Body::LeaseReleased { .. } => {
                let handed = matches!(scene.request.command, Command::Transfer(_));
                self.hit_if(handed, Probe::TransferMerged);
            }
            Body::WaitOffered { .. } => self.hit(Probe::OfferMade),
            Body::WaitPassed { .. } => self.hit(Probe::OfferLapsed),
            Body::WaitAttached { process, .. } => self.hit(match process {
                Some(_) => Probe::WaitBecameAttached,
                None => Probe::WaitBecameDurable,
            }),
            Body::WaitEnded { cause, .. } => self.of_wait_end(ledger, wait, *cause),
            Body::AgentHalted { agent, .. } => {
                let held = |id: &LeaseId| ledger.leases.get(id).is_some_and(|lease| lease.holder == *agent);
                self.hit_if(ledger.leases.keys().any(held), Probe::Stopped);
            }
            Body::AgentContinued { .. } => self.hit(Probe::WentOn),
            body if body.negotiation().is_some() => self.of_talk(scene, ledger, body),
            _ => {}
        }
    }

    fn of_talk(&mut self, scene: &Scene<'_>, ledger: &Ledger, body: &Body) {
        let command = &scene.request.command;
        let answered = matches!(command, Command::Answer(_));
        let asked = body.negotiation().and_then(|id| ledger.negotiations.get(&id));
        match body {
            Body::NegotiationAsked(asked) => {
                self.hit(Probe::HolderAsked);
                self.hit_if(talk::is_part(ledger, asked), Probe::PartAskedFor);
            }
            Body::NegotiationRaised { .. } => self.hit(Probe::AskedSooner),
            Body::NegotiationDeferred { until, .. } => {
                self.hit(if until.is_some() { Probe::PutOff } else { Probe::CommitPromised });
            }
            Body::NegotiationOverdue { .. } => self.hit(Probe::DeadlinePassed),
            Body::NegotiationEnded { how: NegotiationEnd::Released, .. } => {
                self.hit(if answered { Probe::LetGoByAnswer } else { Probe::LetGoByItself });
                let commits = matches!(command, Command::Settle(_));
                let promised = asked.is_some_and(|asked| asked.state == NegotiationState::AfterCommit);
                self.hit_if(commits && promised, Probe::CommitKeptPromise);
                self.hit_if(
                    asked.is_some_and(|asked| ledger.open.contains(&asked.lease)),
                    Probe::SplitByAnswer,
                );
            }
            Body::NegotiationEnded { how: NegotiationEnd::Refused, .. } => self.hit(Probe::SaidNo),
            Body::NegotiationEnded { how: NegotiationEnd::Withdrawn, .. } => self.hit(Probe::TakenBack),
            Body::NegotiationEnded { how: NegotiationEnd::Lapsed, .. } => {
                let ended = asked.and_then(|asked| ledger.leases.get(&asked.lease));
                let rebooted = ended.is_some_and(|lease| lease.fence.epoch.0 < ledger.epoch);
                self.hit(if rebooted { Probe::RebootWhileAsked } else { Probe::NothingToAnswer });
            }
            Body::NegotiationForced { .. } => {
                let way = Way { ledger, world: scene.world, now: scene.now };
                let dead = asked.is_some_and(|asked| way.is_dead_agent(asked.holder));
                self.hit(if dead { Probe::ForcedFromDead } else { Probe::ForcedFromSilent });
                self.hit_if(asked.is_some_and(|asked| talk::is_part(ledger, asked)), Probe::ForcedPart);
                let another = asked.is_some_and(|asked| scene.me != Some(asked.requester));
                self.hit_if(another, Probe::ForcedByPerson);
            }
            _ => {}
        }
    }

    fn of_grant(&mut self, scene: &Scene<'_>, way: &Way<'_>, lease: &Lease) {
        if matches!(scene.request.command, Command::Release(_)) {
            return self.hit(Probe::PartKept);
        }
        let Some((wanted, place)) = scene.asked_for(way.ledger, lease) else { return };
        self.hit_if(place.is_some(), Probe::GrantedWhenLetGo);
        let Some(want) = wanted.wants.iter().find(|want| want.target == lease.target) else { return };
        let asker = way.asker(lease.holder, wanted);
        let touching = way.ledger.on(&lease.target, &lease.worktree, scene.now);
        let above = |other: &&Lease| {
            other.holder != lease.holder
                && way.ledger.is_above(other.holder, lease.holder)
                && is_conflict(other.mode, lease.mode)
        };
        self.hit_if(touching.iter().any(above), Probe::ChildUnderParent);
        let overtaken = |wait: &Wait| {
            wait.place.0 < asker.place
                && wait.agent != lease.holder
                && waits_for(wait, lease)
                && way.is_waiting(wait)
                && way.adds_to_what_blocks(&asker, want, wait)
        };
        self.hit_if(way.ledger.waits.values().any(overtaken), Probe::SetExtendedPastWaiter);
        let behind = |wait: &Wait| wait.place.0 > asker.place && waits_for(wait, lease);
        let several = ground::capacity(&lease.target) > 1 && lease.mode == Mode::Exclusive;
        self.hit_if(several && way.ledger.waits.values().any(behind), Probe::CapacityInOrder);
        self.hit_if(lease.set.is_some(), Probe::SetGranted);
        let path = matches!(lease.target, Target::Path(_));
        self.hit_if(path && way.ledger.is_frozen(scene.now), Probe::FrozenPerson);
    }

    fn of_expiry(&mut self, scene: &Scene<'_>, ledger: &Ledger, lease: Option<&Lease>, cause: ExpiryCause) {
        let Some(lease) = lease else { return };
        match cause {
            ExpiryCause::Reboot => return self.hit(Probe::RebootWithLeases),
            ExpiryCause::Recovery => return self.hit(Probe::Recovery),
            ExpiryCause::ProcessGone => return self.hit(Probe::DeadCommandLeftIt),
            ExpiryCause::Maximum => self.hit(Probe::MaximumCame),
            ExpiryCause::Silence => {}
        }
        self.hit_if(ledger.ends_at(lease, scene.now) == scene.now.mono, Probe::ExpiredAtTheInstant);
        let waits = ledger.waits.values().any(|wait| wait.agent == lease.holder);
        self.hit_if(waits, Probe::LeaseDiedWhileItsHolderWaited);
    }

    fn of_wait_end(&mut self, ledger: &Ledger, wait: Option<&Wait>, cause: WaitEnd) {
        let Some(wait) = wait else { return };
        match cause {
            WaitEnd::Granted => self.hit_if(wait.offered_until.is_some(), Probe::OfferTaken),
            WaitEnd::TimedOut => self.hit(Probe::WaiterTimedOut),
            WaitEnd::Cancelled => self.hit(Probe::WaiterLeft),
            WaitEnd::Silent => self.hit(Probe::WaiterSilent),
            WaitEnd::Lapsed => self.hit(Probe::OfferLapsedTwice),
            WaitEnd::Reboot => self.hit(Probe::RebootWithWaiters),
            WaitEnd::Recovery => {}
            WaitEnd::Gone => {
                let touch = |other: &Wait| {
                    let mut wants = other.wanted.wants.iter();
                    wants.any(|want| ground::touches(&wait.wanted, &want.target, &other.wanted.worktree))
                };
                let mut others = ledger.waits.values().filter(|other| touch(other));
                self.hit_if(others.all(|other| other.place >= wait.place), Probe::FirstWaiterKilled);
            }
        }
    }

    /// Looks at a reply, with the books after it.
    pub(crate) fn of_reply(&mut self, scene: &Scene<'_>, ledger: &Ledger, resumed: bool, reply: &Reply) {
        self.hit_if(reply.replayed, Probe::Replayed);
        let changed = |notice: &Notice| matches!(notice, Notice::ChangedHands { .. });
        self.hit_if(reply.notices.iter().any(changed), Probe::ChangedHands);
        let last =
            matches!(&scene.request.command, Command::Await(Await { stay: Stay::Last, wait: Some(_), .. }));
        match &reply.outcome {
            Ok(Success::Reserved { refused, .. }) => {
                self.hit_if(last, Probe::LastTryGranted);
                self.hit_if(!refused.is_empty(), Probe::PartlyGranted);
            }
            Ok(Success::Queued { blockers, ahead, .. }) => {
                let free = blockers.is_empty() && ahead.is_empty();
                self.hit_if(free && ledger.is_frozen(scene.now), Probe::FrozenWhileWaiting);
            }
            Ok(Success::Negotiated(outcome)) => self.of_answer(scene, outcome, reply),
            Ok(_) => {}
            Err(failure) => self.of_failure(scene, ledger, resumed, last, failure),
        }
    }

    fn of_answer(&mut self, scene: &Scene<'_>, outcome: &Negotiated, reply: &Reply) {
        if reply.replayed {
            return;
        }
        let since = outcome.negotiations.iter().map(|view| view.negotiation.since);
        match (&scene.request.command, outcome.status) {
            (Command::Ask(_), Status::Requested) => {
                self.hit_if(since.min() < Some(scene.now.mono), Probe::AskedAgain);
            }
            (Command::Answer(_), Status::PartlyReleased) => self.hit(Probe::PartLetGo),
            (Command::Force(_), Status::Forced) => {
                let over = outcome.negotiations.iter().filter_map(|view| view.negotiation.settled());
                self.hit_if(over.map(|over| over.at).min() < Some(scene.now.wall), Probe::ForcedTwice);
            }
            (Command::Force(_), Status::AlreadyReleased) => self.hit(Probe::ForcedForNothing),
            _ => {}
        }
    }

    fn of_early_force(&mut self, failure: &Failure) {
        match talk::too_early(failure) {
            Some("deadline") => self.hit(Probe::ForcedTooEarly),
            Some("later") => self.hit(Probe::ForcedDespiteLater),
            Some("active") => self.hit(Probe::ForcedActive),
            _ => {}
        }
    }

    fn of_failure(
        &mut self,
        scene: &Scene<'_>,
        ledger: &Ledger,
        resumed: bool,
        last: bool,
        failure: &Failure,
    ) {
        match failure.slug {
            Slug::StaleFence => self.hit_if(resumed, Probe::StaleFenceAfterPause),
            Slug::LeaseExpired => self.hit_if(resumed, Probe::ExpiredAfterPause),
            Slug::NotFound => {
                let waits = matches!(scene.request.command, Command::Await(_));
                self.hit_if(resumed && waits, Probe::SilentAfterPause);
            }
            Slug::AlreadyAnswered => self.hit(Probe::AnsweredTooLate),
            Slug::NotParty => self.hit(Probe::AnsweredByAnother),
            Slug::ForceTooEarly => self.of_early_force(failure),
            Slug::Halted => self.hit(Probe::StoppedRefused),
            Slug::RecipientGone => self.hit(Probe::TransferToTheGone),
            Slug::IdempotencyMismatch => self.hit(Probe::KeyReused),
            Slug::Frozen => self.hit(Probe::FrozenRefusal),
            Slug::ReservationHeld => {
                self.hit_if(last, Probe::LastTryRefused);
                self.of_refusal(scene, ledger, failure);
            }
            Slug::WouldDeadlock => match &failure.details {
                Details::Circle(circle) => self.of_circle(scene, ledger, circle),
                _ => self.hit(Probe::AskedFromInside),
            },
            _ => {}
        }
    }

    fn of_refusal(&mut self, scene: &Scene<'_>, ledger: &Ledger, failure: &Failure) {
        let (Some(me), Some(wanted)) = (scene.me, scene.request.wanted()) else { return };
        let Details::Blockers { leases, ahead } = &failure.details else { return };
        for view in leases {
            let lease = &view.lease;
            let holder = ledger.agents.get(&lease.holder);
            let process = holder.and_then(|agent| agent.process.as_ref());
            let unknown = |process| scene.world.liveness(process) == ProcessLife::Unknown;
            self.hit_if(process.is_some_and(unknown), Probe::UnknownHolderKept);
            let way = Way { ledger, world: scene.world, now: scene.now };
            let dirty = crate::checks::way::may_yield(lease) && !way.is_unchanged(lease);
            self.hit_if(dirty, Probe::AutoKept);
            let parent = |id| ledger.agents.get(&id).and_then(|agent| agent.parent);
            self.hit_if(parent(lease.holder) == Some(me), Probe::ParentRefusedByChild);
            let siblings = lease.holder != me && parent(me).is_some() && parent(me) == parent(lease.holder);
            self.hit_if(siblings, Probe::SiblingRefused);
            self.hit_if(lease.holder == me && lease.bound.is_some(), Probe::TwoCommandsApart);
        }
        let several = wanted.wants.len() == 1 && wanted.mode == Mode::Exclusive;
        let units = wanted.wants.first().map_or(1, |want| ground::capacity(&want.target));
        self.hit_if(several && units > 1 && leases.len() >= units, Probe::CapacityFull);
        self.hit_if(
            several && units > 1 && leases.len() < units && !ahead.is_empty(),
            Probe::CapacityBehindWaiters,
        );
        self.hit_if(wanted.mode == Mode::Shared && leases.is_empty(), Probe::ReaderBehindWriter);
    }

    fn of_circle(&mut self, scene: &Scene<'_>, ledger: &Ledger, circle: &Circle) {
        let family = circle.steps.iter().any(|step| step.waits_for == "its subagent");
        self.hit_if(family, Probe::CircleInFamily);
        self.hit_if(circle.steps.len() == 2 && !family, Probe::CircleOfTwo);
        self.hit_if(circle.steps.len() == 3 && !family, Probe::CircleOfThree);
        let (Some(me), Some(wanted)) = (scene.me, scene.request.wanted()) else { return };
        let way = Way { ledger, world: scene.world, now: scene.now };
        let asker = way.asker(me, wanted);
        let upgrade = wanted.wants.iter().any(|want| way.is_upgrade(&asker, want));
        self.hit_if(upgrade, Probe::SecondUpgraderRefused);
    }
}

fn waits_for(wait: &Wait, lease: &Lease) -> bool {
    is_conflict(wait.wanted.mode, lease.mode) && ground::asks_for(&wait.wanted, lease)
}

fn waiters(ledger: &Ledger, lease: &Lease) -> usize {
    ledger.waits.values().filter(|wait| wait.agent != lease.holder && waits_for(wait, lease)).count()
}
