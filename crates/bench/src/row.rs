//! One measured figure, with the goal that it is held against.

use serde_json::{Value, json};

/// In the place of what other users' processes have.
pub const ONLY_ROOT: &str = "only root may look";

pub struct Row {
    name: String,
    measured: String,
    bar: Option<(String, bool)>,
}

impl Row {
    pub fn plain(name: impl Into<String>, measured: String) -> Self {
        Self { name: name.into(), measured, bar: None }
    }

    /// A value that must not be larger.
    pub fn at_most(name: impl Into<String>, value: f64, bar: f64, unit: &str) -> Self {
        let goal = format!("at most {bar} {unit}");
        Self { name: name.into(), measured: format!("{value:.1} {unit}"), bar: Some((goal, value <= bar)) }
    }

    /// The same with more digits, for small values.
    pub fn at_most_exactly(name: impl Into<String>, value: f64, bar: f64, unit: &str) -> Self {
        let goal = format!("at most {bar} {unit}");
        Self { name: name.into(), measured: format!("{value:.2} {unit}"), bar: Some((goal, value <= bar)) }
    }

    /// A value that must not be smaller.
    pub fn at_least(name: impl Into<String>, value: f64, bar: f64, unit: &str) -> Self {
        let goal = format!("at least {bar} {unit}");
        Self { name: name.into(), measured: format!("{value:.1} {unit}"), bar: Some((goal, value >= bar)) }
    }

    /// As a line for a person.
    pub fn line(&self) -> String {
        let verdict = match &self.bar {
            Some((goal, true)) => format!("{goal}: kept"),
            Some((goal, false)) => format!("{goal}: MISSED"),
            None => String::new(),
        };
        format!("{:<58} {:>16}  {verdict}", self.name, self.measured).trim_end().to_owned()
    }

    pub fn json(&self) -> Value {
        json!({
            "name": self.name,
            "measured": self.measured,
            "goal": self.bar.as_ref().map(|(goal, _)| goal),
            "kept": self.bar.as_ref().map(|(_, kept)| kept),
        })
    }
}
