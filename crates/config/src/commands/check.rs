//! `gristmill config check`: everything that is wrong, surprising or worth knowing, and what servers lack.

use gristmill_gateway::domain::counted;
use serde_json::{Value as Json, json};

use crate::needs;
use crate::{Loaded, Problem, Severity, Surroundings};

/// What a check found.
#[derive(Debug, PartialEq, Eq)]
pub struct Checked {
    /// One line for each problem, worst first, and a last one that sums up.
    pub text: String,
    /// The same for machines.
    pub json: Json,
    /// Whether the configuration can be used. If not, the exit code is that of wrong usage.
    pub is_usable: bool,
}

/// Looks through what was found while loading, and for what the servers in use lack.
pub fn check(loaded: &Loaded, surroundings: &Surroundings) -> Checked {
    let unmet = needs::unmet(&loaded.config, surroundings);
    let mut problems: Vec<&Problem> = loaded.problems.iter().chain(&unmet).collect();
    problems.sort_by_key(|problem| std::cmp::Reverse(problem.severity));
    let mut text: String = problems.iter().map(|p| format!("{}: {p}\n", name(p.severity))).collect();
    let count = |severity| problems.iter().filter(|problem| problem.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let servers = loaded.config.servers.len();
    let usable = loaded.config.usable_servers().count();
    text.push_str(&format!(
        "{} read, {}, {usable} in use; {}, {}\n",
        counted(loaded.config.files.len(), "file"),
        counted(servers, "server"),
        counted(errors, "error"),
        counted(warnings, "warning"),
    ));
    let json = json!({
        "usable": errors == 0,
        "problems": problems.iter().map(|problem| as_json(problem)).collect::<Vec<_>>(),
    });
    Checked { text, json, is_usable: errors == 0 }
}

fn as_json(problem: &Problem) -> Json {
    json!({
        "severity": name(problem.severity),
        "file": problem.place.file.as_ref().map(|file| file.display().to_string()),
        "line": problem.place.line,
        "key": problem.place.key,
        "message": problem.kind.to_string(),
    })
}

/// As it stands before a line.
pub fn name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}
