//! The part of a scope's state that one command reads, and the data by which it asks for it.
//!
//! An engine answers a [`ReadSet`] with a [`Slice`]: at least what was asked for, possibly more. Deciding
//! filters, so a generous engine can never change an answer.

use crate::agent::{Agent, AgentName, Caller, IdentityKey, SignOfLife};
use crate::command::Reserve;
use crate::facts::Process;
use crate::ids::{AgentId, Epoch, LeaseId, NegotiationId, Seq, WaitId};
use crate::lease::{Lease, Mode};
use crate::limits::EXPIRIES_PER_WRITE;
use crate::mail::{Importance, MailRead, MailSlice};
use crate::negotiation::Negotiation;
use crate::path::CanonicalPath;
use crate::pattern::{Fold, Pattern};
use crate::refused::RefusedEdit;
use crate::target::{ResourceName, Target, Worktree};
use crate::time::{BootKey, Mono, Now};
use crate::wait::WaitView;
use std::collections::BTreeSet;

/// What a command needs to see.
#[derive(Clone, Debug, Default)]
pub struct ReadSet {
    /// Agents that the caller may turn out to be.
    pub agents: AgentLookup,
    /// Live path leases of one worktree that may overlap these patterns.
    pub overlapping: Vec<(Worktree, Pattern)>,
    /// Live leases of these names.
    pub names: Vec<ResourceName>,
    /// Leases by id, live or ended.
    pub leases: Vec<LeaseId>,
    /// All live leases of these agents.
    pub held_by: Vec<AgentId>,
    /// Live leases whose deadline may have passed.
    pub due: Due,
    /// The latest ended lease on exactly these literal paths, or, if that was shared, the latest
    /// [`SHARED_PAST_MAX`](crate::limits::SHARED_PAST_MAX); the latest there that each agent which is looked up held or
    /// handed over, and the latest [`WIDE_PAST_MAX`](crate::limits::WIDE_PAST_MAX) on more than one path of each directory
    /// above them, to tell whether a path changed hands.
    pub history: Vec<(Worktree, Pattern)>,
    /// The last refusal of this principal, so that repeats are counted.
    pub refusals_of: Option<String>,
    /// The idempotency key that will be asked about once the caller is known. A hint: an engine for which
    /// every question is a journey looks it up on the way, for each agent that is found.
    pub key: Option<String>,
    /// Every agent of which something is remembered in this boot.
    pub remembered: bool,
    /// Every place in the queue, if there is one, and every open request to the holder of a lease with that lease: whoever
    /// asks keeps a place, so that there is none where nobody waits.
    pub waits: bool,
    /// Requests to holders by id, open or over, with their leases.
    pub negotiations: Vec<NegotiationId>,
    /// Waits whose surroundings this reads: what they want is among `overlapping` and `names`.
    pub surveyed: BTreeSet<WaitId>,
    /// Mail.
    pub mail: MailRead,
}

/// By what an agent can be found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentLookup {
    /// Names.
    pub names: Vec<AgentName>,
    /// Identity keys.
    pub keys: Vec<IdentityKey>,
    /// Client processes.
    pub processes: Vec<Process>,
    /// Ids: no name may be one that another agent has.
    pub ids: Vec<AgentId>,
}

impl AgentLookup {
    /// Everything by which this caller may be known. A claim or a session settles it; only without them does the
    /// terminal count. The caller names the processes above where they count.
    pub fn of(caller: &Caller) -> Self {
        let mut lookup = Self::default();
        lookup.names.extend(caller.claim.clone());
        lookup.ids.extend(caller.claim.as_ref().and_then(|name| AgentId::parse(name.as_str())));
        if let Some(session) = &caller.session {
            lookup.keys.push(session.root_key());
            lookup.keys.extend(session.subagent.as_ref().map(|_| session.key()));
            lookup.processes.extend(session.process.clone().filter(|_| caller.hook));
            lookup.processes.extend(caller.earlier.clone());
        }
        lookup.processes.extend(caller.ancestors.iter().cloned());
        if caller.claim.is_none() && caller.session.is_none() {
            lookup.keys.extend(caller.terminal.iter().map(IdentityKey::terminal));
        }
        lookup
    }
}

/// Which overdue leases to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Due {
    /// None; for pure reads.
    #[default]
    None,
    /// At least so many of them, those that are over for longest and among equals those with the smaller ids, so that any
    /// write pays a little of what is owed.
    Some(usize),
    /// Every live lease, overdue or not: a new boot ends them all, and a sweep looks whether the processes that keep
    /// some of them still live.
    EveryLive,
}

