-- Zone operations, in tables of their own: an interval without any, as nearly all are, costs no byte more.
CREATE TABLE zone_ops (
    run   INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    seq   INTEGER NOT NULL,                -- of the interval
    op    TEXT NOT NULL,                   -- report, reset, open, close, finish
    ios   INTEGER NOT NULL,
    lat   BLOB NOT NULL,                   -- model::histogram, one digit
    PRIMARY KEY (run, seq, op)
) STRICT, WITHOUT ROWID;

CREATE TABLE phase_zone_ops (
    run   INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    phase INTEGER NOT NULL,                -- index in the plan
    op    TEXT NOT NULL,
    lat   BLOB NOT NULL,                   -- model::histogram, three digits
    PRIMARY KEY (run, phase, op)
) STRICT, WITHOUT ROWID;
