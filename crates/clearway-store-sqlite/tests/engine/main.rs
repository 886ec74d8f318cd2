//! The hard tests of the engine: against the model, against damage, against crowds, against a full disk.

mod model;
mod script;
mod support;
