//! The limits of one server, as a file says them.

use gristmill_gateway::domain::{ServerLimits, format_bytes, format_ms, parse_bytes, parse_ms};

use super::fields::Fields;
use super::problem::{Foreign, ProblemKind, Problems, Severity};
use super::tree::Node;

pub(super) const KEYS: [&str; 5] = ["startup", "call", "parallel_calls", "result_size", "calls_per_minute"];

// A server that needs longer than this to start is broken; a call may be a build.
const STARTUP_MS: (u64, u64) = (100, 600_000);
const CALL_MS: (u64, u64) = (10, 24 * 3_600_000);
pub(super) const PARALLEL_MAX: u64 = 1_024;
// An answer is held in memory, a few times over while it is read.
const RESULT_BYTES: (u64, u64) = (1 << 10, 256 << 20);
pub(super) const CALLS_PER_MINUTE_MAX: u64 = 1_000_000;

/// Reads the table `limits`.
pub fn read(node: &Node, path: &str, limits: &mut ServerLimits, problems: &mut Problems) {
    let Some(mut fields) = Fields::of(node, path, problems) else { return };
    if let Some(ms) = time(&mut fields, "startup", STARTUP_MS, problems) {
        limits.startup_ms = ms;
    }
    if let Some(ms) = time(&mut fields, "call", CALL_MS, problems) {
        limits.call_ms = ms;
    }
    if let Some(bytes) = size(&mut fields, "result_size", problems) {
        limits.result_bytes = bytes;
    }
    if let Some(calls) = fields.whole("parallel_calls", 1, PARALLEL_MAX, problems) {
        limits.parallel_calls = calls;
    }
    if let Some(calls) = fields.whole("calls_per_minute", 0, CALLS_PER_MINUTE_MAX, problems) {
        limits.calls_per_minute = calls;
    }
    fields.finish(&KEYS, problems);
}

fn time(fields: &mut Fields<'_>, key: &str, range: (u64, u64), problems: &mut Problems) -> Option<u64> {
    let (text, line) = fields.quantity(key, "a time, such as \"30s\"", problems)?;
    let what = match parse_ms(text) {
        Ok(ms) if (range.0..=range.1).contains(&ms) => return Some(ms),
        Ok(_) => ProblemKind::QuantityOutOfRange { min: format_ms(range.0), max: format_ms(range.1) },
        Err(_) => ProblemKind::BadQuantity { expected: "a time", example: "\"30s\"" },
    };
    problems.error(&fields.path(key), line, what);
    None
}

fn size(fields: &mut Fields<'_>, key: &str, problems: &mut Problems) -> Option<u64> {
    let (text, line) = fields.quantity(key, "a size, such as \"16M\"", problems)?;
    let (min, max) = RESULT_BYTES;
    let what = match parse_bytes(text) {
        Ok(bytes) if (min..=max).contains(&bytes) => return Some(bytes),
        Ok(_) => ProblemKind::QuantityOutOfRange { min: format_bytes(min), max: format_bytes(max) },
        Err(_) => ProblemKind::BadQuantity { expected: "a size", example: "\"16M\"" },
    };
    problems.error(&fields.path(key), line, what);
    None
}

/// What other clients call their time-outs. Ours come after, and win.
pub fn read_foreign(fields: &mut Fields<'_>, limits: &mut ServerLimits, problems: &mut Problems) {
    for (key, unit) in [("startup_timeout_sec", 1000.0), ("startup_timeout_ms", 1.0)] {
        if let Some(ms) = number(fields, key, unit, STARTUP_MS, problems) {
            limits.startup_ms = ms;
        }
    }
    if let Some(ms) = number(fields, "tool_timeout_sec", 1000.0, CALL_MS, problems) {
        limits.call_ms = ms;
    }
    // Gemini and Claude count milliseconds, Cline and Roo seconds. Nobody means a time-out of
    // less than a second, nor one of a quarter of an hour in seconds.
    let before = problems.errors();
    if let Some((text, line)) = fields.quantity("timeout", "a time", problems) {
        let key = fields.path("timeout");
        let (ms, note) = match text.parse::<f64>() {
            Ok(number) if number >= 1000.0 => (in_range(number, CALL_MS), Some(Foreign::Milliseconds)),
            Ok(number) => (in_range(number * 1000.0, CALL_MS), Some(Foreign::Seconds)),
            Err(_) => (parse_ms(text).ok().and_then(|ms| in_range(ms as f64, CALL_MS)), None),
        };
        match ms {
            Some(ms) => limits.call_ms = ms,
            None => {
                problems.error(
                    &key,
                    line,
                    ProblemKind::BadQuantity { expected: "a time", example: "\"30s\"" },
                );
            }
        }
        if let Some(note) = note.filter(|_| problems.errors() == before) {
            problems.add(Severity::Note, &key, line, ProblemKind::Foreign(note));
        }
    }
}

fn number(
    fields: &mut Fields<'_>,
    key: &str,
    unit: f64,
    range: (u64, u64),
    problems: &mut Problems,
) -> Option<u64> {
    let (text, line) = fields.quantity(key, "a number", problems)?;
    let ms = text.parse::<f64>().ok().and_then(|number| in_range(number * unit, range));
    if ms.is_none() {
        let what = ProblemKind::QuantityOutOfRange { min: format_ms(range.0), max: format_ms(range.1) };
        problems.error(&fields.path(key), line, what);
    }
    ms
}

fn in_range(ms: f64, range: (u64, u64)) -> Option<u64> {
    (ms >= range.0 as f64 && ms <= range.1 as f64).then_some(ms.round() as u64)
}
