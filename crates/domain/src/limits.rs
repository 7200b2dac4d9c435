//! Every limit on a program, in one place: its name, its unit, its value at each level, its range,
//! and the reason it is there.

use crate::codes::Code;
use crate::levels::Level;
use crate::nearest::nearest;
use crate::quantity::{QuantityError, exact_bytes, exact_ms, format_bytes, format_ms, parse_bytes, parse_ms};

/// The limits of one program. Made from a [`Level`], changed one by one by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    level: Level,
    values: [u64; LimitName::ALL.len()],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LimitName {
    /// From the program's first instruction to its last.
    WallTime,
    /// What it computes in that time.
    CpuTime,
    /// How much of one core it may have meanwhile.
    CpuPercent,
    /// The whole interpreter, of which about 30 MB are its own.
    Memory,
    /// What it prints, on both streams together.
    OutputBytes,
    /// The result, as JSON.
    ResultBytes,
    /// How deep the result is nested.
    ResultDepth,
    /// Files and folders open at once.
    OpenFiles,
    FileBytes,
    /// All files of the workspace and /tmp together.
    WorkspaceBytes,
    /// Files and folders in the workspace and /tmp.
    WorkspaceFiles,
    /// Tool calls in all.
    ToolCalls,
    /// Tool calls under way at once; further ones wait.
    ParallelCalls,
}

enum Unit {
    Ms,
    Bytes,
    Percent,
    Count,
}

/// A limit cannot be what was asked for.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum LimitError {
    /// No limit has this name.
    #[error("unknown limit `{name}`{}; the limits are {}", nearest_text(.nearest), LimitName::names())]
    Unknown {
        /// As it was written.
        name: String,
        /// The closest name there is.
        nearest: Option<&'static str>,
    },
    /// The value is outside what this level permits.
    #[error(
        "{name} = {value} is out of range for level {level} ({min} to {max}); pick a value in the range, or another --level"
    )]
    OutOfRange {
        name: &'static str,
        /// What was asked for.
        value: String,
        level: Level,
        min: String,
        max: String,
    },
    /// The value cannot be read.
    #[error(transparent)]
    Quantity(#[from] QuantityError),
    /// The value is not a number.
    #[error("`{0}` isn't a whole number")]
    Count(String),
    #[error("`{0}` isn't a percentage; write a whole number, such as 50 or 50%")]
    Percent(String),
}

fn nearest_text(nearest: &Option<&'static str>) -> String {
    nearest.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

/// A result above `result_bytes` is stored under a handle instead of being answered, up to this size. To
/// condense it, the gateway holds it in memory once; what is larger belongs in a file in /workspace.
pub const LARGE_RESULT_BYTES_MAX: u64 = 64 * MB;

/// What is searched for personal data at the same time, by all programs together; others wait. A search takes a few
/// times its text in memory and a core, and programs choose how many there are.
pub const SEARCHED_BYTES_MAX: usize = 64 << 20;

/// What a smaller search counts as: no more than 16 of them are under way. What it takes beyond its text has a bound
/// of its own, some 15 MB with all findings that there may be.
pub const SEARCH_BYTES_MIN: usize = 4 << 20;

/// Findings in one text, or in one key or number of a document. One with more is withheld as a whole: each takes
/// many times its own bytes, and nobody reads so many tokens.
pub const TEXT_FINDINGS_MAX: usize = 100_000;

/// Findings in all texts of one document, counted again each time that something is found behind what was hidden. A
/// million takes two to three seconds of a core.
pub const DOCUMENT_FINDINGS_MAX: usize = 1_000_000;

/// Different values in one text or document that get tokens of their own: as many as a session may have. Others have
/// labels without a code.
pub const DOCUMENT_VALUES_MAX: usize = 100_000;

/// All that one program can use.
pub const PERCENT_OF_CORE: u64 = 100;

/// How a program is held to `cpu_percent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CpuShare {
    /// The kernel gives it no more than that at any time.
    Slowed,
    /// It may use that part of its run time, at its own speed.
    Counted,
}

const KB: u64 = 1 << 10;
const MB: u64 = 1 << 20;

