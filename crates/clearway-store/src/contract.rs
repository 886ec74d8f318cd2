//! What an engine has to be able to do. Nothing here decides: an engine stores, finds and locks.
//!
//! For callers the contract is [`crate::execute()`]: one command, one transaction. For engines it is data:
//! begin and commit, load a [`ReadSet`], append bytes, apply an event to the projections. An engine that does
//! these can be SQLite, PostgreSQL or memory, and cannot answer differently from another.
//!
//! Nothing here assumes that the store is in the same process or on the same machine. [`Engine::open`] says at
//! once what will be asked behind the lock, and changes may stay with the engine until
//! [`Transaction::commit`], so a server can be asked twice and no more; it may keep the time itself; and a
//! commit whose answer got lost has an error of its own.

use clearway_core::command::Command;
use clearway_core::decide::Success;
use clearway_core::event::{Durability, Event};
use clearway_core::fold::State;
use clearway_core::ids::{AgentId, LeaseId, ScopeKey, Seq};
use clearway_core::lease::Lease;
use clearway_core::mail::{Message, MessageId};
use clearway_core::pattern::Fold;
use clearway_core::slice::{AgentView, ReadSet, Slice, Soft};
use clearway_core::time::Now;
use clearway_wire::chain::{self, ChainHash};
use clearway_wire::outcome;
use std::fmt;
use thiserror::Error;

/// Reads the clock of this machine.
pub type MachineClock<'a> = dyn FnMut() -> Result<Now, StoreError> + 'a;

/// A store of scopes.
pub trait Engine {
    /// What this engine is and can do, for `doctor` and for tests that assert it.
    fn capabilities(&self) -> Capabilities;

    /// The instant readers compare deadlines with. A store that several machines share keeps the time itself.
    fn now(&mut self, machine: &mut MachineClock<'_>) -> Result<Now, StoreError> {
        machine()
    }

    /// Locks the scope and begins a transaction. `None` if the scope has no store yet and `create` is false;
    /// an engine that keeps many scopes may answer with an empty one instead. Waiting is bounded; whoever is in
    /// the way is named in the error.
    fn begin(
        &mut self,
        scope: &ScopeKey,
        create: bool,
    ) -> Result<Option<Box<dyn Transaction + '_>>, StoreError>;

    /// Begins a transaction, reads the clock behind the lock and answers the read set at that instant. The clock
    /// comes after the wait: a grant must not be older than its own lease.
    fn open(
        &mut self,
        scope: &ScopeKey,
        create: bool,
        read: &ReadSet,
        machine: &mut MachineClock<'_>,
    ) -> Result<Opened<'_>, StoreError> {
        let mut transaction = self.begin(scope, create)?;
        let now = machine()?;
        let slice = match &mut transaction {
            Some(transaction) => transaction.load(read, &now)?,
            None => Slice::default(),
        };
        Ok(Opened { transaction, now, slice })
    }

    /// A consistent view of the scope that writes nothing. `None` if the scope has no store yet.
    fn snapshot(&mut self, scope: &ScopeKey) -> Result<Option<Box<dyn Snapshot + '_>>, StoreError>;

    /// Every scope that was ever written to, in the order of their keys.
    fn scopes(&mut self) -> Result<Vec<ScopeKey>, StoreError>;

    /// Whether a scope is one of them.
    fn has(&mut self, scope: &ScopeKey) -> Result<bool, StoreError> {
        Ok(self.scopes()?.contains(scope))
    }

    /// The scope that a key stands for, if that is another one: a repository that was moved goes on with its log. Only a
    /// key under which nothing was written stands for another.
    fn alias(&mut self, _key: &ScopeKey) -> Result<Option<ScopeKey>, StoreError> {
        Ok(None)
    }

    /// Makes a key stand for another scope. A log that was begun under it is put aside, if it still ends at `rev`:
    /// where to. An engine that finds scopes by other means than their place has nothing to adopt.
    fn adopt(&mut self, key: &ScopeKey, _scope: &ScopeKey, _rev: Seq) -> Result<Option<String>, StoreError> {
        let reason = "this store keeps no place of a scope".to_owned();
        Err(StoreError::Unavailable { path: key.to_string(), reason })
    }

    /// Waits until the scope's revision may have moved past `after`, at most `wait_ms`. A hint: it may be wrong
    /// in saying yes, never in saying no for longer than the engine's polling interval.
    fn changed(&mut self, scope: &ScopeKey, after: Seq, wait_ms: u64) -> Result<bool, StoreError>;

    /// What a doctor would want to know of the store. Reads only.
    fn examine(&mut self, scope: &ScopeKey) -> Result<Examination, StoreError>;

    /// Who is writing right now. Looks at every process of the machine if it has to, so only for a person who
    /// asks. An engine that cannot tell names nobody.
    fn writers(&mut self, _scope: &ScopeKey) -> Result<Vec<Holder>, StoreError> {
        Ok(Vec::new())
    }

    /// The head that something outside the log remembers, so that a log that went back is noticed.
    fn witness(&mut self, scope: &ScopeKey) -> Result<Option<Head>, StoreError>;

    /// Gives up room that was kept aside for a full disk. False if there is none to give up.
    fn make_room(&mut self, scope: &ScopeKey) -> Result<bool, StoreError>;

    /// Makes the disk promise everything committed so far.
    fn flush(&mut self, scope: &ScopeKey) -> Result<(), StoreError>;

    /// Makes the projections of a scope anew from its log, and changes nothing else.
    fn rebuild(&mut self, scope: &ScopeKey, state: &State) -> Result<(), StoreError>;
}

