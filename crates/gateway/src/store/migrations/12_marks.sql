-- Which marked data a session's programs have read: for each mark the first server, as JSON; NULL for none.
ALTER TABLE sessions ADD COLUMN seen TEXT;

-- The same for what a result was made from.
ALTER TABLE results ADD COLUMN seen TEXT;
CREATE INDEX results_marked ON results (owner) WHERE seen IS NOT NULL;
