//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use gristmill_gateway::access::Scope;
use gristmill_gateway::domain::{Level, Limits};

use crate::answer_arguments::AnswerArguments;
use crate::bench_arguments::Bench;
use crate::client_arguments::{ConnectArguments, DisconnectArguments, ImportArguments};
use crate::commands::token::Lifetime;

/// Runs the programs that language models write, each in a jailed process of its own.
#[derive(Parser)]
#[command(name = "gristmill", version, max_term_width = 100)]
#[command(about = "Runs the programs that language models write, between them and their MCP servers")]
#[command(
    after_help = "Start with `gristmill connect CLIENT --move-servers`: your client's servers behind Gristmill.\n\nExit codes: 0 ok, 1 the program failed, 2 usage, 3 a limit, 4 our fault or the machine's."
)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// See it work: a transcript, a CRM and 10,000 tickets, milled down to two lines
    Demo(Demo),
    /// Take over the servers that your MCP clients have
    Import(ImportArguments),
    /// Put Gristmill into a client's list of servers
    Connect(ConnectArguments),
    /// Take Gristmill out of a client's list again
    Disconnect(DisconnectArguments),
    /// Serve MCP clients: over standard input and output, or HTTP
    Serve(crate::commands::serve::Serve),
    /// Run a Python program in the sandbox
    Run(Run),
    /// Filter, group, join and test a table: JSON, JSON Lines, CSV or Parquet
    Analyze(crate::commands::analyze::AnalyzeArguments),
    /// Show what ran, the newest first
    History(crate::commands::history::HistoryArguments),
    /// Show one execution: its program, calls, output and error
    Show(crate::commands::show::ShowArguments),
    /// Run a program of the history once more
    Rerun(crate::commands::rerun::RerunArguments),
    /// Show what all executions come to: success, time, tokens saved
    Stats(crate::commands::stats::StatsArguments),
    /// Show any file within a budget of tokens, as an answer would
    Shape(crate::commands::shape::ShapeArguments),
    /// Copy the database, or check it
    Db(crate::commands::db::DbArguments),
    /// Check this machine, the servers and the clients, and say what to do
    Doctor(Doctor),
    /// Add a server: `add NAME -- COMMAND…`, or `add NAME URL`
    Add(AddArguments),
    /// Add a server from the JSON that clients use
    AddJson(AddJsonArguments),
    /// Show every server and how it is
    List(List),
    /// Show one server's configuration
    Get(GetArguments),
    /// Remove a server
    Remove(RemoveArguments),
    /// Log in to a server over HTTP
    Login(Login),
    /// Log out of a server, and forget its tokens
    Logout(Logout),
    /// What the servers offer: list, search, show, call, review
    Tools(Tools),
    /// What agents have left: list, show, end, reset, export and import sessions
    Sessions(crate::commands::sessions::SessionsArguments),
    /// The files of a session: ls, cat, put, get
    Workspace(crate::commands::workspace::WorkspaceArguments),
    /// Whole values behind answers that were too large: list, show, get, remove
    Results(crate::commands::results::ResultsArguments),
    /// Skills, which programs import: list, show, add, edit, test, history, approve
    Skills(crate::commands::skills::SkillsArguments),
    /// Access tokens for clients that reach `gristmill serve --http`
    Token(TokenArguments),
    /// Show and check the configuration
    Config(ConfigArguments),
    /// Prepare the engine ahead of time
    Setup(Setup),
    /// Measure the sandbox, the gateway, the search, serving or shaping on this machine
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

#[derive(Args, Clone, Default)]
pub struct ConfigFile {
    /// The configuration file, instead of those that are looked for
    #[arg(long = "config", value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
}

#[derive(Args, Clone, Default)]
pub struct ScopeArguments {
    /// Change the project's file instead of your own
    #[arg(long)]
    pub project: bool,

    /// Change your own file (the default)
    #[arg(long, conflicts_with = "project")]
    pub user: bool,

    /// Change this file
    #[arg(long = "config", value_name = "FILE", conflicts_with_all = ["project", "user"])]
    pub config: Option<PathBuf>,
}

impl ScopeArguments {
    /// Whether any of them was said.
    pub fn is_given(&self) -> bool {
        self.project || self.user || self.config.is_some()
    }
}

#[derive(Args)]
pub struct AddArguments {
    /// The server's name, as programs will use it
    pub name: String,

    /// Its URL, for a server over HTTP
    pub url: Option<String>,

    /// The program to start, after `--`
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,

