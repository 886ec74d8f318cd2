//! Which scope a verb acts in. Names that the whole machine shares live in a scope of their own, and what is known
//! there by an id is meant wherever the id is typed. One command names one scope; only what means everything of the
//! caller's is two commands.

use crate::listings::AgentSeen;
use crate::mutations::usage;
use crate::session::Session;
use clearway_core::command::{Command, ScopeBirth};
use clearway_core::decide::Success;
use clearway_core::failure::{Failure, LeaseView};
use clearway_core::ids::{LeaseId, ScopeKey, WaitId};
use clearway_core::slice::ReadSet;
use clearway_core::target::Target;
use clearway_core::wait::Queued;
use clearway_store::Reply;
use clearway_store::contract::LeaseListing;

/// What the caller has in the scope of the machine, seen from another one.
#[derive(Clone, Debug, Default)]
pub struct MachineWide {
    /// Who the caller is there.
    pub me: Option<AgentSeen>,
    /// Its leases, in the order of their fences.
    pub leases: Vec<LeaseView>,
    /// Its waits, in the order of places.
    pub waits: Vec<Queued>,
    /// Those of others for what it holds or waits for, in the order of places.
    pub rivals: Vec<Queued>,
    /// Leases of others.
    pub others_hold: u64,
    /// Waits of others for something else.
    pub others_wait: u64,
}

impl MachineWide {
    /// Whether it has nothing there.
    pub fn is_empty(&self) -> bool {
        self.leases.is_empty() && self.waits.is_empty()
    }

    /// The part of the queue that concerns the caller, in the order of places.
    pub fn queue(&self) -> Vec<Queued> {
        let mut queue: Vec<Queued> = self.waits.iter().chain(&self.rivals).cloned().collect();
        queue.sort_by_key(|queued| queued.wait.place);
        queue
    }
}

