//! The verbs of the queue: keep a place, wait at it, look at it, leave it.

use crate::failures::store_failure;
use crate::mutations::{ReserveWords, lasting};
use crate::session::Session;
use crate::waiting::{AtEnd, Place, Watcher};
use clearway_core::agent::Client;
use clearway_core::command::{Await, Command, Leave, Stay, Want};
use clearway_core::decide::{Success, standing_queue};
use clearway_core::event::Body;
use clearway_core::failure::{Failure, LeaseView};
use clearway_core::hint::WAITS;
use clearway_core::ids::{AgentId, ScopeKey, Seq, WaitId};
use clearway_core::input::wait_span_ms;
use clearway_core::lease::Lease;
use clearway_core::limits::WAIT_MS_MAX;
use clearway_core::slice::{ReadSet, Slice};
use clearway_core::slug::Slug;
use clearway_core::target::{Target, Worktree};
use clearway_core::text::quoted;
use clearway_core::time::Now;
use clearway_core::wait::{Queued, Wait, WaitEnd, WaitView, position};
use clearway_store::contract::{LeaseListing, Snapshot, StoreError};
use clearway_store::{Lacking, Reply, with_facts};
use std::collections::BTreeSet;

/// The queue as it looks.
#[derive(Clone, Debug)]
pub struct Waits {
    /// The revision looked at.
    pub rev: Seq,
    /// The instant.
    pub now: Now,
    /// In the order of places.
    pub waits: Vec<Queued>,
    /// Those in the scope of the machine that are the caller's, and those for what it holds or waits for there.
    pub machine_wide: Vec<Queued>,
    /// Others there.
    pub elsewhere: u64,
}

