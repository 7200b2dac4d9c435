-- The level that programs of the session run at, at least; NULL for that of the gateway.
ALTER TABLE sessions ADD COLUMN level TEXT;

-- Calls of one day (UTC, in days since 1970) that count against a rule's budget.
CREATE TABLE budget_days (
    day INTEGER NOT NULL,
    rule TEXT NOT NULL,
    owner TEXT NOT NULL,
    calls INTEGER NOT NULL,
    PRIMARY KEY (day, rule, owner)
) STRICT, WITHOUT ROWID;
