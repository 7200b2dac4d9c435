//! How deep a parser goes into a text at most, found without one.
//!
//! A parser calls itself for what is nested, and the gateway must not fall over. Brackets count, and so does
//! everything that wants a value to its right: what stands before a separator doesn't add to what follows it.
//! Chains to the left (`a.b.c`, `1 + 2 + 3`) are loops in the parser; whoever walks the tree counts them.

use super::tokens::{Before, Kind, Token, Tokens};

/// Far above what people and models write.
pub(super) const LEVELS_MAX: usize = 250;

/// How a text stands with a parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Depth {
    Fine,
    /// With where it was seen.
    TooDeep(usize),
    /// Only a parser can tell, and it may not see it.
    Unsure(usize),
}

/// Words that want something to their right, which may want something again.
const WANTING: [&str; 26] = [
    "typeof",
    "void",
    "delete",
    "await",
    "yield",
    "new",
    "throw",
    "return",
    "case",
    "if",
    "for",
    "while",
    "with",
    "function",
    "class",
    "extends",
    "keyof",
    "readonly",
    "unique",
    "infer",
    "asserts",
    "async",
    "is",
    "as",
    "satisfies",
    "import",
];

/// Words that go on with what stands on the line before.
const CONTINUING: [&str; 11] =
    ["in", "of", "instanceof", "else", "while", "implements", "catch", "finally", "from", "extends", "do"];

/// What is open: a bracket, and what was begun in it.
#[derive(Clone, Copy, Default)]
struct Frame {
    /// Since the last separator.
    since: usize,
    /// Type arguments: a comma doesn't end them.
    angles: usize,
    /// `else` and `do`: a statement's end doesn't end them.
    held: usize,
}

impl Frame {
    fn levels(&self) -> usize {
        1 + self.since + self.angles + self.held
    }
}

pub(super) fn depth(text: &str) -> Depth {
    let mut tokens = Tokens::of(text);
    let mut frames = vec![Frame::default()];
    let mut below = 0;
    loop {
        let (before, word) = (tokens.before(), tokens.word());
        let Some(token) = tokens.next() else { return Depth::Fine };
        let shown = &text[token.start..token.end];
        if ends_statement(&token, before, word, shown)
            && let Some(frame) = frames.last_mut()
        {
            (frame.since, frame.angles) = (0, 0);
        }
        match token.kind {
            Kind::Unsure => return Depth::Unsure(token.start),
            Kind::Open => {
                below += frames.last().map_or(0, Frame::levels);
                frames.push(Frame::default());
            }
            Kind::Close => {
                frames.pop();
                below -= frames.last().map_or(below, Frame::levels).min(below);
            }
            Kind::Word | Kind::Sign => {
                if let Some(frame) = frames.last_mut() {
                    count(frame, shown, before);
                }
            }
            Kind::Number | Kind::Text | Kind::Regex | Kind::Template => {}
        }
        if below + frames.last().map_or(0, Frame::levels) > LEVELS_MAX {
            return Depth::TooDeep(token.start);
        }
    }
}

fn count(frame: &mut Frame, shown: &str, before: Before) {
    match shown {
        // The next substitution of a template.
        _ if shown.starts_with('}') => (frame.since, frame.angles) = (0, 0),
        ";" => (frame.since, frame.angles) = (0, 0),
        "," => frame.since = 0,
        // Closes what `<` has opened, or compares.
        ">" => {}
        "<" | "<<" | "<=" => frame.angles += 1,
        "else" | "do" => frame.held += 1,
        "=" | "=>" | "?" | ":" | "**" | "..." | "@" => frame.since += 1,
        _ if WANTING.contains(&shown) => frame.since += 1,
        _ if shown.len() > 1 && shown.ends_with('=') => frame.since += 1,
        // A sign before a value.
        _ if before != Before::Operand && !shown.starts_with(|c: char| c.is_alphanumeric()) => {
            frame.since += 1
        }
        _ => {}
    }
}

/// Whether a value ended on the line before, and another begins here: nothing that was begun goes on.
fn ends_statement(token: &Token, before: Before, word: &str, shown: &str) -> bool {
    token.after_newline
        && matches!(before, Before::Operand | Before::Brace)
        && !WANTING.contains(&word)
        && !CONTINUING.contains(&word)
        && match token.kind {
            Kind::Word => !CONTINUING.contains(&shown) && !matches!(shown, "as" | "is" | "satisfies"),
            Kind::Number | Kind::Text => true,
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_is_not_deep() {
        let rows = format!("const rows = [{}]", "{name: 'x', total: -1.5 + 2, f: a => b},\n".repeat(2_000));
        let lines = "const a = b ? c : d\nlet x: Promise<Array<string>> = f(g)\n".repeat(2_000);
        let text = format!("`{}`", "${a} and ${b ? 1 : 2}\n".repeat(500));
        let plain = "x = 1;\n".repeat(5_000);
        let methods = "interface A {\n  a: string[]\n  b(c: D): E\n}\n".repeat(500);
        for fine in [rows.as_str(), &lines, &text, &plain, &methods, "not ( TypeScript"] {
            assert_eq!(depth(fine), Depth::Fine, "{}", &fine[..fine.len().min(60)]);
        }
    }

    #[test]
    fn deep_is_found_however_it_is_written() {
        let many = 100_000;
        for (before, part, after) in [
            ("x = ", "(", ""),
            ("x = ", "[", ""),
            ("", "{", ""),
            ("x = ", "a => ", "1"),
            ("x = ", "`${", ""),
            ("x = ", "!", "1"),
            ("x = ", "- ", "1"),
            ("x = ", "typeof ", "1"),
            ("x = ", "await ", "1"),
            ("x = ", "new ", "A"),
            ("", "a = ", "1"),
            ("x = ", "a ? b : ", "c"),
            ("x = ", "a ? ';' : ", "c"),
            ("x = ", "2 ** ", "1"),
            ("", "if (a) ", "b"),
            ("", "if (a) b; else ", "c"),
            ("", "if (a)\nb\nelse ", "c"),
            ("", "a: ", "b"),
            ("", "for (;;) ", "b"),
            ("", "do ", "b"),
            ("", "do\n", "b"),
            ("let x: ", "A<", "B"),
            ("let x: ", "A<B, ", "B"),
            ("type A = ", "keyof\n", "B"),
            ("type A = ", "B extends C ? D : ", "E"),
            ("type A = ", "() => ", "E"),
            ("x = ", "<A>", "b"),
            ("x = ", "class extends ", "b"),
            ("x = ", "p ? q as\nR : ", "b"),
            ("x = ", "p >\nq ? r : ", "b"),
            ("", "@a ", "class B {}"),
            ("if (x) /`/;\n", "(", ""),
            ("x = /[/*]/;\n", "(", ""),
            ("x = a / b; '/'; ", "[", ""),
            ("x = <div>", "<div>", ""),
        ] {
            let text = format!("{before}{}{after}", part.repeat(many));
            assert!(matches!(depth(&text), Depth::TooDeep(_)), "{before}{part}: {:?}", depth(&text));
        }
    }
}
