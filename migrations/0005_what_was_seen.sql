-- What others than the engine saw of an interval, packed (model::seen): one blob of some twenty bytes, as it is read and
-- written as a whole. NULL where nothing was seen, as in every row from before.
ALTER TABLE intervals ADD COLUMN seen BLOB;

ALTER TABLE phases ADD COLUMN seen TEXT;    -- model::seen::PhaseSeen

-- What surrounds a run. It changes rarely, and the row of a run often: so it has a table of its own.
CREATE TABLE surroundings (
    run             INTEGER PRIMARY KEY REFERENCES runs (key) ON DELETE CASCADE,
    conditions      TEXT,                   -- model::conditions::Conditions
    unrestored      INTEGER NOT NULL,       -- 1 while a setting is still to be put back
    temperature     TEXT,                   -- model::surroundings::Temperature
    kernel_log      TEXT NOT NULL,          -- model::surroundings::KernelLine, a list
    kernel_log_note TEXT
) STRICT;

CREATE INDEX surroundings_unrestored ON surroundings (run) WHERE unrestored = 1;
