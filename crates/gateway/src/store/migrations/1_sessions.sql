-- A session: a folder of the same name lies beside the database, with its workspace in it.
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    -- NULL for one that is reached by its id alone.
    name TEXT,
    created_ms INTEGER NOT NULL,
    used_ms INTEGER NOT NULL,
    -- Programs that have run in it.
    executions INTEGER NOT NULL DEFAULT 0,
    -- How often it was emptied.
    resets INTEGER NOT NULL DEFAULT 0,
    -- Which gateway keeps an interpreter with its variables; NULL if none does.
    variables_by TEXT,
    -- Limits of its own, below those of the level.
    max_bytes INTEGER,
    max_files INTEGER,
    UNIQUE (owner, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_by_use ON sessions (used_ms);

-- What programs of a session keep: JSON values by key.
CREATE TABLE session_values (
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (session, key)
) STRICT, WITHOUT ROWID;
