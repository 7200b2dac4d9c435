//! What all executions come to together.

use std::time::{Duration, UNIX_EPOCH};

use gristmill_domain::{counted_grouped, grouped, one_line, utc_text};
use serde::Serialize;

use crate::report::TokenAccount;

/// A program can name a tool as it likes.
const TOOL_NAME_CHARS_MAX: usize = 80;

/// Fewer executions with calls are no habit that a hint could change.
const HINT_EXECUTIONS_MIN: u64 = 5;

/// Figures of the executions that were asked for, as far back as they are kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// When the first of them began, in milliseconds since 1970.
    pub since_ms: Option<i64>,
    pub executions: u64,
    pub ok: u64,
    pub failed: u64,
    pub cancelled: u64,
    pub lost: u64,
    pub running: u64,
    /// From the request to the report, on average.
    pub average_ms: f64,
    /// The 95th percentile of the same.
    pub p95_ms: f64,
    /// What they computed, together.
    pub cpu_time_ms: f64,
    pub calls: u64,
    pub calls_failed: u64,
    /// Together, programs without calls included; [`Stats::verdict`] tells them apart.
    pub tokens: TokenAccount,
    /// Against the same calls made directly, one by one.
    pub direct: DirectCalls,
    /// The most called, the most often called first. Of an execution with very many calls the first
    /// thousand count.
    pub tools: Vec<ToolStats>,
    /// Limits that refused something, and how often.
    pub limits_hit: Vec<(String, u64)>,
}

/// How executions compare with the same calls made directly. Those that have not ended are not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DirectCalls {
    /// Executions with a call that reached a tool, unless they were recorded before definitions were
    /// counted.
    pub compared: u64,
    /// Those of them for which calling directly would have been cheaper.
    pub cheaper: u64,
    /// By so many tokens, together.
    pub tokens_less: u64,
    /// What all that are compared saved together.
    pub saved: i64,
    /// Executions that reached no tool: nothing to compare.
    pub without_calls: u64,
    /// What these took, which counts against what is saved.
    pub without_calls_tokens: u64,
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
    pub tokens: u64,
}

/// `1 program`, `1,234 programs`.
fn counted(count: u64, noun: &str) -> String {
    counted_grouped(usize::try_from(count).unwrap_or(usize::MAX), noun)
}

impl Stats {
    /// For a person or a model, a line for each thing.
    pub fn lines(&self) -> Vec<String> {
        let since =
            self.since_ms.map(|since| Duration::from_millis(u64::try_from(since).unwrap_or_default()));
        self.lines_since(since.map(|since| utc_text(UNIX_EPOCH + since)).as_deref())
    }

    /// The same, with the beginning as whoever reads it writes times.
    pub fn lines_since(&self, since: Option<&str>) -> Vec<String> {
        let Some(since) = since else { return vec!["nothing has run yet".to_owned()] };
        let outcomes = [
            (self.ok, "ok"),
            (self.failed, "failed"),
            (self.cancelled, "cancelled"),
            (self.lost, "lost"),
            (self.running, "running"),
        ];
        let told = outcomes.into_iter().filter(|(count, _)| *count > 0);
        let told: Vec<String> =
            told.map(|(count, outcome)| format!("{} {outcome}", grouped(count))).collect();
        let rate = self.success_rate().map(|rate| format!(" ({:.1} % ok)", rate * 100.0)).unwrap_or_default();
        let mut lines = vec![format!(
            "{} since {}: {}{rate}",
            counted(self.executions, "execution"),
            since,
            told.join(", ")
        )];
        lines.push(format!("time: average {:.1} ms, p95 {:.1} ms", self.average_ms, self.p95_ms));
        lines.extend(self.token_lines());
        let (calls, failed) = (grouped(self.calls), grouped(self.calls_failed));
        lines.push(format!("tool calls: {calls}, {failed} failed"));
        for tool in &self.tools {
            let name = one_line(&tool.name, TOOL_NAME_CHARS_MAX);
            let (calls, failed, tokens) =
                (counted(tool.calls, "call"), grouped(tool.failed), grouped(tool.tokens));
            let average_ms = tool.average_ms;
            lines.push(format!(
                "  {name}: {calls}, {failed} failed, average {average_ms:.1} ms, {tokens} tokens"
            ));
        }
        let hit = self.limits_hit.iter().map(|(name, count)| format!("{name} {count}"));
        let hit: Vec<String> = hit.collect();
        if !hit.is_empty() {
            lines.push(format!("limits hit: {}", hit.join(", ")));
        }
        lines.extend(self.hint().map(|hint| format!("hint: {hint}")));
        lines
    }

    fn token_lines(&self) -> Vec<String> {
        let TokenAccount { program, returned, own_definition, inside, definitions, estimated, .. } =
            self.tokens;
        let about = if estimated { "about " } else { "" };
        let own = own_definition.filter(|tokens| *tokens > 0);
        let own = own.map(|tokens| format!(", {} in our tool's definition", grouped(tokens)));
        let definitions = definitions.map(|tokens| format!(" and {about}{} in definitions", grouped(tokens)));
        let (own, definitions) = (own.unwrap_or_default(), definitions.unwrap_or_default());
        let (program, returned, inside) = (grouped(program), grouped(returned), grouped(inside));
        let mut lines = vec![format!(
            "tokens: {program} in programs, {returned} returned{own}; {about}{inside} in tool calls{definitions} that no model read"
        )];
        lines.extend(self.parts());
        lines
    }

