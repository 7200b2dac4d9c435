//! From a sentence to its tokens.

use serde_json::Number;

use crate::sentence::{Kind, Token};

/// Tokens of one sentence; a longer one is cut, and what is left cannot be accounted for.
const TOKENS_MAX: usize = 200;

/// What may be called inside arithmetic.
const FUNCTIONS: &[&str] =
    &["sqrt", "abs", "round", "floor", "ceil", "min", "max", "ln", "log10", "exp", "sin", "cos", "tan", "pi"];

/// All tokens; `None` if there are too many.
pub fn tokenize(sentence: &str) -> Option<Vec<Token>> {
    let chars: Vec<char> = sentence.chars().collect();
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        if tokens.len() > TOKENS_MAX {
            return None;
        }
        let is_start = at == 0 || !chars[at - 1].is_alphanumeric();
        if chars[at].is_whitespace() {
            at += 1;
        } else if let Some((text, end)) = quotation(&chars, at).filter(|_| is_start) {
            tokens.push(Token::new(&text, Kind::Quoted));
            at = end;
        } else if let Some((text, end)) = expression(&chars, at).filter(|_| is_start) {
            tokens.push(Token::new(&text, Kind::Expression));
            at = end;
        } else {
            let end = (at..chars.len()).find(|index| ends_chunk(&chars, at, *index)).unwrap_or(chars.len());
            let end = end.max(at + 1);
            let chunk: String = chars[at..end].iter().collect();
            push_chunk(&chunk, &mut tokens);
            at = end;
        }
    }
    mark_names(&mut tokens);
    Some(tokens)
}

/// A quotation that begins here and ends before a blank, a mark or the end.
fn quotation(chars: &[char], at: usize) -> Option<(String, usize)> {
    let closing = match chars[at] {
        '"' => '"',
        '“' | '„' => '”',
        '\'' => '\'',
        '‘' => '’',
        '`' => '`',
        _ => return None,
    };
    let ends = |index: &usize| {
        let after = chars.get(index + 1);
        chars[*index] == closing && after.is_none_or(|c| !c.is_alphanumeric())
    };
    let end = (at + 1..chars.len()).find(ends)?;
    Some((chars[at + 1..end].iter().collect(), end + 1))
}

fn ends_chunk(chars: &[char], start: usize, index: usize) -> bool {
    let c = chars[index];
    // A comma between digits is part of a number, unless a blank follows.
    let is_inside = |c: char| {
        index > start && chars.get(index + 1).is_some_and(|next| c.is_ascii() && next.is_ascii_digit())
    };
    c.is_whitespace()
        || matches!(c, '"' | '“' | '”' | ';' | '!' | '(' | ')' | '[' | ']')
        || (c == ',' && !is_inside(c))
}

/// A chunk without blanks: a value or a word, and the marks around it.
fn push_chunk(chunk: &str, tokens: &mut Vec<Token>) {
    let is_mark =
        |c: char| matches!(c, '.' | ',' | ':' | '?' | '!' | ';' | '(' | ')' | '[' | ']' | '"' | '\'');
    let is_mark_before = |c: char| is_mark(c) && c != '.';
    let inner = chunk.trim_start_matches(is_mark_before).trim_end_matches(is_mark);
    if inner.is_empty() {
        tokens.push(Token::new(chunk, Kind::Mark));
        return;
    }
    let whole = inner.strip_suffix("'s").or_else(|| inner.strip_suffix("’s")).unwrap_or(inner);
    if let Some(number) = whole.strip_suffix('%').and_then(number) {
        tokens.push(Token::new(whole, Kind::Number(number)));
        tokens.push(Token::new("percent", Kind::Word));
    } else {
        tokens.push(Token::new(whole, kind_of(whole)));
    }
    let after = &chunk[chunk.trim_end_matches(is_mark).len()..];
    if !after.is_empty() {
        tokens.push(Token::new(after, Kind::Mark));
    }
}

fn kind_of(text: &str) -> Kind {
    let has = |wanted: fn(char) -> bool| text.chars().any(wanted);
    let has_letter = has(char::is_alphabetic);
    let has_digit = has(|c| c.is_ascii_digit());
    if let Some(number) = number(text) {
        return Kind::Number(number);
    }
    match text {
        // A sign of its own means something that the rules don't know, unless it's a dash.
        _ if text.chars().all(|c| matches!(c, '-' | '–' | '—' | '&')) => Kind::Mark,
        _ if is_email(text) => Kind::Email,
        _ if text.starts_with("http://") || text.starts_with("https://") => Kind::Url,
        _ if is_date(text) => Kind::Date,
        _ if text.contains('*') => Kind::Glob,
        _ if (text.contains('/') && has_letter && text != "and/or") || has_ending(text) => Kind::Path,
        _ if (has_letter && has_digit) || text.contains('_') => Kind::Identifier,
        _ => Kind::Word,
    }
}

fn number(text: &str) -> Option<Number> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) =
        digits.split_once('.').map_or((digits, None), |(whole, rest)| (whole, Some(rest)));
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let groups: Vec<&str> = whole.split(',').collect();
    let are_groups = groups.len() > 1
        && (1..=3).contains(&groups[0].len())
        && groups[1..].iter().all(|group| group.len() == 3);
    let is_whole = groups.iter().all(|group| all_digits(group)) && (groups.len() == 1 || are_groups);
    if !is_whole || fraction.is_some_and(|fraction| !all_digits(fraction)) || text.len() > 24 {
        return None;
    }
    // JSON has no leading zeros; such a text is a code rather than a number.
    serde_json::from_str(&text.replace(',', "")).ok()
}

