//! `gristmill cluster join`: the table `[cluster]` as it is to be, known before it is written, so that the connection
//! can be tried first.

use std::path::{Path, PathBuf};

use crate::cluster_table::{ClusterConfig, TABLE};
use crate::document::Document;
use crate::edit::{EditError, Edited};
use crate::edit_policy::Writing;
use crate::edit_settings::{Setting, put_settings};
use crate::env_file::{self, Variables, env_path};
use crate::problem::{Problem, Severity};
use crate::read_file::{FileText, ReadError};
use crate::tree::Node;
use crate::{Origin, Surroundings};

use super::add::{AddError, Scope, file_of};

/// What the file is to say. What is `None` stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterWishes {
    pub urls: Vec<String>,
    pub name: Option<String>,
    pub node: Option<String>,
    /// A reference to the seed.
    pub nkey: Option<String>,
    pub ca: Option<PathBuf>,
}

/// A file that is about to be changed.
#[derive(Debug)]
pub struct Joining {
    pub path: PathBuf,
    /// What the file will say, with what it says already.
    pub cluster: ClusterConfig,
    settings: Vec<Setting>,
}

/// No file was changed.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    #[error(transparent)]
    Place(#[from] AddError),
    #[error(transparent)]
    Edit(#[from] EditError),
    #[error("[cluster] would have {}:\n{}", if .0.len() == 1 { "an error" } else { "errors" }, listed(.0))]
    Mistakes(Vec<Problem>),
    #[error("{path} can't have [cluster], because it's another client's file; name a gristmill.toml", path = .0.display())]
    OthersFile(PathBuf),
}

fn listed(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("  {problem}")).collect::<Vec<_>>().join("\n")
}

/// Reads what the file would say, and changes nothing.
pub fn prepare(
    surroundings: &Surroundings,
    scope: &Scope,
    wishes: &ClusterWishes,
) -> Result<Joining, JoinError> {
    let path = file_of(surroundings, scope)?;
    let settings = settings_of(wishes, surroundings);
    let bytes = match put_settings(&path, &settings, Writing::Not)? {
        Some(edited) => edited.after,
        None => FileText::read(&path).map_err(|source| unreadable(&path, source))?.bytes,
    };
    let file = FileText { path: path.clone(), bytes, writable_by_others: false };
    let document = Document::read(&file, surroundings.home().as_deref());
    let is_ours = |problem: &Problem| {
        let key = problem.place.key.as_deref().unwrap_or_default();
        problem.severity == Severity::Error && key.split('.').next() == Some(TABLE)
    };
    let mistakes: Vec<Problem> = document.problems.into_iter().filter(is_ours).collect();
    if !mistakes.is_empty() {
        return Err(JoinError::Mistakes(mistakes));
    }
    let mut cluster = ClusterConfig::default();
    cluster.lay_over(&document.cluster, &variables_beside(&path)?, |line| Origin::File {
        path: path.clone(),
        line,
    });
    match cluster.settings {
        Some(_) => Ok(Joining { path, cluster, settings }),
        None => Err(JoinError::OthersFile(path)),
    }
}

impl Joining {
    /// `None` if the file says all of it already.
    pub fn write(&self) -> Result<Option<Edited>, EditError> {
        put_settings(&self.path, &self.settings, Writing::Now)
    }

    /// Which keys are set: `cluster.nats`.
    pub fn keys(&self) -> Vec<String> {
        self.settings.iter().map(Setting::path).collect()
    }
}

fn settings_of(wishes: &ClusterWishes, surroundings: &Surroundings) -> Vec<Setting> {
    let ClusterWishes { urls, name, node, nkey, ca } = wishes;
    let urls = match urls.as_slice() {
        [url] => Node::text(url),
        urls => Node::list(urls.iter().map(Node::text).collect()),
    };
    let ca = ca.as_ref().map(|ca| Node::text(surroundings.absolute(ca).display().to_string()));
    let texts = [("name", name), ("node", node), ("nkey", nkey)];
    let texts = texts.into_iter().filter_map(|(key, text)| Some((key, Node::text(text.as_ref()?))));
    let all = [("nats", urls)].into_iter().chain(texts).chain(ca.map(|ca| ("ca", ca)));
    all.map(|(key, value)| Setting { table: Some(TABLE), key, value }).collect()
}

fn variables_beside(path: &Path) -> Result<Variables, EditError> {
    let env = env_path(path);
    let read = FileText::read_if_there(&env).map_err(|source| unreadable(&env, source))?;
    let Some(file) = read else { return Ok(Variables::default()) };
    let text = file.text().map_err(|source| unreadable(&env, source))?;
    Ok(env_file::parse(text, &env).0)
}

fn unreadable(path: &Path, source: ReadError) -> EditError {
    EditError::Read { path: path.to_owned(), source }
}
