//! Text of a file with its references: `${VAR}` and its kin become a [`SecretText`], editors'
//! folders are filled in. Nothing is looked up here.

use std::path::{Path, PathBuf};

use gristmill_gateway::domain::SecretText;

use super::problem::{ProblemKind, Problems};

/// The folders that a file's texts may mean.
#[derive(Clone, Debug)]
pub struct Folders {
    pub file: PathBuf,
    /// What editors call the workspace: the file's folder, or the one above `.vscode`.
    pub workspace: PathBuf,
    pub home: Option<PathBuf>,
}

impl Folders {
    pub fn of(file: &Path, home: Option<&Path>) -> Self {
        let folder = file.parent().unwrap_or(Path::new("/"));
        let editors = [".vscode", ".cursor", ".gemini", ".codex"];
        let inside = folder.file_name().and_then(|name| name.to_str()).is_some_and(|n| editors.contains(&n));
        let workspace = if inside { folder.parent().unwrap_or(folder) } else { folder };
        Self { file: folder.to_owned(), workspace: workspace.to_owned(), home: home.map(Path::to_owned) }
    }

    fn named(&self, name: &str) -> Option<&Path> {
        match name {
            "workspaceFolder" | "workspaceRoot" => Some(&self.workspace),
            "userHome" => self.home.as_deref(),
            _ => None,
        }
    }
}

/// Reads a text. Its mistakes are told of under `key`.
pub fn secret_text(
    text: &str,
    key: &str,
    line: usize,
    folders: &Folders,
    problems: &mut Problems,
) -> Option<SecretText> {
    let read = || -> Result<SecretText, ProblemKind> {
        if text.contains('\0') {
            return Err(ProblemKind::Nul);
        }
        let filled = fill_in(text, |name| folders.named(name).map(escaped))?;
        Ok(SecretText::parse(&filled)?)
    };
    read().map_err(|what| problems.error(key, line, what)).ok()
}

/// Reads a path: absolute, or as seen from the file.
pub fn path(
    text: &str,
    key: &str,
    line: usize,
    folders: &Folders,
    problems: &mut Problems,
) -> Option<PathBuf> {
    let read = || -> Result<PathBuf, ProblemKind> {
        if text.is_empty() {
            return Err(ProblemKind::Empty);
        }
        if text.contains('\0') {
            return Err(ProblemKind::Nul);
        }
        let filled = fill_in(text, |name| folders.named(name).map(|path| path.display().to_string()))?;
        if fill_in(text, |name| folders.named(name).map(|_| String::new()))?.contains("${") {
            return Err(ProblemKind::ReferenceInPath);
        }
        Ok(match (filled.strip_prefix("~/"), &folders.home) {
            (Some(below), Some(home)) => home.join(below),
            (Some(_), None) | (None, _) => folders.file.join(filled),
        })
    };
    read().map_err(|what| problems.error(key, line, what)).ok()
}

/// A folder may be called `${X}`; it stays one.
fn escaped(path: &Path) -> String {
    path.display().to_string().replace("${", "$${")
}

/// Replaces the names that `folder` knows, and leaves everything else as it is.
fn fill_in(text: &str, folder: impl Fn(&str) -> Option<String>) -> Result<String, ProblemKind> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, from) = rest.split_at(at);
        filled.push_str(before);
        let inside = from.find('}').map(|end| &from[2..end]);
        let is_escaped = before.ends_with('$');
        match inside {
            Some(inside) if !is_escaped => {
                if let Some(id) = inside.strip_prefix("input:") {
                    return Err(ProblemKind::Input { id: id.to_owned(), variable: variable_for(id) });
                }
                match folder(inside) {
                    Some(folder) => filled.push_str(&folder),
                    None => filled.push_str(&from[..inside.len() + 3]),
                }
                rest = &from[inside.len() + 3..];
            }
            Some(_) | None => {
                filled.push_str("${");
                rest = &from[2..];
            }
        }
    }
    filled.push_str(rest);
    Ok(filled)
}

/// `github-token` could be `GITHUB_TOKEN`.
pub fn variable_for(id: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let name: String = id.chars().take(64).map(letter).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() { format!("_{name}") } else { name }
}
