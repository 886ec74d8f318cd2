//! What a doctor looks at: the file, its privacy, its schema, its pages, its rows, and who is writing.
//!
//! Reads only. The log itself is verified by `clearway_store::verify`.

use crate::ballast;
use crate::connect::{Reader, database_writers, refuse_lost, refuse_several_names};
use crate::engine::{Settings, SqliteEngine};
use crate::errors;
use crate::load::{ScopeRow, scope_row};
use crate::rows::legible;
use crate::schema::Schema;
use crate::snapshot::KeyedRow;
use crate::witness;
use clearway_core::ids::ScopeKey;
use clearway_core::limits::BALLAST_BYTES;
use clearway_platform::files::{self, Entry, FileError, PrivacyComplaint, with_suffix};
use clearway_platform::gate::{self, Gate};
use clearway_store::contract::{About, Examination, Finding, Head, Holder, Severity, StoreError};
use rusqlite::{Connection, Row};
use std::path::Path;

impl SqliteEngine {
    pub(crate) fn look_at(&mut self, scope: &ScopeKey) -> Result<Examination, StoreError> {
        let file = self.settings().place.file(scope);
        let schema = self.settings().schema;
        let mut found = Examination {
            place: file.display().to_string(),
            schema_known: schema.number(),
            ..Examination::default()
        };
        found.exists = files::exists(&file);
        if !found.exists {
            match refuse_lost(&file, schema, self.settings().timeout) {
                Err(lost @ StoreError::Lost { .. }) => found.error(About::Lost, lost.to_string()),
                _ => match self.settings().place.refuse_nowhere() {
                    Err(nowhere @ StoreError::Nowhere { .. }) => {
                        found.error(About::Nowhere, nowhere.to_string());
                    }
                    _ => look_at_place(&file, &mut found),
                },
            }
            look_at_privacy(&file, &self.settings().place.directories(&file), &mut found);
            return Ok(found);
        }
        found.bytes = files::length(&file).unwrap_or(0);
        found.log_bytes = files::length(&with_suffix(&file, "-wal")).unwrap_or(0);
        look_at_privacy(&file, &self.settings().place.directories(&file), &mut found);
        look_at_disk(&file, &mut found);
        look_at_gate(&file, &mut found);
        match Reader::open(&file, schema, self.settings().timeout) {
            Ok(Some(reader)) => {
                found.schema = reader.schema;
                look_inside(&reader.connection, &file, scope, schema, &mut found)?;
            }
            Ok(None) => look_at_empty(&mut found),
            Err(error) => note(&error, &mut found).ok_or(error)?,
        }
        Ok(found)
    }

    /// Who holds the gate or the database's write lock.
    pub(crate) fn seen_writing(&self, scope: &ScopeKey) -> Vec<Holder> {
        let file = self.settings().place.file(scope);
        let gates = gate::holders(&Gate::beside(&file));
        gates.into_iter().map(errors::holder).chain(database_writers(&file)).collect()
    }

    pub(crate) fn witnessed(&mut self, scope: &ScopeKey) -> Result<Option<Head>, StoreError> {
        let file = self.settings().place.file(scope);
        let Settings { schema, timeout, .. } = *self.settings();
        let Some(reader) = Reader::open(&file, schema, timeout)? else { return Ok(None) };
        let row = scope_row(&reader.connection, scope).map_err(|error| errors::sqlite(&file, &error))?;
        Ok(row.and_then(|row| witness::remembered(&file, row.id)))
    }
}

/// A file that a first reservation had made and did not come to fill is no harm.
fn look_at_empty(found: &mut Examination) {
    let text = "nothing is stored yet: the first reservation goes on from here".to_owned();
    found.findings.push(Finding { severity: Severity::Warning, about: About::Schema, text, path: None });
}

fn look_at_privacy(file: &Path, directories: &[&Path], found: &mut Examination) {
    let beside = ["", "-wal", "-shm", "-gate", "-next", "-ballast"].map(|suffix| with_suffix(file, suffix));
    for path in beside.iter().filter(|path| files::exists(path)) {
        say(path, files::privacy_complaints(path), found);
    }
    for directory in directories {
        say(directory, files::directory_complaints(directory), found);
    }
}

