//! `gristmill config path`: which files are looked at, which are there, which are used.

use serde_json::{Value as Json, json};

use crate::problem::shown;
use crate::{Approval, Config};

/// One line for each place that was tried, weakest first.
pub fn as_text(config: &Config) -> String {
    let line = |(role, path, state): (&str, String, &str)| format!("{role:<8} {path}  ({state})\n");
    places(config).into_iter().map(line).collect()
}

/// The same for machines.
pub fn as_json(config: &Config) -> Json {
    let place = |(role, path, state)| json!({"role": role, "path": path, "state": state});
    places(config).into_iter().map(place).collect()
}

fn places(config: &Config) -> Vec<(&'static str, String, &'static str)> {
    let tried = config.locations.tried.iter().map(|location| {
        let read = config.files.iter().find(|file| file.path == location.path);
        let state = match read.map(|file| file.approval) {
            Some(Approval::Given) => "used",
            Some(Approval::Missing) => "not approved",
            Some(Approval::Outdated) => "changed since it was approved",
            None if config.locations.found.contains(location) => "can't be read",
            None if config.locations.left_out.iter().any(|(path, _)| *path == location.path) => "not read",
            None => "not there",
        };
        (location.role.as_str(), shown(&location.path.display().to_string()), state)
    });
    tried.collect()
}
