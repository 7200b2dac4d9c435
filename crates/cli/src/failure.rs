//! How a command ends that could not do its work.

use std::process::ExitCode;

use gristmill_gateway::domain::Code;

use crate::exit_codes;
use crate::terminal::eprint_lines;

/// A command that could not do its work, said on stderr.
pub enum Failure {
    /// The command line or a file it names is wrong.
    Usage(anyhow::Error),
    /// The configuration is wrong.
    Configuration(anyhow::Error),
    /// Something of ours, or of this machine.
    Internal(anyhow::Error),
}

impl Failure {
    /// The same, with one more thing to do about it.
    pub fn with_hint(self, hint: &'static str) -> Self {
        let with = |error: anyhow::Error| anyhow::anyhow!("{error:#}\nhint: {hint}");
        match self {
            Failure::Usage(error) => Failure::Usage(with(error)),
            Failure::Configuration(error) => Failure::Configuration(with(error)),
            Failure::Internal(error) => Failure::Internal(with(error)),
        }
    }

    /// Says it and gives the exit code.
    pub fn report(self) -> ExitCode {
        let (error, kind, code) = match self {
            Failure::Usage(error) => (error, String::new(), exit_codes::usage()),
            Failure::Configuration(error) => {
                (error, format!("[{}]", Code::Configuration), exit_codes::usage())
            }
            Failure::Internal(error) => (error, String::new(), exit_codes::internal()),
        };
        eprint_lines(&format!("error{kind}: {error:#}"));
        code
    }
}

/// What every command gives.
pub type Outcome = Result<ExitCode, Failure>;
