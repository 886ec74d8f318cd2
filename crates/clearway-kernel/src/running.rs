//! Running a command under named leases: take them, keep them while it runs, give them back.
//!
//! The leases are bound to this process, so they are free as soon as it is dead, however it died. A command whose
//! leases are lost is ended: somebody else may be at work where it still thinks to be alone.

use crate::mutations::ReserveWords;
use crate::outside::{Order, Running};
use crate::session::Session;
use crate::targets::{Look, refuse_path};
use crate::waiting::{AtEnd, Watcher};
use clearway_core::command::{Command, LeaseRef, Renew, Reserve, Selection};
use clearway_core::decide::Success;
use clearway_core::facts::Process;
use clearway_core::failure::{Failure, LeaseView};
use clearway_core::ids::ScopeKey;
use clearway_core::lease::{Kind, Mode};
use clearway_core::limits::COMMAND_GRACE_MS;
use clearway_core::slug::{FailureKind, Slug};
use clearway_core::time::Mono;
use clearway_core::unit;
use clearway_store::Reply;
use std::ffi::OsString;
use std::path::Path;

/// How often leases are renewed within their silence; two renewals may fail before one is lost.
const RENEWALS_PER_TTL: u64 = 3;
/// How often a renewal that failed is tried again within it.
const TRIES_PER_TTL: u64 = 20;
/// Longer ones tell nobody anything.
const SHORT_CHARS_MAX: usize = 100;

/// `with` as it was typed.
#[derive(Clone, Debug)]
pub struct WithWords {
    /// Names of resources.
    pub names: Vec<String>,
    /// `--shared`.
    pub mode: Mode,
    /// `--ttl`.
    pub ttl: Option<String>,
    /// `--reason`.
    pub reason: Option<String>,
    /// `--wait`.
    pub wait: WithWait,
    /// The program and its arguments.
    pub command: Vec<OsString>,
}

/// Whether to wait for what a command needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WithWait {
    /// It is had now or not at all.
    No,
    /// As long as the calling client allows.
    AsAllowed,
    /// So long, as it was typed.
    For(String),
}

/// Leases that were taken for a command, and the command.
#[derive(Debug)]
pub struct Held {
    scope: ScopeKey,
    leases: Vec<LeaseView>,
    process: Process,
    order: Order,
}

/// How it went.
#[derive(Debug)]
pub enum Run {
    /// The command ended with this exit code.
    Ended(u8),
    /// Its leases were lost while it ran, and it was ended.
    Lost(Failure),
}

