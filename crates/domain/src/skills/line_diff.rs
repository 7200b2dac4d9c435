//! What changed in a text, line by line, for the person who approves the new one.
//!
//! Everything from the first line that differs to the last is shown: nothing new hides between lines
//! that stayed.

use crate::text_diff::{DiffTag, differences};

/// Lines that stayed, shown before and after what changed.
const CONTEXT_LINES: usize = 2;

/// Lines between the first and the last change that are compared one by one; a comparison may take this,
/// squared. More are shown as removed and added.
const COMPARED_LINES_MAX: usize = 2_000;

/// Lines that are gone begin with `- `, new ones with `+ `, those around with two spaces; the first says
/// where it is. Empty if all lines are the same.
pub fn line_diff(old: &str, new: &str) -> Vec<String> {
    let (before, after): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let head = before.iter().zip(&after).take_while(|(old, new)| old == new).count();
    if head == before.len() && head == after.len() {
        return Vec::new();
    }
    // A line that stayed is counted once, at the beginning or at the end.
    let tail_max = before.len().min(after.len()) - head;
    let pairs = before.iter().rev().zip(after.iter().rev()).take(tail_max);
    let tail = pairs.take_while(|(old, new)| old == new).count();
    let end = after.len() - tail;
    let mut shown = vec![format!("from line {}:", head + 1)];
    show(&mut shown, "  ", &after[head.saturating_sub(CONTEXT_LINES)..head]);
    show_changes(&mut shown, &before[head..before.len() - tail], &after[head..end]);
    show(&mut shown, "  ", &after[end..after.len().min(end + CONTEXT_LINES)]);
    shown
}

fn show_changes(shown: &mut Vec<String>, before: &[&str], after: &[&str]) {
    if before.len().max(after.len()) > COMPARED_LINES_MAX {
        show(shown, "- ", before);
        show(shown, "+ ", after);
        return;
    }
    for part in differences(before, after, None) {
        if part.tag() == DiffTag::Equal {
            show(shown, "  ", &after[part.new_range()]);
        } else {
            show(shown, "- ", &before[part.old_range()]);
            show(shown, "+ ", &after[part.new_range()]);
        }
    }
}

fn show(shown: &mut Vec<String>, mark: &str, lines: &[&str]) {
    shown.extend(lines.iter().map(|line| format!("{mark}{line}")));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_differ_are_shown_between_those_that_stayed() {
        let check = |old: &str, new: &str, expected: &[&str]| {
            assert_eq!(line_diff(old, new), expected, "{old:?} {new:?}");
        };
        check("a\nb\n", "a\nb", &[]);
        check("", "x\n", &["from line 1:", "+ x"]);
        check("x\n", "", &["from line 1:", "- x"]);
        check("a\na\n", "a\na\na\n", &["from line 3:", "  a", "  a", "+ a"]);
        check(
            "1\n2\n3\nold\n5\n6\n7\n",
            "1\n2\n3\nnew\nmore\n5\n6\n7\n",
            &["from line 4:", "  2", "  3", "- old", "+ new", "+ more", "  5", "  6"],
        );
    }

    #[test]
    fn lines_that_stayed_between_two_changes_are_all_shown() {
        let (old, new) = ("a\nb\nc\nd\ne\nf\ng\n", "A\nb\nc\nd\ne\nf\nG\n");
        let expected = ["from line 1:", "- a", "+ A", "  b", "  c", "  d", "  e", "  f", "- g", "+ G"];
        assert_eq!(line_diff(old, new), expected);
    }

    #[test]
    fn texts_too_long_to_compare_are_shown_as_removed_and_added() {
        let text =
            |mark: &str| (0..=COMPARED_LINES_MAX).map(|line| format!("{mark}{}\n", line / 3)).collect();
        let (old, new): (String, String) = (text("o"), text("n"));
        let shown = line_diff(&old, &new);
        assert_eq!(shown.len(), 1 + 2 * (COMPARED_LINES_MAX + 1));
        assert_eq!((shown[1].as_str(), shown[COMPARED_LINES_MAX + 2].as_str()), ("- o0", "+ n0"));
    }
}
