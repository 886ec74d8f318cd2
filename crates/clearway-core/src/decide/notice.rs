//! What there is to say beside an answer.

use crate::agent::{Agent, AgentName};
use crate::command::Verb;
use crate::hint::STORE_SLIP;
use crate::ids::{LeaseId, NegotiationId, Seq, WaitId};
use crate::lease::{End, Grade, Mode};
use crate::slice::Announced;
use crate::target::{ResourceName, Target, Worktree};
use crate::text::shown;
use crate::time::Wall;

/// Something worth saying beside an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The former holder was proven gone, or silent for so long that it was taken by force.
    TookOver {
        /// On what.
        target: String,
        /// From whom.
        from: AgentName,
        /// Whether that one is gone, or what kept it.
        is_gone: bool,
    },
    /// What somebody has not committed on a path could not be kept.
    Unkept {
        /// On what.
        target: String,
        /// Whose.
        from: AgentName,
        /// Why not.
        why: String,
    },
    /// What somebody left uncommitted on a path is kept.
    Kept {
        /// On what.
        target: String,
        /// Whose.
        from: AgentName,
        /// Under which number.
        number: Seq,
    },
    /// The former holder had no uncommitted change in the file.
    Yielded {
        /// On what.
        target: String,
        /// By whom.
        from: AgentName,
    },
    /// Somebody else held the path since the caller last did: read it again before editing.
    ChangedHands {
        /// On what.
        target: String,
        /// Who held it.
        by: AgentName,
    },
    /// The last who held the path left it, and changes of it that are not committed are still there.
    LeftBehind {
        /// On what.
        target: String,
        /// Whose.
        from: AgentName,
        /// By what.
        left: Left,
    },
    /// Somebody waits for what the caller holds.
    WaitedFor {
        /// For what.
        target: String,
        /// What the caller holds of it.
        held: Target,
        /// The checkout that both are in; none for names.
        worktree: Worktree,
        /// How it came to hold it.
        grade: Grade,
        /// Who.
        by: AgentName,
        /// Why.
        reason: Option<String>,
    },
    /// What the caller waited for is kept for it.
    YourTurn {
        /// What.
        target: Target,
        /// The checkout that it is in; none for names.
        worktree: Worktree,
        /// For how long.
        left_ms: u64,
    },
    /// What the caller waited for was kept for it as often as turns are kept; it waits no more.
    PlaceOver {
        /// What.
        target: String,
    },
    /// What the caller held went to somebody else.
    PassedOn {
        /// What.
        target: String,
        /// To whom.
        to: AgentName,
        /// The snapshot of what the caller left there uncommitted.
        kept: Option<Seq>,
    },
    /// What the caller holds changed, and not by an edit of its own.
    WrittenOver {
        /// What.
        target: String,
        /// During whose call; `None` if that cannot be told.
        by: Option<AgentName>,
    },
    /// What the caller holds is in a commit that the check never saw.
    CommittedUnchecked {
        /// What.
        target: String,
        /// Which commit.
        commit: String,
        /// Who made it; `None` if that cannot be told.
        by: Option<AgentName>,
    },
    /// What somebody else holds changed during a call of the caller.
    WroteOver {
        /// What.
        target: String,
        /// Who holds it.
        holder: AgentName,
    },
    /// Somebody asks for what the caller holds.
    Asked {
        /// Under which id it is answered.
        negotiation: NegotiationId,
        /// For what.
        target: String,
        /// In which checkout.
        worktree: Worktree,
        /// How the caller came to hold it.
        grade: Grade,
        /// Who.
        by: AgentName,
        /// Why.
        why: String,
        /// How long an answer may take still.
        left_ms: u64,
    },
    /// The holder answered what the caller asked for.
    Answered {
        /// For what.
        target: String,
        /// Who holds it.
        holder: AgentName,
        /// What was said.
        says: Said,
    },
    /// A request was not settled in time.
    Overdue {
        /// Which.
        negotiation: NegotiationId,
        /// For what.
        target: String,
        /// In which checkout.
        worktree: Worktree,
        /// The other side of it.
        other: AgentName,
        /// Whether the caller asked.
        is_mine: bool,
        /// What the holder had said to it, if it said anything.
        said: Option<Said>,
    },
    /// What the caller held was taken from it.
    Forced {
        /// What.
        target: String,
        /// By whom.
        by: AgentName,
        /// For whom.
        to: AgentName,
        /// Why.
        reason: String,
        /// The snapshot of what the caller left there uncommitted.
        kept: Option<Seq>,
    },
    /// What the caller asked for was taken for it by force.
    Taken {
        /// What.
        target: String,
        /// From whom.
        from: AgentName,
        /// The snapshot of what that one left there uncommitted.
        kept: Option<Seq>,
        /// Whether the caller has it, or its turn has come.
        is_held: bool,
    },
    /// A person lets the caller go on.
    Continued {
        /// Why.
        reason: String,
    },
    /// What the caller asked for was granted when it was let go.
    Granted {
        /// What.
        target: String,
        /// Who had it.
        from: AgentName,
    },
    /// Somebody wants what the caller holds, and is among those whom the caller waits for.
    Circle {
        /// What is wanted.
        target: String,
        /// The checkout that it is in; none for names.
        worktree: Worktree,
        /// By whom.
        by: AgentName,
        /// Who had best give back what.
        yielder: Option<Yielder>,
    },
    /// What the caller is refused is with a subagent of its own.
    WithSubagent {
        /// What the subagent holds.
        held: Target,
        /// The checkout that it is in; none for names.
        worktree: Worktree,
        /// Which subagent.
        by: AgentName,
    },
    /// A person stopped the caller.
    Halted {
        /// Why.
        reason: String,
    },
    /// The same edit of the caller is refused again and again.
    Looping {
        /// How often lately.
        times: u32,
    },
    /// The caller's turn ends, and somebody waits for what it could let go.
    StillWaitedFor {
        /// For what.
        target: String,
        /// What the caller holds of it.
        held: Target,
        /// The checkout that both are in; none for names.
        worktree: Worktree,
        /// How it came to hold it.
        grade: Grade,
        /// Who.
        by: AgentName,
    },
    /// A lease that the caller had, or that an answer given once more had granted, is over by now.
    Lapsed {
        /// The lease.
        lease: LeaseId,
        /// On what.
        target: String,
        /// How it ended.
        how: End,
        /// Who holds it now.
        held_by: Option<AgentName>,
    },
    /// A lease that an answer given once more speaks of went to somebody else since.
    MovedOn {
        /// The lease.
        lease: LeaseId,
        /// On what.
        target: String,
        /// To whom.
        to: AgentName,
    },
    /// The place in the queue that an answer given once more speaks of is gone.
    WaitOver {
        /// The place.
        wait: WaitId,
    },
    /// A person stopped new edits, so that even what is free is not given out.
    Frozen {
        /// For how long still.
        left_ms: u64,
        /// Why.
        reason: String,
    },
    /// A person changed the pause that there was.
    FreezeChanged {
        /// For how long it was to last still.
        was_left_ms: u64,
        /// For how long it lasts now.
        left_ms: u64,
        /// Why it was ordered.
        was_for: String,
    },
    /// A claim reaches so far that it ends soon whatever was asked for.
    Broad {
        /// How long after it is granted.
        max_ms: u64,
        /// Whether what the caller does not change in it makes way for others.
        makes_way: bool,
    },
    /// What was asked about reaches so far that a claim of it has to say that it is meant.
    NeedsBroad {
        /// As it was written.
        targets: Vec<String>,
        /// How it would be held.
        mode: Mode,
        /// How long such a claim lasts at most.
        max_ms: u64,
    },
    /// A setting of the caller's own environment or line would lower safety and does not count inside an agent's session.
    SettingIgnored {
        /// Which.
        key: &'static str,
        /// What it was to be.
        value: String,
        /// Where that was said.
        source: String,
        /// What it is.
        kept: String,
    },
    /// A lease lasts longer than the shorter span that was asked for.
    NotShortened {
        /// The lease.
        lease: LeaseId,
        /// On what.
        target: String,
        /// How long it lasts without a sign of life.
        left_ms: u64,
    },
    /// The caller holds nothing that was named.
    NothingHeld {
        /// What was named.
        target: String,
        /// What it may have meant.
        meant: Option<Target>,
    },
    /// A lease of the caller was left alone: a running command keeps it, and its end alone gives it back.
    KeptByCommand {
        /// The lease.
        lease: LeaseId,
        /// On what.
        target: String,
        /// The process of the command, where its number means that process here.
        pid: Option<u32>,
    },
    /// An operator named what it does not hold itself; a lease of somebody else is named by its id.
    OthersById {
        /// What was named.
        target: String,
        /// The verb that was meant.
        verb: Verb,
    },
    /// No agent here has the name that was asked for.
    UnknownAgent {
        /// What was asked for.
        name: String,
        /// What it may have meant.
        near: Option<AgentName>,
    },
    /// Nothing was found on the path, but somebody holds the name.
    IsName(ResourceName),
    /// A path was taken that is also the name of a resource.
    TakenAsPath {
        /// The name.
        name: ResourceName,
        /// Whether somebody holds it by that name, or it is only configured.
        is_held: bool,
    },
    /// Nobody holds the name here, but somebody holds the one that the whole machine shares.
    HeldMachineWide(ResourceName),
    /// Stored rows that nobody can read.
    UnreadableRows(Vec<String>),
    /// This command made a scope below a directory that is one already.
    ScopeInsideAnother {
        /// The new scope.
        inner: String,
        /// The directory of the scope around it.
        outer: String,
        /// That scope's key.
        scope: String,
    },
    /// This command made a scope for a directory that another scope remembers as its own.
    ScopeMoved {
        /// The other scope's key.
        scope: String,
        /// Where the directory was.
        from: String,
    },
    /// The scope was begun by another directory at this place.
    ScopeReplaced {
        /// The place.
        place: String,
    },
    /// The store that was named lies in a directory that is not there: it is answered as empty.
    StoreNowhere {
        /// The directory.
        directory: String,
    },
    /// The log ends too early, so that more may be held than is known.
    TailLost {
        /// How that is said.
        text: String,
    },
    /// What was asked for seems to reach into a scope inside this one, and does not.
    EndsAtScope {
        /// What was asked for.
        target: String,
        /// The scope inside.
        inner: String,
    },
    /// Messages were kept for long enough, and are forgotten.
    ForgotMail {
        /// How many.
        messages: u64,
    },
    /// The caller has mail.
    Mail(Announced),
}

