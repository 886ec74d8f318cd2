//! Every limit of the kernel, by name and with its unit. Beyond one: a clear error, nothing changed.

/// Shortest silence after which a lease may expire.
pub const TTL_MS_MIN: u64 = 1_000;
/// Longest silence a lease may be granted.
pub const TTL_MS_MAX: u64 = 24 * 60 * 60 * 1_000;
/// Silence granted to a lease taken by `reserve` when none is named.
pub const TTL_MS_CLAIMED: u64 = 30 * 60 * 1_000;
/// Silence granted to a lease taken by a hook.
pub const TTL_MS_AUTO: u64 = 15 * 60 * 1_000;
/// Absolute end given to a broad claim.
pub const BROAD_MS_MAX: u64 = 10 * 60 * 1_000;
/// Tracked files a claim may cover before it counts as broad.
pub const BROAD_FILES: u64 = 200;

/// Targets in one request.
pub const TARGETS_PER_REQUEST_MAX: usize = 256;
/// Live leases of one agent in one scope.
pub const LEASES_PER_AGENT_MAX: u64 = 1_000;
/// Live leases in one scope.
pub const LEASES_PER_SCOPE_MAX: u64 = 200_000;
/// Live leases whose pattern has no literal directory in front (`**/x`): each one is a candidate of every request.
pub const ROOT_PATTERNS_PER_SCOPE_MAX: u64 = 1_000;
/// Units of one named resource.
pub const CAPACITY_MAX: u32 = 1_000;

/// Waits in one scope.
pub const WAITS_PER_SCOPE_MAX: u64 = 1_000;
/// Waits of one agent in one scope.
pub const WAITS_PER_AGENT_MAX: usize = 64;
/// How long a person or script waits when nothing is said.
pub const WAIT_MS: u64 = 10 * 60 * 1_000;
/// Longest wait.
pub const WAIT_MS_MAX: u64 = 24 * 60 * 60 * 1_000;
/// Shortest wait that makes sense to ask for.
pub const WAIT_MS_MIN: u64 = 100;
/// How often a process that waits says so.
pub const WAITER_PULSE_MS: u64 = 3_000;

/// How often whoever waits is seen within the shortest silence that it was granted.
pub const PULSES_PER_TTL: u64 = 4;

/// After how long whoever is in the way of waiters alone had best ask again.
pub const BEHIND_WAITERS_MS: u64 = 30_000;
/// Silence after which a waiting process counts as gone.
pub const WAITER_SILENCE_MS: u64 = 10_000;
/// How long a turn is kept for an agent that has no process waiting.
pub const OFFER_MS: u64 = 5 * 60 * 1_000;
/// How long a tool call that was announced and not heard of again is believed to run.
pub const CALL_MS_MAX: u64 = 2 * 60 * 1_000;
/// How long a look at a file may lie back when something is decided by it, and how long it is remembered therefore that a
/// call is over.
pub const LOOK_MS_MAX: u64 = 60 * 1_000;
/// How long an edit keeps a path of a broad claim from making way.
pub const EDITED_MS: u64 = 10 * 60 * 1_000;
/// Edits under broad claims that are remembered of one agent; beyond that the oldest are forgotten.
pub const EDITS_PER_AGENT_MAX: usize = 256;
/// How long a tool call that writes a file of the class *common* keeps others from it, if it is not heard of again.
pub const COMMON_MS_MAX: u64 = 30 * 1_000;
/// Things an agent is to be told that are kept for it; beyond that the oldest is dropped.
pub const NOTES_PER_AGENT_MAX: usize = 16;
/// Things an agent is told in [`NOTES_MS`], each in at most 400 bytes; beyond that only that its turn has come.
pub const NOTES_MAX: u32 = 5;
/// The span that [`NOTES_MAX`] is counted in.
pub const NOTES_MS: u64 = 60 * 60 * 1_000;
/// Offers made to one wait before it is over.
pub const OFFERS_PER_WAIT_MAX: u32 = 2;
/// After how long to try again for what a running command holds: nobody knows when it ends.
pub const COMMAND_RETRY_MS: u64 = 5_000;
/// How long a command that lost its leases has to end by itself.
pub const COMMAND_GRACE_MS: u64 = 5_000;
/// How long the holder of a lease may take to answer who asks for it, before both are told that it was not settled.
pub const ASK_MS: u64 = 10 * 60 * 1_000;
/// The same of an urgent request.
pub const ASK_URGENT_MS: u64 = 5 * 60 * 1_000;
/// Silence of a holder, in windows of a request, after which what it holds may be taken from it.
pub const FORCE_SILENCE_WINDOWS: u64 = 2;
/// Minutes by which a holder may put off an answer, each time.
pub const LATER_MINUTES_MAX: u64 = 60;
/// Open requests of one agent in one scope.
pub const NEGOTIATIONS_PER_AGENT_MAX: usize = 64;
/// Leases that one agent may take by force in [`FORCES_MS`].
pub const FORCES_MAX: usize = 5;
/// The span that [`FORCES_MAX`] is counted in.
pub const FORCES_MS: u64 = 60 * 60 * 1_000;
/// Refusals of the same edit in [`LOOPING_MS`] after which its agent counts as going round in circles.
pub const LOOPING_REFUSALS: u32 = 5;
/// The same after which its turn is ended where nobody watches.
pub const LOOPING_REFUSALS_MAX: u32 = 10;
/// The span that refused edits are counted in.
pub const LOOPING_MS: u64 = 5 * 60 * 1_000;
/// Files of one agent that are remembered to be written by others, and told; of more, the latest.
pub const OVERWRITTEN_PER_AGENT_MAX: usize = 64;
/// Files of one tool call that are looked at for being with somebody else, once they are written.
pub const OVERWRITTEN_PER_CALL_MAX: usize = 16;
/// Refused edits of one agent that are told apart; of more, the latest.
pub const REFUSED_EDITS_PER_AGENT_MAX: usize = 16;
/// Leases in the way of a refused edit by which it is told apart.
pub const REFUSED_BLOCKERS_MAX: usize = 16;
/// How long an agent waits for what is with somebody who does nothing by itself, until a person hears of it.
pub const WAITING_LONG_MS: u64 = 10 * 60 * 1_000;
/// How often such waits are looked for in one scope.
pub const WAITING_LOOK_MS: u64 = 60 * 1_000;
/// How long the command may run that a person is told by.
pub const NOTIFY_MS_MAX: u64 = 30 * 1_000;
/// Bytes of what it is told, so that a pipe takes it without anybody reading.
pub const NOTIFY_BYTES_MAX: usize = 4_000;
/// Shortest freeze.
pub const FREEZE_MS_MIN: u64 = 1_000;
/// Longest freeze.
pub const FREEZE_MS_MAX: u64 = 24 * 60 * 60 * 1_000;
/// How long a freeze lasts when nothing is said.
pub const FREEZE_MS: u64 = 10 * 60 * 1_000;

