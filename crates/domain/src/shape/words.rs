//! The words in which shaping says what it did.

use crate::quantity::{counted_grouped, grouped};

/// What was left out, part by part, for whoever asked.
#[derive(Default)]
pub(super) struct Notes {
    lines: Vec<String>,
    further: u64,
}

/// Parts named one by one; the rest is counted.
const NOTES_MAX: usize = 20;

impl Notes {
    /// Says of the part at a path what is missing.
    pub fn add(&mut self, path: &Path, what: &str) {
        if self.lines.len() >= NOTES_MAX {
            self.further += 1;
            return;
        }
        let path = path.text();
        self.lines.push(match path.is_empty() {
            true => what.to_owned(),
            false => format!("{path}: {what}"),
        });
    }

    /// Takes over what was noted elsewhere.
    pub fn append(&mut self, other: Notes) {
        let room = NOTES_MAX.saturating_sub(self.lines.len());
        self.further += other.further + other.lines.len().saturating_sub(room) as u64;
        self.lines.extend(other.lines.into_iter().take(room));
    }

    pub fn into_lines(mut self) -> Vec<String> {
        if self.further > 0 {
            self.lines.push(format!("and parts of {} more", grouped(self.further)));
        }
        self.lines
    }
}

/// Where a part is.
pub(super) enum Path<'a> {
    Root,
    Member(&'a Path<'a>, &'a str),
    Item(&'a Path<'a>, usize),
}

impl Path<'_> {
    fn text(&self) -> String {
        const NAME_CHARS_MAX: usize = 40;
        match self {
            Path::Root => String::new(),
            Path::Member(above, name) => {
                let above = above.text();
                let name = crate::one_line(name, NAME_CHARS_MAX);
                if above.is_empty() { name } else { format!("{above}.{name}") }
            }
            Path::Item(above, number) => format!("{}[{number}]", above.text()),
        }
    }
}

/// `9,994 of 10,000 items not shown`.
pub(super) fn not_shown(missing: usize, all: usize, one: &str) -> String {
    format!("{} of {} not shown", grouped(missing as u64), counted_grouped(all, one))
}

/// As it stands in the place of what is missing.
pub(super) fn mark(what: &str) -> String {
    format!("… {what} …")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_easy_to_read() {
        let check = |number, expected: &str| assert_eq!(grouped(number), expected);
        check(0, "0");
        check(999, "999");
        check(1_000, "1,000");
        check(12_345_678, "12,345,678");
        assert_eq!(not_shown(9_994, 10_000, "item"), "9,994 of 10,000 items not shown");
        assert_eq!(not_shown(1, 1, "line"), "1 of 1 line not shown");
    }

    #[test]
    fn a_part_is_named_by_its_path() {
        let mut notes = Notes::default();
        let data = Path::Member(&Path::Root, "data");
        let third = Path::Item(&data, 2);
        notes.add(&Path::Member(&third, "rows"), "gone");
        notes.add(&Path::Root, "gone");
        assert_eq!(notes.into_lines(), ["data[2].rows: gone", "gone"]);
    }
}
