//! Adds variables to the text of a `.env` file, and removes them. Everything else stays as it is.

use super::env_file;
use std::path::Path;

/// Some readers take a value in backticks as well.
const QUOTES: [char; 3] = ['"', '\'', '`'];

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

/// The text without these. `None` if that would change anything else, or might to another reader: with
/// a line that is no assignment, or a quote left open, a line may be the middle of a value.
pub fn remove(text: &str, names: &[&str]) -> Option<String> {
    let (before, problems) = env_file::parse(text, Path::new(""));
    if !problems.into_vec().is_empty() || text.lines().any(leaves_quote_open) {
        return None;
    }
    let defines = |line: &str| {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line);
        line.split_once('=').is_some_and(|(name, _)| names.contains(&name.trim()))
    };
    let left: String = text.split_inclusive('\n').filter(|line| !defines(line)).collect();
    let expected = before.without(|name| names.contains(&name));
    let (read, _) = env_file::parse(&left, Path::new(""));
    (read == expected).then_some(left)
}

/// Whether a bare value has a quote that does not end on its line. Those that begin with one are seen to
/// by whoever parses.
fn leaves_quote_open(line: &str) -> bool {
    let line = line.trim();
    let value = line.split_once('=').map_or("", |(_, value)| value.trim());
    if line.starts_with('#') || value.starts_with(['"', '\'']) {
        return false;
    }
    let value = value.split_once(" #").map_or(value, |(value, _)| value);
    let mut open: Option<char> = None;
    for character in value.chars() {
        match open {
            None if QUOTES.contains(&character) => open = Some(character),
            Some(quote) if quote == character => open = None,
            _ => {}
        }
    }
    open.is_some()
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

    #[test]
    fn nothing_is_removed_where_a_line_may_be_the_middle_of_a_value() {
        let values =
            ["\"a\nONE=inside\nb\"", "'a\nONE=inside\nb'", "`a\nONE=inside\nb`", "x\"a\nONE=inside\nB=b\""];
        for value in values {
            assert_eq!(remove(&format!("MULTI={value}\n"), &["ONE"]), None, "{value}");
        }
        for line in ["no assignment", "1A=b", "A='b", "A=\"b", "A=\"b\" c", "A=it's", "A=`b", "export A=b\""]
        {
            assert_eq!(remove(&format!("ONE=1\n{line}\n"), &["ONE"]), None, "{line}");
        }
    }

    #[test]
    fn quotes_that_end_and_those_in_comments_keep_nothing_from_being_removed() {
        for line in ["# it's \"mine", "A=b # it's", "A='\"' # it's", "A=\"it's\"", "A=x\"it's\"", "", "A="] {
            let text = format!("{line}\nONE=1\n");
            assert_eq!(remove(&text, &["ONE"]), Some(format!("{line}\n")), "{line}");
        }
    }
}
