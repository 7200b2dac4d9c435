//! Adds variables to the text of a `.env` file. What is there stays as it is.

use super::env_file;
use std::path::Path;

/// The text with these at its end. `None` if they would not read back, or would change what is there.
pub fn add(text: &str, variables: &[(&str, &str)]) -> Option<String> {
    let mut added = text.to_owned();
    for (name, value) in variables {
        if !added.is_empty() && !added.ends_with('\n') {
            added.push('\n');
        }
        added.push_str(&format!("{name}={}\n", quoted(value)));
    }
    let (mut expected, _) = env_file::parse(text, Path::new(""));
    for (name, value) in variables {
        expected.set(name, value);
    }
    let (read, _) = env_file::parse(&added, Path::new(""));
    (read == expected).then_some(added)
}

fn quoted(value: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || "_-./+=:@".contains(c);
    if !value.is_empty() && value.chars().all(is_bare) {
        return value.to_owned();
    }
    if !value.contains(['\'', '\n', '\r']) {
        return format!("'{value}'");
    }
    let mut text = String::from("\"");
    for character in value.chars() {
        match character {
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '"' | '\\' => text.extend(['\\', character]),
            other => text.push(other),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_value_holds_reads_back() {
        for value in ["plain", "two words", "it's", "a\nb", "\"q\" \\ 'x'", "", " # no comment", "'\r\n"] {
            let text = add("# mine\nOLD=1", &[("NEW", value)]).expect(value);
            let (read, _) = env_file::parse(&text, Path::new(""));
            assert_eq!((read.get("OLD"), read.get("NEW")), (Some("1"), Some(value)), "{text}");
            assert!(text.starts_with("# mine\nOLD=1\n"), "{text}");
        }
    }
}
