//! Arguments that several commands share, and those of `run`, `setup` and `tools`. The others stand
//! with their commands.

pub mod answer;
mod config_file;
mod limits;
mod run;
mod setup;
mod tools;

pub use answer::AnswerArguments;
pub use config_file::{ConfigFile, ScopeArguments};
pub use limits::LimitArguments;
pub use run::Run;
pub use setup::Setup;
pub use tools::{Tools, ToolsCommand, ToolsFormat};
