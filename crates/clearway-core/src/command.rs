//! Commands: what a caller asks the kernel to do, already parsed and within its limits.

use crate::agent::{AgentName, Caller};
use crate::commit;
use crate::facts::Process;
use crate::ids::{Fence, LeaseId, NegotiationId, WaitId};
use crate::lease::{Grade, Mode};
use crate::limits::TTL_MS_AUTO;
use crate::mail::{self, MailVerb};
use crate::negotiation::Urgency;
use crate::pattern::Fold;
use crate::snapshot::Keeping;
use crate::target::{Target, Worktree};
use crate::time::{Mono, Wall};
use std::fmt;

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
    /// Give back what a process keeps, said by that process: nothing else gives it back while it lives.
    LetGo(Process),
    /// Take leases, or a place in the queue for them.
    Await(Await),
    /// Leave the queue.
    Leave(Leave),
    /// Hand leases to another agent.
    Transfer(Transfer),
    /// Say what the agent of a client is doing.
    Attend(Attend),
    /// Be the only one who writes files that everybody writes, for one tool call.
    Enter(Enter),
    /// Commit paths, as git is about to. What is decided is whether that takes along what is with somebody else.
    Commit(Commit),
    /// Give back what a commit made clean.
    Settle(Settle),
    /// Tell of a commit that the check never saw.
    Unchecked(Unchecked),
    /// Rebase a checkout, as git is about to. What is decided is whether somebody else is at work there.
    Rebase(Worktree),
    /// Change a whole checkout, as a command of git is about to. What is decided is whether somebody else is at work there.
    Upheave(Upheaval),
    /// Admit no new path leases of agents for a while.
    Freeze {
        /// For how long.
        for_ms: u64,
    },
    /// Admit them again.
    Thaw,
    /// Ask who holds something for it.
    Ask(Ask),
    /// Say to who asks what becomes of it.
    Answer(Answer),
    /// Take back what one asked for.
    Withdraw(NegotiationId),
    /// Take what was asked for and not let go.
    Force(Force),
    /// Stop an agent.
    Halt(AgentName),
    /// Let it go on.
    Continue(AgentName),
    /// Record that what was not committed is kept.
    Keep(Keeping),
    /// Begin the scope, if it has not begun.
    Open,
    /// Record every expiry.
    Sweep,
    /// Go on with a log that lost its tail: a new epoch, so that no fence is given out twice.
    Recover,
    /// Vouch for the log. What is decided is whether the caller may: the signature is not kept in the store.
    Anchor,
    /// Send, read or acknowledge messages, or say from whom one takes any.
    Mail(mail::Act),
}

/// What a command is called, in messages and events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Take leases, at once or in turn.
    Reserve,
    /// Extend leases.
    Renew,
    /// Give leases back.
    Release,
    /// Leave the queue.
    Leave,
    /// Hand leases over.
    Transfer,
    /// Say what an agent is doing.
    Attend,
    /// Commit.
    Commit,
    /// Rebase.
    Rebase,
    /// Change a whole checkout.
    Upheave,
    /// Begin a pause.
    Freeze,
    /// End it.
    Thaw,
    /// Ask for what somebody holds.
    Ask,
    /// Say what becomes of it.
    Answer,
    /// Take a request back.
    Withdraw,
    /// Take what was asked for.
    Force,
    /// Stop an agent.
    Halt,
    /// Let it go on.
    Continue,
    /// Keep what is not committed.
    Snapshot,
    /// Begin a scope.
    Open,
    /// Record expiries.
    Sweep,
    /// Go on without a lost tail.
    Recover,
    /// Vouch for the log.
    Anchor,
    /// Something with mail.
    Mail(MailVerb),
}

