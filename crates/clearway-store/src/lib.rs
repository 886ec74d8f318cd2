//! The storage contract: what callers get, what engines owe, and the proof that they agree.
//!
//! - [`execute()`]: one command, one transaction; the same code for every engine. [`preview()`]: the same, unwritten.
//! - [`contract`]: what an engine implements.
//! - [`memory`]: the model every engine is compared with.
//! - [`verify`]: whether a log is whole and its projections are its fold.
//! - [`conformance`]: the stories every engine has to live through.
//!
//! This crate refuses to know SQL, files, locks and clocks.

pub mod conformance;
pub mod contract;
pub mod execute;
pub mod memory;
pub mod verify;

pub use execute::{Lacking, Reply, Rules, World, execute, preview, with_facts};
