//! The gate before an edit: every file that is about to be written is taken, or the whole call is refused.
//!
//! Plain files are leased and waited for; what many edit briefly is leased for the length of the call; what everybody
//! writes has a gate of its own. What a refusal says is for an adapter.

use crate::attribution;
use crate::config::Enforcement;
use crate::ground::{Ground, invited};
use crate::hooking::{Answers, HookCall, Place, refuses, unheard};
use crate::lines;
use crate::outside::Outside;
use crate::overwriting::{Overwrite, WholeText};
use crate::parts::{Part, destinations, located, parts_with_directories};
use crate::session::{Globals, Hook, Session};
use crate::touched;
use crate::warned;
use clearway_core::command::{Attend, Await, Care, Command, LeaseRef, Release, Reserve, Selection, Stay};
use clearway_core::decide::{Notice, Success};
use clearway_core::failure::{Details, Failure};
use clearway_core::ids::AgentId;
use clearway_core::limits::{CALL_MS_MAX, TARGETS_PER_REQUEST_MAX, WAIT_MS_MAX};
use clearway_core::path::CanonicalPath;
use clearway_core::pattern::Pattern;
use clearway_core::slug::Slug;
use clearway_core::target::{Target, Worktree};
use clearway_core::time::Wall;
use clearway_store::Reply;
use clearway_store::contract::LeaseListing;
use std::path::PathBuf;

/// What became of a request to write files: the answers of every scope touched that invited us, up to the first that
/// refuses.
#[derive(Debug)]
pub struct Ruling {
    /// One for each scope.
    pub answers: Answers,
    /// What is to be done about a refusal: the strictest of those that there are.
    pub mode: Enforcement,
    /// Which of the answers it is.
    pub refused: Option<usize>,
    /// Whether the agent was warned of that very refusal before.
    pub is_known: bool,
    /// Whether the agent is refused again and again where nobody watches, so that its turn had better end.
    pub ends_turn: bool,
}

impl Ruling {
    fn none_refused() -> Self {
        let (answers, mode) = (Answers::default(), Enforcement::Observe);
        Self { answers, mode, refused: None, is_known: false, ends_turn: false }
    }

    /// Takes note that the last answer is a refusal.
    fn refuse(&mut self, mode: Enforcement) {
        if self.refused.is_none() || mode > self.mode {
            self.refused = self.answers.of_scopes.len().checked_sub(1);
            self.mode = mode;
        }
    }
}

/// Takes a lease on every file that is about to be written, or a place in the queue where somebody else is at work.
/// Of files that are to be written as a whole, what they are to hold is told too.
pub fn before_edit(
    outside: &mut dyn Outside,
    call: &HookCall,
    files: &[String],
    whole: &[WholeText],
) -> Result<Ruling, Failure> {
    let files = destinations(outside, &call.cwd, files);
    let mut parts = parts_with_directories(outside, &call.globals(), &files)?;
    if parts.is_empty() {
        return Ok(Ruling::none_refused());
    }
    let globals = call.globals_with_client(outside);
    parts.sort_by(|one, other| one.ground.site.key.cmp(&other.ground.site.key));
    let mut edit = Edit { call, globals, whole, ruling: Ruling::none_refused(), granted: Vec::new() };
    for part in parts {
        if edit.take(outside, part)? {
            // What cannot be given back now yields to whoever asks for it; the refusal stands.
            drop(give_back(outside, &edit.globals, edit.granted));
            break;
        }
    }
    Ok(edit.ruling)
}

/// A call that is about to write files of several scopes, and what became of it so far.
struct Edit<'c> {
    call: &'c HookCall,
    globals: Globals,
    whole: &'c [WholeText],
    ruling: Ruling,
    granted: Vec<Taken>,
}

