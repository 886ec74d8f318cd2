//! Who hears of a circle of waiting, and what: each of those in it, seen from where it stands.

use super::Notice;
use super::draft::Draft;
use super::notice::Yielder;
use crate::agent::AgentName;
use crate::failure::{Circle, CircleStep};
use crate::ids::{AgentId, LeaseId};
use crate::lease::Lease;
use crate::slice::Note;
use crate::wait::Wait;

/// What somebody holds in a circle, and who waits for it.
struct Part {
    holder: AgentId,
    lease: LeaseId,
    target: String,
    by: AgentName,
}

impl Draft<'_> {
    /// Everybody in a circle but the caller hears of it at its next tool call, with who had best give way.
    pub(super) fn tell_of_circle(&mut self, me: AgentId, circle: &Circle) {
        let yielder = yielder_of(circle);
        for Part { holder, lease, target, by } in self.parts(circle) {
            self.forget_waited_for(holder, lease, &by);
            if holder != me {
                self.note(holder, Note::Circle { target, by, yielder: yielder.clone() });
            }
        }
    }

    /// The same for the caller, whose answer says so.
    pub(super) fn tell_closer(&mut self, me: AgentId, circle: &Circle) {
        let own = self.parts(circle).into_iter().find(|part| part.holder == me);
        let said = own.and_then(|own| self.circle_seen_by(me, &own.target, &own.by, yielder_of(circle)));
        self.notices.extend(said);
    }

    /// The same for a caller that reads no answer yet.
    pub(super) fn keep_for_closer(&mut self, me: AgentId, circle: &Circle) {
        let own = self.parts(circle).into_iter().find(|part| part.holder == me);
        if let Some(Part { target, by, .. }) = own {
            self.note(me, Note::Circle { target, by, yielder: yielder_of(circle) });
        }
    }

    /// Whoever has waited in vain hears of the circle that it waits in, and of none that is gone by then.
    pub(super) fn tell_waiter(&mut self, me: AgentId, circle: Option<&Circle>) {
        self.forget_note_if(me, |note| matches!(note, Note::Circle { .. }));
        if let Some(circle) = circle {
            self.tell_closer(me, circle);
        }
    }

    /// Whoever waits for an answer hears of the circles that were kept for it to be told, as far as they still stand.
    pub(super) fn tell_kept_circles(&mut self, me: AgentId) {
        let notes = self.memo_of(me).map(|memo| memo.notes.clone()).unwrap_or_default();
        let said = |note: &Note| match note {
            Note::Circle { target, by, yielder } => self.circle_seen_by(me, target, by, yielder.clone()),
            _ => None,
        };
        let said: Vec<Notice> = notes.iter().filter_map(said).collect();
        self.notices.extend(said);
        self.forget_note_if(me, |note| matches!(note, Note::Circle { .. }));
    }

    /// What a circle looks like to who holds something in it; nothing once that is given back, or its turn has come.
    pub(super) fn circle_seen_by(
        &self,
        me: AgentId,
        target: &str,
        by: &AgentName,
        yielder: Option<(AgentName, String)>,
    ) -> Option<Notice> {
        let mine = |target: &str| {
            self.leases_now().find(|lease| lease.holder == me && lease.target.display() == target)
        };
        let held = mine(target)?;
        let waits = |wait: &Wait| wait.offered_until.is_none();
        if !self.waits_of_family(me).any(waits) {
            return None;
        }
        let yielder = yielder.map(|(agent, what)| match mine(&what) {
            Some(Lease { target, worktree, grade, .. }) if agent == self.name_of(me) => {
                Yielder::You { held: target.clone(), worktree: worktree.clone(), grade: *grade }
            }
            _ => Yielder::Other { agent, target: what },
        });
        let worktree = held.worktree.clone();
        Some(Notice::Circle { target: target.to_owned(), worktree, by: by.clone(), yielder })
    }

    fn parts(&self, circle: &Circle) -> Vec<Part> {
        let part = |step: &CircleStep| {
            let holder = self.slice.agents.iter().find(|view| view.agent.name == step.of)?.agent.id;
            let (target, by) = (step.waits_for.clone(), step.agent.clone());
            Some(Part { holder, lease: step.lease?, target, by })
        };
        circle.steps.iter().filter_map(part).collect()
    }

    /// Whoever hears of the circle does not hear beside it that somebody waits.
    fn forget_waited_for(&mut self, holder: AgentId, lease: LeaseId, by: &AgentName) {
        let Some(lease) = self.leases_now().find(|own| own.id == lease).cloned() else { return };
        let is_it =
            |wait: &&Wait| self.name_of(wait.agent) == *by && wait.wanted.conflicts_with_lease(&lease);
        let waits = self.queue.iter().map(|view| &view.wait).filter(is_it);
        let said: Vec<Note> = waits.map(|wait| Note::WaitedFor(wait.id)).collect();
        self.forget_note_if(holder, |note| said.contains(note));
    }
}

fn yielder_of(circle: &Circle) -> Option<(AgentName, String)> {
    circle.yielder.as_ref().map(|(agent, _, target)| (agent.clone(), target.clone()))
}
