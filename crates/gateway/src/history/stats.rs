//! What all executions come to together.

use std::time::{Duration, UNIX_EPOCH};

use gristmill_domain::{one_line, utc_text};
use serde::Serialize;

use super::record::RecordedTokens;

/// A program can name a tool as it likes.
const TOOL_NAME_CHARS_MAX: usize = 80;

/// Figures of the executions that were asked for, as far back as they are kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// When the first of them began, in milliseconds since 1970.
    pub since_ms: Option<i64>,
    /// How many.
    pub executions: u64,
    /// By outcome.
    pub ok: u64,
    /// By outcome.
    pub failed: u64,
    /// By outcome.
    pub cancelled: u64,
    /// By outcome.
    pub lost: u64,
    /// By outcome.
    pub running: u64,
    /// From the request to the report, on average.
    pub average_ms: f64,
    /// 95 of 100 took no longer.
    pub p95_ms: f64,
    /// What they computed, together.
    pub cpu_time_ms: f64,
    /// Tool calls.
    pub calls: u64,
    /// Those that failed.
    pub calls_failed: u64,
    /// Together.
    pub tokens: RecordedTokens,
    /// The most called, the most often called first. Of an execution with very many calls the first
    /// thousand count.
    pub tools: Vec<ToolStats>,
    /// Limits that refused something, and how often.
    pub limits_hit: Vec<(String, u64)>,
}

/// Figures of one tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolStats {
    /// As programs named it.
    pub name: String,
    /// How often it was called.
    pub calls: u64,
    /// How often that failed.
    pub failed: u64,
    /// How long it took, on average.
    pub average_ms: f64,
    /// Arguments and answers.
    pub tokens: u64,
}

impl Stats {
    /// For a person or a model, a line for each thing.
    pub fn lines(&self) -> Vec<String> {
        let Some(since) = self.since_ms else { return vec!["nothing has run yet".to_owned()] };
        let since = UNIX_EPOCH + Duration::from_millis(u64::try_from(since).unwrap_or_default());
        let outcomes = [
            (self.ok, "ok"),
            (self.failed, "failed"),
            (self.cancelled, "cancelled"),
            (self.lost, "lost"),
            (self.running, "running"),
        ];
        let told = outcomes.into_iter().filter(|(count, _)| *count > 0);
        let told: Vec<String> = told.map(|(count, outcome)| format!("{count} {outcome}")).collect();
        let rate = self.success_rate().map(|rate| format!(" ({:.1} % ok)", rate * 100.0)).unwrap_or_default();
        let mut lines = vec![format!(
            "{} {} since {}: {}{rate}",
            self.executions,
            if self.executions == 1 { "execution" } else { "executions" },
            utc_text(since),
            told.join(", ")
        )];
        lines.push(format!(
            "time: {:.1} ms on average, 95 of 100 within {:.1} ms",
            self.average_ms, self.p95_ms
        ));
        let RecordedTokens { program, returned, inside, estimated } = self.tokens;
        let about = if estimated { "about " } else { "" };
        lines.push(format!(
            "tokens: {program} of programs, {returned} returned, {about}{inside} of tool calls that no model read: {about}{} saved",
            self.tokens.saved()
        ));
        lines.push(format!("tool calls: {}, {} failed", self.calls, self.calls_failed));
        for tool in &self.tools {
            let name = one_line(&tool.name, TOOL_NAME_CHARS_MAX);
            let ToolStats { calls, failed, average_ms, tokens, .. } = tool;
            lines.push(format!(
                "  {name}: {calls}, {failed} failed, {average_ms:.1} ms on average, {tokens} tokens"
            ));
        }
        let hit = self.limits_hit.iter().map(|(name, count)| format!("{name} {count}"));
        let hit: Vec<String> = hit.collect();
        if !hit.is_empty() {
            lines.push(format!("limits hit: {}", hit.join(", ")));
        }
        lines
    }

    /// The part of those that have ended that ran to their end; `None` if none has ended.
    pub fn success_rate(&self) -> Option<f64> {
        let ended = self.ok + self.failed + self.cancelled + self.lost;
        (ended > 0).then(|| self.ok as f64 / ended as f64)
    }
}
