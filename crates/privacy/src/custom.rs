//! Patterns of the configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use regex::{Regex, RegexBuilder};

use crate::bytes::{boundary_after, boundary_before};
use crate::finding::Finding;
use crate::kind::Kind;
use crate::settings::SettingsError;
use crate::sink::Sink;

/// What one pattern may compile to, in bytes.
const PATTERN_SIZE_MAX: usize = 1 << 20;
const PATTERNS_MAX: usize = 64;

/// A text is searched in windows: finding every match in one piece can take time in the square of its length.
const WINDOW_BYTES: usize = 4 * 1024;

/// The longest match that is found for certain wherever it stands.
const OVERLAP_BYTES: usize = 512;

#[derive(Debug, Default)]
pub struct Custom {
    patterns: Vec<(Kind, Regex)>,
}

impl Custom {
    pub fn of(patterns: &BTreeMap<String, String>) -> Result<Self, SettingsError> {
        if patterns.len() > PATTERNS_MAX {
            return Err(SettingsError::TooManyPatterns { count: patterns.len(), max: PATTERNS_MAX });
        }
        let compiled = patterns.iter().map(|(name, pattern)| {
            if Kind::ALL.iter().any(|kind| kind.name() == name) {
                return Err(SettingsError::PatternName { name: name.clone() });
            }
            let built = RegexBuilder::new(pattern)
                .size_limit(PATTERN_SIZE_MAX)
                .dfa_size_limit(PATTERN_SIZE_MAX)
                .build();
            let regex = built
                .map_err(|error| SettingsError::Pattern { name: name.clone(), reason: error.to_string() })?;
            Ok((Kind::Custom(Arc::from(name.as_str())), regex))
        });
        Ok(Self { patterns: compiled.collect::<Result<_, _>>()? })
    }

    /// These patterns but for some, and those.
    pub fn without(self, names: &BTreeSet<String>) -> (Self, Self) {
        let (others, these) = self.patterns.into_iter().partition(|(kind, _)| !names.contains(kind.name()));
        (Self { patterns: others }, Self { patterns: these })
    }

    /// Puts every match that isn't empty into a sink, until that is full.
    pub fn find(&self, text: &str, sink: &mut Sink<'_>) {
        for (kind, pattern) in &self.patterns {
            let mut from = 0;
            while from < text.len() {
                let end = boundary_after(text, from.saturating_add(WINDOW_BYTES));
                let is_last = end == text.len();
                // What touches the window's end may go on behind it: the next window decides.
                let sure = if is_last { end } else { boundary_before(text, end - OVERLAP_BYTES) };
                let window = &text[..end];
                let mut at = from;
                while let Some(one) = pattern.find_at(window, at) {
                    if one.start() >= sure && !is_last {
                        break;
                    }
                    if !one.is_empty() {
                        sink.take(Finding::new(kind.clone(), one.range(), 90, "pattern"));
                    }
                    if sink.is_full() {
                        return;
                    }
                    at = boundary_after(text, one.end().max(one.start() + 1));
                    if at >= end {
                        break;
                    }
                }
                from = if is_last { text.len() } else { at.max(sure) };
            }
        }
    }
}
