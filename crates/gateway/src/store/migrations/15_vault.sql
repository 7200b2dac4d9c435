-- Whose values tokens stand for: a session's, or those of a client without one. What reads them is made from this
-- salt and a key outside of the database: without the row nobody can.
CREATE TABLE vault_scopes (
    id INTEGER PRIMARY KEY,
    -- Which key outside of the database it belongs to.
    key BLOB NOT NULL,
    session TEXT REFERENCES sessions (id) ON DELETE CASCADE,
    owner TEXT NOT NULL,
    -- What the client calls itself; NULL for a session.
    client TEXT,
    salt BLOB NOT NULL,
    used_ms INTEGER NOT NULL,
    -- Of its values.
    count INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX vault_scopes_by_session ON vault_scopes (session, key) WHERE session IS NOT NULL;
CREATE UNIQUE INDEX vault_scopes_by_client ON vault_scopes (owner, client, key) WHERE session IS NULL;

CREATE TABLE vault_values (
    scope INTEGER NOT NULL REFERENCES vault_scopes (id) ON DELETE CASCADE,
    -- The number of the token's code.
    code INTEGER NOT NULL,
    -- For lists; what counts is sealed with the value.
    kind TEXT NOT NULL,
    sealed BLOB NOT NULL,
    PRIMARY KEY (scope, code)
) STRICT, WITHOUT ROWID;
