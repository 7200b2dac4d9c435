//! The clients, for `gristmill doctor`: which are here, which have us, and whether that works.

use std::path::Path;
use std::time::SystemTime;

use gristmill_clients::Client;
use gristmill_clients::client_file::{ClientFile, short};
use gristmill_clients::entry_token;
use gristmill_clients::our_entry;
use gristmill_clients::places::{self, Place};
use gristmill_clients::records::Records;
use gristmill_clients::translate::{Context, Translated, translate};
use gristmill_config::problem::shown;
use gristmill_config::tree::{Node, Value};
use gristmill_config::{self as config, Config, Flags, Surroundings};
use gristmill_gateway::access::AccessTokens;
use rustix::fs::{Access, access};
use serde::Serialize;

use crate::terminal::{Printable, print_after, print_lines};

/// What is known of a client's file.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct ClientFinding {
    /// As it is written on the command line.
    pub client: &'static str,
    /// As its makers call it.
    pub title: &'static str,
    /// The file that was looked at.
    pub file: String,
    /// Whether the file has us.
    pub connected: bool,
    /// What it starts as us.
    pub command: Option<String>,
    pub problem: Option<String>,
    /// What to do about it.
    pub remedy: Option<String>,
    /// Servers that the client reaches by itself, and through us as well.
    pub also_behind_us: Vec<String>,
}

/// Looks at the files of all clients that are here.
pub fn look() -> Vec<ClientFinding> {
    let Ok(surroundings) = Surroundings::of_this_process() else { return Vec::new() };
    look_in(&surroundings)
}

fn look_in(surroundings: &Surroundings) -> Vec<ClientFinding> {
    let config = config::load(surroundings, &Flags::default()).config;
    let records = surroundings.data_folder().and_then(|folder| Records::load(&folder).ok());
    let mut findings = Vec::new();
    for client in Client::ALL {
        let places = places::all(client, surroundings);
        let there: Vec<&Place> =
            places.iter().filter(|place| place.path.symlink_metadata().is_ok()).collect();
        for (index, place) in there.iter().enumerate() {
            let finding = finding(place, surroundings, &config, records.as_ref());
            // The other files matter if they have us, or if something is wrong with them.
            if index == 0 || finding.connected || finding.problem.is_some() {
                findings.push(finding);
            }
        }
        if there.is_empty()
            && places::seems_installed(client, surroundings)
            && let Some(place) = places.first()
        {
            findings.push(not_connected(place, surroundings));
        }
    }
    findings
}

fn not_connected(place: &Place, surroundings: &Surroundings) -> ClientFinding {
    ClientFinding {
        client: place.client.name(),
        title: place.client.title(),
        file: short(&place.path, surroundings.home().as_deref()),
        connected: false,
        command: None,
        problem: None,
        remedy: Some(format!("gristmill connect {}", place.client.name())),
        also_behind_us: Vec::new(),
    }
}

fn finding(
    place: &Place,
    surroundings: &Surroundings,
    config: &Config,
    records: Option<&Records>,
) -> ClientFinding {
    let mut finding = not_connected(place, surroundings);
    let file = match ClientFile::read(place) {
        Ok(Some(file)) => file,
        Ok(None) => {
            finding.problem = Some("is a link to a missing file".to_owned());
            finding.remedy = Some("remove the link, or create the file".to_owned());
            return finding;
        }
        Err(error) => {
            finding.problem = Some(error.to_string());
            finding.remedy = Some(format!("fix it in an editor; {} can't read it either", place.client));
            return finding;
        }
    };
    let known = records.and_then(|records| records.of(&place.path));
    let servers = file.servers();
    let ours = servers.iter().find(|listed| {
        let is_known = known.is_some_and(|known| {
            known.name == listed.entry.key && our_entry::is_as_written(&listed.entry.node, &known.entry)
        });
        our_entry::is_ours(&listed.entry.node) || is_known
    });
    let Some(ours) = ours else { return finding };
    finding.connected = true;
    finding.remedy = None;
    finding.command = our_entry::command(&ours.entry.node).map(shown);
    if let Some(problem) = our_entry::command(&ours.entry.node).and_then(|text| wrong(text, surroundings)) {
        finding.problem = Some(problem);
        finding.remedy = Some(format!("gristmill connect {}", place.client.name()));
    }
    if let Some(problem) = wrong_token(&ours.entry.node, surroundings) {
        finding.problem = Some(problem.to_owned());
        let url = our_entry::address(&ours.entry.node).map(shown).unwrap_or_default();
        finding.remedy = Some(format!("gristmill connect {} --http {url}", place.client.name()));
    }
    if is_off(&ours.entry.node) {
        finding.problem = Some("has Gristmill turned off".to_owned());
        finding.remedy = Some(format!("turn it on in {}", place.client));
    }
    let home = surroundings.home();
    let project = places::project_folder(surroundings);
    let context = Context { home: home.as_deref(), project: &project, into_project: false };
    for listed in &servers {
        let Translated::Server { settings, .. } = translate(&file, *listed, context) else { continue };
        let is_same = |name: &str| name == listed.entry.key;
        if config
            .usable_servers()
            .any(|here| is_same(&here.settings.name) || here.settings.transport == settings.transport)
        {
            finding.also_behind_us.push(shown(&listed.entry.key));
        }
    }
    finding
}

