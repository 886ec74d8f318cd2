//! Use cases over contracts: load, decide, commit, announce.
//!
//! A [`Session`] is one caller in one scope; every verb of every interface is one of its methods. Everything of
//! the outside comes in through [`Outside`]. This crate refuses to know a concrete engine, a file system, git, a
//! protocol or a terminal.

mod around;
mod attribution;
pub mod audit;
mod checked;
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
mod lately;
mod later;
mod ledger;
mod lines;
mod listings;
mod mailboxes;
mod mailing;
mod mutations;
mod negotiating;
mod notifying;
mod outage;
mod outside;
mod overwriting;
mod overwritten;
mod own;
mod parts;
mod passing;
mod placing;
mod queueing;
mod radar;
mod rooted;
mod running;
mod scopes;
mod session;
mod sharing;
mod shelf;
mod shelter;
mod site;
mod snapshots;
mod spelling;
mod stashes;
mod stashing;
mod targets;
mod touched;
mod turns;
mod waiting;
mod warned;

pub use attribution::Changed;
pub use audit::{Anchor, AnchorOutcome, Exported, Verified};
pub use checked::UncheckedCommit;
pub use committing::{CommitWords, Committed};
pub use digest::{Deeds, Digest, LongestWait, Passed};
pub use doctor::{Check, CheckStatus, Diagnosis, Repaired};
pub use editing::{Ruling, before_edit};
pub use events::{EventFilter, EventSeen, Events};
pub use failures::{config_failure, store_failure};
pub use finding::{AgentPlace, ProcessPlace};
pub use githooks::{
    GitAnswer, INSIDE_COMMIT, RefMove, Saying, after_commit, before_commit, before_move, before_push,
    before_rebase,
};
pub use ground::{ConfigPlace, config_places};
pub use hooking::{
    Answers, Company, Doing, HookCall, ScopeAnswer, Stands, attend, company, fields_of_tool, keep_changed,
    may_be_invited,
};
pub use later::{keep_for_later, kept_for_now, told_before, was_told_before};
pub use ledger::{AgentCost, CallEnd, Cost, HookNote, Noted, note_call};
pub use lines::{Attributed, AttributedFile, Author, ChangedRun, Uncommitted, Wrote};
pub use listings::{AgentSeen, Agents, LeaseFilter, Leases, Status, Who};
pub use mailboxes::{
    InboxWords, MailPage, MailSeen, Measure, StaleAck, StaleAcks, ThreadSeen, Threads, Unread,
};
pub use mailing::{RulesWords, SendWords, mail_answer};
pub use mutations::{Checked, ChosenWords, ReleaseWords, RenewWords, ReserveWords};
pub use negotiating::{AnswerWords, AskWords, Negotiations};
pub use outage::{Failing, Outage, outage};
pub use outside::{
    Brings, BuildFacts, ChangedPaths, CheckedOut, CommitOrder, Commits, Destination, Errand, FileId,
    GitCommit, Head, HeadMove, Knows, NoSite, Order, Outside, PutAside, Running, Staged, StoreAt,
    Surroundings, UnderWay,
};
pub use overwriting::{Overwrite, WholeText};
pub use overwritten::OverwrittenFile;
pub use own::Mine;
pub use placing::{Adoption, ScopeSeen};
pub use queueing::Waits;
pub use radar::{Conflict, Foreseen, Radar, Tip, foreseen_at_rest};
pub use running::{Held, Run, WithWait, WithWords};
pub use scopes::MachineWide;
pub use session::{Globals, Hook, Session};
pub use sharing::{Sharing, before_git};
pub use shelf::{
    Back, BackOrder, BackPlan, BackState, DraftOrder, Drafted, Shelf, SnapshotFile, SnapshotSeen,
};
pub use shelter::{Refusal, Shelter, Sheltered, Unkept, before_shell, destroyed_by, unkept_by};
pub use site::{Found, Located, Site, SiteKind, directory_key, scope_key};
pub use snapshots::{Loss, Plan, SnapshotShown, Snapshots, Taken, no_checkout};
pub use turns::abandon as abandon_turns;
pub use waiting::{AtEnd, Standing, Watcher};

/// What a verb that changes something answers.
pub use clearway_store::Reply;
