//! Commands: what a caller asks the kernel to do, already parsed and within its limits.

use crate::agent::Caller;
use crate::ids::{AgentId, Fence, LeaseId};
use crate::lease::{Grade, Lease, Mode};
use crate::pattern::Fold;
use crate::slice::{AgentLookup, Due, ReadSet, RefusalMemory, Slice};
use crate::target::{Target, Worktree};
use std::fmt::Write as _;

/// A command and who gives it where.
#[derive(Clone, Debug)]
pub struct Request {
    /// Who.
    pub caller: Caller,
    /// What.
    pub command: Command,
    /// Makes a repetition answer what the first one answered.
    pub idempotency_key: Option<String>,
    /// What the scope is, should this be its first event.
    pub birth: ScopeBirth,
}

/// The facts recorded when a scope is first written to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScopeBirth {
    /// Where it is, for people.
    pub place: String,
    /// Whether its file system folds case.
    pub fold: Fold,
}

/// What can be asked.
#[derive(Clone, Debug)]
pub enum Command {
    /// Take leases.
    Reserve(Reserve),
    /// Extend leases.
    Renew(Renew),
    /// Give leases back.
    Release(Release),
    /// Record every expiry.
    Sweep,
    /// Go on with a log that lost its tail: a new epoch, so that no fence is given out twice.
    Recover,
}

/// A request for leases.
#[derive(Clone, Debug)]
pub struct Reserve {
    /// On what; all or nothing unless `best_effort`.
    pub wants: Vec<Want>,
    /// In which checkout.
    pub worktree: Worktree,
    /// Alone or with others.
    pub mode: Mode,
    /// Hook or claim.
    pub grade: Grade,
    /// Whether the paths become one write-set.
    pub as_set: bool,
    /// Silence allowed.
    pub ttl_ms: u64,
    /// Absolute end from now.
    pub max_ms: Option<u64>,
    /// Why.
    pub reason: Option<String>,
    /// Grant what can be granted.
    pub best_effort: bool,
}

/// One thing wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Want {
    /// What.
    pub target: Target,
    /// How many may hold a named resource at once; 1 for paths.
    pub capacity: u32,
}

/// A lease named by the caller, possibly with the fence it believes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseRef {
    /// Which.
    pub id: LeaseId,
    /// `ID@FENCE`.
    pub fence: Option<Fence>,
}

/// An extension.
#[derive(Clone, Debug)]
pub struct Renew {
    /// Which; all live ones of the caller if `None`.
    pub leases: Option<Vec<LeaseRef>>,
    /// A new silence; the old one if `None`.
    pub ttl_ms: Option<u64>,
    /// A new reason; a stated reason is never replaced by nothing.
    pub reason: Option<String>,
}

/// A release.
#[derive(Clone, Debug)]
pub struct Release {
    /// What to give back.
    pub selection: Selection,
    /// What to go on holding of it, taken anew in the same transaction.
    pub keep: Vec<Target>,
}

/// Which leases a release means.
#[derive(Clone, Debug)]
pub enum Selection {
    /// Everything the caller holds.
    All,
    /// These, and whatever of the caller's lies inside these patterns.
    These {
        /// By id.
        leases: Vec<LeaseRef>,
        /// By what they are on.
        targets: Vec<Target>,
        /// The checkout of the patterns.
        worktree: Worktree,
    },
}

impl Command {
    /// The verb, for messages and events.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Reserve(_) => "reserve",
            Self::Renew(_) => "renew",
            Self::Release(_) => "release",
            Self::Sweep => "sweep",
            Self::Recover => "recover",
        }
    }

    /// What it names, for the record of a denial; empty where it means everything of the caller's.
    pub fn subject(&self) -> String {
        let (leases, targets): (&[LeaseRef], Vec<&Target>) = match self {
            Self::Reserve(reserve) => (&[], reserve.wants.iter().map(|want| &want.target).collect()),
            Self::Renew(renew) => (renew.leases.as_deref().unwrap_or_default(), Vec::new()),
            Self::Release(Release { selection: Selection::These { leases, targets, .. }, .. }) => {
                (leases, targets.iter().collect())
            }
            Self::Release(_) | Self::Sweep | Self::Recover => (&[], Vec::new()),
        };
        let ids = leases.iter().map(|lease| lease.id.to_string());
        ids.chain(targets.iter().map(|target| target.display())).collect::<Vec<_>>().join(" ")
    }

    /// Whether a scope that does not exist yet comes into being by this command.
    pub fn opens_scope(&self) -> bool {
        matches!(self, Self::Reserve(_))
    }

    /// Whether it leaves less behind than it found: on a full disk it may use the room kept aside.
    pub fn gives_back(&self) -> bool {
        matches!(self, Self::Release(_) | Self::Recover)
    }
}

