//! Markdown as our own pages have it, set for a terminal or a file: wrapped to a width, without marks that only
//! a browser needs. Code is left as it is, so that it can be copied.

mod blocks;
mod inline;
mod table;

use blocks::{Block, blocks};
use inline::{Words, words};

/// What blocks of code are set in by.
const CODE_INDENT: usize = 4;

/// A page as lines of at most this width, where words and code allow it.
pub fn rendered(page: &str, width: usize, is_colored: bool) -> String {
    let mut text = String::new();
    let mut was_item = false;
    for block in blocks(page) {
        let is_item = matches!(block, Block::Item { .. });
        let is_apart = !(is_item && was_item);
        if is_apart && !text.is_empty() {
            text.push('\n');
        }
        was_item = is_item;
        set(&block, width, is_colored, &mut text);
    }
    text
}

fn set(block: &Block<'_>, width: usize, is_colored: bool, page: &mut String) {
    match block {
        Block::Heading { level, title } => heading(*level, title, width, is_colored, page),
        Block::Paragraph(text) => paragraph(&words(text), "", "", width, is_colored, page),
        Block::Quote(text) => paragraph(&words(text), "  | ", "  | ", width, is_colored, page),
        Block::Item { indent, marker, text } => {
            let first = format!("{:1$}{marker} ", "", *indent);
            let rest = " ".repeat(first.chars().count());
            paragraph(&words(text), &first, &rest, width, is_colored, page);
        }
        Block::Code { indent, lines } => {
            let indent = indent + CODE_INDENT;
            for line in lines {
                page.push_str(format!("{:indent$}{line}", "").trim_end());
                page.push('\n');
            }
        }
        Block::Table(rows) => table::set(rows, width, is_colored, page),
    }
}

/// Underlined, so that it is one without color, too.
fn heading(level: usize, title: &str, width: usize, is_colored: bool, text: &mut String) {
    let title = words(title).in_bold();
    let lines = title.lines(width);
    let longest = lines.iter().map(|line| line.width()).max().unwrap_or_default();
    for line in &lines {
        text.push_str(&line.painted(is_colored));
        text.push('\n');
    }
    let rule = match level {
        1 => "=",
        2 => "-",
        _ => return,
    };
    text.push_str(&rule.repeat(longest));
    text.push('\n');
}

fn paragraph(words: &Words, first: &str, rest: &str, width: usize, is_colored: bool, text: &mut String) {
    let room = width.saturating_sub(rest.chars().count()).max(20);
    for (number, line) in words.lines(room).iter().enumerate() {
        text.push_str(if number == 0 { first } else { rest });
        text.push_str(&line.painted(is_colored));
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page: &str, width: usize, expected: &str) {
        assert_eq!(rendered(page, width, false), expected, "{page}");
    }

    #[test]
    fn a_page_reads_well_without_color() {
        check(
            "# A page\n\nSome **strong** and *soft* words, with `code`\nand a [link](other.md#there).\n\n## Below\n\n### Deeper\n",
            30,
            "A page\n======\n\nSome strong and soft words,\nwith `code` and a link.\n\nBelow\n-----\n\nDeeper\n",
        );
    }

    #[test]
    fn lists_hang_under_their_marks() {
        check(
            "- one that is longer than the line\n  and goes on\n  - below\n1. first\n- [ ] open\n",
            24,
            "- one that is longer\n  than the line and goes\n  on\n  - below\n1. first\n- [ ] open\n",
        );
    }

    #[test]
    fn code_is_set_in_and_never_wrapped() {
        check(
            "Do:\n\n<!-- not run: no -->\n```sh\ngristmill run a_file_with_a_long_name.py\n\n# **not bold**\n```\n\nDone.\n",
            20,
            "Do:\n\n    gristmill run a_file_with_a_long_name.py\n\n    # **not bold**\n\nDone.\n",
        );
    }

    #[test]
    fn bold_is_shown_only_in_color() {
        assert_eq!(rendered("a **b c**, d\n", 80, true), "a \x1b[1mb\x1b[0m \x1b[1mc\x1b[0m, d\n");
        assert_eq!(rendered("a **b c**, d\n", 80, false), "a b c, d\n");
    }

    #[test]
    fn a_quote_is_marked() {
        check("> Say this.\n", 40, "  | Say this.\n");
    }
}
