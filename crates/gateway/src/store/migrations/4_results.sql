-- From this random key the handles of an owner's results are made, so that nobody can work out another's.
CREATE TABLE result_keys (
    owner TEXT PRIMARY KEY,
    key BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- A whole value: a file of this name lies in its owner's folder beside the database.
CREATE TABLE results (
    owner TEXT NOT NULL,
    handle TEXT NOT NULL,
    file_name TEXT NOT NULL,
    -- json, text or binary
    kind TEXT NOT NULL,
    media_type TEXT,
    bytes INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    used_ms INTEGER NOT NULL,
    -- Where it came from last; either may be gone by now.
    session TEXT,
    execution TEXT,
    PRIMARY KEY (owner, handle)
) STRICT, WITHOUT ROWID;

CREATE INDEX results_by_use ON results (used_ms);