/// A consistent view of one scope.
pub trait Snapshot {
    /// The state a command asks for, [`in_order`]: at least that.
    fn load(&mut self, read: &ReadSet, now: &Now) -> Result<Slice, StoreError>;

    /// The end of the log.
    fn head(&mut self) -> Result<Head, StoreError>;

    /// At most `limit` events after `after`, in order.
    fn events(&mut self, after: Seq, limit: usize) -> Result<Vec<StoredEvent>, StoreError>;

    /// Leases for people to look at.
    fn leases(&mut self, wanted: LeaseListing, now: &Now) -> Result<Listed, StoreError>;

    /// Every agent.
    fn agents(&mut self, now: &Now) -> Result<Vec<AgentView>, StoreError>;

    /// What a key was used for, unless that is longer ago than keys are remembered.
    fn recall(&mut self, agent: AgentId, key: &str, now: &Now) -> Result<Option<Remembered>, StoreError>;

    /// The projections as they are stored, to be compared with the fold of the log.
    fn projection(&mut self) -> Result<State, StoreError>;

    /// Messages whose text is not what its event says: it lies beside the log, which cannot bring it back.
    fn lost_texts(&mut self) -> Result<LostTexts, StoreError>;
}

/// A transaction that has begun.
pub struct Opened<'a> {
    /// `None` if the scope has no store yet.
    pub transaction: Option<Box<dyn Transaction + 'a>>,
    /// The instant behind the lock.
    pub now: Now,
    /// What was asked for.
    pub slice: Slice,
}

impl std::fmt::Debug for Opened<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Opened").field("now", &self.now).finish_non_exhaustive()
    }
}

/// Puts a slice into the one order every engine answers in: leases by fence, agents and
/// negotiations by id, waits by place. A decision writes
/// events in the order it finds leases in, so two engines that order them differently would write two logs.
pub fn in_order(mut slice: Slice) -> Slice {
    slice.leases.sort_by_key(|lease| (lease.fence, lease.id));
    slice.agents.sort_by_key(|view| view.agent.id);
    slice.waits.sort_by_key(|view| view.wait.place);
    slice.negotiations.sort_by_key(|negotiation| negotiation.id);
    slice
}

/// A message's text, if it is still what was sent.
pub fn checked_text(message: &Message, text: Option<String>) -> Option<String> {
    text.filter(|text| chain::digest(text) == message.digest)
}

/// Messages whose text is not what was sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LostTexts {
    /// There is none any more.
    pub gone: Vec<MessageId>,
    /// There is another one, which nobody is shown.
    pub altered: Vec<MessageId>,
}

