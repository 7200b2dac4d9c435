//! What would change, line by line, in the usual form.

use std::time::{Duration, Instant};

use gristmill_gateway::domain::text_diff;

const CONTEXT_LINES: usize = 3;
/// Texts that have little in common are shown as removed and added after this long.
const SEARCH_MAX: Duration = Duration::from_millis(500);

/// The unified diff of two texts, whose line ends do not count; empty if they are the same.
pub fn unified(before: &str, after: &str, name: &str) -> String {
    let before: Vec<&str> = before.lines().collect();
    let after: Vec<&str> = after.lines().collect();
    text_diff::unified(&before, &after, name, CONTEXT_LINES, Some(Instant::now() + SEARCH_MAX))
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
        assert_eq!(unified("", "a\n", "f"), "--- f\n+++ f\n@@ -0,0 +1 @@\n+a\n");
        assert_eq!(unified("a\r\n", "", "f"), "--- f\n+++ f\n@@ -1 +0,0 @@\n-a\n");
    }
}
