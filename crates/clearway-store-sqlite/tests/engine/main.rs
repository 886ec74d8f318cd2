//! The hard tests of the engine: against the model, against damage, against crowds, against a full disk.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test of an engine makes the files, processes and waits that the engine has to live with"
)]

mod attacks;
mod child;
mod contention;
mod damaged_rows;
mod flips;
mod full_disk;
mod hygiene;
mod locks;
mod migrations;
mod model;
mod mounts;
mod privacy;
mod rings;
mod script;
mod specimen;
mod support;
mod traces;
