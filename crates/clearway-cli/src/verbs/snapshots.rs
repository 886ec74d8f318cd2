//! `snapshot`, `snapshots`, `show`, `restore` and `undo`.

use super::{Done, Told, answer, session, settled};
use crate::Host;
use crate::arguments::{RestoreFlags, ShowFlags, SnapshotFlags, UndoFlags};
use crate::console::{Answer, Console, Problem, document};
use crate::given::Given;
use crate::render::{Cell, Fit, Page, Table, Tone, and_more, count, notices};
use clearway_core::agent::AgentName;
use clearway_core::failure::Failure;
use clearway_core::ids::Seq;
use clearway_core::shell;
use clearway_core::slug::Slug;
use clearway_core::text::printable;
use clearway_kernel::{
    Back, BackState, Globals, Loss, Plan, Session, SnapshotFile, SnapshotSeen, SnapshotShown, Snapshots,
    Taken,
};
use clearway_wire::json::{
    Acted, Actor, BackFileJson, BackReply, Looked, ShowReply, SnapshotFileJson, SnapshotJson, SnapshotReply,
    SnapshotsReply, rfc3339,
};
use std::collections::BTreeSet;

/// Files that are named one by one in text.
const FILES_SHOWN: usize = 20;

pub(super) fn snapshot(session: &mut Session<'_>, flags: &SnapshotFlags) -> Result<Kept, Problem> {
    let taken = session.snapshot(&flags.paths, flags.reason.as_deref())?;
    let Taken { rev, reply, number, drafted } = taken;
    let done = reply.map(settled).transpose()?.map(|(_, done)| done);
    let commit = drafted.as_ref().map(|drafted| drafted.commit.clone());
    let (files, left_out) = drafted.map(|drafted| (drafted.files, drafted.left_out)).unwrap_or_default();
    let (number, asked) = (number.map(|number| number.0), flags.paths.clone());
    Ok(Kept { rev: rev.0, done, number, commit, files, left_out, asked })
}

pub(super) fn snapshots(session: &mut Session<'_>) -> Result<List, Problem> {
    Ok(List(session.snapshots()?))
}

pub(super) fn show(session: &mut Session<'_>, flags: &ShowFlags) -> Result<Contents, Problem> {
    Ok(Contents(session.show_snapshot(&flags.number)?))
}

pub(super) fn restore(session: &mut Session<'_>, flags: &RestoreFlags) -> Result<Brought, Problem> {
    let plan = session.plan_restore(&flags.number, &flags.paths)?;
    let plan = session.carry_out(plan, Loss::of("restore", flags.accept_loss))?;
    Ok(Brought { plan, done: true, left: None, earlier: None })
}

/// What is about to be done is shown first: a person is asked, anybody else says `-y`.
pub(super) fn undo(
    host: &mut dyn Host,
    globals: &Globals,
    flags: &UndoFlags,
    console: &mut Console<'_, '_>,
) -> super::Outcome {
    let mut at_first = session(host, globals, console)?;
    let plan = at_first.plan_undo(flags.number.as_deref())?;
    let is_idle = flags.number.is_none() && !plan.is_due();
    let earlier = if is_idle { at_first.due_before(&plan)? } else { None };
    let told = |plan, done, left| answer(Brought { plan, done, left, earlier });
    // What was shown is done, and not what somebody kept since.
    let number = format!("s{}", plan.seen.number.0);
    if flags.dry_run || (!plan.is_due() && !flags.yes) {
        return told(plan, false, None);
    }
    if !flags.yes {
        if console.json || !host.surroundings().stdin_is_terminal {
            let left = unconfirmed(plan.seen.number.0, console.json);
            return if console.json { Err(left.into()) } else { told(plan, false, Some(left)) };
        }
        let page = console.page.clone();
        console.line(&Brought { plan, done: false, left: None, earlier }.text(&page))?;
        if !console.agrees("Do it?", host)? {
            console.line("nothing was undone\n")?;
            return Ok(Told::Already(0));
        }
    }
    let mut session = session(host, globals, console)?;
    let plan = session.plan_undo(Some(&number))?;
    let plan = session.carry_out(plan, Loss::of("undo", flags.accept_loss))?;
    told(plan, true, None)
}

