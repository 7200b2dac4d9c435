-- What an answer about a program of the session takes if a call says nothing else.
ALTER TABLE sessions ADD COLUMN max_output_tokens INTEGER;
