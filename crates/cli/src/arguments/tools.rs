//! Arguments of `gristmill tools`.

use clap::{Args, Subcommand};

use super::ConfigFile;

#[derive(Args)]
pub struct Tools {
    #[command(subcommand)]
    pub command: ToolsCommand,

    #[command(flatten)]
    pub config: ConfigFile,
}

#[derive(Subcommand)]
pub enum ToolsCommand {
    /// List the tools of all servers, or of one
    List {
        /// Only this server
        server: Option<String>,
        /// Ask the servers first, instead of taking what is known of them
        #[arg(long)]
        refresh: bool,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Find tools by what they do
    Search {
        /// Words; none to browse
        query: Vec<String>,
        /// Only this server
        #[arg(long)]
        server: Option<String>,
        /// Only servers of this category
        #[arg(long)]
        category: Option<String>,
        /// names, summary or full
        #[arg(long, default_value = "summary")]
        detail: String,
        /// How many at most
        #[arg(long, default_value_t = 10)]
        limit: usize,
        /// How many of the best to leave out
        #[arg(long, default_value_t = 0)]
        offset: usize,
        /// Ask the servers first, instead of taking what is known of them
        #[arg(long)]
        refresh: bool,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one tool as a program sees it
    Show {
        /// `tool` or `server.tool`
        name: String,
        /// How
        #[arg(long, value_enum, default_value_t = ToolsFormat::Python)]
        format: ToolsFormat,
    },
    /// Call one tool
    Call {
        /// `tool` or `server.tool`
        name: String,
        /// NAME=VALUE pairs, one JSON object, or `-` for one on standard input
        arguments: Vec<String>,
        /// Print the value as JSON, also if it is text
        #[arg(long)]
        json: bool,
    },
    /// Show what changed since it was approved, and approve it
    Review {
        /// Only this server
        server: Option<String>,
        /// Approve what is shown
        #[arg(long)]
        approve: bool,
        /// Approve only this tool
        #[arg(long, requires = "approve", requires = "server")]
        tool: Vec<String>,
        /// Do not ask
        #[arg(long)]
        yes: bool,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ToolsFormat {
    /// The Python stub
    Python,
    /// The TypeScript stub
    Typescript,
    /// The server's own definition
    Json,
}
