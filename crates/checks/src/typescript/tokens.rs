//! The tokens of a JavaScript or TypeScript text, without a parser.
//!
//! Used before a parser may see the text, so it must not be fooled: where only a parser knows whether a slash
//! begins a regular expression, it says so ([`Kind::Unsure`]) and whoever asks refuses the text.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Number,
    Text,
    Regex,
    /// A template without substitutions, or the end of one.
    Template,
    /// `(`, `[`, `{`, and what begins a substitution in a template.
    Open,
    /// What closes it.
    Close,
    /// Any other sign, longest first.
    Sign,
    /// A slash that may be either, or a comment of HTML.
    Unsure,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
    /// Whether a line ended since the token before.
    pub after_newline: bool,
}

/// What a token leaves behind it, for the next slash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// A value: a slash divides it.
    Operand,
    /// Something that wants a value: a slash begins a regular expression.
    Operator,
    /// A closing brace: nobody knows.
    Brace,
    /// A closing angle, or `of`: nor there.
    Either,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    /// With whether it is the head of `if`, `for`, `while` or `with`, after which a statement begins.
    Paren {
        is_head: bool,
    },
    Bracket,
    Brace,
    Substitution,
}

pub(super) struct Tokens<'a> {
    text: &'a str,
    at: usize,
    inside: Vec<Inside>,
    before: Before,
    /// The word that was the last token, unless a dot makes it a property.
    word: &'a str,
    /// The word before that, if both followed each other.
    word_before: &'a str,
    is_after_dot: bool,
}

/// Words after which a value comes.
const WANTS_VALUE: [&str; 16] = [
    "return",
    "typeof",
    "case",
    "in",
    "instanceof",
    "new",
    "delete",
    "void",
    "throw",
    "do",
    "else",
    "await",
    "yield",
    "default",
    "extends",
    "export",
];

/// Signs of more than one character that mean something else than their parts. `>` always stands alone: types
/// end with several of them.
const SIGNS: [&str; 28] = [
    "...", "===", "!==", "**=", "<<=", "&&=", "||=", "??=", "=>", "==", "!=", "<=", "++", "--", "**", "&&",
    "||", "??", "?.", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<",
];

impl<'a> Tokens<'a> {
    pub fn of(text: &'a str) -> Self {
        let at = if text.starts_with("#!") { text.find('\n').unwrap_or(text.len()) } else { 0 };
        Self {
            text,
            at,
            inside: Vec::new(),
            before: Before::Operator,
            word: "",
            word_before: "",
            is_after_dot: false,
        }
    }

    /// What the tokens so far have left behind.
    pub fn before(&self) -> Before {
        self.before
    }

    /// The last token, if it was a word.
    pub fn word(&self) -> &'a str {
        self.word
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// The next token; `None` at the end, or where no parser gets further.
    pub fn next(&mut self) -> Option<Token> {
        let after_newline = self.skip_blank()?;
        let start = self.at;
        let first = self.rest().chars().next()?;
        let kind = match first {
            '"' | '\'' => self.text_literal(first)?,
            '`' => {
                self.at += 1;
                self.template()?
            }
            '0'..='9' => self.number(),
            '.' if self.byte(1).is_ascii_digit() => self.number(),
            '(' | '[' | '{' => self.open(first),
            ')' | ']' | '}' => self.close(first)?,
            '/' => self.slash()?,
            _ if is_word(first) => self.name(),
            _ => self.sign(first, after_newline),
        };
        if kind != Kind::Word {
            (self.word, self.word_before) = ("", "");
        }
        Some(Token { kind, start, end: self.at, after_newline })
    }

