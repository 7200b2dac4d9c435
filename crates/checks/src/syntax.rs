//! Mistakes of syntax that are certain, in the words that Python has for them.
//!
//! Python knows more about many mistakes than a parser that only wants to go on ("Did you mean ==?"), and the
//! guest knows what to write instead of JavaScript, shell and typographic quotes. Whatever is theirs to tell
//! is left to them: an error that isn't told here is told by the worker.

use ruff_python_ast::token::{Token, TokenKind, Tokens};
use ruff_python_parser::{LexicalErrorType, ParseError, ParseErrorType};
use ruff_text_size::{Ranged, TextRange};

use crate::lines::Lines;

/// A mistake that no Python accepts.
pub(crate) struct SyntaxMistake {
    pub range: TextRange,
    pub message: String,
}

/// The mistake that Python would tell first, if it is told here.
pub(crate) fn certain_mistake(
    text: &str,
    lines: &Lines<'_>,
    tokens: &Tokens,
    errors: &[ParseError],
) -> Option<SyntaxMistake> {
    let first = errors.first()?;
    // The end of a text inside brackets is such a token, too.
    let code_end = text.trim_end().len();
    let is_unreadable =
        |token: &Token| token.kind() == TokenKind::Unknown && token.start().to_usize() < code_end;
    if !text.is_ascii() || has_foreign_line(text) || tokens.iter().any(is_unreadable) {
        return None;
    }
    let mistake = match of_brackets(lines, tokens) {
        Brackets::Broken(mistake) => mistake,
        Brackets::Balanced => of_error(first)?,
    };
    let line = lines.line_of(mistake.range.start());
    let first_line = lines.line_of(first.range().start());
    let near = [line, line.saturating_sub(1), first_line, first_line.saturating_sub(1)];
    let is_foreign = near.iter().any(|line| looks_foreign(lines.text(*line)));
    (!is_foreign).then_some(mistake)
}

fn of_error(error: &ParseError) -> Option<SyntaxMistake> {
    let message = match &error.error {
        ParseErrorType::ExpectedToken { expected: TokenKind::Colon, found: TokenKind::Newline } => {
            "expected ':'".to_owned()
        }
        ParseErrorType::UnexpectedIndentation => "unexpected indent".to_owned(),
        ParseErrorType::Lexical(LexicalErrorType::IndentationError) => {
            "unindent does not match any outer indentation level".to_owned()
        }
        ParseErrorType::ExpectedExpression => "invalid syntax: expected an expression".to_owned(),
        ParseErrorType::OtherError(text) if text.starts_with("Expected an indented block after") => {
            text.replacen('E', "e", 1).replace('`', "'")
        }
        ParseErrorType::OtherError(text) if text.starts_with("Expected `except` or `finally`") => {
            "expected 'except' or 'finally' block".to_owned()
        }
        _ => return None,
    };
    let range = match &error.error {
        // Python points at what is indented, not at the space before it.
        ParseErrorType::UnexpectedIndentation | ParseErrorType::Lexical(_) => {
            TextRange::empty(error.range().end())
        }
        _ => error.range(),
    };
    Some(SyntaxMistake { range, message })
}

enum Brackets {
    Balanced,
    Broken(SyntaxMistake),
}

fn of_brackets(lines: &Lines<'_>, tokens: &Tokens) -> Brackets {
    let mut open: Vec<(TokenKind, TextRange)> = Vec::new();
    for token in tokens {
        let kind = token.kind();
        if is_opening(kind) {
            open.push((kind, token.range()));
        } else if let Some(opening) = opening_of(kind) {
            let closing = sign(kind);
            let message = match open.pop() {
                Some((last, _)) if last == opening => continue,
                Some((last, range)) => {
                    let line = lines.line_of(range.start());
                    let elsewhere = if line == lines.line_of(token.start()) {
                        String::new()
                    } else {
                        format!(" on line {line}")
                    };
                    format!(
                        "closing parenthesis '{closing}' does not match opening parenthesis '{}'{elsewhere}",
                        sign(last)
                    )
                }
                None => format!("unmatched '{closing}'"),
            };
            return Brackets::Broken(SyntaxMistake { range: token.range(), message });
        }
    }
    match open.last() {
        None => Brackets::Balanced,
        Some((kind, range)) => Brackets::Broken(SyntaxMistake {
            range: *range,
            message: format!("'{}' was never closed", sign(*kind)),
        }),
    }
}

fn is_opening(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace)
}

fn opening_of(kind: TokenKind) -> Option<TokenKind> {
    match kind {
        TokenKind::Rpar => Some(TokenKind::Lpar),
        TokenKind::Rsqb => Some(TokenKind::Lsqb),
        TokenKind::Rbrace => Some(TokenKind::Lbrace),
        _ => None,
    }
}

fn sign(kind: TokenKind) -> char {
    match kind {
        TokenKind::Lpar => '(',
        TokenKind::Rpar => ')',
        TokenKind::Lsqb => '[',
        TokenKind::Rsqb => ']',
        TokenKind::Lbrace => '{',
        _ => '}',
    }
}

/// Beginnings of lines that are no Python at all, wherever the first mistake is said to be.
const FOREIGN_STARTS: [&str; 39] = [
    "```",
    "~~~",
    ">>>",
    "... ",
    "!",
    "%",
    "pip ",
    "pip3 ",
    "python ",
    "conda ",
    "uv ",
    "npm ",
    "npx ",
    "curl ",
    "ls ",
    "cat ",
    "cd ",
    "mkdir ",
    "echo ",
    "sudo ",
    "apt ",
    "git ",
    "export ",
    "const ",
    "let ",
    "var ",
    "function ",
    "async function",
    "import {",
    "//",
    "/*",
    "*/",
    "}",
    "throw ",
    "catch",
    "else if",
    "switch",
    "do ",
    "new ",
];

fn has_foreign_line(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start();
        FOREIGN_STARTS.iter().any(|start| line.starts_with(start))
    })
}

/// What the guest may have a word for. Broad on purpose: what is held to be foreign is only told later.
fn looks_foreign(line: &str) -> bool {
    const PARTS: [&str; 16] = [
        "===",
        "!==",
        "&&",
        "||",
        "=>",
        "??",
        "?",
        "++",
        "--",
        "new ",
        "`",
        "!",
        "//",
        "null",
        "undefined",
        "\\",
    ];
    let line = line.trim();
    PARTS.iter().any(|part| line.contains(part))
        || line.ends_with('{')
        || line.contains("servers") && line.contains('-')
        || line.starts_with("import ") && line.contains(['"', '\''])
}
