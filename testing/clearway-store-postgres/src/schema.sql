-- One database for every scope: `scope` leads every key. Text compares by bytes (`COLLATE "C"`), whatever the server's
-- locale: the search below an anchor is a range of bytes, and an order of letters would miss part of it.

CREATE TABLE store (
  id text NOT NULL DEFAULT gen_random_uuid()::text
);
INSERT INTO store DEFAULT VALUES;

CREATE TABLE scopes (
  scope         text COLLATE "C" PRIMARY KEY,
  rev           bigint NOT NULL CHECK (rev >= 0),
  head          bytea  NOT NULL CHECK (length(head) = 32),
  epoch         bigint NOT NULL CHECK (epoch >= 0),
  boot          text,
  folds         bigint NOT NULL CHECK (folds IN (0, 1)),
  live_leases   bigint NOT NULL CHECK (live_leases >= 0),
  root_patterns bigint NOT NULL CHECK (root_patterns >= 0),
  live_waits    bigint NOT NULL CHECK (live_waits >= 0),
  frozen_until  bigint,
  frozen_reason text CHECK ((frozen_reason IS NULL) = (frozen_until IS NULL)),
  -- The latest instant anything here was decided at: a server whose clock went back does not take time back.
  clock_ms      bigint NOT NULL
);

-- The instant of the server for one scope, in milliseconds, never before one already used.
CREATE FUNCTION instant_ms(wanted text) RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT greatest(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint,
                  (SELECT clock_ms FROM scopes WHERE scope = wanted))
$$;

CREATE TABLE events (
  scope text COLLATE "C" NOT NULL REFERENCES scopes,
  seq   bigint NOT NULL CHECK (seq > 0),
  bytes bytea  NOT NULL,
  hash  bytea  NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (scope, seq)
);

CREATE TABLE agents (
  scope         text COLLATE "C" NOT NULL REFERENCES scopes,
  id            text COLLATE "C" NOT NULL CHECK (length(id) = 8),
  name          text COLLATE "C" NOT NULL,
  client        text   NOT NULL,
  key           text COLLATE "C" NOT NULL,
  parent        text COLLATE "C",
  root          text COLLATE "C" NOT NULL,
  process       text COLLATE "C",
  registered_at bigint NOT NULL,
  ended_at      bigint,
  halted        text,
  PRIMARY KEY (scope, id),
  UNIQUE (scope, name),
  UNIQUE (scope, key)
);
CREATE INDEX agents_by_process ON agents (scope, process) WHERE process IS NOT NULL;

-- Live leases are those without an end; partial indexes keep what is over out of the way of what lives.
CREATE TABLE leases (
  scope      text COLLATE "C" NOT NULL REFERENCES scopes,
  id         text COLLATE "C" NOT NULL CHECK (length(id) = 8),
  space      bigint NOT NULL CHECK (space IN (0, 1)),
  worktree   text COLLATE "C" NOT NULL,
  anchor     text COLLATE "C" NOT NULL,
  pattern    text COLLATE "C" NOT NULL CHECK (pattern <> ''),
  write_set  text,
  mode       text   NOT NULL CHECK (mode IN ('shared', 'exclusive')),
  grade      text   NOT NULL CHECK (grade IN ('auto', 'claimed')),
  holder     text COLLATE "C" NOT NULL,
  fence      bigint NOT NULL CHECK (fence > 0),
  reason     text,
  slot       bigint CHECK (slot >= 0),
  -- The process it is for, or nothing: each process of a holder has leases of its own.
  bound      text COLLATE "C" NOT NULL,
  handed_by  text COLLATE "C",
  makes_way  bigint NOT NULL CHECK (makes_way IN (0, 1)),
  ceded      text   NOT NULL,
  ttl_ms     bigint NOT NULL CHECK (ttl_ms BETWEEN 1000 AND 86400000),
  granted    bigint NOT NULL,
  deadline   bigint NOT NULL CHECK (deadline >= granted),
  end_max    bigint,
  created_at bigint NOT NULL,
  ended_how  text,
  ended_at   bigint,
  PRIMARY KEY (scope, id)
);
CREATE UNIQUE INDEX leases_by_target ON leases (scope, space, worktree, anchor, pattern, holder, bound)
  WHERE ended_how IS NULL;
CREATE INDEX leases_by_holder ON leases (scope, holder, ttl_ms) WHERE ended_how IS NULL;
CREATE INDEX leases_by_deadline ON leases (scope, deadline) WHERE ended_how IS NULL;
CREATE INDEX leases_by_end ON leases (scope, end_max) WHERE ended_how IS NULL AND end_max IS NOT NULL;
CREATE INDEX ended_leases_by_pattern ON leases (scope, worktree, pattern, holder, fence)
  WHERE ended_how IS NOT NULL;
