//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use gristmill_gateway::domain::{Level, Limits};

/// Runs the programs that language models write, each in a jailed process of its own.
#[derive(Parser)]
#[command(name = "gristmill", version, about, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 ok, 1 the program failed, 2 usage, 3 a limit, 4 our fault or the machine's."
)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Run a Python program in the sandbox
    Run(Run),
    /// See it work: a program mills 1,200 orders down to a few lines
    Demo(Demo),
    /// Show which walls stand on this machine, and what to do about those that do not
    Doctor(Doctor),
    /// Prepare the engine ahead of time
    Setup(Setup),
    /// Measure the sandbox on this machine
    Bench(Bench),
    /// Serve an example MCP server over standard input and output
    ExampleServer(ExampleServerArguments),
}

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

    /// Define a variable in the program: JSON if it reads as JSON, otherwise text
    #[arg(long = "context", value_name = "NAME=VALUE")]
    pub context: Vec<String>,

    /// Define variables from a JSON file with an object in it
    #[arg(long, value_name = "FILE")]
    pub context_json: Option<PathBuf>,

    /// Connect the example tools (list_orders, get_customer, echo, sleep, fail)
    #[arg(long)]
    pub example_tools: bool,

    #[command(flatten)]
    pub limits: LimitArguments,
}

#[derive(Args)]
pub struct LimitArguments {
    /// How much the program is trusted: development, production or hardened
    #[arg(long, default_value_t = Level::Production)]
    pub level: Level,

    /// The longest it may run, such as 2.5s [default: 5s in production]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub timeout: Option<String>,

    /// The most memory it may have, such as 256M [default: 512M in production]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub memory: Option<String>,

    /// Any other limit by name; see docs/limits.md
    #[arg(long = "limit", value_name = "NAME=VALUE")]
    pub limit: Vec<String>,
}

#[derive(Args)]
pub struct Demo {
    /// Print the tables as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Doctor {
    /// Print what was found as JSON
    #[arg(long)]
    pub json: bool,

    /// The level to check for
    #[arg(long, default_value_t = Level::Production)]
    pub level: Level,
}

#[derive(Args)]
pub struct Setup {
    /// Compile again even if a good file is there
    #[arg(long)]
    pub force: bool,
}

#[derive(Args)]
pub struct ExampleServerArguments {
    /// calculator, weather, filesystem, database, documents or crm
    pub name: String,

    /// filesystem: the folder to serve [default: a small tree in memory]
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,

    /// database: the folder for its file [default: in memory]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

#[derive(Args)]
pub struct Bench {
    /// What to measure
    #[arg(value_parser = ["sandbox"])]
    pub what: String,

    /// Print the figures as JSON
    #[arg(long)]
    pub json: bool,

    /// Rounds of each measurement
    #[arg(long, default_value_t = 300)]
    pub rounds: usize,
}

impl LimitArguments {
    /// The level's limits with everything that was asked for.
    pub fn resolve(&self) -> anyhow::Result<Limits> {
        let mut limits = Limits::of(self.level);
        if let Some(timeout) = &self.timeout {
            limits.set_text("wall_time", timeout)?;
            // Who asks for more time means computing, too.
            let wall = limits.get(gristmill_gateway::domain::LimitName::WallTime);
            let cpu = gristmill_gateway::domain::LimitName::CpuTime;
            if wall > limits.get(cpu) {
                limits.set(cpu, wall)?;
            }
        }
        if let Some(memory) = &self.memory {
            limits.set_text("memory", memory)?;
        }
        for setting in &self.limit {
            let (name, value) = setting.split_once('=').ok_or_else(|| {
                anyhow::anyhow!("`--limit {setting}` must be NAME=VALUE, such as --limit tool_calls=50")
            })?;
            limits.set_text(name.trim(), value)?;
        }
        Ok(limits)
    }
}
