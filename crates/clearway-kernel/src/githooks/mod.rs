//! What git's hooks ask before a commit and a rebase, and tell after a commit.
//!
//! People pass, with a word. Agents are kept from taking along what is with somebody else. Where nobody invited us
//! nothing is asked of git and nothing is said; a store that fails keeps no person from anything.

mod check;
mod rebase;
mod refusal;
mod scene;
mod settle;

pub(crate) use check::PathOfCommit;
pub(crate) use refusal::{PATHS_TOLD_APART, REASON_VARIABLE};

use crate::checked::was_last_checked;
use crate::config::Enforcement;
use crate::ground::without_store;
use crate::hooking::{STORE_WAIT, welcome};
use crate::identity;
use crate::outside::{Outside, UnderWay};
use crate::radar::Foreseen;
use crate::session::{Globals, Session};
use clearway_core::failure::Failure;

/// Says that a commit is one of ours, which tells by itself what its hooks would.
pub const INSIDE_COMMIT: &str = "CLEARWAY_INSIDE_COMMIT";

/// The reference that is detached where no branch is checked out.
const HEAD: &str = "HEAD";

/// How a hook of git is answered.
#[derive(Clone, Debug)]
pub enum GitAnswer {
    /// There is nothing to say.
    Silent,
    /// Git goes on, and this is to be known.
    Warned(Failure),
    /// Nothing is in the way, and this is to be known.
    Said(String),
    /// Git is to stop.
    Refused(Failure),
    /// Git goes on though nothing was checked.
    Unchecked(Failure),
    /// The commit is made, and what it is over with was not given back.
    Unsettled(Failure),
}

/// What git tells of a commit that it is about to make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Saying<'m> {
    /// What it will say, as far as that is written.
    pub message: Option<&'m str>,
    /// Whether it was given with the command: nothing in it is for its writer alone.
    pub is_given: bool,
    /// Whether it takes the place of the last one.
    pub amends: bool,
}

/// Whether the commit that git is about to make takes along what is with somebody else.
pub fn before_commit(outside: &mut dyn Outside, given: &Globals, saying: &Saying<'_>) -> GitAnswer {
    answered(outside, given, |outside| {
        let under_way = match outside.under_way() {
            // It was asked about when it began, and nobody is left in the middle of it.
            UnderWay::Rebase => return Ok(GitAnswer::Silent),
            under_way => under_way,
        };
        on_ground(outside, given, |session| {
            let answer = session.check_commit(under_way, saying)?;
            if !matches!(answer, GitAnswer::Refused(_)) {
                session.note_checked();
            }
            Ok(answer)
        })
    })
}

/// A reference that git is about to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefMove {
    /// The commit it leads to; zeros if there is none.
    pub from: String,
    /// The commit it will lead to.
    pub to: String,
    /// Its name.
    pub name: String,
}

/// Whether the branch that is checked out, or a detached head, is about to lead to commits that nothing led to before and
/// that take along what is with somebody else. Only asked where settings are strict; what the check before a commit saw
/// passes, and so does everything that was committed before.
pub fn before_move(outside: &mut dyn Outside, given: &Globals, moves: &[RefMove]) -> GitAnswer {
    let Some(head) = outside.hooked_head() else { return GitAnswer::Silent };
    let name = head.branch.as_deref().unwrap_or(HEAD);
    let Some(moved) = moves.iter().find(|moved| moved.name == name) else { return GitAnswer::Silent };
    if moved.to == head.commit || outside.under_way() == UnderWay::Rebase {
        return GitAnswer::Silent;
    }
    answered(outside, given, |outside| {
        on_ground(outside, given, |session| match session.config.is_strict() {
            true => session.check_move(moved),
            false => Ok(GitAnswer::Silent),
        })
    })
}

/// Why commits are not pushed: an agent does not pass on what went past the check and is still with somebody else.
pub fn before_push(outside: &mut dyn Outside, given: &Globals, pushed: &[String]) -> GitAnswer {
    answered(outside, given, |outside| {
        on_ground(outside, given, |session| {
            drop(session.look_for_unchecked(None));
            if session.config.mode() != Enforcement::Enforce {
                return Ok(GitAnswer::Silent);
            }
            Ok(session.unchecked_in(pushed)?.map_or(GitAnswer::Silent, GitAnswer::Refused))
        })
    })
}

/// Gives back what the commit that git made is over with. What kept the commit from its check too was said then.
pub fn after_commit(outside: &mut dyn Outside, given: &Globals) -> GitAnswer {
    let answer = answered(outside, given, |outside| {
        if outside.under_way() == UnderWay::Rebase {
            return Ok(GitAnswer::Silent);
        }
        on_ground(outside, given, |session| {
            drop(session.look_for_unchecked(None));
            // What cannot be noted is nobody's.
            drop(session.note_left_by_commit());
            let committed = |session: &mut Session<'_>| session.outside.committed_paths();
            let others = session.settle_commit(committed, None)?;
            let is_told_later = session.outside.surroundings().variables.contains_key(INSIDE_COMMIT);
            let clash = if is_told_later { None } else { Foreseen::lines(&session.radar_here(&others)) };
            Ok(clash.map_or(GitAnswer::Silent, GitAnswer::Said))
        })
    });
    match answer {
        GitAnswer::Unchecked(failure) | GitAnswer::Refused(failure) => not_settled(outside, given, failure),
        answer => answer,
    }
}

fn not_settled(outside: &mut dyn Outside, given: &Globals, failure: Failure) -> GitAnswer {
    let here = outside.surroundings().cwd.clone().unwrap_or_default();
    match without_store(outside, &hurried(given), &here) {
        Ok((_, site)) if was_last_checked(outside, &site) => GitAnswer::Unsettled(failure),
        _ => GitAnswer::Silent,
    }
}

/// Whether the rebase that git is about to begin would go over somebody else's uncommitted changes.
pub fn before_rebase(outside: &mut dyn Outside, given: &Globals) -> GitAnswer {
    answered(outside, given, |outside| on_ground(outside, given, |session| session.check_rebase()))
}

/// Git waits, so nobody waits long for a busy store.
fn hurried(given: &Globals) -> Globals {
    Globals { timeout: Some(STORE_WAIT.to_owned()), ..given.clone() }
}

fn on_ground(
    outside: &mut dyn Outside,
    given: &Globals,
    act: impl FnOnce(&mut Session<'_>) -> Result<GitAnswer, Failure>,
) -> Result<GitAnswer, Failure> {
    let here = outside.surroundings().cwd.clone().unwrap_or_default();
    let globals = hurried(given);
    let Some(ground) = welcome(outside, &globals, &here)? else { return Ok(GitAnswer::Silent) };
    act(&mut Session::on(outside, &globals, ground)?)
}

/// What cannot be checked passes with a word, unless an agent is at it that nobody watches.
fn answered(
    outside: &mut dyn Outside,
    given: &Globals,
    act: impl FnOnce(&mut dyn Outside) -> Result<GitAnswer, Failure>,
) -> GitAnswer {
    let failure = match act(outside) {
        Ok(answer) => return answer,
        Err(failure) => failure,
    };
    let here = outside.surroundings().cwd.clone().unwrap_or_default();
    let Ok((config, _)) = without_store(outside, &hurried(given), &here) else {
        return GitAnswer::Unchecked(failure);
    };
    match identity::is_agent_without_store(outside, config.agent()) && config.is_unattended() {
        true => GitAnswer::Refused(failure),
        false => GitAnswer::Unchecked(failure),
    }
}
