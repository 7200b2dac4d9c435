-- Which programs are still those of an execution is seen without reading through the executions.
CREATE INDEX executions_by_program ON executions (program);
