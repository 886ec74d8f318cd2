//! What agents are told at their next tool call, and what they have in hand meanwhile. Soft state: no decision about
//! leases rests on it but two: what a running tool call is about to change is not taken for unchanged, and what was edited
//! a while ago is not taken out of a broad claim.

use super::draft::Draft;
use super::{Notice, Said};
use crate::agent::{AgentName, Client};
use crate::command::{Await, Command, Reserve, Want};
use crate::ids::{AgentId, LeaseId, NegotiationId, WaitId};
use crate::lease::{Grade, Lease};
use crate::limits::{
    CALL_MS_MAX, EDITED_MS, EDITS_PER_AGENT_MAX, LOOK_MS_MAX, NOTES_MAX, NOTES_MS, NOTES_PER_AGENT_MAX,
};
use crate::mail::Importance;
use crate::negotiation::{Negotiation, NegotiationState};
use crate::slice::{Announced, Answer, Memo, Note, Writing};
use crate::target::{Target, Worktree};
use crate::time::Mono;
use crate::wait::Wait;

impl Draft<'_> {
    /// Keeps something for an agent to be told. One without hooks hears only when it calls, and what `status` shows of it
    /// then is not kept.
    pub(super) fn note(&mut self, to: AgentId, note: Note) {
        let hears = self
            .slice
            .agent(to)
            .is_some_and(|view| view.agent.client.has_hooks() || note.is_told_without_hooks());
        let concerns_itself = matches!(
            note,
            Note::Turn(_)
                | Note::PlaceOver { .. }
                | Note::WroteOver { .. }
                | Note::PassedOn { .. }
                | Note::Overdue(_)
                | Note::Granted { .. }
                | Note::Taken { .. }
                | Note::Circle { .. }
        );
        let own = self.agent.as_ref().is_some_and(|(me, _)| *me == to) && !concerns_itself;
        if !hears || own {
            return;
        }
        let notes = &mut self.memo(to).notes;
        match note {
            Note::Mail(new) => announce(notes, new),
            note if notes.contains(&note) => {}
            note => notes.push(note),
        }
        let surplus = notes.len().saturating_sub(NOTES_PER_AGENT_MAX);
        notes.drain(..surplus);
    }

    /// Forgets what an agent was to be told.
    pub(super) fn forget_note(&mut self, to: AgentId, note: &Note) {
        self.forget_note_if(to, |own| own == note);
    }

    pub(super) fn forget_note_if(&mut self, to: AgentId, is_it: impl Fn(&Note) -> bool) {
        if self.memo_of(to).is_some_and(|memo| memo.notes.iter().any(&is_it)) {
            self.memo(to).notes.retain(|own| !is_it(own));
        }
    }

    /// Tells the caller one thing, what is urgent first, as often as its budget allows. A turn was promised and does not
    /// last, so it is told whatever else was told before, and so is what somebody asked for, which has to be answered in
    /// time, what was taken or not settled, and a circle of waiting. What is no longer true is forgotten.
    pub(super) fn tell_caller(&mut self) {
        let Some((me, _)) = self.agent.clone() else { return };
        if self.slice.agent(me).is_none_or(|view| view.memo.notes.is_empty())
            && self.memo(me).notes.is_empty()
        {
            return;
        }
        let mut memo = self.memo(me).clone();
        memo.notes.sort_by_key(|note| !note.is_urgent());
        while let Some(note) = memo.notes.first().cloned() {
            let Some(notice) = self.notice(me, &note) else {
                memo.notes.remove(0);
                continue;
            };
            if memo.may_be_told(self.now.mono) || note.is_urgent() {
                memo.notes.remove(0);
                self.notices.push(notice);
            }
            break;
        }
        *self.memo(me) = memo;
    }

    /// Tells a caller without hooks all that was kept for it. It hears nothing between its calls, so nothing is put off.
    pub(super) fn tell_without_hooks(&mut self) {
        let Some(me) = self.me() else { return };
        let Some(view) = self.slice.agent(me).filter(|view| !view.agent.client.has_hooks()) else { return };
        if view.memo.notes.is_empty() {
            return;
        }
        let notes = std::mem::take(&mut self.memo(me).notes);
        let said: Vec<Notice> = notes.iter().filter_map(|note| self.notice(me, note)).collect();
        self.notices.extend(said);
    }

    /// What is told beside an edit counts like anything else that an agent is told, and is left out beyond that. Whoever
    /// asks in words is told all of it.
    pub(super) fn count_what_is_told(&mut self, command: &Command) {
        let is_beside = |notice: &Notice| {
            matches!(
                notice,
                Notice::TookOver { .. }
                    | Notice::LeftBehind { .. }
                    | Notice::ChangedHands { .. }
                    | Notice::Kept { .. }
            )
        };
        let (Command::Reserve(reserve) | Command::Await(Await { reserve, .. })) = command else { return };
        let is_edit = self.is_hook && reserve.grade == Grade::Auto;
        let Some(me) = self.me().filter(|_| is_edit && self.notices.iter().any(is_beside)) else { return };
        let now = self.now.mono;
        if !self.memo(me).may_be_told(now) {
            self.notices.retain(|notice| !is_beside(notice));
        }
    }

    fn notice(&self, me: AgentId, note: &Note) -> Option<Notice> {
        match note {
            Note::Turn(id) => {
                let wait = self.waiting(*id)?;
                let left_ms = wait.offered_until?.since(self.now.mono);
                let target = wait.wanted.wants.first()?.target.clone();
                let worktree = match &target {
                    Target::Path(_) => wait.wanted.worktree.clone(),
                    Target::Name(_) => Worktree::default(),
                };
                Some(Notice::YourTurn { target, worktree, left_ms })
            }
            Note::WaitedFor(id) => {
                let wait = self.waiting(*id)?;
                let is_in_way =
                    |lease: &&Lease| lease.holder == me && wait.wanted.conflicts_with_lease(lease);
                let lease = self.leases_now().find(is_in_way)?;
                let mut wants = wait.wanted.wants.iter().map(|want| &want.target);
                let target = wants.find(|target| lease.is_on(target))?.display();
                let (by, reason) = (self.name_of(wait.agent), wait.wanted.reason.clone());
                let (held, worktree, grade) = (lease.target.clone(), lease.worktree.clone(), lease.grade);
                Some(Notice::WaitedFor { target, held, worktree, grade, by, reason })
            }
            Note::PlaceOver { target } => {
                let is_this = |wanted: &Target| wanted.display() == *target;
                let mut own = self.queue.iter().map(|view| &view.wait).filter(|wait| wait.agent == me);
                let waits_again = own.any(|wait| wait.wanted.wants.iter().any(|want| is_this(&want.target)));
                let has_it = self.leases_now().any(|lease| lease.holder == me && is_this(&lease.target));
                (!waits_again && !has_it).then(|| Notice::PlaceOver { target: target.clone() })
            }
            // Whoever has it again is told who had it in between.
            Note::PassedOn { target, kept: None, .. } if self.has(me, target) => None,
            Note::PassedOn { target, to, kept } => {
                Some(Notice::PassedOn { target: target.clone(), to: to.clone(), kept: *kept })
            }
            Note::WrittenOver { target, by } => {
                Some(Notice::WrittenOver { target: target.clone(), by: by.clone() })
            }
            Note::CommittedUnchecked { target, commit, by } => Some(Notice::CommittedUnchecked {
                target: target.clone(),
                commit: commit.clone(),
                by: by.clone(),
            }),
            // Whoever has it by now needs not be told to leave it alone.
            Note::WroteOver { target, .. } if self.has(me, target) => None,
            Note::WroteOver { target, holder } => {
                Some(Notice::WroteOver { target: target.clone(), holder: holder.clone() })
            }
            Note::Mail(announced) => Some(Notice::Mail(announced.clone())),
            Note::Asked(id) => self.asked(*id),
            Note::Answered { target, holder, answer } => self.answered(me, target, holder, answer),
            Note::Overdue(id) => self.overdue(me, *id),
            Note::Forced { target, by, to, reason, kept } => {
                let (target, by, to, reason) = (target.clone(), by.clone(), to.clone(), reason.clone());
                Some(Notice::Forced { target, by, to, reason, kept: *kept })
            }
            Note::Taken { target, from, kept } => {
                let is_held = self.has(me, target);
                let is_there = is_held || self.is_kept_for(me, target);
                let (target, from, kept) = (target.clone(), from.clone(), *kept);
                is_there.then_some(Notice::Taken { target, from, kept, is_held })
            }
            Note::Continued { reason } => Some(Notice::Continued { reason: reason.clone() }),
            Note::Granted { target, from } => {
                self.has(me, target).then(|| Notice::Granted { target: target.clone(), from: from.clone() })
            }
            Note::Circle { target, by, yielder } => self.circle_seen_by(me, target, by, yielder.clone()),
        }
    }

    fn has(&self, me: AgentId, target: &str) -> bool {
        self.leases_now().any(|lease| lease.holder == me && lease.target.display() == target)
    }

    /// Whether its turn has come.
    fn is_kept_for(&self, me: AgentId, target: &str) -> bool {
        let is_it = |wait: &Wait| wait.wanted.wants.iter().any(|want| want.target.display() == target);
        let mut own = self.queue.iter().map(|view| &view.wait).filter(|wait| wait.agent == me);
        own.any(|wait| wait.offered_until.is_some() && is_it(wait))
    }

    /// What a holder hears of a request: nothing, if it is settled by then.
    fn asked(&self, id: NegotiationId) -> Option<Notice> {
        let asked = self.negotiations.iter().find(|asked| asked.id == id && asked.is_open())?;
        let lease = self.leases_now().find(|lease| lease.id == asked.lease)?;
        Some(Notice::Asked {
            negotiation: id,
            target: asked.target.display(),
            worktree: asked.worktree.clone(),
            grade: lease.grade,
            by: self.name_of(asked.requester),
            why: asked.why.clone(),
            left_ms: asked.deadline.since(self.now.mono),
        })
    }

    /// What who asked hears of an answer: that it takes longer as long as the request is open, and that it is not let go
    /// as long as the requester has not got it.
    fn answered(&self, me: AgentId, target: &str, holder: &AgentName, answer: &Answer) -> Option<Notice> {
        let is_it = |open: &Negotiation| {
            open.is_open()
                && open.requester == me
                && open.target.display() == target
                && self.name_of(open.holder) == *holder
        };
        let is_so = match answer {
            Answer::AfterCommit | Answer::Later(_) => self.negotiations.iter().any(is_it),
            Answer::No(_) | Answer::HandedTo(_) | Answer::Outlasted => {
                !self.has(me, target) && !self.is_kept_for(me, target)
            }
        };
        if !is_so {
            return None;
        }
        let (target, holder) = (target.to_owned(), holder.clone());
        let says = match answer {
            Answer::AfterCommit => Said::AfterCommit,
            Answer::Later(until) if *until <= self.now.mono => return None,
            Answer::Later(until) => Said::Later { left_ms: until.since(self.now.mono) },
            Answer::No(reason) => Said::No(reason.clone()),
            Answer::HandedTo(to) => Said::HandedTo(to.clone()),
            Answer::Outlasted => Said::Outlasted,
        };
        Some(Notice::Answered { target, holder, says })
    }

    fn overdue(&self, me: AgentId, id: NegotiationId) -> Option<Notice> {
        let open = self.negotiations.iter().find(|open| open.id == id && open.is_open() && open.overdue)?;
        let (target, worktree) = (open.target.display(), open.worktree.clone());
        let (is_mine, other) = match open.requester == me {
            true => (true, open.holder),
            false => (false, open.requester),
        };
        let other = self.name_of(other);
        let said = match open.state {
            NegotiationState::AfterCommit => Some(Said::AfterCommit),
            NegotiationState::Later(until) => Some(Said::Later { left_ms: until.since(self.now.mono) }),
            _ => None,
        };
        Some(Notice::Overdue { negotiation: id, target, worktree, other, is_mine, said })
    }

    fn waiting(&self, id: WaitId) -> Option<&Wait> {
        self.queue.iter().map(|view| &view.wait).find(|wait| wait.id == id)
    }

    /// A tool call is about to use these leases.
    pub(super) fn take_in_hand(&mut self, me: AgentId, leases: &[Lease]) {
        let now = self.now.mono;
        let is_held = |memo: &Memo, id: LeaseId| {
            memo.in_hand.iter().any(|(own, until)| *own == id && until.since(now) > CALL_MS_MAX / 2)
        };
        let memo = self.memo(me);
        if leases.iter().all(|lease| is_held(memo, lease.id)) {
            return;
        }
        forget_old_calls(memo, now);
        memo.in_hand.retain(|(id, _)| !leases.iter().any(|lease| lease.id == *id));
        memo.in_hand.extend(leases.iter().map(|lease| (lease.id, now.plus_ms(CALL_MS_MAX))));
    }

    /// The word of one call tells that those before it are over, where a client has one after the other run: of a call
    /// that was interrupted or not permitted its hooks tell nothing more.
    pub(super) fn end_earlier_calls(&mut self, me: AgentId, client: Client) {
        if client.calls_one_by_one() {
            self.put_down(me, |_| true);
            self.memo(me).writing.clear();
        }
    }

    /// The calls that had these leases in hand are over. That they were under way until now is remembered for as long as
    /// somebody may decide by what was seen before they ended.
    pub(super) fn put_down(&mut self, me: AgentId, is_it: impl Fn(LeaseId) -> bool) {
        let now = self.now.mono;
        let is_put_down = |(id, until): &(LeaseId, Mono)| *until > now && is_it(*id);
        let memo = self.memo(me);
        if memo.in_hand.iter().any(is_put_down) {
            memo.in_hand.iter_mut().filter(|call| is_put_down(call)).for_each(|(_, until)| *until = now);
            forget_old_calls(memo, now);
        }
    }

    /// Remembers what is edited under claims of the family of which paths make way. Whoever has none leaves no trace.
    pub(super) fn note_edits(&mut self, me: AgentId, reserve: &Reserve) {
        let (now, root) = (self.now.mono, self.root_of(me));
        let is_within = |want: &&Want| {
            let around = |lease: &Lease| {
                lease.makes_way && lease.is_in(&reserve.worktree) && lease.is_on(&want.target)
            };
            self.leases_now().any(|lease| around(lease) && self.root_of(lease.holder) == root)
        };
        let edited: Vec<Target> =
            reserve.wants.iter().filter(is_within).map(|want| want.target.clone()).collect();
        if edited.is_empty() {
            return;
        }
        let edits = &mut self.memo(me).edited;
        edits.retain(|edit| edit.until > now && !edit.is_of(&edited, &reserve.worktree));
        edits.extend(Writing::all(&edited, &reserve.worktree, now.plus_ms(EDITED_MS)));
        let surplus = edits.len().saturating_sub(EDITS_PER_AGENT_MAX);
        edits.drain(..surplus);
    }

    /// Whether the family of a holder edited a path of its claim a while ago, or took it for that.
    pub(super) fn was_edited(&self, lease: &Lease, path: &Target) -> bool {
        let (now, root) = (self.now.mono, self.root_of(lease.holder));
        let of_family = |agent: AgentId| self.root_of(agent) == root;
        let is_this =
            |edit: &Writing| edit.until > now && edit.is_of(std::slice::from_ref(path), &lease.worktree);
        let agents = self.slice.agents.iter().map(|view| view.agent.id).filter(|agent| of_family(*agent));
        let noted =
            agents.filter_map(|agent| self.memo_of(agent)).any(|memo| memo.edited.iter().any(is_this));
        let taken = |own: &Lease| {
            own.grade == Grade::Auto
                && own.target == *path
                && own.worktree == lease.worktree
                && of_family(own.holder)
                && now.since(own.granted) < EDITED_MS
        };
        noted || self.leases_now().any(taken)
    }

    /// Whether a tool call of its holder is about to change what a lease is on.
    pub(super) fn is_in_hand(&self, lease: &Lease) -> bool {
        let memo = self.memo_of(lease.holder);
        let is_this = |(id, until): &(LeaseId, Mono)| *id == lease.id && *until > self.now.mono;
        memo.is_some_and(|memo| memo.in_hand.iter().any(is_this))
    }
}

