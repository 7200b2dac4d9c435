-- Programs whose writes were held by a dry run, until somebody approves them: a day at most. Once a plan is used
-- or denied, its texts are emptied.
CREATE TABLE plans (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    -- Who asked for the dry run, in words for a person.
    caller TEXT NOT NULL,
    language TEXT NOT NULL,
    program TEXT NOT NULL,
    -- What tracebacks call it.
    filename TEXT,
    -- Its variables, as a JSON object.
    context TEXT NOT NULL,
    -- Its level and its limits, as a JSON object.
    limits TEXT NOT NULL,
    -- What it would write, as a JSON list.
    writes TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    -- waiting, approved, denied, used.
    state TEXT NOT NULL
) STRICT;
CREATE INDEX plans_by_owner ON plans (owner, created_ms);
