-- Applied migrations are never edited; a change is a new file.
--
-- Rows are for storing, not for thinking: JSON columns hold values of the crate's model as a whole,
-- and what is searched or sorted by has a column of its own.

-- A drive that was ever probed, with the description it had when it was last seen.
CREATE TABLE drives (
    id            TEXT PRIMARY KEY NOT NULL,
    title         TEXT NOT NULL,
    simulated     INTEGER NOT NULL,
    first_seen_ms INTEGER NOT NULL,
    last_seen_ms  INTEGER NOT NULL,
    description   TEXT NOT NULL            -- model::drive::Drive
) STRICT;

-- On which hosts it was seen, so that results of several hosts can stand in one store.
CREATE TABLE drive_hosts (
    drive_id     TEXT NOT NULL REFERENCES drives (id),
    host_id      TEXT NOT NULL,
    host         TEXT NOT NULL,            -- model::drive::Host
    last_seen_ms INTEGER NOT NULL,
    PRIMARY KEY (drive_id, host_id)
) STRICT;

CREATE TABLE runs (
    key           INTEGER PRIMARY KEY,     -- short, for the interval rows
    id            TEXT NOT NULL UNIQUE,    -- UUIDv7
    drive_id      TEXT NOT NULL REFERENCES drives (id),
    drive_title   TEXT NOT NULL,
    simulated     INTEGER NOT NULL,
    profile       TEXT NOT NULL,
    state         TEXT NOT NULL,
    stalled       INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,        -- since 1970 UTC
    started_at_ms INTEGER,
    ended_at_ms   INTEGER,
    plan          TEXT NOT NULL,           -- model::plan::Plan
    host          TEXT NOT NULL,           -- model::drive::Host
    engine        TEXT,
    progress      TEXT NOT NULL,           -- model::run::Progress
    stop_reason   TEXT,                    -- model::run::StopReason
    verdict       TEXT                     -- model::recording::Recording
) STRICT;

CREATE INDEX runs_by_drive ON runs (drive_id, created_at_ms);
CREATE INDEX runs_by_state ON runs (state);

CREATE TABLE phases (
    run          INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    phase        INTEGER NOT NULL,         -- index in the plan
    started_t_ms INTEGER,                  -- on the run's clock; NULL if it was left out
    ended_t_ms   INTEGER,
    ended_by     TEXT,
    read_lat     BLOB,                     -- sums of the phase: model::histogram, three digits
    write_lat    BLOB,
    PRIMARY KEY (run, phase)
) STRICT, WITHOUT ROWID;

CREATE TABLE intervals (
    run         INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    seq         INTEGER NOT NULL,          -- from 1, without a gap
    phase       INTEGER NOT NULL,
    t_ns        INTEGER NOT NULL,          -- its end, on the run's clock
    duration_ns INTEGER NOT NULL,
    read_ios    INTEGER NOT NULL,
    read_bytes  INTEGER NOT NULL,
    write_ios   INTEGER NOT NULL,
    write_bytes INTEGER NOT NULL,
    errors      INTEGER NOT NULL,
    read_lat    BLOB NOT NULL,             -- model::histogram, one digit; empty if there was none
    write_lat   BLOB NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;
