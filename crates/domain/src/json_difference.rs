//! Where two JSON values differ, in words for a person or a model.

use serde_json::Value;

use crate::one_line;

/// Places that are named.
const NAMED_MAX: usize = 3;

/// What is shown of a value, and of a path.
const VALUE_CHARS_MAX: usize = 80;
const PATH_CHARS_MAX: usize = 120;

/// Deeper than this, the whole value is what differs.
const DEPTH_MAX: usize = 32;

/// Where `now` differs from `before`, such as "`fields.status` is \"held\" instead of \"open\"". Empty if
/// it does not.
pub fn json_difference(before: &Value, now: &Value) -> String {
    let mut places = Places::default();
    places.compare(&mut Vec::new(), Some(before), Some(now));
    let Places { mut named, all } = places;
    if all > named.len() {
        named.push(format!("{} more places differ", all - named.len()));
    }
    named.join("; ")
}

/// How many leaves of two values are the same: the more, the closer they are.
pub fn json_closeness(one: &Value, other: &Value) -> usize {
    closeness(one, other, 0)
}

fn closeness(one: &Value, other: &Value, depth: usize) -> usize {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) if depth < DEPTH_MAX => one
            .iter()
            .filter_map(|(name, value)| Some(closeness(value, other.get(name)?, depth + 1)))
            .sum::<usize>(),
        (Value::Array(one), Value::Array(other)) if depth < DEPTH_MAX => {
            one.iter().zip(other).map(|(one, other)| closeness(one, other, depth + 1)).sum::<usize>()
        }
        (one, other) => usize::from(one == other),
    }
}

#[derive(Default)]
struct Places {
    named: Vec<String>,
    all: usize,
}

impl Places {
    fn compare(&mut self, path: &mut Vec<String>, before: Option<&Value>, now: Option<&Value>) {
        match (before, now) {
            (Some(before), Some(now)) if before == now => {}
            (Some(Value::Object(before)), Some(Value::Object(now))) if path.len() < DEPTH_MAX => {
                let added = now.keys().filter(|name| !before.contains_key(*name));
                for name in before.keys().chain(added) {
                    let dot = if path.is_empty() { "" } else { "." };
                    path.push(format!("{dot}{name}"));
                    self.compare(path, before.get(name), now.get(name));
                    path.pop();
                }
            }
            (Some(Value::Array(before)), Some(Value::Array(now))) if path.len() < DEPTH_MAX => {
                for index in 0..before.len().max(now.len()) {
                    path.push(format!("[{index}]"));
                    self.compare(path, before.get(index), now.get(index));
                    path.pop();
                }
            }
            (before, now) => self.name(&path.concat(), before, now),
        }
    }

    fn name(&mut self, path: &str, before: Option<&Value>, now: Option<&Value>) {
        self.all += 1;
        if self.named.len() >= NAMED_MAX {
            return;
        }
        let path = one_line(path, PATH_CHARS_MAX);
        let shown = |value: &Value| one_line(&value.to_string(), VALUE_CHARS_MAX);
        self.named.push(match (before, now) {
            (Some(before), Some(now)) => format!("`{path}` is {} instead of {}", shown(now), shown(before)),
            (None, Some(now)) => format!("`{path}` is {} and wasn't there", shown(now)),
            (Some(before), None) => format!("`{path}` is missing; it was {}", shown(before)),
            (None, None) => format!("`{path}`"),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(before: Value, now: Value, expected: &str) {
        assert_eq!(json_difference(&before, &now), expected);
    }

    #[test]
    fn each_place_is_named_with_both_values() {
        check(json!({"a": 1}), json!({"a": 1}), "");
        check(
            json!({"id": 1, "fields": {"status": "open", "tags": ["a", "b"]}}),
            json!({"id": 1, "fields": {"status": "held", "tags": ["a", "c"]}}),
            r#"`fields.status` is "held" instead of "open"; `fields.tags[1]` is "c" instead of "b""#,
        );
        check(json!({"a": 1}), json!({"b": [1]}), "`a` is missing; it was 1; `b` is [1] and wasn't there");
        check(
            json!([1, 2, 3, 4, 5]),
            json!([0, 0, 0, 0, 0]),
            "`[0]` is 0 instead of 1; `[1]` is 0 instead of 2; `[2]` is 0 instead of 3; 2 more places differ",
        );
    }

    #[test]
    fn values_are_cut_and_hide_nothing() {
        let long = "x".repeat(500);
        let said = json_difference(&json!({"a\n": long}), &json!({"a\n": "\u{202e}"}));
        assert!(said.len() < 250 && !said.contains('\u{202e}') && !said.contains('\n'), "{said}");
    }

    #[test]
    fn what_has_more_in_common_is_closer() {
        let now = json!({"id": 1, "fields": {"status": "held", "owner": "ann"}});
        let near = json!({"id": 1, "fields": {"status": "open", "owner": "ann"}});
        let far = json!({"id": 2, "fields": {"status": "open", "owner": "ann"}});
        assert!(json_closeness(&near, &now) > json_closeness(&far, &now));
    }
}
