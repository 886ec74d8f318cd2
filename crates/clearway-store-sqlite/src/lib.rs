//! Clearway's embedded engine: SQLite, one file per scope by default.
//!
//! Start at [`SqliteEngine`]. Writers pass the turnstile, then `BEGIN IMMEDIATE`; readers open the file
//! read-only and never create, change or remove anything but SQLite's own `-shm`. This crate refuses to
//! decide: it stores, finds and locks.

mod adoption;
mod apply;
mod ballast;
mod connect;
mod engine;
mod errors;
mod examine;
mod leases;
mod load;
mod mail;
mod memory;
mod negotiations;
mod place;
mod private_copy;
mod projection;
mod rebuild;
mod rows;
mod schema;
mod snapshot;
mod transaction;
mod waits;
mod witness;

pub use engine::{Settings, SqliteEngine};
pub use memory::Heap;
pub use place::Place;
pub use schema::Schema;
