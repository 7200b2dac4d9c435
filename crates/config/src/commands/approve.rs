//! `gristmill config approve [FILE]`: lets a project's file be used, as it is now.

use std::path::{Path, PathBuf};

use crate::approvals::{Approvals, ApprovalsError};
use crate::document::Document;
use crate::load::{approvals_path, env_path};
use crate::locations::{self, Role};
use crate::origin::Origin;
use crate::problem::{Problem, Severity, shown};
use crate::read_file::{FileText, ReadError};
use crate::resolved::{Approval, ConfiguredServer};
use crate::written::Purpose;
use crate::{ConfigError, Surroundings};

use super::show::server_for;

/// Nothing was approved.
#[derive(Debug, thiserror::Error)]
pub enum ApproveError {
    /// There is no project.
    #[error("no project file here; pass one: `gristmill config approve FILE`")]
    NoProject,
    /// There is nowhere to write it down.
    #[error("no folder for approvals; set HOME or GRISTMILL_DATA_DIR")]
    NoDataFolder,
    /// It cannot be read.
    #[error("{path} {source}", path = .path.display())]
    Read { path: PathBuf, source: ReadError },
    #[error(transparent)]
    Mistakes(#[from] ConfigError),
    #[error(transparent)]
    Approvals(#[from] ApprovalsError),
}

/// What is about to be approved. It is granted for the very bytes that are shown, even if the file
/// changes in between.
#[derive(Debug)]
pub struct Request {
    store: PathBuf,
    files: Vec<FileText>,
    /// What the file would start and connect to, for the user to look at.
    pub text: String,
}

/// Reads the file: the one that is named, or the project's.
pub fn prepare(surroundings: &Surroundings, file: Option<&Path>) -> Result<Request, ApproveError> {
    let store = approvals_path(surroundings).ok_or(ApproveError::NoDataFolder)?;
    let path = match file {
        Some(file) => surroundings.absolute(file),
        None => {
            let found = locations::find(surroundings, None).found.into_iter();
            found.filter(|l| l.role == Role::Project).map(|l| l.path).next().ok_or(ApproveError::NoProject)?
        }
    };
    let read = |path: &Path| {
        FileText::read_if_there(path).map_err(|source| ApproveError::Read { path: path.to_owned(), source })
    };
    let missing = || ApproveError::Read {
        path: path.clone(),
        source: ReadError::Io(std::io::ErrorKind::NotFound.into()),
    };
    let file = read(&path)?.ok_or_else(missing)?;
    let document = Document::read(&file, surroundings.home().as_deref());
    let errors: Vec<Problem> =
        document.problems.into_iter().filter(|problem| problem.severity == Severity::Error).collect();
    if !errors.is_empty() {
        return Err(ConfigError(errors).into());
    }
    let name = shown(&path.display().to_string());
    let mut text = String::new();
    for (settings, line) in document.servers {
        let origin = Origin::File { path: path.clone(), line };
        let server =
            ConfiguredServer { settings, origin, approval: Approval::Given, variables: Default::default() };
        // Nothing is masked: whoever approves must see what a variable or an argument would do.
        text.push_str(&server_for(&server, Purpose::File));
    }
    if let Some((level, line)) = document.level {
        text.push_str(&format!("# {name}:{line}\nlevel = \"{level}\"\n"));
    }
    for (limit, value, line) in document.limits {
        text.push_str(&format!("# {name}:{line}\nlimits.{} = {:?}\n", limit.as_str(), shown(&value)));
    }
    for (table, line) in document.user_tables {
        text.push_str(&format!("# {name}:{line}\n# [{table}] is ignored in a project's file\n"));
    }
    let env = read(&env_path(&path))?;
    if let Some(env) = &env {
        text.push_str(&format!("# variables from {}\n", shown(&env.path.display().to_string())));
    }
    Ok(Request { store, files: std::iter::once(file).chain(env).collect(), text })
}

impl Request {
    /// Writes the approval down. Gives the files that may be used now.
    pub fn grant(self) -> Result<Vec<PathBuf>, ApproveError> {
        let mut approvals = Approvals::load(&self.store)?;
        for file in &self.files {
            approvals.approve(&file.path, &file.bytes)?;
        }
        Ok(self.files.into_iter().map(|file| file.path).collect())
    }
}

/// Takes an approval back. Says whether there was one.
pub fn revoke(surroundings: &Surroundings, file: &Path) -> Result<bool, ApproveError> {
    let store = approvals_path(surroundings).ok_or(ApproveError::NoDataFolder)?;
    let path = surroundings.absolute(file);
    let mut approvals = Approvals::load(&store)?;
    approvals.revoke(&env_path(&path))?;
    Ok(approvals.revoke(&path)?)
}
