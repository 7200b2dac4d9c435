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
//! Modules stand in layers: each imports only those before it (`tests/module_order.rs` holds that).
//!
//! Walls: no engine is linked here, and no `unsafe`. Whatever a worker says is hostile. What comes
//! from outside comes through [`ports`].

#![forbid(unsafe_code)]

// Ids, time, and values that know nothing else of the gateway.
mod alive;
mod at_length;
mod clock;
mod context_text;
mod folder_size;
pub mod ids;
mod language;
mod native_engine;
pub mod time_limit;
pub mod tokens;

// What comes from outside, and what goes back.
pub mod ports;
pub mod report;
mod spans;
pub mod state_values;

// Rows and SQL; marks; personal data; what answers teach; processes; servers.
pub mod learned;
pub mod marks;
mod pool;
pub mod privacy;
pub mod store;
pub mod upstream;

// What a program asks for, and what outlasts it.
pub mod access;
pub mod answer;
pub mod audit;
pub mod history;
mod plans;
mod request;
pub mod results;
pub mod session;
pub mod skills;
pub mod telemetry;
mod type_check;

// The way of one program through a worker, and of one analysis.
pub mod analysis;
pub mod execute;
pub mod hosting;

// The life of every execution, from a sentence to one, and all of it built from one value.
pub mod ask;
mod gateway;
pub mod service;
mod settings;

pub use analysis::{AnalysisData, AnalysisFailure, AnalysisInput, AnalysisOutcome, AnalysisRequest};
pub use clock::Clock;
pub use context_text::ContextText;
pub use execute::{Event, Execution, check_program, check_program_with_types};
pub use gateway::{BuildError, BuildProblem, Gateway, GatewayBuilder, NotReady};
pub use gristmill_checks as checks;
pub use gristmill_domain as domain;
pub use gristmill_files::{FolderError, Folders};
/// Of what is said between a gateway and its workers.
pub use gristmill_protocol::PROTOCOL_VERSION as WORKER_PROTOCOL_VERSION;
pub use gristmill_protocol::{
    ChildExit, Confinement, EngineId, JsonCapError, JsonCaps, MountAccess, NativeStart, ProcessUse,
    ProgramLimits, SANDBOX_PROXY_PORT, SandboxedAccess, SandboxedNetwork, SandboxedPath, ServerSandbox,
    Stream, Wall, WallState, WallStatus, has_reserved_key, recv_some,
};
pub use gristmill_watch as watch;
pub use language::{
    UnknownLanguage, engine_for, engine_named, engine_of_code, engine_of_skill, is_javascript, skill_language,
};
pub use native_engine::{Barred, EngineChoice, NativeEngine, UnknownEngine, WasmPackages, chosen_engine};
pub use pool::{
    CgroupLimits, KeepSettings, KeptInterpreters, NoCgroup, PoolSettings, WorkerCommand, required_walls,
    required_walls_of,
};
pub use report::{
    CallTokens, DryRunReport, ErrorReport, LimitHit, PlanReport, Report, SessionReport, ToolCalled,
    VariablesReport,
};
pub use request::{Capabilities, ExecuteRequest, LatestVariables, Leftovers, Variables, WorkspaceChoice};
pub use settings::{DataSettings, Settings, SkillFolders, Upkeep};
pub use spans::trace_every_execution;
pub use type_check::{ConfinedBy, TYPE_CHECK_BUDGET, TypeCheckCommand, TypeChecker, TypesChecked};
