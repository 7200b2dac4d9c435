//! What changed in a text, line by line, for the person who approves the new one.
//!
//! Everything from the first line that differs to the last is shown: nothing new hides between lines
//! that stayed.

/// Lines that stayed, shown before and after what changed.
const CONTEXT_LINES: usize = 2;

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
    let mut show = |mark: &str, lines: &[&str]| {
        shown.extend(lines.iter().map(|line| format!("{mark}{line}")));
    };
    show("  ", &after[head.saturating_sub(CONTEXT_LINES)..head]);
    show("- ", &before[head..before.len() - tail]);
    show("+ ", &after[head..end]);
    show("  ", &after[end..after.len().min(end + CONTEXT_LINES)]);
    shown
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
}
