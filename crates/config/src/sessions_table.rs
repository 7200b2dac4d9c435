//! The table `sessions`: how many there may be, and how long they last.

use std::time::Duration;

use gristmill_gateway::KeepSettings;
use gristmill_gateway::domain::{exact_ms, format_ms, parse_ms};
use gristmill_gateway::session::SessionSettings;

use super::fields::Fields;
use super::origin::Origin;
use super::problem::{ProblemKind, Problems};
use super::tree::Node;

pub const TABLE: &str = "sessions";
pub(super) const KEYS: [&str; 4] = ["idle", "named_idle", "max", "kept_interpreters"];

// Less than a minute would end a session between two calls of one conversation.
const IDLE_MS: (u64, u64) = (60_000, 3_650 * 24 * 3_600_000);
// Each has a folder on the disk, and all are listed.
pub(super) const MAX: (u64, u64) = (1, 100_000);
// Each is a process that holds its memory.
pub(super) const KEPT: (u64, u64) = (0, 1_000);

/// What one file says, with its lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionsTable {
    idle: Option<(Duration, usize)>,
    named_idle: Option<(Duration, usize)>,
    max: Option<(usize, usize)>,
    kept: Option<(usize, usize)>,
}

/// What all of them come to, and who said so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionsConfig {
    pub settings: SessionSettings,
    pub idle_origin: Origin,
    pub named_idle_origin: Origin,
    pub max_origin: Origin,
    /// Interpreters that stay for their sessions.
    pub keep: KeepSettings,
    pub kept_origin: Origin,
}

impl Default for SessionsConfig {
    fn default() -> Self {
        Self {
            settings: SessionSettings::default(),
            idle_origin: Origin::Default,
            named_idle_origin: Origin::Default,
            max_origin: Origin::Default,
            keep: KeepSettings::default(),
            kept_origin: Origin::Default,
        }
    }
}

impl SessionsConfig {
    /// Lays what a file says over it.
    pub fn lay_over(&mut self, table: &SessionsTable, origin: impl Fn(usize) -> Origin) {
        if let Some((idle, line)) = table.idle {
            (self.settings.idle, self.idle_origin) = (idle, origin(line));
        }
        if let Some((idle, line)) = table.named_idle {
            (self.settings.named_idle, self.named_idle_origin) = (idle, origin(line));
        }
        if let Some((max, line)) = table.max {
            (self.settings.max, self.max_origin) = (max, origin(line));
        }
        if let Some((count, line)) = table.kept {
            (self.keep.count, self.kept_origin) = (count, origin(line));
        }
    }

    /// Key, value and who said so, as a file would have them.
    pub fn shown(&self) -> [(&'static str, String, &Origin); 4] {
        let time = |time: Duration| format!("\"{}\"", exact_ms(milliseconds(time)));
        [
            ("idle", time(self.settings.idle), &self.idle_origin),
            ("named_idle", time(self.settings.named_idle), &self.named_idle_origin),
            ("max", self.settings.max.to_string(), &self.max_origin),
            ("kept_interpreters", self.keep.count.to_string(), &self.kept_origin),
        ]
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

pub fn read(node: &Node, problems: &mut Problems) -> SessionsTable {
    let Some(mut fields) = Fields::of(node, TABLE, problems) else { return SessionsTable::default() };
    let idle = time(&mut fields, "idle", problems);
    let named_idle = time(&mut fields, "named_idle", problems);
    let max = number(&mut fields, "max", MAX, problems);
    let kept = number(&mut fields, "kept_interpreters", KEPT, problems);
    fields.finish(&KEYS, problems);
    SessionsTable { idle, named_idle, max, kept }
}

fn number(
    fields: &mut Fields<'_>,
    key: &str,
    (min, max): (u64, u64),
    problems: &mut Problems,
) -> Option<(usize, usize)> {
    let line = fields.line(key);
    let number = fields.whole(key, min, max, problems)?;
    Some((usize::try_from(number).ok()?, line))
}

fn time(fields: &mut Fields<'_>, key: &str, problems: &mut Problems) -> Option<(Duration, usize)> {
    let (text, line) = fields.quantity(key, "a time, such as \"24h\"", problems)?;
    let (min, max) = IDLE_MS;
    let what = match parse_ms(text) {
        Ok(ms) if (min..=max).contains(&ms) => return Some((Duration::from_millis(ms), line)),
        Ok(_) => ProblemKind::QuantityOutOfRange { min: format_ms(min), max: format_ms(max) },
        Err(_) => ProblemKind::BadQuantity { expected: "a time", example: "\"24h\"" },
    };
    problems.error(&fields.path(key), line, what);
    None
}
