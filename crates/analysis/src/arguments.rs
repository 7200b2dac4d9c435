//! A step's arguments: known names only, and values of the kind that is needed.

use serde_json::{Map, Value};

use crate::outcome::Problem;
use crate::values::short;

/// The arguments of one step, checked for names that nobody knows.
pub(crate) struct Arguments<'a> {
    step: &'a str,
    object: &'a Map<String, Value>,
}

impl<'a> Arguments<'a> {
    /// Refuses what is no object, and names that are not among the known.
    pub(crate) fn new(step: &'a str, body: &'a Value, known: &[&str]) -> Result<Self, Problem> {
        let Value::Object(object) = body else {
            let message = format!("{step} takes an object, not {}", json_kind(body));
            return Err(Problem::new(message).hint(format!("its settings: {}", known.join(", "))));
        };
        for key in object.keys() {
            if !known.contains(&key.as_str()) {
                return Err(Problem::unknown(&format!("setting of {step}"), key, known.iter().copied()));
            }
        }
        Ok(Self { step, object })
    }

    /// The first of these that is given; null is the same as nothing.
    pub(crate) fn first_of(&self, names: &[&str]) -> Option<&'a Value> {
        names.iter().find_map(|name| self.object.get(*name)).filter(|value| !value.is_null())
    }

    pub(crate) fn text(&self, names: &[&str]) -> Result<Option<&'a str>, Problem> {
        match self.first_of(names) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(names, "a text", other)),
        }
    }

    pub(crate) fn required_text(&self, names: &[&str]) -> Result<&'a str, Problem> {
        self.text(names)?.ok_or_else(|| self.missing(names))
    }

    pub(crate) fn flag(&self, names: &[&str]) -> Result<bool, Problem> {
        match self.first_of(names) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(self.wrong(names, "true or false", other)),
        }
    }

    pub(crate) fn number(&self, names: &[&str]) -> Result<Option<f64>, Problem> {
        match self.first_of(names) {
            None => Ok(None),
            Some(value) => number_of(value).map(Some).ok_or_else(|| self.wrong(names, "a number", value)),
        }
    }

    /// A whole number that is not negative.
    pub(crate) fn count(&self, names: &[&str]) -> Result<Option<usize>, Problem> {
        match self.first_of(names) {
            None => Ok(None),
            Some(value) => {
                let count = value.as_u64().and_then(|count| usize::try_from(count).ok());
                count.map(Some).ok_or_else(|| self.wrong(names, "a whole number that is not negative", value))
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
        let name = names.iter().find(|name| self.object.contains_key(**name)).copied().unwrap_or_default();
        Problem::new(format!("{:?} of {} has to be {wanted}, not {}", name, self.step, json_kind(found)))
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

/// What a JSON value is, with the value itself where it is short.
pub(crate) fn json_kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => format!("the truth value {flag}"),
        Value::Number(number) => format!("the number {}", short(&number.to_string())),
        Value::String(text) => format!("the text {:?}", short(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
