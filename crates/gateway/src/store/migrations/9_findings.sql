-- What was found in a program before it ran, as `rule:line`, parted by spaces.
ALTER TABLE executions ADD COLUMN findings TEXT NOT NULL DEFAULT '';