impl Edit<'_> {
    /// Takes what the call writes in one scope; whether that refuses the whole call.
    fn take(&mut self, outside: &mut dyn Outside, part: Part) -> Result<bool, Failure> {
        let Part { mut ground, mut targets, brief, common, directories } = part;
        let whole = replaced(outside, self.call, &mut ground, &brief, self.whole);
        let here = Here::of(&ground, self.call);
        let mut session = Session::on(outside, &self.globals, ground)?;
        for target in session.held_below(&directories)? {
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
        if targets.is_empty() && common.is_empty() {
            return Ok(false);
        }
        let Admitted { answers, new, is_held } =
            session.admit(targets, &brief, &common, &whole, here.mode)?;
        let told: Vec<(Place, Admission)> = answers
            .into_iter()
            .map(|answer| {
                let refuses = answer.refuses();
                (here.place.clone().for_telling(&mut session, self.call, &answer.reply, refuses), answer)
            })
            .collect();
        if is_held || !new.is_empty() {
            self.remember(outside, &here);
        }
        for (by, path) in told.iter().flat_map(|(_, answer)| made_way(&answer.reply)) {
            lines::note_clean(outside, &here.place.ledger, by, &here.worktree, &path);
        }
        self.granted.push(Taken { directory: here.directory.clone(), leases: new, common });
        let is_refused = told.iter().any(|(_, answer)| answer.refuses());
        for (place, answer) in told {
            self.rule(outside, &here, place, answer);
        }
        Ok(is_refused && here.mode == Enforcement::Enforce)
    }

    /// Remembers that the session has been in a scope, whose store is missed from then on if it goes.
    fn remember(&self, outside: &mut dyn Outside, here: &Here) {
        let is_new = |hook: &Hook| touched::remember(outside, &hook.session, &here.root);
        if self.globals.hook.as_ref().is_some_and(is_new) {
            attribution::leave_trace(outside, &here.place.ledger.scope);
        }
    }

    /// Adds what a scope answered to what becomes of the call.
    fn rule(&mut self, outside: &mut dyn Outside, here: &Here, place: Place, answer: Admission) {
        let (refuses, ruling) = (answer.refuses(), &mut self.ruling);
        ruling.ends_turn |= refuses && ends_turn(&answer.reply, here.is_unattended);
        if refuses && here.mode == Enforcement::Warn {
            let is_known = !warned::is_news(outside, self.call, &place.ledger.scope, &answer.subject());
            ruling.is_known = is_known && (ruling.refused.is_none() || ruling.is_known);
        }
        ruling.answers.add(outside, self.call, place, answer.reply).overwrite = answer.overwrite;
        if refuses {
            ruling.refuse(here.mode);
        }
    }
}

/// The checkout that a part of a call writes in, and what its settings say.
struct Here {
    place: Place,
    /// Where the scope was found from.
    directory: PathBuf,
    root: PathBuf,
    worktree: Worktree,
    mode: Enforcement,
    is_unattended: bool,
}

impl Here {
    fn of(ground: &Ground, call: &HookCall) -> Self {
        Self {
            place: Place::of(ground, call),
            directory: ground.start.clone(),
            root: ground.site.root.clone().unwrap_or_else(|| ground.start.clone()),
            worktree: ground.site.worktree(),
            mode: ground.config.mode(),
            is_unattended: ground.config.is_unattended(),
        }
    }
}

/// Whether a refusal had better be the last of its turn: a person stopped the agent, or it is refused again and again and
/// nobody watches.
fn ends_turn(reply: &Reply, is_unattended: bool) -> bool {
    let is_looping = |notice: &Notice| matches!(notice, Notice::Looping { .. });
    let is_halted = matches!(&reply.outcome, Err(failure) if failure.slug == Slug::Halted);
    is_halted || (is_unattended && reply.notices.iter().any(is_looping))
}

