//! What is said before a command of a shell: a command of git that others in the checkout are in the way of is refused, and
//! so is one that destroys what cannot be kept; what a command would destroy is kept first.

use super::reply::Verdict;
use super::{Judged, stopped, tell, texts};
use crate::Host;
use clearway_core::failure::Failure;
use clearway_kernel::config::Enforcement;
use clearway_kernel::{Doing, HookCall, abandon_turns, attend, before_git, before_shell, mode_of};

pub(super) fn before(host: &mut dyn Host, call: &HookCall, command: &str) -> Result<Judged, Failure> {
    // What the agent did before is over, and only then it takes turns for what it is about to do.
    let answers = attend(host, call, &Doing::Runs)?;
    if let Some(verdict) = stopped(&answers) {
        return Ok(Judged { verdict, answers, lets_pass: false });
    }
    let mut said = Said::default();
    // What cannot be asked is no reason to keep anybody from a command.
    if let Some(failure) = before_git(host, call, command).ok().flatten() {
        said.refuse(texts::not_run(&failure), mode_here(host, call)?);
    }
    if said.reason.is_none() {
        match before_shell(host, call, command) {
            Ok(kept) => said.beside.extend(kept.as_ref().map(texts::sheltered)),
            Err(failure) => said.refuse(texts::unsheltered(&failure), mode_here(host, call)?),
        }
    }
    let verdict = match said.reason {
        Some(reason) => {
            // What does not run keeps no turn.
            abandon_turns(host, call);
            let told: Vec<String> = [reason].into_iter().chain(texts::beside(&answers)).collect();
            Verdict::Deny(told.join("\n"))
        }
        None => {
            said.beside.extend(texts::beside(&answers));
            tell((!said.beside.is_empty()).then(|| said.beside.join("\n")))
        }
    };
    Ok(Judged { verdict, answers, lets_pass: said.lets_pass })
}

/// What there is to say so far.
#[derive(Default)]
struct Said {
    /// Why the command does not run.
    reason: Option<String>,
    /// What is told beside.
    beside: Vec<String>,
    /// Whether it would have been refused, had refusals been enforced.
    lets_pass: bool,
}

impl Said {
    fn refuse(&mut self, text: String, mode: Enforcement) {
        match mode {
            Enforcement::Enforce => self.reason = Some(text),
            Enforcement::Warn => self.beside.push(text),
            Enforcement::Observe => {}
        }
        self.lets_pass |= mode != Enforcement::Enforce;
    }
}

fn mode_here(host: &mut dyn Host, call: &HookCall) -> Result<Enforcement, Failure> {
    Ok(mode_of(host, call)?.unwrap_or(Enforcement::Observe))
}