impl LimitName {
    pub const ALL: [LimitName; 13] = [
        LimitName::WallTime,
        LimitName::CpuTime,
        LimitName::CpuPercent,
        LimitName::Memory,
        LimitName::OutputBytes,
        LimitName::ResultBytes,
        LimitName::ResultDepth,
        LimitName::OpenFiles,
        LimitName::FileBytes,
        LimitName::WorkspaceBytes,
        LimitName::WorkspaceFiles,
        LimitName::ToolCalls,
        LimitName::ParallelCalls,
    ];

    /// As it is written in settings, flags and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            LimitName::WallTime => "wall_time",
            LimitName::CpuTime => "cpu_time",
            LimitName::CpuPercent => "cpu_percent",
            LimitName::Memory => "memory",
            LimitName::OutputBytes => "output_bytes",
            LimitName::ResultBytes => "result_bytes",
            LimitName::ResultDepth => "result_depth",
            LimitName::OpenFiles => "open_files",
            LimitName::FileBytes => "file_bytes",
            LimitName::WorkspaceBytes => "workspace_bytes",
            LimitName::WorkspaceFiles => "workspace_files",
            LimitName::ToolCalls => "tool_calls",
            LimitName::ParallelCalls => "parallel_calls",
        }
    }

    /// The one with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        LimitName::ALL.into_iter().find(|limit| limit.as_str() == name)
    }

    /// What the limit is about, for messages: "wall time".
    pub fn subject(self) -> &'static str {
        match self {
            LimitName::WallTime => "run time",
            LimitName::CpuTime => "CPU time",
            LimitName::CpuPercent => "CPU share",
            LimitName::Memory => "memory",
            LimitName::OutputBytes => "printed output",
            LimitName::ResultBytes => "result size",
            LimitName::ResultDepth => "result nesting",
            LimitName::OpenFiles => "open files",
            LimitName::FileBytes => "file size",
            LimitName::WorkspaceBytes => "workspace size",
            LimitName::WorkspaceFiles => "number of workspace files",
            LimitName::ToolCalls => "number of tool calls",
            LimitName::ParallelCalls => "parallel tool calls",
        }
    }

    /// The code of an execution that ended because of it; `None` for limits that show inside the
    /// program, as an `OSError` or by waiting.
    pub fn code(self) -> Option<Code> {
        match self {
            LimitName::WallTime => Some(Code::WallTime),
            LimitName::CpuTime | LimitName::CpuPercent => Some(Code::CpuTime),
            LimitName::Memory => Some(Code::Memory),
            LimitName::OutputBytes => Some(Code::OutputBytes),
            LimitName::ResultBytes => Some(Code::ResultBytes),
            LimitName::ResultDepth => Some(Code::ResultDepth),
            LimitName::ToolCalls => Some(Code::ToolCalls),
            LimitName::WorkspaceBytes | LimitName::WorkspaceFiles => Some(Code::WorkspaceRoom),
            LimitName::OpenFiles | LimitName::FileBytes | LimitName::ParallelCalls => None,
        }
    }

    /// What to change when it is hit, besides the limit.
    pub fn advice(self) -> &'static str {
        match self {
            LimitName::WallTime => {
                "do less in one program, or run tool calls together with asyncio.gather or Promise.all"
            }
            LimitName::CpuTime | LimitName::CpuPercent => "look for an endless loop or a slow algorithm",
            LimitName::Memory => {
                "process the data piece by piece, or keep it in sqlite3 or a file in /workspace"
            }
            LimitName::OutputBytes => "print a summary and write the rest to a file in /workspace",
            LimitName::ResultBytes => "return a summary and write the rest to a file in /workspace",
            LimitName::ResultDepth => "flatten the result",
            LimitName::OpenFiles => "close files after use: with open(...) as f",
            LimitName::FileBytes => "split the file",
            LimitName::WorkspaceBytes | LimitName::WorkspaceFiles => "remove files that are no longer needed",
            LimitName::ToolCalls => "ask for more per call, or split the work over several programs",
            LimitName::ParallelCalls => "further calls wait by themselves",
        }
    }

    fn unit(self) -> Unit {
        match self {
            LimitName::WallTime | LimitName::CpuTime => Unit::Ms,
            LimitName::Memory
            | LimitName::OutputBytes
            | LimitName::ResultBytes
            | LimitName::FileBytes
            | LimitName::WorkspaceBytes => Unit::Bytes,
            LimitName::CpuPercent => Unit::Percent,
            LimitName::ResultDepth
            | LimitName::OpenFiles
            | LimitName::WorkspaceFiles
            | LimitName::ToolCalls
            | LimitName::ParallelCalls => Unit::Count,
        }
    }

    /// Least, default and most at a level.
    #[rustfmt::skip]
    fn range(self, level: Level) -> (u64, u64, u64) {
        let [development, production, hardened] = match self {
            // An agent waits for the answer; a few tool calls fit into five seconds.
            LimitName::WallTime => [(1, 30_000, 3_600_000), (1_000, 5_000, 120_000), (100, 3_000, 10_000)],
            // One thread: never more than the wall time, which ends the program first by default.
            LimitName::CpuTime => [(1, 30_000, 3_600_000), (100, 5_000, 120_000), (100, 3_000, 10_000)],
            // One thread has one core at the most: 100 limits nothing.
            LimitName::CpuPercent => [(1, 100, 100), (1, 100, 100), (1, 100, 100)],
            // The least is what the interpreter itself needs; the most is what 32 bits can address.
            LimitName::Memory => [(64 * MB, 1024 * MB, 4096 * MB), (64 * MB, 512 * MB, 2048 * MB), (64 * MB, 256 * MB, 512 * MB)],
            // All of it is held in memory until the execution ends.
            LimitName::OutputBytes => [(0, 8 * MB, 64 * MB), (0, MB, 16 * MB), (0, 256 * KB, MB)],
            LimitName::ResultBytes => [(2, 8 * MB, 16 * MB), (2, 4 * MB, 16 * MB), (2, MB, 4 * MB)],
            // Parsers recurse; the wire's own cap is 100.
            LimitName::ResultDepth => [(1, 64, 90), (1, 64, 90), (1, 32, 64)],
            LimitName::OpenFiles => [(0, 256, 512), (0, 64, 512), (0, 32, 64)],
            LimitName::FileBytes => [(0, 100 * MB, 4096 * MB), (0, 10 * MB, 1024 * MB), (0, 10 * MB, 10 * MB)],
            LimitName::WorkspaceBytes => [(0, 1024 * MB, 65536 * MB), (0, 100 * MB, 10240 * MB), (0, 50 * MB, 100 * MB)],
            LimitName::WorkspaceFiles => [(0, 100_000, 1_000_000), (0, 10_000, 1_000_000), (0, 1_000, 10_000)],
            LimitName::ToolCalls => [(0, 10_000, 1_000_000), (0, 1_000, 100_000), (0, 100, 1_000)],
            // Each holds a request and an answer in the gateway's memory.
            LimitName::ParallelCalls => [(1, 128, 1_024), (1, 64, 256), (1, 16, 64)],
        };
        match level {
            Level::Development => development,
            Level::Production => production,
            Level::Hardened => hardened,
        }
    }

    /// A value of this limit, for people.
    pub fn format(self, value: u64) -> String {
        match self.unit() {
            Unit::Ms => format_ms(value),
            Unit::Bytes => format_bytes(value),
            Unit::Percent => format!("{value}%"),
            Unit::Count => value.to_string(),
        }
    }

    /// The same for a file: it's read as this value again.
    pub fn written(self, value: u64) -> String {
        match self.unit() {
            Unit::Ms => exact_ms(value),
            Unit::Bytes => exact_bytes(value),
            Unit::Percent | Unit::Count => self.format(value),
        }
    }

    fn names() -> String {
        LimitName::ALL.map(LimitName::as_str).join(", ")
    }
}

