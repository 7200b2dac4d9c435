//! Asking all servers, and what is to be said of those that are down or hold something back.

use gristmill_gateway::upstream::{ServerState, Upstreams};

use crate::spinner::Spinner;
use crate::terminal::{eprint_lines, one_line};

/// Asks every server what it offers now.
pub async fn ask_all(upstreams: &Upstreams) {
    let _spinner = Spinner::start("asking the servers …");
    upstreams.check().await;
}

/// Names what is down: a server is never silently missing.
pub fn print_trouble(upstreams: &Upstreams) {
    for status in upstreams.statuses() {
        match &status.state {
            ServerState::Down(why) | ServerState::LoginNeeded(why) => {
                eprint_lines(&format!("note: {} is down: {}", status.name, one_line(why)));
            }
            ServerState::Starting => {
                eprint_lines(&format!("note: {} is still starting; its tools aren't known yet", status.name));
            }
            ServerState::Up | ServerState::Idle => {}
        }
        for problem in &status.unreadable {
            eprint_lines(&format!("note: {}: {}", status.name, one_line(problem)));
        }
        if status.waiting > 0 {
            eprint_lines(&format!(
                "note: {} holds back {} until you approve: gristmill tools review {}",
                status.name, status.waiting_words, status.name
            ));
        }
    }
}
