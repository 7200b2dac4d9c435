//! `gristmill add`, `add-json`, `get` and `remove`: the servers in a configuration file.

use std::process::ExitCode;

use anyhow::anyhow;

use super::add::{self, Report, Scope, Target};
use super::{Failure, Outcome, add_json, get, remove};
use crate::arguments::{AddArguments, AddJsonArguments, GetArguments, RemoveArguments, ScopeArguments};
use crate::config::{Flags, Surroundings};
use crate::terminal::Printable;
use crate::upstreams;

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
    tell(add::add(&surroundings()?, &asked).map_err(|error| Failure::Usage(error.into()))?)
}

pub fn add_json(arguments: AddJsonArguments) -> Outcome {
    let asked = add_json::AddJson {
        name: arguments.name,
        json: arguments.json,
        scope: scope(arguments.scope),
        replace: arguments.replace,
    };
    tell(add_json::add_json(&surroundings()?, &asked).map_err(|error| Failure::Usage(error.into()))?)
}

pub fn get(arguments: GetArguments) -> Outcome {
    let configured = upstreams::read(&Flags { config: arguments.config.config, ..Flags::default() })?;
    let usage = |error: get::NoServer| Failure::Usage(error.into());
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
    let removed = remove::remove(&surroundings()?, &arguments.name, scope.as_ref());
    tell(removed.map_err(|error| Failure::Usage(error.into()))?)
}

fn tell(report: Report) -> Outcome {
    println!("{}", Printable::all(&report.text));
    for hint in report.hints {
        eprintln!("hint: {}", Printable::all(&hint));
    }
    Ok(ExitCode::SUCCESS)
}

pub fn scope(arguments: ScopeArguments) -> Scope {
    match (arguments.project, arguments.config) {
        (_, Some(file)) => Scope::File(file),
        (true, None) => Scope::Project,
        (false, None) => Scope::User,
    }
}

fn surroundings() -> Result<Surroundings, Failure> {
    Surroundings::of_this_process().map_err(|error| Failure::Ours(error.into()))
}
