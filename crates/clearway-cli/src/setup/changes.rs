//! What becomes of the files of clients: planned from their texts, and carried out one by one.

use super::entries::{self, entries};
use super::found::{blocks, ours};
use super::journal::{Journal, Restored};
use super::place::{self, Form, HookFile, directory, setup_of, user_files};
use super::standing::unread;
use super::text::{Removed, Unfit};
use super::{Wish, detected, diff, githooks, page, shown, toml};
use crate::Host;
use clearway_core::agent::Client;
use clearway_core::failure::Failure;
use clearway_core::hint;
use clearway_core::redact::redact;
use clearway_core::slug::Slug;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long somebody else who sets up clients is waited for.
const TURN_WAIT: Duration = Duration::from_secs(10);

/// A file, and what is to become of it.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    /// The client it belongs to; `None` for the repository's page.
    pub(crate) client: Option<Client>,
    pub(crate) path: PathBuf,
    pub(crate) before: Option<String>,
    pub(crate) outcome: Result<After, Failure>,
    /// What is worth knowing about it.
    pub(crate) note: Option<String>,
    pub(crate) way: Way,
}

/// How a file is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// As a text.
    Text,
    /// A hook of git is put in front of what is there, which is kept under this name.
    Hook(PathBuf),
    /// What was kept under this name comes back.
    HookBack(PathBuf),
    /// As git changes its own configuration.
    GitConfig,
}

/// What becomes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum After {
    Unchanged,
    Text(String),
    Absent,
}

impl Change {
    /// Whether anything is to be done.
    pub(crate) fn is_due(&self) -> bool {
        matches!(self.outcome, Ok(After::Text(_) | After::Absent))
    }

    /// Whether both make the same of the same.
    fn is_same(&self, other: &Self) -> bool {
        self.path == other.path
            && self.before == other.before
            && self.outcome.as_ref().ok() == other.outcome.as_ref().ok()
    }

    /// What it changes, line by line. Keys that clients keep in their files are nobody's to read over a shoulder.
    pub(crate) fn diff(&self) -> String {
        let before = self.before.as_deref().unwrap_or_default();
        let diff = match &self.outcome {
            Ok(After::Text(after)) => diff::diff(before, after),
            Ok(After::Absent) => diff::diff(before, ""),
            _ => return String::new(),
        };
        redact(&diff).into_owned()
    }
}

/// What fulfilling a wish would change. Nothing is written.
pub(crate) fn plan(host: &mut dyn Host, root: Option<&Path>, wish: &Wish) -> Result<Vec<Change>, Failure> {
    let journal = read_journal(host)?;
    let variables = host.surroundings().variables.clone();
    let named = if wish.clients.is_empty() { detected(host) } else { wish.clients.clone() };
    let mut changes = Vec::new();
    for client in place::all().filter(|client| named.contains(client)) {
        let Some(directory) = directory(client, &variables) else { return Err(no_home()) };
        if wish.uninstall {
            for file in user_files(client, &directory) {
                changes.push(take_back(host, &journal, Some(client), &file.path, &|text, before| {
                    file.form.remove(text, before)
                }));
            }
        } else {
            changes.extend(set_up(host, client, &directory, wish)?);
        }
    }
    if wish.uninstall {
        changes.extend(remembered(host, &journal, wish, &changes));
    }
    if let Some(root) = root.filter(|_| wish.agents_md || wish.uninstall) {
        changes.extend(page_change(host, &journal, root, wish.uninstall));
    }
    if let Some(root) = root.filter(|_| wish.git_hooks || wish.uninstall) {
        changes.extend(githooks::changes(host, &journal, root, wish)?);
    }
    let is_worth_telling =
        |change: &Change| change.is_due() || change.outcome.is_err() || change.note.is_some();
    changes.retain(|change| !wish.uninstall || is_worth_telling(change));
    Ok(changes)
}

