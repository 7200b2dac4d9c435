//! A call's arguments, as a person is shown them before they say yes.

use serde_json::Value;

use crate::one_line;

/// Of each argument, however many there are.
const EACH_CHARS_MIN: usize = 30;

/// Arguments that are shown by name. The others are counted.
const ARGUMENTS_MAX: usize = 40;

/// On one line. Where they are too long, every argument is there with the beginning and the end of its value
/// and with how much is missing, so that nothing is hidden behind something long.
pub fn shown_arguments(json: &str, chars_max: usize) -> String {
    if json.chars().count() <= chars_max {
        return one_line(json, chars_max);
    }
    let Ok(Value::Object(arguments)) = serde_json::from_str(json) else { return shortened(json, chars_max) };
    let each = (chars_max / arguments.len().max(1)).max(EACH_CHARS_MIN);
    let shown = arguments.iter().take(ARGUMENTS_MAX).map(|(name, value)| {
        let name = shortened(&Value::from(name.as_str()).to_string(), each);
        format!("{name}: {}", shortened(&value.to_string(), each))
    });
    let mut shown: Vec<String> = shown.collect();
    if arguments.len() > ARGUMENTS_MAX {
        shown.push(format!("and {} more arguments", arguments.len() - ARGUMENTS_MAX));
    }
    format!("{{{}}}", shown.join(", "))
}

/// The beginning and the end of a text.
fn shortened(text: &str, chars_max: usize) -> String {
    let count = text.chars().count();
    if count <= chars_max {
        return one_line(text, chars_max);
    }
    let end = chars_max / 3;
    let begin = chars_max - end;
    let first: String = text.chars().take(begin).collect();
    let last: String = text.chars().skip(count - end).collect();
    let missing = count - begin - end;
    format!("{}…[{missing} more characters]…{}", one_line(&first, begin), one_line(&last, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_is_hidden_behind_something_long() {
        let long = json!({"note": "x".repeat(5_000), "amount": 999_999, "to": "attacker"}).to_string();
        let shown = shown_arguments(&long, 600);
        assert!(shown.ends_with(r#""amount": 999999, "to": "attacker"}"#), "{shown}");
        assert!(shown.contains("…[4802 more characters]…xxx"), "{shown}");
        assert!(shown.chars().count() < 700, "{shown}");
        assert_eq!(shown_arguments(r#"{"a":1}"#, 600), r#"{"a":1}"#);
    }

    #[test]
    fn many_arguments_are_counted_and_hidden_characters_shown() {
        let many: serde_json::Map<_, _> =
            (0..100).map(|number| (format!("a\u{202e}{number}"), json!("y".repeat(100)))).collect();
        let shown = shown_arguments(&Value::Object(many).to_string(), 600);
        assert!(shown.ends_with("and 60 more arguments}"), "{shown}");
        assert!(!shown.contains('\u{202e}') && shown.chars().count() < 10_000, "{shown}");
        assert_eq!(shown_arguments(&"[".repeat(900), 600).matches("300 more characters").count(), 1);
    }
}
