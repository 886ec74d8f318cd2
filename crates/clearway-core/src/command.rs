//! Commands: what a caller asks the kernel to do, already parsed and within its limits.

use crate::agent::{AgentName, Caller};
use crate::facts::{Facts, Process};
use crate::ids::{AgentId, Fence, LeaseId, WaitId};
use crate::lease::{Grade, Lease, Mode};
use crate::pattern::Fold;
use crate::slice::{AgentLookup, Due, ReadSet, RefusalMemory, Slice};
use crate::target::{Target, Worktree};
use crate::time::Now;
use crate::wait::WaitView;
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
    /// Take leases, or a place in the queue for them.
    Await(Await),
    /// Leave the queue.
    Leave(Leave),
    /// Hand leases to another agent.
    Transfer(Transfer),
    /// Admit no new path leases of agents for a while.
    Freeze {
        /// For how long.
        for_ms: u64,
    },
    /// Admit them again.
    Thaw,
    /// Record every expiry.
    Sweep,
    /// Go on with a log that lost its tail: a new epoch, so that no fence is given out twice.
    Recover,
    /// Vouch for the log. What is decided is whether the caller may: the signature is not kept in the store.
    Anchor,
}

/// A request for leases.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// The process that the leases are for and end with; `None` if they are the agent's own.
    pub bound: Option<Process>,
}

/// A request that would rather wait than be refused.
#[derive(Clone, Debug)]
pub struct Await {
    /// What is wanted.
    pub reserve: Reserve,
    /// How to wait.
    pub stay: Stay,
    /// For how long from now.
    pub wait_ms: u64,
    /// The place this request has already.
    pub wait: Option<WaitId>,
}

/// What becomes of a request that cannot be granted now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stay {
    /// It keeps a place without a process; its agent is told when its turn has come.
    Durable,
    /// This process waits for it.
    Attached(Process),
    /// It has waited long enough: it gives up its place and is refused.
    Last,
}

/// Giving up places in the queue.
#[derive(Clone, Debug)]
pub struct Leave {
    /// Which; all of the caller's if `None`.
    pub waits: Option<Vec<WaitId>>,
}

/// A hand-over.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// To whom.
    pub to: AgentName,
    /// What.
    pub selection: Selection,
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
    /// Which.
    pub selection: Selection,
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

/// Which leases a request means.
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

impl Selection {
    /// These by their ids alone.
    pub fn of(leases: Vec<LeaseRef>) -> Self {
        Self::These { leases, targets: Vec::new(), worktree: Worktree::default() }
    }
}

impl Command {
    /// The verb, for messages and events.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Reserve(_) | Self::Await(_) => "reserve",
            Self::Leave(_) => "wait",
            Self::Transfer(_) => "transfer",
            Self::Freeze { .. } => "freeze",
            Self::Thaw => "thaw",
            Self::Renew(_) => "renew",
            Self::Release(_) => "release",
            Self::Sweep => "sweep",
            Self::Recover => "recover",
            Self::Anchor => "anchor",
        }
    }

    /// What it names, for the record of a denial; empty where it means everything of the caller's.
    pub fn subject(&self) -> String {
        let (leases, targets): (&[LeaseRef], Vec<&Target>) = match self {
            Self::Leave(Leave { waits }) => {
                return waits.iter().flatten().map(WaitId::as_str).collect::<Vec<_>>().join(" ");
            }
            Self::Freeze { .. } | Self::Thaw => return "scope".to_owned(),
            Self::Reserve(reserve) | Self::Await(Await { reserve, .. }) => {
                (&[], reserve.wants.iter().map(|want| &want.target).collect())
            }
            Self::Renew(Renew { selection: Selection::These { leases, targets, .. }, .. })
            | Self::Release(Release { selection: Selection::These { leases, targets, .. }, .. })
            | Self::Transfer(Transfer { selection: Selection::These { leases, targets, .. }, .. }) => {
                (leases, targets.iter().collect())
            }
            _ => (&[], Vec::new()),
        };
        let ids = leases.iter().map(|lease| lease.id.to_string());
        ids.chain(targets.iter().map(|target| target.display())).collect::<Vec<_>>().join(" ")
    }

    /// Whether a scope that does not exist yet comes into being by this command.
    pub fn opens_scope(&self) -> bool {
        matches!(self, Self::Reserve(_) | Self::Await(_) | Self::Freeze { .. })
    }

    /// Whether it leaves less behind than it found: on a full disk it may use the room kept aside.
    pub fn gives_back(&self) -> bool {
        matches!(self, Self::Release(_) | Self::Leave(_) | Self::Recover)
    }
}

