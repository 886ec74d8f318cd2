//! PostgreSQL behind the storage contract: a proof, for tests alone. No product crate may depend on it.
//!
//! The contract claims that an engine stores, finds and locks, and nothing else. SQLite and the memory model share a
//! process with the executor; a server does not: it has its own clock, every question costs a round trip while the
//! scope is locked, a connection can be cut anywhere, and several processes are inside at once. Whatever the contract
//! got wrong about that shows here first. `docs/adr/0009-postgres-proof.md` says what did.
//!
//! The driver is `tokio-postgres`. It is the one kept by the people who write the protocol crate below it, it speaks
//! the extended protocol in binary, and several statements can be under way at once, which is what makes two round
//! trips of a dozen statements. The blocking `postgres` crate is a wrapper around it that gives pipelining away; `sqlx`
//! and `diesel` bring pools, macros and dialects that a contract of data has no use for; a protocol client of our own
//! would be more code than the engine. Its runtime has one thread and lives inside `link.rs`; nothing of it shows.
//!
//! Read `engine.rs`, then `load.rs`; `schema.sql` and `tables.rs` say what is stored; `server.rs` starts the server.

mod engine;
mod errors;
mod link;
mod load;
mod mail;
mod server;
mod tables;
mod transaction;

pub use engine::{Clock, PostgresEngine, Settings};
pub use link::{Link, install};
pub use server::Server;