impl Session<'_> {
    /// Takes leases, or a place in the queue for them.
    pub fn reserve_or_queue(&mut self, words: &ReserveWords) -> Result<Reply, Failure> {
        let (scope, reserve) = self.reservation(words)?;
        let request = Await { reserve, stay: Stay::Durable, wait_ms: WAIT_MS_MAX, wait: None };
        let reply = self.heard(|session| session.command_in(&scope, Command::Await(request)))?;
        lasting(reply, words.ttl.as_deref())
    }

    /// Takes leases, waiting for them if need be. `None` waits as long as the calling client allows.
    pub fn reserve_or_wait(
        &mut self,
        words: &ReserveWords,
        wait: Option<&str>,
        watch: &mut Watcher<'_>,
    ) -> Result<Reply, Failure> {
        let wait_ms =
            self.patience_ms(wait, "--wait", "keep a place without waiting: clearway reserve --queue …")?;
        let (scope, reserve) = self.reservation(words)?;
        let wait =
            |session: &mut Self| session.wait_for(&scope, &reserve, None, wait_ms, AtEnd::Queue, watch);
        let reply = self.heard(wait)?;
        lasting(reply, words.ttl.as_deref())
    }

    /// Waits at a place the caller has.
    pub fn wait(
        &mut self,
        id: Option<&str>,
        wait: Option<&str>,
        watch: &mut Watcher<'_>,
    ) -> Result<Reply, Failure> {
        let wait_ms = self.patience_ms(wait, "--for", "your place is kept without waiting, too")?;
        let id = id.map(wait_id).transpose()?;
        if let Some(reply) = self.answered_before(id)? {
            return Ok(reply);
        }
        let (scope, Wait { id, wanted, .. }, seen) = match (self.own_wait(id), id) {
            (Err(failure), Some(id)) if failure.slug == Slug::NotFound => {
                return self.got_before(id, failure);
            }
            (own, _) => own?,
        };
        let place = Place { wait: id, seen };
        self.heard(|session| session.wait_for(&scope, &wanted, Some(place), wait_ms, AtEnd::Queue, watch))
    }

    /// What a wait that is over got, if its agent holds all of it still: to wait for that again changes nothing.
    fn got_before(&mut self, id: WaitId, otherwise: Failure) -> Result<Reply, Failure> {
        for scope in [self.site.key.clone(), ScopeKey::machine()] {
            let survey = self.survey_in(&scope, LeaseListing::Live)?;
            let Some(me) = survey.caller(&self.caller).map(|seen| seen.view.agent.id) else { continue };
            let log = Seq(1)..=survey.rev();
            let is_it = |body: &Body| granted_wait(body, me) == Some(id);
            if self.find_event(&scope, log.clone(), |body| is_it(&body).then_some(()))?.is_none() {
                continue;
            }
            let began = |body: Body| match body {
                Body::WaitBegan(wait) if wait.id == id => Some(wait),
                _ => None,
            };
            let Some(Wait { wanted, .. }) = self.find_event(&scope, log, began)? else { continue };
            let holds = |want: &Want| {
                let is_own = |view: &LeaseView| {
                    let Lease { holder, mode, bound, ended, .. } = &view.lease;
                    (*holder == me && *mode >= wanted.mode && *bound == wanted.bound && ended.is_none())
                        && view.lease.is_in(&wanted.worktree)
                        && view.lease.covers(&want.target)
                };
                survey.leases().iter().any(is_own)
            };
            if wanted.wants.iter().all(holds) {
                return self.command_in(&scope, Command::Reserve(wanted));
            }
        }
        Err(otherwise)
    }

    /// The answer to an equal wait under the same key. Its place is gone since it was granted, so it is not looked for
    /// among those that the caller has.
    fn answered_before(&mut self, id: Option<WaitId>) -> Result<Option<Reply>, Failure> {
        let Some(key) = self.idempotency_key().map(str::to_owned) else { return Ok(None) };
        for scope in [self.site.key.clone(), ScopeKey::machine()] {
            if let Some(wait) = self.wait_granted_under(&key, &scope, id)? {
                let again = Await { reserve: wait.wanted, stay: Stay::Last, wait_ms: 0, wait: Some(wait.id) };
                return self.command_in(&scope, Command::Await(again)).map(Some);
            }
        }
        Ok(None)
    }

    /// The caller's wait, as it began, whose grant is remembered under a key.
    fn wait_granted_under(
        &mut self,
        key: &str,
        scope: &ScopeKey,
        id: Option<WaitId>,
    ) -> Result<Option<Wait>, Failure> {
        let Some((me, _)) = self.me_in(scope)? else { return Ok(None) };
        let (now, fold) = (self.now()?, self.site.fold);
        let remembered = self.read_in(scope, |snapshot| snapshot.recall(me, key, &now))?.flatten();
        let Some(remembered) = remembered else { return Ok(None) };
        let Ok(Success::Reserved { leases, .. }) = remembered.success(fold) else { return Ok(None) };
        // A grant and the end of the wait for it are of one transaction.
        let granted = leases.iter().map(|view| view.lease.fence.seq).max().unwrap_or(remembered.rev);
        let mut over = BTreeSet::new();
        self.find_event(scope, granted..=remembered.rev, |body| {
            over.extend(granted_wait(&body, me).filter(|wait| id.is_none_or(|id| id == *wait)));
            None::<()>
        })?;
        if over.is_empty() {
            return Ok(None);
        }
        self.find_event(scope, Seq(1)..=remembered.rev, |body| match body {
            Body::WaitBegan(wait) if over.remove(&wait.id) => {
                Some(wait).filter(|wait| remembered.is_of(&Command::Reserve(wait.wanted.clone())))
            }
            _ => None,
        })
    }

    /// Leaves the queue, at these places or wherever the caller waits.
    pub fn leave(&mut self, ids: &[String]) -> Result<Reply, Failure> {
        let waits: Vec<WaitId> = ids.iter().map(|text| wait_id(text)).collect::<Result<_, _>>()?;
        if waits.is_empty() {
            let all = Command::Leave(Leave { waits: None });
            return self.heard(|session| session.command_everywhere(all.clone(), all));
        }
        let scopes = self.scopes_of_waits(&waits)?;
        let scope = self.one_scope(scopes)?;
        self.refuse_unknown(&scope, &waits)?;
        let leave = Command::Leave(Leave { waits: Some(waits) });
        self.heard(|session| session.command_in(&scope, leave))
    }

    /// A place that was given up before may be given up again; one that never was is a slip of the pen.
    fn refuse_unknown(&mut self, scope: &ScopeKey, ids: &[WaitId]) -> Result<(), Failure> {
        let Waits { rev, waits, .. } = self.waits_in(scope)?;
        let waits_there = |id: &WaitId| waits.iter().any(|queued| queued.wait.id == *id);
        let mut unknown: BTreeSet<WaitId> = ids.iter().copied().filter(|id| !waits_there(id)).collect();
        if !unknown.is_empty() {
            self.find_event(scope, Seq(1)..=rev, |body| {
                let Body::WaitBegan(wait) = body else { return None };
                unknown.remove(&wait.id);
                unknown.is_empty().then_some(())
            })?;
        }
        unknown.first().map_or(Ok(()), |id| Err(nobody_at(*id)))
    }

    /// Lists who waits for what here, and who waits machine-wide for what concerns the caller.
    pub fn waits(&mut self) -> Result<Waits, Failure> {
        let key = self.site.key.clone();
        let there = self.machine_wide(LeaseListing::Live)?;
        Ok(Waits { machine_wide: there.queue(), elsewhere: there.others_wait, ..self.waits_in(&key)? })
    }

    pub(crate) fn waits_in(&mut self, scope: &ScopeKey) -> Result<Waits, Failure> {
        let now = self.now()?;
        let read = ReadSet { waits: true, ..ReadSet::default() };
        let slice = self.read_in(scope, |snapshot| with_queue(snapshot, &read, &now))?.unwrap_or_default();
        let waits = self.queued(&slice, &now)?;
        Ok(Waits { rev: slice.scope.rev, now, waits, machine_wide: Vec::new(), elsewhere: 0 })
    }

    /// The waits of a slice that are not over, with who waits and where.
    pub(crate) fn queued(&mut self, slice: &Slice, now: &Now) -> Result<Vec<Queued>, Failure> {
        let standing = with_facts(self.outside, |_, facts| {
            Ok(standing_queue(slice, facts, now).map_err(|facts| Lacking { facts, at: now.mono }))
        });
        let queue = standing.map_err(|error| store_failure(&error))?;
        let queued = |view: &WaitView| {
            let position = position(&view.wait, queue.iter().map(|other| &other.wait));
            let agent = slice.agent(view.wait.agent)?.agent.name.clone();
            Some(Queued { wait: view.wait.clone(), agent, position })
        };
        Ok(queue.iter().filter_map(queued).collect())
    }

    /// The wait that is meant, the scope it is in, and the revision it was seen at. An id may be one of the machine's
    /// scope.
    fn own_wait(&mut self, wanted: Option<WaitId>) -> Result<(ScopeKey, Wait, Seq), Failure> {
        let (scope, id) = match wanted {
            Some(id) => {
                let scopes = self.scopes_of_waits(&[id])?;
                (self.one_scope(scopes)?, id)
            }
            None => self.only_wait()?,
        };
        let me = self.me_in(&scope)?.map(|(id, _)| id);
        let Waits { rev, waits, .. } = self.waits_in(&scope)?;
        by_id(id, &waits, me).map(|wait| (scope, wait, rev))
    }

    fn only_wait(&mut self) -> Result<(ScopeKey, WaitId), Failure> {
        let me = self.me()?.map(|(id, _)| id);
        let machine_wide = self.machine_wide(LeaseListing::Live)?.waits;
        let key = self.site.key.clone();
        let mine = self.waits_in(&key)?.waits.into_iter().filter(|queued| Some(queued.wait.agent) == me);
        let here = mine.map(|queued| (self.site.key.clone(), queued));
        let there = machine_wide.into_iter().map(|queued| (ScopeKey::machine(), queued));
        let own: Vec<(ScopeKey, Queued)> = here.chain(there).collect();
        match own.as_slice() {
            [] => Err(Failure::new(Slug::NotFound, "you wait for nothing here")
                .hint("to wait for a reservation: clearway reserve --wait 5m PATTERN")),
            [(scope, only)] => Ok((scope.clone(), only.wait.id)),
            several => Err(choose_one(several, &self.site.worktree())),
        }
    }

    /// How long to wait: what was said, or what the calling client allows.
    pub(crate) fn patience_ms(
        &self,
        text: Option<&str>,
        flag: &str,
        otherwise: &str,
    ) -> Result<u64, Failure> {
        match text {
            Some(text) => wait_span_ms(text, flag, otherwise),
            None => Ok(self.client().patience_ms()),
        }
    }

    fn client(&self) -> Client {
        self.caller.session.as_ref().map_or(Client::Terminal, |session| session.client)
    }
}

