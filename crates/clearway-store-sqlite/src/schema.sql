-- Schema 1. What a schema can hold, the schema holds; a comment names the code that relies on it.

CREATE TABLE scopes (
  id            INTEGER PRIMARY KEY,
  key           TEXT    NOT NULL UNIQUE,
  rev           INTEGER NOT NULL CHECK (rev >= 0),
  head          BLOB    NOT NULL CHECK (length(head) = 32),
  epoch         INTEGER NOT NULL CHECK (epoch >= 0),
  boot          TEXT,
  folds         INTEGER NOT NULL CHECK (folds IN (0, 1)),
  live_leases   INTEGER NOT NULL CHECK (live_leases >= 0),
  root_patterns INTEGER NOT NULL CHECK (root_patterns >= 0),
  live_waits    INTEGER NOT NULL CHECK (live_waits >= 0),
  frozen_until  INTEGER,
  frozen_reason TEXT CHECK ((frozen_reason IS NULL) = (frozen_until IS NULL))
) STRICT;

-- The log. Rows are appended and never changed; `transaction.rs` gives each the seq after the last.
CREATE TABLE events (
  scope INTEGER NOT NULL REFERENCES scopes (id),
  seq   INTEGER NOT NULL CHECK (seq > 0),
  bytes BLOB    NOT NULL,
  hash  BLOB    NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (scope, seq)
) STRICT, WITHOUT ROWID;

