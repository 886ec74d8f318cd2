//! Leases: what is granted, to whom, and until when.
//!
//! The TTL of a lease measures its holder's silence. The row keeps the deadline that was last stated in an
//! event; a later sign of life extends it without one, so [`Lease::deadline_given`] is the only right way to
//! ask when a lease ends.

use crate::facts::{Facts, Process, ProcessLife};
use crate::ids::{AgentId, Fence, LeaseId, SetId};
use crate::target::{Target, Worktree};
use crate::time::{Mono, Now, Wall};

/// A granted reservation, live or ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Stable for its whole life.
    pub id: LeaseId,
    /// What it is on.
    pub target: Target,
    /// Whether it belongs to a set taken atomically for one run.
    pub set: Option<SetId>,
    /// Alone or with others.
    pub mode: Mode,
    /// Taken by a hook or claimed.
    pub grade: Grade,
    /// Who holds it.
    pub holder: AgentId,
    /// The order of its last grant.
    pub fence: Fence,
    /// Why, in the holder's words.
    pub reason: Option<String>,
    /// The checkout a path lease is about; empty for names.
    pub worktree: Worktree,
    /// Which unit of a named resource with capacity, counted from 0.
    pub slot: Option<u32>,
    /// The process that keeps it: it lives no longer than that, and nothing else gives it back; `None` if it is the
    /// agent's own.
    pub bound: Option<Process>,
    /// Who handed it over last; `None` if its holder was granted it.
    pub handed_by: Option<AgentId>,
    /// Whether single paths that its holder does not touch make way: those of a broad claim do, unless it is strict.
    pub makes_way: bool,
    /// Paths that made way, and are no part of it any more.
    pub ceded: Vec<Target>,
    /// The silence it allows.
    pub ttl_ms: u64,
    /// When it was granted.
    pub granted: Mono,
    /// The deadline last stated in an event.
    pub deadline: Mono,
    /// An end that no sign of life moves.
    pub end_max: Option<Mono>,
    /// When it was granted, for people.
    pub created_at: Wall,
    /// How and when it ended; `None` while it lives.
    pub ended: Option<Ended>,
}

/// What may be stated anew about a lease while it lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The silence it allows from now on.
    pub ttl_ms: u64,
    /// The new deadline.
    pub deadline: Mono,
    /// The absolute end from now on.
    pub end_max: Option<Mono>,
    /// The reason from now on.
    pub reason: Option<String>,
}

impl Lease {
    /// Whether it counts in a checkout: names are shared by all, paths are not.
    pub fn is_in(&self, worktree: &Worktree) -> bool {
        matches!(self.target, Target::Name(_)) || self.worktree == *worktree
    }

    /// Whether it is on some of a target.
    pub fn is_on(&self, target: &Target) -> bool {
        self.target.overlaps(target) && !self.ceded.contains(target)
    }

    /// Whether a hook took it for the length of one tool call, on a file that many edit briefly: of what hooks take, that
    /// alone has an end which no work in the file puts off.
    pub fn lasts_one_call(&self) -> bool {
        self.grade == Grade::Auto && self.end_max.is_some() && self.target.literal().is_some()
    }

    /// Whether holding it is holding all of a target.
    pub fn covers(&self, target: &Target) -> bool {
        self.target.covers(target) && !self.ceded.iter().any(|ceded| ceded.overlaps(target))
    }