impl Due {
    /// What an ordinary write pays.
    pub const SHARE: Self = Self::Some(EXPIRIES_PER_WRITE);
}

/// What an engine answered.
#[derive(Clone, Debug, Default)]
pub struct Slice {
    /// The scope itself.
    pub scope: ScopeState,
    /// Agents asked for, holders of every lease below, the two sides of every negotiation, and their ancestors.
    pub agents: Vec<AgentView>,
    /// Leases, live and ended, each once.
    pub leases: Vec<Lease>,
    /// Rows of leases that could be read neither as stored nor from their events.
    pub unreadable: Vec<String>,
    /// Rows of the queue of which the same is true. Nobody waits there as far as anybody can tell.
    pub unreadable_waits: Vec<String>,
    /// The last refusal of the calling principal.
    pub refusal: Option<RefusalMemory>,
    /// The queue, in the order of places. An engine answers with all of it or, unasked, with nothing.
    pub waits: Vec<WaitView>,
    /// Waits of which every lease in the way is in this slice.
    pub surveyed: BTreeSet<WaitId>,
    /// Mail.
    pub mail: MailSlice,
    /// Requests to holders, those that are open and those that were named, by their ids.
    pub negotiations: Vec<Negotiation>,
}

impl Slice {
    /// The agent with this id.
    pub fn agent(&self, id: AgentId) -> Option<&AgentView> {
        self.agents.iter().find(|view| view.agent.id == id)
    }

    /// The negotiation with this id.
    pub fn negotiation(&self, id: NegotiationId) -> Option<&Negotiation> {
        self.negotiations.iter().find(|negotiation| negotiation.id == id)
    }

    /// What an agent left behind that is known to have ended.
    pub fn left_by(&self, agent: Option<AgentId>) -> Vec<(Worktree, Pattern)> {
        let ended = agent.and_then(|id| self.agent(id)).filter(|view| view.agent.ended_at.is_some());
        let left = ended.into_iter().flat_map(|view| &view.memo.left);
        let pattern = |path: &str| Some(Pattern::literal(&CanonicalPath::parse(path, self.scope.fold).ok()?));
        left.filter_map(|(worktree, path)| Some((worktree.clone(), pattern(path)?))).collect()
    }

    /// The agent that has this name, or else this id.
    pub fn agent_meant(&self, word: &AgentName) -> Option<&AgentView> {
        let by_id = || self.agents.iter().find(|view| view.agent.id.as_str() == word.as_str());
        self.agents.iter().find(|view| view.agent.name == *word).or_else(by_id)
    }

    /// Whether one of these agents has a path to itself by a lease that time does not end now. It takes nothing anew then,
    /// so that an engine need not look for what the path has been through.
    pub fn is_with(
        &self,
        agents: &[AgentId],
        worktree: &Worktree,
        path: &Pattern,
        overdue: &[LeaseId],
    ) -> bool {
        self.leases.iter().any(|lease| {
            lease.ended.is_none()
                && lease.mode == Mode::Exclusive
                && lease.bound.is_none()
                && agents.contains(&lease.holder)
                && lease.worktree == *worktree
                && matches!(&lease.target, Target::Path(own) if own == path)
                && !overdue.contains(&lease.id)
        })
    }

    /// Those below the top of a family that are still there in the process of their client, which ends with it.
    pub fn subagents_of(&self, root: AgentId) -> Vec<AgentId> {
        let process = self.agent(root).and_then(|view| view.agent.process.as_ref());
        let is_below = |view: &&AgentView| {
            let agent = &view.agent;
            agent.root == root && agent.id != root && agent.ended_at.is_none()
        };
        let is_same = |view: &&AgentView| process.is_some() && view.agent.process.as_ref() == process;
        self.agents.iter().filter(is_below).filter(is_same).map(|view| view.agent.id).collect()
    }

    /// Takes in what a second reading found.
    pub fn merge(&mut self, other: Self) {
        for view in other.agents {
            if self.agent(view.agent.id).is_none() {
                self.agents.push(view);
            }
        }
        self.add_leases(other.leases);
        let unseen: Vec<String> =
            other.unreadable.into_iter().filter(|row| !self.unreadable.contains(row)).collect();
        self.unreadable.extend(unseen);
        self.refusal = self.refusal.take().or(other.refusal);
        if self.waits.is_empty() {
            self.waits = other.waits;
        }
        for negotiation in other.negotiations {
            if self.negotiation(negotiation.id).is_none() {
                self.negotiations.push(negotiation);
            }
        }
        if self.unreadable_waits.is_empty() {
            self.unreadable_waits = other.unreadable_waits;
        }
        self.mail.merge(other.mail);
    }

