//! The one decision function. Every engine and every interface gets its answers here.
//!
//! [`decide`] reads a slice of state and answers with events, soft changes and an outcome, or says which facts
//! of the outside it lacks. It refuses to know where the state came from and what becomes of the events.

mod attend;
mod common;
mod cycle;
mod draft;
mod expiry;
mod freeze;
mod identity;
mod inside;
mod kept;
mod names;
mod notes;
mod operator;
mod past;
mod plan;
mod queue;
mod quota;
mod release;
mod renew;
mod replay;
mod reserve;
#[cfg(test)]
mod tests;
mod transfer;
mod view;

pub use identity::{Identified, identify};
pub use queue::standing_queue;
pub use replay::{not_shortened, since_granted};

use crate::agent::AgentName;
use crate::command::{Command, Request, Verb};
use crate::event::Event;
use crate::facts::{FactQuery, Facts};
use crate::failure::{Ahead, Failure, LeaseView};
use crate::ids::{AgentId, Entropy, LeaseId, WaitId};
use crate::lease::{End, Grade};
use crate::slice::{Freeze, Slice, Soft};
use crate::target::{ResourceName, Target};
use crate::text::shown;
use crate::time::Now;
use crate::wait::Queued;
use draft::Draft;
use reserve::Asked;
use std::collections::BTreeSet;

/// The shape of [`decide`], so that an executor can be handed a different one by a test.
pub type Decide = fn(&Slice, &Request, &Facts, &Now, &mut Entropy<'_>) -> Decision;

/// What became of a request.
#[derive(Clone, Debug)]
pub enum Decision {
    /// An answer.
    Ready(Verdict),
    /// No answer before these facts are known.
    NeedsFacts(BTreeSet<FactQuery>),
}

/// An answer and what has to be written with it.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// To append, in order, with their final sequence numbers.
    pub events: Vec<Event>,
    /// To update beside them.
    pub soft: Vec<Soft>,
    /// Whom the request was found to come from.
    pub agent: Option<(AgentId, AgentName)>,
    /// Things the caller should know beside the answer.
    pub notices: Vec<Notice>,
    /// The answer.
    pub outcome: Result<Success, Failure>,
}

/// What was achieved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Success {
    /// Leases held now.
    Reserved {
        /// One for each thing wanted, each lease once.
        leases: Vec<LeaseView>,
        /// With best effort: what was not granted, and who stands in the way.
        refused: Vec<Refused>,
    },
    /// Leases extended.
    Renewed(Vec<LeaseView>),
    /// Leases given back.
    Released {
        /// By this call.
        released: Vec<LeaseId>,
        /// Before it.
        already: Vec<LeaseId>,
        /// Own leases that overlap what was named but reach further.
        remaining: Vec<LeaseView>,
    },
    /// A place in the queue.
    Queued {
        /// The place.
        queued: Box<Queued>,
        /// Leases in the way.
        blockers: Vec<LeaseView>,
        /// Earlier waits in the way.
        ahead: Vec<Ahead>,
    },
    /// Places given up.
    Left {
        /// By this call.
        waits: Vec<WaitId>,
    },
    /// Leases handed over.
    Transferred(Vec<LeaseView>),
    /// New edits of agents are not admitted.
    Frozen(Freeze),
    /// They are admitted again.
    Thawed {
        /// Whether they were not before.
        was_frozen: bool,
    },
    /// Expiries recorded.
    Swept {
        /// By this call.
        expired: Vec<LeaseId>,
    },
}

/// One thing that best effort could not get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What.
    pub target: String,
    /// Who stands in the way.
    pub blockers: Vec<LeaseView>,
    /// Who waits for it longer.
    pub ahead: Vec<Ahead>,
}

