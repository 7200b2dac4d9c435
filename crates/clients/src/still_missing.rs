//! What must be done before servers work here: variables that nobody has set, programs that are not
//! found, logins that only the client had.
//!
//! Walls: nothing is started, reached or looked up but names.

use std::collections::BTreeMap;

use gristmill_config::Surroundings;
use gristmill_config::needs::absent_command;
pub use gristmill_config::needs::variables_of;
use gristmill_config::problem::shown;
use gristmill_gateway::domain::{ServerSettings, Transport};

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
        if let Some(program) = absent_command(server, surroundings) {
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
            lines.push(format!("set in {env_file} or in the environment: {}", names.join(", ")));
        }
        if !self.programs.is_empty() {
            let names: Vec<String> = self.programs.iter().map(with_servers).collect();
            lines.push(format!("install: {}", names.join(", ")));
        }
        match self.logins.as_slice() {
            [] => {}
            [one] => lines.push(format!("log in, if needed: gristmill login {one}")),
            more => lines.push(format!("log in with `gristmill login NAME`, if needed: {}", more.join(", "))),
        }
        lines
    }
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
    use gristmill_gateway::domain::SecretText;

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
                "set in ~/.env or in the environment: LINEAR_TOKEN (linear)",
                "install: /nowhere/notes (notes), absent (slack, chat)",
                "log in, if needed: gristmill login figma",
            ]
        );
    }
}