fn is_email(text: &str) -> bool {
    let Some((user, host)) = text.split_once('@') else { return false };
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '+');
    !user.is_empty() && user.chars().all(plain) && host.contains('.') && host.chars().all(plain)
}

/// A day that exists, `YYYY-MM-DD`.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    if [year.len(), month.len(), day.len()] != [4, 2, 2] {
        return false;
    }
    let read =
        |part: &str| part.parse::<u32>().ok().filter(|_| part.bytes().all(|byte| byte.is_ascii_digit()));
    let (Some(year), Some(month), Some(day)) = (read(year), read(month), read(day)) else { return false };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// `README.md`, but not `3.5` and not the end of a sentence.
fn has_ending(text: &str) -> bool {
    let Some((stem, ending)) = text.rsplit_once('.') else { return false };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    !stem.is_empty()
        && stem.chars().all(is_plain)
        && (1..=5).contains(&ending.len())
        && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && ending.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Arithmetic that begins here: at least one operator or function, and balanced.
fn expression(chars: &[char], at: usize) -> Option<(String, usize)> {
    let mut depth = 0_usize;
    let mut end = at;
    let mut index = at;
    while let Some(&c) = chars.get(index) {
        if c.is_ascii_alphabetic() {
            let word: String = chars[index..].iter().take_while(|c| c.is_ascii_alphanumeric()).collect();
            let length = word.chars().count();
            let is_called = chars.get(index + length) == Some(&'(');
            if !FUNCTIONS.contains(&word.as_str()) || (word != "pi" && !is_called) {
                break;
            }
            index += length;
            end = index;
            continue;
        }
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => break,
            ')' => depth -= 1,
            ',' if depth == 0 => break,
            '0'..='9' | '.' | '+' | '-' | '*' | '/' | '%' | '^' | ',' | ' ' => {}
            _ => break,
        }
        index += 1;
        if c.is_ascii_digit() || c == ')' {
            end = index;
        }
    }
    let text: String = chars[at..end].iter().collect();
    let runs_on = chars.get(end).is_some_and(|c| c.is_alphanumeric() || *c == '*');
    let first = text.split(' ').next().unwrap_or_default();
    let is_balanced = text.matches('(').count() == text.matches(')').count();
    let has_function = FUNCTIONS.iter().any(|name| text.contains(name));
    let has_operator = text.trim_start_matches('-').contains(['+', '*', '/', '%', '^'])
        || text.contains(" - ")
        || has_function;
    let has_digit = text.contains(|c: char| c.is_ascii_digit());
    let is_one = has_digit && has_operator && is_balanced && !runs_on && !is_date(first);
    is_one.then_some((text, end))
}

/// Capitals inside a sentence are names.
fn mark_names(tokens: &mut [Token]) {
    let mut is_first = true;
    for token in tokens.iter_mut() {
        if token.kind == Kind::Mark {
            // After a full stop a capital says nothing.
            is_first |= token.text.contains(['.', '?', '!']);
            continue;
        }
        let has_capital = token.text.starts_with(char::is_uppercase);
        token.is_name = token.is_word() && has_capital && !is_first && token.text != "I";
        is_first = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sentence: &str, expected: &[(&str, &str)]) {
        let tokens = tokenize(sentence).expect("few tokens");
        let shown: Vec<(String, String)> = tokens
            .iter()
            .filter(|token| token.kind != Kind::Mark)
            .map(|token| {
                let kind = format!("{:?}", token.kind);
                (token.text.clone(), kind.split('(').next().unwrap_or_default().to_owned())
            })
            .collect();
        let expected: Vec<(String, String)> =
            expected.iter().map(|(text, kind)| ((*text).to_owned(), (*kind).to_owned())).collect();
        assert_eq!(shown, expected, "{sentence}");
    }

    #[test]
    fn values_are_told_by_their_looks() {
        check("What's 2 * (3 + 4)?", &[("What", "Word"), ("2 * (3 + 4)", "Expression")]);
        check(
            "of 3, 5 and 1,200.5.",
            &[("of", "Word"), ("3", "Number"), ("5", "Number"), ("and", "Word"), ("1,200.5", "Number")],
        );
        check("to LEAD-0007: \"a, b\"", &[("to", "Word"), ("LEAD-0007", "Identifier"), ("a, b", "Quoted")]);
        check(
            "from 2025-02-28 to 2025-02-30",
            &[("from", "Word"), ("2025-02-28", "Date"), ("to", "Word"), ("2025-02-30", "Word")],
        );
        check(
            "notes/plan.md README.md *.md",
            &[("notes/plan.md", "Path"), ("README.md", "Path"), ("*.md", "Glob")],
        );
        check(
            "mail anna@example.com it's 50%",
            &[
                ("mail", "Word"),
                ("anna@example.com", "Email"),
                ("it", "Word"),
                ("50%", "Number"),
                ("percent", "Word"),
            ],
        );
    }

    #[test]
    fn only_capitals_inside_a_sentence_are_names() {
        let tokens = tokenize("Weather in New York. Show it").expect("few tokens");
        let names: Vec<&str> =
            tokens.iter().filter(|token| token.is_name).map(|token| token.text.as_str()).collect();
        assert_eq!(names, ["New", "York"]);
    }

    #[test]
    fn a_sentence_without_end_is_not_read() {
        assert_eq!(tokenize(&"word ".repeat(500)), None);
    }
}
