//! Whatever a sentence or a schema holds, it becomes a literal: the program around it stays the same.

use gristmill_writer::{Candidate, Language, Outcome, Program, Task, write};
use proptest::prelude::*;
use serde_json::{Value, json};

const LANGUAGES: [Language; 2] = [Language::Python, Language::TypeScript];

fn add_note() -> Value {
    json!({ "type": "object", "required": ["text"], "properties": { "text": { "type": "string" } } })
}

fn candidate<'a>(tool: &'a str, input: &'a Value, output: Option<&'a Value>) -> Candidate<'a> {
    Candidate {
        server: "notes",
        module: "notes",
        tool,
        function: tool,
        description: "",
        input_schema: input,
        output_schema: output,
        read_only: true,
        nearness: 1.0,
    }
}

fn written(sentence: &str, language: Language, tool: Candidate<'_>) -> Result<Program, String> {
    match write(&Task { sentence, language, tools: &[tool] }) {
        Outcome::Written(program) => Ok(program),
        Outcome::Refused(refusal) => Err(refusal.reason),
    }
}

/// The program with every literal text left out; `None` if one is not closed on its line.
fn skeleton(code: &str) -> Option<String> {
    let mut made = String::new();
    let mut chars = code.chars();
    while let Some(c) = chars.next() {
        made.push(c);
        if c != '"' {
            continue;
        }
        loop {
            match chars.next()? {
                '"' => break,
                '\n' => return None,
                '\\' => {
                    chars.next()?;
                }
                _ => {}
            }
        }
        made.push('"');
    }
    Some(made)
}

proptest! {
    #[test]
    fn a_quoted_text_never_leaves_its_literal(text in "\\PC*|(?s).{0,60}") {
        // The quote itself ends the text, and a blank text is none.
        prop_assume!(!text.contains('”') && text.chars().count() < 1_900);
        let input = add_note();
        for language in LANGUAGES {
            let sentence = format!("Add note “{text}”");
            let program = written(&sentence, language, candidate("add_note", &input, None)).expect("a program");
            let plain = written("Add note “x”", language, candidate("add_note", &input, None)).expect("a program");
            prop_assert_eq!(skeleton(&program.code), skeleton(&plain.code), "{}", program.code);
            prop_assert_eq!(program.code.lines().count(), plain.code.lines().count());
        }
    }

    #[test]
    fn any_sentence_is_answered_without_a_panic(sentence in "(?s).{0,200}") {
        let input = add_note();
        for language in LANGUAGES {
            let outcome = write(&Task { sentence: &sentence, language, tools: &[candidate("add_note", &input, None)] });
            if let Outcome::Written(program) = outcome {
                prop_assert!(skeleton(&program.code).is_some_and(|code| code.matches('(').count() <= 2));
            }
        }
    }

    #[test]
    fn a_field_of_any_name_is_a_literal(name in "(?s).{1,30}") {
        let input = json!({ "type": "object", "properties": {} });
        let output = json!({ "type": "object", "properties": {
            "rows": { "type": "array", "items": { "type": "object", "properties": {
                name.clone(): { "type": "number", "description": "Price of it" },
            } } },
        } });
        for language in LANGUAGES {
            let tool = candidate("list_rows", &input, Some(&output));
            if let Ok(program) = written("List rows with the highest price", language, tool) {
                prop_assert!(skeleton(&program.code).is_some(), "{}", program.code);
                let moves_text = program.code.contains(['\u{202e}', '\u{2028}']);
                prop_assert!(!moves_text, "{}", program.code);
            }
        }
    }
}

#[test]
fn a_tool_whose_name_is_no_identifier_is_never_imported() {
    let input = add_note();
    for bad in ["add note", "add;note", "", "1add", "add\nnote", "é"] {
        let tool = Candidate { function: bad, ..candidate("add_note", &input, None) };
        assert!(written("Add note “x”", Language::Python, tool).is_err(), "{bad:?}");
        let tool = Candidate { module: bad, ..candidate("add_note", &input, None) };
        assert!(written("Add note “x”", Language::TypeScript, tool).is_err(), "{bad:?}");
    }
}