impl Limits {
    pub fn of(level: Level) -> Self {
        Self { level, values: LimitName::ALL.map(|name| name.range(level).1) }
    }

    /// As strict as both these and a stricter level: none is looser than it was. `None` for a looser level.
    pub fn tightened(&self, level: Level) -> Option<Self> {
        if level <= self.level {
            return (level == self.level).then(|| self.clone());
        }
        let mut tightened = Self::of(level);
        for name in LimitName::ALL {
            let (least, default, _) = name.range(level);
            tightened.values[name as usize] = self.get(name).min(default).max(least);
        }
        Some(tightened)
    }

    /// The level they come from.
    pub fn level(&self) -> Level {
        self.level
    }

    pub fn get(&self, name: LimitName) -> u64 {
        self.values[name as usize]
    }

    /// The least and the most that one can be.
    pub fn range(&self, name: LimitName) -> (u64, u64) {
        let (least, _, most) = name.range(self.level);
        (least, most)
    }

    /// Changes one, within what the level permits.
    pub fn set(&mut self, name: LimitName, value: u64) -> Result<(), LimitError> {
        let (min, _, max) = name.range(self.level);
        if !(min..=max).contains(&value) {
            return Err(LimitError::OutOfRange {
                name: name.as_str(),
                value: name.format(value),
                level: self.level,
                min: name.format(min),
                max: name.format(max),
            });
        }
        self.values[name as usize] = value;
        Ok(())
    }

