-- What tools' answers were like, by whose calls: names and types of fields, no values.
CREATE TABLE learned_types (
    owner TEXT NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    -- The hash of the tool's definition. Another one begins anew.
    definition TEXT NOT NULL,
    -- As JSON.
    learned TEXT NOT NULL,
    -- Answers that it was learned from, and how many of them since it last changed.
    calls INTEGER NOT NULL,
    unchanged INTEGER NOT NULL,
    first_ms INTEGER NOT NULL,
    last_ms INTEGER NOT NULL,
    -- How often answers came to differ from what many before were like, when last, and how.
    drifts INTEGER NOT NULL,
    drift_ms INTEGER,
    drift TEXT NOT NULL,
    PRIMARY KEY (owner, server, tool)
) STRICT, WITHOUT ROWID;
