//! Arguments of `gristmill run`.

use std::path::PathBuf;

use clap::Args;

use super::{AnswerArguments, ConfigFile, LimitArguments};

#[derive(Args)]
#[command(
    after_help = "Everything after FILE's first argument goes to the program; put `--` before arguments that \
`gristmill run` has itself."
)]
pub struct Run {
    /// The program: a file, or `-` for standard input
    #[arg(value_name = "FILE")]
    pub script: Option<PathBuf>,

    /// Arguments for the program, as `sys.argv`
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub args: Vec<String>,

    /// Run this code instead of a file
    #[arg(short = 'c', long = "code", value_name = "CODE", allow_hyphen_values = true)]
    pub code: Option<String>,

    /// The program's language [default: told from the file's name, or from the code]
    #[arg(long, value_name = "LANGUAGE", value_parser = ["python", "typescript", "javascript"])]
    pub language: Option<String>,

    /// The engine of a Python program: `wasm`, `native` (the machine's own Python), or `auto`
    #[arg(long, value_name = "ENGINE")]
    pub engine: Option<String>,

    /// Hold and list what the program would write at servers, and keep it as a plan
    #[arg(long, conflicts_with_all = ["watch", "workspace", "session", "example_tools"])]
    pub dry_run: bool,

    /// Run the plan of a dry run: its program, with exactly its writes
    #[arg(
        long,
        value_name = "ID",
        conflicts_with_all = ["dry_run", "watch", "workspace", "session", "context", "context_json", "example_tools", "no_servers"]
    )]
    pub plan: Option<String>,

    /// Print one JSON document instead of streaming the output
    #[arg(long)]
    pub json: bool,

    /// Run again whenever the file changes, until Ctrl-C
    #[arg(long, conflicts_with_all = ["code", "json"])]
    pub watch: bool,

    /// With --watch and --session: keep the program's variables from run to run
    #[arg(long, requires = "watch", requires = "session", conflicts_with = "code")]
    pub keep_variables: bool,

    /// Use this folder as /workspace and keep it; by default the workspace is deleted
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,

    /// Run in a session, by name or handle; a new name creates one
    #[arg(long, value_name = "SESSION", conflicts_with = "workspace")]
    pub session: Option<String>,

    /// Define a variable: JSON if it parses as JSON, otherwise text
    #[arg(long = "context", value_name = "NAME=VALUE")]
    pub context: Vec<String>,

    /// Define variables from a file that holds a JSON object
    #[arg(long, value_name = "FILE")]
    pub context_json: Option<PathBuf>,

    /// Connect the example tools (list_orders, get_customer, echo, sleep, fail)
    #[arg(long)]
    pub example_tools: bool,

    /// Connect no servers
    #[arg(long)]
    pub no_servers: bool,

    #[command(flatten)]
    pub answer: AnswerArguments,

    #[command(flatten)]
    pub config: ConfigFile,

    #[command(flatten)]
    pub limits: LimitArguments,
}
