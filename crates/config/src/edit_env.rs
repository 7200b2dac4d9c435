//! Adds variables to the text of a `.env` file, and removes them. Everything else stays as it is.

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

/// The text without these. `None` if that would change anything else.
pub fn remove(text: &str, names: &[&str]) -> Option<String> {
    let defines = |line: &str| {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line);
        line.split_once('=').is_some_and(|(name, _)| names.contains(&name.trim()))
    };
    let left: String = text.split_inclusive('\n').filter(|line| !defines(line)).collect();
    let (before, _) = env_file::parse(text, Path::new(""));
    let expected = before.without(|name| names.contains(&name));
    let (read, _) = env_file::parse(&left, Path::new(""));
    (read == expected).then_some(left)
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

    #[test]
    fn removing_a_variable_leaves_every_other_line_as_it_is() {
        let text = "# mine\nOLD=1\n\nexport GONE='a b' # why\nGONER=2\nGONE=again";
        assert_eq!(remove(text, &["GONE"]).as_deref(), Some("# mine\nOLD=1\n\nGONER=2\n"));
        assert_eq!(remove(text, &["OTHER"]).as_deref(), Some(text));
    }
}
