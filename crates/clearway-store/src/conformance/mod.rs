//! The stories every engine has to live through, told once.
//!
//! An engine's tests call [`run_all`] with a way to make a fresh engine. A story drives the real executor and the
//! real decision through a [`Stage`] whose clock, randomness and facts it controls; when it ends, the log must be
//! whole and every projection must be the fold of it.

mod circles;
mod commands;
mod commits;
mod families;
mod grants;
mod handover;
mod hooks;
mod identity;
mod log;
mod mail;
mod names;
mod negotiations;
mod queue;
mod quotas;
mod releases;
mod stage;
mod time;
mod turns;

pub use stage::Stage;

use crate::contract::Engine;

/// One story.
pub type Story = (&'static str, fn(&mut Stage));

/// Every story, by name.
pub fn stories() -> Vec<Story> {
    [
        grants::STORIES,
        releases::STORIES,
        time::STORIES,
        names::STORIES,
        identity::STORIES,
        families::STORIES,
        queue::STORIES,
        commands::STORIES,
        quotas::STORIES,
        turns::STORIES,
        circles::STORIES,
        handover::STORIES,
        hooks::STORIES,
        commits::STORIES,
        negotiations::STORIES,
        log::STORIES,
        mail::STORIES,
    ]
    .concat()
}

/// Runs every story on a fresh engine and names the ones that failed.
///
/// # Panics
/// If a story fails.
pub fn run_all(mut make: impl FnMut(&str) -> Box<dyn Engine>) {
    let mut failed = Vec::new();
    for (name, story) in stories() {
        let mut stage = Stage::new(make(name));
        let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            story(&mut stage);
            stage.must_be_whole();
        }));
        if told.is_err() {
            failed.push(name);
        }
    }
    assert!(failed.is_empty(), "stories that failed: {failed:?}");
}
