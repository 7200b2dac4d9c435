//! Arguments of the commands about MCP clients.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use gristmill_clients::Client;

use crate::arguments::ScopeArguments;

#[derive(Args)]
pub struct ImportArguments {
    /// Servers to import [default: ask]
    pub names: Vec<String>,

    /// Only from this client, or from another system's configuration file; repeatable for clients
    #[arg(long = "from", value_parser = import_source(), value_name = "CLIENT|FILE")]
    pub from: Vec<ImportSource>,

    /// Import all servers, except those in project files
    #[arg(long, conflicts_with = "names")]
    pub all: bool,

    /// Show what would be imported, without importing
    #[arg(long)]
    pub dry_run: bool,

    /// Replace servers with the same name
    #[arg(long)]
    pub replace: bool,

    /// Keep secrets as plain values instead of moving them to .env
    #[arg(long)]
    pub keep_values: bool,

    /// Import a file without asking
    #[arg(long)]
    pub yes: bool,

    /// Print as JSON, and don't ask
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub scope: ScopeArguments,
}

/// Where servers and settings come from.
#[derive(Clone, Debug)]
pub enum ImportSource {
    Client(Client),
    /// Another system's configuration.
    File(PathBuf),
}

#[derive(Args)]
pub struct ConnectArguments {
    /// Client to connect [default: choose from the installed ones]
    #[arg(value_parser = client())]
    pub client: Option<Client>,

    #[command(flatten)]
    pub options: ConnectOptions,
}

/// How a client is connected, whichever it is.
#[derive(Args)]
pub struct ConnectOptions {
    /// Use the client's project file instead of your own
    #[arg(long)]
    pub project: bool,

    /// Name of the entry in the client
    #[arg(long, default_value = "gristmill")]
    pub name: String,

    /// Tool profile for this client
    #[arg(long, conflicts_with = "http", value_parser = ["minimal", "standard", "full"])]
    pub profile: Option<String>,

    /// Connect to a running `gristmill serve --http` instead of starting one
    #[arg(long, value_name = "URL")]
    pub http: Option<String>,

    /// Gristmill binary to start [default: this one]
    #[arg(long, value_name = "PATH", conflicts_with = "http")]
    pub command: Option<PathBuf>,

    /// Move the client's other servers to Gristmill
    #[arg(long)]
    pub move_servers: bool,

    /// Show what would change, without changing it
    #[arg(long)]
    pub dry_run: bool,

    /// Don't ask for confirmation
    #[arg(long)]
    pub yes: bool,
}

#[derive(Args)]
pub struct DisconnectArguments {
    /// Client to disconnect
    #[arg(value_parser = client())]
    pub client: Client,

    /// Use the client's project file instead of your own
    #[arg(long)]
    pub project: bool,

    /// Move the client's servers back (the default)
    #[arg(long, conflicts_with = "keep_moved")]
    pub restore_servers: bool,

    /// Leave the client's servers in Gristmill
    #[arg(long)]
    pub keep_moved: bool,

    /// Also delete the backups of the client's file, which may hold secrets
    #[arg(long)]
    pub purge: bool,

    /// Show what would change, without changing it
    #[arg(long)]
    pub dry_run: bool,

    /// Don't ask for confirmation
    #[arg(long)]
    pub yes: bool,
}

/// By their names alone: words about each would make a page of every command's help.
fn client() -> impl TypedValueParser<Value = Client> {
    PossibleValuesParser::new(Client::ALL.map(Client::name))
        .try_map(|name| Client::from_name(&name).ok_or("no such client"))
}

/// A client by name; anything that looks like a path is a file.
fn import_source() -> ImportSourceParser {
    ImportSourceParser
}

#[derive(Clone)]
struct ImportSourceParser;

impl TypedValueParser for ImportSourceParser {
    type Value = ImportSource;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<ImportSource, clap::Error> {
        let is_path = |text: &str| text.contains(['/', '.']);
        if value.to_str().is_none_or(is_path) {
            return Ok(ImportSource::File(PathBuf::from(value)));
        }
        client().parse_ref(command, argument, value).map(ImportSource::Client)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Client::ALL.map(|client| PossibleValue::new(client.name())).into_iter()))
    }
}