/// By what an agent left what it had changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Its session ended.
    Ended,
    /// A person stopped it.
    Halted,
    /// One of these; it is at work again.
    Earlier,
}

impl Left {
    /// By what is known of an agent now, of what it left at an instant.
    pub fn of(agent: &Agent, at: Option<Wall>) -> Self {
        match agent.ended_at {
            Some(ended) if agent.halted.is_none() || at == Some(ended) => Self::Ended,
            _ if agent.halted.is_some() => Self::Halted,
            _ => Self::Earlier,
        }
    }
}

/// Who had best give way in a circle of waiting, and what it gives back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Yielder {
    /// The caller.
    You {
        /// What it holds.
        held: Target,
        /// The checkout that it is in; none for names.
        worktree: Worktree,
        /// How it came to hold it.
        grade: Grade,
    },
    /// Somebody else.
    Other {
        /// Who.
        agent: AgentName,
        /// What.
        target: String,
    },
}

/// What a holder said to who asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// It is let go with the next commit.
    AfterCommit,
    /// It takes so much longer.
    Later {
        /// From now.
        left_ms: u64,
    },
    /// No, and why.
    No(String),
    /// Somebody else has it now, who is asked instead.
    HandedTo(AgentName),
    /// Nothing: the place that was kept meanwhile is kept no longer, and the request is over.
    Outlasted,
}

