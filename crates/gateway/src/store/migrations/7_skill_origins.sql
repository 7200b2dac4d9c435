-- Where a version came from, as JSON; NULL if it was edited by hand, or saved before this was noted.
ALTER TABLE skill_versions ADD COLUMN origin TEXT;

-- Whose the name is: an agent, by owner and client; NULL if a person's. Only that agent and a person change
-- the skill without an approval.
ALTER TABLE skill_versions ADD COLUMN holder TEXT;

-- Changes that wait for a person, the last of each agent for each name.
CREATE TABLE skill_proposals (
    folder TEXT NOT NULL,
    name TEXT NOT NULL,
    -- Who proposes it, as `holder` above.
    proposer TEXT NOT NULL,
    -- Of all files; empty for a deletion.
    hash TEXT NOT NULL,
    files TEXT NOT NULL,
    facts TEXT,
    origin TEXT NOT NULL,
    how TEXT NOT NULL,
    proposed_ms INTEGER NOT NULL,
    PRIMARY KEY (folder, name, proposer)
) STRICT, WITHOUT ROWID;