    /// Whether two leases have something in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.is_on(&other.target) && !other.ceded.contains(&self.target)
    }

    /// Whether it is on any of these, as they are meant in a checkout.
    pub fn is_on_any<'a>(&self, targets: impl IntoIterator<Item = &'a Target>, worktree: &Worktree) -> bool {
        self.is_in(worktree) && targets.into_iter().any(|target| self.is_on(target))
    }

    /// The terms it stands on.
    pub fn terms(&self) -> Terms {
        let Self { ttl_ms, deadline, end_max, reason, .. } = self;
        Terms { ttl_ms: *ttl_ms, deadline: *deadline, end_max: *end_max, reason: reason.clone() }
    }

    /// Puts it on other terms.
    pub fn set_terms(&mut self, terms: Terms) {
        let Terms { ttl_ms, deadline, end_max, reason } = terms;
        (self.ttl_ms, self.deadline, self.end_max, self.reason) = (ttl_ms, deadline, end_max, reason);
    }

    /// When the lease ends if the holder stays silent from `last_seen` on.
    pub fn deadline_given(&self, last_seen: Option<Mono>) -> Mono {
        let by_silence = last_seen.map_or(self.deadline, |seen| self.deadline.max(seen.plus_ms(self.ttl_ms)));
        self.end_max.map_or(by_silence, |end| by_silence.min(end))
    }

    /// How the lease is over at `now`: as its row says, by the clock, or with its process, though nobody recorded that
    /// yet. Deadlines of an earlier boot mean nothing on this one's clock, and whoever held something then is gone.
    pub fn ended_given(
        &self,
        last_seen: Option<Mono>,
        now: &Now,
        same_boot: bool,
        facts: &Facts,
    ) -> Option<Ended> {
        let cause = match same_boot {
            false => Some(ExpiryCause::Reboot),
            true if self.is_expired(last_seen, now.mono) => Some(self.expiry_cause(now.mono)),
            true => self.has_lost_its_process(facts).then_some(ExpiryCause::ProcessGone),
        };
        self.ended.or_else(|| cause.map(|cause| Ended { how: End::Expired(cause), at: now.wall }))
    }

    /// Whether the process that kept it is proven dead. Whoever asks has to gather that fact first: what is not known
    /// ends nothing.
    pub fn has_lost_its_process(&self, facts: &Facts) -> bool {
        self.bound.as_ref().is_some_and(|process| facts.process(process) == Some(ProcessLife::Dead))
    }

    /// Whether the lease is over at `now`. At the deadline instant it is, for every operation alike.
    pub fn is_expired(&self, last_seen: Option<Mono>, now: Mono) -> bool {
        now >= self.deadline_given(last_seen)
    }

    /// Which of the two limits ended it.
    pub fn expiry_cause(&self, now: Mono) -> ExpiryCause {
        if self.end_max.is_some_and(|end| now >= end) { ExpiryCause::Maximum } else { ExpiryCause::Silence }
    }

    /// The kind of its target as a word of the interface.
    pub fn kind(&self) -> Kind {
        match (&self.target, self.set) {
            (Target::Name(_), _) => Kind::Name,
            (Target::Path(_), Some(_)) => Kind::WriteSet,
            (Target::Path(_), None) => Kind::Path,
        }
    }
}

/// Kinds of leases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Paths.
    Path,
    /// A named resource.
    Name,
    /// Several paths taken as one.
    WriteSet,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Path, Self::Name, Self::WriteSet];

    /// The word used in output and flags.
    pub fn word(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Name => "name",
            Self::WriteSet => "write-set",
        }
    }
}

/// Whether others may hold the same thing too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// Together with other shared holders.
    Shared,
    /// Alone.
    Exclusive,
}

impl Mode {
    /// The word used in output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Exclusive => "exclusive",
        }
    }

    /// Whether two holders of the same thing get in each other's way.
    pub fn conflicts_with(self, other: Self) -> bool {
        self == Self::Exclusive || other == Self::Exclusive
    }
}

/// How a lease was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// By a hook, for as long as the uncommitted change lasts.
    Auto,
    /// By `reserve`.
    Claimed,
}

impl Grade {
    /// The word used in output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Claimed => "claimed",
        }
    }
}

/// How a lease ended, and when for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// In which way.
    pub how: End,
    /// When.
    pub at: Wall,
}

/// The ways a lease ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Given back, by the holder or for it.
    Released,
    /// Its time ran out.
    Expired(ExpiryCause),
    /// An automatic lease on an unchanged path made room.
    Yielded,
    /// Its holder was proven gone.
    TakenOver,
    /// Its holder ended, or was stopped, and left a change behind that is not committed.
    Orphaned,
}

impl End {
    /// The state as the interface words it: a lease that is not active is released or expired.
    pub fn state_word(self) -> &'static str {
        match self {
            Self::Expired(_) => "expired",
            Self::Released | Self::Yielded | Self::TakenOver | Self::Orphaned => "released",
        }
    }

    /// The exact way, as a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Released => "released",
            Self::Expired(cause) => cause.word(),
            Self::Yielded => "yielded",
            Self::TakenOver => "taken-over",
            Self::Orphaned => "orphaned",
        }
    }

    /// Reads the exact word back.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Released, Self::Yielded, Self::TakenOver, Self::Orphaned]
            .into_iter()
            .chain(ExpiryCause::ALL.map(Self::Expired))
            .find(|end| end.word() == word)
    }
}

/// Why the time of a lease ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpiryCause {
    /// The holder was silent for its TTL.
    Silence,
    /// The absolute end stated with `--max` came.
    Maximum,
    /// The machine started anew; every process that held something is gone.
    Reboot,
    /// The log lost its tail and an operator went on without it.
    Recovery,
    /// The process that kept it is dead and did not give it back.
    ProcessGone,
}

impl ExpiryCause {
    /// Every cause.
    pub const ALL: [Self; 5] =
        [Self::Silence, Self::Maximum, Self::Reboot, Self::Recovery, Self::ProcessGone];

    /// The word used in events.
    pub fn word(self) -> &'static str {
        match self {
            Self::Silence => "silence",
            Self::Maximum => "maximum",
            Self::Reboot => "reboot",
            Self::Recovery => "recovery",
            Self::ProcessGone => "process-gone",
        }
    }
}
