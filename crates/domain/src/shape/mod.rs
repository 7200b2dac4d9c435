//! Makes any value small enough to be read: within a budget of tokens, true, and with words about
//! what is missing.
//!
//! Pure and deterministic. The text may be anything, of any size: what is not JSON is text,
//! nothing recurses further than a bound, and time grows with the length of the text alone. Large
//! JSON is never parsed as a whole; its members are found by their brackets (`json_text::Blocks`, `parts`,
//! `document`), and only what is shown or measured is parsed. Who counts tokens is a port.

mod column;
mod document;
mod fields;
mod fit;
mod found;
mod log_level;
mod measured;
mod parse;
mod parts;
mod rows;
mod sample;
mod schema;
mod shaper;
mod strategy;
mod summary;
mod table;
mod text_facts;
mod text_shape;
mod words;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde_json::Value;

use crate::quantity::counted_grouped;
use document::{Document, Kind, note_lost};
use fit::Budget;
use found::Found;
use measured::Measured;
use parts::{NotJson, Span};
use shaper::{Place, Shaper};
pub use strategy::{Strategy, UnknownStrategy};
use text_facts::TextFacts;
use words::{Notes, Path};

/// Counts the tokens of a text, as some model does.
pub trait CountTokens {
    /// How many tokens `text` takes. More text may never take fewer tokens than none.
    fn count(&self, text: &str) -> usize;
}

impl<F: Fn(&str) -> usize> CountTokens for F {
    fn count(&self, text: &str) -> usize {
        self(text)
    }
}

/// A value that fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Shaped {
    /// For structured content; a string if it is text.
    pub value: Value,
    /// For text content: a string as it is, anything else as compact JSON. Empty, with a value of
    /// null, if not even a mark fits.
    pub text: String,
    /// The larger count of `text` and of the value as compact JSON (of `text` alone if it is empty):
    /// never more than was asked for.
    pub tokens: usize,
    /// Nothing was left out.
    pub is_whole: bool,
    /// What was, part by part: `rows: 9,994 of 10,000 items not shown`. Bounded in number; neither
    /// in the value nor in the text, where marks stand in the places themselves.
    pub left_out: Vec<String>,
}

/// Shapes one JSON text, or lines of JSON as the array of them. What is neither is shaped as text.
pub fn shape_json(json: &str, strategy: Strategy, tokens_max: usize, counter: &dyn CountTokens) -> Shaped {
    let budget = Budget { tokens_max, counter };
    match shaped_json(json, strategy, &budget) {
        Ok(shaped) => shaped,
        Err(NotJson) => whole_text(json, &budget)
            .or_else(|| shaped_lines(json, strategy, &budget))
            .unwrap_or_else(|| part_of_text(json, strategy, &budget)),
    }
}

/// Shapes a value, as [`shape_json`] shapes its text. For values that are in memory anyway.
pub fn shape_value(
    value: &Value,
    strategy: Strategy,
    tokens_max: usize,
    counter: &dyn CountTokens,
) -> Shaped {
    shape_json(&value.to_string(), strategy, tokens_max, counter)
}

/// Shapes a text, whatever it says.
pub fn shape_text(text: &str, strategy: Strategy, tokens_max: usize, counter: &dyn CountTokens) -> Shaped {
    shaped_text(text, strategy, &Budget { tokens_max, counter })
}

fn shaped_json(json: &str, strategy: Strategy, budget: &Budget) -> Result<Shaped, NotJson> {
    if let Some(whole) = whole_json(json, budget)? {
        return Ok(whole);
    }
    let document = Document::new(json, budget.tokens_max);
    let root = document.root()?;
    let mark = document.what(root)?;
    let shaper = Shaper { document: &document, strategy, measured: Measured::default() };
    let place = Place { path: &Path::Root, depth: 0 };
    match strategy {
        Strategy::Auto | Strategy::Sample | Strategy::HeadTail | Strategy::Table => {
            budget.best(&mark, &mut |room, notes| shaper.value(root, room, place, notes))
        }
        Strategy::Summarize => {
            budget.best(&mark, &mut |room, notes| summary::value(&shaper, root, room, notes))
        }
        Strategy::Schema => {
            let found = Found::of_part(&document, root)?;
            budget.best(&mark, &mut |room, notes| {
                notes.add(&Path::Root, "the schema is shown instead of the value");
                Ok(schema::value(&found, room))
            })
        }
        Strategy::Text | Strategy::Truncate => as_text(&document, root, strategy, budget),
    }
}