fn is_off(entry: &Node) -> bool {
    let is =
        |key: &str, flag: bool| entry.entry(key).is_some_and(|entry| entry.node.value == Value::Bool(flag));
    is("disabled", true) || is("enabled", false)
}

/// What is wrong with the token of an entry that leads to a server on this machine, as far as can be told:
/// a reference may mean something where the client starts.
fn wrong_token(entry: &Node, surroundings: &Surroundings) -> Option<&'static str> {
    our_entry::address(entry).filter(|url| entry_token::is_this_machine(url))?;
    let Some(said) = entry_token::said_in(entry) else {
        return Some("sends no access token, and `gristmill serve --http` requires one");
    };
    let token = said.strip_prefix("Bearer ").filter(|token| token.starts_with("gmt_"))?;
    let tokens = AccessTokens::open(&surroundings.data_folder()?);
    tokens.check(token, SystemTime::now()).is_err().then_some("sends an access token that doesn't work")
}

/// What is wrong with the program that an entry starts.
fn wrong(command: &str, surroundings: &Surroundings) -> Option<String> {
    let path = Path::new(command);
    let command = shown(command);
    if !path.is_absolute() {
        let is_found = places::on_path(&command, surroundings).is_some();
        return (!is_found).then(|| format!("starts `{command}`, which isn't on PATH"));
    }
    if !path.is_file() {
        return Some(format!("starts {command}, which doesn't exist"));
    }
    access(path, Access::EXEC_OK).is_err().then(|| format!("starts {command}, which isn't executable"))
}

/// The section, for people.
pub fn print(findings: &[ClientFinding]) {
    println!("\nclients:");
    if findings.is_empty() {
        println!("  none found");
    }
    for finding in findings {
        let (mark, words) = match (&finding.problem, finding.connected) {
            (Some(problem), _) => ("BROKEN ", problem.clone()),
            (None, true) => ("ok     ", format!("connected in {}", finding.file)),
            (None, false) => ("-      ", format!("not connected: gristmill connect {}", finding.client)),
        };
        print_after(&format!("  {mark} {:<15} ", finding.title), &Printable::all(&words));
        let more = |text: String| print_lines(&format!("          {text}"));
        if let Some(remedy) = finding.remedy.as_ref().filter(|_| finding.problem.is_some()) {
            more(format!("fix: {remedy}"));
        }
        if !finding.also_behind_us.is_empty() {
            more(format!("listed twice, here and in Gristmill: {}", finding.also_behind_us.join(", ")));
            more(format!("fix: gristmill connect {} --move-servers", finding.client));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use super::*;
    use gristmill_config::Platform;

    /// Four clients, each with something of its own to be told; `gone` is a program that is not there.
    fn write_files(home: &Path, gone: &str) {
        let write = |path: &str, text: &str| {
            let path = home.join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("a file");
        };
        write(".config/gristmill/gristmill.toml", "[servers.files]\ncommand = \"files\"\n");
        let entry = format!("{{\"command\": \"{gone}\", \"args\": [\"serve\"]}}");
        write(
            ".cursor/mcp.json",
            &format!("{{\"mcpServers\": {{\"gristmill\": {entry}, \"docs\": {{\"command\": \"files\"}}}}}}"),
        );
        write(".gemini/settings.json", "{\n  \"mcpServers\": {,}\n}\n");
        write(".codex/auth.json", "{}");
        write(
            ".codeium/windsurf/mcp_config.json",
            "{\"mcpServers\": {\"mill\": {\"command\": \"/bin/sh/gristmill\", \"disabled\": true}}}",
        );
    }

    #[test]
    fn each_client_that_is_here_is_told_of_with_what_to_do() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path();
        let gone = home.join("gone/gristmill").display().to_string();
        write_files(home, &gone);
        let surroundings = Surroundings {
            environment: BTreeMap::from([("HOME".into(), home.into())]),
            current_folder: home.join("work"),
            platform: Platform::Unix,
        };
        let finding = |client: Client, file: &str| ClientFinding {
            client: client.name(),
            title: client.title(),
            file: file.to_owned(),
            connected: false,
            command: None,
            problem: None,
            remedy: Some(format!("gristmill connect {}", client.name())),
            also_behind_us: Vec::new(),
        };
        let expected = vec![
            ClientFinding {
                connected: true,
                command: Some(gone.clone()),
                problem: Some(format!("starts {gone}, which doesn't exist")),
                also_behind_us: vec!["docs".to_owned()],
                ..finding(Client::Cursor, "~/.cursor/mcp.json")
            },
            finding(Client::Codex, "~/.codex/config.toml"),
            ClientFinding {
                problem: Some(format!(
                    "{}/.gemini/settings.json:2:18: can't be parsed: Unexpected token in object",
                    home.display()
                )),
                remedy: Some("fix it in an editor; Gemini CLI can't read it either".to_owned()),
                ..finding(Client::Gemini, "~/.gemini/settings.json")
            },
            ClientFinding {
                connected: true,
                command: Some("/bin/sh/gristmill".to_owned()),
                problem: Some("has Gristmill turned off".to_owned()),
                remedy: Some("turn it on in Windsurf".to_owned()),
                ..finding(Client::Windsurf, "~/.codeium/windsurf/mcp_config.json")
            },
        ];
        assert_eq!(look_in(&surroundings), expected);
    }
}
