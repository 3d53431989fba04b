-- Neighbouring intervals merged, so that a week can be read at once: level 1 has up to 16 intervals in one row, each further
-- level four of the one below. No row spans two phases, nor a ramp and what follows it. Runs from before have none; they
-- are read interval by interval.
CREATE TABLE rollups (
    run         INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    level       INTEGER NOT NULL,
    seq         INTEGER NOT NULL,          -- of its last interval
    first_seq   INTEGER NOT NULL,          -- of its first
    phase       INTEGER NOT NULL,
    t_ns        INTEGER NOT NULL,
    duration_ns INTEGER NOT NULL,
    read_ios    INTEGER NOT NULL,
    read_bytes  INTEGER NOT NULL,
    write_ios   INTEGER NOT NULL,
    write_bytes INTEGER NOT NULL,
    errors      INTEGER NOT NULL,
    read_lat    BLOB NOT NULL,             -- model::histogram, one digit; empty if there was none
    write_lat   BLOB NOT NULL,
    flush_ios   INTEGER,
    flush_lat   BLOB,
    trim_ios    INTEGER,
    trim_bytes  INTEGER,
    trim_lat    BLOB,
    ramp        INTEGER,
    seen        BLOB,
    extremes    BLOB NOT NULL,             -- model::interval::Extremes
    PRIMARY KEY (run, level, seq)
) STRICT, WITHOUT ROWID;
