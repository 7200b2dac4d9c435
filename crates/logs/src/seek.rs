//! Finds lines in a log, in either format: a file may have both.

use std::str::FromStr;

use serde_json::Value;

/// How much a line matters, the most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl FromStr for LogLevel {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "error" => Ok(Self::Error),
            "warn" => Ok(Self::Warn),
            "info" => Ok(Self::Info),
            "debug" => Ok(Self::Debug),
            "trace" => Ok(Self::Trace),
            _ => Err("use error, warn, info, debug or trace".to_owned()),
        }
    }
}

/// Which lines are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineFilter {
    /// Of this level, and of those that matter more.
    pub level: Option<LogLevel>,
    /// Of the executions whose ids begin so.
    pub execution: Option<String>,
}

impl LineFilter {
    pub fn takes(&self, line: &str) -> bool {
        if *self == Self::default() {
            return true;
        }
        let Some((level, execution)) = facts(line) else { return false };
        self.level.is_none_or(|wanted| level <= wanted)
            && self.execution.as_ref().is_none_or(|wanted| {
                execution.is_some_and(|execution| execution.starts_with(wanted.as_str()))
            })
    }
}

/// The level and the execution of a line.
fn facts(line: &str) -> Option<(LogLevel, Option<String>)> {
    if line.starts_with('{') {
        let object: Value = serde_json::from_str(line).ok()?;
        let level = object.get("level")?.as_str()?.parse().ok()?;
        let execution = object.get("execution").and_then(Value::as_str).map(str::to_owned);
        return Some((level, execution));
    }
    let level = line.split_ascii_whitespace().nth(1)?.parse().ok()?;
    // Ours comes last: what a name looks like is in quotes before it.
    let after = line.rsplit_once(" execution=").map(|(_, after)| after);
    let execution = after.and_then(|after| after.split_ascii_whitespace().next()).map(str::to_owned);
    Some((level, execution))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_by_level_and_execution_in_both_formats() {
        let text = "2026-11-16T00:00:00.000Z WARN  door: call server=crm execution=abc123 pid=1";
        let json = r#"{"time":"x","level":"warn","area":"door","message":"call","execution":"abc123"}"#;
        let other = "2026-11-16T00:00:00.000Z INFO  pool: workers are ready pid=1";
        let check = |level: Option<LogLevel>, execution: Option<&str>, expected: [bool; 3]| {
            let filter = LineFilter { level, execution: execution.map(str::to_owned) };
            assert_eq!([text, json, other].map(|line| filter.takes(line)), expected, "{filter:?}");
        };
        check(None, None, [true, true, true]);
        check(Some(LogLevel::Warn), None, [true, true, false]);
        check(Some(LogLevel::Error), None, [false, false, false]);
        check(Some(LogLevel::Debug), None, [true, true, true]);
        check(None, Some("abc"), [true, true, false]);
        check(Some(LogLevel::Info), Some("b"), [false, false, false]);
    }
}
