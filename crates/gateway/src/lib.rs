//! The gateway: takes programs, runs each in a jailed process that is used once or by one session
//! only, and answers every call that the program makes.
//!
//! ```no_run
//! use gristmill_gateway::{ExecuteRequest, Gateway, WorkerCommand};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let gateway = Gateway::builder(WorkerCommand::new("/usr/local/bin/gristmill")).build().await?;
//! let report = gateway.execute(ExecuteRequest::python("sum(range(10))")).finish().await;
//! assert_eq!(report.result, Some(serde_json::json!(45)));
//! gateway.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! The worker command is a `gristmill` binary, or your own if its `main` begins with
//! `gristmill_worker::run_if_worker()`.
//!
//! Walls: no engine is linked here, and no `unsafe`. Whatever a worker says is hostile. What comes
//! from outside comes through [`ports`].

#![forbid(unsafe_code)]

pub mod access;
pub mod analysis;
pub mod answer;
mod builder;
pub mod execute;
pub mod executions;
mod folders;
pub mod history;
mod pool;
pub mod ports;
pub mod private_file;
mod questions;
pub mod results;
pub mod session;
pub mod skills;
pub mod state_values;
pub mod store;
pub mod time_limit;
pub mod tokens;
mod unguessable;
pub mod upstream;

pub use analysis::{AnalysisData, AnalysisFailure, AnalysisInput, AnalysisOutcome, AnalysisRequest};
pub use builder::{BuildError, Gateway, GatewayBuilder};
pub use execute::{
    CallTokens, ErrorReport, Event, ExecuteRequest, Execution, LatestVariables, Leftovers, LimitHit, Report,
    SessionReport, ToolCalled, Variables, VariablesReport, WorkspaceChoice,
};
pub use folders::{FolderError, Folders};
pub use gristmill_domain as domain;
pub use gristmill_protocol::{JsonCapError, JsonCaps, Stream, Wall, WallState, WallStatus, has_reserved_key};
pub use pool::{KeepSettings, KeptInterpreters, PoolSettings, WorkerCommand, required_walls};
