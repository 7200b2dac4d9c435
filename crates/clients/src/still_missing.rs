//! What must be done before servers work here: variables that nobody has set, programs that are not
//! found, logins that only the client had.
//!
//! Walls: nothing is started, reached or looked up but names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gristmill_config::Surroundings;
use gristmill_config::problem::shown;
use gristmill_gateway::domain::{Part, Reference, SecretText, ServerSettings, Transport};

use super::places;

/// What is missing, each with the servers that need it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Variables that are not set.
    pub variables: BTreeMap<String, Vec<String>>,
    /// Programs that are not found.
    pub programs: BTreeMap<String, Vec<String>>,
    /// Servers at an address, to which nothing is sent that says who asks.
    pub logins: Vec<String>,
}

/// Looks at servers that are to be used. `is_set` says whether a variable will be there.
pub fn missing<'a>(
    servers: impl IntoIterator<Item = &'a ServerSettings>,
    is_set: impl Fn(&str) -> bool,
    surroundings: &Surroundings,
) -> Missing {
    let mut missing = Missing::default();
    for server in servers.into_iter().filter(|server| server.enabled) {
        let name = || shown(&server.name);
        for variable in variables_of(server).into_iter().filter(|variable| !is_set(variable)) {
            missing.variables.entry(variable).or_default().push(name());
        }
        if let Some(program) = absent_program(server, surroundings) {
            missing.programs.entry(program).or_default().push(name());
        }
        if may_want_login(server) {
            missing.logins.push(name());
        }
    }
    missing
}

impl Missing {
    /// For people: a line for each kind, in the order in which to do them.
    pub fn lines(&self, env_file: &str) -> Vec<String> {
        let with_servers =
            |(thing, servers): (&String, &Vec<String>)| format!("{} ({})", shown(thing), servers.join(", "));
        let mut lines = Vec::new();
        if !self.variables.is_empty() {
            let names: Vec<String> = self.variables.iter().map(with_servers).collect();
            lines.push(format!("set in {env_file}, or in the environment: {}", names.join(", ")));
        }
        if !self.programs.is_empty() {
            let names: Vec<String> = self.programs.iter().map(with_servers).collect();
            lines.push(format!("install what is not found here: {}", names.join(", ")));
        }
        match self.logins.as_slice() {
            [] => {}
            [one] => lines.push(format!("log in, if it wants that: gristmill login {one}")),
            more => lines.push(format!(
                "log in to those that want it, with gristmill login NAME: {}",
                more.join(", ")
            )),
        }
        lines
    }
}

/// The variables that a server cannot do without.
pub fn variables_of(server: &ServerSettings) -> BTreeSet<String> {
    let mut texts: Vec<&SecretText> = Vec::new();
    match &server.transport {
        Transport::Stdio { command, args, env, .. } => {
            texts.push(command);
            texts.extend(args);
            texts.extend(env.values());
        }
        Transport::Http { url, headers, oauth } => {
            texts.push(url);
            texts.extend(headers.values());
            texts.extend(&oauth.client_id);
            texts.extend(&oauth.client_secret);
        }
    }
    let name = |part: &Part| match part {
        Part::Reference(Reference::Environment { name, default: None }) => Some(name.clone()),
        Part::Reference(_) | Part::Plain(_) => None,
    };
    texts.into_iter().flat_map(|text| text.parts().iter().filter_map(name)).collect()
}

fn absent_program(server: &ServerSettings, surroundings: &Surroundings) -> Option<String> {
    let Transport::Stdio { command, env, cwd, .. } = &server.transport else { return None };
    let program = command.as_plain()?;
    let is_there = match (program.contains('/'), cwd) {
        // It is looked for elsewhere than here.
        (false, _) if env.contains_key("PATH") => true,
        (false, _) => places::on_path(program, surroundings).is_some(),
        (true, Some(cwd)) => cwd.join(program).exists(),
        (true, None) => !Path::new(program).is_absolute() || Path::new(program).exists(),
    };
    (!is_there).then(|| program.to_owned())
}

/// Nothing in what is sent may be a key, and it is not on this machine.
fn may_want_login(server: &ServerSettings) -> bool {
    let Transport::Http { url, headers, .. } = &server.transport else { return false };
    let Some(address) = url.as_plain() else { return false };
    let host = address.split_once("://").map_or(address, |(_, rest)| rest);
    let is_here = ["localhost", "127.", "[::1]"].iter().any(|here| host.starts_with(here));
    headers.is_empty() && !is_here
}

#[cfg(test)]
mod tests {
    use super::*;
    use gristmill_config::Platform;

    fn http(name: &str, url: &str, header: Option<&str>) -> ServerSettings {
        let text = |text: &str| SecretText::parse(text).expect("a text");
        let headers = header.map(|value| ("Authorization".to_owned(), text(value)));
        let transport = Transport::Http {
            url: text(url),
            headers: headers.into_iter().collect(),
            oauth: Default::default(),
        };
        ServerSettings::new(name, transport)
    }

    #[test]
    fn variables_programs_and_logins_are_named_with_their_servers() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("there"), "").expect("a file");
        let surroundings = Surroundings {
            environment: BTreeMap::from([("PATH".into(), folder.path().into())]),
            current_folder: folder.path().to_owned(),
            platform: Platform::Unix,
        };
        let mut off = ServerSettings::program("off", "absent", &[]);
        off.enabled = false;
        let servers = [
            ServerSettings::program("files", "there", &[]),
            ServerSettings::program("slack", "absent", &[]),
            ServerSettings::program("chat", "absent", &[]),
            ServerSettings::program("notes", "/nowhere/notes", &[]),
            off,
            http("linear", "https://linear.example/mcp", Some("Bearer ${LINEAR_TOKEN}")),
            http("search", "https://search.example/mcp?key=${SET}&more=${MORE:-1}", None),
            http("figma", "https://figma.example/mcp", None),
            http("local", "http://localhost:7070/mcp", None),
        ];
        let found = missing(&servers, |name| name == "SET", &surroundings);
        assert_eq!(
            found.lines("~/.env"),
            [
                "set in ~/.env, or in the environment: LINEAR_TOKEN (linear)",
                "install what is not found here: /nowhere/notes (notes), absent (slack, chat)",
                "log in, if it wants that: gristmill login figma",
            ]
        );
    }
}
