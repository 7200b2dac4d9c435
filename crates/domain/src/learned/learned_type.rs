//! What the answers of one tool were like, over time.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::shape::{Shape, Together};

/// As it is written down. Another format is as good as nothing learned.
const FORMAT: u32 = 1;

/// After so many answers what was learned before the last such number is forgotten: a field that no answer has
/// had since isn't shown any more.
const WINDOW: u32 = 200;

/// Where the number of calls that is shown changes.
const STEPS: [u64; 9] = [1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000];

/// The type of a tool's result, learned from its answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearnedType {
    /// Of the last full window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    previous: Option<Shape>,
    #[serde(default)]
    current: Shape,
    /// Answers in the current window.
    #[serde(default)]
    answers: u32,
}

/// What an answer changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It was like those before.
    None,
    /// It was unlike those before.
    Widened,
    /// What no answer has had for long was forgotten.
    Narrowed,
}

/// What is learned of a tool, as stubs and searches show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// Of its result: a hint, not a contract.
    pub schema: Value,
    /// How many calls it was learned from: see [`shown_calls`].
    pub calls: u64,
}

/// A text that no learned type can be read from. Learning begins anew.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a learned type of format {FORMAT}")]
pub struct TypeTextError;

#[derive(Serialize, Deserialize)]
struct Written {
    format: u32,
    #[serde(rename = "type")]
    learned: LearnedType,
}

impl LearnedType {
    /// Takes one more answer into account.
    pub fn learn(&mut self, answer: Shape) -> Change {
        let before = self.schema();
        let current = std::mem::take(&mut self.current);
        self.current = current.merge_as(answer, Together::OverAnswers);
        self.current.settle();
        self.current.prune();
        self.answers = self.answers.saturating_add(1);
        let merged = self.schema();
        if self.answers >= WINDOW {
            self.previous = Some(std::mem::take(&mut self.current));
            self.answers = 0;
        }
        match (merged != before, self.schema() != before) {
            (true, _) => Change::Widened,
            (false, true) => Change::Narrowed,
            (false, false) => Change::None,
        }
    }

    /// What its answers have in common.
    pub fn shape(&self) -> Shape {
        match &self.previous {
            Some(previous) => previous.clone().merge(self.current.clone()),
            None => self.current.clone(),
        }
    }

    /// The same as JSON Schema.
    pub fn schema(&self) -> Value {
        self.shape().to_schema()
    }

    pub fn to_json(&self) -> String {
        let written = Written { format: FORMAT, learned: self.clone() };
        serde_json::to_string(&written).unwrap_or_default()
    }

    pub fn from_json(text: &str) -> Result<Self, TypeTextError> {
        let written: Written = serde_json::from_str(text).map_err(|_| TypeTextError)?;
        if written.format == FORMAT { Ok(written.learned) } else { Err(TypeTextError) }
    }
}

impl Learned {
    /// Such as `seen in 10+ calls`.
    pub fn seen(&self) -> String {
        match self.calls {
            0 | 1 => "seen in 1 call".to_owned(),
            calls => format!("seen in {calls}+ calls"),
        }
    }

    /// Whether it says anything.
    pub fn says_something(&self) -> bool {
        self.schema.as_object().is_some_and(|schema| !schema.is_empty())
    }
}

/// The number of calls as it is shown: rounded down, so that stubs change seldom.
pub fn shown_calls(calls: u64) -> u64 {
    STEPS.into_iter().rev().find(|step| *step <= calls).unwrap_or(0)
}
