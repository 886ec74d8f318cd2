//! The answer of every verb that changes leases or waits.

use super::negotiation::told;
use super::{Done, settled};
use crate::console::{Answer, Problem, document};
use crate::given::Given;
use crate::render::{Page, Tone, and_more, before_you, count, holding, lease_table, notices, wrapped};
use clearway_core::decide::{Refused, Success};
use clearway_core::failure::{Ahead, LeaseView};
use clearway_core::ids::LeaseId;
use clearway_core::text::printable;
use clearway_core::time::rounded;
use clearway_core::wait::Queued;
use clearway_kernel::Reply;
use clearway_wire::json::{
    Acted, Actor, AheadJson, Blocker, FreezeReply, HaltReply, LeaseJson, LeftReply, NegotiatedReply,
    QueuedReply, RefusedTarget, ReleaseReply, RenewReply, ReserveReply, ResumeReply, SnapshotReply,
    SweepReply, ThawReply, TransferReply, WaitJson, rfc3339,
};
use serde::Serialize;

/// Ids that fit a line.
const IDS_SHOWN: usize = 4;

/// The answer of a verb that changed leases.
#[derive(Debug)]
pub(super) struct Changed {
    success: Success,
    done: Done,
    /// Whether a grant answers who asked.
    is_asked: bool,
}

impl Changed {
    /// The same of `ask`, of which a grant is one of several answers.
    pub(super) fn asked(reply: Reply) -> Result<Self, Problem> {
        Ok(Self { is_asked: true, ..Self::new(reply)? })
    }

    pub(super) fn new(reply: Reply) -> Result<Self, Problem> {
        let (success, done) = settled(reply)?;
        Ok(Self { success, done, is_asked: false })
    }

    fn acted<T: Serialize>(&self, given: &Given, body: T) -> String {
        let Done { rev, agent, notices, replayed, .. } = &self.done;
        let (actor, notices) = (Actor::new(agent.as_ref()), given.notices(notices));
        document(&Acted { ok: true, rev: rev.0, actor, replayed: *replayed, notices, body })
    }

    fn as_whom(&self) -> String {
        self.done.agent.as_ref().map(|(_, name)| format!(" as {name}")).unwrap_or_default()
    }
}

impl Answer for Changed {
    fn json(&self, given: &Given) -> String {
        let now = &self.done.now;
        match &self.success {
            Success::Reserved { leases, .. } if self.is_asked => {
                let granted = NegotiatedReply::granted(LeaseJson::list(leases, now));
                self.acted(given, granted)
            }
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
            Success::Negotiated(outcome) => self.acted(given, NegotiatedReply::new(outcome, now)),
            Success::Halted { agent, was_halted, ended } => {
                let (halted, ended) = (agent.to_string(), texts(ended));
                self.acted(given, HaltReply { halted, was_halted: *was_halted, ended })
            }
            Success::Continued { agent, was_halted } => {
                let (resumed, was_halted) = (agent.to_string(), *was_halted);
                self.acted(given, ResumeReply { resumed, was_halted })
            }
            // A snapshot has an answer of its own.
            Success::Kept { number } => {
                let (snapshot, commit, files) = (Some(number.0), None, Vec::new());
                self.acted(given, SnapshotReply { snapshot, commit, files, left_out: Vec::new() })
            }
            Success::Swept { expired } => {
                self.acted(given, SweepReply { expired: texts(expired), dry_run: false })
            }
            // So has mail.
            Success::Done | Success::Mail(_) => self.acted(given, ()),
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
            Success::Negotiated(outcome) => told(outcome, now, page),
            Success::Halted { agent, was_halted, ended } => {
                let leases = count(ended.len() as u64, "lease", "leases");
                let again = if *was_halted { " already" } else { "" };
                wrapped(&format!("{agent} is halted{again}; {leases} of it ended"), page, "")
            }
            Success::Continued { agent, was_halted: true } => format!("{agent} may go on\n"),
            Success::Continued { agent, was_halted: false } => format!("{agent} was not halted\n"),
            Success::Kept { number } => format!("kept as s{}\n", number.0),
            Success::Done | Success::Mail(_) => "done\n".to_owned(),
            Success::Swept { expired } => swept(expired, "recorded as expired", page),
            Success::Queued { queued, blockers, ahead } => self.told_queued(queued, blockers, ahead, page),
            Success::Left { waits } if waits.is_empty() => {
                format!("nothing to leave{}: you wait for nothing here\n", self.as_whom())
            }
            Success::Left { waits } => {
                let places = count(waits.len() as u64, "place", "places");
                wrapped(&format!("left {places} in the queue{}: {}", self.as_whom(), some(waits)), page, "")
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
                "{} for {}: agents get no new paths\n{}\n",
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
            text.push_str(&before_you(ahead, page));
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
        text.push_str(&before_you(ahead, page));
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
                wrapped(&format!("released {leases}{}: {}", self.as_whom(), some(released)), page, "")
            }
        };
        if !already.is_empty() {
            text.push_str(&wrapped(&format!("over already: {}", some(already)), page, ""));
        }
        if !remaining.is_empty() {
            text.push_str("still held:\n");
            text.push_str(&lease_table(remaining, &self.done.now, page));
        }
        text
    }
}

/// What has run out, and what comes of it.
pub(super) fn swept(expired: &[LeaseId], done: &str, page: &Page) -> String {
    if expired.is_empty() {
        return "no lease has run out\n".to_owned();
    }
    let leases = count(expired.len() as u64, "lease", "leases");
    wrapped(&format!("{leases} {done}: {}", some(expired)), page, "")
}

/// Ids for people, who read a few of them at most.
fn some<T: ToString>(ids: &[T]) -> String {
    let shown = texts(ids.get(..IDS_SHOWN).unwrap_or(ids)).join(" ");
    match and_more(ids.len(), IDS_SHOWN) {
        None => shown,
        Some(more) => format!("{shown} {more}"),
    }
}

/// Ids as they are written.
pub(super) fn texts<T: ToString>(ids: &[T]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}