impl Verb {
    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Reserve => "reserve",
            Self::Renew => "renew",
            Self::Release => "release",
            Self::Leave => "wait",
            Self::Transfer => "transfer",
            Self::Attend => "attend",
            Self::Commit => "commit",
            Self::Rebase => "rebase",
            Self::Upheave => "git",
            Self::Freeze => "freeze",
            Self::Thaw => "thaw",
            Self::Ask => "ask",
            Self::Answer => "answer",
            Self::Withdraw => "withdraw",
            Self::Force => "force",
            Self::Halt => "halt",
            Self::Continue => "resume",
            Self::Snapshot => "snapshot",
            Self::Open => "init",
            Self::Sweep => "sweep",
            Self::Recover => "recover",
            Self::Anchor => "anchor",
            Self::Mail(verb) => verb.word(),
        }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.word())
    }
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
    /// Whether single paths that the holder does not touch make way for others.
    pub makes_way: bool,
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
    /// The place this request has already; if it is gone, none is taken.
    pub wait: Option<WaitId>,
}

/// A request to whoever holds something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// What is wanted of it: one thing.
    pub reserve: Reserve,
    /// Why.
    pub why: String,
    /// How soon.
    pub urgency: Urgency,
    /// Whether it is to be granted when it is let go.
    pub then_reserve: bool,
    /// Whether the caller was answered and tells that by itself: then nobody is asked anew.
    pub tells_answer: bool,
    /// Whether the caller waits, so that this is how it hears of the circle that it waits in.
    pub tells_circle: bool,
}

/// What a holder says to who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// To which request.
    pub negotiation: NegotiationId,
    /// What.
    pub says: Says,
}

/// The answers there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Says {
    /// It is let go: what was asked for, or these parts of it.
    Release(Vec<Target>),
    /// It is let go with the next commit.
    AfterCommit,
    /// It takes so much longer.
    Later {
        /// From now.
        for_ms: u64,
    },
    /// No, and why.
    No(String),
}

/// Taking what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Force {
    /// By which request.
    pub negotiation: NegotiationId,
    /// Why.
    pub reason: String,
    /// Whether it is taken although what its holder has not committed cannot be kept: for a person to say.
    pub without_snapshot: bool,
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

/// What a client's hook tells of its agent. None of it asks for anything, and none of it is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attend {
    /// Its session begins, or goes on.
    Start,
    /// It is about to use a tool that writes nothing we know of.
    Call,
    /// It used a tool.
    Done {
        /// On which files.
        files: Vec<Used>,
        /// In which checkout.
        worktree: Worktree,
        /// Whether it came to nothing, so that none of them was written.
        failed: bool,
    },
    /// It used a tool that does not say what it writes.
    Ran {
        /// Leases of others whose files changed meanwhile.
        hits: Vec<Hit>,
    },
    /// Its turn ended: it waits for its person.
    Rest,
    /// Its session ended, or it was a subagent and is done.
    End,
}

impl Attend {
    /// It used a tool on these files, all of which are looked after in one way.
    pub fn done(how: Care, targets: impl IntoIterator<Item = Target>, worktree: Worktree) -> Self {
        let files = targets.into_iter().map(|target| Used { target, how }).collect();
        Self::Done { files, worktree, failed: false }
    }
}

/// A file that a tool call was made on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used {
    /// Which.
    pub target: Target,
    /// How it is looked after.
    pub how: Care,
}

/// How a file is looked after that tool calls write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// It is held as long as there is work in it.
    Kept,
    /// It is held for the length of the call.
    Brief,
    /// Everybody writes it, one call after the other, and it is nobody's.
    Common,
}

/// A tool call that is about to write files for which nobody holds a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enter {
    /// Which.
    pub targets: Vec<Target>,
    /// In which checkout.
    pub worktree: Worktree,
}

/// A commit that git is about to make, as far as it may concern somebody else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    /// Paths of it that somebody else may hold.
    pub paths: Vec<Target>,
    /// Those of them that are staged just as the operation which is under way brings them.
    pub brought: Vec<Target>,
    /// Paths of it, and who of another family is known to have written lines of theirs.
    pub written: Vec<(Target, AgentName)>,
    /// In which checkout.
    pub worktree: Worktree,
}

