//! What the hooks of agents' clients ask and tell: may these files be written, what is the agent doing, is it still there.
//!
//! A hook names files, never patterns, and creates no scope: where nobody invited us it learns so before anything
//! else. What a client's payload looks like, and how an answer is written for it, is for an adapter.

use crate::attribution;
use crate::config::Mode;
use crate::earlier;
use crate::ground::{Ground, invited};
use crate::ledger::Ledger;
use crate::lines::{self, Wrote};
use crate::listings::Status;
use crate::outage::{is_over, trouble};
use crate::outside::{Destination, Outside};
use crate::session::{Globals, Hook, Session};
use crate::targets::Look;
use crate::touched;
use clearway_core::agent::{AgentName, ClientSession, client_process, needs_more_above};
use clearway_core::command::{
    Attend, Await, Command, Enter, LeaseRef, Release, Reserve, Selection, Stay, Want,
};
use clearway_core::decide::{Notice, Success};
use clearway_core::facts::Process;
use clearway_core::failure::{Details, Failure};
use clearway_core::ids::ScopeKey;
use clearway_core::input::idempotency_key;
use clearway_core::lease::{Grade, Mode as Sharing};
use clearway_core::limits::{TARGETS_PER_REQUEST_MAX, TTL_MS_AUTO, WAIT_MS_MAX};
use clearway_core::path::{CanonicalPath, PathClass};
use clearway_core::pattern::Pattern;
use clearway_core::slug::Slug;
use clearway_core::target::Target;
use clearway_store::Reply;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// How long a hook waits for a busy store: its client waits for it.
const STORE_WAIT: &str = "500ms";
/// How long a hook waits for a call of somebody else that writes a file of the class *common*; clients give it five
/// seconds in all.
const COMMON_WAIT_MS: u64 = 2_000;
/// How often it looks meanwhile: the end of a call rings nobody.
const COMMON_LOOK_MS: u64 = 100;
/// How far above a hook its client is looked for: shells may stand between them.
const ABOVE_MAX: usize = 6;

/// A call of a client's hook.
#[derive(Clone, Debug)]
pub struct HookCall {
    /// The session that the client named.
    pub session: ClientSession,
    /// Where the agent works.
    pub cwd: PathBuf,
    /// What tells a call that is made twice.
    pub key: Option<String>,
    /// Whether the agent hears what is said beside the answer.
    pub hears: bool,
    /// Whether the session begins as a branch of the one that its process had.
    pub forks: bool,
}

/// What a hook tells of its agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Its session begins, or goes on under another id.
    Starts,
    /// It is about to use a tool that writes nothing we know of.
    Calls,
    /// It is about to use a tool that does not say what it writes.
    Runs,
    /// It used such a tool.
    Ran,
    /// It used a tool, which wrote these files.
    Wrote(Vec<Wrote>),
    /// Its turn is over.
    Rests,
    /// Its session is over, or it was a subagent and is done.
    Ends,
}

/// What became of a request to write files: the answers of every scope touched that invited us, up to the first that
/// refuses.
#[derive(Debug)]
pub struct Gate {
    /// One for each scope.
    pub answers: Answers,
    /// What is to be done about a refusal: the strictest of those that there are.
    pub mode: Mode,
    /// Which of the answers it is.
    pub refused: Option<usize>,
}

impl Gate {
    fn open() -> Self {
        Self { answers: Answers::default(), mode: Mode::Observe, refused: None }
    }

    /// Takes note that the last answer is a refusal.
    fn refuse(&mut self, mode: Mode) {
        if self.refused.is_none() || mode > self.mode {
            self.refused = self.answers.of_scopes.len().checked_sub(1);
            self.mode = mode;
        }
    }
}

/// What one scope answered.
#[derive(Debug)]
pub struct ScopeAnswer {
    /// The answer.
    pub reply: Reply,
    /// Where the paths that it names start, unless the agent stands there.
    pub root: Option<String>,
}

/// The answers of scopes.
#[derive(Debug, Default)]
pub struct Answers {
    /// One for each.
    pub of_scopes: Vec<ScopeAnswer>,
    /// Whether a store answered that had failed before.
    pub recovered: bool,
    /// Where notes on the call belong: with the first that answered.
    pub(crate) ledger: Option<Ledger>,
}

