-- What else is known of an execution: the trace that it was part of, and its stages as JSON (name, beginning and
-- length in ms). A table of its own: columns added to `executions` would stand behind its texts.
CREATE TABLE execution_details (
    execution INTEGER PRIMARY KEY REFERENCES executions (number) ON DELETE CASCADE,
    trace_id TEXT,
    stages TEXT NOT NULL
) STRICT;

-- Since the beginning of the first stage; NULL where that was not kept.
ALTER TABLE execution_calls ADD COLUMN began_ms REAL;

-- With all that figures of a period need, so that they do not read through the texts.
DROP INDEX executions_by_time;
CREATE INDEX executions_by_time ON executions
    (started_ms, weight, outcome, duration_ms, tokens_in, tokens_out, tokens_inside);
DROP INDEX executions_by_session;
CREATE INDEX executions_by_session ON executions (session, started_ms) WHERE session <> '';
CREATE INDEX results_by_execution ON results (execution) WHERE execution IS NOT NULL;
CREATE INDEX audit_by_execution ON audit_events (event ->> 'execution') WHERE event ->> 'execution' IS NOT NULL;

-- Why a person said no, and which program asked.
ALTER TABLE approvals ADD COLUMN reason TEXT;
ALTER TABLE approvals ADD COLUMN execution TEXT;

-- Pages on which somebody sees at once what waits for an approval.
CREATE TABLE approval_watchers (
    id TEXT PRIMARY KEY,
    until_ms INTEGER NOT NULL
) STRICT;

-- Processes that ran programs on this data folder, as long as any of their executions is known.
CREATE TABLE gateways (
    id TEXT PRIMARY KEY,
    pid INTEGER NOT NULL,
    -- Where it serves, or that it was a single command.
    role TEXT NOT NULL,
    version TEXT NOT NULL,
    started_ms INTEGER NOT NULL
) STRICT;