impl LostTexts {
    /// Takes one more message into account, with the text that is stored for it.
    pub fn look_at(&mut self, message: &Message, text: Option<String>) {
        match text {
            None => self.gone.push(message.id.clone()),
            Some(text) if checked_text(message, Some(text.clone())).is_none() => {
                self.altered.push(message.id.clone());
            }
            Some(_) => {}
        }
    }
}

/// A locked scope with changes that nobody sees before [`Transaction::commit`]. Dropping it undoes them. An
/// engine may keep changes to itself until then, and report at the commit what is wrong with them.
pub trait Transaction: Snapshot {
    /// Adds an event to the log.
    fn append(&mut self, event: &StoredEvent) -> Result<(), StoreError>;

    /// Brings the projections up to date with an event. An id or name that exists already is
    /// [`StoreError::IdTaken`].
    fn apply(&mut self, event: &Event) -> Result<(), StoreError>;

    /// Updates soft state.
    fn soften(&mut self, soft: &Soft, now: &Now) -> Result<(), StoreError>;

    /// Keeps an outcome for repetitions, and forgets what is older than the named limits.
    fn remember(&mut self, remembered: &Remembered, now: &Now) -> Result<(), StoreError>;

    /// Sees to it that the room is kept aside which giving back may use on a full disk, for whoever gives nothing back.
    /// [`StoreError::Full`] if there is none to keep. An engine that keeps none has nothing to do.
    fn keep_room(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Makes everything visible at once and at least as durable as asked, then wakes whoever waits for the scope.
    /// [`StoreError::Unsure`] if nobody can tell whether it did; after any other error nothing was changed, or
    /// the error says what is missing.
    fn commit(self: Box<Self>, durability: Durability) -> Result<(), StoreError>;
}

/// What an engine is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Its name.
    pub engine: &'static str,
    /// Its version, for `doctor`.
    pub version: String,
    /// Whether what it acknowledged survives the death of the process.
    pub durable: bool,
}

/// The end of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The last event.
    pub rev: Seq,
    /// Its hash.
    pub hash: ChainHash,
}

impl Head {
    /// Of a log without events.
    pub const EMPTY: Self = Self { rev: Seq(0), hash: ChainHash::GENESIS };
}

/// An event as it lies in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// Its place.
    pub seq: Seq,
    /// Its canonical bytes.
    pub bytes: Vec<u8>,
    /// Its hash.
    pub hash: ChainHash,
}

/// Which leases to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseListing {
    /// Those nobody ended, whether or not their time is over.
    Live,
    /// Those and the latest ended ones, at most so many of the latter.
    WithEnded(usize),
}

/// Leases, and the rows among them that cannot be read.
#[derive(Clone, Debug, Default)]
pub struct Listed {
    /// In the order of their fences.
    pub leases: Vec<Lease>,
    /// Ids of rows that could be read neither as stored nor from their events.
    pub unreadable: Vec<String>,
}

/// The remembered outcome of a keyed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// Whose key.
    pub agent: AgentId,
    /// The key.
    pub key: String,
    /// What was asked.
    pub request: [u8; 32],
    /// The revision answered.
    pub rev: Seq,
    /// The answer, as `clearway-wire` writes it.
    pub outcome: Vec<u8>,
}

impl Remembered {
    /// Whether this is what was asked.
    pub fn is_of(&self, command: &Command) -> bool {
        self.request == chain::digest(&command.digest_text())
    }

