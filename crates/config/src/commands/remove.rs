//! `gristmill remove NAME`

use std::path::PathBuf;

use gristmill_files::WriteError;

use crate::Surroundings;
use crate::approvals::ApprovalsError;
use crate::document::{self, BLOCKS};
use crate::edit::{Change, EditError, edit};
use crate::locations;
use crate::problem::closest;
use crate::read_file::FileText;

use super::add::{self, AddError, Report, Scope};
use super::get::UnknownServer;
use super::left_secrets::{LeftSecrets, left_by, settings_in};

/// No file was changed.
#[derive(Debug, thiserror::Error)]
pub enum RemoveError {
    /// No file has it.
    #[error(transparent)]
    NotThere(#[from] UnknownServer),
    /// Two files have it.
    #[error("`{name}` is in both {first} and {second}; choose one with --user or --project", first = .first.display(), second = .second.display())]
    InTwoFiles { name: String, first: PathBuf, second: PathBuf },
    /// There is no such file.
    #[error(transparent)]
    Scope(#[from] AddError),
    #[error(transparent)]
    Edit(#[from] EditError),
    /// It was changed, but is not approved any more.
    #[error("the file was changed, but its approval couldn't be renewed: {0}")]
    Approvals(#[from] ApprovalsError),
    /// The server is gone; `.env` is as it was.
    #[error("the server was removed, but its secrets weren't: {0}")]
    Secrets(#[from] WriteError),
}

/// What becomes of the variables in `.env` that only this server used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrets {
    /// They stay, and are named.
    Keep,
    /// They are deleted from Gristmill's own `.env`. Elsewhere, and behind a link, they are only named.
    Purge,
}

/// Removes a server from the file that has it, or from the one that is named.
pub fn remove(
    surroundings: &Surroundings,
    name: &str,
    scope: Option<&Scope>,
    secrets: Secrets,
) -> Result<Report, RemoveError> {
    let file = match scope {
        Some(scope) => add::file_of(surroundings, scope)?,
        None => file_with(surroundings, name)?,
    };
    let settings = settings_in(&file, name, surroundings);
    let edited = edit(&file, Change::Remove { name }, surroundings.home().as_deref())?;
    add::renew_approval(surroundings, &file, &file, &edited)?;
    let mut text = format!("removed {name} from {}", file.display());
    let mut hints = Vec::new();
    let left = settings.and_then(|settings| left_by(&settings, &file, surroundings));
    if let Some(left) = left {
        let (names, env) = (left.names.join(", "), left.env_file.display());
        let by_hand = why_by_hand(&left, surroundings);
        let purged = match secrets {
            Secrets::Purge if by_hand.is_none() => left.purge()?,
            Secrets::Purge | Secrets::Keep => None,
        };
        match purged {
            Some(edited) => {
                add::renew_approval(surroundings, &file, &left.env_file, &edited)?;
                text.push_str(&format!("\nremoved {names} from {env}"));
            }
            None => {
                text.push_str(&format!("\nstill in {env}, and no longer used: {names}"));
                hints.push(match (by_hand, secrets) {
                    (Some(why), _) => format!("{why}; delete {names} by hand"),
                    (None, Secrets::Purge) => format!(
                        "{env} wasn't changed: it has lines other than NAME=value, such as a value of several lines; delete {names} by hand"
                    ),
                    (None, Secrets::Keep) => {
                        format!("delete {names} from {env}, or use `gristmill remove NAME --purge` next time")
                    }
                });
            }
        }
    }
    Ok(Report { file, done: edited.done, text, hints })
}

/// Why we don't delete these ourselves, if so.
fn why_by_hand(left: &LeftSecrets, surroundings: &Surroundings) -> Option<String> {
    let folder = left.env_file.parent();
    // The one beside any other file may be an application's.
    if !surroundings.config_folders().iter().any(|own| folder == Some(own.as_path())) {
        return Some("the project's .env may be used by others".to_owned());
    }
    let is_link = left.env_file.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
    is_link.then(|| {
        format!("{} is a symbolic link, and what it points to may be used by others", left.env_file.display())
    })
}

fn file_with(surroundings: &Surroundings, name: &str) -> Result<PathBuf, RemoveError> {
    let mut names = Vec::new();
    let mut with = Vec::new();
    for location in locations::find(surroundings, None).found {
        // A file that cannot be read has nothing to remove; `config check` tells what is wrong with it.
        let tree = FileText::read(&location.path).ok().and_then(|file| document::parse(&file).ok());
        let Some(tree) = tree else { continue };
        let blocks = BLOCKS.into_iter().filter_map(|block| tree.entry(block));
        let here: Vec<String> = blocks.flat_map(|b| b.node.entries()).map(|e| e.key.clone()).collect();
        if here.iter().any(|known| known == name) {
            with.push(location.path);
        }
        names.extend(here);
    }
    let mut with = with.into_iter();
    match (with.next(), with.next()) {
        (Some(file), None) => Ok(file),
        (Some(first), Some(second)) => Err(RemoveError::InTwoFiles { name: name.to_owned(), first, second }),
        (None, _) => {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            Err(UnknownServer { name: name.to_owned(), nearest: closest(name, &names) }.into())
        }
    }
}
