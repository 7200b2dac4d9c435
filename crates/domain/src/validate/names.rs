//! The names of a schema's top, kept for the usual call: one that is right.

use serde_json::{Map, Value};

use super::parameters::Parameters;

/// In their order, so that a name is found at once.
#[derive(Debug)]
pub(super) struct Names {
    known: Vec<String>,
    required: Vec<String>,
}

impl Names {
    pub(super) fn of(parameters: &Parameters<'_>) -> Self {
        let mut known: Vec<String> = parameters.known().map(str::to_owned).collect();
        known.sort_unstable();
        Self { known, required: parameters.required().map(str::to_owned).collect() }
    }

    /// Whether there is nothing to respell and no null to drop.
    pub(super) fn are_plain(&self, arguments: &Map<String, Value>) -> bool {
        arguments.iter().all(|(name, value)| self.has(name) && !value.is_null())
    }

    /// Whether no name is wrong and none is missing.
    pub(super) fn are_complete(&self, arguments: &Map<String, Value>) -> bool {
        arguments.keys().all(|name| self.has(name))
            && self.required.iter().all(|name| arguments.contains_key(name))
    }

    fn has(&self, name: &str) -> bool {
        self.known.binary_search_by(|known| known.as_str().cmp(name)).is_ok()
    }
}
