//! What `gristmill doctor` finds out about the audit.

use gristmill_gateway::audit::{Audit, Verification};
use gristmill_gateway::domain::counted_grouped;
use gristmill_gateway::store::{FILE_NAME, Store};
use serde::Serialize;

use crate::arguments::ConfigFile;
use crate::data_store::DataPlace;
use crate::terminal::print_lines;

use super::doctor_servers::words;

/// How the audit is.
#[derive(Default, Serialize)]
pub struct AuditFinding {
    /// `ok`, `none` before anything happened, `off`, or `wrong`.
    state: &'static str,
    events: u64,
    /// When it was signed last.
    signed_at: Option<String>,
    /// Events since then.
    unsigned: u64,
    /// What is wrong, and what to do.
    problems: Vec<String>,
}

impl AuditFinding {
    /// Reads all of it.
    pub async fn look(config: &ConfigFile) -> Self {
        let place = match DataPlace::of(None, config) {
            Ok(place) => place,
            Err(failure) => return Self::wrong(words(&failure)),
        };
        let Some(settings) = place.audit else { return Self { state: "off", ..Self::default() } };
        // A place that cannot be used is told of with the database.
        let folder = place.folder().ok().filter(|folder| folder.join(FILE_NAME).exists());
        let Some(store) = folder.and_then(|folder| Store::open(folder).ok()) else {
            return Self { state: "none", ..Self::default() };
        };
        let audit = match Audit::open(&store, settings) {
            Ok(audit) => audit,
            Err(error) => return Self::wrong(error.to_string()),
        };
        match audit.verify().await {
            Ok(found) => Self::of(found),
            Err(error) => Self::wrong(error.to_string()),
        }
    }

    fn of(found: Verification) -> Self {
        let mut problems: Vec<String> = found
            .faults
            .iter()
            .take(1)
            .map(|fault| format!("event {}: {}", fault.number, fault.what))
            .collect();
        if !problems.is_empty() {
            problems.push("`gristmill audit verify` shows everything that's wrong".to_owned());
        }
        let state = match (problems.is_empty(), found.events) {
            (false, _) => "wrong",
            (true, 0) => "none",
            (true, _) => "ok",
        };
        let Verification { events, signed_at, unsigned, .. } = found;
        Self { state, events, signed_at, unsigned, problems }
    }

    fn wrong(problem: String) -> Self {
        Self { state: "wrong", problems: vec![problem], ..Self::default() }
    }

    /// In a few words, what to look at.
    pub fn trouble(&self) -> Option<&'static str> {
        (!self.problems.is_empty()).then_some("the audit can't be trusted")
    }

    /// As a person reads it.
    pub fn print(&self) {
        println!("\naudit:");
        let detail = match (self.state, &self.signed_at) {
            ("off", _) => "turned off in your configuration".to_owned(),
            ("none", _) => "nothing recorded yet".to_owned(),
            (_, signed_at) => {
                let events = counted_grouped(usize::try_from(self.events).unwrap_or(usize::MAX), "event");
                let signed = signed_at.as_ref().map(|at| format!(", signed at {at}")).unwrap_or_default();
                format!("{events}{signed}")
            }
        };
        println!("  {:<7} {detail}", self.state);
        self.problems.iter().for_each(|problem| print_lines(&format!("          {problem}")));
    }
}