CREATE INDEX ended_leases_wide ON leases (scope, worktree, anchor, fence)
  WHERE ended_how IS NOT NULL AND space = 0 AND anchor <> pattern;

-- The queue: places that are still kept, read whole. A place is checked at the commit: while the queue is made anew from
-- the log, two may stand on the same one.
CREATE TABLE waits (
  scope         text COLLATE "C" NOT NULL REFERENCES scopes,
  id            text COLLATE "C" NOT NULL CHECK (length(id) = 8),
  agent         text COLLATE "C" NOT NULL,
  wanted        bytea  NOT NULL,
  place         bigint NOT NULL CHECK (place > 0),
  attached      text,
  until         bigint NOT NULL,
  kept_until    bigint,
  offered_until bigint,
  offers        bigint NOT NULL CHECK (offers >= 0),
  since         bigint NOT NULL,
  created_at    bigint NOT NULL,
  -- Soft: when its process last said that it still waits, and on which clock.
  heard         bigint,
  heard_boot    text CHECK ((heard_boot IS NULL) = (heard IS NULL)),
  PRIMARY KEY (scope, id),
  UNIQUE (scope, place) DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE negotiations (
  scope text COLLATE "C" NOT NULL REFERENCES scopes,
  id    text COLLATE "C" NOT NULL CHECK (length(id) = 8),
  over  bigint NOT NULL CHECK (over IN (0, 1)),
  lease text COLLATE "C" NOT NULL,
  requester text COLLATE "C" NOT NULL,
  holder    text COLLATE "C" NOT NULL,
  body  bytea NOT NULL,
  PRIMARY KEY (scope, id)
);
CREATE INDEX negotiations_open ON negotiations (scope) WHERE over = 0;

CREATE TABLE idempotency (
  scope   text COLLATE "C" NOT NULL REFERENCES scopes,
  agent   text COLLATE "C" NOT NULL,
  key     text COLLATE "C" NOT NULL,
  request bytea  NOT NULL CHECK (length(request) = 32),
  rev     bigint NOT NULL,
  outcome bytea  NOT NULL,
  boot    text   NOT NULL,
  at      bigint NOT NULL,
  PRIMARY KEY (scope, agent, key)
);
CREATE INDEX idempotency_by_rev ON idempotency (scope, rev);

-- Soft state: neither hashed nor folded.
CREATE TABLE presence (
  scope     text COLLATE "C" NOT NULL REFERENCES scopes,
  agent     text COLLATE "C" NOT NULL,
  boot      text   NOT NULL,
  last_seen bigint NOT NULL,
  PRIMARY KEY (scope, agent)
);

CREATE TABLE memos (
  scope text COLLATE "C" NOT NULL REFERENCES scopes,
  agent text COLLATE "C" NOT NULL,
  boot  text  NOT NULL,
  memo  bytea NOT NULL,
  PRIMARY KEY (scope, agent)
);

CREATE TABLE refusals (
  scope     text COLLATE "C" NOT NULL REFERENCES scopes,
  principal text COLLATE "C" NOT NULL,
  key       text   NOT NULL,
  boot      text   NOT NULL,
  since     bigint NOT NULL,
  repeats   bigint NOT NULL,
  PRIMARY KEY (scope, principal)
);

-- Messages. Their texts are in no event, which has their digests.
CREATE TABLE messages (
  scope   text COLLATE "C" NOT NULL REFERENCES scopes,
  seq     bigint NOT NULL CHECK (seq > 0),
  id      text COLLATE "C" NOT NULL,
  message bytea  NOT NULL,
  text    bytea,
  PRIMARY KEY (scope, seq),
  UNIQUE (scope, id)
);

CREATE TABLE mailbox (
  scope      text COLLATE "C" NOT NULL REFERENCES scopes,
  agent      text COLLATE "C" NOT NULL,
  seq        bigint NOT NULL,
  importance bigint NOT NULL CHECK (importance BETWEEN 0 AND 3),
  role       text   NOT NULL,
  standing   bigint NOT NULL CHECK (standing BETWEEN 0 AND 3),
  owes       bigint NOT NULL CHECK (owes IN (0, 1)),
  read_at    bigint,
  acked_at   bigint,
  PRIMARY KEY (scope, agent, seq)
);
CREATE INDEX mailbox_open ON mailbox (scope, agent, standing, importance, seq) WHERE standing > 0;

CREATE TABLE mail_rules (
  scope text COLLATE "C" NOT NULL REFERENCES scopes,
  agent text COLLATE "C" NOT NULL,
  rules bytea NOT NULL,
  PRIMARY KEY (scope, agent)
);
