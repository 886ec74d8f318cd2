//! A key that stands for another scope: a file in the key's directory names it. It counts only where there is no store.

use crate::engine::SqliteEngine;
use crate::errors;
use crate::place::Place;
use clearway_core::ids::{ScopeKey, Seq};
use clearway_platform::files::{self, with_suffix};
use clearway_store::contract::{Holder, Snapshot as _, StoreError};
use std::path::{Path, PathBuf};

const SUFFIX: &str = "-alias";
/// How often a log may have been put aside.
const ASIDE_MAX: usize = 1_000;

/// The file that names another scope.
pub(crate) fn alias_file(place: &Place, key: &ScopeKey) -> PathBuf {
    place.beside(key, SUFFIX)
}

/// The scope that a key without a store stands for.
pub(crate) fn alias(place: &Place, key: &ScopeKey) -> Result<Option<ScopeKey>, StoreError> {
    match place {
        Place::PerScope(_) => read(&alias_file(place, key)),
        Place::OneFile(_) => Ok(None),
    }
}

fn read(file: &Path) -> Result<Option<ScopeKey>, StoreError> {
    let text = files::read_text(file).map_err(|error| errors::looking(file, &error))?;
    Ok(text.as_deref().map(str::trim).and_then(ScopeKey::parse))
}

/// A store is not made where the scope goes on elsewhere: whoever looked before that has to look again.
pub(crate) fn refuse_adopted(store: &Path) -> Result<(), StoreError> {
    match read(&with_suffix(store, SUFFIX))? {
        None => Ok(()),
        Some(scope) => {
            let holders = vec![Holder::Told(format!("it goes on as {scope}"))];
            Err(StoreError::Busy { waited_ms: 0, holders })
        }
    }
}

impl SqliteEngine {
    /// Names the other scope first: from the moment the store is moved away nobody can make another one.
    pub(crate) fn make_stand_for(
        &mut self,
        key: &ScopeKey,
        scope: &ScopeKey,
        rev: Seq,
    ) -> Result<Option<String>, StoreError> {
        let place = self.settings.place.clone();
        let (store, alias) = (place.file(key), alias_file(&place, key));
        let fail = |error: files::FileError| errors::file(&alias, &error);
        if let Place::OneFile(file) = &place {
            let reason = "one file holds every scope used with it".to_owned();
            return Err(StoreError::Unavailable { path: file.display().to_string(), reason });
        }
        let directory = store.parent().unwrap_or(&store).to_owned();
        files::create_private_dir_all(&directory).map_err(fail)?;
        files::write_atomic(&alias, scope.as_str().as_bytes()).map_err(fail)?;
        let aside = self.put_aside(key, &directory, rev);
        if aside.is_err() {
            files::remove_if_present(&alias).map_err(fail)?;
        }
        self.writers.remove(&store);
        self.readers.remove(&store);
        aside.map(|aside| aside.map(|path| path.display().to_string()))
    }

    /// Moves everything that belongs to the log away while nobody else may write.
    fn put_aside(
        &mut self,
        key: &ScopeKey,
        directory: &Path,
        rev: Seq,
    ) -> Result<Option<PathBuf>, StoreError> {
        let alias = alias_file(&self.settings.place, key);
        let Some(mut transaction) = self.turn(key, false)? else { return Ok(None) };
        if transaction.head()?.rev != rev {
            let holders = vec![Holder::Told("somebody wrote to it meanwhile".to_owned())];
            return Err(StoreError::Busy { waited_ms: 0, holders });
        }
        let fail = |error: files::FileError| errors::file(directory, &error);
        let fresh = (1..ASIDE_MAX).map(|number| directory.join(format!("aside-{number}")));
        let aside = fresh.into_iter().find(|path| !files::exists(path)).unwrap_or(directory.join("aside"));
        files::create_private_dir_all(&aside).map_err(fail)?;
        let mut names = files::names_in(directory);
        names.retain(|name| !name.starts_with("aside") && !alias.ends_with(name));
        // The database first: without it there is no store, whatever else is left.
        names.sort_by_key(String::len);
        names
            .iter()
            .try_for_each(|name| files::rename(&directory.join(name), &aside.join(name)))
            .map_err(fail)?;
        Ok(Some(aside))
    }
}