/// Files that were set up where a client had its directory then, and has it no more.
fn remembered(host: &mut dyn Host, journal: &Journal, wish: &Wish, known: &[Change]) -> Vec<Change> {
    let is_new = |path: &&Path| !known.iter().any(|change| change.path == **path);
    let mut changes = Vec::new();
    for path in journal.paths().filter(is_new) {
        let Ok(Some(text)) = host.read_text(path) else { continue };
        let is_meant = |client: &Client| wish.clients.is_empty() || wish.clients.contains(client);
        let of_client = place::all().filter(is_meant).find_map(|client| {
            let file = file_of(client, path)?;
            let document = file.form.value(&text).ok()?;
            ours(&document, file.form.shape())
                .iter()
                .any(|found| found.calls(client))
                .then_some((client, file))
        });
        if let Some((client, file)) = of_client {
            changes.push(take_back(host, journal, Some(client), path, &|text, before| {
                file.form.remove(text, before)
            }));
        }
    }
    changes
}

/// The file of a client that this is, wherever the client had its directory.
fn file_of(client: Client, path: &Path) -> Option<HookFile> {
    user_files(client, Path::new("")).into_iter().find(|file| path.ends_with(&file.path))
}

/// Makes the changes, each on its own, and of those somebody was shown and agreed to no others. A failure takes the
/// place of what was to become of a file.
pub(crate) fn carry_out(
    host: &mut dyn Host,
    root: Option<&Path>,
    wish: &Wish,
    shown: Option<&[Change]>,
) -> Result<Vec<Change>, Failure> {
    let journal_path = host.journal_path()?;
    let turn = host.take_turn(&journal_path, TURN_WAIT)?;
    // Somebody else may have been at them since they were last looked at.
    let mut changes = plan(host, root, wish)?;
    for change in changes.iter_mut().filter(|change| change.is_due()) {
        if shown.is_some_and(|shown| !shown.iter().any(|shown| shown.is_same(change))) {
            change.outcome = Err(changed_meanwhile(&change.path));
            continue;
        }
        let mut journal = read_journal(host)?;
        if let Err(failure) = make(host, &mut journal, &journal_path, change, wish.uninstall) {
            change.outcome = Err(failure);
        }
    }
    drop(turn);
    Ok(changes)
}

/// The changes that set a client up: ours are in one file, and in no other of the user's.
fn set_up(
    host: &mut dyn Host,
    client: Client,
    directory: &Path,
    wish: &Wish,
) -> Result<Vec<Change>, Failure> {
    let plugins = setup_of(client).and_then(|setup| setup.plugins);
    let cleared = |file: &HookFile, text: &str| match wish.without_others {
        true => file.form.without_rivals(text, plugins),
        false => Ok(text.to_owned()),
    };
    let mut files = user_files(client, directory);
    if let Some(tables) = files.iter().position(|file| is_used_table(host, file)) {
        files.swap(0, tables);
    }
    let is_kept = !wish.unattended && files.iter().any(|file| blocks_already(host, client, file));
    let unattended = wish.unattended || is_kept;
    let wanted = entries(client, &stable_binary(host)?, unattended);
    let kept = if is_kept { KEPT } else { "" };
    let note = setup_of(client).filter(|_| unattended).map(|setup| format!("{}{kept}", setup.unattended));
    let mut changes = Vec::new();
    for (position, file) in files.iter().enumerate() {
        let edited = match position {
            0 => edit(host, file, &|text| {
                unread(client, file, text).map_or(Ok(()), |why| Err(Unfit(why)))?;
                file.form.install(&cleared(file, text)?, &wanted)
            }),
            _ => edit(host, file, &|text| Ok(file.form.remove(&cleared(file, text)?, None)?.text)),
        };
        let change = Change { client: Some(client), note: note.clone().filter(|_| position == 0), ..edited };
        // Another place for hooks is of interest only if we are in it.
        if position == 0 || change.is_due() {
            changes.push(change);
        }
    }
    Ok(changes)
}

/// What is said of a setting that nobody asked for this time.
const KEPT: &str = "; kept as it was, go back with: clearway init --uninstall && clearway init";

/// Whether a hook that fails is taken for a refusal already: what was asked for once is not taken back in passing.
fn blocks_already(host: &mut dyn Host, client: Client, file: &HookFile) -> bool {
    let text = host.read_text(&file.path).ok().flatten();
    let document = text.and_then(|text| file.form.value(&text).ok());
    document.is_some_and(|document| blocks(client, &document, file.form.shape()))
}

