//! Use cases over contracts: load, decide, commit, announce.
//!
//! A [`Session`] is one caller in one scope; every verb of every interface is one of its methods. Everything of
//! the outside comes in through [`Outside`]. This crate refuses to know a concrete engine, a file system, git, a
//! protocol or a terminal.

mod attribution;
pub mod audit;
pub mod config;
mod digest;
mod doctor;
mod earlier;
mod events;
mod failures;
mod finding;
mod ground;
mod handing;
mod hooking;
mod identity;
mod later;
mod ledger;
mod lines;
mod listings;
mod mutations;
mod outage;
mod outside;
mod own;
mod passing;
mod placing;
mod queueing;
mod running;
mod scopes;
mod session;
mod site;
mod spelling;
mod targets;
mod touched;
mod waiting;

pub use attribution::Changed;
pub use audit::{Anchor, AnchorOutcome, Exported, Verified};
pub use digest::{Deeds, Digest, LongestWait, Passed};
pub use doctor::{Check, CheckStatus, Diagnosis, Repaired};
pub use events::{EventFilter, EventSeen, Events};
pub use failures::{config_failure, store_failure};
pub use finding::{AgentPlace, ProcessPlace};
pub use ground::{ConfigPlace, config_places};
pub use hooking::{
    Answers, Doing, Gate, HookCall, ScopeAnswer, attend, before_edit, company, fields_of_tool, keep_changed,
};
pub use later::{keep_for_later, kept_for_now};
pub use ledger::{AgentCost, CallEnd, Cost, HookNote, Noted, note_call};
pub use lines::{Attributed, AttributedFile, Author, ChangedRun, Uncommitted, Wrote};
pub use listings::{AgentSeen, Agents, LeaseFilter, Leases, Status, Who};
pub use mutations::{Checked, ChosenWords, ReleaseWords, RenewWords, ReserveWords};
pub use outage::{Outage, outage};
pub use outside::{BuildFacts, Destination, FileId, Knows, Order, Outside, Running, StoreAt, Surroundings};
pub use own::Mine;
pub use placing::{Adoption, ScopeSeen};
pub use queueing::Waits;
pub use running::{Held, Run, WithWait, WithWords};
pub use scopes::MachineWide;
pub use session::{Globals, Hook, Session};
pub use site::{Found, Located, Site, SiteKind, scope_key};
pub use waiting::{AtEnd, Standing, Watcher};

/// What a verb that changes something answers.
pub use clearway_store::Reply;
