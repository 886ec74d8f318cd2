//! `reserve`, `check`, `renew`, `release` and `sweep`.

use super::queueing::watched;
use super::{Done, settled};
use crate::arguments::{
    CheckFlags, ReleaseFlags, RenewFlags, ReserveFlags, SweepFlags, WAIT_AS_LONG_AS_ALLOWED, mode,
};
use crate::console::{Answer, Console, Problem, document};
use crate::given::Given;
use crate::render::{Page, Tone, before_you, count, holding, lease_table, notices};
use crate::usage::explain_wait;
use clearway_core::decide::{Refused, Success};
use clearway_core::failure::{Ahead, Failure, LeaseView};
use clearway_core::ids::LeaseId;
use clearway_core::slug::Slug;
use clearway_core::text::printable;
use clearway_core::time::rounded;
use clearway_core::wait::Queued;
use clearway_kernel::{Checked, ChosenWords, ReleaseWords, RenewWords, Reply, ReserveWords, Session};
use clearway_wire::json::{
    Acted, Actor, AheadJson, Blocker, CheckReply, FreezeReply, LeaseJson, LeftReply, Looked, QueuedReply,
    RefusedTarget, ReleaseReply, RenewReply, ReserveReply, SweepReply, ThawReply, TransferReply, WaitJson,
    rfc3339,
};
use serde::Serialize;

/// Ids that fit a line.
const IDS_SHOWN: usize = 4;

pub(super) fn reserve(
    session: &mut Session<'_>,
    flags: ReserveFlags,
    console: &mut Console<'_, '_>,
) -> Result<Changed, Problem> {
    let words = ReserveWords {
        targets: flags.patterns,
        kind: flags.kind.kind(),
        mode: mode(flags.shared),
        ttl: flags.ttl,
        max: flags.max,
        reason: flags.reason,
        best_effort: flags.best_effort,
        broad: flags.broad,
    };
    let span = flags.wait.as_deref().map(|text| Some(text).filter(|text| *text != WAIT_AS_LONG_AS_ALLOWED));
    Changed::new(match (flags.queue, span) {
        (_, Some(span)) => {
            watched(console, |watch| session.reserve_or_wait(&words, span, watch)).map_err(|failure| {
                explain_wait(failure, span.unwrap_or_default(), "reserve --wait 5m PATTERN…")
            })?
        }
        (true, None) => session.reserve_or_queue(&words)?,
        (false, None) => session.reserve(&words)?,
    })
}

pub(super) fn check(session: &mut Session<'_>, flags: CheckFlags) -> Result<CheckAnswer, Problem> {
    let words = ReserveWords {
        targets: flags.patterns.clone(),
        kind: flags.kind.kind(),
        mode: mode(flags.shared),
        ttl: None,
        max: None,
        reason: None,
        best_effort: false,
        broad: flags.broad,
    };
    Ok(CheckAnswer { asked: flags.patterns, checked: session.check(&words)? })
}

/// Somebody else's lease is an operator's matter: a stated reason claims that role.
pub(super) fn renew(session: &mut Session<'_>, flags: RenewFlags) -> Result<Changed, Problem> {
    if let Some(reason) = &flags.reason {
        session.act_as_operator(reason)?;
    }
    let chosen = ChosenWords { targets: flags.targets, kind: flags.kind.kind(), all: flags.all };
    let words = RenewWords { chosen, ttl: flags.ttl, note: flags.note };
    Changed::new(session.renew(&words)?)
}

/// Claims the operator's role in the same way as [`renew`].
pub(super) fn release(session: &mut Session<'_>, flags: ReleaseFlags) -> Result<Changed, Problem> {
    if let Some(reason) = &flags.reason {
        session.act_as_operator(reason)?;
    }
    let chosen = ChosenWords { targets: flags.targets, kind: flags.kind.kind(), all: flags.all };
    let words = ReleaseWords { chosen, keep: flags.keep };
    Changed::new(session.release(&words)?)
}

pub(super) fn sweep(session: &mut Session<'_>, flags: &SweepFlags) -> Result<Swept, Problem> {
    if flags.dry_run {
        let (rev, expired) = session.overdue()?;
        return Ok(Swept { rev: rev.0, done: None, expired });
    }
    match settled(session.sweep()?)? {
        (Success::Swept { expired }, done) => Ok(Swept { rev: done.rev.0, done: Some(done), expired }),
        _ => Err(unexpected()),
    }
}

fn unexpected() -> Problem {
    Failure::new(Slug::Internal, "the kernel gave the answer to another question")
        .hint("this is a defect of clearway; please report it with the output of: clearway doctor")
        .into()
}

/// The answer of a verb that changed leases.
#[derive(Debug)]
pub(super) struct Changed {
    success: Success,
    done: Done,
}