/// What was asked for with the queue, and what is needed to tell how that stands.
pub(crate) fn with_queue(
    snapshot: &mut dyn Snapshot,
    read: &ReadSet,
    now: &Now,
) -> Result<Slice, StoreError> {
    let mut slice = snapshot.load(read, now)?;
    if let Some(around) = slice.around_turns(now) {
        slice.merge(snapshot.load(&around, now)?);
        slice.surveyed = around.surveyed;
    }
    Ok(slice)
}

/// The wait that got what this agent waited for.
fn granted_wait(body: &Body, of: AgentId) -> Option<WaitId> {
    match body {
        Body::WaitEnded { wait, agent, cause: WaitEnd::Granted, .. } if *agent == of => Some(*wait),
        _ => None,
    }
}

fn wait_id(text: &str) -> Result<WaitId, Failure> {
    WaitId::parse(text).ok_or_else(|| {
        Failure::new(Slug::InvalidId, format!("{} is no id of a wait", quoted(text)))
            .hint("an id is eight of a-z and 0-9, as listed by: clearway waits")
    })
}

fn by_id(id: WaitId, found: &[Queued], me: Option<AgentId>) -> Result<Wait, Failure> {
    let hint = WAITS;
    match found.iter().find(|queued| queued.wait.id == id) {
        Some(queued) if Some(queued.wait.agent) == me => Ok(queued.wait.clone()),
        Some(queued) => {
            let message = format!("it is {} that waits at {id}, not you", queued.agent);
            Err(Failure::new(Slug::NotHolder, message).hint(hint))
        }
        None => Err(nobody_at(id)),
    }
}

fn nobody_at(id: WaitId) -> Failure {
    Failure::new(Slug::NotFound, format!("nobody waits at {id}")).hint(WAITS)
}

fn choose_one(own: &[(ScopeKey, Queued)], here: &Worktree) -> Failure {
    let failure = Failure::new(Slug::Usage, format!("you wait for {} things; name one", own.len()));
    own.iter().take(8).fold(failure, |failure, (scope, queued)| {
        let wanted = &queued.wait.wanted;
        let targets: Vec<String> = wanted.wants.iter().map(|want| want.target.display()).collect();
        let has_path = wanted.wants.iter().any(|want| matches!(want.target, Target::Path(_)));
        let place = match *scope == ScopeKey::machine() {
            true => " (machine-wide)".to_owned(),
            false if has_path && wanted.worktree != *here => format!(" in {}", wanted.worktree.0),
            false => String::new(),
        };
        failure.hint(format!("for {}{place}: clearway wait {}", targets.join(" "), queued.wait.id))
    })
}