fn say(path: &Path, complaints: Result<Vec<PrivacyComplaint>, FileError>, found: &mut Examination) {
    for complaint in complaints.unwrap_or_default() {
        let text = format!("{}: {complaint}", path.display());
        let path = Some(path.display().to_string());
        found.findings.push(Finding { severity: Severity::Error, about: About::Privacy, text, path });
    }
}

/// Whether a store that is not there could be made.
fn look_at_place(file: &Path, found: &mut Examination) {
    let nearest = file.ancestors().find(|place| files::exists(place)).unwrap_or(file);
    if !files::can_write(nearest) {
        let text = format!(
            "{} does not exist, and cannot be made: {} cannot be written",
            file.display(),
            nearest.display()
        );
        found.error(About::Access, text);
    } else if errors::cannot_begin(file) {
        found.error(About::Disk, errors::full(file).to_string());
    }
}

/// What lies where the files of the turnstile belong and is none keeps everybody from writing.
fn look_at_gate(file: &Path, found: &mut Examination) {
    for path in ["-gate", "-next"].map(|suffix| with_suffix(file, suffix)) {
        if matches!(files::entry(&path), Ok(Some(Entry::Link | Entry::Other))) {
            let path = path.display().to_string();
            let text = format!("{path} is no regular file: reading works, reserving does not");
            let (severity, about) = (Severity::Error, About::Access);
            found.findings.push(Finding { severity, about, text, path: Some(path) });
        }
    }
}

/// A disk that refuses every write is wrong even though the store on it is whole.
fn look_at_disk(file: &Path, found: &mut Examination) {
    if let Err(error) = refuse_several_names(file) {
        found.error(About::Names, error.to_string());
    }
    let parent = file.parent().unwrap_or(file);
    if !files::can_write(parent) || !files::can_write(file) {
        found.error(
            About::Access,
            format!("{} cannot be written: reading works, reserving does not", file.display()),
        );
    } else if errors::has_no_room(file) || errors::lacks_ballast(file) {
        found.error(About::Disk, errors::full(file).to_string());
    } else if !ballast::is_kept(file) {
        let text = format!(
            "the room kept aside for a full disk, {BALLAST_BYTES} bytes, was given up: the next reservation takes it again"
        );
        found.findings.push(Finding { severity: Severity::Warning, about: About::Ballast, text, path: None });
    }
}

fn look_inside(
    connection: &Connection,
    file: &Path,
    scope: &ScopeKey,
    schema: Schema,
    found: &mut Examination,
) -> Result<(), StoreError> {
    let look = |found: &mut Examination| -> rusqlite::Result<()> {
        look_at_schema(connection, schema, found)?;
        look_at_pages(connection, found)?;
        look_for_lost_scopes(connection, file, found)?;
        look_at_remembered(connection, found)?;
        let row = scope_row(connection, scope)?;
        if let Some(row) = row {
            if row.is_renamed {
                found.error(About::Key, renamed(&row));
            }
            found.witness = witness::remembered(file, row.id);
            look_at_witness(row.head, found);
        }
        Ok(())
    };
    look(found).or_else(|error| {
        let error = errors::sqlite(file, &error);
        note(&error, found).ok_or(error)
    })
}

/// What keeps a store from being looked into is a finding, if it is a fault of the store.
fn note(error: &StoreError, found: &mut Examination) -> Option<()> {
    let (about, text) = match error {
        StoreError::Lost { .. } => (About::Lost, error.to_string()),
        StoreError::NoDatabase { .. } => (About::Foreign, error.to_string()),
        StoreError::Corrupt { reason, .. } => (About::Pages, reason.clone()),
        _ => return None,
    };
    found.error(about, text);
    Some(())
}

