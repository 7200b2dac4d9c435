//! An expression's text taken apart.

use crate::outcome::Problem;

/// One piece of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Integer(i64),
    Number(f64),
    Text(String),
    /// A field, a function or a word such as `and`.
    Name(String),
    /// A field in backticks, which is never anything else.
    Quoted(String),
    Sign(&'static str),
}

/// Signs, longer ones first.
const SIGNS: [&str; 22] = [
    "**", "==", "!=", "<>", "<=", ">=", "&&", "||", "+", "-", "*", "/", "%", "<", ">", "=", "!", "(", ")",
    "[", "]", ",",
];

pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Problem> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '\'' | '"' | '`' => quoted(rest, first)?,
            '0'..='9' => number(rest)?,
            '.' if rest.chars().nth(1).is_some_and(|c| c.is_ascii_digit()) => number(rest)?,
            _ if first.is_alphabetic() || first == '_' || first == '$' => name(rest),
            _ => sign(rest)?,
        };
        tokens.push(token);
        rest = rest.get(length..).unwrap_or_default().trim_start();
    }
    Ok(tokens)
}

fn quoted(rest: &str, quote: char) -> Result<(Token, usize), Problem> {
    let mut text = String::new();
    let mut letters = rest.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' if quote != '`' => match letters.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 't')) => text.push('\t'),
                Some((_, other)) => text.push(other),
                None => break,
            },
            _ if letter == quote => {
                let token = if quote == '`' { Token::Quoted(text) } else { Token::Text(text) };
                return Ok((token, at + letter.len_utf8()));
            }
            _ => text.push(letter),
        }
    }
    Err(Problem::new(format!("unclosed {quote} in the expression")))
}

fn number(rest: &str) -> Result<(Token, usize), Problem> {
    let mut end = 0;
    let mut before = ' ';
    for letter in rest.chars() {
        let is_exponent_sign = matches!(letter, '+' | '-') && matches!(before, 'e' | 'E');
        if !(letter.is_ascii_digit() || matches!(letter, '.' | 'e' | 'E') || is_exponent_sign) {
            break;
        }
        before = letter;
        end += letter.len_utf8();
    }
    let text = rest.get(..end).unwrap_or_default();
    if let Ok(whole) = text.parse() {
        return Ok((Token::Integer(whole), end));
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((Token::Number(number), end)),
        Ok(_) | Err(_) => Err(Problem::new(format!("{text:?} in the expression isn't a number"))),
    }
}

fn name(rest: &str) -> (Token, usize) {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$');
    let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    let text = rest.get(..end).unwrap_or(rest).trim_end_matches('.');
    (Token::Name(text.to_owned()), text.len())
}

fn sign(rest: &str) -> Result<(Token, usize), Problem> {
    match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        Some(sign) => Ok((Token::Sign(sign), sign.len())),
        None => {
            let letter = rest.chars().next().unwrap_or_default();
            Err(Problem::new(format!("unexpected {letter:?} in the expression")).hint(
                "put text in quotes, and field names with spaces or symbols in backticks: `unit price` * 2",
            ))
        }
    }
}
