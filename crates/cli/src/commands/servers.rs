//! `gristmill add`, `add-json`, `get` and `remove`: the servers in a configuration file.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;
use gristmill_config::by_hand::ByHand;
use gristmill_config::edit::EditError;
use gristmill_config::{Flags, Surroundings};

use super::add::{self, AddError, Report, Scope, Target};
use super::remove::RemoveError;
use super::{Failure, Outcome, add_json, get, remove};
use crate::arguments::{ConfigFile, ScopeArguments};
use crate::terminal::{Printable, eprint_lines};
use crate::{exit_codes, upstreams};

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

    /// Also delete its secrets from .env, unless another server uses them
    #[arg(long)]
    pub purge: bool,

    #[command(flatten)]
    pub scope: ScopeArguments,
}

pub fn add(arguments: AddArguments) -> Outcome {
    let target = match (arguments.url, arguments.command) {
        (Some(url), command) if command.is_empty() => Target::Url(url),
        (None, command) if !command.is_empty() => Target::Command(command),
        (Some(first), command) => Target::Command(std::iter::once(first).chain(command).collect()),
        (None, _) => {
            return Err(Failure::Usage(anyhow!(
                "say what the server is: gristmill add {} -- COMMAND…, or gristmill add {} URL",
                arguments.name,
                arguments.name
            )));
        }
    };
    let asked = add::Add {
        name: arguments.name,
        target,
        env: arguments.env,
        headers: arguments.header,
        cwd: arguments.cwd,
        description: arguments.description,
        category: arguments.category,
        scope: scope(arguments.scope),
        replace: arguments.replace,
    };
    match add::add(&surroundings()?, &asked) {
        Err(AddError::Edit(EditError::ByHand(by_hand))) => left_to_owner(&by_hand),
        added => print_report(added.map_err(|error| Failure::Usage(error.into()))?),
    }
}

pub fn add_json(arguments: AddJsonArguments) -> Outcome {
    let asked = add_json::AddJson {
        name: arguments.name,
        json: arguments.json,
        scope: scope(arguments.scope),
        replace: arguments.replace,
    };
    match add_json::add_json(&surroundings()?, &asked) {
        Err(AddError::Edit(EditError::ByHand(by_hand))) => left_to_owner(&by_hand),
        added => print_report(added.map_err(|error| Failure::Usage(error.into()))?),
    }
}

pub fn get(arguments: GetArguments) -> Outcome {
    let configured = upstreams::read(&Flags { config: arguments.config.config, ..Flags::default() })?;
    let usage = |error: get::UnknownServer| Failure::Usage(error.into());
    match arguments.json {
        true => println!("{:#}", get::as_json(&configured.config, &arguments.name).map_err(usage)?),
        false => {
            print!("{}", Printable::all(&get::as_text(&configured.config, &arguments.name).map_err(usage)?));
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub fn remove(arguments: RemoveArguments) -> Outcome {
    let scope = arguments.scope.is_given().then(|| scope(arguments.scope));
    let secrets = if arguments.purge { remove::Secrets::Purge } else { remove::Secrets::Keep };
    match remove::remove(&surroundings()?, &arguments.name, scope.as_ref(), secrets) {
        Err(RemoveError::Edit(EditError::ByHand(by_hand))) => left_to_owner(&by_hand),
        removed => print_report(removed.map_err(|error| Failure::Usage(error.into()))?),
    }
}

fn print_report(report: Report) -> Outcome {
    println!("{}", Printable::all(&report.text));
    for hint in report.hints {
        eprintln!("hint: {}", Printable::all(&hint));
    }
    Ok(ExitCode::SUCCESS)
}

fn left_to_owner(by_hand: &ByHand) -> Outcome {
    print_by_hand(by_hand);
    Ok(exit_codes::usage())
}

/// Says what the owner of a YAML file does to it. What to paste is printed as it is, the rest beside it.
pub fn print_by_hand(by_hand: &ByHand) {
    let path = by_hand.path.display();
    eprint_lines(&format!("error: {path} was not changed: Gristmill reads YAML, but does not edit it"));
    for step in &by_hand.steps {
        eprint_lines(&Printable::all(&step.instruction()));
        print!("{}", Printable::all(step.text().unwrap_or_default()));
    }
}

pub fn scope(arguments: ScopeArguments) -> Scope {
    match (arguments.project, arguments.config) {
        (_, Some(file)) => Scope::File(file),
        (true, None) => Scope::Project,
        (false, None) => Scope::User,
    }
}

fn surroundings() -> Result<Surroundings, Failure> {
    Surroundings::of_this_process().map_err(|error| Failure::Internal(error.into()))
}
