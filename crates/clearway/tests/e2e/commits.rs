//! Commits: those that take along what is one's own, and the check of those that git makes.

mod check;
mod crowd;
mod install;
mod managers;
mod matrix;
mod operations;
mod own;
mod past;
mod printed;
mod radar;
mod stage;
mod strict;

use clearway_testkit::Repository;

/// The paths in a commit, deletions included.
fn paths_in(app: &Repository<'_>, commit: &str) -> Vec<String> {
    let words = ["show", "--no-renames", "--name-only", "--format=", "-z", commit];
    app.git(&words).split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect()
}
