-- The text of each program, once however often it ran.
CREATE TABLE programs (
    hash TEXT PRIMARY KEY,
    code TEXT NOT NULL
) STRICT;

-- One row for each execution: written when it begins, completed when it ends.
-- Figures first, so that counting does not read through the texts.
CREATE TABLE executions (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    -- Which gateway runs it: what a gateway leaves running when it is gone is lost.
    gateway TEXT NOT NULL,
    owner TEXT NOT NULL,
    -- Empty without one.
    session TEXT NOT NULL,
    language TEXT NOT NULL,
    level TEXT NOT NULL,
    -- A hash of the text, which is in `programs` unless contents are not kept.
    program TEXT NOT NULL,
    started_ms INTEGER NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('running', 'ok', 'failed', 'cancelled', 'lost')),
    duration_ms REAL NOT NULL DEFAULT 0,
    cpu_ms REAL NOT NULL DEFAULT 0,
    memory_peak_bytes INTEGER NOT NULL DEFAULT 0,
    calls INTEGER NOT NULL DEFAULT 0,
    calls_failed INTEGER NOT NULL DEFAULT 0,
    tokens_in INTEGER NOT NULL DEFAULT 0,
    tokens_out INTEGER NOT NULL DEFAULT 0,
    tokens_inside INTEGER NOT NULL DEFAULT 0,
    tokens_estimated INTEGER NOT NULL DEFAULT 0,
    -- What this row, its calls and its program take, roughly.
    weight INTEGER NOT NULL,
    context_bytes INTEGER NOT NULL,
    stdout_bytes INTEGER NOT NULL DEFAULT 0,
    stderr_bytes INTEGER NOT NULL DEFAULT 0,
    -- NULL if there was none.
    result_bytes INTEGER,
    -- Names, with a space between them.
    limits_hit TEXT NOT NULL DEFAULT '',
    error_code TEXT,
    error_line INTEGER,
    -- NULL where contents are not kept, here and below.
    error_message TEXT,
    error_hint TEXT,
    error_traceback TEXT,
    -- A JSON list.
    notes TEXT,
    context TEXT,
    stdout TEXT,
    stderr TEXT,
    result TEXT
) STRICT;

CREATE INDEX executions_by_time ON executions (started_ms, weight);
CREATE INDEX executions_by_session ON executions (session) WHERE session <> '';
CREATE INDEX executions_running ON executions (gateway) WHERE outcome = 'running';

-- The first calls of each execution, in the order in which they began.
CREATE TABLE execution_calls (
    execution INTEGER NOT NULL REFERENCES executions (number) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    name TEXT NOT NULL,
    line INTEGER,
    ok INTEGER NOT NULL,
    sent INTEGER NOT NULL,
    time_ms REAL NOT NULL,
    argument_bytes INTEGER NOT NULL,
    argument_tokens INTEGER NOT NULL,
    answer_bytes INTEGER NOT NULL,
    answer_tokens INTEGER NOT NULL,
    error TEXT,
    PRIMARY KEY (execution, place)
) STRICT, WITHOUT ROWID;
