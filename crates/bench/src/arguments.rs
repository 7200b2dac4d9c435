//! Arguments of `gristmill bench`.

use std::path::PathBuf;

use clap::Args;

use crate::cluster::{ClusterArguments, Shared};

#[derive(Args)]
pub struct Bench {
    /// What to measure
    #[arg(value_parser = ["sandbox", "guest", "gateway", "telemetry", "search", "serve", "sessions", "shape", "analysis", "tokens", "privacy", "dashboard", "ratios", "cluster"])]
    pub what: String,

    /// sandbox: language to measure
    #[arg(long, value_name = "LANGUAGE", default_value = "python", value_parser = ["python", "typescript"])]
    pub language: String,

    /// sandbox: engine of Python to measure
    #[arg(long, value_name = "ENGINE", default_value = "wasm", value_parser = ["wasm", "native"])]
    pub engine: String,

    /// Folder of tool catalogs: JSON files of {"server", "version", "tools"}
    #[arg(long, value_name = "DIR")]
    pub catalogues: Option<PathBuf>,

    /// search: file of queries and the tools that answer them
    #[arg(long, value_name = "FILE")]
    pub queries: Option<PathBuf>,

    /// privacy: folder of labeled texts, as .jsonl files
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,

    /// privacy: texts without personal data
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub plain: Vec<PathBuf>,

    /// privacy: what another detector found in the same texts
    #[arg(long, value_name = "FILE", requires = "data")]
    pub beside: Option<PathBuf>,

    /// privacy: list what wasn't found and what was found falsely
    #[arg(long)]
    pub misses: bool,

    /// Print as JSON
    #[arg(long)]
    pub json: bool,

    /// Rounds per measurement (sandbox, gateway, telemetry, sessions, serve --profile; at most 5 with guest, 10 with ratios, 20 with dashboard)
    #[arg(long, default_value_t = 300)]
    pub rounds: usize,

    /// serve: show where a program's time goes, stage by stage
    #[arg(long)]
    pub profile: bool,

    /// serve: seconds per measurement; cluster: seconds that are simulated [default: 3, cluster: 120]
    #[arg(long)]
    pub seconds: Option<u64>,

    /// serve: executions before memory is measured again; dashboard: executions in the database
    /// [default: 10000, dashboard: 100000]
    #[arg(long)]
    pub executions: Option<usize>,

    /// sessions: number of sessions, each with ten files; cluster: number of sessions
    /// [default: 1000, cluster: 1000000]
    #[arg(long)]
    pub sessions: Option<usize>,

    /// sessions: number of sessions that keep their interpreter
    #[arg(long, default_value_t = 50)]
    pub kept: usize,

    /// analysis: rows in the table
    #[arg(long, default_value_t = 1_000_000)]
    pub rows: usize,

    /// analysis: Python to compare with, for pandas [default: python3]
    #[arg(long, value_name = "PATH")]
    pub python: Option<PathBuf>,

    /// tokens: only these jobs
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub jobs: Vec<String>,

    /// tokens: show one job turn by turn
    #[arg(long, value_name = "NAME", conflicts_with = "jobs")]
    pub job: Option<String>,

    /// tokens: also measure programs after every job was done once, when tools' answers are known
    #[arg(long)]
    pub after_use: bool,

    /// tokens: write a chart to this SVG file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,

    #[command(flatten)]
    pub cluster: ClusterArguments,
}

impl Bench {
    pub fn shared(&self) -> Shared {
        Shared { sessions: self.sessions, seconds: self.seconds, json: self.json }
    }
}