/// Files that were taken from somebody because nothing in them was changed, and by whom when.
fn made_way(reply: &Reply) -> Vec<((AgentId, Wall), String)> {
    let (Ok(Success::Reserved { leases, .. }), Some((me, _))) = (&reply.outcome, &reply.agent) else {
        return Vec::new();
    };
    let yielded = |target: &Target| {
        let is_it = |notice: &Notice| matches!(notice, Notice::Yielded { target: own, .. } if *own == target.display());
        !reply.replayed && reply.notices.iter().any(is_it)
    };
    let taken = leases.iter().map(|view| &view.lease.target).filter(|target| yielded(target));
    taken.map(|target| ((*me, reply.now.wall), target.canonical().to_owned())).collect()
}

/// What a scope answered to its part of a call, and what it granted by that.
struct Admitted {
    answers: Vec<Admission>,
    new: Vec<LeaseRef>,
    /// Whether what is leased is with somebody else, or lines in it.
    is_held: bool,
}

impl Admitted {
    /// Whether nothing more is to be taken for the call.
    fn keeps_out(&self, mode: Enforcement) -> bool {
        self.is_held && mode == Enforcement::Enforce
    }
}

/// One answer.
struct Admission {
    reply: Reply,
    overwrite: Option<Overwrite>,
}

impl Admission {
    fn refuses(&self) -> bool {
        refuses(&self.reply) || self.overwrite.is_some()
    }

    /// What a refusal is about.
    fn subject(&self) -> String {
        let lines = self.overwrite.as_ref().map(|lines| format!("{lines:?}")).unwrap_or_default();
        warned::subject(&self.reply) + &lines
    }
}

/// Those of the files that many edit briefly which are to be written as a whole, with their text.
fn replaced<'w>(
    outside: &mut dyn Outside,
    call: &HookCall,
    ground: &mut Ground,
    brief: &[Target],
    whole: &'w [WholeText],
) -> Vec<(CanonicalPath, &'w str)> {
    if brief.is_empty() {
        return Vec::new();
    }
    let texts = whole.iter().map(|whole| (whole.file.as_str(), whole.text.as_str()));
    let mut found = located(outside, call, ground, texts);
    found.retain(|(path, _)| brief.contains(&Target::Path(Pattern::literal(path))));
    found
}

/// What a call was given in one scope.
struct Taken {
    directory: PathBuf,
    leases: Vec<LeaseRef>,
    common: Vec<Target>,
}