impl Request {
    /// The state this request has to see.
    pub fn read_set(&self) -> ReadSet {
        let mut read = ReadSet {
            agents: AgentLookup::of(&self.caller),
            due: Due::SHARE,
            key: self.idempotency_key.clone(),
            waits: true,
            ..ReadSet::default()
        };
        match &self.command {
            Command::Reserve(reserve) | Command::Await(Await { reserve, .. }) => read.meet_all(reserve),
            Command::Transfer(transfer) => {
                read.agents.names.push(transfer.to.clone());
                read.leases.extend(self.named_leases().iter().map(|lease| lease.id));
            }
            Command::Renew(_) | Command::Release(_) => {
                read.leases.extend(self.named_leases().iter().map(|lease| lease.id));
            }
            Command::Leave(_) | Command::Freeze { .. } | Command::Thaw | Command::Anchor => {}
            Command::Sweep => read.due = Due::All,
            Command::Recover => read.due = Due::EveryLive,
        }
        read
    }

    /// What else has to be seen once it is known who the caller is and which leases it names: its own leases,
    /// its last refusal, and who holds now what a named lease was on.
    pub fn second_read_set(&self, slice: &Slice, agent: Option<AgentId>) -> ReadSet {
        let mut read = ReadSet {
            held_by: agent
                .filter(|_| self.reads_own_leases())
                .into_iter()
                .chain(self.recipient(slice))
                .collect(),
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
        let met = || self.wanted().is_some_and(|wanted| wanted.touches(&lease.target, &lease.worktree));
        caller == Some(lease.holder) || named() || met()
    }

    /// What stands in the way of those in the queue whose turn this request may bring: it ends leases or waits they
    /// wait for. Joining the queue and handing something over may close a circle, and the end of a pause may be
    /// anybody's turn: they have to see all of it.
    pub fn survey(&self, slice: &Slice, facts: &Facts, now: &Now) -> Option<ReadSet> {
        let over = |view: &WaitView| {
            let agent = slice.agent(view.wait.agent).map(|known| &known.agent);
            view.over(agent, facts, now.mono).is_some() || view.offer_lapsed(now.mono)
        };
        // A place that is over, or was never there, is taken anew. A pause kept everyone from their turn, and whoever is
        // handed something may have waited for it.
        let sees_all = match &self.command {
            Command::Sweep | Command::Thaw | Command::Transfer(_) => true,
            Command::Await(Await { wait, .. }) => {
                !slice.waits.iter().any(|view| Some(view.wait.id) == *wait && !over(view))
            }
            _ => false,
        };
        let leaving: Vec<&WaitView> =
            slice.waits.iter().filter(|view| self.leaves(view) || over(view)).collect();
        let concerned = |wanted: &Reserve| {
            sees_all
                || self.wanted().is_some_and(|own| own.conflicts_with(wanted))
                || slice.leases.iter().any(|lease| wanted.touches(&lease.target, &lease.worktree))
                || leaving.iter().any(|other| other.wait.wanted.conflicts_with(wanted))
        };
        let mut read = ReadSet::default();
        let passed_on = |view: &WaitView| view.offer_lapsed(now.mono);
        for view in slice.waits.iter().filter(|view| passed_on(view) || concerned(&view.wait.wanted)) {
            read.surveyed.insert(view.wait.id);
            read.meet_all(&view.wait.wanted);
        }
        // Others of the giver's family, and the giver itself, may hold parts of what is handed over.
        if matches!(self.command, Command::Transfer(_)) {
            slice.leases.iter().for_each(|lease| read.meet(&lease.worktree, &lease.target));
        }
        // Whether a path changed hands matters to whoever gets it, not to whoever waits.
        read.history.clear();
        (!read.surveyed.is_empty() || !read.overlapping.is_empty() || !read.names.is_empty()).then_some(read)
    }

    /// Whoever is handed something may hold the same already.
    fn recipient(&self, slice: &Slice) -> Option<AgentId> {
        let Command::Transfer(Transfer { to, .. }) = &self.command else { return None };
        slice.agents.iter().find(|view| view.agent.name == *to).map(|view| view.agent.id)
    }

    fn leaves(&self, view: &WaitView) -> bool {
        match &self.command {
            Command::Leave(Leave { waits: Some(waits) }) => waits.contains(&view.wait.id),
            Command::Leave(Leave { waits: None }) => true,
            Command::Await(Await { wait, .. }) => *wait == Some(view.wait.id),
            _ => false,
        }
    }

    /// The leases this request asks for.
    pub fn wanted(&self) -> Option<&Reserve> {
        match &self.command {
            Command::Reserve(reserve) | Command::Await(Await { reserve, .. }) => Some(reserve),
            _ => None,
        }
    }

    fn named_leases(&self) -> &[LeaseRef] {
        match &self.command {
            Command::Renew(Renew { selection: Selection::These { leases, .. }, .. })
            | Command::Release(Release { selection: Selection::These { leases, .. }, .. })
            | Command::Transfer(Transfer { selection: Selection::These { leases, .. }, .. }) => leases,
            _ => &[],
        }
    }

    fn reads_own_leases(&self) -> bool {
        match &self.command {
            Command::Renew(Renew { selection: Selection::All, .. })
            | Command::Release(Release { selection: Selection::All, .. })
            | Command::Transfer(Transfer { selection: Selection::All, .. }) => true,
            Command::Renew(Renew { selection: Selection::These { targets, .. }, .. })
            | Command::Transfer(Transfer { selection: Selection::These { targets, .. }, .. }) => {
                !targets.is_empty()
            }
            Command::Release(Release { selection: Selection::These { targets, .. }, keep }) => {
                !targets.is_empty() || !keep.is_empty()
            }
            _ => false,
        }
    }

    /// A text that is equal exactly for requests that mean the same, for comparing repetitions.
    pub fn digest_text(&self) -> String {
        let mut text = String::from(self.command.verb());
        match &self.command {
            // How a request waits does not change what it asks for.
            Command::Reserve(reserve) | Command::Await(Await { reserve, .. }) => {
                describe_reserve(&mut text, reserve);
            }
            Command::Renew(renew) => {
                describe_selection(&mut text, &renew.selection);
                field(&mut text, "ttl", renew.ttl_ms.map(|ms| ms.to_string()).as_deref());
                field(&mut text, "reason", renew.reason.as_deref());
            }
            Command::Release(release) => describe_release(&mut text, release),
            Command::Leave(leave) => {
                let waits = leave.waits.iter().flatten();
                waits.for_each(|wait| field(&mut text, "wait", Some(wait.as_str())));
            }
            Command::Transfer(transfer) => {
                field(&mut text, "to", Some(transfer.to.as_str()));
                describe_selection(&mut text, &transfer.selection);
            }
            Command::Freeze { for_ms } => field(&mut text, "for", Some(&for_ms.to_string())),
            Command::Sweep | Command::Recover | Command::Thaw | Command::Anchor => {}
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
    field(text, "bound", reserve.bound.as_ref().map(Process::key).as_deref());
}

fn describe_release(text: &mut String, release: &Release) {
    describe_selection(text, &release.selection);
    field(text, "keep", (!release.keep.is_empty()).then_some(""));
    release.keep.iter().for_each(|target| describe_target(text, target));
}

fn describe_selection(text: &mut String, selection: &Selection) {
    match selection {
        Selection::All => field(text, "all", Some("")),
        Selection::These { leases, targets, worktree } => {
            describe_refs(text, leases);
            targets.iter().for_each(|target| describe_target(text, target));
            field(text, "worktree", Some(&worktree.0));
        }
    }
}

fn describe_target(text: &mut String, target: &Target) {
    let space = if matches!(target, Target::Path(_)) { "path" } else { "name" };
    field(text, space, Some(target.canonical()));
}

fn describe_refs(text: &mut String, refs: &[LeaseRef]) {
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
