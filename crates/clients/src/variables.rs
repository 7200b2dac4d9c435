//! Names for secrets that move into the `.env` file.

use std::collections::BTreeMap;
use std::fmt;

use gristmill_config::Surroundings;
use gristmill_config::env_file::{Variables, is_name};

/// Names that say nothing about whose secret it is.
const VAGUE: [&str; 15] = [
    "API_KEY",
    "APIKEY",
    "KEY",
    "TOKEN",
    "ACCESS_TOKEN",
    "AUTH_TOKEN",
    "SECRET",
    "PASSWORD",
    "API_TOKEN",
    "API_SECRET",
    "CLIENT_SECRET",
    "ACCESS_KEY",
    "SECRET_KEY",
    "BEARER_TOKEN",
    "URL_TOKEN",
];
/// More secrets under one name than anyone has.
const ATTEMPTS_MAX: usize = 100;

/// Gives each secret a variable: an own one, and the same one for the same secret.
pub struct VariableNames<'a> {
    surroundings: &'a Surroundings,
    there: &'a Variables,
    given: BTreeMap<String, String>,
}

/// The values are secrets.
impl fmt::Debug for VariableNames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.given.keys()).finish()
    }
}

impl<'a> VariableNames<'a> {
    /// Beside what a `.env` file has.
    pub fn new(surroundings: &'a Surroundings, there: &'a Variables) -> Self {
        Self { surroundings, there, given: BTreeMap::new() }
    }

    /// The variable for a secret of `server` that was found under `key`. `None` if there is none left.
    pub fn variable(&mut self, server: &str, key: &str, value: &str) -> Option<String> {
        let key = upper(key);
        let server = upper(server);
        let own = format!("{server}_{key}");
        let first = if VAGUE.contains(&key.as_str()) || key.starts_with("_") { own.clone() } else { key };
        let numbered = (2..ATTEMPTS_MAX).map(|number| format!("{own}_{number}"));
        let names: Vec<String> = [first, own.clone()].into_iter().chain(numbered).collect();
        let name = names
            .iter()
            .find(|name| self.value(name) == Some(value) && self.is_ours(name, value))
            .or_else(|| names.iter().find(|name| self.value(name).is_none() && self.is_ours(name, value)))?;
        self.given.insert(name.clone(), value.to_owned());
        Some(name.clone())
    }

    /// What is to be written for these variables: those that the file does not have yet.
    pub fn missing(&self, names: &[String]) -> Vec<(&str, &str)> {
        let given = self.given.iter().filter(|(name, _)| names.contains(name));
        given
            .filter(|(name, _)| self.there.get(name).is_none())
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect()
    }

    /// What a variable holds, or would hold once everything is taken.
    pub fn known(&self, name: &str) -> Option<String> {
        let set = self.surroundings.variable(name).and_then(|value| value.to_str());
        set.or_else(|| self.value(name)).map(str::to_owned)
    }

    /// Whether a variable is there now.
    pub fn is_set(&self, name: &str) -> bool {
        self.surroundings.variable(name).is_some() || self.there.get(name).is_some()
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.given.get(name).map(String::as_str).or_else(|| self.there.get(name))
    }

    /// The environment wins over the file: a name that means something else there is not ours.
    fn is_ours(&self, name: &str, value: &str) -> bool {
        is_name(name) && self.surroundings.variable(name).is_none_or(|set| set == value)
    }
}

fn upper(text: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let text: String = text.trim_start_matches('-').chars().take(64).map(letter).collect();
    if text.is_empty() || text.starts_with(|c: char| c.is_ascii_digit()) { format!("_{text}") } else { text }
}