/// Something worth saying beside an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The former holder was proven gone.
    TookOver {
        /// On what.
        target: String,
        /// From whom.
        from: AgentName,
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
    /// The last who held the path ended, and changes of it that are not committed are still there.
    LeftBehind {
        /// On what.
        target: String,
        /// Whose.
        from: AgentName,
    },
    /// Somebody waits for what the caller holds.
    WaitedFor {
        /// For what.
        target: String,
        /// What the caller holds of it.
        held: Target,
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
    },
    /// What the caller holds changed, and not by an edit of its own.
    WrittenOver {
        /// What.
        target: String,
        /// During whose call; `None` if that cannot be told.
        by: Option<AgentName>,
    },
    /// What somebody else holds changed during a call of the caller.
    WroteOver {
        /// What.
        target: String,
        /// Who holds it.
        holder: AgentName,
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
    /// A person stopped new edits, so that even what is free is not given out.
    Frozen {
        /// For how long still.
        left_ms: u64,
        /// Why.
        reason: String,
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
    /// A path was taken that is also the name of a resource, configured or held.
    TakenAsPath(ResourceName),
    /// Nobody holds the name here, but somebody holds the one that the whole machine shares.
    HeldMachineWide(ResourceName),
    /// Stored rows that nobody can read.
    UnreadableRows(Vec<String>),
    /// This command made a scope below a directory that is one already.
    ScopeInsideAnother {
        /// The new scope.
        inner: String,
        /// The scope around it.
        outer: String,
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
    /// What was asked for seems to reach into a scope inside this one, and does not.
    EndsAtScope {
        /// What was asked for.
        target: String,
        /// The scope inside.
        inner: String,
    },
}

impl Notice {
    /// Of a scope that is not the one its directory had: how things are, and what leads on.
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
            _ => None,
        }
    }
}

impl Notice {
    /// Whether it says that the words of the call were hardly meant.
    pub fn is_slip(&self) -> bool {
        matches!(
            self,
            Self::NothingHeld { .. }
                | Self::IsName(_)
                | Self::TakenAsPath(_)
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

/// Answers one request.
pub fn decide(
    slice: &Slice,
    request: &Request,
    facts: &Facts,
    now: &Now,
    entropy: &mut Entropy<'_>,
) -> Decision {
    let mut draft = Draft::new(slice, request, now, facts);
    if let Err(failure) = draft.refuse_lost_tail(request) {
        return draft.finish(Err(failure));
    }
    let may_operate = operator::may_operate(slice, request);
    // Nothing is recorded of this denial: a log that lost its tail takes no event before it is gone on with.
    if let (Command::Recover, Err(failure)) = (&request.command, &may_operate) {
        return draft.finish(Err(failure.clone()));
    }
    let may_anchor = may_operate.is_ok();
    let caller = may_operate.and_then(|()| identify(slice, &request.caller));
    let caller = match draft.sign_recovery(request, caller, entropy) {
        Ok(caller) => caller,
        Err(failure) => return draft.finish(Err(failure)),
    };
    let outcome = match (&request.command, caller) {
        // An anchor names its signer by the key, so nobody has to have a name, and time is left where it is.
        (Command::Anchor, _) if may_anchor => {
            return draft.finish(Ok(Success::Swept { expired: Vec::new() }));
        }
        (Command::Open | Command::Sweep | Command::Recover, _) => sweep(&mut draft, request),
        (_, Err(failure)) if !draft.records_denial(&failure) => return draft.finish(Err(failure)),
        (_, Err(failure)) => draft.caught_up(request).map(|draft| {
            draft.deny(&failure, request);
            Err(failure)
        }),
        (command, Ok(identified)) => {
            draft.caught_up(request).and_then(|draft| answer(draft, command, identified, entropy))
        }
    };
    match outcome {
        Ok(outcome) => settle(draft, request, outcome),
        Err(queries) => Decision::NeedsFacts(queries),
    }
}

/// The end of a decision: whose turn it brought, and what the caller is told beside its answer.
fn settle(mut draft: Draft<'_>, request: &Request, outcome: Result<Success, Failure>) -> Decision {
    let missing = draft.record_offers();
    // Whoever sweeps has the time to find out whose turn it is. Others leave it to them.
    if matches!(request.command, Command::Sweep | Command::Attend(_)) && !missing.is_empty() {
        return Decision::NeedsFacts(missing);
    }
    if request.caller.hears {
        draft.tell_caller();
    }
    draft.finish(outcome)
}

/// What time did is the kernel's own record: it is the same whoever asks for it, and cron is nobody.
fn sweep(draft: &mut Draft<'_>, request: &Request) -> Step {
    Ok(Ok(Success::Swept { expired: draft.caught_up(request)?.expired_ids() }))
}

fn answer(
    draft: &mut Draft<'_>,
    command: &Command,
    identified: Identified,
    entropy: &mut Entropy<'_>,
) -> Step {
    match command {
        Command::Reserve(reserve) => reserve::reserve(draft, Asked::Now(reserve), &identified, entropy),
        Command::Await(wait) => reserve::reserve(draft, Asked::OrWait(wait), &identified, entropy),
        Command::Renew(renew) => renew::renew(draft, renew, &identified, entropy),
        Command::Release(release) => release::release(draft, release, &identified, entropy),
        Command::LetGo(process) => Ok(Ok(release::let_go(draft, process, &identified, entropy))),
        Command::Transfer(transfer) => transfer::transfer(draft, transfer, &identified, entropy),
        Command::Attend(attend) => attend::attend(draft, attend, &identified, entropy),
        Command::Enter(enter) => Ok(common::enter(draft, enter, &identified, entropy)),
        Command::Leave(leave) => Ok(queue::leave(draft, leave, &identified, entropy)),
        Command::Freeze { for_ms } => Ok(freeze::freeze(draft, &identified, *for_ms, entropy)),
        Command::Thaw => Ok(freeze::thaw(draft, &identified, entropy)),
        Command::Open | Command::Sweep | Command::Recover | Command::Anchor => {
            Ok(Ok(Success::Swept { expired: draft.expired_ids() }))
        }
    }
}

/// What a step answers: an outcome, or the facts it lacks.
type Step = Result<Result<Success, Failure>, BTreeSet<FactQuery>>;
