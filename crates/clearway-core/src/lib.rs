//! Vocabulary and pure decisions of Clearway.
//!
//! Everything here is a value or a pure function. Time, randomness, facts about processes and facts about
//! files are arguments. This crate refuses to do I/O, to read a clock, to serialise, to know an engine.
//!
//! Start reading at [`decide`]: it answers one [`command::Command`] from a [`slice::Slice`] of state. The
//! events it returns are folded into state by [`fold`], which is the definition of what the log means.

pub mod agent;
pub mod alert;
pub mod authorship;
pub mod breadth;
pub mod command;
pub mod commit;
pub mod decide;
mod digest;
pub mod duration;
pub mod event;
pub mod facts;
pub mod failure;
pub mod fold;
pub mod git_line;
pub mod grasp;
pub mod harm;
pub mod hint;
pub mod ids;
pub mod input;
pub mod lease;
pub mod limits;
pub mod mail;
pub mod nearest;
pub mod negotiation;
pub mod path;
pub mod pattern;
mod reading;
pub mod redact;
pub mod refused;
mod relations;
pub mod shell;
pub mod slice;
pub mod slug;
pub mod snapshot;
pub mod stash;
pub mod target;
pub mod text;
pub mod time;
pub mod unit;
pub mod wait;
