//! What the hooks of agents' clients tell: what is the agent doing, what did it write, is it still there. Whether files may
//! be written is answered in `editing.rs`.
//!
//! A hook names files, never patterns, and creates no scope: where nobody invited us it learns so before anything
//! else. What a client's payload looks like, and how an answer is written for it, is for an adapter.

use crate::attribution;
use crate::config::Enforcement;
use crate::earlier;
use crate::editing::fresh;
use crate::ground::{Ground, invited};
use crate::later;
use crate::ledger::Ledger;
use crate::lines::{self, Wrote};
use crate::listings::Status;
use crate::mailboxes::Unread;
use crate::outage::{self, is_over, trouble};
use crate::outside::Outside;
use crate::overwriting::Overwrite;
use crate::parts::{Part, destinations, located, parts};
use crate::session::{Globals, Hook, Session};
use crate::shelter;
use crate::targets::Look;
use crate::touched;
use crate::turns;
use crate::warned;
use clearway_core::agent::{AgentName, ClientSession, client_process, needs_more_above};
use clearway_core::command::{Attend, Care, Command, Reserve};
use clearway_core::decide::Success;
use clearway_core::facts::Process;
use clearway_core::failure::Failure;
use clearway_core::ids::ScopeKey;
use clearway_core::input::idempotency_key;
use clearway_core::target::Worktree;
use clearway_store::Reply;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// How long a hook waits for a busy store: its client waits for it.
pub(crate) const STORE_WAIT: &str = "500ms";
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
    /// It used a tool.
    Wrote {
        /// What that wrote into which files.
        files: Vec<Wrote>,
        /// Whether its client says that it came to nothing.
        failed: bool,
    },
    /// Its turn is over.
    Rests,
    /// Its session is over, or it was a subagent and is done.
    Ends,
}

/// What one scope answered.
#[derive(Debug)]
pub struct ScopeAnswer {
    /// The answer.
    pub reply: Reply,
    /// Where the paths that it names start.
    pub checkout: Worktree,
    /// Where the agent stands.
    pub stands: Stands,
    /// Why what was granted is refused all the same.
    pub overwrite: Option<Overwrite>,
}

/// Where an agent stands that is told of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    /// Where they start.
    AtRoot,
    /// Somewhere else in their checkout.
    Inside,
    /// In another checkout, or in none.
    Elsewhere,
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
    pub(crate) fn add(
        &mut self,
        outside: &mut dyn Outside,
        call: &HookCall,
        place: Place,
        reply: Reply,
    ) -> &mut ScopeAnswer {
        let Place { ledger, outages, checkout, stands } = place;
        self.recovered |= is_over(outside, &outages, !fresh(&reply).is_empty(), call);
        self.ledger.get_or_insert(ledger);
        self.of_scopes.push_mut(ScopeAnswer { reply, checkout, stands, overwrite: None })
    }

    /// Whom the call turned out to be of.
    pub fn agent(&self) -> Option<&AgentName> {
        self.of_scopes.iter().find_map(|answer| answer.reply.agent.as_ref()).map(|(_, name)| name)
    }
}

/// Where an answer comes from.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) ledger: Ledger,
    outages: outage::Names,
    checkout: Worktree,
    stands: Stands,
}

impl Place {
    pub(crate) fn of(ground: &Ground, call: &HookCall) -> Self {
        let is_root = ground.site.root.as_ref().is_some_and(|root| *root == call.cwd);
        let stands = if is_root { Stands::AtRoot } else { Stands::Inside };
        Self {
            ledger: Ledger::of(ground),
            outages: ground.outages(),
            checkout: ground.site.worktree(),
            stands,
        }
    }

    /// The same, once there is something to say: only then it matters whose checkout it is, and finding out takes a look.
    pub(crate) fn for_telling(
        mut self,
        session: &mut Session<'_>,
        call: &HookCall,
        reply: &Reply,
        refuses: bool,
    ) -> Self {
        let says = !reply.notices.is_empty() || refuses;
        if says && self.stands == Stands::Inside && !session.has_inside(&call.cwd) {
            self.stands = Stands::Elsewhere;
        }
        self
    }
}

