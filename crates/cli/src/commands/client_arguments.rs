//! The command line of what has to do with other clients.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use gristmill_clients::Client;

use crate::arguments::ScopeArguments;

#[derive(Args)]
pub struct ImportArguments {
    /// The servers to take, by name [default: ask]
    pub names: Vec<String>,

    /// Only from this client; may be given several times
    #[arg(long = "from", value_parser = client(), value_name = "CLIENT")]
    pub from: Vec<Client>,

    /// Take all that can be taken, except those in a project's files
    #[arg(long, conflicts_with = "names")]
    pub all: bool,

    /// Show what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Take servers also in place of others of their names
    #[arg(long)]
    pub replace: bool,

    /// Leave secrets as plain values instead of moving them into .env
    #[arg(long)]
    pub keep_values: bool,

    /// Print as JSON; asks nothing
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub scope: ScopeArguments,
}

#[derive(Args)]
pub struct ConnectArguments {
    /// The client
    #[arg(value_parser = client())]
    pub client: Client,

    /// Change the client's file for this project instead of your own
    #[arg(long)]
    pub project: bool,

    /// What Gristmill is called there
    #[arg(long, default_value = "gristmill")]
    pub name: String,

    /// The profile of tools that the client gets
    #[arg(long, conflicts_with = "http", value_parser = ["minimal", "standard", "full"])]
    pub profile: Option<String>,

    /// Connect the client to a running `gristmill serve --http` instead of starting one
    #[arg(long, value_name = "URL")]
    pub http: Option<String>,

    /// The program to start [default: this one]
    #[arg(long, value_name = "PATH", conflicts_with = "http")]
    pub command: Option<PathBuf>,

    /// Import the client's other servers, and take them out of its list
    #[arg(long)]
    pub move_servers: bool,

    /// Show what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

#[derive(Args)]
pub struct DisconnectArguments {
    /// The client
    #[arg(value_parser = client())]
    pub client: Client,

    /// Change the client's file for this project instead of your own
    #[arg(long)]
    pub project: bool,

    /// Put back the servers that were moved (the default)
    #[arg(long, conflicts_with = "keep_moved")]
    pub restore_servers: bool,

    /// Leave the servers that were moved where they are
    #[arg(long)]
    pub keep_moved: bool,

    /// Show what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

/// By their names alone: words about each would make a page of every command's help.
fn client() -> impl TypedValueParser<Value = Client> {
    PossibleValuesParser::new(Client::ALL.map(Client::name))
        .try_map(|name| Client::from_name(&name).ok_or("no such client"))
}
