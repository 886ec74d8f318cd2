//! One caller in one scope, with its configuration and its store.

use crate::config::{Config, LeaseDurability};
use crate::failures::store_failure;
use crate::ground::{Ground, gone, ground};
use crate::outside::{Outside, StoreAt};
use crate::placing::Record;
use crate::site::Site;
use crate::{audit, identity, outage};
use clearway_core::agent::{Caller, ClientSession};
use clearway_core::command::{Command, Request};
use clearway_core::decide::Notice;
use clearway_core::event::{Body, Durability};
use clearway_core::facts::{FactQuery, Facts, Process};
use clearway_core::failure::Failure;
use clearway_core::ids::{ScopeKey, Seq};
use clearway_core::input::idempotency_key;
use clearway_core::limits::EVENTS_PER_READ;
use clearway_core::slug::Slug;
use clearway_store::contract::{Engine, LeaseListing, Snapshot, StoreError};
use clearway_store::{Reply, Rules, World, execute, preview};
use clearway_wire::canonical;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// The flags every verb takes.
#[derive(Clone, Debug, Default)]
pub struct Globals {
    /// `-C`: act as if started there.
    pub directory: Option<PathBuf>,
    /// `--store`.
    pub store: Option<String>,
    /// `--agent`.
    pub agent: Option<String>,
    /// `--scope`: a scope by its key.
    pub scope: Option<String>,
    /// `--timeout`.
    pub timeout: Option<String>,
    /// `--idempotency-key`.
    pub idempotency_key: Option<String>,
    /// The hook that calls, if one does.
    pub hook: Option<Hook>,
}

/// A call of a client's hook.
#[derive(Clone, Debug)]
pub struct Hook {
    /// The session that the client named.
    pub session: ClientSession,
    /// Whether the agent hears what is said beside the answer.
    pub hears: bool,
    /// Whether the session begins as a branch of the one that its process had.
    pub forks: bool,
    /// The processes, dead by now, in which the session was begun before and its agent went on since.
    pub earlier: Vec<Process>,
}

/// A caller at work.
pub struct Session<'a> {
    pub(crate) outside: &'a mut dyn Outside,
    pub(crate) engine: Box<dyn Engine>,
    pub(crate) rules: Rules,
    /// Where it was started, or is to act as if it was.
    pub(crate) start: PathBuf,
    /// The key that the place alone would have, adopted or not.
    pub(crate) own_key: ScopeKey,
    /// Where it acts.
    pub site: Site,
    /// Under which settings.
    pub config: Config,
    /// Who it may be.
    pub caller: Caller,
    /// What to say beside every answer to what was asked.
    pub(crate) notices: Vec<Notice>,
    /// What was remembered of the scope's directory when the session began.
    pub(crate) record: Option<Record>,
    place_noted: bool,
    idempotency_key: Option<String>,
    /// Why there is no scope where it was started: it then stands in that of the machine.
    pub(crate) no_scope: Option<Failure>,
}

impl std::fmt::Debug for Session<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Session").field("site", &self.site).field("caller", &self.caller).finish()
    }
}

impl<'a> Session<'a> {
    /// Finds the scope, resolves the configuration and opens the store. Nothing is created.
    pub fn open(outside: &'a mut dyn Outside, globals: &Globals) -> Result<Self, Failure> {
        let ground = ground(outside, globals)?;
        Self::on(outside, globals, ground)
    }

    /// A caller on its ground.
    pub(crate) fn on(
        outside: &'a mut dyn Outside,
        globals: &Globals,
        ground: Ground,
    ) -> Result<Self, Failure> {
        let Ground { start, own_key, site, record, config, engine } = ground;
        let caller = identity::caller(outside, config.agent(), globals.hook.as_ref())?;
        let durability = match config.lease_durability() {
            LeaseDurability::Normal => Durability::Normal,
            LeaseDurability::Full => Durability::Full,
        };
        let rules = Rules { durability, ..Rules::default() };
        let idempotency_key = globals.idempotency_key.as_deref().map(idempotency_key).transpose()?;
        let (notices, place_noted) = (Vec::new(), false);
        Ok(Self {
            outside,
            engine,
            rules,
            start,
            own_key,
            site,
            config,
            caller,
            notices,
            record,
            place_noted,
            idempotency_key,
            no_scope: None,
        })
    }

