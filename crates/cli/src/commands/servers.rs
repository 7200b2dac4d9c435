//! `gristmill add`, `add-json`, `get` and `remove`: the servers in a configuration file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;
use gristmill_config::by_hand::ByHand;
use gristmill_config::edit::{Done, EditError};
use gristmill_config::{Flags, Surroundings};
use gristmill_gateway::audit::{AuditEvent, ConfigChange};
use gristmill_gateway::domain::visible;
use serde_json::Value;

use super::add::{self, AddError, Report, Scope, Target};
use super::remove::RemoveError;
use super::{Failure, Outcome, add_json, add_shown, get, remove};
use crate::arguments::{ConfigFile, ScopeArguments};
use crate::audit_log::note_changes;
use crate::terminal::{Printable, eprint_lines, print_json};
use crate::{exit_codes, upstreams};

/// What starting a server means, said to whoever adds one.
const RUNS_WITH_YOUR_RIGHTS: &str = "warning: this server runs on your machine with your rights, outside the sandbox; add only servers you trust";

#[derive(Args)]
#[command(after_help = "Examples:
  gristmill add files npx -y @modelcontextprotocol/server-filesystem /srv
  gristmill add github https://api.githubcopilot.com/mcp --header 'Authorization: Bearer ${GITHUB_TOKEN}'")]
pub struct AddArguments {
    /// The server's name; programs import its tools from `servers.NAME`
    pub name: String,

    /// The URL of an HTTP server
    pub url: Option<String>,

    /// The command that starts a stdio server, with its arguments; put flags for `add` before it
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,

    /// Set an environment variable for the command; write secrets as ${NAME}
    #[arg(short, long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,

    /// Send a header to an HTTP server; write secrets as ${NAME}
    #[arg(short = 'H', long, value_name = "NAME: VALUE")]
    pub header: Vec<String>,

    /// Run the command in this folder
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,

    /// Describe the server in one line, for agents
    #[arg(long)]
    pub description: Option<String>,

    /// Set a category to filter tool searches by
    #[arg(long)]
    pub category: Option<String>,

    /// Confine the command to the system and its own files; docs/servers.md says how to allow more
    #[arg(long)]
    pub sandbox: bool,

    /// Replace an existing server of this name
    #[arg(long)]
    pub replace: bool,

    #[command(flatten)]
    pub scope: ScopeArguments,
}

#[derive(Args)]
pub struct AddJsonArguments {
    /// The server's name
    pub name: String,

    /// Its configuration, such as '{"command": "npx", "args": ["-y", "some-server"]}'
    pub json: String,

    /// Replace an existing server of this name
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

    /// Also delete its secrets from your own .env, unless another server uses them
    #[arg(long)]
    pub purge: bool,

    #[command(flatten)]
    pub scope: ScopeArguments,
}

pub async fn add(arguments: AddArguments) -> Outcome {
    let target = match (arguments.url, arguments.command) {
        (Some(url), command) if command.is_empty() => Target::Url(url),
        (None, command) if !command.is_empty() => Target::Command(command),
        (Some(first), command) => Target::Command(std::iter::once(first).chain(command).collect()),
        (None, _) => {
            return Err(Failure::Usage(anyhow!(
                "missing command or URL: gristmill add {} COMMAND…, or gristmill add {} URL",
                arguments.name,
                arguments.name
            )));
        }
    };
    let is_free = !arguments.sandbox;
    let is_foreign = is_free && matches!(&target, Target::Command(command) if !is_example(command));
    let name = arguments.name.clone();
    let asked = add::Add {
        name: arguments.name,
        target,
        env: arguments.env,
        headers: arguments.header,
        cwd: arguments.cwd,
        description: arguments.description,
        category: arguments.category,
        sandbox: arguments.sandbox,
        scope: scope(arguments.scope),
        replace: arguments.replace,
    };
    print_added(add::add(&surroundings()?, &asked), &asked.scope, &name, is_foreign).await
}