/// No look that counts began before these calls were over.
fn forget_old_calls(memo: &mut Memo, now: Mono) {
    memo.in_hand.retain(|(_, until)| until.plus_ms(LOOK_MS_MAX) > now);
}

impl Note {
    /// Whether it is told by what the agent holds at that moment.
    pub(crate) fn is_of_held(&self) -> bool {
        matches!(
            self,
            Self::WaitedFor(_)
                | Self::Asked(_)
                | Self::Granted { .. }
                | Self::Taken { .. }
                | Self::Circle { .. }
                | Self::PlaceOver { .. }
                | Self::PassedOn { .. }
                | Self::WroteOver { .. }
                | Self::Answered { .. }
        )
    }

    /// Whether it is kept for an agent without hooks: what somebody did to it, which no state shows any more.
    fn is_told_without_hooks(&self) -> bool {
        matches!(
            self,
            Self::Answered { .. }
                | Self::Forced { .. }
                | Self::Taken { .. }
                | Self::Continued { .. }
                | Self::Circle { .. }
        )
    }

    /// Whether it is told whatever else was told before.
    fn is_urgent(&self) -> bool {
        matches!(
            self,
            Self::Turn(_)
                | Self::Overdue(_)
                | Self::Forced { .. }
                | Self::Granted { .. }
                | Self::Taken { .. }
                | Self::Continued { .. }
                | Self::Circle { .. }
                | Self::Asked(_)
                | Self::Mail(Announced { importance: Importance::Urgent, .. })
        )
    }
}

/// However many messages came, one thing is said of them: how many, and the one that matters most.
fn announce(notes: &mut Vec<Note>, mut new: Announced) {
    let before = notes.iter().position(|note| matches!(note, Note::Mail(_))).map(|index| notes.remove(index));
    if let Some(Note::Mail(old)) = before {
        let count = old.count.saturating_add(new.count);
        let matters = if old.importance < new.importance { old } else { new };
        new = Announced { count, ..matters };
    }
    notes.push(Note::Mail(new));
}

impl Memo {
    fn may_be_told(&mut self, now: Mono) -> bool {
        if self.told == 0 || now.since(self.told_since) >= NOTES_MS {
            (self.told_since, self.told) = (now, 0);
        }
        let may = self.told < NOTES_MAX;
        self.told += u32::from(may);
        may
    }
}