impl Commit {
    /// The same of one path alone.
    #[must_use]
    pub fn only(&self, path: &Target) -> Self {
        let paths = self.paths.iter().filter(|own| *own == path).cloned().collect();
        let written = self.written.iter().filter(|(own, _)| own == path).cloned().collect();
        Self { paths, written, ..self.clone() }
    }
}

/// A commit that git made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settle {
    /// Leases of the caller's family on paths of it.
    pub leases: Vec<LeaseId>,
    /// When it began: what was taken or renewed after that is for work after it.
    pub began: Mono,
}

/// A commit that git made past the check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unchecked {
    /// Which.
    pub commit: String,
    /// Its paths that somebody may hold.
    pub paths: Vec<Target>,
    /// In which checkout.
    pub worktree: Worktree,
    /// When it was made.
    pub at: Wall,
    /// Whether the caller made it, and nobody else may have.
    pub explained: bool,
}

/// A command of git that changes a whole checkout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Upheaval {
    /// In which checkout.
    pub worktree: Worktree,
    /// What it is called, such as `git switch`.
    pub what: String,
    /// Others who are at work there, whether they hold anything or not.
    pub present: Vec<AgentName>,
    /// Others who are known to have written uncommitted lines there.
    pub wrote: Vec<AgentName>,
}

/// A file of somebody else that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The lease it is held by.
    pub lease: LeaseId,
    /// Whether no other call may have changed it.
    pub explained: bool,
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

impl Reserve {
    /// All of these and nobody else beside, with no more to it.
    pub fn alone(
        targets: impl IntoIterator<Item = Target>,
        worktree: Worktree,
        grade: Grade,
        ttl_ms: u64,
    ) -> Self {
        Self {
            wants: targets.into_iter().map(|target| Want { target, capacity: 1 }).collect(),
            worktree,
            mode: Mode::Exclusive,
            grade,
            as_set: false,
            ttl_ms,
            max_ms: None,
            reason: None,
            best_effort: false,
            bound: None,
            makes_way: false,
        }
    }

    /// What an edit of files needs.
    pub fn edit(files: impl IntoIterator<Item = Target>, worktree: Worktree) -> Self {
        Self::alone(files, worktree, Grade::Auto, TTL_MS_AUTO)
    }

    /// Whether single paths of a target make way for others. Whoever names a single file beside something broad means
    /// that file.
    pub(crate) fn gives_way(&self, target: &Target) -> bool {
        self.makes_way && matches!(target, Target::Path(pattern) if pattern.as_literal().is_none())
    }

    /// What it names, for the record of a denial.
    pub fn subject(&self) -> String {
        self.wants.iter().map(|want| want.target.display()).collect::<Vec<_>>().join(" ")
    }
}

impl Selection {
    /// These by their ids alone.
    pub fn of(leases: Vec<LeaseRef>) -> Self {
        Self::These { leases, targets: Vec::new(), worktree: Worktree::default() }
    }
}

impl Command {
    /// The verb it is the meaning of.
    pub fn verb(&self) -> Verb {
        match self {
            Self::Reserve(_) | Self::Await(_) => Verb::Reserve,
            Self::Leave(_) => Verb::Leave,
            Self::Transfer(_) => Verb::Transfer,
            Self::Attend(_) | Self::Enter(_) => Verb::Attend,
            Self::Commit(_) | Self::Settle(_) | Self::Unchecked(_) => Verb::Commit,
            Self::Rebase(_) => Verb::Rebase,
            Self::Upheave(_) => Verb::Upheave,
            Self::Freeze { .. } => Verb::Freeze,
            Self::Thaw => Verb::Thaw,
            Self::Renew(_) => Verb::Renew,
            Self::Release(_) | Self::LetGo(_) => Verb::Release,
            Self::Ask(_) => Verb::Ask,
            Self::Answer(_) => Verb::Answer,
            Self::Withdraw(_) => Verb::Withdraw,
            Self::Force(_) => Verb::Force,
            Self::Halt(_) => Verb::Halt,
            Self::Continue(_) => Verb::Continue,
            Self::Keep(_) => Verb::Snapshot,
            Self::Open => Verb::Open,
            Self::Sweep => Verb::Sweep,
            Self::Recover => Verb::Recover,
            Self::Anchor => Verb::Anchor,
            Self::Mail(act) => Verb::Mail(act.verb()),
        }
    }

