//! The commands, one file each.

pub mod add;
pub mod add_json;
pub mod analyze;
pub mod bench;
pub mod config;
pub mod config_approve;
pub mod config_check;
pub mod config_path;
pub mod config_show;
pub mod connect;
pub mod db;
pub mod demo;
pub mod disconnect;
pub mod doctor;
pub mod doctor_clients;
pub mod doctor_database;
pub mod doctor_servers;
pub mod example_server;
pub mod get;
pub mod history;
pub mod import;
pub mod import_answer;
pub mod list;
pub mod login;
mod print_file;
pub mod remove;
pub mod rerun;
pub mod results;
pub mod run;
pub mod serve;
pub mod servers;
pub mod session_archive;
pub mod sessions;
pub mod setup;
pub mod shape;
pub mod show;
pub mod skills;
pub mod stats;
pub mod table_text;
pub mod token;
pub mod tools;
pub mod workspace;

use std::process::ExitCode;

use gristmill_gateway::domain::Code;

use crate::exit_codes;
use crate::terminal::tell_beside;

/// A command that could not do its work, said on stderr.
pub enum Failure {
    /// The command line or a file it names is wrong.
    Usage(anyhow::Error),
    /// The configuration is wrong.
    Configuration(anyhow::Error),
    /// Something of ours, or of this machine.
    Ours(anyhow::Error),
}

impl Failure {
    /// The same, with one more thing to do about it.
    pub fn with_hint(self, hint: &'static str) -> Self {
        let with = |error: anyhow::Error| anyhow::anyhow!("{error:#}\nhint: {hint}");
        match self {
            Failure::Usage(error) => Failure::Usage(with(error)),
            Failure::Configuration(error) => Failure::Configuration(with(error)),
            Failure::Ours(error) => Failure::Ours(with(error)),
        }
    }

    /// Says it and gives the exit code.
    pub fn tell(self) -> ExitCode {
        let (error, kind, code) = match self {
            Failure::Usage(error) => (error, String::new(), exit_codes::usage()),
            Failure::Configuration(error) => {
                (error, format!("[{}]", Code::Configuration), exit_codes::usage())
            }
            Failure::Ours(error) => (error, String::new(), exit_codes::ours()),
        };
        tell_beside(&format!("error{kind}: {error:#}"));
        code
    }
}

/// What every command gives.
pub type Outcome = Result<ExitCode, Failure>;
