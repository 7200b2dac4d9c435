//! Secrets that a removed server leaves in the `.env` beside its file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gristmill_files::{WriteError, replace_keeping_mode};
use gristmill_gateway::domain::ServerSettings;

use crate::document::Document;
use crate::edit::{Done, Edited};
use crate::load::env_path;
use crate::needs::all_variables_of;
use crate::read_file::FileText;
use crate::{Flags, Surroundings, edit_env, env_file, load};

/// Variables of a `.env` that no server refers to any more.
#[derive(Debug, PartialEq, Eq)]
pub struct LeftSecrets {
    pub env_file: PathBuf,
    pub names: Vec<String>,
}

/// What `file` says about a server, before it is removed.
pub fn settings_in(file: &Path, name: &str, surroundings: &Surroundings) -> Option<ServerSettings> {
    let text = FileText::read_if_there(file).ok()??;
    let document = Document::read(&text, surroundings.home().as_deref());
    document.servers.into_iter().map(|(server, _)| server).find(|server| server.name == name)
}

/// Looks, once a server is gone from `file`, which of its variables nobody needs. What cannot be read
/// leaves nothing that could be told.
pub fn left_by(server: &ServerSettings, file: &Path, surroundings: &Surroundings) -> Option<LeftSecrets> {
    let env_file = env_path(file);
    let text = FileText::read_if_there(&env_file).ok()??;
    let (there, _) = env_file::parse(text.text().ok()?, &env_file);
    let others = load(surroundings, &Flags::default()).config.servers;
    let named = FileText::read_if_there(file).ok().flatten();
    let named = named.map(|text| Document::read(&text, surroundings.home().as_deref()).servers);
    let settings = others.into_iter().map(|server| server.settings);
    let settings = settings.chain(named.into_iter().flatten().map(|(server, _)| server));
    let used: BTreeSet<String> = settings.flat_map(|server| all_variables_of(&server)).collect();
    let names: Vec<String> = all_variables_of(server)
        .into_iter()
        .filter(|name| there.get(name).is_some() && !used.contains(name))
        .collect();
    (!names.is_empty()).then_some(LeftSecrets { env_file, names })
}

impl LeftSecrets {
    /// Takes them out of the file. None if that cannot be done without harm to the rest of it.
    pub fn purge(&self) -> Result<Option<Edited>, WriteError> {
        let Ok(Some(before)) = FileText::read_if_there(&self.env_file) else { return Ok(None) };
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let Some(after) = before.text().ok().and_then(|text| edit_env::remove(text, &names)) else {
            return Ok(None);
        };
        replace_keeping_mode(&self.env_file, after.as_bytes())?;
        Ok(Some(Edited { done: Done::Removed, before: Some(before.bytes), after: after.into_bytes() }))
    }
}
