//! Whole commands against an engine in memory: what is written, where, and with which exit code.

mod answers;
mod clients;
mod schema;
mod stage;
mod texts;
mod turns;
