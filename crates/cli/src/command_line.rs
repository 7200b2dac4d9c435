//! The command line: which commands there are. Each has its arguments beside it.

use std::ffi::OsString;

use clap::{ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use gristmill_bench::Bench;

use crate::arguments::{Run, Setup, Tools};
use crate::commands::approvals::ApprovalsArguments;
use crate::commands::backup::Backup;
use crate::commands::cache::Cache;
use crate::commands::client_arguments::{ConnectArguments, DisconnectArguments, ImportArguments};
use crate::commands::completions::Completions;
use crate::commands::config::ConfigArguments;
use crate::commands::dashboard::DashboardArguments;
use crate::commands::demo::Demo;
use crate::commands::doctor::Doctor;
use crate::commands::example_server::ExampleServerArguments;
use crate::commands::explain::Explain;
use crate::commands::help::HelpArguments;
use crate::commands::levels::Levels;
use crate::commands::list::List;
use crate::commands::login::{Login, Logout};
use crate::commands::logs::Logs;
use crate::commands::man::ManArguments;
use crate::commands::policy::PolicyArguments;
use crate::commands::restore::Restore;
use crate::commands::servers::{self, AddArguments, AddJsonArguments, GetArguments, RemoveArguments};
use crate::commands::token::TokenArguments;
use crate::{color, command_groups};

/// Run the code your agents write, in a sandbox between them and their MCP servers
#[derive(Parser)]
#[command(name = "gristmill", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(
    after_help = "Start with `gristmill demo`, then `gristmill init`.\n\nExit codes: 0 ok, 1 the program failed, 2 wrong usage or configuration, 3 a limit was reached, 4 internal or system error."
)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,

    /// When to use color
    #[arg(long, value_name = "WHEN", global = true, value_enum, default_value_t = ColorChoice::Auto)]
    pub color: ColorChoice,
}

