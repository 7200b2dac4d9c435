//! Which language a program is in, where nobody said.

use ruff_python_parser::{LexicalErrorType, Mode, ParseError, ParseErrorType, ParseOptions, parse_unchecked};

use super::bindings::Bindings;
use super::names::values_of;
use super::parse::{unfenced, with_program};
use crate::nesting::is_too_deep;
use crate::repaired::repaired;

/// What a program is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    Python,
    /// JavaScript is TypeScript without types.
    TypeScript,
}

/// Longer programs are told apart by how they look.
const PARSED_BYTES_MAX: usize = 64 * 1024;

/// Names that JavaScript has and Python hasn't.
const GLOBALS: [&str; 8] =
    ["console", "JSON", "Math", "Promise", "undefined", "globalThis", "Object", "require"];

/// The language of a program, if it is clear. What both languages accept is Python, unless it uses what only
/// JavaScript has.
pub fn detect(code: &str) -> Option<Language> {
    if let Some(told) = fence_language(code) {
        return Some(told);
    }
    if begins_as_python(code) {
        return Some(Language::Python);
    }
    if code.len() > PARSED_BYTES_MAX {
        return looks_like(code);
    }
    let is_python = is_python(&repaired(code).text);
    if is_python && !GLOBALS.iter().any(|global| code.contains(global)) {
        return Some(Language::Python);
    }
    let text = unfenced(code);
    let uses_globals = with_program(&text, |program| {
        if !is_python {
            return Ok(true);
        }
        let (values, bindings) = (values_of(program), Bindings::of(program));
        Ok(GLOBALS.iter().any(|global| values.contains(global) && bindings.is_free(global)))
    });
    match (is_python, uses_globals) {
        (true, Ok(true)) | (false, Ok(_)) => Some(Language::TypeScript),
        (true, _) => Some(Language::Python),
        (false, Err(_)) => looks_like(code),
    }
}

/// Whether a text is Python, or would be with other indentation: JavaScript's lines may begin anywhere, so it would
/// take such a text, and only Python tells the mistake.
fn is_python(text: &str) -> bool {
    if is_too_deep(text) {
        return false;
    }
    let parse = |text: &str| parse_unchecked(text, ParseOptions::from(Mode::Module));
    match parse(text).errors() {
        [] => true,
        errors if errors.iter().any(is_of_indentation) => {
            let unindented: Vec<&str> = text.lines().map(str::trim_start).collect();
            parse(&unindented.join("\n")).errors().is_empty()
        }
        _ => false,
    }
}

fn is_of_indentation(error: &ParseError) -> bool {
    matches!(
        error.error,
        ParseErrorType::UnexpectedIndentation | ParseErrorType::Lexical(LexicalErrorType::IndentationError)
    )
}

/// Whether the first line is one that JavaScript can't begin with: then nothing needs to be parsed to know. Most
/// programs begin with a comment or an import.
fn begins_as_python(code: &str) -> bool {
    let mut lines = code.lines().map(str::trim).filter(|line| !line.is_empty());
    let Some(first) = lines.next() else { return false };
    if let Some(comment) = first.strip_prefix('#') {
        return !comment.starts_with('!');
    }
    if let Some(rest) = first.strip_prefix("from ") {
        return rest.split_whitespace().nth(1) == Some("import");
    }
    let Some(imported) = first.strip_prefix("import ") else {
        return first.starts_with("def ") || first.starts_with("async def ");
    };
    // JavaScript goes on with names in braces, and a file in quotes, perhaps on the next line.
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | ',' | ' ');
    let goes_on = |line: &str| {
        let is_file =
            line.strip_prefix("from").is_some_and(|rest| rest.trim_start().starts_with(['"', '\'']));
        is_file || line.starts_with([',', '/'])
    };
    imported.chars().all(is_name) && !imported.ends_with(',') && !lines.next().is_some_and(goes_on)
}

/// What the fence around a program says.
fn fence_language(code: &str) -> Option<Language> {
    let first = code.lines().find(|line| !line.trim().is_empty())?.trim();
    let name = first.strip_prefix("```").or_else(|| first.strip_prefix("~~~"))?;
    match name.trim().to_ascii_lowercase().as_str() {
        "ts" | "typescript" | "js" | "javascript" | "mjs" | "tsx" | "jsx" => Some(Language::TypeScript),
        "py" | "python" | "python3" => Some(Language::Python),
        _ => None,
    }
}

/// Beginnings of lines that only one of them has.
const TYPESCRIPT_STARTS: [&str; 16] = [
    "const ",
    "let ",
    "function ",
    "async function",
    "import {",
    "import * as",
    "import type",
    "interface ",
    "type ",
    "export ",
    "//",
    "} catch",
    "} else",
    "enum ",
    "namespace ",
    "});",
];
const PYTHON_STARTS: [&str; 12] = [
    "def ",
    "async def ",
    "elif ",
    "except",
    "from ",
    "with ",
    "async with ",
    "print(",
    "@",
    "#",
    "if __name__",
    "lambda ",
];

fn looks_like(code: &str) -> Option<Language> {
    let count = |starts: &[&str]| {
        code.lines().filter(|line| starts.iter().any(|start| line.trim_start().starts_with(start))).count()
    };
    let (typescript, python) = (count(&TYPESCRIPT_STARTS), count(&PYTHON_STARTS));
    match (typescript, python) {
        (1.., 0) => Some(Language::TypeScript),
        (0, 1..) => Some(Language::Python),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_line_that_javascript_has_not_is_enough() {
        let check = |code: &str, expected: bool| assert_eq!(begins_as_python(code), expected, "{code}");
        for python in [
            "import json\nprint(console)",
            "import json\nfrom collections import Counter",
            "import os.path as p, re",
            "\n  # a comment\nx = 1",
            "from servers.crm import list_leads",
            "def f(): pass",
            "async def f(): pass",
        ] {
            check(python, true);
        }
        for unclear in [
            "",
            "1 + 1",
            "#!/usr/bin/env node\nx",
            "import json\nfrom './a.js'",
            "import json\n  from\"./a.js\"",
            "import fs,\n  { readFileSync } from 'fs'",
            "import fs\n// why\nfrom 'fs'",
            "import { a } from 'b'",
            "import 'b'",
            "import * as b from 'b'",
            "import fs = require('fs')",
            "import json from './a.json' with { type: 'json' }",
            "from = 1",
            "const code = `\nimport json\n`",
            "define(1)",
        ] {
            check(unclear, false);
        }
    }
}