/// Characters of a reason.
pub const REASON_CHARS_MAX: usize = 2_000;
/// Bytes of a resource name.
pub const RESOURCE_NAME_BYTES_MAX: usize = 128;
/// Characters of an agent's name.
pub const AGENT_NAME_CHARS_MAX: usize = 64;
/// Bytes of a client's session id.
pub const SESSION_BYTES_MAX: usize = 128;
/// Bytes of an idempotency key.
pub const IDEMPOTENCY_KEY_BYTES_MAX: usize = 128;

/// Expired leases recorded by a write beyond those its own command touches.
pub const EXPIRIES_PER_WRITE: usize = 64;
/// Ended leases on more than one path that are looked at in each directory above a path which somebody takes.
pub const WIDE_PAST_MAX: usize = 8;
/// How often a look at a file is made again, because somebody changed the file after it.
pub const LOOKS_AGAIN_MAX: usize = 8;
/// Ended leases on a path that are looked at for the last who had it alone, where the last of all shared it.
pub const SHARED_PAST_MAX: usize = 8;
/// Longest silence of an agent that still counts as active.
pub const ACTIVE_MS: u64 = 5 * 60 * 1_000;
/// How often a sign of life is written when nothing else is.
pub const PRESENCE_MS: u64 = 15_000;
/// A sign of life that is later than the clock by more than this was never seen.
pub const SEEN_AHEAD_MS_MAX: u64 = 60_000;
/// Refusals by the same blockers within this time are counted, not repeated as events.
pub const REFUSAL_REPEAT_MS: u64 = 60_000;

/// How many leases that ran out meanwhile are told of beside a renewal of everything.
pub const LAPSES_TOLD_MAX: usize = 3;

/// How long an idempotency key is remembered.
pub const IDEMPOTENCY_MS: u64 = 24 * 60 * 60 * 1_000;
/// How many idempotency keys one scope remembers.
pub const IDEMPOTENCY_KEYS_MAX: u64 = 10_000;

/// Bytes of a message that the command which a refused commit offers has again; of a longer one it has the beginning.
pub const MESSAGE_RETOLD_BYTES_MAX: usize = 4 * 1_024;

/// Bytes of files in one snapshot.
pub const SNAPSHOT_BYTES_MAX: u64 = 200 * 1_000_000;
/// Snapshots that one scope keeps.
pub const SNAPSHOTS_PER_SCOPE_MAX: usize = 200;
/// How long a snapshot is kept.
pub const SNAPSHOT_KEPT_MS: u64 = 7 * 24 * 60 * 60 * 1_000;
/// Snapshots of a scope that are kept however old they are: the newest.
pub const SNAPSHOTS_KEPT_ALWAYS: usize = 20;
/// Bytes of an ignored file that is kept beside a snapshot.
pub const SNAPSHOT_IGNORED_FILE_BYTES_MAX: u64 = 1_000_000;
/// Bytes of all ignored files beside one snapshot.
pub const SNAPSHOT_IGNORED_BYTES_MAX: u64 = 20 * 1_000_000;
/// Ignored files that are looked at for one snapshot.
pub const SNAPSHOT_IGNORED_FILES_MAX: usize = 2_000;
/// How long git may take to make one snapshot.
pub const SNAPSHOT_MS_MAX: u64 = 5_000;
/// The same in a hook, which a client waits for.
pub const SNAPSHOT_HOOK_MS_MAX: u64 = 2_000;
/// How long git may take for all that a hook asks of it for snapshots and predictions: a client gives a hook five seconds
/// in all, and lets pass what has no answer by then.
pub const HOOK_GIT_MS_MAX: u64 = 3_500;
/// How long git may take to predict merges for somebody who did not ask for it.
pub const RADAR_MS_MAX: u64 = 2_000;

/// Room kept aside beside a store, given up on a full disk so that leases can still be given back.
pub const BALLAST_BYTES: u64 = 256 * 1_024;

/// Events read or shown in one call when no limit is named.
pub const EVENTS_PER_READ: usize = 1_000;
