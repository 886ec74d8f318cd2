//! The stable names of everything that can go wrong, with kind and exit code: one table for every interface.

use std::fmt;

/// What sort of failure it is; decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureKind {
    /// An expected negative: somebody holds it, a verification failed.
    Negative,
    /// The words of the call are wrong.
    Usage,
    /// Policy or role forbids it.
    Refused,
    /// The caller knows an older state.
    Stale,
    /// What was named does not exist.
    NotFound,
    /// The store cannot be used.
    Unavailable,
    /// A defect of Clearway.
    Internal,
    /// The answer could not be written.
    Output,
    /// Somebody else is in the way for a moment.
    Busy,
    /// A configuration file or variable is wrong.
    Configuration,
    /// What a command ran under was lost, and the command was ended.
    Lost,
    /// The command to run is there and cannot be run.
    Unrunnable,
    /// The command to run is not there.
    NoCommand,
}

impl FailureKind {
    /// The exit code of every command but `hook`.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Negative => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::Stale => 4,
            Self::NotFound => 5,
            Self::Unavailable => 69,
            Self::Internal => 70,
            Self::Output => 74,
            Self::Busy => 75,
            Self::Configuration => 78,
            Self::Lost => 124,
            Self::Unrunnable => 126,
            Self::NoCommand => 127,
        }
    }

    /// The word used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Negative => "negative",
            Self::Usage => "usage",
            Self::Refused => "refused",
            Self::Stale => "stale",
            Self::NotFound => "not-found",
            Self::Unavailable => "unavailable",
            Self::Internal => "internal",
            Self::Output => "output",
            Self::Busy => "busy",
            Self::Configuration => "configuration",
            Self::Lost => "lost",
            Self::Unrunnable => "unrunnable",
            Self::NoCommand => "no-command",
        }
    }
}

macro_rules! slugs {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $kind:ident;)*) => {
        /// A failure by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Slug { $($(#[$doc])* $name,)* }

        impl Slug {
            /// Every slug, in the order of the reference.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The text.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// Its kind.
            pub fn kind(self) -> FailureKind {
                match self { $(Self::$name => FailureKind::$kind,)* }
            }
        }
    };
}

