//! What a provider says when something is wrong, in whichever form it says so.

use serde_json::Value;

/// Deeper than this nobody hides a message.
const DEPTH_MAX: usize = 4;

/// See the module. All of it is the provider's: nothing of it is shown before a key is taken out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Complaint {
    /// Its codes and types, in lower case.
    codes: Vec<String>,
    /// The parameter that it is about.
    param: String,
    pub message: String,
}

impl Complaint {
    /// Of the body of an answer, which may be anything.
    pub fn in_body(body: &str) -> Self {
        match serde_json::from_str::<Value>(body) {
            Ok(value) => Self::of(&value),
            // A page for people, from whatever stands between.
            Err(_) if body.trim_start().starts_with('<') => Self::default(),
            Err(_) => Self { message: body.to_owned(), ..Self::default() },
        }
    }

    pub fn of(error: &Value) -> Self {
        let mut complaint = Self::default();
        complaint.gather(error, DEPTH_MAX);
        complaint
    }

    fn gather(&mut self, value: &Value, depth: usize) {
        match value {
            _ if depth == 0 => {}
            Value::String(text) => self.say(text),
            Value::Array(items) => {
                if let Some(first) = items.first() {
                    self.gather(first, depth - 1);
                }
            }
            Value::Object(fields) => {
                let code = |name: &str| match fields.get(name)? {
                    Value::String(code) => Some(code.to_ascii_lowercase()),
                    Value::Number(code) => Some(code.to_string()),
                    _ => None,
                };
                self.codes.extend(["code", "type", "status"].into_iter().filter_map(code));
                if let Some(param) = fields.get("param").and_then(Value::as_str) {
                    self.param = param.to_owned();
                }
                // Where a form that was filled in wrongly says which field it is.
                if let Some(places) = fields.get("loc").and_then(Value::as_array) {
                    self.param = places.iter().rev().find_map(Value::as_str).unwrap_or_default().to_owned();
                }
                for name in ["message", "msg", "detail", "error", "innererror"] {
                    if let Some(inner) = fields.get(name) {
                        self.gather(inner, depth - 1);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn say(&mut self, text: &str) {
        if !self.message.is_empty() {
            self.message.push_str("; ");
        }
        self.message.push_str(text);
    }

    /// Whether it has one of these codes.
    pub fn is_any_of(&self, codes: &[&str]) -> bool {
        self.codes.iter().any(|code| codes.contains(&code.as_str()))
    }

    /// Whether it says that a parameter isn't taken, as opposed to a value that is wrong.
    pub fn rejects(&self, parameter: &str) -> bool {
        const WORDS: [&str; 10] = [
            "unsupported",
            "not supported",
            "does not support",
            "unrecognized",
            "unknown",
            "unexpected",
            "not permitted",
            "not allowed",
            "may only be",
            "deprecated",
        ];
        let message = self.message.to_ascii_lowercase();
        let is_rejection =
            self.is_any_of(&["unsupported_parameter", "unsupported_value", "unknown_parameter"])
                || WORDS.iter().any(|word| message.contains(word));
        let is_named = match self.param.is_empty() {
            true => names(&message, parameter),
            false => self.param == parameter,
        };
        is_rejection && is_named
    }
}

/// Whether a name stands in a text by itself.
fn names(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_are_read_in_every_form() {
        let check = |body: &str, code: &str, message: &str| {
            let complaint = Complaint::in_body(body);
            assert!(code.is_empty() || complaint.is_any_of(&[code]), "{body}: {complaint:?}");
            assert_eq!(complaint.message, message, "{body}");
        };
        check(r#"{"error":{"message":"no","type":"a","code":"B"}}"#, "b", "no");
        check(
            r#"{"type":"error","error":{"type":"overloaded_error","message":"no"}}"#,
            "overloaded_error",
            "no",
        );
        check(r#"{"error":"model 'x' not found"}"#, "", "model 'x' not found");
        check(r#"{"object":"error","message":"no","code":404}"#, "404", "no");
        check(r#"{"detail":"no"}"#, "", "no");
        check(r#"[{"error":{"message":"no","status":"NOT_FOUND"}}]"#, "not_found", "no");
        check(r#"{"error":{"code":"content_filter","message":"no","innererror":{"code":"R"}}}"#, "r", "no");
        check("plain words", "", "plain words");
        check("<html><body>502</body></html>", "", "");
        check("", "", "");
        check("[[[[[[[\"deep\"]]]]]]]", "", "");
    }

    #[test]
    fn a_name_within_another_is_not_named() {
        assert!(names("use 'max_tokens' instead", "max_tokens"));
        assert!(!names("unknown max_tokens_total, xmax_tokens", "max_tokens"));
    }
}