impl Answers {
    fn add(&mut self, outside: &mut dyn Outside, call: &HookCall, place: Place, reply: Reply) {
        let Place { ledger, root } = place;
        self.recovered |= is_over(outside, &ledger.scope, !fresh(&reply).is_empty(), call.hears);
        self.of_scopes.push(ScopeAnswer { reply, root });
        self.ledger.get_or_insert(ledger);
    }

    /// Whom the call turned out to be of.
    pub fn agent(&self) -> Option<&AgentName> {
        self.of_scopes.iter().find_map(|answer| answer.reply.agent.as_ref()).map(|(_, name)| name)
    }
}

/// Where an answer comes from.
#[derive(Clone)]
struct Place {
    ledger: Ledger,
    root: Option<String>,
}

impl Place {
    fn of(ground: &Ground, call: &HookCall) -> Self {
        let root = ground.site.root.as_ref().filter(|root| **root != call.cwd);
        Self { ledger: Ledger::of(ground), root: root.map(|root| root.display().to_string()) }
    }
}

/// Takes a lease on every file that is about to be written, or a place in the queue where somebody else is at work.
pub fn before_edit(outside: &mut dyn Outside, call: &HookCall, files: &[String]) -> Result<Gate, Failure> {
    let files = destinations(outside, &call.cwd, files);
    let mut parts = parts(outside, &call.globals(), &files)?;
    if parts.is_empty() {
        return Ok(Gate::open());
    }
    let globals = call.globals_with_client(outside);
    parts.sort_by(|one, other| one.ground.site.key.cmp(&other.ground.site.key));
    let mut gate = Gate::open();
    let mut granted = Vec::new();
    for Part { ground, targets, brief, common } in parts {
        let (directory, place, mode) = (ground.start.clone(), Place::of(&ground, call), ground.config.mode());
        let root = ground.site.root.clone().unwrap_or_else(|| directory.clone());
        let mut session = Session::on(outside, &globals, ground)?;
        let taken =
            (!targets.is_empty()).then(|| session.take_for_edit(targets, &brief, mode)).transpose()?;
        let is_held = taken.as_ref().is_some_and(|reply| !is_granted(reply));
        let is_kept_out = is_held && mode == Mode::Enforce;
        let may_enter = !common.is_empty() && !is_kept_out;
        let entered = may_enter.then(|| session.write_common(&common, mode)).transpose()?;
        let new = taken.as_ref().map(fresh).unwrap_or_default();
        if let Some(hook) = globals.hook.as_ref().filter(|_| is_held || !new.is_empty())
            && touched::remember(outside, &hook.session, &root)
        {
            attribution::leave_trace(outside, &place.ledger.scope);
        }
        granted.push(Taken { directory, leases: new, common });
        let mut is_refused = false;
        for reply in taken.into_iter().chain(entered) {
            let refuses = reply.outcome.is_err() || matches!(reply.outcome, Ok(Success::Queued { .. }));
            gate.answers.add(outside, call, place.clone(), reply);
            if refuses {
                gate.refuse(mode);
            }
            is_refused |= refuses;
        }
        if is_refused && mode == Mode::Enforce {
            // What cannot be given back now yields to whoever asks for it; the refusal stands.
            drop(give_back(outside, &globals, granted));
            break;
        }
    }
    Ok(gate)
}

/// Takes note of what an agent is doing, in the scope it works in or those of the files it wrote. What there is to say
/// to it comes with the answers.
pub fn attend(outside: &mut dyn Outside, call: &HookCall, doing: &Doing) -> Result<Answers, Failure> {
    let attend = match doing {
        Doing::Wrote(files) if !files.is_empty() => return wrote(outside, call, files),
        Doing::Wrote(_) => Attend::Done {
            targets: Vec::new(),
            brief: Vec::new(),
            worktree: clearway_core::target::Worktree::default(),
        },
        Doing::Starts => Attend::Start,
        Doing::Calls | Doing::Runs => Attend::Call,
        Doing::Ran => Attend::Ran { hits: Vec::new() },
        Doing::Rests => Attend::Rest,
        Doing::Ends => Attend::End,
    };
    let mut answers = Answers::default();
    let leaves = matches!(doing, Doing::Rests | Doing::Ends);
    let here = welcome(outside, &call.globals(), &call.cwd)?;
    if here.is_none() && !leaves {
        return Ok(answers);
    }
    let mut globals = Globals { idempotency_key: None, ..call.globals_with_client(outside) };
    if let Some(hook) = globals.hook.as_mut().filter(|_| *doing == Doing::Starts) {
        hook.earlier = earlier::process_of(outside, &hook.session);
    }
    if let Some(ground) = here {
        attend_in(outside, call, &globals, ground, doing, attend.clone(), &mut answers)?;
    }
    attend_elsewhere(outside, call, &globals, doing, &attend, &mut answers);
    Ok(answers)
}