impl Notice {
    /// Of a scope that is not the one its directory had, or a store that is nowhere: how things are, and what leads on.
    pub fn about_place(&self) -> Option<(String, String)> {
        match self {
            Self::ScopeMoved { scope, from } => Some((
                format!("this was at {}, where the scope {scope} has its log", shown(from)),
                format!("go on with that one: clearway scope adopt {scope}"),
            )),
            Self::ScopeReplaced { place } => Some((
                format!("this scope was begun by another directory that was at {}", shown(place)),
                "if this is the same repository, say so: clearway scope adopt".to_owned(),
            )),
            Self::ScopeInsideAnother { inner, outer, scope } => Some((
                format!(
                    "{} is a scope of its own inside that of {}; leases of one are not seen in the other",
                    shown(inner),
                    shown(outer)
                ),
                format!("see what is held there: clearway --scope {scope} leases"),
            )),
            Self::StoreNowhere { directory } => Some((
                format!("there is no directory {} for the store to lie in", shown(directory)),
                STORE_SLIP.to_owned(),
            )),
            _ => None,
        }
    }

    /// Whether it says that the words of the call were hardly meant.
    pub fn is_slip(&self) -> bool {
        matches!(
            self,
            Self::NothingHeld { .. }
                | Self::IsName(_)
                | Self::TakenAsPath { .. }
                | Self::HeldMachineWide(_)
                | Self::OthersById { .. }
                | Self::UnknownAgent { .. }
        )
    }
}

/// What to say of a word that was taken for a path and is a name somebody holds.
pub fn held_as_name(name: &ResourceName) -> String {
    format!("{name} is held as a name: add --kind name")
}