    /// Skips blanks and comments; whether a line ended among them.
    fn skip_blank(&mut self) -> Option<bool> {
        let mut is_newline = false;
        loop {
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find(is_line_end).unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                let length = rest.find("*/")?;
                is_newline |= rest[..length].contains(is_line_end);
                self.at += length + 2;
            } else {
                let c = rest.chars().next()?;
                if !is_blank(c) {
                    return Some(is_newline);
                }
                is_newline |= is_line_end(c);
                self.at += c.len_utf8();
            }
        }
    }

    fn text_literal(&mut self, quote: char) -> Option<Kind> {
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => {
                    chars.next();
                }
                '\n' | '\r' => return None,
                _ if c == quote => {
                    self.at += at + 1;
                    self.before = Before::Operand;
                    return Some(Kind::Text);
                }
                _ => {}
            }
        }
        None
    }

    /// The text of a template, to its end or to its next substitution.
    fn template(&mut self) -> Option<Kind> {
        let mut chars = self.rest().char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => {
                    chars.next();
                }
                '`' => {
                    self.at += at + 1;
                    self.before = Before::Operand;
                    return Some(Kind::Template);
                }
                '$' if chars.peek().is_some_and(|(_, next)| *next == '{') => {
                    self.at += at + 2;
                    self.inside.push(Inside::Substitution);
                    self.before = Before::Operator;
                    return Some(Kind::Open);
                }
                _ => {}
            }
        }
        None
    }

    fn number(&mut self) -> Kind {
        let is_hex = matches!(self.byte(1), b'x' | b'X');
        let mut last = b'0';
        loop {
            let byte = self.byte(0);
            let is_sign = matches!(byte, b'+' | b'-') && matches!(last, b'e' | b'E') && !is_hex;
            if !(byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_') || is_sign) {
                break;
            }
            last = byte;
            self.at += 1;
        }
        self.before = Before::Operand;
        Kind::Number
    }

    fn open(&mut self, c: char) -> Kind {
        let is_head = matches!(self.word, "if" | "while" | "for" | "with")
            || self.word == "await" && self.word_before == "for";
        self.inside.push(match c {
            '(' => Inside::Paren { is_head },
            '[' => Inside::Bracket,
            _ => Inside::Brace,
        });
        self.at += 1;
        self.before = Before::Operator;
        Kind::Open
    }

    /// `None` if it closes something else: no parser goes on there.
    fn close(&mut self, c: char) -> Option<Kind> {
        let open = self.inside.pop()?;
        self.at += 1;
        match (open, c) {
            (Inside::Paren { is_head }, ')') => {
                self.before = if is_head { Before::Operator } else { Before::Operand };
            }
            (Inside::Bracket, ']') => self.before = Before::Operand,
            (Inside::Brace, '}') => self.before = Before::Brace,
            (Inside::Substitution, '}') => {
                // What follows the substitution is one token with its end, or opens the next.
                return Some(match self.template()? {
                    Kind::Open => {
                        self.inside.pop();
                        self.inside.push(Inside::Substitution);
                        Kind::Sign
                    }
                    _ => Kind::Close,
                });
            }
            _ => return None,
        }
        Some(Kind::Close)
    }

    fn slash(&mut self) -> Option<Kind> {
        match self.before {
            Before::Operand => {
                self.at += if self.byte(1) == b'=' { 2 } else { 1 };
                self.before = Before::Operator;
                Some(Kind::Sign)
            }
            Before::Operator => self.regex(),
            Before::Brace | Before::Either => {
                self.at += 1;
                Some(Kind::Unsure)
            }
        }
    }

    fn regex(&mut self) -> Option<Kind> {
        let mut is_class = false;
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => {
                    chars.next().filter(|(_, c)| !is_line_end(*c))?;
                }
                '[' => is_class = true,
                ']' => is_class = false,
                '/' if !is_class => {
                    self.at += at + 1;
                    let flags = self.rest();
                    self.at += flags.find(|c| !is_word(c)).unwrap_or(flags.len());
                    self.before = Before::Operand;
                    return Some(Kind::Regex);
                }
                _ if is_line_end(c) => return None,
                _ => {}
            }
        }
        None
    }

    fn name(&mut self) -> Kind {
        let start = self.at;
        while let Some(c) = self.rest().chars().next().filter(|c| is_word(*c)) {
            self.at += c.len_utf8();
            if c == '\\' && self.rest().starts_with("u{") {
                self.at += self.rest().find('}').map_or(2, |at| at + 1);
            }
        }
        let name = &self.text[start..self.at];
        let is_property = std::mem::take(&mut self.is_after_dot);
        self.word_before = self.word;
        self.word = if is_property { "" } else { name };
        self.before = match self.word {
            "of" => Before::Either,
            word if WANTS_VALUE.contains(&word) => Before::Operator,
            _ => Before::Operand,
        };
        Kind::Word
    }

    fn sign(&mut self, first: char, after_newline: bool) -> Kind {
        let rest = self.rest();
        if rest.starts_with("<!--") || after_newline && rest.starts_with("-->") {
            self.at += 1;
            return Kind::Unsure;
        }
        let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
        // `a ?.5 : b`
        let is_optional_number = rest.starts_with("?.") && self.byte(2).is_ascii_digit();
        let length = match sign {
            Some(sign) if !is_optional_number => sign.len(),
            _ => first.len_utf8(),
        };
        let text = &rest[..length];
        self.at += length;
        self.is_after_dot = matches!(text, "." | "?.");
        self.before = match (text, self.before) {
            // After its value, on the same line.
            ("++" | "--" | "!", Before::Operand) if !after_newline => Before::Operand,
            ("++" | "--" | "!", Before::Brace | Before::Either) | (">", _) => Before::Either,
            _ => Before::Operator,
        };
        Kind::Sign
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '#' | '\\') || !c.is_ascii() && !is_blank(c)
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

