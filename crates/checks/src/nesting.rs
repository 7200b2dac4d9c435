//! How deep the syntax tree of a text can be at most, found without building it.
//!
//! Trees are walked and dropped by functions that call themselves, in a process that must not fall over.
//! Every token may add a level, except that a comma begins anew beside what stands before it.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, lexer};

/// Far above what people and models write, and far below what a stack holds.
const LEVELS_MAX: usize = 300;

/// A bracket is a level of its own, with a call or a display in it.
const BRACKET_LEVELS: usize = 2;

/// So is a line that is set in, with the statement that it belongs to.
const INDENT_LEVELS: usize = 4;

pub(crate) fn is_too_deep(text: &str) -> bool {
    let mut lexer = lexer::lex(text, Mode::Module);
    // What the open brackets hold, each with its levels since the last comma.
    let mut open: Vec<usize> = vec![0];
    let mut below = 0usize;
    let mut indents = 0usize;
    loop {
        let mut here = 1;
        match lexer.next_token() {
            TokenKind::EndOfFile => return false,
            TokenKind::Indent => indents += 1,
            TokenKind::Dedent => indents = indents.saturating_sub(1),
            TokenKind::Newline | TokenKind::Semi | TokenKind::Comma => {
                // What holds the comma stays open.
                let kept = if open.len() > 1 { BRACKET_LEVELS } else { 0 };
                if let Some(last) = open.last_mut() {
                    below = below - *last + kept;
                    *last = kept;
                }
                continue;
            }
            TokenKind::NonLogicalNewline
            | TokenKind::Comment
            | TokenKind::String
            | TokenKind::FStringMiddle => {
                continue;
            }
            TokenKind::Lpar
            | TokenKind::Lsqb
            | TokenKind::Lbrace
            | TokenKind::FStringStart
            | TokenKind::TStringStart => {
                open.push(0);
                here = BRACKET_LEVELS;
            }
            TokenKind::Rpar
            | TokenKind::Rsqb
            | TokenKind::Rbrace
            | TokenKind::FStringEnd
            | TokenKind::TStringEnd
                if open.len() > 1 =>
            {
                below -= open.pop().unwrap_or(0);
            }
            _ => {}
        }
        if let Some(last) = open.last_mut() {
            *last += here;
            below += here;
        }
        if below + INDENT_LEVELS * indents > LEVELS_MAX {
            return true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_is_not_deep_and_deep_is_found_however_it_is_written() {
        let rows = format!("rows = [{}]", "{'name': 'x', 'total': -1.5 + 2},\n".repeat(2_000));
        let text = format!("x = f'''{}'''", "{a} and {b}\n".repeat(60));
        let plain = "x = 1\n".repeat(5_000);
        for fine in [rows.as_str(), &text, &plain, "x = a.b(c).d(e)[0]", "not-python ((("] {
            assert!(!is_too_deep(fine), "{}", &fine[..fine.len().min(60)]);
        }
        let deep = [
            format!("x = {}1", "-".repeat(1_000)),
            format!("x = {}1{}", "(".repeat(1_000), ")".repeat(1_000)),
            format!("x = {}1{}", "[0, ".repeat(1_000), "]".repeat(1_000)),
            format!("x = a{}", ".b".repeat(1_000)),
            format!("x = a{}", "()".repeat(1_000)),
            format!("x = 1{}", " + 1".repeat(1_000)),
            format!("x = {}1", "not ".repeat(1_000)),
            format!("x = {}1", "lambda: ".repeat(1_000)),
            (0..200).map(|depth| format!("{}if x:\n", " ".repeat(depth))).collect::<String>(),
        ];
        for text in deep {
            assert!(is_too_deep(&text), "{}", &text[..40]);
        }
    }
}