fn attend_in(
    outside: &mut dyn Outside,
    call: &HookCall,
    globals: &Globals,
    ground: Ground,
    doing: &Doing,
    attend: Attend,
    answers: &mut Answers,
) -> Result<(), Failure> {
    let (place, scope) = (Place::of(&ground, call), ground.site.key.clone());
    let mut session = Session::on(outside, globals, ground)?;
    let hits = if *doing == Doing::Ran { session.hits(&call.session)? } else { Vec::new() };
    let attend = match doing {
        Doing::Ran => Attend::Ran { hits: hits.iter().map(|(hit, _)| *hit).collect() },
        _ => attend,
    };
    let reply = session.command(Command::Attend(attend))?;
    for (hit, path) in hits {
        let by = reply.agent.as_ref().filter(|_| hit.explained).map(|(_, name)| name);
        place.ledger.note_written_over(outside, reply.now.wall, by, path);
    }
    let caller = attribution::caller(reply.agent.as_ref().map(|(id, _)| *id), &call.session);
    match doing {
        Doing::Runs => attribution::begin(outside, &scope, &caller),
        Doing::Ends => attribution::forget(outside, &scope, &caller),
        _ => {}
    }
    answers.add(outside, call, place, reply);
    Ok(())
}

/// The same in every other scope in which the session took leases or waits. One that cannot be asked keeps no other from
/// it, and is left to what is known of the process.
fn attend_elsewhere(
    outside: &mut dyn Outside,
    call: &HookCall,
    globals: &Globals,
    doing: &Doing,
    attend: &Attend,
    answers: &mut Answers,
) {
    let Some(session) = globals.hook.as_ref().map(|hook| hook.session.clone()) else { return };
    let mut done: BTreeSet<ScopeKey> = answers.ledger.iter().map(|ledger| ledger.scope.clone()).collect();
    // Where the session works was asked already: finding that out anew would cost every call of it.
    let was_asked = answers.ledger.is_some();
    let is_away = |directory: &PathBuf| !(was_asked && call.cwd.starts_with(directory));
    for directory in touched::directories(outside, &session).into_iter().filter(is_away) {
        let Ok(Some(ground)) = welcome(outside, globals, &directory) else { continue };
        if done.insert(ground.site.key.clone()) {
            drop(attend_in(outside, call, globals, ground, doing, attend.clone(), answers));
        }
    }
    if *doing == Doing::Ends && session.subagent.is_none() {
        touched::forget(outside, &session);
    }
}

/// Who else is where an agent begins to work; `None` where nobody invited us.
pub fn company(outside: &mut dyn Outside, call: &HookCall) -> Result<Option<(Status, Mode)>, Failure> {
    let globals = Globals { idempotency_key: None, ..call.globals() };
    let Some(ground) = welcome(outside, &globals, &call.cwd)? else { return Ok(None) };
    let mode = ground.config.mode();
    let status = Session::on(outside, &globals, ground)?.status()?;
    Ok(Some((status, mode)))
}

/// The arguments of a tool that name files, as the settings of the place have it where the agent works.
pub fn fields_of_tool(
    outside: &mut dyn Outside,
    call: &HookCall,
    tool: &str,
) -> Result<Vec<String>, Failure> {
    let ground = welcome(outside, &call.globals(), &call.cwd)?;
    let fields = |ground: Ground| ground.config.fields_of_tool(tool).map(str::to_owned).collect();
    Ok(ground.map(fields).unwrap_or_default())
}

/// The ground of a scope that invited us, unless its store failed a moment ago.
fn welcome(outside: &mut dyn Outside, globals: &Globals, start: &Path) -> Result<Option<Ground>, Failure> {
    let Some(ground) = invited(outside, globals, start)? else { return Ok(None) };
    match trouble(outside, &ground.site.key) {
        Some(trouble) => Err(trouble),
        None => Ok(Some(ground)),
    }
}