impl Session<'_> {
    /// Takes what a command is to run under. Without `--wait` it is had now or not at all.
    pub fn hold(&mut self, words: &WithWords, watch: &mut Watcher<'_>) -> Result<Held, Failure> {
        self.refuse_idempotency_key()?;
        let wait_ms = self.wait_ms(&words.wait)?;
        let mut order = self.order(words);
        self.outside.look_for(&order)?;
        let process = self.outside.own_process().ok_or_else(|| {
            Failure::new(
                Slug::Internal,
                "this process cannot be told apart from others, so it can hold nothing",
            )
            .hint("hold it yourself: clearway reserve --kind name …")
        })?;
        let (scope, reserve) = self.bound_reservation(words, &process)?;
        let leases = self.take(&scope, &reserve, wait_ms, watch)?;
        order.variables = unit::variables(leases.iter().map(|view| &view.lease))?;
        Ok(Held { scope, leases, process, order })
    }

    /// Runs the command. A failure means that it was not begun.
    pub fn run(&mut self, held: Held) -> Result<Run, Failure> {
        let run = match self.outside.start(&held.order) {
            Ok(mut running) => self.keep(&mut *running, &held),
            Err(failure) => Err(failure),
        };
        self.give_back(&held);
        run
    }

    fn wait_ms(&self, wait: &WithWait) -> Result<Option<u64>, Failure> {
        let otherwise = "without --wait it is had at once or not at all";
        match wait {
            WithWait::No => Ok(None),
            WithWait::AsAllowed => self.patience_ms(None, "--wait", otherwise).map(Some),
            WithWait::For(text) => self.patience_ms(Some(text), "--wait", otherwise).map(Some),
        }
    }

    fn order(&self, words: &WithWords) -> Order {
        let here = self.outside.surroundings().cwd.as_deref() == Some(self.site.cwd.as_path());
        let directory = (!here).then(|| self.site.cwd.clone());
        Order { words: words.command.clone(), variables: Vec::new(), directory }
    }

    fn bound_reservation(
        &mut self,
        words: &WithWords,
        process: &Process,
    ) -> Result<(ScopeKey, Reserve), Failure> {
        let asked = ReserveWords {
            targets: words.names.clone(),
            kind: Kind::Name,
            mode: words.mode,
            ttl: words.ttl.clone(),
            max: None,
            reason: words.reason.clone().or_else(|| in_short(&words.command)),
            best_effort: false,
            broad: false,
            strict: false,
        };
        let (scope, mut reserve) = self.reservation(&asked)?;
        let mut look = Look { outside: self.outside, engine: &mut *self.engine };
        words.names.iter().try_for_each(|name| refuse_path(&mut look, &self.site, &self.config, name))?;
        let names: Vec<&str> = reserve.wants.iter().map(|want| want.target.canonical()).collect();
        unit::tell_apart(&names)?;
        reserve.bound = Some(process.clone());
        Ok((scope, reserve))
    }

    fn take(
        &mut self,
        scope: &ScopeKey,
        reserve: &Reserve,
        wait_ms: Option<u64>,
        watch: &mut Watcher<'_>,
    ) -> Result<Vec<LeaseView>, Failure> {
        let reply = match wait_ms {
            Some(wait_ms) => self.wait_for(scope, reserve, None, wait_ms, AtEnd::GiveUp, watch)?,
            None => self.command_in(scope, Command::Reserve(reserve.clone()))?,
        };
        match reply.outcome.map_err(|failure| refused(failure, wait_ms.is_some()))? {
            Success::Reserved { leases, .. } => Ok(leases),
            _ => Err(Failure::new(Slug::Internal, "the kernel gave the answer to another question")),
        }
    }

    /// Renews until the command has ended.
    fn keep(&mut self, running: &mut dyn Running, held: &Held) -> Result<Run, Failure> {
        let mut terms = KeptTerms::of(&held.leases, self.now()?.mono);
        loop {
            // A renewal is a sign of life for all that its agent holds there.
            let others = self.shortest_silence_ms(&held.scope).ok().flatten();
            let now = self.now()?.mono;
            let soon = others.map_or(terms.due, |ttl_ms| now.plus_ms(ttl_ms / RENEWALS_PER_TTL));
            let left_ms = terms.due.min(soon).since(now);
            if let Some(code) = running.wait(left_ms)? {
                return Ok(Run::Ended(code));
            }
            let renewed = self.renew_held(held);
            let now = self.now()?.mono;
            match renewed {
                Ok(leases) => terms = KeptTerms::of(&leases, now),
                Err(failure) if may_pass(&failure) && now < terms.deadline => terms.try_again(now),
                Err(failure) => return end(running, lost(failure)),
            }
        }
    }

    fn renew_held(&mut self, held: &Held) -> Result<Vec<LeaseView>, Failure> {
        let selection = Selection::of(held.leases.iter().map(fenced).collect());
        let Reply { outcome, .. } =
            self.command_in(&held.scope, Command::Renew(Renew { selection, ttl_ms: None, reason: None }))?;
        match outcome? {
            Success::Renewed(leases) => Ok(leases),
            _ => Ok(held.leases.clone()),
        }
    }

    /// A failure changes nothing: this process is about to end, and what is bound to it ends with it.
    fn give_back(&mut self, held: &Held) {
        let _ = self.command_in(&held.scope, Command::LetGo(held.process.clone()));
    }
}

fn fenced(view: &LeaseView) -> LeaseRef {
    LeaseRef { id: view.lease.id, fence: Some(view.lease.fence) }
}

