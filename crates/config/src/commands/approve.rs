//! `gristmill config approve [FILE]`: lets a project's file be used, as it is now, with the values that it
//! takes from the project.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::approvals::{Approvals, ApprovalsError};
use crate::document::Document;
use crate::env_file::{self, Variables};
use crate::load::{approvals_path, env_path};
use crate::locations::{self, Role};
use crate::origin::Origin;
use crate::problem::{Problem, Severity, shown};
use crate::project_values::{ProjectValues, files_of};
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
    /// The `.env` that isn't there: one that was approved doesn't count any more.
    gone: Option<PathBuf>,
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
    let env = read(&env_path(&path))?;
    let values = ProjectValues {
        surroundings,
        file: &path,
        project: env.as_ref().map(variables_in).unwrap_or_default(),
        user: user_variables(surroundings, &path),
    };
    let (mut text, mut files) = (String::new(), vec![file]);
    for (settings, line) in document.servers {
        let origin = Origin::File { path: path.clone(), line };
        let own_files = files_of(&settings, &path);
        let comes_to = values.shown(&settings, &own_files);
        let (variables, approval) = (Arc::default(), Approval::Given);
        let server = ConfiguredServer { settings, origin, approval, variables, files: Variables::default() };
        // Nothing is masked: whoever approves must see what a variable or an argument would do.
        text.push_str(&format!("{}{comes_to}\n", server_for(&server, Purpose::File)));
        files.extend(own_files.into_iter().filter_map(|file| file.read.ok()));
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
    if let Some(env) = &env {
        text.push_str(&format!("# variables from {}\n", shown(&env.path.display().to_string())));
        text.push_str(&values.models_shown());
    }
    let gone = env.is_none().then(|| env_path(&path));
    files.extend(env);
    Ok(Request { store, files, gone, text })
}

fn variables_in(env: &FileText) -> Variables {
    env.text().map(|text| env_file::parse(text, &env.path).0).unwrap_or_default()
}

/// Of the `.env` beside the user's own file, which the project's goes before.
fn user_variables(surroundings: &Surroundings, project: &Path) -> Variables {
    let found = locations::find(surroundings, None).found.into_iter();
    let mut own = found.filter(|location| location.role == Role::User && location.path != project);
    let env =
        own.next().and_then(|location| FileText::read_if_there(&env_path(&location.path)).ok().flatten());
    env.as_ref().map(variables_in).unwrap_or_default()
}

impl Request {
    /// Writes the approval down. Gives the files that may be used now.
    pub fn grant(self) -> Result<Vec<PathBuf>, ApproveError> {
        let mut approvals = Approvals::load(&self.store)?;
        for file in &self.files {
            approvals.approve(&file.path, &file.bytes)?;
        }
        if let Some(gone) = &self.gone {
            approvals.revoke(gone)?;
        }
        let mut approved: Vec<PathBuf> = self.files.into_iter().map(|file| file.path).collect();
        approved.dedup();
        Ok(approved)
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