fn unconfirmed(number: u64, json: bool) -> Failure {
    let (why, hint) = match json {
        true => ("with --json nobody is asked, so nothing was undone", "see what it would do"),
        false => ("there is no terminal to ask at, so nothing was undone", "do what is shown above"),
    };
    let flag = if json { "--dry-run" } else { "-y" };
    Failure::new(Slug::NotConfirmed, why).hint(format!("{hint}: clearway undo s{number} {flag}"))
}

/// The answer of `snapshot`.
#[derive(Debug)]
pub(super) struct Kept {
    rev: u64,
    done: Option<Done>,
    number: Option<u64>,
    commit: Option<String>,
    files: Vec<SnapshotFile>,
    left_out: Vec<String>,
    /// Where nothing was looked for but there.
    asked: Vec<String>,
}

impl Answer for Kept {
    fn json(&self, given: &Given) -> String {
        let done = self.done.as_ref();
        let notices = done.map(|done| given.notices(&done.notices)).unwrap_or_default();
        let files = self.files.iter().map(|file| file_json(file, Vec::new())).collect();
        document(&Acted {
            ok: true,
            rev: self.rev,
            actor: Actor::new(done.and_then(|done| done.agent.as_ref())),
            replayed: done.is_some_and(|done| done.replayed),
            notices,
            body: SnapshotReply {
                snapshot: self.number,
                commit: self.commit.clone(),
                files,
                left_out: self.left_out.clone(),
            },
        })
    }

    fn text(&self, page: &Page) -> String {
        let Some((number, done)) = self.number.zip(self.done.as_ref()) else {
            let place = if self.asked.is_empty() {
                "here".to_owned()
            } else {
                format!("at {}", self.asked.join(", "))
            };
            return format!("nothing to keep: nothing is uncommitted {}\n", printable(&place));
        };
        let kept = page.paint(Tone::Good, "kept");
        let mut text = match done.replayed {
            true => format!("{kept} as s{number}\nnote: this is the answer to an earlier, equal request\n"),
            false => {
                let bytes: u64 = self.files.iter().map(|file| file.bytes).sum();
                let files = count(self.files.len() as u64, "file", "files");
                format!("{kept} as s{number}: {files}, {}\n", size(bytes))
            }
        };
        if let Some(first) = self.left_out.first() {
            let files = count(self.left_out.len() as u64, "ignored file", "ignored files");
            text.push_str(&format!(
                "not kept, too large or not to be read: {files}, such as {}\n",
                printable(first)
            ));
        }
        text.push_str(&page.given.advice(&format!("bring it back: clearway restore s{number}")));
        text.push('\n');
        text + &notices(&done.notices, page)
    }
}

/// The answer of `snapshots`.
#[derive(Debug)]
pub(super) struct List(Snapshots);

impl Answer for List {
    fn json(&self, _: &Given) -> String {
        let snapshots = self.0.list.iter().map(|(seen, name)| seen_json(seen, name.as_ref())).collect();
        document(&Looked::new(self.0.rev, SnapshotsReply { snapshots }))
    }

    fn text(&self, page: &Page) -> String {
        if self.0.list.is_empty() {
            return "no snapshots are kept here\n".to_owned();
        }
        let mut table = Table::new(&[Fit::Whole, Fit::Whole, Fit::Last, Fit::Whole, Fit::Whole, Fit::End]);
        table.head(&["id", "taken", "by", "files", "for", "reason"]);
        for (seen, name) in &self.0.list {
            let by = name.as_ref().map_or_else(|| seen.agent.to_string(), ToString::to_string);
            table.row(vec![
                Cell::new(format!("s{}", seen.number.0)).tone(Tone::Strong),
                Cell::new(moment(seen)),
                Cell::new(by),
                Cell::new(seen.files.to_string()),
                Cell::new(cause(seen)),
                Cell::new(seen.reason.as_deref().unwrap_or("-")),
            ]);
        }
        table.render(page, "")
    }
}

