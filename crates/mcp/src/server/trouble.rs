//! Servers that are down, not ready yet, or hold something back, in words for a model that misses their
//! tools.

use gristmill_gateway::domain::catalogue::fold;
use gristmill_gateway::domain::one_line;
use gristmill_gateway::ids::Caller;
use gristmill_gateway::upstream::{ServerState, Upstreams};

/// Servers that are down are named, but not a whole page of them.
const TROUBLES_MAX: usize = 8;

/// What may be missing, one line for servers that are not there and one for each that holds something back.
pub(super) fn missing(upstreams: &Upstreams, caller: &Caller, asked: Option<&str>) -> Option<String> {
    let lines: Vec<String> =
        trouble(upstreams, caller, asked).into_iter().chain(held_back(upstreams, caller, asked)).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// What waits for the user: that of the server that was asked for, or of all.
fn held_back(upstreams: &Upstreams, caller: &Caller, asked: Option<&str>) -> Vec<String> {
    let waiting = upstreams.statuses().into_iter().filter(|status| {
        let is_asked_for = asked.is_none_or(|asked| is_named(asked, &status.name));
        !status.waiting_words.is_empty() && is_asked_for && caller.may_know_of(&status.name)
    });
    let lines = waiting.map(|status| {
        let (name, words) = (&status.name, &status.waiting_words);
        format!("{name} holds back {words}; only the user can approve, with `gristmill tools review {name}`.")
    });
    lines.take(TROUBLES_MAX).collect()
}

/// Servers whose tools may be missing, in one line; why, if one of them was asked for.
pub(super) fn trouble(upstreams: &Upstreams, caller: &Caller, asked: Option<&str>) -> Option<String> {
    let troubled: Vec<(String, String)> = upstreams
        .statuses()
        .into_iter()
        .filter(|status| caller.may_know_of(&status.name))
        .filter_map(|status| Some((status.name, why(status.state)?)))
        .collect();
    if let Some((name, why)) =
        troubled.iter().find(|(name, _)| asked.is_some_and(|asked| is_named(asked, name)))
    {
        return Some(format!("{name} {why}"));
    }
    let more = troubled.len().saturating_sub(TROUBLES_MAX);
    let names: Vec<&str> = troubled.iter().take(TROUBLES_MAX).map(|(name, _)| name.as_str()).collect();
    match (names.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(format!("Unavailable servers: {}.", names.join(", "))),
        (false, more) => Some(format!("Unavailable servers: {} and {more} more.", names.join(", "))),
    }
}

fn why(state: ServerState) -> Option<String> {
    match state {
        ServerState::Down(why) => {
            Some(format!("is down: {}; the user can check with `gristmill list`", one_line(&why, 200)))
        }
        ServerState::LoginNeeded(_) => {
            Some("needs a login; ask the user to run `gristmill login`".to_owned())
        }
        ServerState::Starting => Some("is still starting; try again in a moment".to_owned()),
        ServerState::Up | ServerState::Idle => None,
    }
}

/// Whether a server is meant, in any spelling of its name.
pub(super) fn is_named(written: &str, name: &str) -> bool {
    fold(written) == fold(name)
}
