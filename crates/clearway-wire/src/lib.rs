//! Clearway's bytes.
//!
//! - [`canonical`] and [`chain`]: events as they are stored and hashed.
//! - [`anchor`]: a signed head as it is kept.
//! - [`outcome`]: remembered answers.
//! - [`json`]: what programs read, with JSON Schemas.
//!
//! Only this crate and the adapters serialise. It refuses to decide anything.

pub mod anchor;
pub mod canonical;
pub mod chain;
mod codec;
pub mod hex;
pub mod json;
pub mod mail;
pub mod memo;
pub mod negotiating;
pub mod outcome;
pub mod waiting;

pub use codec::DecodeError;
