//! A deterministic simulation of the kernel: agents and their processes over the memory model, with faults, judged
//! after every step.
//!
//! - [`live`]: one life, which a seed determines from the first step to the last.
//! - [`campaign`]: many lives, the situations they reached, and the hunt for wrong decisions.
//! - [`bugs`]: the wrong decisions. Product code carries none of them.
//!
//! Nothing here reads a clock, draws randomness or starts a process.

pub mod bugs;
pub mod campaign;
mod cast;
mod checks;
mod engine;
mod ground;
mod ledger;
mod life;
mod probes;
mod rng;
mod script;
mod trace;
mod world;

pub use checks::{Invariant, Violation};
pub use life::{Lived, live};
pub use probes::{Probe, Probes};
pub use trace::Trace;
