-- When a run may go and what it may use up, and what befell it. Empty objects read as the defaults.
ALTER TABLE runs ADD COLUMN options TEXT NOT NULL DEFAULT '{}';    -- model::options::RunOptions
ALTER TABLE runs ADD COLUMN life TEXT NOT NULL DEFAULT '{}';       -- model::run::Life