/// Whether a file's tables carry hooks already: there a person looks for them.
fn is_used_table(host: &mut dyn Host, file: &HookFile) -> bool {
    file.form == Form::Toml
        && matches!(host.read_text(&file.path), Ok(Some(text)) if toml::carries_hooks(&text))
}

/// The change that an edit of its text makes to a file.
fn edit(host: &mut dyn Host, file: &HookFile, edit: &dyn Fn(&str) -> Result<String, Unfit>) -> Change {
    let (before, outcome) = match host.read_text(&file.path) {
        Err(failure) => (None, Err(unreadable(&file.path, &failure.message))),
        Ok(before) => {
            let after = edit(before.as_deref().unwrap_or_default());
            let outcome = after.map_err(|Unfit(why)| unreadable(&file.path, &why)).map(|after| {
                let is_same = before.as_deref().unwrap_or_default() == after;
                if is_same { After::Unchanged } else { After::Text(after) }
            });
            (before, outcome)
        }
    };
    Change { client: None, path: file.path.clone(), before, outcome, note: None, way: Way::Text }
}

pub(super) type Take<'a> = dyn Fn(&str, Option<&str>) -> Result<Removed, Unfit> + 'a;

/// The change that gives a file back.
pub(super) fn take_back(
    host: &mut dyn Host,
    journal: &Journal,
    client: Option<Client>,
    path: &Path,
    remove: &Take<'_>,
) -> Change {
    let mut change = Change {
        client,
        path: path.to_owned(),
        before: None,
        outcome: Ok(After::Unchanged),
        note: None,
        way: Way::Text,
    };
    match host.read_text(path) {
        Err(failure) if !journal.knows(path) => change.note = Some(passed_over(&failure.message)),
        Err(failure) => change.outcome = Err(unreadable(path, &failure.message)),
        Ok(None) => {}
        Ok(Some(text)) => {
            let removed = match remove(&text, journal.original(path)) {
                // What was never ours may be as broken as its owner likes.
                Err(Unfit(why)) if !journal.knows(path) && !text.contains(entries::NAME) => {
                    change.note = Some(passed_over(&why));
                    return change;
                }
                removed => removed.map_err(|Unfit(why)| unreadable(path, &why)),
            };
            change.outcome = removed.map(|removed| match journal.restored(path, &text, removed) {
                Restored::Untouched => After::Unchanged,
                Restored::Absent => After::Absent,
                Restored::Bytes(original) => {
                    change.note = Some("as it was, to the byte".to_owned());
                    After::Text(original)
                }
                Restored::Less(less) => {
                    let why = if journal.knows(path) { "changed by others since: " } else { "" };
                    change.note = Some(format!("{why}our entries are gone, the rest is kept"));
                    After::Text(less)
                }
            });
            change.before = Some(text);
        }
    }
    change
}

/// What is said of a file that cannot be read and in which there is nothing to take back.
fn passed_over(why: &str) -> String {
    format!("passed over, nothing of ours is known to be in it: {}", clearway_core::text::shown(why))
}

fn page_change(host: &mut dyn Host, journal: &Journal, root: &Path, uninstall: bool) -> Vec<Change> {
    let pages = ["AGENTS.md", "CLAUDE.md"].map(|name| root.join(name));
    if uninstall {
        let back = |path: &PathBuf| take_back(host, journal, None, path, &|text, _| Ok(page::remove(text)));
        return pages.iter().map(back).collect();
    }
    let texts = pages.clone().map(|path| host.read_text(&path));
    let there = texts.iter().position(|text| !matches!(text, Ok(None)));
    let [first, second] = texts;
    let (path, text) = if there == Some(1) { (pages[1].clone(), second) } else { (pages[0].clone(), first) };
    let (before, outcome) = match text {
        Err(failure) => (None, Err(unreadable(&path, &failure.message))),
        Ok(before) => {
            let after = page::install(before.as_deref().unwrap_or_default());
            let is_same = before.as_deref() == Some(&after);
            (before, Ok(if is_same { After::Unchanged } else { After::Text(after) }))
        }
    };
    vec![Change { client: None, path, before, outcome, note: None, way: Way::Text }]
}

