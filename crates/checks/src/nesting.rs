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

/// Where tabs stop.
const TAB_COLUMNS: usize = 8;

pub(crate) fn is_too_deep(text: &str) -> bool {
    // For most programs a count of their bytes rules it out, and they aren't lexed twice.
    levels_at_most(text) > LEVELS_MAX && levels(text) > LEVELS_MAX
}

/// As many as if every token of the text stood within all those before it.
fn levels_at_most(text: &str) -> usize {
    let (mut levels, mut deepest, mut indent) = (0, 0, 0);
    for line in text.as_bytes().split(|byte| matches!(byte, b'\n' | b'\r')) {
        let (mut column, mut rest) = (0, line);
        while let [blank @ (b' ' | b'\t' | b'\x0c'), after @ ..] = rest {
            column = match blank {
                b'\t' => (column / TAB_COLUMNS + 1) * TAB_COLUMNS,
                b'\x0c' => 0,
                _ => column + 1,
            };
            rest = after;
        }
        if rest.is_empty() {
            continue;
        }
        // It may be set in, which ends somewhere: a token for each.
        levels += if column > indent { 2 } else { 0 };
        (indent, deepest) = (column, deepest.max(column));
        levels += tokens_at_most(rest);
        if levels > LEVELS_MAX {
            return levels;
        }
    }
    // No line is set in more often than it has columns before it.
    levels + INDENT_LEVELS * deepest
}

/// Each byte of no word is a token, or a bracket; a word is one, or two as in `1if`.
fn tokens_at_most(line: &[u8]) -> usize {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let (mut levels, mut is_within) = (0, false);
    for byte in line.iter().copied() {
        levels += match byte {
            b' ' | b'\t' => 0,
            b'(' | b'[' | b'{' => BRACKET_LEVELS,
            b'0'..=b'9' if !is_within => 2,
            byte if is_word(byte) => usize::from(!is_within),
            _ => 1,
        };
        is_within = is_word(byte);
    }
    levels
}

/// Those of the deepest place, or of the first that is too deep.
fn levels(text: &str) -> usize {
    let mut lexer = lexer::lex(text, Mode::Module);
    // What the open brackets hold, each with its levels since the last comma.
    let mut open: Vec<usize> = vec![0];
    let mut below = 0usize;
    let mut indents = 0usize;
    let mut deepest = 0usize;
    loop {
        let mut here = 1;
        match lexer.next_token() {
            TokenKind::EndOfFile => return deepest,
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
        deepest = deepest.max(below + INDENT_LEVELS * indents);
        if deepest > LEVELS_MAX {
            return deepest;
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

    #[test]
    fn what_is_told_without_tokens_is_never_too_little() {
        const PIECES: [&str; 32] = [
            "(", ")", "[", "]", "{", "}", ",", "\n", "\n ", "\n    ", "\n\t", "\n \t ", "\r\n  ", "\x0c",
            "if x:", "f'", "'", "\"\"\"", "rf\"{", "}\"", "1if", "0x1for ", " ", "name", ".b", "+", "\\\n",
            ";", "lambda: ", "not ", "# (\n", "é",
        ];
        let mut chance = 20_261_118_u64;
        let mut longest = 0;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..40 {
                chance =
                    chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(PIECES[(chance >> 59) as usize]);
            }
            let (at_most, levels) = (levels_at_most(&text), levels(&text));
            assert!(levels <= at_most, "{levels} {at_most} {text:?}");
            longest = longest.max(levels);
        }
        assert!(longest > 50, "{longest}");
        assert!(levels_at_most("rows = [{'total': 1.5}]\nfor row in rows:\n    print(row)") < 60);
    }
}