    /// What was saved, part by part: a sum over programs with and without calls is about neither.
    pub fn verdict(&self) -> String {
        match self.parts() {
            parts if parts.is_empty() => "nothing has ended yet".to_owned(),
            parts => parts.join("; "),
        }
    }

    fn parts(&self) -> Vec<String> {
        let DirectCalls { compared, cheaper, tokens_less, saved, without_calls, without_calls_tokens } =
            self.direct;
        let about = if self.tokens.estimated { "about " } else { "" };
        let mut parts = Vec::new();
        if compared > 0 {
            let tokens = grouped(saved.unsigned_abs());
            let sum = match saved.signum() {
                1 => format!("saved {about}{tokens} tokens"),
                0 => "took as many tokens as direct calls would have".to_owned(),
                _ => format!("took {about}{tokens} more tokens than direct calls would have"),
            };
            let by = match cheaper {
                0 => String::new(),
                _ => format!(", by {} tokens in total", grouped(tokens_less)),
            };
            let programs = counted(compared, "program");
            let cheaper = grouped(cheaper);
            parts.push(format!(
                "{programs} with calls {sum}; direct calls would have been cheaper for {cheaper} of them{by}"
            ));
        }
        if without_calls > 0 {
            let (programs, tokens) = (counted(without_calls, "program"), grouped(without_calls_tokens));
            parts.push(format!("{programs} without calls took {tokens} tokens, with nothing to compare"));
        }
        let ended = self.ok + self.failed + self.cancelled;
        let older = ended.saturating_sub(compared.saturating_add(without_calls));
        if older > 0 {
            let programs = counted(older, "program");
            parts.push(format!("{programs} not compared: recorded before tool definitions were counted"));
        }
        parts
    }

    /// What to do differently, if calling tools directly would have been cheaper more often than not,
    /// or over all that can be compared.
    pub fn hint(&self) -> Option<String> {
        let DirectCalls { compared, cheaper, tokens_less, saved, .. } = self.direct;
        let is_most = cheaper > compared / 2;
        (compared >= HINT_EXECUTIONS_MIN && (is_most || saved < 0)).then(|| {
            format!(
                "{cheaper} of {compared} programs with calls took more than the calls alone, by {} tokens in total: call a tool directly when one small call is all you need, or let one program do several steps; see docs/token-benchmark.md",
                grouped(tokens_less)
            )
        })
    }

    /// The part of those that have ended that ran to their end; `None` if none has ended.
    pub fn success_rate(&self) -> Option<f64> {
        let ended = self.ok + self.failed + self.cancelled + self.lost;
        (ended > 0).then(|| self.ok as f64 / ended as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(direct: DirectCalls) -> Stats {
        let tokens = TokenAccount {
            program: 900,
            returned: 60,
            own_definition: Some(40),
            inside: 700,
            definitions: Some(200),
            looked_up: Some(0),
            estimated: false,
        };
        Stats { since_ms: Some(0), executions: 10, ok: 10, tokens, direct, ..Stats::default() }
    }

    #[test]
    fn a_hint_comes_when_direct_calls_would_have_been_cheaper_for_most_or_in_all() {
        let check = |compared: u64, cheaper: u64, saved: i64, expected: bool| {
            let direct = DirectCalls { compared, cheaper, saved, tokens_less: 7, ..DirectCalls::default() };
            assert_eq!(stats(direct).hint().is_some(), expected, "{direct:?}");
        };
        check(0, 0, 0, false);
        // Too few to tell.
        check(4, 4, -400, false);
        check(5, 5, -500, true);
        // Most of them, although a large one saved more than all others lost.
        check(5, 3, 90_000, true);
        check(6, 3, 90_000, false);
        // The few that lost, lost more than all others saved.
        check(6, 1, -1, true);
        check(6, 0, 60, false);
    }

    #[test]
    fn what_programs_without_calls_took_is_no_loss_of_those_with_calls() {
        let check = |direct: DirectCalls, expected: &str| assert_eq!(stats(direct).verdict(), expected);
        let saved =
            "2 programs with calls saved 2,706 tokens; direct calls would have been cheaper for 0 of them";
        let without = "8 programs without calls took 7,096 tokens, with nothing to compare";
        let direct = DirectCalls { compared: 2, saved: 2_706, ..DirectCalls::default() };
        let direct = DirectCalls { without_calls: 8, without_calls_tokens: 7_096, ..direct };
        check(direct, &format!("{saved}; {without}"));
        let older = "10 programs not compared: recorded before tool definitions were counted";
        check(DirectCalls::default(), older);
        assert_eq!(Stats::default().verdict(), "nothing has ended yet");
    }

    #[test]
    fn losses_are_told_in_words() {
        let direct = DirectCalls {
            compared: 8,
            cheaper: 6,
            tokens_less: 300,
            saved: -40,
            without_calls: 2,
            without_calls_tokens: 60,
        };
        assert_eq!(
            stats(direct).lines(),
            [
                "10 executions since 1970-01-01T00:00:00Z: 10 ok (100.0 % ok)",
                "time: average 0.0 ms, p95 0.0 ms",
                "tokens: 900 in programs, 60 returned, 40 in our tool's definition; 700 in tool calls and 200 in definitions that no model read",
                "8 programs with calls took 40 more tokens than direct calls would have; direct calls would have been cheaper for 6 of them, by 300 tokens in total",
                "2 programs without calls took 60 tokens, with nothing to compare",
                "tool calls: 0, 0 failed",
                "hint: 6 of 8 programs with calls took more than the calls alone, by 300 tokens in total: call a tool directly when one small call is all you need, or let one program do several steps; see docs/token-benchmark.md",
            ]
        );
    }
}