    /// Changes one, both name and value as people write them.
    pub fn set_text(&mut self, name: &str, value: &str) -> Result<(), LimitError> {
        let limit = LimitName::from_name(name)
            .ok_or_else(|| LimitError::Unknown { name: name.to_owned(), nearest: nearest_limit(name) })?;
        let value = match limit.unit() {
            Unit::Ms => parse_ms(value)?,
            Unit::Bytes => parse_bytes(value)?,
            Unit::Percent => parse_percent(value)?,
            Unit::Count => value.trim().parse().map_err(|_| LimitError::Count(value.to_owned()))?,
        };
        self.set(limit, value)
    }

    /// What ends a program for the CPU time that it used, and after how many milliseconds. A program that is slowed
    /// down to its share needs no other end; one that is counted has its share of its run time.
    pub fn cpu_end(&self, share: CpuShare) -> (LimitName, u64) {
        let cpu_ms = self.get(LimitName::CpuTime);
        let percent = self.get(LimitName::CpuPercent);
        let share_ms = (self.get(LimitName::WallTime).saturating_mul(percent) / 100).max(1);
        match share {
            CpuShare::Counted if percent < PERCENT_OF_CORE && share_ms < cpu_ms => {
                (LimitName::CpuPercent, share_ms)
            }
            CpuShare::Counted | CpuShare::Slowed => (LimitName::CpuTime, cpu_ms),
        }
    }

    /// One sentence for whoever ran into it: what, how much, how to raise it, what to do instead.
    pub fn hit_message(&self, name: LimitName) -> String {
        let (_, _, max) = name.range(self.level);
        let value = self.get(name);
        let raise = match value < max {
            true => {
                format!(", or raise `{}` (up to {} at level {})", name.as_str(), name.format(max), self.level)
            }
            false => format!(" (`{}` is at its highest for level {})", name.as_str(), self.level),
        };
        format!("{} is limited to {}; {}{raise}", name.subject(), name.format(value), name.advice())
    }
}

fn parse_percent(text: &str) -> Result<u64, LimitError> {
    let number = text.trim();
    let number = number.strip_suffix('%').unwrap_or(number).trim_end();
    number.parse().map_err(|_| LimitError::Percent(text.to_owned()))
}

