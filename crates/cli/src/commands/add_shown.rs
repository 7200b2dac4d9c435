//! What a server offers that a person has just added: what it's first seen with is approved, so it's shown.

use std::io::IsTerminal;
use std::time::Duration;

use gristmill_config::Flags;
use gristmill_gateway::ports::ToolSource;
use gristmill_gateway::upstream::{Refresh, ServerState, ServerStatus, Upstreams};

use crate::hints::hint;
use crate::spinner::Spinner;
use crate::terminal::{eprint_lines, one_line, print_lines};
use crate::upstreams;

/// How long it has to answer: some are downloaded first.
const PATIENCE: Duration = Duration::from_secs(30);

/// Tools that are named; the others are counted.
const NAMED_MAX: usize = 12;

/// Reaches the server if a person watches, and says what came of it; a script's server waits until it's used.
pub async fn show(name: &str, flags: &Flags) {
    let is_watched = std::io::stdout().is_terminal() && std::io::stderr().is_terminal();
    let is_reached = is_watched && reach(name, flags).await;
    if !is_reached {
        hint(&format!("`gristmill list` shows whether {} answers", one_line(name)));
    }
}

/// Whether there was something to say. It's added either way.
async fn reach(name: &str, flags: &Flags) -> bool {
    let Ok(configured) = upstreams::read(flags) else { return false };
    let servers = configured.usable();
    let Some(server) = servers.into_iter().find(|server| server.settings.name == name) else { return false };
    let Ok(upstreams) = configured.connect(&[server], Refresh::Never) else { return false };
    let spinner = Spinner::start(format!("asking {} what it offers", one_line(name)));
    let asked = tokio::time::timeout(PATIENCE, upstreams.check_one(name)).await;
    drop(spinner);
    let is_told = match asked {
        Ok(status) => status.is_some_and(|status| tell(&status, &upstreams)),
        Err(_) => {
            let (name, seconds) = (one_line(name), PATIENCE.as_secs());
            eprint_lines(&format!("warning: {name} was added, but hasn't answered within {seconds} s"));
            hint("`gristmill list --timeout 2m` waits longer, if it's slow to start");
            true
        }
    };
    ToolSource::close(&upstreams).await;
    is_told
}

fn tell(status: &ServerStatus, upstreams: &Upstreams) -> bool {
    let name = one_line(&status.name);
    match &status.state {
        ServerState::Up => {
            let snapshot = upstreams.snapshot();
            let mut servers = snapshot.catalogue().servers.iter();
            let tools = servers.find(|server| server.offer.name == status.name).map(|server| &server.tools);
            let tools = tools.map(Vec::as_slice).unwrap_or_default();
            let names: Vec<String> =
                tools.iter().take(NAMED_MAX).map(|tool| one_line(&tool.definition.name)).collect();
            print_lines(&offered(&name, &names, tools.len()));
            match status.waiting {
                0 => hint("these are approved; later changes wait for `gristmill tools review`"),
                _ => hint("`gristmill tools review` shows what waits for your approval"),
            }
            true
        }
        ServerState::Down(why) => {
            eprint_lines(&format!("warning: {name} was added, but doesn't answer: {}", one_line(why)));
            hint("`gristmill list` tries again");
            true
        }
        ServerState::LoginNeeded(_) => {
            eprint_lines(&format!("{name} wants a login: gristmill login {name}"));
            true
        }
        ServerState::Idle | ServerState::Starting => false,
    }
}

/// `crm offers 14 tools: list_leads, get_record, … and 2 more`
fn offered(name: &str, names: &[String], count: usize) -> String {
    let plural = if count == 1 { "tool" } else { "tools" };
    match (names, count - names.len()) {
        ([], _) => format!("{name} offers no tools"),
        (names, 0) => format!("{name} offers {count} {plural}: {}", names.join(", ")),
        (names, more) => format!("{name} offers {count} {plural}: {} and {more} more", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_offered_is_named_or_counted() {
        let check = |names: &[&str], count, expected| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(offered("crm", &names, count), expected);
        };
        check(&[], 0, "crm offers no tools");
        check(&["get"], 1, "crm offers 1 tool: get");
        check(&["get", "put"], 2, "crm offers 2 tools: get, put");
        check(&["get", "put"], 9, "crm offers 9 tools: get, put and 7 more");
    }
}
