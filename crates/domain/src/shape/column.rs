//! One column of a table: what its values are, over all rows that were looked at.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Map, Number, Value, json};

use super::found::{Found, Room};
use crate::quantity::grouped;
use crate::short_text::cut_bytes;

/// Different values of one column that are told apart and counted.
const DISTINCT_MAX: usize = 10_000;

/// What a value may take where it is named.
const NAMED_BYTES_MAX: usize = 40;

pub(super) struct Column {
    pub name: String,
    /// Rows that have it.
    rows: usize,
    kinds: Found,
    numbers: Vec<f64>,
    number_range: Option<(Number, Number)>,
    text_range: Option<(String, String)>,
    /// How often each value comes, by its hash; with the value, cut.
    distinct: HashMap<u64, (usize, Value)>,
    has_more_distinct: bool,
    /// Found by [`Column::finish`].
    median: Option<Value>,
    top: Vec<(usize, String)>,
}

/// The most values that are named as frequent ones.
const TOP_MAX: usize = 10;

/// How much is told of a column.
#[derive(Clone, Copy)]
pub(super) enum Detail {
    /// Types, nulls and how many distinct values.
    Kinds,
    /// Also the range of numbers.
    Numbers,
    /// Also that of texts.
    Ranges,
    /// Also so many of the most frequent values.
    Top(usize),
}

impl Detail {
    /// From little to all; each has what the one before has.
    pub const ALL: [Detail; 6] = [
        Detail::Kinds,
        Detail::Numbers,
        Detail::Ranges,
        Detail::Top(3),
        Detail::Top(5),
        Detail::Top(TOP_MAX),
    ];
}

impl Column {
    pub fn new(name: String) -> Self {
        Self {
            name,
            rows: 0,
            kinds: Found::default(),
            numbers: Vec::new(),
            number_range: None,
            text_range: None,
            distinct: HashMap::new(),
            has_more_distinct: false,
            median: None,
            top: Vec::new(),
        }
    }

    /// Takes the value of one more row.
    pub fn take(&mut self, value: &Value) {
        self.rows += 1;
        match value {
            Value::Null => {
                self.kinds.nulls += 1;
                return;
            }
            Value::Array(_) => self.kinds.arrays += 1,
            Value::Object(_) => self.kinds.objects += 1,
            Value::Number(number) => {
                self.kinds.take(value, &mut Room::default());
                self.take_number(number);
            }
            Value::String(text) => {
                self.kinds.texts += 1;
                self.take_text(text);
            }
            Value::Bool(_) => self.kinds.booleans += 1,
        }
        self.count_distinct(value);
    }

    fn take_number(&mut self, number: &Number) {
        let Some(float) = number.as_f64().filter(|float| float.is_finite()) else { return };
        self.numbers.push(float);
        let as_float = |number: &Number| number.as_f64().unwrap_or(0.0);
        match &mut self.number_range {
            None => self.number_range = Some((number.clone(), number.clone())),
            Some((least, _)) if float < as_float(least) => *least = number.clone(),
            Some((_, most)) if float > as_float(most) => *most = number.clone(),
            Some(_) => {}
        }
    }

    fn take_text(&mut self, text: &str) {
        match &mut self.text_range {
            None => self.text_range = Some((text.to_owned(), text.to_owned())),
            Some((least, _)) if text < least.as_str() => *least = text.to_owned(),
            Some((_, most)) if text > most.as_str() => *most = text.to_owned(),
            Some(_) => {}
        }
    }

    fn count_distinct(&mut self, value: &Value) {
        // Too many are not shown, so that any more need not be told apart.
        if self.has_more_distinct {
            return;
        }
        let mut hasher = DefaultHasher::new();
        let json = match value {
            Value::String(text) => {
                text.hash(&mut hasher);
                None
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                let json = value.to_string();
                (json.as_str(), 0u8).hash(&mut hasher);
                Some(json)
            }
        };
        let key = hasher.finish();
        if let Some((count, _)) = self.distinct.get_mut(&key) {
            *count += 1;
            return;
        }
        if self.distinct.len() >= DISTINCT_MAX {
            self.has_more_distinct = true;
            return;
        }
        let named = match (value, json) {
            (Value::String(text), _) => cut_bytes(text, NAMED_BYTES_MAX),
            (_, json) => cut_bytes(&json.unwrap_or_default(), NAMED_BYTES_MAX),
        };
        self.distinct.insert(key, (1, Value::String(named)));
    }

