//! A server's definition of a tool, as it becomes stubs that models and type checkers read.

use std::sync::Arc;

use gristmill_checks::{Guardrails, NoTools, Rule, check};
use gristmill_domain::catalogue::{Catalogue, ServerOffer, ToolDefinition};
use gristmill_domain::stubs::{self, Language};
use gristmill_domain::validate::ArgumentCheck;

use crate::target::{Reached, Target, about, words};

pub const TARGET: Target = Target {
    name: "stubs",
    promise: "whatever a schema says, the stubs are short, are Python and balanced TypeScript, and hide nothing",
    run,
    dictionary: &[
        b"\"$ref\":\"#/$defs/a\"",
        b"\"$defs\":{\"a\":",
        b"\"properties\":{",
        b"\"type\":\"object\"",
        b"\"type\":[\"string\",\"null\"]",
        b"\"enum\":[",
        b"\"const\":",
        b"\"anyOf\":[",
        b"\"allOf\":[",
        b"\"items\":{",
        b"\"additionalProperties\":",
        b"\"required\":[\"a\"]",
        b"\"pattern\":\"^[a-z]{3}$\"",
        b"\"default\":",
        b"\"description\":\"",
        b"\\\"\\\"\\\"",
        b"*/",
        b"\\n",
        b"\\u202e",
        b"\\\\",
        b"`${x}`",
        b"__import__",
        b"\"outputSchema\":{",
    ],
    bytes_max: 4096,
};

/// A stub's own bound is 48 KB, and the barest one may be a little over it.
const STUB_BYTES_MAX: usize = 64 * 1024;

fn run(bytes: &[u8]) -> Reached {
    let Ok(text) = std::str::from_utf8(bytes) else { return Reached::of(0) };
    let definition = match ToolDefinition::from_text(text) {
        Ok(definition) => Arc::new(definition),
        Err(error) => return Reached::of(words(&error.to_string())),
    };
    let parameters = stubs::parameters(&definition);
    let offer = ServerOffer { name: "some-server".into(), tools: vec![definition], ..ServerOffer::default() };
    let catalogue = Catalogue::new(vec![offer]);
    let Some((server, tool)) = catalogue.servers.first().and_then(|it| Some((it, it.tools.first()?))) else {
        return Reached::of(1);
    };
    let python = stubs::python(server, tool);
    let typescript = stubs::typescript(server, tool);
    for stub in [&python, &typescript] {
        assert!(stub.len() <= STUB_BYTES_MAX, "a stub of {} bytes", stub.len());
        assert_eq!(stub.chars().find(|c| is_hidden(*c)), None, "a hidden character in\n{stub}");
    }
    assert_eq!(stubs::python(server, tool), python, "the same stub twice");
    is_python(&python);
    is_python(&stubs::import_line(Language::Python, server, tool));
    is_balanced(&typescript);
    for language in [Language::Python, Language::TypeScript] {
        for line in [stubs::signature(language, server, tool), stubs::example_call(language, tool)] {
            assert!(!line.contains(['\n', '\r']), "one line, not {line:?}");
        }
    }
    is_python(&stubs::example_call(Language::Python, tool));
    let check = ArgumentCheck::new(&tool.identifier, &tool.definition.input_schema);
    let fits = check.check(&serde_json::Map::new()).is_ok();
    let places = (about(parameters.len()), about(python.len()), about(typescript.len()));
    Reached::of((places, fits, check.problem().map(words)))
}

fn is_python(text: &str) {
    let report = check(text, &NoTools, &Guardrails::default());
    let wrong = report.findings.iter().find(|finding| finding.rule == Rule::Syntax);
    assert!(wrong.is_none(), "{wrong:?} in\n{text}");
}

fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}'..='\u{200f}' | '\u{feff}')
}

/// Comments and strings end, and brackets outside of them match.
fn is_balanced(text: &str) {
    let mut open = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let taken = if rest.starts_with("/*") {
            rest.find("*/").map(|end| end + 2)
        } else if rest.starts_with("//") {
            Some(rest.find('\n').unwrap_or(rest.len()))
        } else if matches!(c, '"' | '\'' | '`') {
            string_length(rest, c)
        } else {
            match c {
                '(' | '[' | '{' => open.push(c),
                ')' | ']' | '}' => {
                    let expected = open.pop();
                    assert!(
                        matches!((expected, c), (Some('('), ')') | (Some('['), ']') | (Some('{'), '}')),
                        "{c} in\n{text}"
                    );
                }
                _ => {}
            }
            Some(c.len_utf8())
        };
        let taken = taken.unwrap_or_else(|| panic!("a comment or string that doesn't end:\n{text}"));
        rest = &rest[taken..];
    }
    assert!(open.is_empty(), "{open:?} is left open in\n{text}");
}

fn string_length(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\n' if quote != '`' => return None,
            c if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}
