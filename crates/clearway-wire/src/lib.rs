//! Clearway's bytes.
//!
//! - [`canonical`] and [`chain`]: events as they are stored and hashed.
//! - [`outcome`]: remembered answers.
//! - [`json`]: what programs read, with JSON Schemas.
//!
//! Only this crate and the adapters serialise. It refuses to decide anything.

pub mod canonical;
pub mod chain;
mod codec;
pub mod json;
pub mod outcome;

pub use codec::DecodeError;
