-- What the watch has found.
CREATE TABLE anomalies (
    id INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    severity TEXT NOT NULL,
    -- All of it, as JSON.
    finding TEXT NOT NULL
) STRICT;
CREATE INDEX anomalies_by_time ON anomalies (at_ms);

-- What the watch has learned, as JSON: one row, written by the gateway that watches.
CREATE TABLE watch_memory (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    at_ms INTEGER NOT NULL,
    memory TEXT NOT NULL,
    alerts TEXT NOT NULL
) STRICT;

-- Events of gateways that do not watch, on their way to the one that does.
CREATE TABLE watch_events (
    id INTEGER PRIMARY KEY,
    event TEXT NOT NULL
) STRICT;