fn wrote(outside: &mut dyn Outside, call: &HookCall, wrote: &[Wrote]) -> Result<Answers, Failure> {
    let mut answers = Answers::default();
    let named: Vec<String> = wrote.iter().map(|wrote| wrote.file.clone()).collect();
    let files = destinations(outside, &call.cwd, &named);
    let parts = parts(outside, &call.globals(), &files)?;
    if parts.is_empty() {
        return Ok(answers);
    }
    let globals = &Globals { idempotency_key: None, ..call.globals_with_client(outside) };
    for Part { mut ground, mut targets, brief, common } in parts {
        targets.extend(common);
        let (worktree, place) = (ground.site.worktree(), Place::of(&ground, call));
        let put = put_into(outside, call, &mut ground, wrote);
        let attend = Command::Attend(Attend::Done { targets, brief, worktree: worktree.clone() });
        let reply = Session::on(outside, globals, ground)?.command(attend)?;
        if let Some((agent, _)) = &reply.agent {
            let by = (*agent, reply.now.wall);
            for (path, put) in &put {
                lines::note(outside, &place.ledger, by, &worktree, (path.as_str(), put));
            }
        }
        let caller = attribution::caller(reply.agent.as_ref().map(|(id, _)| *id), &call.session);
        attribution::end(outside, &place.ledger.scope, &caller);
        answers.add(outside, call, place, reply);
    }
    Ok(answers)
}

/// What a call put into files of a scope, as far as its client says.
fn put_into<'w>(
    outside: &mut dyn Outside,
    call: &HookCall,
    ground: &mut Ground,
    wrote: &'w [Wrote],
) -> Vec<(CanonicalPath, &'w [String])> {
    let mut put = Vec::new();
    for wrote in wrote.iter().filter(|wrote| !wrote.put.is_empty()) {
        let Ok(file) = outside.destination(&call.cwd, &wrote.file) else { continue };
        put.extend(path_in(outside, ground, &file.file).map(|path| (path, wrote.put.as_slice())));
    }
    put
}

/// Takes leases on files that a tool call changed without having named them, as far as they are free: the work is the
/// lease, however it was done. What others hold stays theirs, and what is not changed any more needs none.
pub fn keep_changed(outside: &mut dyn Outside, call: &HookCall, files: &[String]) -> Result<(), Failure> {
    let files = destinations(outside, &call.cwd, files);
    let parts = parts(outside, &call.globals(), &files)?;
    if parts.is_empty() {
        return Ok(());
    }
    let globals = unheard(&call.globals_with_client(outside));
    for Part { ground, targets, brief, .. } in parts {
        let worktree = ground.site.worktree();
        let root = ground.site.root.clone().unwrap_or_else(|| ground.start.clone());
        let mut session = Session::on(outside, &globals, ground)?;
        let kept = targets.into_iter().filter(|target| !brief.contains(target)).collect();
        let targets = session.changed_and_free(kept)?;
        if targets.is_empty() {
            continue;
        }
        let reserve = Reserve { best_effort: true, ..session.edit_of(targets.clone()) };
        let reply = session.command(Command::Reserve(reserve))?;
        let done = Attend::Done { targets, brief: Vec::new(), worktree };
        session.command(Command::Attend(done))?.outcome?;
        if let Some(hook) = globals.hook.as_ref().filter(|_| !fresh(&reply).is_empty()) {
            touched::remember(outside, &hook.session, &root);
        }
    }
    Ok(())
}

impl HookCall {
    /// What is enough to find out whether anybody invited us.
    pub(crate) fn globals(&self) -> Globals {
        self.globals_of(None)
    }

    /// The same with the process of the client, which takes a look at those above.
    fn globals_with_client(&self, outside: &mut dyn Outside) -> Globals {
        let told = self.session.client.process_variable();
        let told_pid = told.and_then(|name| outside.surroundings().variables.get(name)?.parse().ok());
        let above = outside.commands_above(ABOVE_MAX, &|above| needs_more_above(above, told_pid));
        self.globals_of(client_process(self.session.client, &above, told_pid).cloned())
    }

    fn globals_of(&self, process: Option<Process>) -> Globals {
        Globals {
            timeout: Some(STORE_WAIT.to_owned()),
            idempotency_key: self.key.clone().filter(|key| idempotency_key(key).is_ok()),
            hook: Some(Hook {
                session: ClientSession { process, ..self.session.clone() },
                hears: self.hears,
                forks: self.forks,
                earlier: None,
            }),
            ..Globals::default()
        }
    }
}

/// The files of one scope.
struct Part {
    ground: Ground,
    targets: Vec<Target>,
    /// Those of them that many edit briefly, so that nobody keeps them.
    brief: Vec<Target>,
    /// Those that everybody writes, one call after the other, and nobody leases.
    common: Vec<Target>,
}

