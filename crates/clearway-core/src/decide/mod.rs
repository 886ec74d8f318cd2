//! The one decision function. Every engine and every interface gets its answers here.
//!
//! [`decide`] reads a slice of state and answers with events, soft changes and an outcome, or says which facts
//! of the outside it lacks. It refuses to know where the state came from and what becomes of the events.

mod alerts;
mod attend;
mod authority;
mod circled;
mod commit;
mod common;
mod cycle;
mod draft;
mod expiry;
mod freeze;
mod identity;
mod inside;
mod kept;
mod left;
mod looks;
mod mail;
mod names;
mod negotiate;
mod notes;
mod notice;
mod operator;
mod over;
mod overwritten;
mod past;
mod plan;
mod queue;
mod quota;
mod release;
mod renew;
mod replay;
mod reserve;
mod selection;
mod shelter;
#[cfg(test)]
mod tests;
mod transfer;
mod upheaval;
mod view;
mod way;

pub use alerts::alerts;
pub use expiry::lost_tail;
pub use identity::{Identified, identify, is_person};
pub use negotiate::standing_negotiations;
pub use notice::{Left, Notice, Said, Yielder, held_as_name};
pub use over::{lease_ran_out, ran_out, told_of_lapse};
pub use queue::standing_queue;
pub use replay::{not_shortened, since_granted};

use crate::agent::AgentName;
use crate::command::{Attend, Await, Command, Request, Stay};
use crate::event::Event;
use crate::facts::{FactQuery, Facts};
use crate::failure::{Ahead, Failure, LeaseView};
use crate::ids::{AgentId, Entropy, LeaseId, Seq, WaitId};
use crate::mail as post;
use crate::negotiation::Negotiated;
use crate::slice::{Freeze, Slice, Soft};
use crate::snapshot::Kept;
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
    Ready(Box<Verdict>),
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
    /// Snapshots that it gave their numbers, to be named after them.
    pub kept: Vec<Kept>,
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
    /// What became of a request to a holder.
    Negotiated(Box<Negotiated>),
    /// An agent is stopped.
    Halted {
        /// Which.
        agent: AgentName,
        /// Whether it was before.
        was_halted: bool,
        /// Leases of it that are over by this.
        ended: Vec<LeaseId>,
    },
    /// It may go on.
    Continued {
        /// Which.
        agent: AgentName,
        /// Whether it was stopped before.
        was_halted: bool,
    },
    /// What was not committed is kept.
    Kept {
        /// Under this number.
        number: Seq,
    },
    /// Expiries recorded.
    Swept {
        /// By this call.
        expired: Vec<LeaseId>,
    },
    /// Nothing stands against it, or it was taken note of; there is no more to say.
    Done,
    /// What became of mail.
    Mail(post::Answer),
}

impl Success {
    fn negotiated(outcome: Negotiated) -> Self {
        Self::Negotiated(Box::new(outcome))
    }

    /// These were given back, and there is no more to it.
    fn released(released: Vec<LeaseId>) -> Self {
        Self::Released { released, already: Vec::new(), remaining: Vec::new() }
    }
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

/// Answers one request.
pub fn decide(
    slice: &Slice,
    request: &Request,
    facts: &Facts,
    now: &Now,
    entropy: &mut Entropy<'_>,
) -> Decision {
    let facts = looks::that_count(slice, facts, now);
    let mut draft = Draft::new(slice, request, now, &facts);
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
            return draft.finish(Ok(Success::Done));
        }
        (Command::Open | Command::Sweep | Command::Recover, _) => sweep(&mut draft, request),
        // What is old is old for everybody: forgetting it is the kernel's own act.
        (Command::Mail(post::Act::Forget(up_to)), _) => {
            draft.caught_up(request).map(|draft| Ok(mail::forget(draft, *up_to)))
        }
        (Command::Commit(commit), Err(_)) if is_person(slice, &request.caller) => {
            draft.caught_up(request).and_then(|draft| commit::check_of_nobody(draft, commit))
        }
        (Command::Unchecked(found), Err(_)) => {
            draft.caught_up(request).map(|draft| Ok(commit::unchecked(draft, found, None)))
        }
        (_, Err(failure)) if !draft.records_denial(&failure) => return draft.finish(Err(failure)),
        (_, Err(failure)) => draft.caught_up(request).map(|draft| {
            draft.deny(&failure, request);
            Err(failure)
        }),
        (command, Ok(identified)) => draft.caught_up_for(request, &identified).and_then(|draft| {
            if let Err(failure) = negotiate::is_halted(draft, command, &identified) {
                let actor = draft.act_as(&identified);
                return Ok(Err(draft.denied(actor, command.subject(), failure)));
            }
            negotiate::tell_halted(draft, command, &identified);
            left::take_back(draft, command, &identified, entropy)?;
            answer(draft, command, identified, entropy)
        }),
    };
    match outcome {
        Ok(outcome) => settle(draft, request, outcome, entropy),
        Err(queries) => Decision::NeedsFacts(queries),
    }
}

