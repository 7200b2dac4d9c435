//! Skills end to end: saved by programs and by commands, tried in the sandbox, imported by later programs.

mod commands;
mod saving;
#[path = "../support/mod.rs"]
mod support;
mod typescript;
mod world;
