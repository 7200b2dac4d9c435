//! A tool whose answers are larger, smaller or of another shape than they used to be.

use serde::{Deserialize, Serialize};

use super::{Look, bytes, count, number, percent};
use crate::anomaly::{Anomaly, Kind, Severity, Subject, argument};
use crate::event::{CallOutcome, Called};
use crate::history::{DAY_MS, Sample, Sizes, Streak, Trail, TrailRule, hash};
use crate::limits::SHAPES_MAX;

/// How many times larger or smaller than the median.
const FACTOR: u64 = 4;
/// Differences below it are no news.
const DIFFERENCE_MIN: u64 = 200;
/// The share of new shapes that makes a tool without a shape of its own.
const VARIES: f64 = 0.2;
/// How long a shape is new.
const NEW_MS: u64 = DAY_MS;
/// How old a tool has to be before its shapes are known.
const KNOWN_MS: u64 = 3 * DAY_MS;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Answers {
    first_ms: u64,
    sizes: Sizes,
    larger: Trail,
    smaller: Trail,
    shapes: Vec<Shape>,
    other_shape: Trail,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Shape {
    hash: u64,
    first_ms: u64,
    last_ms: u64,
}

impl Answers {
    pub fn see(&mut self, look: Look<'_>, event: &Called) -> Vec<Anomaly> {
        if event.outcome != CallOutcome::Answered {
            return Vec::new();
        }
        if self.first_ms == 0 {
            self.first_ms = look.now.ms;
        }
        let size = self.see_size(look, event);
        let shape = if event.shape == 0 { None } else { self.see_shape(look, event) };
        [size, shape].into_iter().flatten().collect()
    }

    fn see_size(&mut self, look: Look<'_>, event: &Called) -> Option<Anomaly> {
        let median = self.sizes.median();
        self.sizes.learn(look.now.day, event.answer_bytes);
        let median = median?;
        let differs = event.answer_bytes.abs_diff(median) >= DIFFERENCE_MIN;
        let is_larger = differs && event.answer_bytes / FACTOR > median;
        let is_smaller = differs && event.answer_bytes < median / FACTOR;
        let larger = self.larger.add(look.now, sample(event, is_larger), &rule(look), None);
        let smaller = self.smaller.add(look.now, sample(event, is_smaller), &rule(look), None);
        let found = larger.map(|streak| ("larger", streak, &self.larger));
        let (how, streak, trail) = found.or(smaller.map(|streak| ("smaller", streak, &self.smaller)))?;
        let words = format!(
            "{} of the last {} answers of {} were more than {FACTOR} times {how} than its median of {}, the latest \
             with {}; usually {} are.",
            streak.bad,
            streak.all,
            subject(event),
            bytes(median),
            bytes(event.answer_bytes),
            percent(streak.usual),
        );
        let found = finding(Kind::AnswerSize, words, event, streak, trail);
        Some(found.fact("median_bytes", number(median)).fact("latest_bytes", number(event.answer_bytes)))
    }

    fn see_shape(&mut self, look: Look<'_>, event: &Called) -> Option<Anomaly> {
        let is_new = self.is_new_shape(event.shape, look.now.ms);
        if look.now.ms.saturating_sub(self.first_ms) < KNOWN_MS {
            return None;
        }
        let streak = self.other_shape.add(look.now, sample(event, is_new), &rule(look), None)?;
        if streak.usual > VARIES {
            return None;
        }
        let words = format!(
            "{} of the last {} answers of {} have fields that it never had before today; usually {} do.",
            streak.bad,
            streak.all,
            subject(event),
            percent(streak.usual),
        );
        Some(finding(Kind::AnswerShape, words, event, streak, &self.other_shape))
    }

    fn is_new_shape(&mut self, hash: u64, now_ms: u64) -> bool {
        if let Some(known) = self.shapes.iter_mut().find(|shape| shape.hash == hash) {
            known.last_ms = now_ms;
            return now_ms.saturating_sub(known.first_ms) < NEW_MS;
        }
        if self.shapes.len() >= SHAPES_MAX
            && let Some((oldest, _)) = self.shapes.iter().enumerate().min_by_key(|(_, shape)| shape.last_ms)
        {
            self.shapes.swap_remove(oldest);
        }
        self.shapes.push(Shape { hash, first_ms: now_ms, last_ms: now_ms });
        true
    }

    pub fn trim(&mut self) {
        self.shapes.truncate(SHAPES_MAX);
        self.sizes.trim();
    }
}

fn sample(event: &Called, is_bad: bool) -> Sample<'_> {
    Sample { who: hash(&event.execution), id: &event.execution, is_bad }
}

fn rule(look: Look<'_>) -> TrailRule {
    TrailRule {
        within_ms: DAY_MS,
        share_min: 0.08,
        share_cold: 0.15,
        chance: look.settings.chance,
        bad_min: 6,
        who_min: 3,
        of_one_max: 3,
    }
}

fn subject(event: &Called) -> Subject {
    Subject::Tool { server: event.server.clone(), tool: event.tool.clone() }
}

fn finding(kind: Kind, words: String, event: &Called, streak: Streak, trail: &Trail) -> Anomaly {
    Anomaly::new(kind, Severity::Warning, subject(event), words)
        .fact("unusual", count(streak.bad))
        .fact("answers", count(streak.all))
        .fact("usual_share", streak.usual)
        .executions(trail.bad_ids().iter())
        .action(format!("gristmill tools review{}", argument(&event.server)))
}