/// The end of a decision: whose turn it brought, and what the caller is told beside its answer.
fn settle(
    mut draft: Draft<'_>,
    request: &Request,
    mut outcome: Result<Success, Failure>,
    entropy: &mut Entropy<'_>,
) -> Decision {
    draft.close_negotiations();
    let missing = draft.record_offers(entropy);
    draft.follow_what_was_handed(entropy);
    reserve::show_as_it_is_now(&draft, &mut outcome);
    // Whoever sweeps has the time to find out whose turn it is. Others leave it to them.
    if matches!(request.command, Command::Sweep | Command::Attend(_)) && !missing.is_empty() {
        return Decision::NeedsFacts(missing);
    }
    draft.count_what_is_told(&request.command);
    // The end of a turn has one thing to say, or nothing.
    let is_rest = matches!(request.command, Command::Attend(Attend::Rest));
    match request.caller.hook {
        _ if !request.caller.hears || is_rest => {}
        true => draft.tell_caller(),
        false if is_last(&request.command, &outcome) => draft.tell_without_hooks(),
        false => {}
    }
    draft.finish(outcome)
}

/// Whether an answer is what its call comes to. A refusal has no room for anything beside, and a process that goes on
/// waiting tries again: nobody reads that it still does.
fn is_last(command: &Command, outcome: &Result<Success, Failure>) -> bool {
    let waits_on = matches!(command, Command::Await(Await { stay: Stay::Attached(_), .. }));
    match outcome {
        Ok(Success::Queued { .. }) => !waits_on,
        outcome => outcome.is_ok(),
    }
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
        Command::Commit(commit) => commit::check(draft, commit, &identified, entropy),
        Command::Settle(settle) => commit::settle(draft, settle, &identified),
        Command::Unchecked(found) => {
            let actor = draft.act_as(&identified);
            Ok(Ok(commit::unchecked(draft, found, Some(actor))))
        }
        Command::Rebase(worktree) => upheaval::rebase(draft, worktree, &identified, entropy),
        Command::Upheave(upheaval) => upheaval::upheave(draft, upheaval, &identified, entropy),
        Command::Enter(enter) => Ok(common::enter(draft, enter, &identified, entropy)),
        Command::Leave(leave) => Ok(queue::leave(draft, leave, &identified, entropy)),
        Command::Freeze { for_ms } => Ok(freeze::freeze(draft, &identified, *for_ms, entropy)),
        Command::Thaw => Ok(freeze::thaw(draft, &identified, entropy)),
        Command::Ask(ask) => negotiate::ask(draft, ask, &identified, entropy),
        Command::Answer(answer) => negotiate::answer(draft, answer, &identified, entropy),
        Command::Withdraw(id) => Ok(negotiate::withdraw(draft, *id, &identified, entropy)),
        Command::Force(force) => negotiate::force(draft, force, &identified, entropy),
        Command::Halt(agent) => negotiate::halt(draft, agent, &identified, entropy),
        Command::Continue(agent) => Ok(negotiate::go_on(draft, agent, &identified, entropy)),
        Command::Keep(keeping) => Ok(Ok(shelter::keep(draft, keeping, &identified, entropy))),
        Command::Anchor => Ok(Ok(Success::Done)),
        Command::Mail(act) => mail::act(draft, act, &identified, entropy),
        Command::Open | Command::Sweep | Command::Recover => {
            Ok(Ok(Success::Swept { expired: draft.expired_ids() }))
        }
    }
}

/// What a step answers: an outcome, or the facts it lacks.
type Step = Result<Result<Success, Failure>, BTreeSet<FactQuery>>;