impl Request {
    /// The state this request has to see.
    pub fn read_set(&self) -> ReadSet {
        let mut read = ReadSet {
            agents: AgentLookup::of(&self.caller),
            due: Due::SHARE,
            key: self.idempotency_key.clone(),
            ..ReadSet::default()
        };
        match &self.command {
            Command::Reserve(reserve) => {
                reserve.wants.iter().for_each(|want| read.meet(&reserve.worktree, &want.target));
            }
            Command::Renew(_) | Command::Release(_) => {
                read.leases.extend(self.named_leases().iter().map(|lease| lease.id));
            }
            Command::Sweep => read.due = Due::All,
            Command::Recover => read.due = Due::EveryLive,
        }
        read
    }

    /// What else has to be seen once it is known who the caller is and which leases it names: its own leases,
    /// its last refusal, and who holds now what a named lease was on.
    pub fn second_read_set(&self, slice: &Slice, agent: Option<AgentId>) -> ReadSet {
        let mut read = ReadSet {
            held_by: agent.filter(|_| self.reads_own_leases()).into_iter().collect(),
            refusals_of: Some(RefusalMemory::principal(agent)),
            ..ReadSet::default()
        };
        for wanted in self.named_leases() {
            let lease = slice.lease(wanted.id);
            let stale =
                |lease: &&Lease| lease.ended.is_some() || wanted.fence.is_some_and(|own| own != lease.fence);
            if let Some(lease) = lease.filter(stale) {
                read.meet(&lease.worktree, &lease.target);
            }
        }
        read
    }

    /// Whether the request is about this lease: it names it, would meet it, or comes from its holder.
    pub(crate) fn concerns(&self, lease: &Lease, caller: Option<AgentId>) -> bool {
        let named = || self.named_leases().iter().any(|named| named.id == lease.id);
        let met = || match &self.command {
            Command::Reserve(Reserve { wants, worktree, .. }) => {
                let here = matches!(lease.target, Target::Name(_)) || lease.worktree == *worktree;
                here && wants.iter().any(|want| want.target.overlaps(&lease.target))
            }
            _ => false,
        };
        caller == Some(lease.holder) || named() || met()
    }

    fn named_leases(&self) -> &[LeaseRef] {
        match &self.command {
            Command::Renew(Renew { leases: Some(leases), .. })
            | Command::Release(Release { selection: Selection::These { leases, .. }, .. }) => leases,
            _ => &[],
        }
    }

    fn reads_own_leases(&self) -> bool {
        match &self.command {
            Command::Renew(renew) => renew.leases.is_none(),
            Command::Release(Release { selection: Selection::All, .. }) => true,
            Command::Release(Release { selection: Selection::These { targets, .. }, keep }) => {
                !targets.is_empty() || !keep.is_empty()
            }
            Command::Reserve(_) | Command::Sweep | Command::Recover => false,
        }
    }

    /// A text that is equal exactly for requests that mean the same, for comparing repetitions.
    pub fn digest_text(&self) -> String {
        let mut text = String::from(self.command.verb());
        match &self.command {
            Command::Reserve(reserve) => describe_reserve(&mut text, reserve),
            Command::Renew(renew) => {
                describe_refs(&mut text, renew.leases.as_deref());
                field(&mut text, "ttl", renew.ttl_ms.map(|ms| ms.to_string()).as_deref());
                field(&mut text, "reason", renew.reason.as_deref());
            }
            Command::Release(release) => describe_release(&mut text, release),
            Command::Sweep | Command::Recover => {}
        }
        text
    }
}

fn describe_reserve(text: &mut String, reserve: &Reserve) {
    for want in &reserve.wants {
        describe_target(text, &want.target);
        field(text, "capacity", Some(&want.capacity.to_string()));
    }
    field(text, "worktree", Some(&reserve.worktree.0));
    field(text, "mode", Some(reserve.mode.word()));
    field(text, "grade", Some(reserve.grade.word()));
    field(text, "set", reserve.as_set.then_some("yes"));
    field(text, "ttl", Some(&reserve.ttl_ms.to_string()));
    field(text, "max", reserve.max_ms.map(|ms| ms.to_string()).as_deref());
    field(text, "reason", reserve.reason.as_deref());
    field(text, "best-effort", reserve.best_effort.then_some("yes"));
}

fn describe_release(text: &mut String, release: &Release) {
    match &release.selection {
        Selection::All => field(text, "all", Some("")),
        Selection::These { leases, targets, worktree } => {
            describe_refs(text, Some(leases));
            targets.iter().for_each(|target| describe_target(text, target));
            field(text, "worktree", Some(&worktree.0));
        }
    }
    field(text, "keep", (!release.keep.is_empty()).then_some(""));
    release.keep.iter().for_each(|target| describe_target(text, target));
}

fn describe_target(text: &mut String, target: &Target) {
    let space = if matches!(target, Target::Path(_)) { "path" } else { "name" };
    field(text, space, Some(target.canonical()));
}

fn describe_refs(text: &mut String, refs: Option<&[LeaseRef]>) {
    let Some(refs) = refs else { return field(text, "all", Some("")) };
    for lease in refs {
        field(text, "lease", Some(lease.id.as_str()));
        field(text, "fence", lease.fence.map(|fence| fence.to_string()).as_deref());
    }
}

/// Length before value, so that no value can imitate the next field.
fn field(text: &mut String, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        let _ = write!(text, "|{name}:{}:{value}", value.len());
    }
}
