//! The command line: which commands there are. Each has its arguments beside it.

use clap::{Parser, Subcommand};
use gristmill_bench::Bench;

use crate::arguments::{Run, Setup, Tools};
use crate::commands::client_arguments::{ConnectArguments, DisconnectArguments, ImportArguments};
use crate::commands::config::ConfigArguments;
use crate::commands::demo::Demo;
use crate::commands::doctor::Doctor;
use crate::commands::example_server::ExampleServerArguments;
use crate::commands::list::List;
use crate::commands::login::{Login, Logout};
use crate::commands::servers::{AddArguments, AddJsonArguments, GetArguments, RemoveArguments};
use crate::commands::token::TokenArguments;

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
