//! Example servers: what `gristmill example-server NAME` serves, without the protocol.
//!
//! Each is plain functions over data that is computed, never fetched, and the same on every
//! machine. Nothing here speaks MCP, opens a socket or looks at the clock; only `filesystem` and
//! `database` touch the disk, each beneath one folder that it is given, and `replay` reads one file.
//! `example_tools` are tools without a server, for programs alone.

mod arguments;
mod calculator;
mod calendar;
mod companies;
mod crm;
mod database;
mod definition;
#[cfg(test)]
mod demo_job;
mod documents;
pub mod example_tools;
mod filesystem;
#[cfg(test)]
mod learned_quality;
mod noise;
mod replay;
#[cfg(test)]
mod schema_check;
#[cfg(test)]
mod tests;
mod unknown_name;
mod weather;

use std::path::PathBuf;

use serde_json::{Map, Value};

/// What an example server is, without the protocol.
pub trait ExampleServer: Send + Sync {
    /// What it is called on the command line.
    fn name(&self) -> &'static str;
    /// What it is called on a screen.
    fn title(&self) -> &'static str;
    /// What a model should know before it calls the first tool.
    fn instructions(&self) -> &'static str;
    /// The full MCP definitions, always the same and in the same order.
    fn tools(&self) -> Vec<Value>;
    /// Calls a tool. An error is meant to be read by the one who called.
    fn call(&self, tool: &str, arguments: &Map<String, Value>) -> Result<Answer, String>;
    /// Whether a call is over in a moment: other calls may wait for it.
    fn answers_at_once(&self) -> bool {
        false
    }
}

/// What a tool answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A value that the tool's `outputSchema` describes.
    Structured(Value),
    /// Text for reading, without a schema.
    Text(String),
    Image {
        /// Such as `image/png`.
        mime: &'static str,
        bytes: Vec<u8>,
        /// What the picture shows.
        text: Option<String>,
    },
}

/// What the command line says about a server.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The folder that `filesystem` serves; a tree in memory without it.
    pub root: Option<PathBuf>,
    /// The folder in which `database` keeps its file; in memory without it.
    pub data: Option<PathBuf>,
    /// The definitions that `replay` serves.
    pub file: Option<PathBuf>,
}

/// Every example server, in the order of the documentation.
pub const NAMES: [&str; 6] = ["calculator", "weather", "filesystem", "database", "documents", "crm"];

/// The program of `gristmill demo`, a job for three of the servers.
pub const DEMO_PROGRAM: &str = include_str!("demo/transcript_to_crm.py");

/// The server of that name, ready to be called.
pub fn by_name(name: &str, options: &Options) -> Result<Box<dyn ExampleServer>, String> {
    Ok(match name {
        "calculator" => Box::new(calculator::Calculator::new()),
        "weather" => Box::new(weather::Weather::new()),
        "filesystem" => Box::new(filesystem::Filesystem::new(options.root.as_deref())?),
        "database" => Box::new(database::Database::new(options.data.clone())),
        "documents" => Box::new(documents::Documents::new()),
        "crm" => Box::new(crm::Crm::new()),
        // For measuring only, so it is in no list.
        "replay" => Box::new(replay::Replay::new(options.file.as_deref())?),
        _ => return Err(unknown_name::unknown("example server", name, NAMES)),
    })
}