impl Changed {
    pub(super) fn new(reply: Reply) -> Result<Self, Problem> {
        let (success, done) = settled(reply)?;
        Ok(Self { success, done })
    }

    fn acted<T: Serialize>(&self, given: &Given, body: T) -> String {
        document(&acted(self.done.rev.0, Some(&self.done), given, body))
    }

    fn as_whom(&self) -> String {
        self.done.agent.as_ref().map(|(_, name)| format!(" as {name}")).unwrap_or_default()
    }
}

fn acted<T>(rev: u64, done: Option<&Done>, given: &Given, body: T) -> Acted<T> {
    Acted {
        ok: true,
        rev,
        actor: Actor::new(done.and_then(|done| done.agent.as_ref())),
        replayed: done.is_some_and(|done| done.replayed),
        notices: done.map(|done| given.notices(&done.notices)).unwrap_or_default(),
        body,
    }
}

impl Answer for Changed {
    fn json(&self, given: &Given) -> String {
        let now = &self.done.now;
        match &self.success {
            Success::Reserved { leases, refused } => self.acted(
                given,
                ReserveReply {
                    leases: LeaseJson::list(leases, now),
                    refused: refused
                        .iter()
                        .map(|refused| RefusedTarget {
                            pattern: refused.target.clone(),
                            blockers: Blocker::list(&refused.blockers, now),
                            ahead: AheadJson::list(&refused.ahead),
                        })
                        .collect(),
                    queued: None,
                },
            ),
            Success::Queued { queued, blockers, ahead } => self.acted(
                given,
                ReserveReply {
                    leases: Vec::new(),
                    refused: Vec::new(),
                    queued: Some(QueuedReply {
                        wait: WaitJson::new(queued, now),
                        blockers: Blocker::list(blockers, now),
                        ahead: AheadJson::list(ahead),
                    }),
                },
            ),
            Success::Left { waits } => self.acted(given, LeftReply { cancelled: texts(waits) }),
            Success::Transferred(leases) => {
                self.acted(given, TransferReply { leases: LeaseJson::list(leases, now) })
            }
            Success::Frozen(freeze) => self.acted(
                given,
                FreezeReply {
                    frozen_until: rfc3339(now.wall_at(freeze.until)),
                    frozen_for_ms: freeze.until.since(now.mono),
                },
            ),
            Success::Thawed { was_frozen } => self.acted(given, ThawReply { was_frozen: *was_frozen }),
            Success::Renewed(leases) => {
                self.acted(given, RenewReply { leases: LeaseJson::list(leases, now) })
            }
            Success::Released { released, already, remaining } => self.acted(
                given,
                ReleaseReply {
                    released: texts(released),
                    already_released: texts(already),
                    remaining: LeaseJson::list(remaining, now),
                },
            ),
            Success::Swept { expired } => {
                self.acted(given, SweepReply { expired: texts(expired), dry_run: false })
            }
        }
    }

    fn text(&self, page: &Page) -> String {
        let now = &self.done.now;
        let mut text = match &self.success {
            Success::Reserved { leases, refused } => {
                let head = format!("{}{}", page.paint(Tone::Good, "reserved"), self.as_whom());
                let table = lease_table(leases, now, page);
                format!("{head}\n{table}{}", self.refused(refused, page))
            }
            Success::Renewed(leases) if leases.is_empty() => {
                format!("nothing to renew{}\n", self.as_whom())
            }
            Success::Renewed(leases) => {
                format!("renewed{}\n{}", self.as_whom(), lease_table(leases, now, page))
            }
            Success::Released { released, already, remaining } => {
                self.released(released, already, remaining, page)
            }
            Success::Swept { expired } => swept(expired, false),
            Success::Queued { queued, blockers, ahead } => self.told_queued(queued, blockers, ahead, page),
            Success::Left { waits } if waits.is_empty() => {
                format!("nothing to leave{}: you wait for nothing here\n", self.as_whom())
            }
            Success::Left { waits } => {
                let places = count(waits.len() as u64, "place", "places");
                format!("left {places} in the queue{}: {}\n", self.as_whom(), some(waits))
            }
            Success::Transferred(leases) if leases.is_empty() => {
                format!("nothing to hand over{}\n", self.as_whom())
            }
            Success::Transferred(leases) => {
                let to = leases.first().map(|view| view.agent.to_string()).unwrap_or_default();
                let moved = count(leases.len() as u64, "lease", "leases");
                format!("handed {moved} to {to}{}\n{}", self.as_whom(), lease_table(leases, now, page))
            }
            Success::Frozen(freeze) => format!(
                "{} for {}: agents get no new paths; {}\n",
                page.paint(Tone::Care, "frozen"),
                rounded(freeze.until.since(now.mono)),
                page.given.advice("end it early: clearway thaw --reason TEXT")
            ),
            Success::Thawed { was_frozen: true } => "thawed: agents get new paths again\n".to_owned(),
            Success::Thawed { was_frozen: false } => "nothing was frozen\n".to_owned(),
        };
        if self.done.replayed {
            text.push_str("note: this is the answer to an earlier, equal request\n");
        }
        text + &notices(self.done.notices.iter().filter(|notice| !notice.is_slip()), page)
    }

