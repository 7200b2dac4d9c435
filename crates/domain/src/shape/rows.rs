//! Texts whose lines are records: CSV, and lines of JSON. They are told by their first lines.

use super::parse::parse;

/// Lines that are looked at.
const LINES_LOOKED_AT: usize = 16;

/// Fewer lines may look alike by chance.
const SEPARATED_LINES_MIN: usize = 3;
const JSON_LINES_MIN: usize = 2;

/// A longer line is not looked at, and its text is none of lines.
const LINE_BYTES_MAX: usize = 1 << 20;

/// The name of a column is short.
const NAME_CHARS_MAX: usize = 60;

/// What stands between the cells of a line.
const SEPARATORS: [char; 4] = [',', ';', '\t', '|'];

/// Whether every line is an array or object of JSON, as far as the first ones tell.
pub(super) fn are_json(text: &str) -> bool {
    let Some(lines) = first_lines(text) else { return false };
    let is_part = |line: &&str| line.trim().starts_with(['{', '[']) && parse(line).is_ok();
    lines.len() >= JSON_LINES_MIN && lines.iter().all(is_part)
}

/// Lines of JSON as one array.
pub(super) fn as_array(text: &str) -> String {
    let mut array = String::with_capacity(text.len() + 2);
    array.push('[');
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if array.len() > 1 {
            array.push(',');
        }
        array.push_str(line);
    }
    array.push(']');
    array
}

/// Whether the first line has names of columns and the next ones as many cells.
pub(super) fn are_separated(text: &str) -> bool {
    let Some(lines) = first_lines(text).filter(|lines| lines.len() >= SEPARATED_LINES_MIN) else {
        return false;
    };
    SEPARATORS.into_iter().any(|separator| {
        let counts: Vec<usize> = lines.iter().map(|line| separators(line, separator)).collect();
        let first = counts.first().copied().unwrap_or(0);
        // Sentences have a comma here and there, with a space behind it.
        let may_be_sentences = first == 1 && separator == ',' && lines.iter().any(|line| line.contains(", "));
        first > 0
            && counts.iter().all(|count| *count == first)
            && !may_be_sentences
            && lines.first().is_some_and(|header| header.split(separator).all(is_name))
    })
}

fn is_name(cell: &str) -> bool {
    let name = cell.trim().trim_matches('"');
    let begins_as_name =
        name.starts_with(|first: char| first.is_alphabetic() || matches!(first, '_' | '#' | '$'));
    begins_as_name && name.chars().count() <= NAME_CHARS_MAX && !name.contains(['{', '}', '='])
}

/// Separators outside of quotes.
fn separators(line: &str, separator: char) -> usize {
    let mut is_quoted = false;
    let mut count = 0;
    for c in line.chars() {
        is_quoted ^= c == '"';
        count += usize::from(c == separator && !is_quoted);
    }
    count
}

/// The first lines that are not empty; none if one of them is very long.
fn first_lines(text: &str) -> Option<Vec<&str>> {
    let mut lines = Vec::new();
    let mut rest = text;
    while lines.len() < LINES_LOOKED_AT && !rest.is_empty() {
        let seen = rest.as_bytes().iter().take(LINE_BYTES_MAX + 1);
        let end = match seen.clone().position(|byte| *byte == b'\n') {
            Some(end) => end,
            None if seen.len() > LINE_BYTES_MAX => return None,
            None => rest.len(),
        };
        let line = rest.get(..end)?.trim_end_matches('\r');
        if !line.trim().is_empty() {
            lines.push(line);
        }
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    Some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_told_from_prose_logs_and_code() {
        let separated = |text: &str| assert!(are_separated(text) && !are_json(text), "{text}");
        separated("id,name,city\n1,\"Ada, the first\",London\n2,Bo,Oslo\n");
        separated("id;total\r\n1;2,50\r\n2;3,75\r\n");
        separated("a\tb\n1\t2\n3\t4");
        let json = |text: &str| assert!(are_json(text) && !are_separated(text), "{text}");
        json("{\"a\": 1, \"b\": 2}\n\n{\"a\": 2, \"b\": 3}\n{\"a\": 3, \"b\": 4}\n");
        json("[1, 2]\n[3, 4]");
        let neither = |text: &str| assert!(!are_json(text) && !are_separated(text), "{text}");
        neither("");
        neither("{\"a\": 1}");
        neither("{\"a\": 1}\n{\"a\": \n");
        neither("Dear Ada, hello.\nI am well, thanks.\nSo are we, too.\n");
        neither(
            "2026-01-01 12:00:00,123 INFO a\n2026-01-01 12:00:00,124 INFO b\n2026-01-01 12:00:00,125 INFO c\n",
        );
        neither("a,b\n1,2\n3\n");
        neither(&"x".repeat(LINE_BYTES_MAX + 2));
    }

    #[test]
    fn lines_become_an_array() {
        assert_eq!(as_array("{\"a\": 1}\r\n\n {\"a\": 2}\n"), "[{\"a\": 1},{\"a\": 2}]");
    }
}
