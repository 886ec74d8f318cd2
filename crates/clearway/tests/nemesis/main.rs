//! The nemesis: real processes against one store, with storms, deaths, failing disks, other clocks and tampering.
//!
//! Everything goes through the command line of the real binary. What is found true afterwards is judged by
//! `audit verify`, by `doctor`, and by a fold of the exported log that shares no code with the product. Some tests
//! need root, `strace` and namespaces; without them they fail and say so.

mod arena;
mod boots;
mod cases;
mod clients;
mod crashes;
mod deaths;
mod disks;
mod errors;
mod hooks;
mod looking;
mod matrix;
mod pauses;
mod repairs;
mod storms;
mod tampering;
