-- Flushes and trims have tallies of their own, and a ramp counts for nothing. All NULL where there was none, as in
-- every row from before: that costs a byte each.
ALTER TABLE intervals ADD COLUMN flush_ios INTEGER;
ALTER TABLE intervals ADD COLUMN flush_lat BLOB;    -- model::histogram, one digit
ALTER TABLE intervals ADD COLUMN trim_ios INTEGER;
ALTER TABLE intervals ADD COLUMN trim_bytes INTEGER;
ALTER TABLE intervals ADD COLUMN trim_lat BLOB;
ALTER TABLE intervals ADD COLUMN ramp INTEGER;      -- 1 in a ramp

ALTER TABLE phases ADD COLUMN flush_lat BLOB;       -- model::histogram, three digits
ALTER TABLE phases ADD COLUMN trim_lat BLOB;
