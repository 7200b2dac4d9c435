//! Arguments of `gristmill tools`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::ConfigFile;
use crate::local_time::TimeArguments;

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
        /// Ask the servers first, instead of using cached tool lists
        #[arg(long)]
        refresh: bool,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Find tools by what they do
    Search {
        /// What to look for; leave it out to browse
        query: Vec<String>,
        /// Only this server
        #[arg(long)]
        server: Option<String>,
        /// Only servers in this category
        #[arg(long)]
        category: Option<String>,
        /// How much to show: names, summary or full
        #[arg(long, default_value = "summary")]
        detail: String,
        /// Show at most this many
        #[arg(long, default_value_t = 10)]
        limit: usize,
        /// Skip this many
        #[arg(long, default_value_t = 0)]
        offset: usize,
        /// Ask the servers first, instead of using cached tool lists
        #[arg(long)]
        refresh: bool,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a tool as programs see it
    Show {
        /// `tool` or `server.tool`
        name: String,
        /// Output format
        #[arg(long, value_enum, default_value_t = ToolsFormat::Python)]
        format: ToolsFormat,
    },
    /// Call a tool
    Call {
        /// `tool` or `server.tool`
        name: String,
        /// NAME=VALUE pairs, one JSON object, or `-` to read one from standard input
        arguments: Vec<String>,
        /// Save images, audio and other files of the answer here; without any, the answer itself
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Print the answer as JSON, even if it's text
        #[arg(long)]
        json: bool,
    },
    /// Show what is new or changed since you approved it, and approve it
    Review {
        /// Only this server
        server: Option<String>,
        /// Approve what's shown
        #[arg(long)]
        approve: bool,
        /// Approve only this: a tool or prompt by name, a resource by URI, or `instructions`; repeatable
        #[arg(long, alias = "tool", value_name = "NAME", requires = "approve", requires = "server")]
        only: Vec<String>,
        /// Don't ask
        #[arg(long)]
        yes: bool,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show result types learned from tools' answers
    Learned {
        /// `server` or `server.tool`
        name: Option<String>,
        #[command(flatten)]
        times: TimeArguments,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Learn result types by calling a server's read-only tools that need no arguments
    Learn {
        /// The server, by its configured name
        server: String,
        /// Don't ask
        #[arg(long)]
        yes: bool,
    },
    /// Forget result types learned from tools' answers
    #[command(override_usage = "gristmill tools forget <SERVER | --all>")]
    Forget {
        /// Only this server
        #[arg(required_unless_present = "all")]
        server: Option<String>,
        /// All servers
        #[arg(long, conflicts_with = "server")]
        all: bool,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ToolsFormat {
    /// The Python stub
    Python,
    /// The TypeScript stub
    Typescript,
    /// The definition, as the server sent it
    Json,
}