    fn aside(&self, page: &Page) -> String {
        notices(self.done.notices.iter().filter(|notice| notice.is_slip()), page)
    }
}

impl Changed {
    fn refused(&self, refused: &[Refused], page: &Page) -> String {
        let mut text = String::new();
        for Refused { target, blockers, ahead } in refused {
            let mark = page.paint(Tone::Care, "not reserved:");
            text.push_str(&format!("{mark} {}\n", printable(target)));
            blockers.iter().for_each(|view| text.push_str(&holding(view, &self.done.now, page, "  ")));
            text.push_str(&before_you(ahead));
        }
        text
    }

    fn told_queued(&self, queued: &Queued, blockers: &[LeaseView], ahead: &[Ahead], page: &Page) -> String {
        let head = format!(
            "{}{}: place {}, wait {}\n",
            page.paint(Tone::Care, "queued"),
            self.as_whom(),
            queued.position,
            queued.wait.id
        );
        let mut text = head;
        blockers.iter().for_each(|view| text.push_str(&holding(view, &self.done.now, page, "  ")));
        text.push_str(&before_you(ahead));
        let turn = format!("your place is kept; take your turn with: clearway wait {}", queued.wait.id);
        text + &page.given.advice(&turn) + "\n"
    }

    fn released(
        &self,
        released: &[LeaseId],
        already: &[LeaseId],
        remaining: &[LeaseView],
        page: &Page,
    ) -> String {
        let mut text = match (released, already) {
            ([], []) => format!("nothing to release{}\n", self.as_whom()),
            ([], _) => String::new(),
            _ => {
                let leases = count(released.len() as u64, "lease", "leases");
                format!("released {leases}{}: {}\n", self.as_whom(), some(released))
            }
        };
        if !already.is_empty() {
            text.push_str(&format!("over already: {}\n", some(already)));
        }
        if !remaining.is_empty() {
            text.push_str("still held:\n");
            text.push_str(&lease_table(remaining, &self.done.now, page));
        }
        text
    }
}

/// The answer of `check`.
#[derive(Debug)]
pub(super) struct CheckAnswer {
    asked: Vec<String>,
    checked: Checked,
}

impl Answer for CheckAnswer {
    fn json(&self, given: &Given) -> String {
        let Checked { rev, now, clear, blockers, ahead, notices } = &self.checked;
        document(&Looked::new(
            *rev,
            CheckReply {
                clear: *clear,
                blockers: Blocker::list(blockers, now),
                ahead: AheadJson::list(ahead),
                notices: given.notices(notices),
            },
        ))
    }

    fn text(&self, page: &Page) -> String {
        let Checked { now, blockers, ahead, notices: found, .. } = &self.checked;
        let asked = printable(&self.asked.join(" ")).into_owned();
        let mut text = match self.checked.clear {
            true => format!("{}: {asked}\n", page.paint(Tone::Good, "clear")),
            false => format!("{}: {asked}\n", page.paint(Tone::Care, "not clear")),
        };
        blockers.iter().for_each(|view| text.push_str(&holding(view, now, page, "  ")));
        text.push_str(&before_you(ahead));
        text + &notices(found, page)
    }

    fn exit_code(&self) -> u8 {
        u8::from(!self.checked.clear)
    }
}

/// The answer of `sweep`.
#[derive(Debug)]
pub(super) struct Swept {
    rev: u64,
    done: Option<Done>,
    expired: Vec<LeaseId>,
}

impl Answer for Swept {
    fn json(&self, given: &Given) -> String {
        let body = SweepReply { expired: texts(&self.expired), dry_run: self.done.is_none() };
        document(&acted(self.rev, self.done.as_ref(), given, body))
    }

    fn text(&self, page: &Page) -> String {
        let found = self.done.as_ref().map(|done| notices(&done.notices, page)).unwrap_or_default();
        swept(&self.expired, self.done.is_none()) + &found
    }
}

fn swept(expired: &[LeaseId], dry_run: bool) -> String {
    if expired.is_empty() {
        return "no lease has run out\n".to_owned();
    }
    let would = if dry_run { "would be recorded as expired" } else { "recorded as expired" };
    format!("{} {would}: {}\n", count(expired.len() as u64, "lease", "leases"), some(expired))
}

/// Ids for people, who read a few of them at most.
fn some<T: ToString>(ids: &[T]) -> String {
    let shown = texts(ids.get(..IDS_SHOWN).unwrap_or(ids)).join(" ");
    match ids.len().saturating_sub(IDS_SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn texts<T: ToString>(ids: &[T]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}
