//! Arguments of `gristmill bench`.

use std::path::PathBuf;

use clap::Args;

#[derive(Args)]
pub struct Bench {
    /// What to measure
    #[arg(value_parser = ["sandbox", "gateway", "search", "serve", "sessions", "shape", "analysis", "tokens"])]
    pub what: String,

    /// A folder with catalogues: JSON files of {"server", "version", "tools"}
    #[arg(long, value_name = "DIR")]
    pub catalogues: Option<PathBuf>,

    /// search: a file of queries with the tools that answer them
    #[arg(long, value_name = "FILE")]
    pub queries: Option<PathBuf>,

    /// Print the figures as JSON
    #[arg(long)]
    pub json: bool,

    /// Rounds of each measurement (sandbox, gateway, sessions)
    #[arg(long, default_value_t = 300)]
    pub rounds: usize,

    /// serve: seconds of each measurement
    #[arg(long, default_value_t = 3)]
    pub seconds: u64,

    /// serve: executions after which memory is looked at again
    #[arg(long, default_value_t = 10_000)]
    pub executions: usize,

    /// sessions: how many, each with ten files
    #[arg(long, default_value_t = 1_000)]
    pub sessions: usize,

    /// sessions: how many of them keep their interpreter
    #[arg(long, default_value_t = 50)]
    pub kept: usize,

    /// analysis: rows of the table
    #[arg(long, default_value_t = 1_000_000)]
    pub rows: usize,

    /// analysis: the Python to compare with, for pandas [default: python3]
    #[arg(long, value_name = "PATH")]
    pub python: Option<PathBuf>,

    /// tokens: only these jobs
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub jobs: Vec<String>,

    /// tokens: show one job turn by turn
    #[arg(long, value_name = "NAME", conflicts_with = "jobs")]
    pub job: Option<String>,

    /// tokens: draw the figures into a file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}