/// What ends a line in JavaScript.
pub(super) fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

/// Where something other than blanks and comments begins, from `at` on.
pub(super) fn after_blank(text: &str, at: usize) -> usize {
    let Some(rest) = text.get(at..) else { return at };
    let mut tokens = Tokens { at: 0, ..Tokens::of(rest) };
    match tokens.skip_blank() {
        Some(_) => at + tokens.at,
        None => text.len(),
    }
}

/// The words between two places, with nothing else among them than blanks, comments and signs.
pub(super) fn words_between(text: &str, from: usize, to: usize) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    let mut at = after_blank(text, from);
    while at < to {
        let rest = &text[at..to];
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        if length > 0 {
            words.push((at, &rest[..length]));
        }
        let step = length.max(rest.chars().next().map_or(1, char::len_utf8));
        at = after_blank(text, at + step);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<(Kind, &str)> {
        let mut tokens = Tokens::of(text);
        std::iter::from_fn(|| tokens.next())
            .map(|token| (token.kind, &text[token.start..token.end]))
            .collect()
    }

    fn kinds(text: &str) -> Vec<Kind> {
        tokens(text).into_iter().map(|(kind, _)| kind).collect()
    }

    #[test]
    fn a_slash_divides_or_begins_a_regular_expression() {
        for divides in ["a / b / c", "(a) / b", "a[0] / 1", "a++ / 2", "x! / 2", "a.return / 2", "`a` / 2"] {
            assert!(!kinds(divides).contains(&Kind::Regex), "{divides}: {:?}", tokens(divides));
        }
        for regex in [
            "x = /'/",
            "if (x) /'/.test(y)",
            "return /`/",
            "f(/[/*]/)",
            "[/a\\/b/g]",
            "a => /x/",
            "!/x/",
            "for await (a of b) /'/",
        ] {
            assert!(kinds(regex).contains(&Kind::Regex), "{regex}: {:?}", tokens(regex));
        }
        for unsure in ["{}\n/x/", "f<T>/x/", "for (x of /y/) z", "x <!-- y", "a\n--> b"] {
            assert!(kinds(unsure).contains(&Kind::Unsure), "{unsure}: {:?}", tokens(unsure));
        }
    }

    #[test]
    fn templates_nest() {
        let text = "`a${ {b: `c${d}e`} }f${g}` + (h)";
        let found: Vec<&str> = tokens(text).into_iter().map(|(_, text)| text).collect();
        assert_eq!(found.join("|"), "`a${|{|b|:|`c${|d|}e`|}|}f${|g|}`|+|(|h|)");
    }

    #[test]
    fn words_are_found_among_comments() {
        let text = "private /* static */ readonly // x\n static [";
        let words: Vec<&str> = words_between(text, 0, text.len()).into_iter().map(|(_, word)| word).collect();
        assert_eq!(words, ["private", "readonly", "static"]);
    }
}