    /// Takes in leases, each once. The first write after a boot reads every lease there is, so no lease is looked for
    /// among all the others.
    pub fn add_leases(&mut self, leases: impl IntoIterator<Item = Lease>) {
        let mut known: BTreeSet<LeaseId> = self.leases.iter().map(|lease| lease.id).collect();
        self.leases.extend(leases.into_iter().filter(|lease| known.insert(lease.id)));
    }

    /// Counts what was read and nothing else: with the boot of the machine everything else is over.
    pub fn count_only_what_was_read(&mut self) {
        let live: Vec<&Lease> = self.leases.iter().filter(|lease| lease.ended.is_none()).collect();
        let count =
            |counts: &dyn Fn(&Lease) -> bool| live.iter().filter(|lease| counts(lease)).count() as u64;
        self.scope.live_leases = live.len() as u64;
        self.scope.root_patterns = count(&|lease| lease.target.is_root_level());
        for view in &mut self.agents {
            view.live_leases = count(&|lease| lease.holder == view.agent.id);
        }
    }

    /// What is around those who wait, where a turn may have come or passed on: both depend on what stands in whose way.
    /// `None` where everybody who waits has the turn.
    pub fn around_turns(&self, now: &Now) -> Option<ReadSet> {
        let is_open = |view: &WaitView| view.wait.offered_until.is_none() || view.offer_lapsed(now.mono);
        self.waits.iter().any(is_open).then(|| ReadSet::around(&self.waits))
    }

    /// The lease with this id.
    pub fn lease(&self, id: LeaseId) -> Option<&Lease> {
        self.leases.iter().find(|lease| lease.id == id)
    }
}

/// A scope's own row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScopeState {
    /// The seq of its last event; zero before the first.
    pub rev: Seq,
    /// Which boot its fences belong to.
    pub epoch: Epoch,
    /// The clock its deadlines are read from.
    pub boot: Option<BootKey>,
    /// Whether names that differ in case only are one.
    pub fold: Fold,
    /// Live leases.
    pub live_leases: u64,
    /// Live leases that are candidates of every request.
    pub root_patterns: u64,
    /// Places in the queue.
    pub live_waits: u64,
    /// Until when and why no new path leases of agents are admitted.
    pub frozen: Option<Freeze>,
    /// Events the witness beside the log remembers and the log has lost.
    pub lost_tail: u64,
}

impl ScopeState {
    /// Whether its deadlines are read from the clock of this boot.
    pub fn is_of(&self, boot: &BootKey) -> bool {
        self.boot.as_ref() == Some(boot)
    }

    /// Whether the log ends too early, and no start of the machine explains that.
    pub fn has_lost_tail(&self, now: &Now) -> bool {
        self.lost_tail > 0 && self.is_of(&now.boot)
    }

    /// What is to be said of a log that ends too early.
    pub fn tail_is_lost(&self) -> String {
        let events = if self.lost_tail == 1 { "later event is" } else { "later events are" };
        format!("the log ends at {}, but {} {events} remembered", self.rev, self.lost_tail)
    }

    /// The pause that is neither over nor of another boot.
    pub fn frozen_at(&self, now: &Now) -> Option<&Freeze> {
        self.frozen.as_ref().filter(|freeze| self.is_of(&now.boot) && now.mono < freeze.until)
    }
}

/// A pause that an operator ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Freeze {
    /// Until when.
    pub until: Mono,
    /// Why.
    pub reason: String,
}

/// An agent with what is softly known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentView {
    /// The agent.
    pub agent: Agent,
    /// Its last sign of life in this boot.
    pub sign: Option<SignOfLife>,
    /// Live leases it holds.
    pub live_leases: u64,
    /// The shortest silence among them, by which a decision tells how often a sign of life has to be noted.
    pub shortest_ttl_ms: Option<u64>,
    /// What else is remembered of it in this boot.
    pub memo: Memo,
}

/// Everybody of the family of a root, which is one for commits and for what a call wrote.
pub fn household(root: AgentId, views: &[AgentView]) -> BTreeSet<AgentId> {
    views.iter().filter(|view| view.agent.root == root).map(|view| view.agent.id).collect()
}

