-- What a run measured, each figure with its interval. Runs from before have none.
ALTER TABLE runs ADD COLUMN estimates TEXT NOT NULL DEFAULT '[]';  -- model::estimate::Estimate
