//! Which of the clients on this machine the user means.

use std::io::IsTerminal;

use anyhow::anyhow;
use gristmill_clients::Client;
use gristmill_clients::places;
use gristmill_config::Surroundings;

use super::Failure;
use super::import_answer::Answer;
use crate::terminal::ask;

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

/// Those of several that the user names.
pub fn picked_clients(installed: Vec<Client>) -> Vec<Client> {
    eprintln!("Installed clients:");
    for (index, client) in installed.iter().enumerate() {
        eprintln!("{:>4} {client}", index + 1);
    }
    let mut question = "Connect which? Numbers such as `1 3-5`, all, or none:".to_owned();
    loop {
        match Answer::of(&ask(&question).unwrap_or_default(), installed.len()) {
            Some(Answer::None) => return Vec::new(),
            Some(Answer::All) => return installed,
            Some(Answer::Numbers(numbers)) => {
                return numbers.iter().filter_map(|number| installed.get(number - 1)).copied().collect();
            }
            None => question = format!("Numbers from 1 to {}, all, or none:", installed.len()),
        }
    }
}
