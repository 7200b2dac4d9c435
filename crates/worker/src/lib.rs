//! Workers: the processes that hold an engine.
//!
//! ```text
//! gateway ─ spawns ─► keeper ─ forks ─► zygote ─ forks ahead ─► child, child, child …
//!                     cleans up         one warm interpreter     one program each, then gone
//!                                       └ forks on demand ─► one analysis each, then gone
//! ```
//!
//! Walls: this crate is the home of `unsafe`, and the only one that links an engine. It knows
//! nothing of tools, sessions or secrets. The zygote never sees a program. The child filters its
//! system calls before it reads one, and confines itself to the folders that came with it before
//! it runs the first instruction.

mod analysis_child;
mod analysis_threads;
mod artifact;
mod channel;
mod child;
mod component;
mod engine;
mod entry;
mod fork;
mod jail;
mod keeper;
mod page_warming;
mod upstream_keeper;
mod wasi;
mod zygote;

pub use artifact::{Artifact, ArtifactError, CompileProgress};
pub use component::{component_bytes, component_id};
pub use entry::{COMPILE_COMMAND, UPSTREAM_KEEPER_COMMAND, ZYGOTE_COMMAND, run_if_worker};
pub use gristmill_protocol::{Wall, WallState, WallStatus};
pub use jail::{first_missing, remedy_for};

/// What `doctor` and `bench` need of the engine without a gateway.
pub mod direct;
