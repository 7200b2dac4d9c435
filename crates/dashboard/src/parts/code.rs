//! Programs and output. Python gets a little color: enough to tell words, strings and remarks apart.

use maud::{Markup, html};

use crate::{Text, text::Piece};

/// Larger ones are shown without color.
const COLORED_BYTES_MAX: usize = 200_000;

const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "match", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with",
];

/// Output, or any other text as it is.
pub(crate) fn block(text: &Text) -> Markup {
    html! { pre.code.plain tabindex="0" { (text) } }
}

/// A program with numbered lines. `failing` is a line and what went wrong there.
pub(crate) fn listing(code: &Text, failing: Option<(u64, &Text)>) -> Markup {
    let colored = code.raw().len() <= COLORED_BYTES_MAX;
    let mut open = None;
    html! {
        pre.code.numbered tabindex="0" {
            @for (number, line) in (1_u64..).zip(code.raw().lines()) {
                @let failed = failing.filter(|(at, _)| *at == number);
                span.line.failing[failed.is_some()] id={ "line-" (number) } {
                    @if colored {
                        @for (class, piece) in pieces(line, &mut open) {
                            @if let Some(class) = class { span.(class) { (Piece(piece)) } } @else { (Piece(piece)) }
                        }
                    } @else {
                        (Piece(line))
                    }
                    "\n"
                }
                @if let Some((_, why)) = failed { span.why { (why) "\n" } }
            }
        }
    }
}

type Colored<'a> = (Option<&'static str>, &'a str);

/// One line in pieces. `open` is the triple quote that a line before left open.
fn pieces<'a>(line: &'a str, open: &mut Option<&'static str>) -> Vec<Colored<'a>> {
    let mut pieces: Vec<Colored<'a>> = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let (class, length) = match *open {
            Some(quote) => {
                let end = rest.find(quote).map(|at| at + quote.len());
                if end.is_some() {
                    *open = None;
                }
                (Some("text"), end.unwrap_or(rest.len()))
            }
            None => next_piece(rest, open),
        };
        let (piece, after) = rest.split_at(length.clamp(1, rest.len()));
        // Neighbors of one color are one piece.
        match pieces.last_mut() {
            Some((None, before)) if class.is_none() => {
                let start = line.len() - rest.len() - before.len();
                *before = &line[start..line.len() - after.len()];
            }
            _ => pieces.push((class, piece)),
        }
        rest = after;
    }
    pieces
}

/// What `rest` begins with, and how long that is; at least one character.
fn next_piece(rest: &str, open: &mut Option<&'static str>) -> (Option<&'static str>, usize) {
    let first = rest.chars().next().unwrap_or(' ');
    match first {
        '#' => (Some("remark"), rest.len()),
        '"' | '\'' => (Some("text"), string_length(rest, open)),
        '0'..='9' => {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '_');
            (Some("figure"), end.unwrap_or(rest.len()))
        }
        _ if first.is_alphabetic() || first == '_' => {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            (KEYWORDS.contains(&&rest[..length]).then_some("word"), length)
        }
        _ => (None, first.len_utf8()),
    }
}

fn string_length(rest: &str, open: &mut Option<&'static str>) -> usize {
    for quote in ["\"\"\"", "'''"] {
        if let Some(inside) = rest.strip_prefix(quote) {
            return match inside.find(quote) {
                Some(end) => end + 6,
                None => {
                    *open = Some(quote);
                    rest.len()
                }
            };
        }
    }
    let quote = rest.as_bytes()[0];
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            byte if byte == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colored(code: &str) -> String {
        let page = listing(&Text::from(code), None).into_string();
        let start = page.find('>').map_or(0, |at| at + 1);
        page[start..].trim_end_matches("</pre>").to_owned()
    }

    #[test]
    fn words_strings_and_remarks_have_their_color() {
        assert_eq!(
            colored("for x in 'a\\'b': # é"),
            "<span class=\"line\" id=\"line-1\"><span class=\"word\">for</span> x <span class=\"word\">in</span> \
             <span class=\"text\">&#39;a\\&#39;b&#39;</span>: <span class=\"remark\"># é</span>\n</span>"
        );
    }

    #[test]
    fn the_editor_colors_the_same_words() {
        assert!(include_str!("../../assets/app.js").contains(&KEYWORDS.join("|")));
    }

    #[test]
    fn a_long_string_goes_on_over_lines() {
        let page = colored("x = '''a\nif b''' + 'é");
        assert!(page.contains("<span class=\"text\">if b&#39;&#39;&#39;</span> + "), "{page}");
        assert!(page.contains("<span class=\"text\">&#39;é</span>"), "{page}");
    }

    #[test]
    fn the_failing_line_carries_its_reason() {
        let why = Text::from("KeyError: 'a'");
        let page = listing(&Text::from("a\nb"), Some((2, &why))).into_string();
        assert!(
            page.contains(
                "<span class=\"line failing\" id=\"line-2\">b\n</span><span class=\"why\">KeyError"
            )
        );
    }

    #[test]
    fn any_text_comes_out_whole() {
        for code in ["é'é", "\"\\", "'''", "0x1f_é", "日本 = \"\"\"本", "a\u{301}#", "''''''''"] {
            let mut open = None;
            let whole: String = pieces(code, &mut open).iter().map(|(_, piece)| *piece).collect();
            assert_eq!(whole, code);
        }
    }
}