    /// The same for a look that needs no scope: where there is none, and none was named, it stands in that of the
    /// machine and knows why.
    pub fn open_anywhere(outside: &'a mut dyn Outside, globals: &Globals) -> Result<Self, Failure> {
        let is_free = globals.scope.is_none() && globals.directory.is_none();
        let no_scope = match ground(outside, globals) {
            Err(failure) if failure.slug == Slug::NoScope && is_free => failure,
            Err(failure) => return Err(failure),
            Ok(ground) => return Self::on(outside, globals, ground),
        };
        // A relative store lies where the caller stands, scope or not.
        let directory = outside.surroundings().cwd.is_none().then(|| PathBuf::from("/"));
        let machine = Globals { scope: Some(ScopeKey::machine().to_string()), directory, ..globals.clone() };
        Ok(Self { no_scope: Some(no_scope), ..Self::open(outside, &machine)? })
    }

    /// Claims an operator's authority for what follows. Whether the caller has it is decided with the command, so
    /// that a refusal is on record.
    pub fn act_as_operator(&mut self, reason: &str) -> Result<(), Failure> {
        let at_terminal = identity::is_at_terminal(self.outside.surroundings());
        self.operate(reason, at_terminal)
    }

    /// The same of somebody who typed a command of git: that hands its hooks no standard input, so that the terminal they
    /// are controlled from is asked for instead.
    pub(crate) fn act_as_operator_in_hook(&mut self, reason: &str) -> Result<(), Failure> {
        let speaks = self.outside.surroundings().stderr_is_terminal;
        let at_terminal = speaks && self.outside.terminal_session().is_some();
        self.operate(reason, at_terminal)
    }

    fn operate(&mut self, reason: &str, at_terminal: bool) -> Result<(), Failure> {
        let holds_key = audit::presented_key(self.outside)?;
        let act = identity::operator_act(reason, at_terminal, holds_key)?;
        self.caller.ancestors = self.outside.ancestors();
        self.caller.sessions_above = self.outside.set_above(&identity::session_variables());
        self.caller.operator = Some(act);
        Ok(())
    }

    /// Lets nobody but an operator pass, and records who else tried.
    pub(crate) fn vouch(&mut self) -> Result<(), Failure> {
        self.act_as_operator("to vouch for the log")?;
        let key = self.site.key.clone();
        match self.preview_in(&key, Command::Anchor)?.outcome {
            Err(failure) if failure.slug == Slug::NotOperator => {
                self.command(Command::Anchor)?.outcome?;
                Err(failure)
            }
            answer => answer.map(|_| ()),
        }
    }

    /// From here on every request is one of its own.
    pub(crate) fn forget_idempotency_key(&mut self) {
        self.idempotency_key = None;
    }

    /// What runs again each time cannot be answered from memory.
    pub(crate) fn refuse_idempotency_key(&self) -> Result<(), Failure> {
        match self.idempotency_key {
            None => Ok(()),
            Some(_) => {
                Err(Failure::new(Slug::Usage, "--idempotency-key has no meaning for a command that is run")
                    .hint("leave it out"))
            }
        }
    }

    pub(crate) fn idempotency_key(&self) -> Option<&str> {
        self.idempotency_key.as_deref()
    }