/// The whole, if there is a chance and it fits.
fn whole_json(json: &str, budget: &Budget) -> Result<Option<Shaped>, NotJson> {
    if !budget.may_fit(json.len()) {
        return Ok(None);
    }
    let parsed = parse::parse(json)?;
    let mut notes = Notes::default();
    note_lost(&parsed, &Path::Root, &mut notes);
    Ok(budget.fitting(parsed.value, notes))
}

/// A string by what it says, anything else by its JSON text.
fn as_text(document: &Document, root: Span, strategy: Strategy, budget: &Budget) -> Result<Shaped, NotJson> {
    let facts = match document.kind(root)? {
        Kind::Text => document.text_facts(root)?,
        Kind::Object | Kind::Array | Kind::Number | Kind::Word => {
            return Ok(shaped_text(root.of(document.text)?, strategy, budget));
        }
    };
    Ok(best_text(&facts, strategy, budget))
}

/// Lines of JSON as an array, and CSV where columns are asked for; none if it is something else, or
/// wanted as text.
fn shaped_lines(text: &str, strategy: Strategy, budget: &Budget) -> Option<Shaped> {
    let (may_be_json, may_be_csv) = match strategy {
        Strategy::Text | Strategy::Truncate => (false, false),
        Strategy::Auto | Strategy::Summarize | Strategy::Sample | Strategy::HeadTail => (true, false),
        Strategy::Schema | Strategy::Table => (true, true),
    };
    let (array, words) = if may_be_json && rows::are_json(text) {
        (rows::as_array(text), "JSON Lines are shown as an array")
    } else if may_be_csv {
        (rows::records_as_array(text)?, "CSV rows are read as records, empty cells as null")
    } else {
        return None;
    };
    let mut shaped = shaped_json(&array, strategy, budget).ok()?;
    shaped.left_out.push(words.to_owned());
    shaped.is_whole = false;
    Some(shaped)
}

fn shaped_text(text: &str, strategy: Strategy, budget: &Budget) -> Shaped {
    whole_text(text, budget).unwrap_or_else(|| part_of_text(text, strategy, budget))
}

/// The whole, if there is a chance and it fits.
fn whole_text(text: &str, budget: &Budget) -> Option<Shaped> {
    let may_fit = budget.may_fit(text.len());
    may_fit.then(|| budget.fitting(Value::String(text.to_owned()), Notes::default())).flatten()
}

fn part_of_text(text: &str, strategy: Strategy, budget: &Budget) -> Shaped {
    let mut shaped = best_text(&TextFacts::of(Cow::Borrowed(text)), strategy, budget);
    match strategy {
        Strategy::Schema | Strategy::Table if !shaped.is_whole => {
            let words = format!("`{strategy}` needs JSON; this is text, so lines are shown");
            shaped.left_out.push(words);
        }
        Strategy::Schema | Strategy::Table => {}
        Strategy::Auto | Strategy::Summarize | Strategy::Sample => {}
        Strategy::HeadTail | Strategy::Text | Strategy::Truncate => {}
    }
    shaped
}

fn best_text(facts: &TextFacts, strategy: Strategy, budget: &Budget) -> Shaped {
    let mark = format!("text of {}", counted_grouped(facts.characters, "character"));
    let made = budget.best(&mark, &mut |room, notes| {
        Ok(Value::String(text_shape::shaped(facts, strategy, room, &Path::Root, notes)))
    });
    match made {
        Ok(shaped) => shaped,
        // Text is never refused; what could be is JSON.
        Err(NotJson) => Shaped {
            value: Value::Null,
            text: String::new(),
            tokens: 0,
            is_whole: false,
            left_out: vec![format!("{mark} not shown")],
        },
    }
}