impl Session<'_> {
    /// Files that anybody holds in these directories, as many as a request may name.
    fn held_below(&mut self, directories: &[PathBuf]) -> Result<Vec<Target>, Failure> {
        let Some(root) = self.site.root.clone().filter(|_| !directories.is_empty()) else {
            return Ok(Vec::new());
        };
        let (now, here) = (self.now()?, self.site.worktree());
        let held = self.read(|snapshot| Ok(snapshot.leases(LeaseListing::Live, &now)?.leases))?;
        let is_below = |path: &str| directories.iter().any(|above| root.join(path).starts_with(above));
        let mut below: Vec<Target> = Vec::new();
        for lease in held.unwrap_or_default().into_iter().filter(|lease| lease.worktree == here) {
            if lease.target.literal().is_some_and(is_below) && !below.contains(&lease.target) {
                below.push(lease.target);
            }
        }
        below.truncate(TARGETS_PER_REQUEST_MAX);
        Ok(below)
    }

    /// Takes what is leased, then the turn at what everybody writes, unless the call is refused by then.
    fn admit(
        &mut self,
        targets: Vec<Target>,
        brief: &[Target],
        common: &[Target],
        whole: &[(CanonicalPath, &str)],
        mode: Enforcement,
    ) -> Result<Admitted, Failure> {
        let mut admitted = Admitted { answers: Vec::new(), new: Vec::new(), is_held: false };
        if let Some(reply) = self.behind_hooks(mode)? {
            admitted.answers.push(Admission { reply, overwrite: None });
            if mode == Enforcement::Enforce {
                return Ok(admitted);
            }
        }
        let targets = within_a_request(targets, mode)?;
        // What lasts for a call is asked for by itself: who waits for the rest keeps no place at it.
        let (brief, kept): (Vec<Target>, Vec<Target>) =
            targets.into_iter().partition(|target| brief.contains(target));
        for (targets, max_ms) in [(brief, Some(CALL_MS_MAX)), (kept, None)] {
            if targets.is_empty() || admitted.keeps_out(mode) {
                continue;
            }
            let mut reply = self.take_for_edit(targets, max_ms, mode)?;
            admitted.new.extend(fresh(&reply));
            let overwrite = match max_ms {
                Some(_) => self.at_stake(&mut reply, whole)?,
                None => None,
            };
            admitted.is_held |= !is_granted(&reply) || overwrite.is_some();
            admitted.answers.push(Admission { reply, overwrite });
        }
        if !common.is_empty() && !admitted.keeps_out(mode) {
            let reply = self.write_common(common, mode)?;
            admitted.answers.push(Admission { reply, overwrite: None });
        }
        Ok(admitted)
    }

    /// Only a refusal that is enforced keeps a place in the queue: whoever edits all the same does not wait. Nobody waits
    /// for what is held for the length of one call: a turn that is kept for somebody who is away would keep everybody
    /// from a file that is free.
    fn take_for_edit(
        &mut self,
        targets: Vec<Target>,
        max_ms: Option<u64>,
        mode: Enforcement,
    ) -> Result<Reply, Failure> {
        let reserve = self.edit_of(targets, max_ms);
        if mode != Enforcement::Enforce || max_ms.is_some() {
            let reply = self.command_of_client(Command::Reserve(reserve.clone()))?;
            if mode != Enforcement::Enforce || is_over_soon(&reply) {
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

    /// What an edit of files needs, which lasts with the work in them or so long.
    pub(crate) fn edit_of(&self, targets: Vec<Target>, max_ms: Option<u64>) -> Reserve {
        Reserve { max_ms, ..Reserve::edit(targets, self.site.worktree()) }
    }
}

/// As many files as one request takes.
fn within_a_request(mut targets: Vec<Target>, mode: Enforcement) -> Result<Vec<Target>, Failure> {
    if mode != Enforcement::Enforce {
        // Nothing is kept from anybody, so nothing is refused for its size either.
        targets.truncate(TARGETS_PER_REQUEST_MAX);
    }
    if targets.len() <= TARGETS_PER_REQUEST_MAX {
        return Ok(targets);
    }
    let message = format!("one call writes {} files", targets.len());
    Err(Failure::new(Slug::TooLarge, message)
        .hint(format!("write at most {TARGETS_PER_REQUEST_MAX} files in one call")))
}

/// Whether a request was granted, or only what is held for the length of a call is in its way.
fn is_over_soon(reply: &Reply) -> bool {
    let Err(failure) = &reply.outcome else { return true };
    let Details::Blockers { leases, ahead } = &failure.details else { return false };
    failure.slug == Slug::ReservationHeld
        && ahead.is_empty()
        && leases.iter().all(|blocker| blocker.lease.lasts_one_call())
}

fn is_lapse(notice: &Notice) -> bool {
    matches!(notice, Notice::Lapsed { .. })
}

pub(crate) fn is_granted(reply: &Reply) -> bool {
    matches!(reply.outcome, Ok(Success::Reserved { .. }))
}

/// Leases that this very answer granted.
pub(crate) fn fresh(reply: &Reply) -> Vec<LeaseRef> {
    let Ok(Success::Reserved { leases, .. }) = &reply.outcome else { return Vec::new() };
    let is_new = |lease: &&clearway_core::lease::Lease| {
        !reply.replayed && lease.granted == reply.now.mono && lease.fence.seq <= reply.rev
    };
    let leases = leases.iter().map(|view| &view.lease).filter(is_new);
    leases.map(|lease| LeaseRef { id: lease.id, fence: Some(lease.fence) }).collect()
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
            let done = Attend::done(Care::Common, common, worktree);
            session.command(Command::Attend(done))?.outcome?;
        }
    }
    Ok(())
}