slugs! {
    /// Somebody else holds it.
    ReservationHeld = "reservation-held", Negative;
    /// Waiting for it would never end.
    WouldDeadlock = "would-deadlock", Negative;
    /// A person stopped new edits for a while.
    Frozen = "frozen", Negative;
    /// The commit would take along what is with somebody else.
    CommitRefused = "commit-refused", Negative;
    /// Nothing of what is changed is the caller's.
    NothingToCommit = "nothing-to-commit", Negative;
    /// Somebody else has changes in the checkout that are not committed.
    OthersAtWork = "others-at-work", Negative;
    /// What was asked for may not be taken yet.
    ForceTooEarly = "force-too-early", Negative;
    /// The log does not verify.
    AuditBroken = "audit-broken", Negative;
    /// The doctor found something wrong.
    Unhealthy = "unhealthy", Negative;
    /// A client on this machine does not run our hooks yet.
    ClientNotActive = "client-not-active", Negative;

    /// The command line cannot be read.
    Usage = "usage", Usage;
    /// The pattern cannot be read.
    InvalidPattern = "invalid-pattern", Usage;
    /// The path cannot be used.
    InvalidPath = "invalid-path", Usage;
    /// The path is not in this scope.
    OutsideScope = "outside-scope", Usage;
    /// The resource name cannot be used.
    InvalidName = "invalid-name", Usage;
    /// The agent name cannot be used.
    InvalidAgentName = "invalid-agent-name", Usage;
    /// The id cannot be one of ours.
    InvalidId = "invalid-id", Usage;
    /// The duration cannot be read or is out of range.
    InvalidDuration = "invalid-duration", Usage;
    /// Something is larger than its named limit.
    TooLarge = "too-large", Usage;
    /// There is no scope here.
    NoScope = "no-scope", Usage;
    /// Nobody can tell who is calling.
    NoIdentity = "no-identity", Usage;
    /// Nobody said that it may be done.
    NotConfirmed = "not-confirmed", Usage;
    /// There is no checkout of a git repository here.
    NoCheckout = "no-checkout", Usage;
    /// The caller holds what it asks for.
    AskedOneself = "asked-oneself", Usage;
    /// An answer is put off by too little or too much.
    EtaOutOfRange = "eta-out-of-range", Usage;
    /// The key was used for another request.
    IdempotencyMismatch = "idempotency-mismatch", Usage;

    /// The id is that of another message.
    MessageExists = "message-exists", Usage;

    /// The lease is somebody else's.
    NotHolder = "not-holder", Refused;
    /// The request is between two others.
    NotParty = "not-party", Refused;
    /// A person stopped the agent.
    Halted = "halted", Refused;
    /// A running command keeps the lease.
    HeldByCommand = "held-by-command", Refused;
    /// The name is somebody else's.
    NotYou = "not-you", Refused;
    /// Only an operator may do it.
    NotOperator = "not-operator", Refused;
    /// The claim covers too much to be taken by accident.
    ClaimTooBroad = "claim-too-broad", Refused;
    /// The agent that is to get it is gone.
    RecipientGone = "recipient-gone", Refused;
    /// A quota is used up.
    QuotaExceeded = "quota-exceeded", Refused;
    /// Somebody takes no mail from the caller.
    NotAccepted = "not-accepted", Refused;
    /// The message was sent to others.
    NotRecipient = "not-recipient", Refused;
    /// A repository would be removed, and what is in it alone.
    RemovesRepository = "removes-repository", Refused;

    /// The fence is not the lease's current one.
    StaleFence = "stale-fence", Stale;
    /// The lease is over.
    LeaseExpired = "lease-expired", Stale;
    /// The request is over.
    AlreadyAnswered = "already-answered", Stale;
    /// The log no longer holds the event the cursor points at.
    CursorDiverged = "cursor-diverged", Stale;

    /// Nothing has that id.
    NotFound = "not-found", NotFound;
    /// Nobody of that name is here to be written to.
    UnknownRecipient = "unknown-recipient", NotFound;
    /// There is no such thread of the caller's.
    UnknownThread = "unknown-thread", NotFound;
    /// There is no page for that slug.
    UnknownSlug = "unknown-slug", NotFound;

    /// The store cannot be reached or opened.
    StoreUnavailable = "store-unavailable", Unavailable;
    /// A newer Clearway wrote the store.
    StoreNewer = "store-newer", Unavailable;
    /// The store is damaged.
    StoreCorrupt = "store-corrupt", Unavailable;
    /// The store is gone, but not what remembers it.
    StoreLost = "store-lost", Unavailable;
    /// There is no room on the disk.
    StoreFull = "store-full", Unavailable;
    /// The store cannot be written.
    StoreReadOnly = "store-read-only", Unavailable;
    /// Others can reach the store.
    StoreNotPrivate = "store-not-private", Unavailable;
    /// The store lies on a network file system.
    NetworkFileSystem = "network-file-system", Unavailable;
    /// There is no git to be run.
    GitMissing = "git-missing", Unavailable;
    /// Git did not do it.
    GitFailed = "git-failed", Unavailable;
    /// What is not committed is more than a snapshot may hold.
    SnapshotTooLarge = "snapshot-too-large", Unavailable;
    /// A file that is to be kept cannot be read.
    SnapshotUnreadable = "snapshot-unreadable", Unavailable;
    /// A file of a snapshot cannot be brought back.
    RestoreFailed = "restore-failed", Unavailable;
    /// A client's configuration cannot be written.
    ClientConfigUnwritable = "client-config-unwritable", Unavailable;
    /// A row of the operation cannot be read.
    UnreadableRow = "unreadable-row", Unavailable;

    /// Another writer did not let go in time.
    StoreBusy = "store-busy", Busy;

    /// A defect.
    Internal = "internal", Internal;

    /// Standard output cannot be written.
    OutputUnwritable = "output-unwritable", Output;

    /// The file is not TOML.
    ConfigSyntax = "config-syntax", Configuration;
    /// No such key.
    ConfigUnknownKey = "config-unknown-key", Configuration;
    /// The value has the wrong type.
    ConfigWrongType = "config-wrong-type", Configuration;
    /// The value makes no sense.
    ConfigBadValue = "config-bad-value", Configuration;
    /// The file may not hold that value.
    ConfigUnsafe = "config-unsafe", Configuration;
    /// A client's configuration cannot be edited.
    ClientConfig = "client-config", Configuration;

    /// A command lost the lease it ran under.
    LeaseLost = "lease-lost", Lost;
    /// The command to run cannot be run.
    CommandNotExecutable = "command-not-executable", Unrunnable;
    /// The command to run is nowhere.
    CommandNotFound = "command-not-found", NoCommand;
}

impl Slug {
    /// Reads a slug.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|slug| slug.as_str() == text)
    }

    /// The exit code of a command that fails with it.
    pub fn exit_code(self) -> u8 {
        self.kind().exit_code()
    }
}

impl fmt::Display for Slug {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_slug_is_unique_kebab_case_and_reads_back() {
        let texts: BTreeSet<&str> = Slug::ALL.iter().map(|slug| slug.as_str()).collect();
        assert_eq!(texts.len(), Slug::ALL.len());
        for slug in Slug::ALL {
            assert!(slug.as_str().bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{slug}");
            assert_eq!(Slug::parse(slug.as_str()), Some(*slug));
        }
    }

    #[test]
    fn the_five_answers_a_script_tells_apart_have_five_codes() {
        let codes: BTreeSet<u8> =
            ["reservation-held", "usage", "store-busy", "internal", "not-holder", "stale-fence", "not-found"]
                .iter()
                .map(|text| Slug::parse(text).unwrap().exit_code())
                .collect();
        assert_eq!(codes, BTreeSet::from([1, 2, 3, 4, 5, 70, 75]));
    }
}