/// Remembers first and writes then, so that whatever happens in between, what was there is known.
fn make(
    host: &mut dyn Host,
    journal: &mut Journal,
    journal_path: &Path,
    change: &Change,
    uninstall: bool,
) -> Result<(), Failure> {
    let path = &change.path;
    if matches!(change.way, Way::Hook(_) | Way::HookBack(_)) {
        return githooks::make(host, change);
    }
    if uninstall {
        match &change.outcome {
            Ok(After::Absent) => host.remove_text(path)?,
            Ok(After::Text(text)) => drop(write(host, change, text)?),
            _ => {}
        }
        let record = journal.forget(path).unwrap_or_default();
        record.directories.iter().rev().for_each(|directory| host.remove_empty_directory(directory));
        return host.write_private(journal_path, &journal.text());
    }
    let Ok(After::Text(after)) = &change.outcome else { return Ok(()) };
    let bare = change.before.as_deref().and_then(|before| bare(change, before, journal));
    journal.note(path, change.before.as_deref(), bare, after);
    host.write_private(journal_path, &journal.text())?;
    let made = write(host, change, after)?;
    if !made.is_empty() {
        journal.note_directories(path, made);
        host.write_private(journal_path, &journal.text())?;
    }
    Ok(())
}

fn write(host: &mut dyn Host, change: &Change, text: &str) -> Result<Vec<PathBuf>, Failure> {
    match change.way {
        Way::GitConfig => host.replace_git_config(&change.path, text).map(|()| Vec::new()),
        _ => host.replace_text(&change.path, text),
    }
}

/// A text as it is without us; `None` if that is nothing, and nothing was there before us.
fn bare(change: &Change, before: &str, journal: &Journal) -> Option<String> {
    let original = journal.original(&change.path);
    let removed = match change.client {
        None if change.way == Way::GitConfig => Some(githooks::bare_config(before)),
        None => Some(page::remove(before)),
        Some(client) => {
            file_of(client, &change.path).and_then(|file| file.form.remove(before, original).ok())
        }
    };
    match removed {
        Some(removed) if removed.is_hollow && journal.was_absent(&change.path) => None,
        Some(removed) => Some(removed.text),
        None => Some(before.to_owned()),
    }
}

fn read_journal(host: &mut dyn Host) -> Result<Journal, Failure> {
    let path = host.journal_path()?;
    Journal::read(host.read_text(&path)?.as_deref()).map_err(|why| unreadable_journal(&path, &why))
}

fn changed_meanwhile(path: &Path) -> Failure {
    Failure::new(Slug::ClientConfig, format!("{} was changed by somebody else meanwhile", shown(path)))
        .hint("nothing of it was written; run this again to see what would become of it now")
}

/// What files were before us is remembered nowhere else, so it is not written over.
fn unreadable_journal(path: &Path, why: &str) -> Failure {
    let message = format!("{} cannot be read: {why}", shown(path));
    Failure::new(Slug::ClientConfig, message)
        .hint("it remembers what files of clients were before: put it aside by hand, then run this again")
}

/// Our own program by a path that stays when it is replaced by a newer one: the one it is found by.
pub(super) fn stable_binary(host: &dyn Host) -> Result<String, Failure> {
    let own = host.own_binary().ok_or_else(|| {
        Failure::new(Slug::Internal, "the path of this program is not known").hint(hint::DOCTOR)
    })?;
    let path = host.surroundings().variables.get("PATH").cloned().unwrap_or_default();
    let candidates =
        path.split(':').filter(|part| part.starts_with('/')).map(|part| Path::new(part).join(entries::NAME));
    let own_id = host.file_id(&own);
    let by_name =
        candidates.into_iter().find(|candidate| own_id.is_some() && host.file_id(candidate) == own_id);
    Ok(by_name.unwrap_or(own).display().to_string())
}

pub(super) fn unreadable(path: &Path, why: &str) -> Failure {
    let why = clearway_core::text::shown(why);
    Failure::new(Slug::ClientConfig, format!("{} cannot be edited: {why}", shown(path)))
        .hint("mend it by hand, then run this again; nothing in it was changed")
}

fn no_home() -> Failure {
    Failure::new(Slug::StoreUnavailable, "HOME is not set, so no client's files can be found")
        .hint("set HOME")
}
