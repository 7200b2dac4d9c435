//! Extract: the program in a model's answer, however that is written.
//!
//! Walls: an answer is hostile text. It is read once, line by line, within a bound, and what comes of it is a program
//! behind the wall, or nothing.

use gristmill_checks::Rule;
use gristmill_checks::{Guardrails, NoTools};
use gristmill_protocol::EngineId;

use super::limits::{ANSWER_BYTES_MAX, PROGRAM_BYTES_MAX};

/// Blocks of one answer that are looked at.
const BLOCKS_MAX: usize = 50;

/// Tags of blocks that are no programs.
const NO_PROGRAMS: [&str; 15] = [
    "bash",
    "console",
    "csv",
    "diff",
    "html",
    "json",
    "log",
    "markdown",
    "md",
    "output",
    "plaintext",
    "sh",
    "shell",
    "text",
    "txt",
];

/// Why there is no program in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoProgram {
    #[error("the answer is longer than {} KB", ANSWER_BYTES_MAX / 1024)]
    TooLong,
    #[error("the answer has no program in it")]
    Words,
}

/// The program in an answer.
pub(super) fn program_in(answer: &str, engine: EngineId) -> Result<String, NoProgram> {
    if answer.len() > ANSWER_BYTES_MAX {
        return Err(NoProgram::TooLong);
    }
    let text = answer.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n");
    let found = match best_block(&blocks(&text), engine) {
        Some(code) => code,
        None if is_bare_program(&text, engine) => format!("{}\n", text.trim()),
        None => return Err(NoProgram::Words),
    };
    if found.len() > PROGRAM_BYTES_MAX { Err(NoProgram::TooLong) } else { Ok(found) }
}

/// A fenced block.
struct Block {
    /// What stands behind its fence, in small letters.
    tag: String,
    code: String,
}

/// The blocks of a text; one that nothing closes goes to its end.
fn blocks(text: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut open: Option<(char, usize, usize)> = None;
    for line in text.split_inclusive('\n') {
        match (open, fence(line)) {
            (None, Some(Fence { sign, length, indent, tag })) => {
                if found.len() >= BLOCKS_MAX {
                    break;
                }
                found.push(Block { tag, code: String::new() });
                open = Some((sign, length, indent));
            }
            (Some((sign, length, _)), Some(end))
                if end.sign == sign && end.length >= length && end.tag.is_empty() =>
            {
                open = None;
            }
            (Some((.., indent)), _) => {
                if let Some(block) = found.last_mut() {
                    let blanks = line.len() - line.trim_start_matches(' ').len();
                    block.code.push_str(&line[blanks.min(indent)..]);
                }
            }
            (None, None) => {}
        }
    }
    found
}

struct Fence {
    sign: char,
    length: usize,
    /// Blanks before it.
    indent: usize,
    tag: String,
}

fn fence(line: &str) -> Option<Fence> {
    let trimmed = line.trim_start_matches(' ');
    let sign = trimmed.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
    let length = trimmed.chars().take_while(|other| *other == sign).count();
    let rest = trimmed[length..].trim();
    // Three in one line are a text in prose.
    if length < 3 || rest.contains(sign) {
        return None;
    }
    let tag = rest.split([' ', ',', '{']).next().unwrap_or_default().to_ascii_lowercase();
    Some(Fence { sign, length, indent: line.len() - trimmed.len(), tag })
}

/// The longest of those that are most likely the program.
fn best_block(blocks: &[Block], engine: EngineId) -> Option<String> {
    let filled = blocks.iter().filter(|block| !block.code.trim().is_empty());
    let ranked = filled.filter_map(|block| Some((rank(&block.tag, engine)?, block.code.len(), block)));
    let best = ranked.max_by_key(|(rank, length, _)| (*rank, *length));
    best.map(|(.., block)| format!("{}\n", block.code.trim_end().trim_start_matches('\n')))
}