/// A gate that was removed or emptied is no damage, but until it remembers again nobody would miss the log's end.
fn look_at_witness(head: Head, found: &mut Examination) {
    if head.rev.0 > 0 && found.witness.is_none() {
        let text = format!(
            "the gate beside the store does not remember its {} events: it was removed or emptied, and whether the \
             log lost its end since, only an anchor could tell",
            head.rev
        );
        found.findings.push(Finding { severity: Severity::Warning, about: About::Witness, text, path: None });
    }
}

/// A lost constraint or index is an error by name.
fn look_at_schema(connection: &Connection, schema: Schema, found: &mut Examination) -> rusqlite::Result<()> {
    let (expected, actual) = (schema.expected()?, Schema::describe(connection)?);
    let name = |entry: &str| entry.split(": ").next().unwrap_or_default().to_owned();
    for missing in expected.iter().filter(|entry| !actual.contains(entry)) {
        found.error(About::Schema, format!("{} is missing or altered", name(missing)));
    }
    for extra in actual.iter().filter(|entry| !expected.iter().any(|known| name(known) == name(entry))) {
        found.error(About::Schema, format!("{} does not belong there", name(extra)));
    }
    Ok(())
}

fn look_at_pages(connection: &Connection, found: &mut Examination) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("PRAGMA integrity_check(20)")?;
    let lines: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    for line in lines.into_iter().filter(|line| line != "ok") {
        found.error(About::Pages, line);
    }
    Ok(())
}

/// Remembered answers are covered by no event, so each carries its own sum. All of them are looked at: a row
/// that strayed out of its scope is a row its scope has lost.
fn look_at_remembered(connection: &Connection, found: &mut Examination) -> rusqlite::Result<()> {
    let mut statement = connection
        .prepare("SELECT scope, agent, key, request, rev, outcome, boot, at, check_sum FROM idempotency")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if !is_as_written(row).unwrap_or(false) {
            let (agent, key) = (legible(row, 1), legible(row, 2));
            let text = format!("the remembered answer of agent {agent} for key {key:?} was altered");
            found.error(About::Rows, text);
        }
    }
    Ok(())
}

fn is_as_written(row: &Row<'_>) -> rusqlite::Result<bool> {
    let (agent, key, boot): (String, String, String) = (row.get(1)?, row.get(2)?, row.get(6)?);
    let (request, outcome, sum): (Vec<u8>, Vec<u8>, Vec<u8>) = (row.get(3)?, row.get(5)?, row.get(8)?);
    let keyed = KeyedRow {
        scope: row.get(0)?,
        agent: &agent,
        key: &key,
        request: &request,
        rev: row.get(4)?,
        outcome: &outcome,
        boot: &boot,
        at: row.get(7)?,
    };
    Ok(keyed.check_sum().as_slice() == sum)
}

/// A witness whose scope is not in the file remembers a log that is gone.
fn look_for_lost_scopes(
    connection: &Connection,
    file: &Path,
    found: &mut Examination,
) -> rusqlite::Result<()> {
    let mut is_known = connection.prepare("SELECT 1 FROM scopes WHERE id = ?")?;
    let holds_others = connection.prepare("SELECT 1 FROM scopes")?.exists([])?;
    let about = if holds_others { About::Gate } else { About::Lost };
    for (slot, head) in witness::all_remembered(file) {
        if !is_known.exists([slot])? {
            found.error(about, lost_scope(file, &head, holds_others).to_string());
        }
    }
    Ok(())
}

/// Whoever goes on under a key that is not the log's own breaks its chain of hashes.
pub(crate) fn refuse_renamed(row: &ScopeRow, file: &Path) -> Result<(), StoreError> {
    match row.is_renamed {
        true => Err(StoreError::Corrupt { path: file.display().to_string(), reason: renamed(row) }),
        false => Ok(()),
    }
}

fn renamed(row: &ScopeRow) -> String {
    format!("its log of {} events goes by another key than the one it was hashed with", row.head.rev)
}

/// A scope that only the gate remembers.
pub(crate) fn lost_scope(file: &Path, head: &Head, holds_others: bool) -> StoreError {
    let reason =
        format!("the gate beside it remembers a scope with {} events that it does not hold", head.rev);
    StoreError::Lost { path: file.display().to_string(), reason, holds_others }
}