/// What a call was given in one scope.
struct Taken {
    directory: PathBuf,
    leases: Vec<LeaseRef>,
    common: Vec<Target>,
}

/// Where the files lie. One that no path can name is nothing that could be held.
fn destinations(outside: &mut dyn Outside, cwd: &Path, files: &[String]) -> Vec<Destination> {
    files.iter().filter_map(|file| outside.destination(cwd, file).ok()).collect()
}

/// The files by the scopes they belong to, without those that nobody invited us to or that are never leased.
fn parts(outside: &mut dyn Outside, globals: &Globals, files: &[Destination]) -> Result<Vec<Part>, Failure> {
    let (mut parts, mut left): (Vec<Part>, Vec<&Destination>) = (Vec::new(), files.iter().collect());
    while let Some(first) = left.first().copied() {
        let Some(mut ground) = welcome(outside, globals, &first.directory)? else {
            left.retain(|file| file.directory != first.directory);
            continue;
        };
        let (mut targets, mut brief, mut common) = (Vec::new(), Vec::new(), Vec::new());
        left.retain(|file| {
            let located = path_in(outside, &mut ground, &file.file);
            if let Some((target, class)) = located.as_ref().and_then(|path| guarded(&ground, path)) {
                let kind = if class == PathClass::Common { &mut common } else { &mut targets };
                if !kind.contains(&target) {
                    brief.extend(Some(target.clone()).filter(|_| class == PathClass::Hot));
                    kind.push(target);
                }
            }
            located.is_none() && *file != first
        });
        if !(targets.is_empty() && common.is_empty()) {
            parts.push(Part { ground, targets, brief, common });
        }
    }
    Ok(parts)
}

/// The path of a file in a scope; `None` if it is not of that scope, cannot be named there, or is a directory, which no
/// call can write.
fn path_in(outside: &mut dyn Outside, ground: &mut Ground, file: &Path) -> Option<CanonicalPath> {
    let Ground { site, engine, .. } = ground;
    site.root.as_ref()?;
    if outside.is_directory(file) {
        return None;
    }
    let located = Look { outside, engine: &mut **engine }.resolve(site, file.to_str()?).ok()?;
    let is_own = located.nested.is_none() && !located.path.is_empty();
    CanonicalPath::parse(&located.path, site.fold).ok().filter(|_| is_own)
}

/// A path that is written as something to look after, and in which way. What nobody keeps is not.
fn guarded(ground: &Ground, path: &CanonicalPath) -> Option<(Target, PathClass)> {
    let classes = ground.config.classes(ground.site.fold);
    match classes.map_or(PathClass::Plain, |classes| classes.classify(path)) {
        PathClass::Ignored => None,
        class => Some((Target::Path(Pattern::literal(path)), class)),
    }
}

