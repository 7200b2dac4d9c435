-- Events in their order. Each hash is over the one before, the number and the text.
CREATE TABLE audit_events (
  number INTEGER PRIMARY KEY,
  hash BLOB NOT NULL,
  event TEXT NOT NULL
) STRICT;

CREATE TRIGGER audit_events_stay BEFORE UPDATE ON audit_events
BEGIN SELECT RAISE(ABORT, 'audit events are never changed'); END;

-- Hashes that were signed. An anchor is where the chain begins after its older part was let go of.
CREATE TABLE audit_checkpoints (
  number INTEGER NOT NULL,
  kind TEXT NOT NULL,
  hash BLOB NOT NULL,
  at_ms INTEGER NOT NULL,
  signature BLOB NOT NULL,
  PRIMARY KEY (number, kind)
) STRICT;

-- Executions whose final event is still to come, and the gateway that has to write it.
CREATE TABLE audit_open (
  execution TEXT PRIMARY KEY,
  gateway TEXT NOT NULL,
  begun INTEGER NOT NULL
) STRICT;