    /// What it names, for the record of a denial; empty where it means everything of the caller's.
    pub fn subject(&self) -> String {
        let (leases, targets): (&[LeaseRef], Vec<&Target>) = match self {
            Self::Leave(Leave { waits }) => {
                return waits.iter().flatten().map(WaitId::as_str).collect::<Vec<_>>().join(" ");
            }
            Self::Freeze { .. } | Self::Thaw => return "scope".to_owned(),
            Self::Commit(Commit { paths, written, .. }) => {
                return commit::recorded(paths.iter().chain(written.iter().map(|(path, _)| path))).join(" ");
            }
            Self::Rebase(worktree) => return worktree.0.clone(),
            Self::Upheave(upheaval) => return upheaval.what.clone(),
            Self::Mail(act) => return act.subject(),
            Self::Reserve(reserve) | Self::Await(Await { reserve, .. }) | Self::Ask(Ask { reserve, .. }) => {
                return reserve.subject();
            }
            Self::Answer(Answer { negotiation, .. })
            | Self::Withdraw(negotiation)
            | Self::Force(Force { negotiation, .. }) => return negotiation.to_string(),
            Self::Halt(agent) | Self::Continue(agent) => return agent.to_string(),
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

    /// The checkout from which leases are named, if it names some.
    pub fn names_from(&self) -> Option<&Worktree> {
        match self {
            Self::Renew(Renew { selection: Selection::These { worktree, .. }, .. })
            | Self::Release(Release { selection: Selection::These { worktree, .. }, .. })
            | Self::Transfer(Transfer { selection: Selection::These { worktree, .. }, .. }) => Some(worktree),
            _ => None,
        }
    }

    /// Whether a scope that does not exist yet comes into being by this command.
    pub fn opens_scope(&self) -> bool {
        matches!(
            self,
            Self::Reserve(_)
                | Self::Await(_)
                | Self::Ask(_)
                | Self::Freeze { .. }
                | Self::Open
                | Self::Keep(_)
                | Self::Mail(mail::Act::SetRules(_))
        )
    }

    /// Whether an agent that had ended is back with it.
    pub fn brings_back(&self) -> bool {
        match self {
            Self::Attend(attend) => *attend != Attend::End,
            Self::Reserve(_) | Self::Await(_) | Self::Ask(_) | Self::Enter(_) => true,
            _ => false,
        }
    }

    /// Whether it asks for a place in the queue that is kept without anybody waiting at it.
    pub fn asks_for_a_place(&self) -> bool {
        matches!(self, Self::Await(Await { wait: None, .. })) && self.keeps_a_place()
    }

    /// Whether it asks for such a place, or leaves one behind.
    pub fn keeps_a_place(&self) -> bool {
        matches!(self, Self::Await(Await { stay: Stay::Durable, .. }))
    }

    /// Whether it leaves less behind than it found: on a full disk it may use the room kept aside.
    pub fn gives_back(&self) -> bool {
        matches!(
            self,
            Self::Release(_)
                | Self::LetGo(_)
                | Self::Settle(_)
                | Self::Leave(_)
                | Self::Attend(Attend::End)
                | Self::Answer(Answer { says: Says::Release(_), .. })
                | Self::Withdraw(_)
                | Self::Recover
        )
    }

    /// Whether nobody has more when it is done: on a full disk it is carried out as long as it can be written, but for the room
    /// kept aside.
    pub fn takes_nothing(&self) -> bool {
        let ends = matches!(self, Self::Sweep | Self::Halt(_) | Self::Attend(_));
        self.gives_back() || ends || matches!(self, Self::Freeze { .. } | Self::Thaw)
    }
}