impl Session<'_> {
    /// Where a target lives.
    pub(crate) fn scope_of(&self, target: &Target) -> ScopeKey {
        match target {
            Target::Name(name) if self.config.resource(name.as_str()).machine => ScopeKey::machine(),
            _ => self.site.key.clone(),
        }
    }

    /// The one scope of everything a command names; the one here if it names nothing.
    pub(crate) fn one_scope(&self, scopes: impl IntoIterator<Item = ScopeKey>) -> Result<ScopeKey, Failure> {
        let mut scopes = scopes.into_iter();
        let first = scopes.next().unwrap_or_else(|| self.site.key.clone());
        match scopes.all(|scope| scope == first) {
            true => Ok(first),
            false => Err(usage(
                "some of these belong to the machine and some to this repository",
                "name them in two commands, for `with` one inside the other",
            )),
        }
    }

    /// Where leases are known: here, or else in the scope of the machine. What is known nowhere is asked for here.
    pub(crate) fn scopes_of_leases(&mut self, ids: &[LeaseId]) -> Result<Vec<ScopeKey>, Failure> {
        let there = self.leases_known_in(&ScopeKey::machine(), ids)?;
        let here = if there.is_empty() { Vec::new() } else { self.leases_known_in(&self.here(), ids)? };
        let scope = |id: &LeaseId| match there.contains(id) && !here.contains(id) {
            true => ScopeKey::machine(),
            false => self.here(),
        };
        Ok(ids.iter().map(scope).collect())
    }

    /// Where waits are known, in the same way.
    pub(crate) fn scopes_of_waits(&mut self, ids: &[WaitId]) -> Result<Vec<ScopeKey>, Failure> {
        let known = |waits: Vec<Queued>| waits.into_iter().map(|queued| queued.wait.id).collect::<Vec<_>>();
        let there = known(self.waits_in(&ScopeKey::machine())?.waits);
        let here = if there.is_empty() { Vec::new() } else { known(self.waits_in(&self.here())?.waits) };
        let scope = |id: &WaitId| match there.contains(id) && !here.contains(id) {
            true => ScopeKey::machine(),
            false => self.here(),
        };
        Ok(ids.iter().map(scope).collect())
    }

    /// What the caller has in the scope of the machine; nothing if that is the scope it acts in.
    pub(crate) fn machine_wide(&mut self, wanted: LeaseListing) -> Result<MachineWide, Failure> {
        if self.here() == ScopeKey::machine() {
            return Ok(MachineWide::default());
        }
        let survey = self.survey_in(&ScopeKey::machine(), wanted)?;
        let me = survey.caller(&self.caller);
        let id = me.as_ref().map(|me| me.view.agent.id);
        let is_own = |view: &LeaseView| Some(view.lease.holder) == id;
        let (leases, foreign): (Vec<_>, Vec<_>) = survey.leases().into_iter().partition(is_own);
        let (waits, others): (Vec<_>, Vec<_>) =
            survey.queue.into_iter().partition(|queued| Some(queued.wait.agent) == id);
        let concerns = |other: &Queued| {
            let wanted = &other.wait.wanted;
            let is_live = |view: &&LeaseView| view.lease.ended.is_none();
            let held = leases.iter().filter(is_live).any(|view| wanted.conflicts_with_lease(&view.lease));
            held || waits.iter().any(|own: &Queued| own.wait.wanted.meets(wanted))
        };
        let (rivals, others): (Vec<_>, Vec<_>) = others.into_iter().partition(concerns);
        let others_hold = foreign.iter().filter(|view| view.lease.ended.is_none()).count() as u64;
        Ok(MachineWide { me, leases, waits, rivals, others_hold, others_wait: others.len() as u64 })
    }

    /// Executes a command that means everything of the caller's: one here, one in the scope of the machine if it has
    /// something there. What would be refused in one of them is done in neither.
    pub(crate) fn command_everywhere(&mut self, here: Command, there: Command) -> Result<Reply, Failure> {
        let mut own = self.machine_wide(LeaseListing::Live)?;
        own.leases.retain(|view| view.lease.ended.is_none());
        // An earlier, equal request may have been about something there.
        let may_repeat = own.me.is_some() && self.idempotency_key().is_some();
        if own.is_empty() && !may_repeat || self.preview_in(&self.here(), here.clone())?.outcome.is_err() {
            return self.command(here);
        }
        let there = self.command_in(&ScopeKey::machine(), there)?;
        match there.outcome {
            Ok(_) => Ok(joined(self.command(here)?, there)),
            Err(failure) => Err(failure.hint("this is about what you have machine-wide: clearway status")),
        }
    }

    /// What a scope is, should a command be its first.
    pub(crate) fn birth_of(&self, scope: &ScopeKey) -> ScopeBirth {
        let machine = crate::Site::machine(self.site.cwd.clone());
        let site = if *scope == machine.key { &machine } else { &self.site };
        ScopeBirth { place: site.place.clone(), fold: site.fold }
    }

    fn here(&self) -> ScopeKey {
        self.site.key.clone()
    }

    fn leases_known_in(&mut self, scope: &ScopeKey, ids: &[LeaseId]) -> Result<Vec<LeaseId>, Failure> {
        let now = self.now()?;
        let read = ReadSet { leases: ids.to_vec(), ..ReadSet::default() };
        let slice = self.read_in(scope, |snapshot| snapshot.load(&read, &now))?.unwrap_or_default();
        Ok(slice.leases.iter().map(|lease| lease.id).collect())
    }
}

/// Two answers to one command as one. The revision is that of the scope here.
fn joined(mut here: Reply, there: Reply) -> Reply {
    here.agent = here.agent.or(there.agent);
    here.notices.extend(there.notices);
    if let (Ok(own), Ok(more)) = (&mut here.outcome, there.outcome) {
        join(own, more);
    }
    here
}

fn join(own: &mut Success, more: Success) {
    match (own, more) {
        (Success::Renewed(own), Success::Renewed(more))
        | (Success::Transferred(own), Success::Transferred(more)) => own.extend(more),
        (Success::Left { waits }, Success::Left { waits: more }) => waits.extend(more),
        (
            Success::Released { released, already, remaining },
            Success::Released { released: more, already: over, remaining: kept },
        ) => {
            released.extend(more);
            already.extend(over);
            remaining.extend(kept);
        }
        _ => {}
    }
}