/// How likely a block of this tag is the program; `None` if it is none.
fn rank(tag: &str, engine: EngineId) -> Option<u8> {
    let is_python = matches!(tag, "python" | "py" | "python3" | "python-repl");
    let is_typescript =
        matches!(tag, "typescript" | "ts" | "tsx" | "javascript" | "js" | "jsx" | "mjs" | "mts");
    let is_ours = match engine {
        EngineId::Python | EngineId::Native => is_python,
        EngineId::TypeScript => is_typescript,
    };
    match tag {
        _ if is_ours => Some(3),
        "" => Some(2),
        // A wrong tag is more likely than another language: the check tells.
        _ if !NO_PROGRAMS.contains(&tag) => Some(1),
        _ => None,
    }
}

/// Whether an answer without a fence is a program and nothing else.
fn is_bare_program(text: &str, engine: EngineId) -> bool {
    let says_something = ["=", "(", "import "].iter().any(|sign| text.contains(sign));
    if !says_something || text.len() > PROGRAM_BYTES_MAX {
        return false;
    }
    let guardrails = Guardrails::default();
    let report = match engine {
        EngineId::Python | EngineId::Native => gristmill_checks::check(text, &NoTools, &guardrails),
        EngineId::TypeScript => gristmill_checks::typescript::check(text, &NoTools, &guardrails),
    };
    !report.findings.iter().any(|finding| matches!(finding.rule, Rule::Syntax | Rule::NotChecked))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(answer: &str, expected: Option<&str>) {
        let found = program_in(answer, EngineId::Python);
        assert_eq!(found.as_deref().ok(), expected, "{answer}");
    }

    #[test]
    fn the_program_is_found_in_ugly_answers() {
        let program = Some("result = 1\n");
        check("```python\nresult = 1\n```", program);
        check("Sure! Here you are:\n\n```python\nresult = 1\n```\nIt counts (a lot).", program);
        check("```\nresult = 1\n```", program);
        check("~~~py\nresult = 1\n~~~", program);
        check("```python title=\"a.py\"\r\nresult = 1\r\n```\r\n", program);
        check("\u{feff}```PYTHON\nresult = 1", program);
        check("  ```python\n  result = 1\n  ```", program);
        check("result = 1", program);
        check("```python\n\n\nresult = 1\n\n\n```", program);
    }

    #[test]
    fn of_several_blocks_the_likeliest_is_taken() {
        check("```json\n{\"a\": 1}\n```\n```python\nresult = 1\n```", Some("result = 1\n"));
        check(
            "```python\nx = 1\n```\nor rather\n```python\nx = 1\nresult = x\n```",
            Some("x = 1\nresult = x\n"),
        );
        check("```text\na very long example of output\n```\n```\nresult = 1\n```", Some("result = 1\n"));
        // A wrong tag.
        check("```ruby\nresult = 1\n```", Some("result = 1\n"));
        // A fence in a text of the program.
        check(
            "````python\ntext = '''\n```\n'''\nresult = text\n````",
            Some("text = '''\n```\n'''\nresult = text\n"),
        );
        let answer = "```python\nresult = 1\n```\n```ts\nconst result = await list({});\n```";
        let found = program_in(answer, EngineId::TypeScript);
        assert_eq!(found.as_deref(), Ok("const result = await list({});\n"));
    }

    #[test]
    fn words_are_no_program() {
        check("I can't do that: there is no tool for invoices.", None);
        check("Sorry", None);
        check("", None);
        check("```json\n{\"error\": 1}\n```", None);
        check("```python\n```", None);
        check("Use ```result = 1``` for that.", None);
    }

    #[test]
    fn there_is_an_end_to_what_is_read() {
        let long = format!("```python\n{}\n```", "x = 1\n".repeat(ANSWER_BYTES_MAX / 6));
        assert_eq!(program_in(&long, EngineId::Python), Err(NoProgram::TooLong));
        let program = format!("```python\n{}\n```", "x = 1\n".repeat(PROGRAM_BYTES_MAX / 6 + 1));
        assert_eq!(program_in(&program, EngineId::Python), Err(NoProgram::TooLong));
        let fences = "```\na\n```\n".repeat(10_000);
        assert!(program_in(&fences, EngineId::Python).is_ok());
    }
}