impl Arguments {
    /// Reads the command line of this process; mistakes and `--help` end it.
    pub fn read() -> Self {
        let words: Vec<OsString> = std::env::args_os().collect();
        // The help is made before the flags are read.
        color::choose(color_choice(&words));
        let command = command();
        let words = servers::with_separator(words, &command);
        let matches = command.get_matches_from(words);
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

/// What `--color` says; clap tells of mistakes in it.
fn color_choice(words: &[OsString]) -> ColorChoice {
    let words = words.iter().map(|word| word.to_str().unwrap_or_default());
    let mut words = words.take_while(|word| *word != "--");
    let said = words.by_ref().find_map(|word| word.strip_prefix("--color"));
    let value = match said {
        Some("") => words.next(),
        Some(value) => value.strip_prefix('='),
        None => None,
    };
    value.and_then(|value| ColorChoice::from_str(value, true).ok()).unwrap_or(ColorChoice::Auto)
}

/// All of it, as clap knows it, with its help in groups.
pub fn command() -> clap::Command {
    command_groups::with_groups(Arguments::command())
}

#[derive(Subcommand)]
pub enum Command {
    /// Watch a sample job run, and see the tokens it saves
    Demo(Demo),
    /// Set up Gristmill: clients, their servers, profile, privacy, policy
    Init(crate::commands::init::InitArguments),
    /// Import servers from your MCP clients, or another system's configuration
    Import(ImportArguments),
    /// Add Gristmill to an MCP client
    Connect(ConnectArguments),
    /// Remove Gristmill from an MCP client
    Disconnect(DisconnectArguments),
    /// Serve MCP clients over stdio or HTTP
    Serve(crate::commands::serve::Serve),
    /// Run a Python or TypeScript program in the sandbox
    Run(Run),
    /// Have a program written for a task in words, checked, and run
    Ask(crate::commands::ask::Ask),
    /// Check a Python or TypeScript program without running it
    Check(crate::commands::check::Check),
    /// Filter, group, join and test a table (JSON, JSON Lines, CSV or Parquet)
    Analyze(crate::commands::analyze::AnalyzeArguments),
    /// List past executions, newest first
    History(crate::commands::history::HistoryArguments),
    /// Show a past execution: its program, calls, output and error
    Show(crate::commands::show::ShowArguments),
    /// Re-run a past execution
    Rerun(crate::commands::rerun::RerunArguments),
    /// Summarize executions: success rate, time, tokens saved
    Stats(crate::commands::stats::StatsArguments),
    /// Preview a file condensed to a token budget
    Shape(crate::commands::shape::ShapeArguments),
    /// Find personal data and secrets in a file
    Privacy(crate::commands::privacy::PrivacyArguments),
    /// List what was unusual, newest first
    Anomalies(crate::commands::anomalies::AnomaliesArguments),
    /// Test how you're told of what's unusual
    Alerts(crate::commands::alerts::AlertsArguments),
    /// Read, check and export the audit: who ran and called what
    Audit(crate::commands::audit::AuditArguments),
    /// Back up configuration and data to one file
    Backup(Backup),
    /// Restore a backup
    Restore(Restore),
    /// Back up or check the database
    Db(crate::commands::db::DbArguments),
    /// Check the sandbox, servers and clients, and suggest fixes
    Doctor(Doctor),
    /// Show what each isolation level limits and requires
    Levels(Levels),
    /// Add a server: `add NAME COMMAND…` or `add NAME URL`
    Add(AddArguments),
    /// Add a server from client JSON
    AddJson(AddJsonArguments),
    /// List servers and their status
    List(List),
    /// Show a server's configuration
    Get(GetArguments),
    /// Remove a server
    Remove(RemoveArguments),
    /// Log in to an HTTP server
    Login(Login),
    /// Log out of an HTTP server and delete its tokens
    Logout(Logout),
    /// List, search, show, call and review the servers' tools
    Tools(Tools),
    /// Show what servers wrote to stderr
    Logs(Logs),
    /// Manage agent sessions
    Sessions(crate::commands::sessions::SessionsArguments),
    /// List, read and write the files of a session
    Workspace(crate::commands::workspace::WorkspaceArguments),
    /// Full results that didn't fit in an answer
    Results(crate::commands::results::ResultsArguments),
    /// Add Python packages, such as numpy and pandas, for the native engine
    Python(crate::commands::python::PythonArguments),
    /// Manage skills, the saved code programs can import
    Skills(crate::commands::skills::SkillsArguments),
    /// Manage access tokens for `gristmill serve --http`
    Token(TokenArguments),
    /// Show and test the rules for tool calls
    Policy(PolicyArguments),
    /// List and answer calls that need your approval
    Approvals(ApprovalsArguments),
    /// Open the dashboard of a running gateway in your browser
    Dashboard(DashboardArguments),
    /// Run programs for gateways on other machines
    WorkerNode(crate::commands::worker_node::WorkerNode),
    /// Join a cluster, list its nodes, drain one
    Cluster(crate::commands::cluster::ClusterArguments),
    /// Show, check and edit the configuration
    Config(ConfigArguments),
    /// Explain an error code, such as GM-1201, or a rule of `check`
    Explain(Explain),
    /// Show a command's help, or a guide, such as `help tutorial`
    Help(HelpArguments),
    /// Free disk space
    Cache(Cache),
    /// Unpack the engine ahead of the first run
    Setup(Setup),
    /// Measure speed, search quality and token savings on this machine
    Bench(Bench),
    /// Print a completion script for your shell
    Completions(Completions),
    /// Print or write manual pages
    Man(ManArguments),
    /// Serve an example MCP server over stdio
    ExampleServer(ExampleServerArguments),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_are_sound() {
        command().debug_assert();
    }

    #[test]
    fn the_color_is_known_before_the_help_is_made() {
        let check = |words: &[&str], expected: ColorChoice| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            assert_eq!(color_choice(&words), expected, "{words:?}");
        };
        check(&["gristmill", "--color", "never", "list"], ColorChoice::Never);
        check(&["gristmill", "list", "--color=always"], ColorChoice::Always);
        check(&["gristmill", "run", "--", "--color=always"], ColorChoice::Auto);
        check(&["gristmill", "--color"], ColorChoice::Auto);
    }

    #[test]
    fn every_command_is_in_one_group_of_the_help() {
        let mut grouped: Vec<&str> =
            command_groups::GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        let command = Arguments::command();
        let mut names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        grouped.sort_unstable();
        names.sort_unstable();
        assert_eq!(grouped, names);
    }
}
