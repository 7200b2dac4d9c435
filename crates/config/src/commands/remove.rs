//! `gristmill remove NAME`

use std::path::PathBuf;

use crate::Surroundings;
use crate::approvals::ApprovalsError;
use crate::document::{self, BLOCKS};
use crate::edit::{Change, EditError, edit};
use crate::locations;
use crate::problem::closest;
use crate::read_file::FileText;

use super::add::{self, AddError, Report, Scope};
use super::get::UnknownServer;

/// No file was changed.
#[derive(Debug, thiserror::Error)]
pub enum RemoveError {
    /// No file has it.
    #[error(transparent)]
    NotThere(#[from] UnknownServer),
    /// Two files have it.
    #[error("`{name}` is in {first} and in {second}; say which with --user or --project", first = .first.display(), second = .second.display())]
    InTwoFiles { name: String, first: PathBuf, second: PathBuf },
    /// There is no such file.
    #[error(transparent)]
    Scope(#[from] AddError),
    #[error(transparent)]
    Edit(#[from] EditError),
    /// It was changed, but is not approved any more.
    #[error("the file was changed, but its approval could not be renewed: {0}")]
    Approvals(#[from] ApprovalsError),
}

/// Removes a server from the file that has it, or from the one that is named.
pub fn remove(surroundings: &Surroundings, name: &str, scope: Option<&Scope>) -> Result<Report, RemoveError> {
    let file = match scope {
        Some(scope) => add::file_of(surroundings, scope)?,
        None => file_with(surroundings, name)?,
    };
    let edited = edit(&file, Change::Remove { name }, surroundings.home().as_deref())?;
    add::renew_approval(surroundings, &file, &file, &edited)?;
    let text = format!("removed {name} from {}", file.display());
    Ok(Report { file, text, hints: Vec::new() })
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
