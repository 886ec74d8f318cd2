//! Which engine, and where its files are.

use clearway_core::failure::Failure;
use clearway_core::slug::Slug;
use clearway_core::text::shown;
use clearway_kernel::StoreAt;
use clearway_kernel::config::file_of;
use clearway_platform::files::{FsKind, file_system_kind};
use clearway_store::contract::Engine;
use clearway_store_sqlite::{Place, Schema, Settings, SqliteEngine};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where an engine over the configured store comes from.
pub type Engines = fn(Settings) -> Box<dyn Engine>;

/// One for this call alone.
pub(crate) fn fresh(settings: Settings) -> Box<dyn Engine> {
    Box::new(SqliteEngine::new(settings))
}

/// The configured store. One that cannot be used is never replaced by another one.
pub(crate) fn settings(
    state: &Path,
    runtime_dir: PathBuf,
    store: StoreAt<'_>,
    timeout: Duration,
) -> Result<Settings, Failure> {
    Ok(Settings {
        place: place(state, store)?,
        runtime_dir,
        timeout,
        network,
        schema: Schema::CURRENT,
        leave_open: true,
    })
}

/// Where scopes live under a configuration.
pub(crate) fn place(state: &Path, store: StoreAt<'_>) -> Result<Place, Failure> {
    let Some(url) = store.url else { return Ok(Place::PerScope(state.to_owned())) };
    let Some(file) = file_of(url) else {
        let message =
            format!("this build has no engine for {}://", shown(url.split(':').next().unwrap_or(url)));
        return Err(Failure::new(Slug::StoreUnavailable, message)
            .hint("name a file: --store /path/to/store.db or CLEARWAY_STORE=/path/to/store.db"));
    };
    let absolute = store.from.join(file);
    if absolute.is_dir() || absolute.file_name().is_none() {
        let message = format!("{} is a directory, not a store", shown(&absolute.display().to_string()));
        return Err(
            Failure::new(Slug::StoreUnavailable, message).hint("name a file in it: --store DIR/store.db")
        );
    }
    Ok(Place::OneFile(absolute))
}

/// Names the network file system a path lies on: its locks do not hold between machines.
fn network(path: &Path) -> Option<String> {
    match file_system_kind(path) {
        Ok(FsKind::Network(kind)) => Some(kind.to_owned()),
        _ => None,
    }
}
