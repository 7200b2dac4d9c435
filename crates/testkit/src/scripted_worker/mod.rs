//! A worker without any engine, which does what a test says: it answers well, lies, stalls, floods or
//! dies. The gateway cannot tell it from a real one.
//!
//! A test binary of its own (`harness = false`) is also its worker: its `main` begins with
//! [`run_if_worker`]. What a child does with a program is the program's text, made by
//! [`Script::code`]; what the zygote does is a [`ZygoteScript`] in the gateway's cache folder.
//!
//! ```text
//! gateway ─ spawns ─► zygote ─ spawns ─► child, child …
//! ```
//! One process plays supervisor and zygote: like the supervisor it ends when the gateway hangs up, and its
//! children end with it. They are started anew instead of being forked, so that nothing here needs
//! `unsafe`; each is a real process, which can be killed.

mod child;
mod script;
mod zygote;
mod zygote_script;

use std::path::Path;

pub use script::{Script, Step, TAKEN_FILE, Text, done, script, tool_call};
pub use zygote_script::{Exits, Fork, Life, ZygoteScript, ZygoteStep, all_walls, ready};

/// As the gateway starts it: `worker-zygote CACHE SCRATCH`.
const ZYGOTE_COMMAND: &str = "worker-zygote";

/// As the zygote starts a child: `scripted-child CACHE ZYGOTE_PID GREETING`.
const CHILD_COMMAND: &str = "scripted-child";

/// Call this first in `main`: does not come back in a process that was started as a worker.
pub fn run_if_worker() {
    let arguments: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = arguments.iter().skip(1).map(String::as_str).collect();
    match words.as_slice() {
        [ZYGOTE_COMMAND, cache, _scratch] => zygote::run(Path::new(cache)),
        [CHILD_COMMAND, _cache, zygote, greeting] => child::run(zygote, greeting),
        _ => {}
    }
}
