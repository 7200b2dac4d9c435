//! What a project puts into the commands and addresses of its servers: values of its `.env`, and texts of
//! its own files. An approval shows them and covers exactly these bytes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use gristmill_files::Surroundings;
use gristmill_gateway::domain::{
    MODEL_VARIABLES, Part, Reference, SecretText, ServerSettings, Transport, visible,
};

use super::env_file::Variables;
use super::needs;
use super::read_file::{FileText, ReadError};
use super::written::is_secret_name;

/// A value of the environment that is longer is named, not shown.
const OWN_VALUE_CHARS_MAX: usize = 200;

/// Where references of a project's servers lead.
pub struct ProjectValues<'a> {
    pub surroundings: &'a Surroundings,
    /// The project's file.
    pub file: &'a Path,
    /// Of the project's `.env`.
    pub project: Variables,
    /// Of the user's own `.env`.
    pub user: Variables,
}

/// A text of the project that a server refers to.
pub struct ProjectFile {
    /// As the reference is written.
    pub written: String,
    pub path: PathBuf,
    pub read: Result<FileText, ReadError>,
    /// Where a link leads that leaves the project: whatever is there is the user's and isn't shown.
    pub outside: Option<PathBuf>,
}

/// The files in the project's folder that a server refers to as `${file:…}`.
pub fn files_of(server: &ServerSettings, file: &Path) -> Vec<ProjectFile> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    let real_folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let mut found: BTreeMap<String, PathBuf> = BTreeMap::new();
    for (_, text) in needs::fields(server) {
        for part in text.parts() {
            let Part::Reference(Reference::File(written)) = part else { continue };
            let path = plain(&folder.join(written));
            let is_homes = written.starts_with("~/");
            if !is_homes && (path.starts_with(folder) || path.starts_with(&real_folder)) {
                found.insert(written.clone(), path);
            }
        }
    }
    let read = |(written, path): (String, PathBuf)| {
        let real = fs::canonicalize(&path).ok();
        let outside = real.filter(|real| !real.starts_with(&real_folder));
        ProjectFile { written, read: FileText::read(&path), path, outside }
    };
    found.into_iter().map(read).collect()
}

/// The path without `.` and `..`, whatever lies there.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other @ (Component::Prefix(_) | Component::RootDir | Component::Normal(_)) => plain.push(other),
        }
    }
    plain
}