impl AgentView {
    /// When it was last seen in this boot.
    pub fn last_seen(&self) -> Option<Mono> {
        self.sign.and_then(SignOfLife::seen)
    }

    /// The last sign of life that tells of work; whoever's turn ended is not at it.
    pub fn at_work(&self) -> Option<Mono> {
        self.last_seen().filter(|_| !self.memo.resting)
    }
}

/// What is remembered of an agent that its client's hooks speak for. Soft: nothing is lost with it but comfort.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memo {
    /// Whether its turn ended, and it did nothing since.
    pub resting: bool,
    /// Leases that a running tool call is about to use, and until when that is believed; of one that is over, when it was.
    pub in_hand: Vec<(LeaseId, Mono)>,
    /// Files that everybody writes and that a tool call of this agent is about to write.
    pub writing: Vec<Writing>,
    /// Files it edited under a claim of which paths make way, and until when that counts.
    pub edited: Vec<Writing>,
    /// Files with changes that it left behind when it ended, and that are its own again if it comes back.
    pub left: Vec<(Worktree, String)>,
    /// What it is to be told, oldest first.
    pub notes: Vec<Note>,
    /// Since when it was told how many things.
    pub told_since: Mono,
    /// How many.
    pub told: u32,
    /// When it last wrote to everybody, oldest first.
    pub broadcasts: Vec<Mono>,
    /// When it took leases of others by force, lately.
    pub forced: Vec<Mono>,
    /// Edits of it that were refused lately.
    pub refused: Vec<RefusedEdit>,
    /// Files of it that others wrote, as far as that was told and it did not edit them since.
    pub overwritten: Vec<Overwritten>,
    /// Who waited for something of it when it was last reminded at the end of its turn.
    pub reminded: Vec<WaitId>,
}

/// A file that somebody holds and somebody else wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overwritten {
    /// The lease on it.
    pub lease: LeaseId,
    /// Which file.
    pub path: String,
    /// Who wrote it; `None` if that cannot be told.
    pub by: Option<AgentId>,
}

/// A file that a tool call writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writing {
    /// Its canonical path.
    pub path: String,
    /// In which checkout.
    pub worktree: Worktree,
    /// Until when that is believed.
    pub until: Mono,
}

impl Writing {
    /// Each of these, until then.
    pub fn all<'a>(
        targets: &'a [Target],
        worktree: &'a Worktree,
        until: Mono,
    ) -> impl Iterator<Item = Self> + 'a {
        let writing = move |target: &Target| Self {
            path: target.canonical().to_owned(),
            worktree: worktree.clone(),
            until,
        };
        targets.iter().map(writing)
    }

    /// Whether it is one of these.
    pub fn is_of(&self, targets: &[Target], worktree: &Worktree) -> bool {
        self.worktree == *worktree && targets.iter().any(|target| target.canonical() == self.path)
    }
}

/// Something an agent is to be told at its next tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Somebody waits for what it holds.
    WaitedFor(WaitId),
    /// Its own turn has come.
    Turn(WaitId),
    /// Its turn came as often as turns are kept and was never taken, so that it waits no more.
    PlaceOver {
        /// For what it waited.
        target: String,
    },
    /// What it held went to somebody else.
    PassedOn {
        /// What.
        target: String,
        /// To whom.
        to: AgentName,
        /// The snapshot of what it left there uncommitted.
        kept: Option<Seq>,
    },
    /// What it holds changed, and not by an edit of its own.
    WrittenOver {
        /// What.
        target: String,
        /// During whose call; `None` if that cannot be told.
        by: Option<AgentName>,
    },
    /// What it holds is in a commit that the check never saw.
    CommittedUnchecked {
        /// What.
        target: String,
        /// Which commit.
        commit: String,
        /// Who made it; `None` if that cannot be told.
        by: Option<AgentName>,
    },
    /// A call of its own changed what somebody else holds.
    WroteOver {
        /// What.
        target: String,
        /// Who holds it.
        holder: AgentName,
    },
    /// Somebody asks for what it holds.
    Asked(NegotiationId),
    /// The holder answered what it asked for.
    Answered {
        /// For what.
        target: String,
        /// Who holds it.
        holder: AgentName,
        /// What was said.
        answer: Answer,
    },
    /// A request that it made, or that was made to it, was not settled in time.
    Overdue(NegotiationId),
    /// What it held was taken from it by force.
    Forced {
        /// What.
        target: String,
        /// By whom.
        by: AgentName,
        /// For whom.
        to: AgentName,
        /// Why.
        reason: String,
        /// The snapshot of what it left there uncommitted.
        kept: Option<Seq>,
    },
    /// What it asked for was taken for it by force.
    Taken {
        /// What.
        target: String,
        /// From whom.
        from: AgentName,
        /// The snapshot of what that one left there uncommitted.
        kept: Option<Seq>,
    },
    /// A person lets it go on.
    Continued {
        /// Why.
        reason: String,
    },
    /// What it asked for is its own: it was granted when it was let go.
    Granted {
        /// What.
        target: String,
        /// Who had it.
        from: AgentName,
    },
    /// Somebody would have waited for it while it waits for that one.
    Circle {
        /// What it holds of those who wait round and round.
        target: String,
        /// Who asked for that.
        by: AgentName,
        /// Who had best give back what.
        yielder: Option<(AgentName, String)>,
    },
    /// It has mail.
    Mail(Announced),
}