    /// A variable for the program; write secrets as ${NAME}
    #[arg(short, long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,

    /// A header for a server over HTTP; write secrets as ${NAME}
    #[arg(short = 'H', long, value_name = "NAME: VALUE")]
    pub header: Vec<String>,

    /// Where the program starts
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,

    /// A line about it, for the index
    #[arg(long)]
    pub description: Option<String>,

    /// A word to filter searches by
    #[arg(long)]
    pub category: Option<String>,

    /// Take the place of a server with the same name
    #[arg(long)]
    pub replace: bool,

    #[command(flatten)]
    pub scope: ScopeArguments,
}

#[derive(Args)]
pub struct AddJsonArguments {
    /// The server's name
    pub name: String,

    /// Such as '{"command": "npx", "args": ["-y", "some-server"]}'
    pub json: String,

    /// Take the place of a server with the same name
    #[arg(long)]
    pub replace: bool,

    #[command(flatten)]
    pub scope: ScopeArguments,
}

#[derive(Args)]
pub struct List {
    /// Print as JSON
    #[arg(long)]
    pub json: bool,

    /// Do not reach the servers: show what is known
    #[arg(long)]
    pub no_check: bool,

    #[command(flatten)]
    pub config: ConfigFile,
}

#[derive(Args)]
pub struct GetArguments {
    /// The server's name
    pub name: String,

    /// Print as JSON
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub config: ConfigFile,
}

#[derive(Args)]
pub struct RemoveArguments {
    /// The server's name
    pub name: String,

    #[command(flatten)]
    pub scope: ScopeArguments,
}

#[derive(Args)]
pub struct Login {
    /// The server's name
    pub name: String,

    /// Only print where to go
    #[arg(long)]
    pub no_browser: bool,

    /// How long to wait, in seconds
    #[arg(long, default_value_t = 300, value_name = "SECONDS")]
    pub timeout_s: u64,

    #[command(flatten)]
    pub config: ConfigFile,
}

#[derive(Args)]
pub struct Logout {
    /// The server's name
    pub name: String,

    #[command(flatten)]
    pub config: ConfigFile,
}

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

#[derive(Args)]
pub struct TokenArguments {
    #[command(subcommand)]
    pub command: TokenCommand,

    #[command(flatten)]
    pub config: ConfigFile,
}

#[derive(Subcommand)]
pub enum TokenCommand {
    /// Make a token, and show it once
    New {
        /// What it is for, such as `laptop`
        name: String,
        /// What it permits: execute (which includes search), search, or admin (everyone's statistics)
        /// [default: execute and search]
        #[arg(long)]
        scope: Vec<Scope>,
        /// When it expires: such as 30d, 12h or 8w, or `never`
        #[arg(long, default_value = "90d")]
        expires: Lifetime,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show all tokens, but not the tokens themselves
    List {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Take one back: it is refused at once, also by servers that are running
    Revoke {
        /// Its name
        name: String,
    },
}

#[derive(Args)]
pub struct ConfigArguments {
    #[command(subcommand)]
    pub command: ConfigCommand,

    #[command(flatten)]
    pub config: ConfigFile,
}

#[derive(Subcommand)]
pub enum ConfigCommand {
    /// Show the whole configuration, and where each part comes from
    Show {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show everything that is wrong with it
    Check {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show which files are looked for, and which are there
    Path {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Allow a project's file to be used as it is now
    Approve {
        /// The file [default: the project's]
        file: Option<PathBuf>,
        /// Take the approval back
        #[arg(long)]
        revoke: bool,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Args)]
pub struct LimitArguments {
    /// How much the program is trusted: development, production or hardened [default: production]
    #[arg(long)]
    pub level: Option<Level>,

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

    /// Do not reach the configured servers
    #[arg(long)]
    pub no_servers: bool,

    #[command(flatten)]
    pub config: ConfigFile,

    /// The address at which `serve --http` would serve
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8770", value_parser = crate::commands::serve::http_address)]
    pub http: std::net::SocketAddr,
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

    /// replay: the definitions to serve, for measuring
    #[arg(hide = true)]
    pub file: Option<PathBuf>,

    /// filesystem: the folder to serve [default: a small tree in memory]
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,

    /// database: the folder for its file [default: in memory]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

impl LimitArguments {
    /// The configured limits with everything that was asked for.
    pub fn resolve(&self, configured: Option<Limits>) -> anyhow::Result<Limits> {
        let mut limits = configured.unwrap_or_else(|| Limits::of(self.level.unwrap_or_default()));
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