    /// After the last row: what takes all values together is found once.
    pub fn finish(&mut self) {
        self.median = median(std::mem::take(&mut self.numbers));
        if self.has_more_distinct || self.distinct.values().all(|(count, _)| *count < 2) {
            return;
        }
        let values = self.distinct.values();
        self.top =
            values.map(|(count, value)| (*count, value.as_str().unwrap_or_default().to_owned())).collect();
        self.top.sort_unstable_by(|(count, value), (other_count, other)| {
            other_count.cmp(count).then_with(|| value.cmp(other))
        });
        self.top.truncate(TOP_MAX);
    }

    /// As a value. `rows` is how many rows there are.
    pub fn value(&self, rows: usize, detail: Detail) -> Value {
        let mut made = Map::new();
        made.insert("type".to_owned(), Value::String(self.kinds_without_null()));
        let nulls = self.kinds.nulls + rows.saturating_sub(self.rows);
        if nulls > 0 {
            made.insert("nulls".to_owned(), json!(nulls));
        }
        made.insert(
            "distinct".to_owned(),
            match self.has_more_distinct {
                true => json!(format!("more than {}", grouped(DISTINCT_MAX as u64))),
                false => json!(self.distinct.len()),
            },
        );
        let (has_numbers, has_texts, top_max) = match detail {
            Detail::Kinds => (false, false, 0),
            Detail::Numbers => (true, false, 0),
            Detail::Ranges => (true, true, 0),
            Detail::Top(most) => (true, true, most),
        };
        self.put_range(&mut made, has_numbers, has_texts);
        let top = self.top(top_max);
        if !top.is_empty() {
            made.insert("top".to_owned(), Value::Object(top));
        }
        Value::Object(made)
    }

    fn kinds_without_null(&self) -> String {
        let kinds = self.kinds.kinds();
        let names: Vec<&str> = kinds.iter().map(|(name, _)| *name).filter(|name| *name != "null").collect();
        if names.is_empty() { "null".to_owned() } else { names.join(" or ") }
    }

    fn put_range(&self, made: &mut Map<String, Value>, has_numbers: bool, has_texts: bool) {
        if let Some((least, most)) = &self.number_range {
            if !has_numbers {
                return;
            }
            made.insert("min".to_owned(), shown_number(least));
            if let Some(median) = &self.median {
                made.insert("median".to_owned(), median.clone());
            }
            made.insert("max".to_owned(), shown_number(most));
        } else if let Some((least, most)) = self.text_range.as_ref().filter(|_| has_texts) {
            made.insert("min".to_owned(), json!(cut_bytes(least, NAMED_BYTES_MAX)));
            made.insert("max".to_owned(), json!(cut_bytes(most, NAMED_BYTES_MAX)));
        }
    }

    /// The values that come most often, if any comes twice and all were counted.
    fn top(&self, top_max: usize) -> Map<String, Value> {
        let mut made = Map::new();
        for (count, value) in self.top.iter().take(top_max) {
            let mut name = value.clone();
            // Different values may be the same where they are cut.
            while made.contains_key(&name) {
                name.push('…');
            }
            made.insert(name, json!(count));
        }
        made
    }
}

/// A number, or the beginning of one that is very long.
fn shown_number(number: &Number) -> Value {
    let digits = number.to_string();
    match digits.len() <= NAMED_BYTES_MAX {
        true => Value::Number(number.clone()),
        false => Value::String(cut_bytes(&digits, NAMED_BYTES_MAX)),
    }
}

/// The value in the middle, or the mean of the two there.
fn median(mut sorted: Vec<f64>) -> Option<Value> {
    let middle = sorted.len() / 2;
    let compare = |one: &f64, other: &f64| one.partial_cmp(other).unwrap_or(Ordering::Equal);
    if sorted.is_empty() {
        return None;
    }
    let is_odd = sorted.len() % 2 == 1;
    let (below, upper, _) = sorted.select_nth_unstable_by(middle, compare);
    let upper = *upper;
    let lower = if is_odd { upper } else { below.iter().copied().fold(f64::MIN, f64::max) };
    let median = lower / 2.0 + upper / 2.0;
    // Beyond 2^53 a float does not hold every integer.
    let is_whole = median.fract() == 0.0 && median.abs() < 9e15;
    Some(if is_whole { json!(median as i64) } else { json!(median) })
}