pub async fn add_json(arguments: AddJsonArguments) -> Outcome {
    let json: Value = serde_json::from_str(&arguments.json).unwrap_or_default();
    let is_foreign = command_in(&json).is_some_and(|command| !is_example(&command));
    let name = arguments.name.clone();
    let asked = add_json::AddJson {
        name: arguments.name,
        json: arguments.json,
        scope: scope(arguments.scope),
        replace: arguments.replace,
    };
    print_added(add_json::add_json(&surroundings()?, &asked), &asked.scope, &name, is_foreign).await
}

/// The command of a server, also in the block that another client keeps it in.
fn command_in(json: &Value) -> Option<Vec<String>> {
    let members = json.as_object()?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match members.get("command") {
        Some(command) => {
            let arguments = members.get("args").and_then(Value::as_array);
            Some(text(command).into_iter().chain(arguments.into_iter().flatten().filter_map(text)).collect())
        }
        None => members.values().find_map(command_in),
    }
}

/// One of the servers that come with us, which is no stranger.
fn is_example(command: &[String]) -> bool {
    let ours = command.first().is_some_and(|program| Path::new(program).ends_with("gristmill"));
    ours && command.get(1).is_some_and(|word| word == "example-server")
}

async fn print_added(
    added: Result<Report, AddError>,
    scope: &Scope,
    name: &str,
    is_foreign: bool,
) -> Outcome {
    match added {
        Err(AddError::Edit(EditError::ByHand(by_hand))) => left_to_owner(&by_hand),
        added => {
            let report = added.map_err(|error| Failure::Usage(error.into()))?;
            note_change(&report, scope, name);
            if is_foreign {
                eprint_lines(RUNS_WITH_YOUR_RIGHTS);
            }
            print_report(report)?;
            add_shown::show(name, &flags_of(scope)).await;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// What an auditor may ask about later: which server and which file, and nothing of what it is.
fn note_change(report: &Report, scope: &Scope, name: &str) {
    let what = match report.done {
        Done::Created | Done::Added => ConfigChange::ServerAdded,
        Done::Replaced => ConfigChange::ServerReplaced,
        Done::Removed => ConfigChange::ServerRemoved,
    };
    let event = AuditEvent::config_changed(what, &report.file.display().to_string()).of_server(name);
    note_changes(&flags_of(scope), [event]);
}

/// Flags that read the file of a scope.
pub fn flags_of(scope: &Scope) -> Flags {
    let config = match scope {
        Scope::File(file) => Some(file.clone()),
        Scope::User | Scope::Project => None,
    };
    Flags { config, ..Flags::default() }
}

/// `add NAME COMMAND…` as `add NAME -- COMMAND…`: from the command on, every word is the command's.
pub fn with_separator(mut words: Vec<OsString>, command: &clap::Command) -> Vec<OsString> {
    if let Some(place) = command.find_subcommand("add").and_then(|add| command_place(&words, command, add)) {
        words.insert(place, "--".into());
    }
    words
}

/// Where a command without `--` before it begins. None if there is no such thing.
fn command_place(words: &[OsString], command: &clap::Command, add: &clap::Command) -> Option<usize> {
    let text = |index: usize| words.get(index).and_then(|word| word.to_str());
    if words.iter().any(|word| word == "--") {
        return None;
    }
    // The third of what are no flags: `add`, the name, the command.
    let mut positions = 0;
    let mut index = 1;
    while index < words.len() {
        let word = text(index)?;
        if word.starts_with('-') && word.len() > 1 {
            index += if takes_next_word(word, command, add) { 2 } else { 1 };
            continue;
        }
        positions += 1;
        match positions {
            1 if word != "add" => return None,
            3 => return is_command(word, index + 1 == words.len()).then_some(index),
            _ => index += 1,
        }
    }
    None
}

fn takes_next_word(flag: &str, command: &clap::Command, add: &clap::Command) -> bool {
    let mut arguments = add.get_arguments().chain(command.get_arguments());
    let known = arguments.find(|argument| {
        let is_long = argument.get_long().is_some_and(|long| flag == format!("--{long}"));
        is_long || argument.get_short().is_some_and(|short| flag == format!("-{short}"))
    });
    known.is_some_and(|argument| argument.get_action().takes_values())
}

/// A URL has a scheme. A host alone is one without it, which is told of as such.
fn is_command(word: &str, is_last: bool) -> bool {
    let looks_like_host = is_last && word.contains('.') && !word.starts_with(['.', '/', '~']);
    !word.contains("://") && !looks_like_host
}

pub fn get(arguments: GetArguments) -> Outcome {
    let configured = upstreams::read(&Flags { config: arguments.config.config, ..Flags::default() })?;
    let usage = |error: get::UnknownServer| Failure::Usage(error.into());
    match arguments.json {
        true => print_json(&get::as_json(&configured.config, &arguments.name).map_err(usage)?),
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
        removed => {
            let report = removed.map_err(|error| Failure::Usage(error.into()))?;
            forget_approvals(&arguments.name)?;
            note_change(&report, scope.as_ref().unwrap_or(&Scope::User), &arguments.name);
            print_report(report)
        }
    }
}

/// A server that is added again after it was removed is a new one: its first use approves it.
fn forget_approvals(name: &str) -> Result<(), Failure> {
    let surroundings = surroundings()?;
    let config = gristmill_config::load(&surroundings, &Flags::default()).config;
    // Another file may still have it.
    if config.server(name).is_some() {
        return Ok(());
    }
    let data = upstreams::Configured { config, surroundings }.data_folder()?;
    if let Err(error) = gristmill_gateway::upstream::forget_approvals(&data, name) {
        eprint_lines(&format!("note: {}", visible(&error.to_string())));
    }
    Ok(())
}

fn print_report(report: Report) -> Outcome {
    println!("{}", Printable::all(&report.text));
    for hint in report.hints {
        eprint_lines(&format!("hint: {}", Printable::all(&hint)));
    }
    Ok(ExitCode::SUCCESS)
}

fn left_to_owner(by_hand: &ByHand) -> Outcome {
    print_by_hand(by_hand);
    Ok(exit_codes::usage())
}

/// Tells the owner of a YAML file what to change. What to paste goes to stdout, the rest to stderr.
pub fn print_by_hand(by_hand: &ByHand) {
    let path = by_hand.path.display();
    eprint_lines(&format!("error: {path} was not changed: Gristmill reads YAML but doesn't edit it"));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_needs_no_separator() {
        let check = |words: &str, expected: &str| {
            let words = words.split(' ').map(OsString::from).collect();
            let read = with_separator(words, &crate::command_line::command());
            let read: Vec<_> = read.iter().map(|word| word.to_string_lossy()).collect();
            assert_eq!(read.join(" "), expected);
        };
        check("gristmill add x npx -y foo", "gristmill add x -- npx -y foo");
        check("gristmill add x npx", "gristmill add x -- npx");
        check(
            "gristmill --color never add -e A=1 x --cwd /a npx -y",
            "gristmill --color never add -e A=1 x --cwd /a -- npx -y",
        );
        check(
            "gristmill add x --env=A=1 --replace npx --env B",
            "gristmill add x --env=A=1 --replace -- npx --env B",
        );
        check("gristmill add x -- npx foo", "gristmill add x -- npx foo");
        check(
            "gristmill add x https://a.example/mcp --replace",
            "gristmill add x https://a.example/mcp --replace",
        );
        check("gristmill add x a.example/mcp", "gristmill add x a.example/mcp");
        check("gristmill add x ./server.sh", "gristmill add x -- ./server.sh");
        check("gristmill add x", "gristmill add x");
        check("gristmill get add x y", "gristmill get add x y");
        check("gristmill add --help", "gristmill add --help");
    }
}
