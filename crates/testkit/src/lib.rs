//! Worlds to test in: a real gateway with real workers, in folders of its own.
//!
//! ```no_run
//! # use gristmill_testkit::World;
//! let world = World::new(std::path::Path::new("/usr/local/bin/gristmill")).start();
//! let report = world.run("1 + 1");
//! assert_eq!(report.result, Some(serde_json::json!(2)));
//! ```

mod home;
mod model_dialect;
mod native_python;
#[cfg(target_os = "linux")]
mod no_namespaces;
#[cfg(target_os = "linux")]
pub mod processes;
mod scripted_model;
mod scripted_provider;
mod scripted_tools;
#[cfg(target_os = "linux")]
pub mod scripted_worker;
mod test_folder;
mod world;

pub use home::{Home, Ran};
pub use model_dialect::ModelDialect;
pub use native_python::{native_python, native_python_with_packages};
#[cfg(target_os = "linux")]
pub use no_namespaces::{is_without_namespaces, rerun_without_namespaces, without_namespaces};
pub use scripted_model::ScriptedModel;
pub use scripted_provider::{Asked, ScriptedProvider, Step};
pub use scripted_tools::ScriptedTools;
pub use test_folder::TestFolder;
pub use world::{World, WorldBuilder};
