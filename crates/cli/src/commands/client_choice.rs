//! Which of the clients on this machine the user means.

use std::io::IsTerminal;

use anyhow::anyhow;
use gristmill_clients::Client;
use gristmill_clients::places;
use gristmill_config::Surroundings;

use super::Failure;
use super::doctor_clients;
use super::import_answer::Answer;
use crate::terminal::{ask, eprint_lines, one_line};

/// The clients that seem to be on this machine.
pub fn installed_clients(surroundings: &Surroundings) -> Vec<Client> {
    Client::ALL.into_iter().filter(|client| places::seems_installed(*client, surroundings)).collect()
}

/// The clients on this machine that the user picks.
pub fn chosen(surroundings: &Surroundings) -> Result<Vec<Client>, Failure> {
    let installed = installed_clients(surroundings);
    let names =
        |clients: &[Client]| clients.iter().map(|client| client.name()).collect::<Vec<_>>().join(", ");
    if installed.is_empty() {
        return Err(Failure::Usage(anyhow!(
            "found no MCP client on this machine\nhint: `gristmill connect CLIENT` connects one anyway: {}",
            names(&Client::ALL)
        )));
    }
    if !std::io::stdin().is_terminal() {
        return Err(Failure::Usage(anyhow!(
            "choose a client; installed here: {}\nhint: gristmill connect {}",
            names(&installed),
            installed[0].name()
        )));
    }
    // One needs no choice: what changes is shown, and asked, next.
    if installed.len() == 1 {
        return Ok(installed);
    }
    Ok(picked_clients(installed))
}

/// Those of several that the user names. Enter names none.
pub fn picked_clients(installed: Vec<Client>) -> Vec<Client> {
    let findings = doctor_clients::look();
    let is_connected =
        |client: &Client| findings.iter().any(|finding| finding.client == client.name() && finding.connected);
    eprintln!("Installed clients:");
    for (index, client) in installed.iter().enumerate() {
        let mark = if is_connected(client) { " (connected)" } else { "" };
        eprintln!("{:>4} {client}{mark}", index + 1);
    }
    loop {
        let answer = ask("Connect which? Numbers such as `1 3-5`, all, or none [none]:").unwrap_or_default();
        match Answer::of(&answer, installed.len()) {
            Some(Answer::None) => return Vec::new(),
            Some(Answer::All) => return installed,
            Some(Answer::Numbers(numbers)) => {
                return numbers.iter().filter_map(|number| installed.get(number - 1)).copied().collect();
            }
            None => eprint_lines(&format!(
                "`{}` isn't an answer: type numbers from 1 to {}, all, or none",
                one_line(&answer),
                installed.len()
            )),
        }
    }
}
