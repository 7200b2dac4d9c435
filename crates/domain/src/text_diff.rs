//! What two texts have in common, piece by piece. Everybody compares here: the library's own entries compile
//! each of its algorithms for each of their callers, which made a megabyte of machine code.

use std::convert::Infallible;
use std::fmt::Write;
use std::time::Instant;

use similar::algorithms::{Capture, Compact, Replace, myers};

pub use similar::{DiffOp, DiffTag};

/// What leads from one list of pieces to the other. After the deadline, what is left counts as replaced.
pub fn differences(old: &[&str], new: &[&str], deadline: Option<Instant>) -> Vec<DiffOp> {
    let mut found = Compact::new(Replace::new(Capture::new()), old, new);
    let told: Result<(), Infallible> =
        myers::diff_deadline(&mut found, old, 0..old.len(), new, 0..new.len(), deadline);
    match told {
        Ok(()) => found.into_inner().into_inner().into_ops(),
    }
}

/// The same in groups, each with at most so many equal pieces around what changed.
pub fn grouped(operations: Vec<DiffOp>, context: usize) -> Vec<Vec<DiffOp>> {
    let groups = similar::group_diff_ops(operations, context);
    groups.into_iter().filter(|group| group.iter().any(|part| part.tag() != DiffTag::Equal)).collect()
}

/// The usual form of a diff of lines, under a name; empty if they are the same.
pub fn unified(old: &[&str], new: &[&str], name: &str, context: usize, deadline: Option<Instant>) -> String {
    let mut text = String::new();
    for group in grouped(differences(old, new, deadline), context) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        if text.is_empty() {
            let _ = write!(text, "--- {name}\n+++ {name}\n");
        }
        let old_lines = hunk_lines(first.old_range().start, last.old_range().end);
        let new_lines = hunk_lines(first.new_range().start, last.new_range().end);
        let _ = writeln!(text, "@@ -{old_lines} +{new_lines} @@");
        for part in group {
            match part.tag() {
                DiffTag::Equal => show(&mut text, ' ', &old[part.old_range()]),
                DiffTag::Delete | DiffTag::Insert | DiffTag::Replace => {
                    show(&mut text, '-', &old[part.old_range()]);
                    show(&mut text, '+', &new[part.new_range()]);
                }
            }
        }
    }
    text
}

/// Lines are counted from one; where there are none, it is the line before.
fn hunk_lines(start: usize, end: usize) -> String {
    match end - start {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        count => format!("{},{count}", start + 1),
    }
}

fn show(text: &mut String, mark: char, lines: &[&str]) {
    for line in lines {
        text.push(mark);
        text.push_str(line);
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<&str> {
        text.split_whitespace().collect()
    }

    #[test]
    fn what_changed_is_shown_with_a_little_around_it() {
        let of = |old: &str, new: &str| unified(&lines(old), &lines(new), "f", 1, None);
        assert_eq!(of("a b c", "a b c"), "");
        assert_eq!(of("a b c d e f g", "a b X d e f G"), {
            "--- f\n+++ f\n@@ -2,3 +2,3 @@\n b\n-c\n+X\n d\n@@ -6,2 +6,2 @@\n f\n-g\n+G\n"
        });
        assert_eq!(of("", "a b"), "--- f\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+b\n");
        assert_eq!(of("a", ""), "--- f\n+++ f\n@@ -1 +0,0 @@\n-a\n");
    }

    #[test]
    fn what_is_not_found_in_time_counts_as_replaced() {
        let old: Vec<String> = (0..4_000).map(|line| format!("{}", line % 7)).collect();
        let new: Vec<String> = (0..4_000).map(|line| format!("{}", line % 11)).collect();
        let (old, new): (Vec<&str>, Vec<&str>) =
            (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
        let found = differences(&old, &new, Some(Instant::now()));
        let kept: usize =
            found.iter().filter(|part| part.tag() == DiffTag::Equal).map(|part| part.old_range().len()).sum();
        let covered: usize = found.iter().map(|part| part.old_range().len()).sum();
        assert_eq!(covered, old.len());
        assert!(kept < old.len(), "{kept}");
    }
}