/// The answer of `show`.
#[derive(Debug)]
pub(super) struct Contents(SnapshotShown);

impl Answer for Contents {
    fn json(&self, _: &Given) -> String {
        let SnapshotShown { rev, seen, agent, files } = &self.0;
        let contents = files
            .iter()
            .map(|(file, holders)| file_json(file, holders.iter().map(ToString::to_string).collect()));
        let snapshot = seen_json(seen, agent.as_ref());
        document(&Looked::new(*rev, ShowReply { snapshot, contents: contents.collect() }))
    }

    fn text(&self, page: &Page) -> String {
        let SnapshotShown { seen, agent, files, .. } = &self.0;
        let by = agent.as_ref().map_or_else(|| seen.agent.to_string(), ToString::to_string);
        let why = seen.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        let head = format!("s{} by {by}, {}, {}{why}", seen.number.0, moment(seen), cause(seen));
        let mut table = Table::new(&[Fit::Start, Fit::Whole, Fit::Whole, Fit::Whole, Fit::Last]);
        table.head(&["path", "state", "mode", "size", "held by"]);
        for (file, holders) in files {
            let names: Vec<&str> = holders.iter().map(|name| name.as_str()).collect();
            let staged = if file.is_staged { ", staged" } else { "" };
            table.row(vec![
                Cell::new(&file.path),
                Cell::new(format!("{}{staged}", file.state)),
                Cell::new(mode(file).unwrap_or_else(|| "-".to_owned())),
                Cell::new(size(file.bytes)),
                Cell::new(if names.is_empty() { "-".to_owned() } else { names.join(", ") }),
            ]);
        }
        format!("{}\n{}", page.paint(Tone::Strong, &printable(&head)), table.render(page, ""))
    }
}

/// The answer of `restore` and `undo`.
#[derive(Debug)]
pub(super) struct Brought {
    plan: Plan,
    done: bool,
    left: Option<Failure>,
    /// An earlier one that has something to bring back, where this one has nothing.
    earlier: Option<(Seq, usize)>,
}

impl Answer for Brought {
    fn json(&self, _: &Given) -> String {
        let file = |back: &Back| BackFileJson {
            path: back.file.path.clone(),
            state: back.state.word().to_owned(),
            held_by: self.plan.owner(back).map(ToString::to_string),
            restaged: back.restages,
        };
        let files = self.plan.files.iter().map(file).collect();
        let before = self.plan.before.map(|number| number.0);
        let (snapshot, resumes) = (self.plan.seen.number.0, self.plan.resumes.map(str::to_owned));
        let remade = self.plan.remakes.clone();
        let body = BackReply { snapshot, done: self.done, before, remade, resumes, files };
        document(&Looked::new(self.plan.rev, body))
    }

