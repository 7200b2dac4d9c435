//! What became of an attack.

use gristmill_gateway::Report;
use gristmill_gateway::domain::Code;
use serde::Serialize;

use crate::attack::{Language, full_name};

#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    pub language: Language,
    pub class: &'static str,
    pub name: &'static str,
    /// What was tried.
    pub tried: &'static str,
    /// `ok`, `error`, `crash` or `limit:<name>`.
    pub ending: String,
    /// What it ran into.
    pub stopped_by: String,
    pub time_ms: f64,
    /// None if the attack was withstood.
    pub problem: Option<Problem>,
}

/// Why an attack was not withstood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Problem {
    /// Something got through: what was seen, and where.
    Escaped(String),
    /// Nothing was seen to get through, but it did not end as it must.
    WrongEnding(String),
    /// The gateway did not serve the next program.
    GatewayHarmed(String),
}

impl Verdict {
    /// The attack's.
    pub fn full_name(&self) -> String {
        full_name(self.language, self.class, self.name)
    }
}

impl Problem {
    pub fn words(&self) -> String {
        match self {
            Self::Escaped(what) => format!("GOT THROUGH: {what}"),
            Self::WrongEnding(what) => format!("ended otherwise than it must: {what}"),
            Self::GatewayHarmed(what) => format!("the gateway was harmed: {what}"),
        }
    }
}

/// A report's ending in the words of the headers.
pub(crate) fn ending_of(report: &Report) -> String {
    let Some(error) = &report.error else { return "ok".to_owned() };
    match error.code {
        Code::EngineCrash => "crash".to_owned(),
        Code::WorkerLost | Code::WorkerMisbehaved | Code::WorkerUnavailable => format!("ours:{}", error.code),
        _ if error.kind == "limit" => {
            format!("limit:{}", report.limits_hit.first().map_or("?", |hit| hit.name))
        }
        _ => "error".to_owned(),
    }
}

/// What it ran into, for people.
pub(crate) fn stopped_by(class: &str, ending: &str, report: &Report) -> String {
    if let Some(limit) = ending.strip_prefix("limit:") {
        return format!("the limit {limit}");
    }
    match (ending, &report.error) {
        ("crash", _) => "a trap of WebAssembly; its process ended".to_owned(),
        (_, Some(error)) => error.message.lines().next().unwrap_or_default().chars().take(100).collect(),
        (_, None) => layer_of(class).to_owned(),
    }
}

/// What stands against a class of attacks when its program comes to its end.
fn layer_of(class: &str) -> &'static str {
    match class {
        "channel" => "the gateway checks every message",
        "descriptors" => "no descriptor of the host is there",
        "disk" => "the workspace's quota",
        "environment" => "nothing of the host is in its environment",
        "files" => "no path leads out of the workspace",
        "memory" | "recursion" => "bounds of its own interpreter",
        "network" => "there is no network",
        "output" | "exceptions" => "output is bounded, and only text",
        "process" => "no process can be started or reached",
        "result" => "results are checked and bounded",
        "state" => "the next program has a fresh process",
        _ => "it gained nothing",
    }
}
