//! The hard tests of the engine: against the model, against damage, against crowds, against a full disk.

mod child;
mod contention;
mod flips;
mod migrations;
mod model;
mod script;
mod specimen;
mod support;
mod traces;
