//! Takes servers into our own configuration: first their secrets into `.env`, then the servers.

use std::path::{Path, PathBuf};

use gristmill_config::approvals::ApprovalsError;
use gristmill_config::by_hand::ByHand;
use gristmill_config::commands::add::renew_approval;
use gristmill_config::edit::{Change, Done, EditError, Edited, by_hand, edit, is_left_to_owner};
use gristmill_config::edit_env;
use gristmill_config::load::env_path;
use gristmill_config::problem::shown;
use gristmill_config::read_file::{FileText, ReadError};
use gristmill_config::resolved::ReadFile;
use gristmill_config::{self as config, Approval, Flags, Surroundings};
use gristmill_files::{WriteError, replace_keeping_mode, restrict_to_owner};
use gristmill_gateway::domain::{ServerSettings, counted};

use super::client_file::short;
use super::places::FileScope;
use super::survey::{FoundServer, Target};
use super::variables::VariableNames;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// The servers, by the names they have here.
    pub servers: Vec<String>,
    /// The variables that are new in `.env`.
    pub variables: Vec<String>,
    /// That file, if it was changed.
    pub env_file: Option<PathBuf>,
    /// Whether the configuration must be approved before it is used: it is a project's, and has
    /// something in it that nobody looked at in full.
    pub needs_approval: bool,
    /// Whether a repository may take the secrets along.
    pub may_be_committed: bool,
    /// What the file's owner has to write into it: then no server was taken.
    pub by_hand: Option<ByHand>,
}

/// It stopped. Servers that were taken before stay.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error(transparent)]
    Edit(#[from] EditError),
    /// `.env` cannot be read.
    #[error("{path} {source}", path = .path.display())]
    Read { path: PathBuf, source: ReadError },
    /// `.env` cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A line would not read back.
    #[error("{path} can't be edited safely; check its last lines", path = .0.display())]
    EnvNotSafe(PathBuf),
    /// It was changed, but is not approved any more.
    #[error("the file was changed, but its approval couldn't be renewed: {0}")]
    Approvals(#[from] ApprovalsError),
}

/// Takes servers with their secrets.
pub fn import(
    picked: &[&FoundServer],
    target: &Target,
    naming: &VariableNames<'_>,
    surroundings: &Surroundings,
) -> Result<Imported, ImportError> {
    import_with_variables(picked, &[], target, naming, surroundings)
}

/// The same, with further variables that go into `.env`.
pub fn import_with_variables(
    picked: &[&FoundServer],
    further: &[String],
    target: &Target,
    naming: &VariableNames<'_>,
    surroundings: &Surroundings,
) -> Result<Imported, ImportError> {
    let is_trusted = picked.iter().all(|found| found.file_scope == FileScope::User);
    let mut imported = Imported::default();
    let names = picked.iter().flat_map(|found| &found.variables).chain(further).cloned();
    let names: Vec<String> = names.collect();
    let missing = naming.missing(&names);
    let mut env_change = None;
    if !missing.is_empty() {
        let env = env_path(&target.path);
        env_change = Some(write_env(&env, &missing)?);
        imported.variables = missing.iter().map(|(name, _)| (*name).to_owned()).collect();
        imported.env_file = Some(env);
    }
    let servers: Vec<&ServerSettings> = picked.iter().filter_map(|found| found.settings.as_ref()).collect();
    let home = surroundings.home();
    if is_left_to_owner(&target.path) && !servers.is_empty() {
        imported.by_hand = Some(by_hand(&target.path, &servers, home.as_deref())?);
    } else {
        for server in servers {
            let edited = edit(&target.path, Change::Put { server, replace: true }, home.as_deref())?;
            if is_trusted {
                renew_approval(surroundings, &target.path, &target.path, &edited)?;
            }
            imported.servers.push(server.name.clone());
        }
    }
    // Last: only now is the file that it belongs to there in any case.
    if let (Some(env), Some(change), true) = (&imported.env_file, &env_change, is_trusted) {
        renew_approval(surroundings, &target.path, env, change)?;
    }
    imported.may_be_committed =
        target.is_project && imported.env_file.as_ref().is_some_and(|env| !is_left_out_of_git(env));
    let files = config::load(surroundings, &Flags::default()).config.files;
    let is_waiting = |file: &ReadFile| file.path == target.path && file.approval != Approval::Given;
    imported.needs_approval = files.iter().any(is_waiting);
    Ok(imported)
}

/// Whether the `.gitignore` beside a `.env` names it.
fn is_left_out_of_git(env: &Path) -> bool {
    let Ok(Some(file)) = FileText::read_if_there(&env.with_file_name(".gitignore")) else { return false };
    let text = String::from_utf8_lossy(&file.bytes);
    text.lines().any(|line| matches!(line.trim(), ".env" | "/.env" | ".env*" | "*.env" | "/.env*"))
}

fn write_env(path: &Path, missing: &[(&str, &str)]) -> Result<Edited, ImportError> {
    let old = FileText::read_if_there(path)
        .map_err(|source| ImportError::Read { path: path.to_owned(), source })?;
    let text = match &old {
        Some(file) => {
            std::str::from_utf8(&file.bytes).map_err(|_| ImportError::EnvNotSafe(path.to_owned()))?
        }
        None => "",
    };
    let after =
        edit_env::add(text, missing).ok_or_else(|| ImportError::EnvNotSafe(path.to_owned()))?.into_bytes();
    if old.is_some() {
        // Before there is anything in it that others must not read.
        restrict_to_owner(path)?;
    }
    replace_keeping_mode(path, &after)?;
    let done = if old.is_some() { Done::Added } else { Done::Created };
    Ok(Edited { done, before: old.map(|file| file.bytes), after })
}

impl Imported {
    /// What was done, for people, line by line.
    pub fn lines(&self, target: &Path, home: Option<&Path>) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.servers.is_empty() {
            let names: Vec<String> = self.servers.iter().map(|name| shown(name)).collect();
            let count = counted(names.len(), "server");
            lines.push(format!("imported {count} to {}: {}", short(target, home), names.join(", ")));
        }
        if let Some(env) = &self.env_file {
            lines.push(format!("moved secrets to {}: {}", short(env, home), self.variables.join(", ")));
        }
        if self.may_be_committed {
            lines.push("that file is in a project: add .env to its .gitignore".to_owned());
        }
        if self.needs_approval && !self.servers.is_empty() {
            lines.push("approve them to use them: gristmill config approve".to_owned());
        }
        lines
    }
}
