-- What an execution takes in tokens beside program, answer and the texts of its calls. A table of its own:
-- columns added to `executions` would stand behind its texts. Rows from before have none.
CREATE TABLE execution_tokens (
    execution INTEGER PRIMARY KEY REFERENCES executions (number) ON DELETE CASCADE,
    -- The definition of the tool of ours that it was asked for with.
    own_definition INTEGER NOT NULL,
    -- Definitions of the tools that were called, each once.
    definitions INTEGER NOT NULL,
    -- Answers of searches, and about skills.
    looked_up INTEGER NOT NULL
) STRICT;
