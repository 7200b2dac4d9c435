-- A session: a workspace folder of the same name lies beside the database.
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    -- NULL for one that is reached by its id alone.
    name TEXT,
    created_ms INTEGER NOT NULL,
    used_ms INTEGER NOT NULL,
    UNIQUE (owner, name)
) STRICT, WITHOUT ROWID;

-- What programs of a session keep: JSON values by key.
CREATE TABLE session_values (
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (session, key)
) STRICT, WITHOUT ROWID;
