//! The access token of an entry that `gristmill connect --http` writes: which one, and what else has to be
//! done before it works.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use gristmill_clients::Client;
use gristmill_clients::entry_token::{EntryToken, TOKEN_VARIABLE, TokenValue, is_this_machine};
use gristmill_clients::our_entry::Route;
use gristmill_clients::places::Place;
use gristmill_config::{Flags, Surroundings};
use gristmill_files::restrict_to_owner;
use gristmill_gateway::access::{LocalToken, LocalTokenState};

use super::Failure;
use super::client_arguments::ConnectOptions;
use super::connect::usage;
use super::listen::local_token_made;
use crate::audit_log::note_changes;
use crate::terminal::eprint_lines;

/// The local owner's token for a server on this machine; a reference where the token is not known, where
/// others would see it, or where the client is sure to have the variable.
pub fn entry_token_for(
    client: Client,
    options: &ConnectOptions,
    url: &str,
    surroundings: &Surroundings,
    data: &Path,
) -> Result<EntryToken, Failure> {
    let is_seen_by_others = options.project;
    let has_variable = starts_in_a_terminal(client) && surroundings.variable(TOKEN_VARIABLE).is_some();
    if !is_this_machine(url) || is_seen_by_others || has_variable {
        return Ok(EntryToken::Variable);
    }
    let local = LocalToken::open(data);
    if !options.dry_run {
        let state = local.ensure().map_err(usage)?;
        note_changes(&Flags::default(), (state == LocalTokenState::New).then(local_token_made));
    }
    let token = local.read().map_err(usage)?;
    // Only what is not written yet has none; what is shown of it is the same.
    let token = token.map_or_else(|| "…".to_owned(), |token| token.reveal().to_owned());
    Ok(EntryToken::Text(TokenValue(token)))
}

/// Whether the client has the variables of the shell that this runs in.
fn starts_in_a_terminal(client: Client) -> bool {
    match client {
        Client::ClaudeCode | Client::Codex | Client::Gemini => true,
        Client::ClaudeDesktop | Client::Cursor | Client::Vscode | Client::Windsurf => false,
    }
}

/// Before a token goes into a file that others could read, they can't any more.
pub fn keep_token_private(route: &Route, place: &Place, shown_path: &str) -> Result<(), Failure> {
    let Route::Http { token: EntryToken::Text(_), .. } = route else { return Ok(()) };
    let Ok(metadata) = std::fs::metadata(&place.path) else { return Ok(()) };
    if metadata.permissions().mode() & 0o077 == 0 {
        return Ok(());
    }
    restrict_to_owner(&place.path).map_err(usage)?;
    eprint_lines(&format!("note: only you can read {shown_path} now, because it holds your access token"));
    Ok(())
}

/// What an entry with a reference still needs.
pub fn print_token_needed(route: &Route, data: &Path, surroundings: &Surroundings) {
    let Route::Http { url, token: EntryToken::Variable } = route else { return };
    if surroundings.variable(TOKEN_VARIABLE).is_some() {
        return;
    }
    if is_this_machine(url) {
        let path = LocalToken::open(data).path().display().to_string();
        eprint_lines(&format!(
            "The entry takes its access token from {TOKEN_VARIABLE}; set it where the client starts:\n  \
             export {TOKEN_VARIABLE}=\"$(cat '{path}')\""
        ));
    } else {
        eprint_lines(&format!(
            "The entry takes its access token from {TOKEN_VARIABLE}; set it where the client starts to a token \
             that `gristmill token new NAME` made on that server."
        ));
    }
}
