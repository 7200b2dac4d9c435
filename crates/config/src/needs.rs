//! What servers need before they can start: variables that are set, commands that are found. A cluster's key needs
//! such a variable, too.
//!
//! Walls: only names are looked up. Nothing is started, and no value leaves this place.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gristmill_files::Surroundings;
use gristmill_gateway::domain::{Part, Reference, SecretText, ServerSettings, Transport};

use super::cluster_table;
use super::env_file::env_path;
use super::network_table;
use super::origin::Origin;
use super::problem::{Place, Problem, ProblemKind, Severity};
use super::resolved::{Config, ConfiguredServer};

/// Every variable that is not set and every command that is not found, for the servers in use and the cluster.
pub fn unmet(config: &Config, surroundings: &Surroundings) -> Vec<Problem> {
    let mut problems = Vec::new();
    for server in config.usable_servers() {
        let settings = &server.settings;
        for (field, text) in fields(settings) {
            for name in variables_in(text) {
                let is_set = server.variables.get(&name).is_some() || surroundings.variable(&name).is_some();
                if !is_set {
                    let kind = ProblemKind::UnsetVariable { name, env_file: env_file(&server.origin) };
                    problems.push(problem(server, &field, kind));
                }
            }
        }
        if let Some(command) = absent_command(settings, surroundings) {
            let is_path = command.contains('/');
            problems.push(problem(server, "command", ProblemKind::AbsentCommand { command, is_path }));
        }
    }
    let cluster = &config.cluster;
    for (key, secret) in cluster.secrets() {
        for name in variables_in(secret) {
            if cluster.variables.get(&name).is_none() && surroundings.variable(&name).is_none() {
                let kind = ProblemKind::UnsetVariable { name, env_file: env_file(&cluster.origin) };
                let place = place(&cluster.origin, format!("{}.{key}", cluster_table::TABLE));
                problems.push(Problem { severity: Severity::Error, place, kind });
            }
        }
    }
    problems
}

fn problem(server: &ConfiguredServer, field: &str, kind: ProblemKind) -> Problem {
    let key = match server.settings.transport {
        Transport::Hosts(_) => format!("{}.{field}", network_table::TABLE),
        Transport::Stdio { .. } | Transport::Http { .. } => {
            format!("servers.{}.{field}", server.settings.name)
        }
    };
    Problem { severity: Severity::Error, place: place(&server.origin, key), kind }
}

fn place(origin: &Origin, key: String) -> Place {
    let (file, line) = match origin {
        Origin::File { path, line } => (Some(path.clone()), Some(*line)),
        Origin::Default | Origin::Variable(_) | Origin::Flag => (None, None),
    };
    Place { file, line, key: Some(key) }
}

/// The `.env` that the variables of a file can be set in.
fn env_file(origin: &Origin) -> Option<PathBuf> {
    match origin {
        Origin::File { path, .. } => Some(env_path(path)),
        Origin::Default | Origin::Variable(_) | Origin::Flag => None,
    }
}

/// Every text of a server that may hold references, by its field.
pub(crate) fn fields(server: &ServerSettings) -> Vec<(String, &SecretText)> {
    let mut fields = Vec::new();
    match &server.transport {
        Transport::Stdio { command, args, env, .. } => {
            fields.push(("command".to_owned(), command));
            fields.extend(args.iter().map(|text| ("args".to_owned(), text)));
            fields.extend(env.iter().map(|(name, text)| (format!("env.{name}"), text)));
        }
        Transport::Http { url, headers, oauth } => {
            fields.push(("url".to_owned(), url));
            fields.extend(headers.iter().map(|(name, text)| (format!("headers.{name}"), text)));
            fields.extend(oauth.client_id.iter().map(|text| ("oauth.client_id".to_owned(), text)));
            fields.extend(oauth.client_secret.iter().map(|text| ("oauth.client_secret".to_owned(), text)));
        }
        Transport::Hosts(hosts) => fields.extend(hosts.credentials.iter().map(|credential| {
            (format!("credentials.{:?}.value", credential.host.as_str()), &credential.value)
        })),
    }
    fields
}

/// The variables that a server cannot do without.
pub fn variables_of(server: &ServerSettings) -> BTreeSet<String> {
    fields(server).into_iter().flat_map(|(_, text)| variables_in(text)).collect()
}

/// Every variable that a server refers to, also those with a default.
pub fn all_variables_of(server: &ServerSettings) -> BTreeSet<String> {
    let name = |part: &Part| match part {
        Part::Reference(Reference::Environment { name, .. }) => Some(name.clone()),
        Part::Reference(_) | Part::Plain(_) => None,
    };
    let names = |text: &SecretText| text.parts().iter().filter_map(name).collect::<Vec<_>>();
    fields(server).into_iter().flat_map(|(_, text)| names(text)).collect()
}

fn variables_in(text: &SecretText) -> BTreeSet<String> {
    let name = |part: &Part| match part {
        Part::Reference(Reference::Environment { name, default: None }) => Some(name.clone()),
        Part::Reference(_) | Part::Plain(_) => None,
    };
    text.parts().iter().filter_map(name).collect()
}

/// The command of a server, if it is not found.
pub fn absent_command(server: &ServerSettings, surroundings: &Surroundings) -> Option<String> {
    let Transport::Stdio { command, env, cwd, .. } = &server.transport else { return None };
    let command = command.as_plain()?;
    let is_there = match (command.contains('/'), cwd) {
        // It is looked for elsewhere than here.
        (false, _) if env.contains_key("PATH") => true,
        (false, _) => on_path(command, surroundings).is_some(),
        (true, Some(cwd)) => cwd.join(command).exists(),
        (true, None) => !Path::new(command).is_absolute() || Path::new(command).exists(),
    };
    (!is_there).then(|| command.to_owned())
}

/// A program of this name, where a shell would find it.
pub fn on_path(name: &str, surroundings: &Surroundings) -> Option<PathBuf> {
    let path = surroundings.variable("PATH")?;
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(name)).find(|file| file.is_file())
}
