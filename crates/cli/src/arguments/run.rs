//! Arguments of `gristmill run`.

use std::path::PathBuf;

use clap::Args;

use super::{AnswerArguments, ConfigFile, LimitArguments};

#[derive(Args)]
pub struct Run {
    /// The program: a file, or `-` for standard input
    #[arg(conflicts_with = "code")]
    pub script: Option<PathBuf>,

    /// The program itself
    #[arg(short = 'c', long = "code", value_name = "CODE", allow_hyphen_values = true)]
    pub code: Option<String>,

    /// Print one JSON document instead of streaming the output
    #[arg(long)]
    pub json: bool,

    /// A folder to use as /workspace and keep; without it the workspace is thrown away
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,

    /// Work in a session, by its name or handle; a new name becomes one
    #[arg(long, value_name = "SESSION", conflicts_with = "workspace")]
    pub session: Option<String>,

    /// Define a variable in the program: JSON if it reads as JSON, otherwise text
    #[arg(long = "context", value_name = "NAME=VALUE")]
    pub context: Vec<String>,

    /// Define variables from a JSON file with an object in it
    #[arg(long, value_name = "FILE")]
    pub context_json: Option<PathBuf>,

    /// Connect the example tools (list_orders, get_customer, echo, sleep, fail)
    #[arg(long)]
    pub example_tools: bool,

    /// Connect no server, whatever is configured
    #[arg(long)]
    pub no_servers: bool,

    #[command(flatten)]
    pub answer: AnswerArguments,

    #[command(flatten)]
    pub config: ConfigFile,

    #[command(flatten)]
    pub limits: LimitArguments,
}