    fn text(&self, page: &Page) -> String {
        let number = self.plan.seen.number.0;
        let (restored, removed) = match self.done {
            true => ("restored", "removed"),
            false => ("would restore", "would remove"),
        };
        let restored = self.files(page, restored, |back| back.state == BackState::Restored);
        let removed = self.files(page, removed, |back| back.state == BackState::Removed);
        let staged = self.files(page, "staged again", |back| back.restages && back.state == BackState::Same);
        let resumes = self.plan.resumes.map(|what| match self.done {
            true => format!("the {what} is under way again\n"),
            false => format!("the {what} would be under way again\n"),
        });
        let remade = self.plan.remakes.as_deref().map(printable).map(|place| match self.done {
            true => format!("made the checkout again: {place}\n"),
            false => format!("would make the checkout again: {place}\n"),
        });
        let (remade, resumes) = (remade.unwrap_or_default(), resumes.unwrap_or_default());
        let mut text = format!("{remade}{restored}{removed}{staged}{resumes}");
        if text.is_empty() {
            text = format!("nothing to do: every file of s{number} that can be is as it was\n");
        }
        text.push_str(
            &self.files(page, "left alone, changed since", |back| back.state == BackState::ChangedSince),
        );
        let changed = |back: &&Back| back.state == BackState::ChangedSince;
        if let Some(back) = self.plan.files.iter().find(changed) {
            let path = shell::word(&back.file.path);
            let advice = format!("as it was kept, over what is there: clearway restore s{number} {path}");
            text.push_str(&page.given.advice(&advice));
            text.push('\n');
        }
        let owners: BTreeSet<&AgentName> =
            self.plan.files.iter().filter_map(|back| self.plan.owner(back)).collect();
        for owner in owners {
            text.push_str(&self.files(page, &format!("left alone, with {owner}"), |back| {
                self.plan.owner(back) == Some(owner)
            }));
        }
        text.push_str(
            &self.files(page, "left alone, something is in its place", |back| {
                back.state == BackState::InTheWay
            }),
        );
        text.push_str(&self.files(page, "left alone, what was kept beside git is gone", |back| {
            back.state == BackState::Lost
        }));
        if let Some((Seq(number), files)) = self.earlier {
            let files = count(files as u64, "file", "files");
            let advice = format!("s{number} before it has {files} to bring back: clearway undo s{number}");
            text.push_str(&page.given.advice(&advice));
            text.push('\n');
        }
        if let Some(before) = self.plan.before {
            let advice = format!("what was there is kept as s{0}: clearway restore s{0}", before.0);
            text.push_str(&page.given.advice(&advice));
            text.push('\n');
        }
        text
    }

    fn exit_code(&self) -> u8 {
        self.left.as_ref().map_or(0, |failure| failure.slug.exit_code())
    }

    fn complaint(&self) -> Option<&Failure> {
        self.left.as_ref()
    }
}

impl Brought {
    /// The files of which something is so, a few of them by name.
    fn files(&self, page: &Page, what: &str, is_so: impl Fn(&Back) -> bool) -> String {
        let found: Vec<&Back> = self.plan.files.iter().filter(|back| is_so(back)).collect();
        if found.is_empty() {
            return String::new();
        }
        let head = format!("{what}: {}", count(found.len() as u64, "file", "files"));
        let mut text = format!("{}\n", page.paint(Tone::Strong, &head));
        for back in found.iter().take(FILES_SHOWN) {
            text.push_str(&format!("  {}\n", printable(&back.file.path)));
        }
        text.extend(and_more(found.len(), FILES_SHOWN).map(|more| format!("  {more}\n")));
        text
    }
}

fn seen_json(seen: &SnapshotSeen, name: Option<&clearway_core::agent::AgentName>) -> SnapshotJson {
    SnapshotJson {
        number: seen.number.0,
        commit: seen.commit.clone(),
        agent: name.map(ToString::to_string),
        agent_id: seen.agent.to_string(),
        cause: cause(seen).to_owned(),
        reason: seen.reason.clone(),
        taken_at: rfc3339(seen.at),
        worktree: seen.worktree.clone(),
        files: seen.files,
        bytes: seen.bytes,
    }
}

fn file_json(file: &SnapshotFile, held_by: Vec<String>) -> SnapshotFileJson {
    SnapshotFileJson {
        path: file.path.clone(),
        state: file.state.to_owned(),
        staged: file.is_staged,
        mode: mode(file),
        bytes: file.bytes,
        held_by,
    }
}

fn mode(file: &SnapshotFile) -> Option<String> {
    match file.mode {
        _ if file.is_link => Some("link".to_owned()),
        _ if file.state == "deleted" => None,
        mode => Some(format!("{mode:03o}")),
    }
}

fn cause(seen: &SnapshotSeen) -> &'static str {
    seen.cause.map_or("other", clearway_core::snapshot::SnapshotCause::word)
}

/// Month, day and minute.
fn moment(seen: &SnapshotSeen) -> String {
    let at = rfc3339(seen.at);
    at.get(5..16).unwrap_or(&at).replace('T', " ")
}

/// A size in the unit that suits it.
fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} B"),
        10_000..10_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}