impl Session<'_> {
    /// Only a refusal that is enforced keeps a place in the queue: whoever edits all the same does not wait. Nobody waits
    /// for what is held for the length of one call: a turn that is kept for somebody who is away would keep everybody
    /// from a file that is free.
    fn take_for_edit(
        &mut self,
        mut targets: Vec<Target>,
        brief: &[Target],
        mode: Mode,
    ) -> Result<Reply, Failure> {
        if mode != Mode::Enforce {
            // Nothing is kept from anybody, so nothing is refused for its size either.
            targets.truncate(TARGETS_PER_REQUEST_MAX);
        }
        if targets.len() > TARGETS_PER_REQUEST_MAX {
            let message = format!("one call writes {} files", targets.len());
            return Err(Failure::new(Slug::TooLarge, message)
                .hint(format!("write at most {TARGETS_PER_REQUEST_MAX} files in one call")));
        }
        let reserve = self.edit_of(targets);
        if mode != Mode::Enforce || !brief.is_empty() {
            let reply = self.command_of_client(Command::Reserve(reserve.clone()))?;
            if mode != Mode::Enforce || is_over_soon(&reply, &reserve, brief) {
                return Ok(reply);
            }
        }
        let wait = Await { reserve, stay: Stay::Durable, wait_ms: WAIT_MS_MAX, wait: None };
        self.command_of_client(Command::Await(wait))
    }

    fn command_of_client(&mut self, command: Command) -> Result<Reply, Failure> {
        let reply = self.command(command.clone())?;
        match &reply.outcome {
            // A client that counts its calls anew, as after it was started again, means another call by the same name.
            Err(failure) if failure.slug == Slug::IdempotencyMismatch => {
                self.forget_idempotency_key();
                self.command(command)
            }
            // What was granted once is over: the call is about to write a file that it does not hold.
            Ok(_) if reply.replayed && reply.notices.iter().any(is_lapse) => {
                self.forget_idempotency_key();
                self.command(command)
            }
            _ => Ok(reply),
        }
    }

    /// Becomes the one who writes files that everybody writes, until the call is over. Waits a moment for whoever is at it,
    /// where a refusal would be enforced.
    fn write_common(&mut self, files: &[Target], mode: Mode) -> Result<Reply, Failure> {
        self.forget_idempotency_key();
        let enter = Command::Enter(Enter { targets: files.to_vec(), worktree: self.site.worktree() });
        let patience_ms = if mode == Mode::Enforce { COMMON_WAIT_MS } else { 0 };
        let ends = self.now()?.mono.plus_ms(patience_ms);
        let scope = self.site.key.clone();
        loop {
            let reply = self.command(enter.clone())?;
            let left_ms = ends.since(reply.now.mono);
            if reply.outcome.is_ok() || left_ms == 0 {
                return Ok(reply);
            }
            self.changed(&scope, reply.rev, left_ms.min(COMMON_LOOK_MS))?;
        }
    }

    /// What an edit of files needs.
    fn edit_of(&self, targets: Vec<Target>) -> Reserve {
        Reserve {
            wants: targets.into_iter().map(|target| Want { target, capacity: 1 }).collect(),
            worktree: self.site.worktree(),
            mode: Sharing::Exclusive,
            grade: Grade::Auto,
            as_set: false,
            ttl_ms: TTL_MS_AUTO,
            max_ms: None,
            reason: None,
            best_effort: false,
            bound: None,
            makes_way: false,
        }
    }
}

/// Whether a request was granted, or only what is held for the length of a call is in its way.
fn is_over_soon(reply: &Reply, reserve: &Reserve, brief: &[Target]) -> bool {
    let Err(failure) = &reply.outcome else { return true };
    let Details::Blockers { leases, ahead } = &failure.details else { return false };
    let is_held = failure.slug == Slug::ReservationHeld && ahead.is_empty();
    let kept = || reserve.wants.iter().map(|want| &want.target).filter(|target| !brief.contains(target));
    is_held
        && leases.iter().all(|blocker| {
            blocker.lease.grade == Grade::Auto && !kept().any(|target| target.overlaps(&blocker.lease.target))
        })
}

fn is_lapse(notice: &Notice) -> bool {
    matches!(notice, Notice::Lapsed { .. })
}

fn is_granted(reply: &Reply) -> bool {
    matches!(reply.outcome, Ok(Success::Reserved { .. }))
}

/// Leases that this very answer granted.
fn fresh(reply: &Reply) -> Vec<LeaseRef> {
    let Ok(Success::Reserved { leases, .. }) = &reply.outcome else { return Vec::new() };
    let is_new = |lease: &&clearway_core::lease::Lease| {
        !reply.replayed && lease.granted == reply.now.mono && lease.fence.seq <= reply.rev
    };
    let leases = leases.iter().map(|view| &view.lease).filter(is_new);
    leases.map(|lease| LeaseRef { id: lease.id, fence: Some(lease.fence) }).collect()
}

/// For a request beside the one whose answer the agent gets: what is said there reaches nobody, so nothing is.
fn unheard(globals: &Globals) -> Globals {
    let hook = globals.hook.clone().map(|hook| Hook { hears: false, ..hook });
    Globals { idempotency_key: None, hook, ..globals.clone() }
}

/// One refusal refuses the whole call, so what other scopes granted for it goes back.
fn give_back(outside: &mut dyn Outside, globals: &Globals, granted: Vec<Taken>) -> Result<(), Failure> {
    let globals = unheard(globals);
    for Taken { directory, leases, common } in granted {
        if leases.is_empty() && common.is_empty() {
            continue;
        }
        let Some(ground) = invited(outside, &globals, &directory)? else { continue };
        let worktree = ground.site.worktree();
        let mut session = Session::on(outside, &globals, ground)?;
        if !leases.is_empty() {
            let release = Release { selection: Selection::of(leases), keep: Vec::new() };
            session.command(Command::Release(release))?.outcome?;
        }
        if !common.is_empty() {
            let done = Attend::Done { targets: common, brief: Vec::new(), worktree };
            session.command(Command::Attend(done))?.outcome?;
        }
    }
    Ok(())
}