-- Names and identity keys are unique in a scope: `decide` finds a caller by them.
CREATE TABLE agents (
  scope         INTEGER NOT NULL REFERENCES scopes (id),
  id            TEXT    NOT NULL CHECK (length(id) = 8),
  name          TEXT    NOT NULL,
  client        TEXT    NOT NULL,
  key           TEXT    NOT NULL,
  parent        TEXT,
  root          TEXT    NOT NULL,
  process       TEXT,
  registered_at INTEGER NOT NULL,
  ended_at      INTEGER,
  -- From whom it takes mail, if it said so.
  mail          BLOB,
  halted        TEXT,
  PRIMARY KEY (scope, id),
  UNIQUE (scope, name),
  UNIQUE (scope, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX agents_by_process ON agents (scope, process) WHERE process IS NOT NULL;

-- Live leases. Every one has a bounded deadline, and a holder has at most one live lease on the same target:
-- the plan of a reservation extends that one instead of adding a second. The unique index also answers the
-- search for candidates: it holds all the columns that search reads.
CREATE TABLE leases (
  scope      INTEGER NOT NULL REFERENCES scopes (id),
  id         TEXT    NOT NULL CHECK (length(id) = 8),
  space      INTEGER NOT NULL CHECK (space IN (0, 1)),
  worktree   TEXT    NOT NULL,
  anchor     TEXT    NOT NULL,
  pattern    TEXT    NOT NULL CHECK (length(pattern) > 0),
  write_set  TEXT,
  mode       TEXT    NOT NULL CHECK (mode IN ('shared', 'exclusive')),
  grade      TEXT    NOT NULL CHECK (grade IN ('auto', 'claimed')),
  holder     TEXT    NOT NULL,
  fence      INTEGER NOT NULL CHECK (fence > 0),
  reason     TEXT,
  slot       INTEGER CHECK (slot >= 0),
  -- The process it is for, or nothing: each process of a holder has leases of its own.
  bound      TEXT    NOT NULL,
  handed_by  TEXT,
  -- Whether paths of it make way, and those that did: a line each, which no path can hold.
  makes_way  INTEGER NOT NULL CHECK (makes_way IN (0, 1)),
  ceded      TEXT    NOT NULL,
  ttl_ms     INTEGER NOT NULL CHECK (ttl_ms BETWEEN 1000 AND 86400000),
  granted    INTEGER NOT NULL,
  deadline   INTEGER NOT NULL CHECK (deadline >= granted),
  end_max    INTEGER,
  created_at INTEGER NOT NULL,
  -- Soft: when to look next whether the lease is over. Later than what the row itself states only by signs of life
  -- that were seen, and never later than the instant they keep it to.
  check_at   INTEGER NOT NULL,
  PRIMARY KEY (scope, id),
  UNIQUE (scope, space, worktree, anchor, pattern, holder, bound)
) STRICT, WITHOUT ROWID;

-- In the order of silence: `load.rs` asks for the shortest, which says how often its holder has to be seen.
CREATE INDEX leases_by_holder ON leases (scope, holder, ttl_ms);
CREATE INDEX leases_by_check ON leases (scope, check_at);

-- Ended leases, apart so that what is over never slows what lives.
CREATE TABLE ended_leases (
  scope      INTEGER NOT NULL REFERENCES scopes (id),
  id         TEXT    NOT NULL CHECK (length(id) = 8),
  space      INTEGER NOT NULL CHECK (space IN (0, 1)),
  worktree   TEXT    NOT NULL,
  anchor     TEXT    NOT NULL,
  pattern    TEXT    NOT NULL CHECK (length(pattern) > 0),
  write_set  TEXT,
  mode       TEXT    NOT NULL,
  grade      TEXT    NOT NULL,
  holder     TEXT    NOT NULL,
  fence      INTEGER NOT NULL,
  reason     TEXT,
  slot       INTEGER,
  bound      TEXT    NOT NULL,
  handed_by  TEXT,
  makes_way  INTEGER NOT NULL,
  ceded      TEXT    NOT NULL,
  ttl_ms     INTEGER NOT NULL,
  granted    INTEGER NOT NULL,
  deadline   INTEGER NOT NULL,
  end_max    INTEGER,
  created_at INTEGER NOT NULL,
  ended_how  TEXT    NOT NULL,
  ended_at   INTEGER NOT NULL,
  PRIMARY KEY (scope, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX ended_leases_by_fence ON ended_leases (scope, fence);
-- The last who had a path, and the last time one agent had it: each is the end of an index, however long the past is.
CREATE INDEX ended_leases_by_pattern ON ended_leases (scope, worktree, pattern, fence);
CREATE INDEX ended_leases_by_holder ON ended_leases (scope, holder, worktree, pattern, fence);
CREATE INDEX ended_leases_by_giver ON ended_leases (scope, handed_by, worktree, pattern, fence)
  WHERE handed_by IS NOT NULL;
-- What reached over more than one path, by the directory in front of it: few are, and whoever takes a path looks there.
CREATE INDEX ended_leases_wide ON ended_leases (scope, worktree, anchor, fence) WHERE space = 0 AND anchor <> pattern;

-- The queue: places that are still kept. At most a thousand, so it is read whole; `scopes.live_waits` says when there is
-- nothing to read.
CREATE TABLE waits (
  scope         INTEGER NOT NULL REFERENCES scopes (id),
  place         INTEGER NOT NULL CHECK (place > 0),
  id            TEXT    NOT NULL CHECK (length(id) = 8),
  agent         TEXT    NOT NULL,
  wanted        BLOB    NOT NULL,
  attached      TEXT,
  until         INTEGER NOT NULL,
  kept_until    INTEGER,
  offered_until INTEGER,
  offers        INTEGER NOT NULL CHECK (offers >= 0),
  since         INTEGER NOT NULL,
  created_at    INTEGER NOT NULL,
  -- Soft: when its process last said that it still waits.
  heard         INTEGER,
  PRIMARY KEY (scope, place),
  UNIQUE (scope, id)
) STRICT, WITHOUT ROWID;

-- Requests to holders; `clearway_wire::negotiating` writes and reads them. Those that are open come first, and there is none
-- where nobody waits.
CREATE TABLE negotiations (
  scope INTEGER NOT NULL REFERENCES scopes (id),
  over  INTEGER NOT NULL CHECK (over IN (0, 1)),
  id    TEXT    NOT NULL CHECK (length(id) = 8),
  body  BLOB    NOT NULL,
  PRIMARY KEY (scope, over, id)
) STRICT, WITHOUT ROWID;

-- Remembered answers. `check_sum` is over the row, which no event covers.
CREATE TABLE idempotency (
  scope     INTEGER NOT NULL REFERENCES scopes (id),
  agent     TEXT    NOT NULL,
  key       TEXT    NOT NULL,
  request   BLOB    NOT NULL CHECK (length(request) = 32),
  rev       INTEGER NOT NULL,
  outcome   BLOB    NOT NULL,
  boot      TEXT    NOT NULL,
  at        INTEGER NOT NULL,
  check_sum BLOB    NOT NULL CHECK (length(check_sum) = 32),
  PRIMARY KEY (scope, agent, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_by_rev ON idempotency (scope, rev);

-- Soft state: neither hashed nor folded.
CREATE TABLE presence (
  scope     INTEGER NOT NULL REFERENCES scopes (id),
  agent     TEXT    NOT NULL,
  boot      TEXT    NOT NULL,
  last_seen INTEGER NOT NULL,
  PRIMARY KEY (scope, agent)
) STRICT, WITHOUT ROWID;

-- What is remembered of agents that hooks speak for; `clearway_wire::memo` writes and reads it.
CREATE TABLE memos (
  scope INTEGER NOT NULL REFERENCES scopes (id),
  agent TEXT    NOT NULL,
  boot  TEXT    NOT NULL,
  memo  BLOB    NOT NULL,
  PRIMARY KEY (scope, agent)
) STRICT, WITHOUT ROWID;

CREATE TABLE refusals (
  scope     INTEGER NOT NULL REFERENCES scopes (id),
  principal TEXT    NOT NULL,
  key       TEXT    NOT NULL,
  boot      TEXT    NOT NULL,
  since     INTEGER NOT NULL,
  repeats   INTEGER NOT NULL,
  PRIMARY KEY (scope, principal)
) STRICT, WITHOUT ROWID;

-- Messages. Their texts are in no event, which has their digests.
CREATE TABLE messages (
  scope   INTEGER NOT NULL REFERENCES scopes (id),
  seq     INTEGER NOT NULL CHECK (seq > 0),
  id      TEXT    NOT NULL,
  message BLOB    NOT NULL,
  text    TEXT,
  PRIMARY KEY (scope, seq),
  UNIQUE (scope, id)
) STRICT, WITHOUT ROWID;

-- Who has which message. What waits for something is found through the index, however much is kept.
CREATE TABLE mailbox (
  scope      INTEGER NOT NULL REFERENCES scopes (id),
  agent      TEXT    NOT NULL,
  seq        INTEGER NOT NULL,
  importance INTEGER NOT NULL CHECK (importance BETWEEN 0 AND 3),
  role       TEXT    NOT NULL,
  standing   INTEGER NOT NULL CHECK (standing BETWEEN 0 AND 3),
  owes       INTEGER NOT NULL CHECK (owes IN (0, 1)),
  read_at    INTEGER,
  acked_at   INTEGER,
  PRIMARY KEY (scope, agent, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX mailbox_open ON mailbox (scope, agent, standing, importance, seq) WHERE standing > 0;
