-- Saves whose files are being written: what a kill leaves in a folder is then still known by who saved it.
CREATE TABLE skills_begun (
    folder TEXT NOT NULL,
    name TEXT NOT NULL,
    -- Of the files that are written.
    hash TEXT NOT NULL,
    how TEXT NOT NULL,
    origin TEXT NOT NULL,
    holder TEXT,
    PRIMARY KEY (folder, name)
) STRICT, WITHOUT ROWID;