/// Mail that an agent is to be told of, in what is worth saying of it without looking at it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announced {
    /// Who wrote the message that matters most, and of those the latest.
    pub from: AgentName,
    /// What it is about.
    pub about: String,
    /// How soon it wants to be read.
    pub importance: Importance,
    /// Whether it is to be acknowledged.
    pub wants_ack: bool,
    /// How many messages came since the agent last looked.
    pub count: u32,
}

/// What a holder said to who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is let go with the next commit.
    AfterCommit,
    /// It takes until then.
    Later(Mono),
    /// No, and why.
    No(String),
    /// Somebody else has it now, who is asked instead.
    HandedTo(AgentName),
    /// Nothing: the place that was kept meanwhile is kept no longer, and the request is over.
    Outlasted,
}

/// A refusal that was recorded, and how often the same came again since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusalMemory {
    /// Who was refused: an agent id, or a word for callers without one.
    pub principal: String,
    /// What was refused, by whom.
    pub key: String,
    /// When it was recorded.
    pub since: Mono,
    /// How often since.
    pub repeats: u64,
}

impl RefusalMemory {
    /// How a principal is written: its agent id, or a word for callers without one.
    pub fn principal(agent: Option<AgentId>) -> String {
        agent.map_or_else(|| "nobody".to_owned(), |id| id.to_string())
    }
}

/// Changes of soft state: neither hashed nor folded, and never a reason for an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Soft {
    /// An agent gave a sign of life.
    Seen {
        /// Who.
        agent: AgentId,
        /// When.
        at: Mono,
    },
    /// A refusal to remember.
    Refused(RefusalMemory),
    /// What is remembered of an agent from now on.
    Noted {
        /// Whom.
        agent: AgentId,
        /// What.
        memo: Memo,
    },
    /// A waiting process said that it still waits.
    Heard {
        /// Where it waits.
        wait: WaitId,
        /// When.
        at: Mono,
    },
    /// The text of a message that an event of the same decision records. It lies beside the log, which has its digest.
    MailText {
        /// Which.
        message: Seq,
        /// Its text.
        text: String,
    },
}

impl ReadSet {
    /// Without what only the records of a decision need: who held a path before, and the last refusal.
    #[must_use]
    pub fn for_the_answer_alone(self) -> Self {
        Self { history: Vec::new(), refusals_of: None, ..self }
    }

    /// What stands in the way of those who wait. Whether a path changed hands matters to whoever gets it, not to whoever
    /// waits.
    pub fn around<'a>(waits: impl IntoIterator<Item = &'a WaitView>) -> Self {
        let mut read = Self::default();
        for WaitView { wait, .. } in waits {
            read.surveyed.insert(wait.id);
            read.meet_all(&wait.wanted);
        }
        read.history.clear();
        read
    }

    /// Adds what a request may meet.
    pub fn meet_all(&mut self, reserve: &Reserve) {
        reserve.wants.iter().for_each(|want| self.meet(&reserve.worktree, &want.target));
    }

    /// Adds what a request for `target` in `worktree` may meet.
    pub fn meet(&mut self, worktree: &Worktree, target: &Target) {
        match target {
            Target::Name(name) => self.names.push(name.clone()),
            Target::Path(pattern) => {
                self.overlapping.push((worktree.clone(), pattern.clone()));
                if pattern.as_literal().is_some() {
                    self.history.push((worktree.clone(), pattern.clone()));
                }
            }
        }
    }
}
