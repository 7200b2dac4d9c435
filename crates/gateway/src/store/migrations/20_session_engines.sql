-- The engine of a session's Python programs if a call says no other: wasm, native or auto.
ALTER TABLE sessions ADD COLUMN engine TEXT;
