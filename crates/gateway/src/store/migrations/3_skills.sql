-- Every version of every skill, whole. The folder on disk is the truth; this is its history.
CREATE TABLE skill_versions (
    folder TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    -- Of all files; empty for a version that says that the skill was deleted.
    hash TEXT NOT NULL,
    -- Texts by file name, as JSON.
    files TEXT NOT NULL,
    -- What was read out of the code, as JSON; NULL if nobody has looked yet.
    facts TEXT,
    saved_ms INTEGER NOT NULL,
    saved_by TEXT NOT NULL,
    how TEXT NOT NULL,
    PRIMARY KEY (folder, name, version)
) STRICT, WITHOUT ROWID;

-- Which contents of a project's skills the user said yes to.
CREATE TABLE skill_approvals (
    folder TEXT NOT NULL,
    name TEXT NOT NULL,
    hash TEXT NOT NULL,
    approved_ms INTEGER NOT NULL,
    PRIMARY KEY (folder, name, hash)
) STRICT, WITHOUT ROWID;