    /// Whoever called reads what this answers, so that what was kept for an agent without hooks may stand beside it. What is
    /// done on behalf of a running command, or on the way to an answer, is read by nobody. A hook says by itself what is heard.
    pub(crate) fn heard<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.caller.hears;
        self.caller.hears |= !self.caller.hook;
        let answer = act(self);
        self.caller.hears = before;
        answer
    }

    /// Executes a command.
    pub(crate) fn command(&mut self, command: Command) -> Result<Reply, Failure> {
        let key = self.site.key.clone();
        self.command_in(&key, command)
    }

    pub(crate) fn command_in(&mut self, scope: &ScopeKey, command: Command) -> Result<Reply, Failure> {
        let opens = command.opens_scope() && *scope == self.site.key;
        let takes = matches!(command, Command::Reserve(_) | Command::Await(_));
        let mut reply = self.put(execute, true, scope, command)?;
        self.notify_of(scope, &reply);
        self.name_kept(&mut reply);
        if takes && reply.outcome.is_ok() && !reply.replayed && !self.caller.hook {
            let names = outage::Names::of(scope, &self.config, &self.start);
            outage::was_written(self.outside, &names);
        }
        if let Some(around) = self.of_scope_around(scope, reply.began) {
            reply.outcome = reply.outcome.map_err(|failure| led_around(failure, &around));
            reply.notices.push(around);
        }
        reply.notices.extend(self.ignored_settings());
        if opens && reply.rev.0 > 0 && !std::mem::replace(&mut self.place_noted, true) {
            reply.notices.extend(self.note_place());
        }
        Ok(reply)
    }

    /// What whoever writes here had better know of a scope around this one; a hook is told of paths alone.
    fn of_scope_around(&mut self, scope: &ScopeKey, began: bool) -> Option<Notice> {
        match *scope == self.site.key {
            true if began => self.began_inside_another(),
            true if !self.caller.hook => self.held_around(),
            _ => None,
        }
    }

    fn ignored_settings(&self) -> impl Iterator<Item = Notice> {
        self.config.ignored().map(|(key, ignored)| Notice::SettingIgnored {
            key,
            value: ignored.value.to_string(),
            source: ignored.source.to_string(),
            kept: ignored.kept.to_string(),
        })
    }

    /// What a command would answer now. Nothing is written.
    pub(crate) fn preview_in(&mut self, scope: &ScopeKey, command: Command) -> Result<Reply, Failure> {
        self.put(preview, false, scope, command)
    }

    fn put(
        &mut self,
        how: Executor,
        keeps: bool,
        scope: &ScopeKey,
        command: Command,
    ) -> Result<Reply, Failure> {
        let request = Request {
            caller: self.caller.clone(),
            command,
            idempotency_key: self.idempotency_key.clone(),
            birth: self.birth_of(scope),
        };
        let mut world = Borrowed { outside: self.outside, keeps };
        let reply = match how(&mut *self.engine, &mut world, self.rules, scope, &request) {
            Ok(reply) => reply,
            Err(error @ StoreError::Full { .. }) => return Err(self.without_room(scope, &error)),
            Err(error) => return Err(store_failure(&error)),
        };
        let notices = [reply.notices, self.notices.clone()].concat();
        Ok(Reply { outcome: reply.outcome.map_err(|failure| self.at_root(failure)), notices, ..reply })
    }

    /// Whoever holds something can give it back even on a full disk.
    fn without_room(&mut self, scope: &ScopeKey, error: &StoreError) -> Failure {
        let failure = store_failure(error);
        match self.holds_something(scope) {
            true => failure.hint(
                "what little is left is kept for giving leases back, which still works: clearway release --all",
            ),
            false => failure,
        }
    }

    fn holds_something(&mut self, scope: &ScopeKey) -> bool {
        let Ok(survey) = self.survey_in(scope, LeaseListing::Live) else { return false };
        let Some(me) = survey.caller(&self.caller) else { return false };
        survey.leases().iter().any(|view| view.lease.holder == me.view.agent.id)
    }

    /// Whether the scope has begun: hooks act here.
    pub fn is_invited(&mut self) -> Result<bool, Failure> {
        self.engine.has(&self.site.key).map_err(|error| store_failure(&error))
    }

    /// A file that belongs to the scope and lies beside its store.
    pub(crate) fn file_beside_store(&mut self, suffix: &str) -> Result<PathBuf, Failure> {
        let store = StoreAt { url: self.config.store_url(), from: &self.start };
        self.outside.file_beside_store(store, &self.site.key, suffix)
    }

    /// Beside its store a scope remembers its directory. Where that is there and the store is not, what was held is not
    /// known, and nobody who found nothing is told that there is nothing.
    pub(crate) fn refuse_gone(&mut self, found: Seq) -> Result<(), Failure> {
        if found > Seq(0) || self.record.is_none() || self.read(|_| Ok(()))?.is_some() {
            return Ok(());
        }
        let store = self.file_beside_store("")?;
        Err(gone(&store.display().to_string()))
    }

    /// A decision names paths from the root. Where the caller stands elsewhere, a hint has to say so to work.
    pub(crate) fn at_root(&self, mut failure: Failure) -> Failure {
        let (cwd, here) = (self.site.cwd.display().to_string(), self.site.worktree());
        failure.hints.iter_mut().for_each(|hint| hint.run_from(&cwd, &here));
        failure
    }

    /// Reads from a consistent view; `None` if the scope has no store yet.
    pub(crate) fn read<T>(
        &mut self,
        act: impl FnOnce(&mut dyn Snapshot) -> Result<T, StoreError>,
    ) -> Result<Option<T>, Failure> {
        let key = self.site.key.clone();
        self.read_in(&key, act)
    }

    /// Reads from a snapshot of a scope; `None` if it does not exist.
    pub(crate) fn read_in<T>(
        &mut self,
        scope: &ScopeKey,
        act: impl FnOnce(&mut dyn Snapshot) -> Result<T, StoreError>,
    ) -> Result<Option<T>, Failure> {
        let snapshot = self.engine.snapshot(scope).map_err(|error| store_failure(&error))?;
        let Some(mut snapshot) = snapshot else { return Ok(None) };
        act(&mut *snapshot).map(Some).map_err(|error| store_failure(&error))
    }

    /// What is looked for, from the newest event of a part of a log that has it.
    pub(crate) fn find_event<T>(
        &mut self,
        scope: &ScopeKey,
        part: RangeInclusive<Seq>,
        mut pick: impl FnMut(Body) -> Option<T>,
    ) -> Result<Option<T>, Failure> {
        let (fold, before, mut last) = (self.site.fold, part.start().0.saturating_sub(1), part.end().0);
        let mut found = None;
        while found.is_none() && last > before {
            let after = last.saturating_sub(EVENTS_PER_READ as u64).max(before);
            let page =
                self.read_in(scope, |snapshot| snapshot.events(Seq(after), (last - after) as usize))?;
            found = page
                .iter()
                .flatten()
                .rev()
                .find_map(|stored| pick(canonical::decode(stored.seq, &stored.bytes, fold).ok()?.body));
            last = after;
        }
        Ok(found)
    }
}

