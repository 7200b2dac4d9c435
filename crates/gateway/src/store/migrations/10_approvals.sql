-- Calls that a person is asked about: those that wait, and those that were refused because nobody could be asked.
CREATE TABLE approvals (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    -- Who asks, in words for a person.
    caller TEXT NOT NULL,
    -- How far an answer for the session reaches.
    scope TEXT NOT NULL,
    rule TEXT NOT NULL,
    why TEXT NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    -- What a person sees of them; emptied with the answer.
    arguments TEXT NOT NULL,
    digest TEXT NOT NULL,
    asked_ms INTEGER NOT NULL,
    -- waiting, refused; then once, session, always or no; used, over.
    state TEXT NOT NULL,
    answered_ms INTEGER
) STRICT;
CREATE INDEX approvals_by_call ON approvals (owner, server, tool, state);