/// What others are told of a command that gives no reason: its program. Any argument may hold a secret, and the log keeps
/// what it is told.
fn in_short(command: &[OsString]) -> Option<String> {
    let (program, arguments) = command.split_first()?;
    let program = Path::new(program).file_name()?.to_str()?;
    let more = if arguments.is_empty() { "" } else { " …" };
    Some(format!("{program}{more}")).filter(|text| text.chars().count() <= SHORT_CHARS_MAX)
}

/// When to renew, and until when that is in time.
#[derive(Clone, Copy, Debug)]
struct KeptTerms {
    ttl_ms: u64,
    due: Mono,
    deadline: Mono,
}

impl KeptTerms {
    /// The shortest of several leases counts.
    fn of(leases: &[LeaseView], now: Mono) -> Self {
        let ttl_ms = leases.iter().map(|view| view.lease.ttl_ms).min().unwrap_or_default();
        let deadline = leases.iter().map(|view| view.deadline).min().unwrap_or(now);
        Self { ttl_ms, due: now.plus_ms(ttl_ms / RENEWALS_PER_TTL).min(deadline), deadline }
    }

    fn try_again(&mut self, now: Mono) {
        self.due = now.plus_ms((self.ttl_ms / TRIES_PER_TTL).max(1)).min(self.deadline);
    }
}

/// Whether a failed renewal says nothing about the lease, only about the moment.
fn may_pass(failure: &Failure) -> bool {
    matches!(failure.slug.kind(), FailureKind::Busy | FailureKind::Unavailable | FailureKind::Internal)
}

/// A command is run or not; the ways out of a refused `reserve` are not its own.
fn refused(mut failure: Failure, waited: bool) -> Failure {
    if failure.slug != Slug::ReservationHeld {
        return failure;
    }
    failure.hints.truncate(1);
    failure.hint(match waited {
        true => "it was held all the time; wait longer, such as --wait 1h",
        false => "wait for it: add --wait 30m",
    })
}

/// Ends the command: it is asked to, and after a while made to.
fn end(running: &mut dyn Running, why: Failure) -> Result<Run, Failure> {
    running.ask_to_end();
    if running.wait(COMMAND_GRACE_MS)?.is_none() {
        running.kill();
        while running.wait(COMMAND_GRACE_MS)?.is_none() {}
    }
    Ok(Run::Lost(why))
}

fn lost(cause: Failure) -> Failure {
    let message = format!("the command was ended because it lost what it ran under: {}", cause.message);
    Failure::new(Slug::LeaseLost, message)
        .hint("what it was doing may be half done: look at it before you run it again")
        .details(cause.details)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_renewal_is_tried_again_until_the_lease_is_over() {
        let mut terms = KeptTerms { ttl_ms: 1_000, due: Mono(0), deadline: Mono(1_000) };
        terms.try_again(Mono(400));
        assert_eq!(terms.due, Mono(450));
        terms.try_again(Mono(990));
        assert_eq!(terms.due, Mono(1_000));
    }

    #[test]
    fn a_command_is_told_by_its_program_alone() {
        for (line, short) in [
            (&["make"][..], Some("make")),
            (&["/usr/bin/cargo", "test"], Some("cargo …")),
            (&["login", "hunter2"], Some("login …")),
            (&[], None),
        ] {
            let words: Vec<OsString> = line.iter().map(OsString::from).collect();
            assert_eq!(in_short(&words).as_deref(), short, "{line:?}");
        }
    }

    #[test]
    fn only_what_says_nothing_about_the_lease_may_pass() {
        for (slug, passes) in [
            (Slug::StoreBusy, true),
            (Slug::StoreFull, true),
            (Slug::LeaseExpired, false),
            (Slug::StaleFence, false),
            (Slug::NotHolder, false),
            (Slug::NotFound, false),
        ] {
            assert_eq!(may_pass(&Failure::new(slug, "")), passes, "{slug}");
        }
    }
}