/// What was not found here may be held in the scope around.
fn led_around(failure: Failure, around: &Notice) -> Failure {
    match around.about_place().filter(|_| failure.slug == Slug::NotFound) {
        Some((how_it_is, way_out)) => failure.hint(how_it_is).hint(way_out),
        None => failure,
    }
}

/// [`execute`] or [`preview`].
type Executor = fn(&mut dyn Engine, &mut dyn World, Rules, &ScopeKey, &Request) -> Result<Reply, StoreError>;

/// The outside seen as no more than the executor needs.
struct Borrowed<'a> {
    outside: &'a mut dyn Outside,
    /// Whether what somebody is about to take over is kept: not for who only asks what would be.
    keeps: bool,
}

impl World for Borrowed<'_> {
    fn now(&mut self) -> Result<clearway_core::time::Now, StoreError> {
        self.outside.now()
    }

    fn draw(&mut self, bytes: &mut [u8]) {
        self.outside.draw(bytes);
    }

    fn gather(&mut self, queries: &BTreeSet<FactQuery>, facts: &mut Facts) {
        if self.keeps {
            return self.outside.gather(queries, facts);
        }
        let is_kept = |query: &FactQuery| matches!(query, FactQuery::Keep(..));
        let (kept, others): (BTreeSet<_>, BTreeSet<_>) = queries.iter().cloned().partition(is_kept);
        for query in kept {
            if let FactQuery::Keep(worktree, path, _) = query {
                facts.learn_kept(worktree, path, None);
            }
        }
        self.outside.gather(&others, facts);
    }
}