/// The closest limit name, if any is close.
fn nearest_limit(name: &str) -> Option<&'static str> {
    let known = LimitName::ALL.map(LimitName::as_str).into_iter();
    nearest(name, known.map(|known| (known, known)), 1).into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_lies_in_its_range_at_every_level() {
        for level in Level::ALL {
            for name in LimitName::ALL {
                let (min, default, max) = name.range(level);
                assert!(min <= default && default <= max, "{} at {level}", name.as_str());
            }
        }
    }

    #[test]
    fn limits_are_kept_under_their_own_names() {
        let mut limits = Limits::of(Level::Production);
        for (index, name) in LimitName::ALL.into_iter().enumerate() {
            assert_eq!(name as usize, index);
            assert_eq!(LimitName::from_name(name.as_str()), Some(name));
        }
        limits.set_text("wall_time", "2.5s").unwrap();
        limits.set_text("memory", "256M").unwrap();
        assert_eq!(limits.get(LimitName::WallTime), 2500);
        assert_eq!(limits.get(LimitName::Memory), 256 * MB);
    }

    #[test]
    fn a_share_of_a_core_is_counted_as_that_part_of_the_run_time() {
        let check = |wall: &str, cpu: &str, percent: &str, expected: (LimitName, u64)| {
            let mut limits = Limits::of(Level::Development);
            for (name, value) in [("wall_time", wall), ("cpu_time", cpu), ("cpu_percent", percent)] {
                limits.set_text(name, value).unwrap();
            }
            assert_eq!(limits.cpu_end(CpuShare::Counted), expected, "{wall} {cpu} {percent}");
            assert_eq!(
                limits.cpu_end(CpuShare::Slowed),
                (LimitName::CpuTime, limits.get(LimitName::CpuTime))
            );
        };
        check("5s", "5s", "20", (LimitName::CpuPercent, 1_000));
        check("5s", "5s", "20 %", (LimitName::CpuPercent, 1_000));
        check("10s", "2s", "50%", (LimitName::CpuTime, 2_000));
        check("5s", "30s", "100", (LimitName::CpuTime, 30_000));
        check("10ms", "1s", "1", (LimitName::CpuPercent, 1));
        let mut limits = Limits::of(Level::Production);
        let refused = |error: LimitError| error.to_string();
        assert_eq!(
            limits.set_text("cpu_percent", "0").map_err(refused),
            Err("cpu_percent = 0% is out of range for level production (1% to 100%); pick a value in the range, or another --level".to_owned())
        );
        assert_eq!(
            limits.set_text("cpu_percent", "half").map_err(refused),
            Err("`half` isn't a percentage; write a whole number, such as 50 or 50%".to_owned())
        );
        limits.set_text("cpu_percent", "40%").unwrap();
        assert_eq!(
            limits.hit_message(LimitName::CpuPercent),
            "CPU share is limited to 40%; look for an endless loop or a slow algorithm, or raise `cpu_percent` (up to 100% at level production)"
        );
    }

    #[test]
    fn a_value_out_of_range_is_refused_with_the_range() {
        let mut limits = Limits::of(Level::Production);
        let error = limits.set_text("wall_time", "10m").unwrap_err();
        assert_eq!(
            error.to_string(),
            "wall_time = 600 s is out of range for level production (1 s to 120 s); pick a value in the range, or another --level"
        );
    }

    #[test]
    fn a_stricter_level_loosens_nothing_and_a_looser_one_is_not_to_be_had() {
        let mut limits = Limits::of(Level::Production);
        limits.set_text("wall_time", "20s").unwrap();
        limits.set_text("tool_calls", "7").unwrap();
        let tightened = limits.tightened(Level::Hardened).unwrap();
        assert_eq!(tightened.level(), Level::Hardened);
        assert_eq!(tightened.get(LimitName::WallTime), 3_000);
        assert_eq!(tightened.get(LimitName::ToolCalls), 7);
        for name in LimitName::ALL {
            assert!(tightened.get(name) <= limits.get(name), "{}", name.as_str());
        }
        assert_eq!(limits.tightened(Level::Production), Some(limits.clone()));
        assert_eq!(limits.tightened(Level::Development), None);
    }

    #[test]
    fn a_misspelled_limit_gets_the_nearest_name() {
        let error = Limits::of(Level::Production).set_text("wal_time", "1s").unwrap_err();
        assert!(error.to_string().contains("did you mean `wall_time`?"), "{error}");
    }

    #[test]
    fn a_hit_limit_names_itself_its_value_and_the_way_out() {
        let limits = Limits::of(Level::Production);
        assert_eq!(
            limits.hit_message(LimitName::WallTime),
            "run time is limited to 5 s; do less in one program, or run tool calls together with asyncio.gather or Promise.all, or raise `wall_time` (up to 120 s at level production)"
        );
    }
}
