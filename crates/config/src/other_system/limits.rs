//! Limits of another system, in our units and within the ranges of a level.

use gristmill_gateway::domain::{Level, LimitError, LimitName, Limits};

use super::{Translating, setting};
use crate::tree::{Entry, Node, Value};

impl Translating {
    pub(super) fn limit(&mut self, entry: &Entry, path: &str, names: &[LimitName], unit: &str) {
        let number = match &entry.node.value {
            Value::Number(text) | Value::Text(text) => text.trim().parse::<f64>().ok(),
            Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => None,
        };
        let Some(number) = number.filter(|number| number.is_finite() && *number > 0.0) else {
            return self.not_taken(entry, path, "it isn't a number above 0");
        };
        // Parts of a unit are written in the next smaller one; parts of a percent are left off.
        let text = match (number.fract() == 0.0, unit) {
            (true, _) => format!("{number}{unit}"),
            (false, "s") => format!("{}ms", (number * 1_000.0).round()),
            (false, "%") => format!("{}%", number.floor().max(1.0)),
            (false, _) => format!("{}K", (number * 1_024.0).round()),
        };
        let mut limits = Limits::of(self.level);
        if let Err(error) = set_all(&mut limits, names, &text) {
            let why = self.limit_refusal(error, names, &text);
            return self.not_taken(entry, path, &why);
        }
        let set = names.iter().map(|name| setting("limits", name.as_str(), Node::text(text.as_str())));
        let amount = names.first().map(|name| limits.get(*name));
        self.claim(entry, path, set.collect(), amount, "");
    }

    fn limit_refusal(&self, error: LimitError, names: &[LimitName], text: &str) -> String {
        let LimitError::OutOfRange { name, value, level, min, max } = error else { return error.to_string() };
        let allows = |level: &Level| set_all(&mut Limits::of(*level), names, text).is_ok();
        let other = match Level::ALL.into_iter().filter(|other| *other != self.level).find(allows) {
            Some(level) => {
                format!("; to allow it, set `level = \"{level}\"` in your configuration and import again")
            }
            None => String::new(),
        };
        format!("{name} = {value} is out of range for level {level} ({min} to {max}){other}")
    }
}

fn set_all(limits: &mut Limits, names: &[LimitName], text: &str) -> Result<(), LimitError> {
    names.iter().try_for_each(|name| limits.set_text(name.as_str(), text))
}
