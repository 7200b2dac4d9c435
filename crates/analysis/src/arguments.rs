//! A step's arguments: known names only, and values of the kind that is needed.
//!
//! Names have one documented spelling; others that people write are understood where only one thing can be
//! meant (`spellings`). Numbers and flags may come as text.

use serde_json::{Map, Value};

use crate::outcome::Problem;
use crate::spellings::setting;
use crate::values::short;

/// The arguments of one step, checked for names that nobody knows.
pub(crate) struct Arguments<'a> {
    step: &'a str,
    entries: Vec<Entry<'a>>,
}

struct Entry<'a> {
    /// The name that the step knows.
    name: String,
    /// The name as it was written.
    written: &'a str,
    value: &'a Value,
}

impl<'a> Arguments<'a> {
    /// Refuses what is no object, and unknown names. `shown` are the names that an error lists; `accepted`
    /// ones work as well.
    pub(crate) fn new(
        step: &'a str,
        body: &'a Value,
        shown: &[&str],
        accepted: &[&str],
    ) -> Result<Self, Problem> {
        let Value::Object(object) = body else {
            let message = format!("{step} takes an object, not {}", json_kind(body));
            return Err(Problem::new(message).hint(format!("settings: {}", shown.join(", "))));
        };
        let is_known = |name: &str| shown.contains(&name) || accepted.contains(&name);
        let mut entries: Vec<Entry<'a>> = Vec::new();
        for (written, value) in object {
            let Some(name) = setting(written, &is_known) else {
                return Err(Problem::unknown(&format!("setting of {step}"), written, shown.iter().copied()));
            };
            let entry = Entry { name, written, value };
            // What is written as the step knows it comes before another spelling of it.
            if entry.name == entry.written { entries.insert(0, entry) } else { entries.push(entry) }
        }
        Ok(Self { step, entries })
    }

    /// The first of these that is given; null is the same as nothing.
    pub(crate) fn first_of(&self, names: &[&str]) -> Option<&'a Value> {
        self.entry(names).map(|entry| entry.value).filter(|value| !value.is_null())
    }

    fn entry(&self, names: &[&str]) -> Option<&Entry<'a>> {
        names.iter().find_map(|name| self.entries.iter().find(|entry| entry.name == *name))
    }

    /// Those of the settings that have one of these names, each under the name that the step knows.
    pub(crate) fn only(&self, names: &[&str]) -> Map<String, Value> {
        let own = self.entries.iter().filter(|entry| names.contains(&entry.name.as_str()));
        own.map(|entry| (entry.name.clone(), entry.value.clone())).collect()
    }

    pub(crate) fn text(&self, names: &[&str]) -> Result<Option<&'a str>, Problem> {
        match self.first_of(names) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            // A list of one is that one.
            Some(Value::Array(items)) if items.len() == 1 && items.iter().all(Value::is_string) => {
                Ok(items.first().and_then(Value::as_str))
            }
            Some(other) => Err(self.wrong(names, "text", other)),
        }
    }

    pub(crate) fn required_text(&self, names: &[&str]) -> Result<&'a str, Problem> {
        self.text(names)?.ok_or_else(|| self.missing(names))
    }

    pub(crate) fn flag(&self, names: &[&str]) -> Result<bool, Problem> {
        match self.first_of(names) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(other) => Err(self.wrong(names, "true or false", other)),
        }
    }

    pub(crate) fn number(&self, names: &[&str]) -> Result<Option<f64>, Problem> {
        match self.first_of(names) {
            None => Ok(None),
            Some(value) => {
                number_or_text(value).map(Some).ok_or_else(|| self.wrong(names, "a number", value))
            }
        }
    }

    /// A whole number that is not negative.
    pub(crate) fn count(&self, names: &[&str]) -> Result<Option<usize>, Problem> {
        match self.first_of(names) {
            None => Ok(None),
            Some(value) => {
                count_of(value).map(Some).ok_or_else(|| self.wrong(names, "a whole number, 0 or more", value))
            }
        }
    }

    /// One name or a list of names.
    pub(crate) fn texts(&self, names: &[&str]) -> Result<Vec<String>, Problem> {
        match self.first_of(names) {
            None => Ok(Vec::new()),
            Some(value) => {
                texts_of(value).ok_or_else(|| self.wrong(names, "a name or a list of names", value))
            }
        }
    }

    pub(crate) fn required_texts(&self, names: &[&str]) -> Result<Vec<String>, Problem> {
        let list = self.texts(names)?;
        if list.is_empty() { Err(self.missing(names)) } else { Ok(list) }
    }

    pub(crate) fn missing(&self, names: &[&str]) -> Problem {
        Problem::new(format!("{} needs {:?}", self.step, names.first().copied().unwrap_or_default()))
    }

    pub(crate) fn wrong(&self, names: &[&str], wanted: &str, found: &Value) -> Problem {
        let name = self.entry(names).map_or("", |entry| entry.written);
        Problem::new(format!("{name:?} of {} must be {wanted}, not {}", self.step, json_kind(found)))
    }
}

/// One text or a list of texts.
pub(crate) fn texts_of(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Array(items) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// A number of the request. Numbers keep their text here, so that this reads them.
pub(crate) fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.to_string().parse().ok().filter(|number: &f64| number.is_finite()),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The same, where a text that is a number can only mean that number.
pub(crate) fn number_or_text(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            number_of(value)
        }
    }
}

/// A whole number that is not negative, as a number or as text.
pub(crate) fn count_of(value: &Value) -> Option<usize> {
    match value {
        Value::Number(number) => number.as_u64().and_then(|count| usize::try_from(count).ok()),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// What a JSON value is, with the value itself where it is short.
pub(crate) fn json_kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => format!("the number {}", short(&number.to_string())),
        Value::String(text) => format!("the text {:?}", short(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
