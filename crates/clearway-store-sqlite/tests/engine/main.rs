//! The hard tests of the engine: against the model, against damage, against crowds, against a full disk.

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
mod privacy;
mod script;
mod specimen;
mod support;
mod traces;
