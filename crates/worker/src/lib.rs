//! Workers: the processes that hold an engine.
//!
//! ```text
//! gateway ─ spawns ─► supervisor ─ forks ─► zygote ─ forks ahead ─► child, child, child …
//!                     cleans up         one warm interpreter     one program each, then gone
//!                                       └ forks on demand ─► one analysis each, then gone
//! ```
//!
//! Invariants: this crate is the home of `unsafe`, and the only one that links an engine. It knows
//! nothing of tools, sessions or secrets. The zygote never sees a program. The child filters its
//! system calls before it reads one, and confines itself to the folders that came with it before
//! it runs the first instruction.

mod analysis_child;
mod channel;
mod child;
mod engine;
mod entry;
mod fork;
mod jail;
mod page_warming;
mod reaped;
mod supervisor;
mod upstream_supervisor;
mod zygote;

pub use engine::{EngineError, EngineFile};
pub use entry::{
    SERVER_SANDBOX_COMMAND, TYPE_CHECKER_COMMAND, UPSTREAM_SUPERVISOR_COMMAND, ZYGOTE_COMMAND, run_if_worker,
};
pub use gristmill_protocol::{Wall, WallState, WallStatus};
pub use jail::{first_missing, remedy_for};

/// What `doctor` and `bench` need of the engine without a gateway.
pub mod direct;