impl ProjectValues<'_> {
    /// What a server comes to: its command line or address as it would be used now, and every value that
    /// is taken from somewhere, with where it is from. Comment lines, nothing hidden in them.
    pub fn shown(&self, server: &ServerSettings, files: &[ProjectFile]) -> String {
        let mut lines = Vec::new();
        match &server.transport {
            Transport::Stdio { command, args, env, cwd } => {
                let words = std::iter::once(command).chain(args);
                let words: Vec<String> = words.map(|text| quoted(&self.resolved(text, files))).collect();
                lines.push(format!("runs: {}", words.join(" ")));
                let folder = cwd.as_deref().or(self.file.parent()).unwrap_or(Path::new("/"));
                lines.push(format!("in: {}", visible(&folder.display().to_string())));
                lines.extend(env.iter().filter(|(_, text)| text.as_plain().is_none()).map(|(name, text)| {
                    format!("with: {}={}", visible(name), quoted(&self.resolved(text, files)))
                }));
            }
            Transport::Http { url, headers, .. } => {
                lines.push(format!("connects to: {}", visible(&self.resolved(url, files))));
                let sent = headers.iter().filter(|(_, text)| text.as_plain().is_none());
                lines.extend(sent.map(|(name, text)| {
                    format!("sends: {}: {}", visible(name), visible(&self.resolved(text, files)))
                }));
            }
            // No project has any.
            Transport::Hosts(_) => {}
        }
        lines.extend(needs::all_variables_of(server).iter().map(|name| self.origin_of(name)));
        lines.extend(files.iter().map(file_line));
        lines.into_iter().map(|line| format!("# {line}\n")).collect()
    }

    /// What the project's `.env` says about language models: whom a task and the tools for it are sent to.
    /// Keys are only named.
    pub fn models_shown(&self) -> String {
        let line = |name: &&str| {
            let value = self.project.get(name)?;
            let shown = if is_secret_name(name) { "set".to_owned() } else { quoted(value) };
            Some(format!("# language models: {name} is {shown}\n"))
        };
        MODEL_VARIABLES.iter().filter_map(line).collect()
    }

    /// The text as it would be used now; what isn't shown stays a reference.
    fn resolved(&self, text: &SecretText, files: &[ProjectFile]) -> String {
        let part = |part: &Part| match part {
            Part::Plain(plain) => plain.clone(),
            Part::Reference(reference @ Reference::Environment { name, default }) => {
                match self.surroundings.variable(name).map(|value| value.to_str()) {
                    Some(own) => own
                        .filter(|own| !looks_secret(name, own))
                        .map_or_else(|| format!("${{{name}}}"), str::to_owned),
                    None => {
                        let own = || self.user.get(name).map(|_| format!("${{{name}}}"));
                        let given = self.project.get(name).map(str::to_owned).or_else(own);
                        given.or_else(|| default.clone()).unwrap_or_else(|| reference.written())
                    }
                }
            }
            Part::Reference(Reference::File(written)) => {
                let file = files.iter().find(|file| file.written == *written && file.outside.is_none());
                let text = file.and_then(|file| file.read.as_ref().ok()?.text().ok());
                text.map_or_else(|| format!("${{file:{written}}}"), |text| without_line_end(text).to_owned())
            }
            Part::Reference(reference @ (Reference::Keyring(_) | Reference::Command(_))) => {
                reference.written()
            }
        };
        text.parts().iter().map(part).collect()
    }

    /// Where a variable is from, with its value if that is the project's.
    fn origin_of(&self, name: &str) -> String {
        let is_own = self.surroundings.variable(name).is_some();
        match (self.project.get(name), is_own) {
            (Some(value), false) => format!("{name} is {} in the project's .env", quoted(value)),
            (Some(value), true) => format!(
                "{name} is set in your environment; where it isn't, it is {} in the project's .env",
                quoted(value)
            ),
            (None, true) => format!("{name} is set in your environment"),
            (None, false) if self.user.get(name).is_some() => format!("{name} is set in your own .env"),
            (None, false) => format!("{name} isn't set"),
        }
    }
}

fn file_line(file: &ProjectFile) -> String {
    let name = visible(&file.written);
    match (&file.read, &file.outside) {
        (Ok(_), Some(outside)) => {
            format!("file {name} leads out of the project, to {}", visible(&outside.display().to_string()))
        }
        (Ok(read), None) => match read.text() {
            Ok(text) => format!("file {name} is {}", quoted(without_line_end(text))),
            Err(error) => format!("file {name} {error}"),
        },
        (Err(error), _) => format!("file {name} {error}"),
    }
}

/// As a reference gives it.
pub fn without_line_end(text: &str) -> &str {
    text.trim_end_matches(['\n', '\r'])
}

/// As one word, so that nobody takes one argument for two, and nothing hides.
fn quoted(word: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,$~{}".contains(c);
    match !word.is_empty() && word.chars().all(is_bare) {
        true => word.to_owned(),
        false => format!("\"{}\"", visible(&word.replace('\\', "\\\\").replace('"', "\\\""))),
    }
}

/// Whether a value of the user's own environment is better named than shown.
fn looks_secret(name: &str, value: &str) -> bool {
    let is_one_word = value.chars().all(|c| c.is_ascii_alphanumeric() || "_-=+".contains(c));
    let has_both =
        value.contains(|c: char| c.is_ascii_digit()) && value.contains(|c: char| c.is_alphabetic());
    is_secret_name(name)
        || value.contains("://") && value.contains('@')
        || value.len() > OWN_VALUE_CHARS_MAX
        || value.len() >= 16 && is_one_word && has_both
}
