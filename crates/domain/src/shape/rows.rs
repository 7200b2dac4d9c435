//! Texts whose lines are records: CSV, and lines of JSON. They are told by their first lines.

use serde_json::{Number, Value};

use super::parse::parse;

/// Lines that are looked at.
const LINES_LOOKED_AT: usize = 16;

/// Fewer lines may look alike by chance.
const SEPARATED_LINES_MIN: usize = 3;
const JSON_LINES_MIN: usize = 2;

/// A longer line is not looked at, and its text is none of lines.
const LINE_BYTES_MAX: usize = 1 << 20;

/// More CSV is not made into JSON, which takes some times as much memory.
const CONVERTED_BYTES_MAX: usize = 32 << 20;

/// The name of a column is short.
const NAME_CHARS_MAX: usize = 60;

/// Spreadsheets begin their files with it.
const BYTE_ORDER_MARK: char = '\u{feff}';

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

/// Whether it is CSV, as far as the first lines tell.
pub(super) fn are_separated(text: &str) -> bool {
    separator_of(text).is_some()
}

/// CSV as one array with an object for each row; none if it is something else, or very large.
pub(super) fn records_as_array(text: &str) -> Option<String> {
    if text.len() > CONVERTED_BYTES_MAX {
        return None;
    }
    let rest = text.trim_start_matches(BYTE_ORDER_MARK);
    let mut records = CsvRecords { rest, separator: separator_of(text)? };
    let names: Vec<String> = records.next()?.into_iter().map(|name| quoted(name.trim())).collect();
    let mut array = String::from("[");
    for cells in records {
        array.push_str(if array.len() > 1 { ",{" } else { "{" });
        let cells = cells.iter().map(String::as_str).chain(std::iter::repeat(""));
        for (at, (name, cell)) in names.iter().zip(cells).enumerate() {
            array.push_str(if at > 0 { "," } else { "" });
            array.push_str(name);
            array.push(':');
            array.push_str(&cell_as_json(cell));
        }
        array.push('}');
    }
    array.push(']');
    Some(array)
}

fn cell_as_json(cell: &str) -> String {
    match cell.trim() {
        "" => "null".to_owned(),
        plain @ ("true" | "false") => plain.to_owned(),
        plain if serde_json::from_str::<Number>(plain).is_ok() => plain.to_owned(),
        _ => quoted(cell),
    }
}

fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

/// The cells of each row that is not empty.
struct CsvRecords<'a> {
    rest: &'a str,
    separator: char,
}

impl Iterator for CsvRecords<'_> {
    type Item = Vec<String>;

    fn next(&mut self) -> Option<Vec<String>> {
        self.rest = self.rest.trim_start_matches(['\n', '\r']);
        if self.rest.is_empty() {
            return None;
        }
        let (mut cells, mut cell, mut is_quoted) = (Vec::new(), String::new(), false);
        let mut end = self.rest.len();
        let mut characters = self.rest.char_indices().peekable();
        while let Some((at, c)) = characters.next() {
            match c {
                '"' if is_quoted && characters.next_if(|(_, next)| *next == '"').is_some() => cell.push('"'),
                '"' => is_quoted = !is_quoted,
                '\n' if !is_quoted => {
                    end = at;
                    break;
                }
                '\r' if !is_quoted => {}
                c if c == self.separator && !is_quoted => cells.push(std::mem::take(&mut cell)),
                c => cell.push(c),
            }
        }
        cells.push(cell);
        self.rest = self.rest.get(end..).unwrap_or_default();
        Some(cells)
    }
}

/// What is between the cells, if the first line has names of columns and the next ones as many cells.
fn separator_of(text: &str) -> Option<char> {
    let lines = first_lines(text).filter(|lines| lines.len() >= SEPARATED_LINES_MIN)?;
    SEPARATORS.into_iter().find(|separator| {
        let separator = *separator;
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
    let mut rest = text.trim_start_matches(BYTE_ORDER_MARK);
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
        separated("\u{feff}a\tb\n1\t2\n3\t4");
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
    fn rows_become_records() {
        let csv = "id;\"a name\";ok\r\n1;\"Ada; \"\"the\"\"\nfirst\";true\r\n\r\n007;;-2.5\n3\n4;b;c;d";
        let records = r#"[{"id":1,"a name":"Ada; \"the\"\nfirst","ok":true},{"id":"007","a name":null,"ok":-2.5},{"id":3,"a name":null,"ok":null},{"id":4,"a name":"b","ok":"c"}]"#;
        assert_eq!(CsvRecords { rest: csv, separator: ';' }.count(), 5);
        assert_eq!(records_as_array(csv), None, "the rows are not alike");
        let alike = csv.replace("\nfirst", ";").replace("\n3\n4;b;c;d", "\n3;;\n4;b;c");
        assert_eq!(records_as_array(&alike), Some(records.replace("\\nfirst", ";")));
    }

    #[test]
    fn lines_become_an_array() {
        assert_eq!(as_array("{\"a\": 1}\r\n\n {\"a\": 2}\n"), "[{\"a\": 1},{\"a\": 2}]");
    }
}