/// Whether an answer keeps its caller from what it asked for.
pub(crate) fn refuses(reply: &Reply) -> bool {
    reply.outcome.is_err() || matches!(reply.outcome, Ok(Success::Queued { .. }))
}

/// Takes note of what an agent is doing, in the scope it works in or those of the files it wrote. What there is to say
/// to it comes with the answers.
pub fn attend(outside: &mut dyn Outside, call: &HookCall, doing: &Doing) -> Result<Answers, Failure> {
    let attend = match doing {
        Doing::Wrote { files, failed } if !files.is_empty() => return wrote(outside, call, files, *failed),
        Doing::Wrote { .. } => Attend::done(Care::Kept, Vec::new(), Worktree::default()),
        Doing::Starts => Attend::Start,
        Doing::Calls | Doing::Runs => Attend::Call,
        Doing::Ran => Attend::Ran { hits: Vec::new() },
        Doing::Rests => Attend::Rest,
        Doing::Ends => Attend::End,
    };
    match doing {
        Doing::Ran => {
            shelter::after_shell(outside, call);
            turns::settle(outside, call);
        }
        Doing::Rests | Doing::Ends => turns::abandon(outside, call),
        _ => {}
    }
    let mut answers = Answers::default();
    let leaves = matches!(doing, Doing::Rests | Doing::Ends);
    let here = welcome(outside, &call.globals(), &call.cwd)?;
    if here.is_none() && !leaves {
        return Ok(answers);
    }
    let mut globals = Globals { idempotency_key: None, ..call.globals_with_client(outside) };
    if let Some(hook) = globals.hook.as_mut().filter(|_| *doing == Doing::Starts) {
        hook.earlier = earlier::processes_of(outside, &hook.session);
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
    let (place, scope, outages) = (Place::of(&ground, call), ground.site.key.clone(), ground.outages());
    let mut session = Session::on(outside, globals, ground)?;
    if matches!(doing, Doing::Runs | Doing::Ran) {
        // What cannot be looked at now is looked at another time.
        drop(session.look_for_unchecked(Some(&call.session).filter(|_| *doing == Doing::Ran)));
    }
    let hits = if *doing == Doing::Ran { session.hits(&call.session)? } else { Vec::new() };
    let absent = if *doing == Doing::Runs { session.absent_of_others() } else { Vec::new() };
    let attend = match doing {
        Doing::Ran => Attend::Ran { hits },
        _ => attend,
    };
    let reply = session.command(Command::Attend(attend))?;
    let place = place.for_telling(&mut session, call, &reply, refuses(&reply));
    let caller = attribution::caller(reply.agent.as_ref().map(|(id, _)| *id), &call.session);
    match doing {
        Doing::Runs => attribution::begin(outside, &scope, &caller, &absent),
        Doing::Ends => {
            attribution::forget(outside, &scope, &caller);
            warned::forget(outside, call);
            later::forget(outside, call);
        }
        _ => {}
    }
    answers.add(outside, call, place, reply);
    if *doing == Doing::Ends {
        outage::forget(outside, &outages, call);
    }
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
    let asked: Vec<PathBuf> =
        answers.of_scopes.iter().map(|answer| PathBuf::from(&answer.checkout.0)).collect();
    let is_away = |directory: &PathBuf| !asked.contains(directory);
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

/// What an agent finds where it begins to work.
#[derive(Clone, Debug)]
pub struct Company {
    /// Who else is there, and on what.
    pub status: Status,
    /// What becomes of edits.
    pub mode: Enforcement,
    /// What was written to it meanwhile.
    pub unread: Option<Unread>,
    /// The root of the checkout.
    pub root: Option<PathBuf>,
    /// Whether what no other hook of git saw is refused too.
    pub is_strict: bool,
}

/// Who else is where an agent begins to work; `None` where nobody invited us.
pub fn company(outside: &mut dyn Outside, call: &HookCall) -> Result<Option<Company>, Failure> {
    let globals = Globals { idempotency_key: None, ..call.globals() };
    let Some(ground) = welcome(outside, &globals, &call.cwd)? else { return Ok(None) };
    let (mode, is_strict, root) = (ground.config.mode(), ground.config.is_strict(), ground.site.root.clone());
    let mut session = Session::on(outside, &globals, ground)?;
    Ok(Some(Company { status: session.status()?, mode, unread: session.unread()?, root, is_strict }))
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

/// Whether somebody may have invited us to a place: where that cannot be told, what is asked of us there tells why.
pub fn may_be_invited(outside: &mut dyn Outside, call: &HookCall, place: &Path) -> bool {
    !matches!(invited(outside, &call.globals(), place), Ok(None))
}

/// The ground of a scope that invited us, unless its store failed a moment ago.
pub(crate) fn welcome(
    outside: &mut dyn Outside,
    globals: &Globals,
    start: &Path,
) -> Result<Option<Ground>, Failure> {
    let Some(ground) = invited(outside, globals, start)? else { return Ok(None) };
    match trouble(outside, &ground.outages()) {
        Some(trouble) => Err(trouble),
        None => Ok(Some(ground)),
    }
}

fn wrote(
    outside: &mut dyn Outside,
    call: &HookCall,
    wrote: &[Wrote],
    failed: bool,
) -> Result<Answers, Failure> {
    let mut answers = Answers::default();
    let named: Vec<String> = wrote.iter().map(|wrote| wrote.file.clone()).collect();
    let files = destinations(outside, &call.cwd, &named);
    let parts = parts(outside, &call.globals(), &files)?;
    if parts.is_empty() {
        return Ok(answers);
    }
    let globals = &Globals { idempotency_key: None, ..call.globals_with_client(outside) };
    for part in parts {
        let (files, mut ground) = (part.used(), part.ground);
        let (worktree, place) = (ground.site.worktree(), Place::of(&ground, call));
        let said = wrote.iter().filter(|wrote| !wrote.put.is_empty());
        let said = said.map(|wrote| (wrote.file.as_str(), wrote.put.as_slice()));
        let put = located(outside, call, &mut ground, said);
        let attend = Command::Attend(Attend::Done { files, worktree: worktree.clone(), failed });
        let mut session = Session::on(outside, globals, ground)?;
        let reply = session.command(attend)?;
        let place = place.for_telling(&mut session, call, &reply, refuses(&reply));
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
        let reserve = Reserve { best_effort: true, ..session.edit_of(targets.clone(), None) };
        let reply = session.command(Command::Reserve(reserve))?;
        let done = Attend::done(Care::Kept, targets, worktree);
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

    /// What tells a call that is made twice, if the store takes it for a key.
    pub fn usable_key(&self) -> Option<String> {
        self.key.clone().filter(|key| idempotency_key(key).is_ok())
    }

    /// The same with the process of the client, which takes a look at those above.
    pub(crate) fn globals_with_client(&self, outside: &mut dyn Outside) -> Globals {
        let told = self.session.client.process_variable();
        let told_pid = told.and_then(|name| outside.surroundings().variables.get(name)?.parse().ok());
        let above = outside.commands_above(ABOVE_MAX, &|above| needs_more_above(above, told_pid));
        self.globals_of(client_process(self.session.client, &above, told_pid).cloned())
    }

    fn globals_of(&self, process: Option<Process>) -> Globals {
        Globals {
            timeout: Some(STORE_WAIT.to_owned()),
            idempotency_key: self.usable_key(),
            hook: Some(Hook {
                session: ClientSession { process, ..self.session.clone() },
                hears: self.hears,
                forks: self.forks,
                earlier: Vec::new(),
            }),
            ..Globals::default()
        }
    }
}

impl Session<'_> {
    /// Whether a directory lies in the checkout, and not in one inside of it.
    fn has_inside(&mut self, directory: &Path) -> bool {
        let mut look = Look { outside: self.outside, engine: &mut *self.engine };
        let located = directory.to_str().map(|directory| look.resolve(&self.site, directory));
        located.is_some_and(|located| located.is_ok_and(|located| located.nested.is_none()))
    }
}

/// For a request beside the one whose answer the agent gets: what is said there reaches nobody, so nothing is.
pub(crate) fn unheard(globals: &Globals) -> Globals {
    let hook = globals.hook.clone().map(|hook| Hook { hears: false, ..hook });
    Globals { idempotency_key: None, hook, ..globals.clone() }
}