    /// The answer, in a scope that folds case like this.
    pub fn success(&self, fold: Fold) -> Result<Success, StoreError> {
        outcome::decode(&self.outcome, fold)
            .map_err(|error| StoreError::Internal(format!("remembered outcome: {error}")))
    }
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Examination {
    /// What was looked at.
    pub place: String,
    /// Whether it is there.
    pub exists: bool,
    /// Its schema number.
    pub schema: u32,
    /// The newest schema this build knows.
    pub schema_known: u32,
    /// Its size in bytes.
    pub bytes: u64,
    /// The size of what is not yet folded into it, in bytes.
    pub log_bytes: u64,
    /// Everything worth saying.
    pub findings: Vec<Finding>,
    /// What the gate remembers of the log.
    pub witness: Option<Head>,
}

impl Examination {
    /// Adds something wrong.
    pub fn error(&mut self, about: About, text: String) {
        self.findings.push(Finding { severity: Severity::Error, about, text, path: None });
    }
}

/// One thing found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What it is about.
    pub about: About,
    /// What it is.
    pub text: String,
    /// The file or directory it is about, if it is one.
    pub path: Option<String>,
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// Whether the store may be written.
    Access,
    /// Room for it.
    Disk,
    /// Room kept aside for a full disk.
    Ballast,
    /// What remembers the end of the log.
    Witness,
    /// Under which other names it can be reached.
    Names,
    /// Who else can reach it.
    Privacy,
    /// A log that is gone, and with it all that the store held.
    Lost,
    /// A log that is gone from a store that holds others: only the gate knows of it.
    Gate,
    /// Stored rows.
    Rows,
    /// The key that a log goes by.
    Key,
    /// Tables and indexes.
    Schema,
    /// The file itself.
    Pages,
    /// A file that is no store at all.
    Foreign,
    /// A directory that is not there.
    Nowhere,
}

impl About {
    /// One word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Access => "access",
            Self::Disk => "disk",
            Self::Ballast => "ballast",
            Self::Witness => "witness",
            Self::Names => "names",
            Self::Privacy => "privacy",
            Self::Lost => "lost",
            Self::Gate => "gate",
            Self::Rows => "rows",
            Self::Key => "key",
            Self::Schema => "schema",
            Self::Pages => "pages",
            Self::Foreign | Self::Nowhere => "store",
        }
    }

    /// Whether facts are damaged or gone, which is more than a nuisance.
    pub fn is_damage(self) -> bool {
        use About::{Foreign, Gate, Key, Lost, Pages, Rows, Schema};
        matches!(self, Lost | Gate | Rows | Key | Schema | Pages | Foreign)
    }
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Warning,
    /// Wrong.
    Error,
}

/// How others than its user get at a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Openness {
    /// Its mode lets them.
    Mode,
    /// It lies in a directory that is meant for everybody.
    Shared,
    /// It belongs to somebody else.
    Owner,
}

/// What keeps a writer out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holder {
    /// A process of this machine.
    Process {
        /// Its number; 0 where it cannot be seen.
        pid: u32,
        /// The short name of its command; empty where it cannot be seen.
        command: String,
        /// What it is doing, in words.
        state: String,
        /// Whether it stands still until somebody lets it go on.
        is_stopped: bool,
        /// What it holds, in words.
        holds: String,
    },
    /// What the engine alone can tell, or what happened meanwhile.
    Told(String),
}

impl fmt::Display for Holder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process { pid, command, state, holds, .. } if command.is_empty() => {
                write!(out, "pid {pid}, {state}, holds {holds}")
            }
            Self::Process { pid, command, state, holds, .. } => {
                write!(out, "pid {pid} ({command}), {state}, holds {holds}")
            }
            Self::Told(text) => out.write_str(text),
        }
    }
}

/// How much room something takes on a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// All of it, at least.
    pub bytes: u64,
    /// What of it is kept aside for giving back when the disk is full.
    pub kept_bytes: u64,
}

/// What a disk has too little of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// Bytes, and what it takes of them, where the engine can tell.
    Bytes(Option<Room>),
    /// Files that can be made, however small.
    Files {
        /// So many more.
        free: u64,
        /// So many are needed at least.
        needed: u64,
    },
    /// What the user may take up.
    Quota,
}

impl Lack {
    /// What is said of a file for which there is no room.
    fn said(self, path: &str, disk: &str, free_bytes: u64) -> String {
        match self {
            Self::Bytes(needs) => {
                let needed = needs.map(Room::said).unwrap_or_default();
                format!("too little space is left for {path}: {free_bytes} bytes are free on {disk}{needed}")
            }
            Self::Files { free, needed } => format!(
                "no more files can be made for {path}: there is room for {free} on {disk}, and at least {needed} \
                 {} needed, though {free_bytes} bytes are free",
                if needed == 1 { "is" } else { "are" }
            ),
            Self::Quota => {
                format!("no more can be written for {path}: the quota of its user on {disk} is used up")
            }
        }
    }
}

