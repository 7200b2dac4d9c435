//! Mistakes of syntax, with what to write instead.

use oxc_ast::ast::Decorator;
use oxc_span::Span;
use ruff_text_size::TextRange;

use super::parse::range;
use crate::lines::Lines;

/// Something that isn't TypeScript, or that isn't supported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    pub range: TextRange,
    pub message: String,
    pub hint: Option<String>,
}

impl Mistake {
    pub fn new(span: Span, message: &str, hint: &str) -> Self {
        let range = range(span.start as usize, span.end as usize);
        Self { range, message: message.to_owned(), hint: Some(hint.to_owned()) }
    }

    /// A slash of which nobody knows what it is.
    pub fn unsure(range: TextRange) -> Self {
        Self {
            range,
            message: "it isn't clear whether this divides or begins a regular expression".to_owned(),
            hint: Some("put `;` before it, or give the regular expression a name first".to_owned()),
        }
    }

    pub fn decorator(decorator: &Decorator<'_>) -> Self {
        Self::new(
            decorator.span,
            "decorators aren't supported",
            "call the function yourself, on the class or the value",
        )
    }
}

/// What a parser says about a text.
pub(super) struct ParserError {
    pub message: String,
    pub help: Option<String>,
    /// Places with what is said about them, the first the most important.
    pub places: Vec<(Span, String)>,
}

impl ParserError {
    pub fn mistake(self, text: &str) -> Mistake {
        let lines = Lines::of(text);
        let end = text.trim_end().len();
        let at = self.places.first().map_or(range(end, end), |(span, _)| {
            let start = (span.start as usize).min(end);
            range(start, (span.end as usize).min(end))
        });
        let mut message = self.message.trim_end_matches('.').replace("`EOF`", "the end of the program");
        let opened = self.places.iter().find(|(_, said)| said == "Opened here");
        if let Some((span, _)) = opened {
            let line = lines.line_of(range(span.start as usize, span.end as usize).start());
            message.push_str(&format!(" (opened on line {line})"));
        }
        let line = lines.line_of(at.start());
        let near = [line.saturating_sub(1), line, line + 1].map(|line| lines.text(line));
        let hint = foreign_hint(near[1]).map(str::to_owned).or_else(|| jsx_hint(&near)).or(self.help);
        Mistake { range: at, message, hint: hint.filter(|hint| !hint.contains("parser options")) }
    }
}

fn jsx_hint(near: &[&str]) -> Option<String> {
    let is_tag = |line: &str| {
        let closes = line.contains("</") || line.contains("/>") || line.contains("<>");
        closes && line.contains('<')
    };
    near.iter().any(|line| is_tag(line)).then(|| {
        "JSX isn't supported: nothing is rendered here; return data, or build a string with a template"
            .to_owned()
    })
}

/// What other languages look like.
fn foreign_hint(line: &str) -> Option<&'static str> {
    const STARTS: [(&str, &str); 10] = [
        ("def ", PYTHON),
        ("elif ", PYTHON),
        ("from ", PYTHON),
        ("print ", PYTHON),
        ("except", PYTHON),
        ("async def ", PYTHON),
        ("with ", PYTHON),
        ("#", "comments begin with `//`; for Python, pass language \"python\""),
        ("npm ", SHELL),
        ("npx ", SHELL),
    ];
    let line = line.trim_start();
    STARTS
        .iter()
        .find(|(start, _)| line.starts_with(start))
        .map(|(_, hint)| *hint)
        .or_else(|| line.trim_end().ends_with(':').then_some(PYTHON).filter(|_| looks_like_block(line)))
}

const PYTHON: &str = "this program is read as TypeScript; for Python, pass language \"python\"";
const SHELL: &str = "this isn't a shell: nothing can be installed; import what's there, or call a tool";

fn looks_like_block(line: &str) -> bool {
    ["if ", "for ", "while ", "class ", "else", "try", "with "].iter().any(|start| line.starts_with(start))
}
