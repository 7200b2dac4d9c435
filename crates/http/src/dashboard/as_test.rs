//! An execution as a test: a shell script that runs its program again and compares what it comes to.
//!
//! Walls: whoever copies it pastes an agent's program into a shell. Each text stands between marks that it has no line
//! of, and nothing is offered that has characters which a terminal obeys or hides.

use gristmill_gateway::history::ExecutionRecord;
use serde_json::{Value, json};

/// Longer ones are no examples; `gristmill rerun` has no limit.
const SCRIPT_BYTES_MAX: usize = 64 << 10;

/// The script; `None` if not enough was kept, or it should not be pasted.
pub(super) fn as_test(record: &ExecutionRecord) -> Option<String> {
    if !record.summary.outcome.is_known() {
        return None;
    }
    let id = &record.summary.id;
    let code = record.summary.code.as_deref()?;
    let context = match (&record.context, record.context_bytes) {
        (_, 0) => None,
        (Some(context), _) => Some(context.as_str()),
        (None, _) => return None,
    };
    let expected = serde_json::to_string(&expected(record)).ok()?;
    let (put_context, with_context) = match context {
        Some(context) => {
            (put("context.json", context), " --context-json \"$folder/context.json\"".to_owned())
        }
        None => (String::new(), String::new()),
    };
    let (program, expected) = (put("program.py", code), put("expected.json", &expected));
    let script = format!(
        "#!/bin/sh\n\
         # Runs the program of execution {id} again: it must come to the same.\n\
         set -eu\n\
         folder=$(mktemp -d)\n\
         trap 'rm -rf \"$folder\"' EXIT\n\
         {program}{put_context}{expected}\
         gristmill run --json{with_context} \"$folder/program.py\" > \"$folder/report.json\" || true\n\
         python3 - \"$folder\" <<'COMPARE'\n\
         import json, sys\n\
         expected, report = (json.load(open(f\"{{sys.argv[1]}}/{{name}}.json\")) for name in (\"expected\", \"report\"))\n\
         actual = {{\"result\": report[\"result\"], \"error\": (report[\"error\"] or {{}}).get(\"code\")}}\n\
         differing = [name for name in expected if actual[name] != expected[name]]\n\
         for name in differing:\n\
         \x20   print(f\"{{name}}: expected {{expected[name]!r}}, got {{actual[name]!r}}\", file=sys.stderr)\n\
         sys.exit(1 if differing else 0)\n\
         COMPARE\n"
    );
    (script.len() <= SCRIPT_BYTES_MAX && script.chars().all(is_plain)).then_some(script)
}

/// How it ended, and what with, as far as that was kept whole.
fn expected(record: &ExecutionRecord) -> Value {
    let mut expected = json!({ "error": record.error.as_ref().map(|error| &error.code) });
    let result = match &record.result {
        Some(kept) if kept.is_cut() => None,
        Some(kept) => kept.text.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok()),
        None => Some(Value::Null),
    };
    if let Some(result) = result {
        expected["result"] = result;
    }
    expected
}

/// Lines that write a text to a file.
fn put(file: &str, text: &str) -> String {
    let is_free = |mark: &String| text.lines().all(|line| line != mark);
    let mark = (1..).map(|number| format!("END_{number}")).find(is_free).unwrap_or_default();
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    format!("cat > \"$folder/{file}\" <<'{mark}'\n{text}{newline}{mark}\n")
}

/// Shown as it is, and nothing else happens.
fn is_plain(letter: char) -> bool {
    match letter {
        '\n' | '\t' => true,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' => false,
        '\u{e0000}'..='\u{e007f}' => false,
        letter => !letter.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_ends_where_it_ends_whatever_is_in_it() {
        assert_eq!(put("a", "x"), "cat > \"$folder/a\" <<'END_1'\nx\nEND_1\n");
        let hostile = "x\nEND_1\nEND_2\nrm -rf ~\n";
        assert_eq!(put("a", hostile), format!("cat > \"$folder/a\" <<'END_3'\n{hostile}END_3\n"));
    }

    #[test]
    fn what_a_terminal_obeys_or_hides_is_not_plain() {
        assert!("print('é')\n\tx".chars().all(is_plain));
        for letter in ['\r', '\u{1b}', '\u{3}', '\u{9b}', '\u{7f}', '\u{202e}', '\u{2066}', '\u{200b}'] {
            assert!(!is_plain(letter), "{letter:?}");
        }
    }
}
