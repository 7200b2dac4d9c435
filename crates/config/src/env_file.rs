//! `.env` files: `NAME=value` lines, for looking up references.
//!
//! Walls: what is read here is never put into any process's environment.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use super::problem::{ProblemKind, Problems, Severity};

/// Variables by name. Their values are not shown.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Variables {
    values: BTreeMap<String, String>,
}

impl Variables {
    /// The value of one.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    pub fn set(&mut self, name: &str, value: &str) {
        self.values.insert(name.to_owned(), value.to_owned());
    }

    /// These and, for names that are not among them, those of `weaker`.
    pub fn over(&self, weaker: &Variables) -> Variables {
        let mut values = weaker.values.clone();
        values.extend(self.values.clone());
        Variables { values }
    }

    /// Without the names for which `is_set` holds.
    pub fn without(mut self, is_set: impl Fn(&str) -> bool) -> Self {
        self.values.retain(|name, _| !is_set(name));
        self
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
    }
}

/// The `.env` that belongs to a configuration file.
pub fn env_path(beside: &Path) -> PathBuf {
    beside.with_file_name(".env")
}

/// Reads a text. A line that cannot be read is told of and left out.
pub fn parse(text: &str, file: &Path) -> (Variables, Problems) {
    let mut problems = Problems::of(file);
    let mut variables = Variables::default();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let assignment = line.split_once('=').and_then(|(name, value)| {
            let name = name.trim();
            (is_name(name)).then_some((name, unquoted(value.trim())?))
        });
        match assignment {
            Some((name, value)) => {
                variables.values.insert(name.to_owned(), value);
            }
            None => problems.add(Severity::Warning, "", index + 1, ProblemKind::BadEnvLine),
        }
    }
    (variables, problems)
}

/// Whether a variable can be called this.
pub fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// `'as it is'`, `"with \n and \" in it"`, or bare up to ` #`.
fn unquoted(value: &str) -> Option<String> {
    if let Some(rest) = value.strip_prefix('\'') {
        let (inside, after) = rest.split_once('\'')?;
        return is_end(after).then(|| inside.to_owned());
    }
    let Some(rest) = value.strip_prefix('"') else {
        let end = value.find(" #").unwrap_or(value.len());
        return Some(value[..end].trim_end().to_owned());
    };
    let mut inside = String::new();
    let mut characters = rest.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => return is_end(characters.as_str()).then_some(inside),
            '\\' => match characters.next()? {
                'n' => inside.push('\n'),
                'r' => inside.push('\r'),
                't' => inside.push('\t'),
                other => inside.push(other),
            },
            other => inside.push(other),
        }
    }
    None
}

fn is_end(after: &str) -> bool {
    let after = after.trim_start();
    after.is_empty() || after.starts_with('#')
}
