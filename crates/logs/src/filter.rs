//! What is logged: a level, and levels for single areas.

use std::str::FromStr;

use tracing_subscriber::filter::{LevelFilter, Targets};

/// Everything of ours begins so; nothing else is logged.
const OURS: &str = "gristmill";

/// What somebody looks into, whatever the level is.
pub(crate) const DEBUGGED: &str = "gristmill::debug";

/// What can have a level of its own.
pub const AREAS: &[&str] =
    &["execution", "door", "servers", "pool", "http", "mcp", "otlp", "alerts", "cluster"];

/// Such as `info`, or `info,door=debug`. The last word about an area counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFilter {
    level: LevelFilter,
    areas: Vec<(&'static str, LevelFilter)>,
}

/// What is wrong with a filter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    #[error("unknown log level `{0}`; use off, error, warn, info, debug or trace")]
    Level(String),
    #[error("unknown log area `{0}`; the areas are {areas}", areas = AREAS.join(", "))]
    Area(String),
}

impl LogFilter {
    /// The level of somebody who wants to know what was done, not how.
    pub const fn info() -> Self {
        Self { level: LevelFilter::INFO, areas: Vec::new() }
    }

    /// Nothing.
    pub const fn off() -> Self {
        Self { level: LevelFilter::OFF, areas: Vec::new() }
    }

    /// Each stage.
    pub const fn debug() -> Self {
        Self { level: LevelFilter::DEBUG, areas: Vec::new() }
    }

    pub(crate) fn targets(&self) -> Targets {
        let areas = self.areas.iter().map(|(area, level)| (format!("{OURS}::{area}"), *level));
        let of_debugged = if self.level == LevelFilter::OFF { self.level } else { LevelFilter::TRACE };
        Targets::new().with_target(OURS, self.level).with_target(DEBUGGED, of_debugged).with_targets(areas)
    }
}

impl FromStr for LogFilter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        let mut filter = Self::info();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            match part.split_once('=') {
                None => filter.level = level(part)?,
                Some((name, wanted)) => {
                    let name = name.trim().trim_start_matches("gristmill::");
                    let area = AREAS.iter().find(|area| **area == name);
                    let area = *area.ok_or_else(|| FilterError::Area(name.to_owned()))?;
                    filter.areas.push((area, level(wanted.trim())?));
                }
            }
        }
        Ok(filter)
    }
}

fn level(text: &str) -> Result<LevelFilter, FilterError> {
    match text.to_ascii_lowercase().as_str() {
        "off" => Ok(LevelFilter::OFF),
        "error" => Ok(LevelFilter::ERROR),
        "warn" | "warning" => Ok(LevelFilter::WARN),
        "info" => Ok(LevelFilter::INFO),
        "debug" => Ok(LevelFilter::DEBUG),
        "trace" => Ok(LevelFilter::TRACE),
        _ => Err(FilterError::Level(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::Level;

    #[test]
    fn a_filter_has_a_level_and_levels_of_areas_and_lets_nothing_foreign_through() {
        let lets = |filter: &str, target: &str, level: Level| {
            filter.parse::<LogFilter>().expect("a filter").targets().would_enable(target, &level)
        };
        assert!(lets("", "gristmill::execution", Level::INFO));
        assert!(!lets("", "gristmill::execution", Level::DEBUG));
        assert!(lets("warn, door=debug", "gristmill::door", Level::DEBUG));
        assert!(!lets("warn,door=debug", "gristmill::pool", Level::INFO));
        assert!(lets("trace", "gristmill_gateway::pool", Level::TRACE));
        assert!(!lets("off", "gristmill::pool", Level::ERROR));
        assert!(lets("warn", "gristmill::debug::execution", Level::DEBUG), "somebody looks into its session");
        assert!(!lets("off", "gristmill::debug::execution", Level::DEBUG));
        for library in ["rmcp::service", "hyper", "reqwest::connect"] {
            assert!(!lets("trace", library, Level::ERROR), "{library}");
        }
    }

    #[test]
    fn what_a_filter_cannot_mean_is_named() {
        let check = |text: &str, expected: &str| {
            assert_eq!(text.parse::<LogFilter>().expect_err("an error").to_string(), expected);
        };
        check("loud", "unknown log level `loud`; use off, error, warn, info, debug or trace");
        check(
            "rmcp=trace",
            "unknown log area `rmcp`; the areas are execution, door, servers, pool, http, mcp, otlp, alerts, cluster",
        );
    }
}
