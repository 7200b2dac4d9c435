//! What would change, line by line, in the usual form.

use std::fmt::Write;

const CONTEXT_LINES: usize = 3;
/// Beyond this many pairs of lines no shortest way is looked for.
const PAIRS_MAX: usize = 4_000_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Keep,
    Remove,
    Add,
}

/// The unified diff of two texts; empty if they are the same.
pub fn unified(before: &str, after: &str, name: &str) -> String {
    let before: Vec<&str> = before.lines().collect();
    let after: Vec<&str> = after.lines().collect();
    let steps = steps(&before, &after);
    let mut text = String::new();
    let mut at = (0, 0);
    let mut index = 0;
    while index < steps.len() {
        let Some(next) = steps[index..].iter().position(|step| *step != Step::Keep) else { break };
        let start = index + next.saturating_sub(CONTEXT_LINES);
        at = (at.0 + (start - index), at.1 + (start - index));
        let end = hunk_end(&steps, index + next);
        if text.is_empty() {
            // Writing into a text cannot fail.
            let _ = writeln!(text, "--- {name}\n+++ {name}");
        }
        at = write_hunk(&mut text, &steps[start..end], &before, &after, at);
        index = end;
    }
    text
}

/// Where the hunk with this change ends: after its last change that is near, and some context.
fn hunk_end(steps: &[Step], change: usize) -> usize {
    let mut end = change + 1;
    for (index, step) in steps.iter().enumerate().skip(change) {
        if *step != Step::Keep {
            end = index + 1;
        } else if index >= end + 2 * CONTEXT_LINES {
            break;
        }
    }
    (end + CONTEXT_LINES).min(steps.len())
}

fn write_hunk(
    text: &mut String,
    steps: &[Step],
    before: &[&str],
    after: &[&str],
    start: (usize, usize),
) -> (usize, usize) {
    let count = |unwanted: Step| steps.iter().filter(|step| **step != unwanted).count();
    let (old, new) = (count(Step::Add), count(Step::Remove));
    let first = |at: usize, lines: usize| if lines == 0 { at } else { at + 1 };
    let _ = writeln!(text, "@@ -{},{old} +{},{new} @@", first(start.0, old), first(start.1, new));
    let mut at = start;
    for step in steps {
        let (mark, line) = match step {
            Step::Keep => (' ', before[at.0]),
            Step::Remove => ('-', before[at.0]),
            Step::Add => ('+', after[at.1]),
        };
        let _ = writeln!(text, "{mark}{line}");
        at.0 += usize::from(*step != Step::Add);
        at.1 += usize::from(*step != Step::Remove);
    }
    at
}

fn steps(before: &[&str], after: &[&str]) -> Vec<Step> {
    let start = before.iter().zip(after).take_while(|(one, other)| one == other).count();
    let (before, after) = (&before[start..], &after[start..]);
    let end = before.iter().rev().zip(after.iter().rev()).take_while(|(one, other)| one == other).count();
    let (before, after) = (&before[..before.len() - end], &after[..after.len() - end]);
    let mut steps = vec![Step::Keep; start];
    steps.extend(middle(before, after));
    steps.extend(vec![Step::Keep; end]);
    steps
}

/// By the longest common subsequence.
fn middle(before: &[&str], after: &[&str]) -> Vec<Step> {
    let (rows, columns) = (before.len() + 1, after.len() + 1);
    if rows.saturating_mul(columns) > PAIRS_MAX {
        let removed = before.iter().map(|_| Step::Remove);
        return removed.chain(after.iter().map(|_| Step::Add)).collect();
    }
    let mut longest = vec![0_u32; rows * columns];
    let at = |row: usize, column: usize| row * columns + column;
    for row in (0..before.len()).rev() {
        for column in (0..after.len()).rev() {
            longest[at(row, column)] = if before[row] == after[column] {
                longest[at(row + 1, column + 1)] + 1
            } else {
                longest[at(row + 1, column)].max(longest[at(row, column + 1)])
            };
        }
    }
    let mut steps = Vec::new();
    let (mut row, mut column) = (0, 0);
    while row < before.len() || column < after.len() {
        if row < before.len() && column < after.len() && before[row] == after[column] {
            steps.push(Step::Keep);
            (row, column) = (row + 1, column + 1);
        } else if column == after.len()
            || (row < before.len() && longest[at(row + 1, column)] >= longest[at(row, column + 1)])
        {
            steps.push(Step::Remove);
            row += 1;
        } else {
            steps.push(Step::Add);
            column += 1;
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes_is_shown_with_a_little_around_it() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n";
        let after = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n11\n12\n13\n15\n16\n";
        assert_eq!(
            unified(before, after, "f"),
            "--- f\n+++ f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n\
             @@ -11,5 +11,5 @@\n 11\n 12\n 13\n-14\n 15\n+16\n"
        );
        assert_eq!(unified(before, before, "f"), "");
        assert_eq!(unified("", "a\n", "f"), "--- f\n+++ f\n@@ -0,0 +1,1 @@\n+a\n");
        assert_eq!(unified("a\n", "", "f"), "--- f\n+++ f\n@@ -1,1 +0,0 @@\n-a\n");
    }
}