impl Room {
    fn said(self) -> String {
        match self {
            Self { bytes, kept_bytes: 0 } => format!(", and at least {bytes} are needed"),
            Self { bytes, kept_bytes } => format!(
                ", and at least {bytes} are needed, {kept_bytes} of them kept aside for giving leases back"
            ),
        }
    }
}

/// Why a store could not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StoreError {
    /// Another writer did not let go in time.
    #[error("waited {waited_ms} ms for another writer")]
    Busy {
        /// How long.
        waited_ms: u64,
        /// Who or what was in the way, as far as it can be told.
        holders: Vec<Holder>,
    },
    /// No room.
    #[error("{}", lack.said(path, disk, *free_bytes))]
    Full {
        /// What was to be written.
        path: String,
        /// Where its file system is mounted.
        disk: String,
        /// What is left there.
        free_bytes: u64,
        /// What there is too little of.
        lack: Lack,
    },
    /// May not be written.
    #[error("{path} cannot be written: {reason}")]
    ReadOnly {
        /// Where.
        path: String,
        /// Why.
        reason: String,
    },
    /// May not even be looked at.
    #[error("{path} cannot be read: {reason}")]
    Unreadable {
        /// Where.
        path: String,
        /// Why.
        reason: String,
    },
    /// Cannot be opened, read or written.
    #[error("{path} cannot be used: {reason}")]
    Unavailable {
        /// Where.
        path: String,
        /// Why.
        reason: String,
    },
    /// The answer to a commit was lost: the change was made, or it was not.
    #[error("{path} did not say whether the change was made")]
    Unsure {
        /// Where.
        path: String,
    },
    /// Others could read or change it.
    #[error("{path} is not private: {reason}")]
    NotPrivate {
        /// Where.
        path: String,
        /// What is wrong.
        reason: String,
        /// How others get at it.
        openness: Openness,
    },
    /// Locks there do not hold.
    #[error("{path} lies on a network file system ({kind})")]
    Network {
        /// Where.
        path: String,
        /// Which.
        kind: String,
    },
    /// It has several names, and whoever comes by another one is kept out by another gate.
    #[error("{path} is one of {names} names of the same file, and each name has a gate of its own")]
    SeveralNames {
        /// Where.
        path: String,
        /// How many.
        names: u64,
    },
    /// Nowhere: somebody named it, and the directory it is to lie in is not there.
    #[error("there is no directory {directory} for the store to lie in")]
    Nowhere {
        /// The directory.
        directory: String,
    },
    /// A way to it, and not itself.
    #[error("{path} is a symbolic link: the gate of a store lies beside the file itself")]
    Link {
        /// Where.
        path: String,
    },
    /// Written by a newer build.
    #[error("{path} has schema {found}; this build knows up to {known}")]
    Newer {
        /// Where.
        path: String,
        /// The schema found.
        found: u32,
        /// The newest this build knows.
        known: u32,
    },
    /// Damaged.
    #[error("{path} is damaged: {reason}")]
    Corrupt {
        /// Where.
        path: String,
        /// How it showed.
        reason: String,
    },
    /// Something else lies where the store is to be, or what was it was written over.
    #[error("{path} is no database")]
    NoDatabase {
        /// Where.
        path: String,
    },
    /// Gone, or without what it held, while something beside it remembers.
    #[error("{path} has lost a log: {reason}")]
    Lost {
        /// Where.
        path: String,
        /// What remembers it.
        reason: String,
        /// Whether it still holds other scopes.
        holds_others: bool,
    },
    /// A drawn id or name exists already; draw again.
    #[error("the id is taken")]
    IdTaken,
    /// One row cannot be read.
    #[error("row {0} cannot be read")]
    UnreadableRow(LeaseId),
    /// A defect.
    #[error("{0}")]
    Internal(String),
}
