//! Use cases over contracts: load, decide, commit, announce.
//!
//! A [`Session`] is one caller in one scope; every verb of every interface is one of its methods. Everything of
//! the outside comes in through [`Outside`]. This crate refuses to know a concrete engine, a file system, git, a
//! protocol or a terminal.

mod attribution;
pub mod audit;
mod committing;
mod common;
pub mod config;
mod digest;
mod doctor;
mod earlier;
mod editing;
mod events;
mod failures;
mod finding;
mod githooks;
mod ground;
mod handing;
mod hooking;
mod identity;
mod lapses;
mod later;
mod ledger;
mod lines;
mod listings;
mod mutations;
mod negotiating;
mod outage;
mod outside;
mod overwriting;
mod own;
mod parts;
mod passing;
mod placing;
mod queueing;
mod running;
mod scopes;
mod session;
mod shelf;
mod shelter;
mod site;
mod snapshots;
mod spelling;
mod targets;
mod touched;
mod waiting;
mod warned;

pub use attribution::Changed;
pub use audit::{Anchor, AnchorOutcome, Exported, Verified};
pub use committing::{CommitWords, Committed};
pub use digest::{Deeds, Digest, LongestWait, Passed};
pub use doctor::{Check, CheckStatus, Diagnosis, Repaired};
pub use editing::{Ruling, before_edit};
pub use events::{EventFilter, EventSeen, Events};
pub use failures::{config_failure, store_failure};
pub use finding::{AgentPlace, ProcessPlace};
pub use githooks::{GitAnswer, after_commit, before_commit, before_rebase};
pub use ground::{ConfigPlace, config_places};
pub use hooking::{
    Answers, Doing, HookCall, ScopeAnswer, Stands, attend, company, fields_of_tool, keep_changed,
};
pub use later::{keep_for_later, kept_for_now, told_before, was_told_before};
pub use ledger::{AgentCost, CallEnd, Cost, HookNote, Noted, note_call};
pub use lines::{Attributed, AttributedFile, Author, ChangedRun, Uncommitted, Wrote};
pub use listings::{AgentSeen, Agents, LeaseFilter, Leases, Status, Who};
pub use mutations::{Checked, ChosenWords, ReleaseWords, RenewWords, ReserveWords};
pub use negotiating::{AnswerWords, AskWords, Negotiations};
pub use outage::{Outage, outage};
pub use outside::{
    BuildFacts, ChangedPaths, CommitOrder, Destination, FileId, GitCommit, Knows, Order, Outside, Running,
    Staged, StoreAt, Surroundings, UnderWay,
};
pub use overwriting::{Overwrite, WholeText};
pub use own::Mine;
pub use placing::{Adoption, ScopeSeen};
pub use queueing::Waits;
pub use running::{Held, Run, WithWait, WithWords};
pub use scopes::MachineWide;
pub use session::{Globals, Hook, Session};
pub use shelf::{Back, BackOrder, BackState, DraftOrder, Drafted, Shelf, SnapshotFile, SnapshotSeen};
pub use shelter::{Sheltered, before_shell};
pub use site::{Found, Located, Site, SiteKind, scope_key};
pub use snapshots::{Plan, SnapshotShown, Snapshots, Taken, no_checkout};
pub use waiting::{AtEnd, Standing, Watcher};

/// What a verb that changes something answers.
pub use clearway_store::Reply;
