-- The forms in which a drive was seen when it was probed. A bridge may show the same disk with other blocks or under
-- another serial number, and results of two forms are not comparable without a word of caution.
CREATE TABLE drive_forms (
    drive_id            TEXT NOT NULL REFERENCES drives (id),
    logical_block_bytes INTEGER NOT NULL,
    capacity_bytes      INTEGER NOT NULL,
    serial              TEXT NOT NULL,     -- '' if it told none
    transport           TEXT NOT NULL,
    last_seen_ms        INTEGER NOT NULL,
    PRIMARY KEY (drive_id, logical_block_bytes, capacity_bytes, serial, transport)
) STRICT, WITHOUT ROWID;

INSERT INTO drive_forms
SELECT id,
       coalesce(json_extract(description, '$.logical_block_bytes'), 512),
       coalesce(json_extract(description, '$.capacity_bytes'), 0),
       coalesce(json_extract(description, '$.serial'), ''),
       coalesce(json_extract(description, '$.transport'), 'unknown'),
       last_seen_ms
FROM drives;
