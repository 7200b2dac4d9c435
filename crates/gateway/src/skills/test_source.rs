//! A skill's test: as it is said, its source, and the program that runs it.

use gristmill_checks::typescript::test_functions;
use gristmill_domain::one_line;
use gristmill_domain::skills::{SkillLanguage, SkillName};
use serde_json::Value;

use super::error::SkillError;

/// Lines of a program before the test; they are taken off the lines that are told.
pub(super) const LINES_BEFORE: u64 = 1;

/// Begin the line of an example's test that fails: the message says all, the line nothing more.
const PYTHON_ASSERT: &str = "assert found == expected,";
const TYPESCRIPT_ASSERT: &str = "assert.deepStrictEqual(found, expected,";

const RUN_TESTS: &str = include_str!("programs/run_tests.py");

/// How a skill is tried.
#[derive(Clone, Debug, PartialEq)]
pub enum SkillTest {
    /// Source with asserts or `test` functions, in the language of the skill; empty to have none.
    Source(String),
    /// A call, and what it must come to.
    Example {
        /// Such as `total([1, 2])`.
        call: String,
        /// As JSON.
        expected: Value,
    },
}

impl SkillTest {
    /// From JSON: text is source, an object with `call` and `expect` an example.
    pub fn from_json(value: &Value) -> Result<Self, SkillError> {
        match value {
            Value::String(source) => Ok(SkillTest::Source(source.clone())),
            Value::Object(members) => {
                if let Some(other) = members.keys().find(|key| !matches!(key.as_str(), "call" | "expect")) {
                    let other = one_line(other, 64);
                    return Err(bad_test(&format!("test can't have `{other}`; it is")));
                }
                let Some(call) = members.get("call") else {
                    return Err(bad_test("test has no `call`; it is"));
                };
                let Some(expected) = members.get("expect") else {
                    return Err(bad_test("test has no `expect`; it is"));
                };
                let call = call.as_str().ok_or_else(|| bad_test("`call` of test is text; test is"))?;
                Ok(SkillTest::Example { call: call.to_owned(), expected: expected.clone() })
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => Err(bad_test("test is")),
        }
    }

    pub(super) fn source(&self, language: SkillLanguage) -> String {
        match self {
            SkillTest::Source(source) => source.clone(),
            SkillTest::Example { call, expected } => of_example(language, call, expected),
        }
    }
}

fn bad_test(wrong: &str) -> SkillError {
    SkillError::Bad(format!(
        "{wrong} source with asserts, or an example: {{\"call\": \"total([1, 2])\", \"expect\": 3}}"
    ))
}

/// The program that runs a test: the skill's names are there, and its `test` functions are called.
pub(super) fn program(name: &SkillName, language: SkillLanguage, test: &str) -> String {
    match language {
        SkillLanguage::Python => format!("from skills.{name} import *\n{test}{RUN_TESTS}"),
        SkillLanguage::TypeScript => {
            // As globals: what the test imports itself, it may declare under the same names.
            let given = "{ assert: require(\"node:assert\") }";
            let names = format!("Object.assign(globalThis, {given}, await import(\"skills/{name}\"));");
            let calls: Vec<String> =
                test_functions(test).iter().map(|function| format!("await {function}();")).collect();
            let calls = if calls.is_empty() { String::new() } else { format!("\n;{}\n", calls.join(" ")) };
            format!("{names}\n{test}{calls}")
        }
    }
}

/// The test of an example: a call, and what it must come to as JSON.
fn of_example(language: SkillLanguage, call: &str, expected: &Value) -> String {
    // JSON in JSON: a string that both languages read.
    let (call, expected) = (call.trim(), Value::from(expected.to_string()));
    match language {
        SkillLanguage::Python => format!(
            "import json\n\nexpected = json.loads({expected})\nfound = {call}\nif hasattr(found, \"__await__\"):\n    \
             found = await found\n{PYTHON_ASSERT} f\"it came to {{found!r}}, not {{expected!r}}\"\n"
        ),
        SkillLanguage::TypeScript => {
            let call = call.trim_end_matches(';');
            format!(
                "import assert from \"node:assert\";\n\nconst expected = JSON.parse({expected});\n\
                 const told = JSON.stringify((await ({call})) ?? null) ?? \"null\";\n\
                 const found = JSON.parse(told);\n\
                 {TYPESCRIPT_ASSERT} `it came to ${{told}}, not ${{JSON.stringify(expected)}}`);\n"
            )
        }
    }
}

pub(super) fn is_example_assert(line: &str) -> bool {
    line.starts_with(PYTHON_ASSERT) || line.starts_with(TYPESCRIPT_ASSERT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_functions_of_typescript_are_called_after_it() {
        let name = SkillName::new("totals").expect("a name");
        let made =
            program(&name, SkillLanguage::TypeScript, "function testOne() {}\nassert(total([1]) === 1);");
        let (first, test) = made.split_once('\n').expect("lines");
        assert!(first.contains("skills/totals"), "{first}");
        assert_eq!(test, "function testOne() {}\nassert(total([1]) === 1);\n;await testOne();\n");
    }

    #[test]
    fn an_example_is_compared_as_json() {
        let made = of_example(SkillLanguage::TypeScript, "total([1, 2]);", &serde_json::json!({"a": "\"`"}));
        assert!(made.contains("await (total([1, 2]))"), "{made}");
        assert!(made.contains(r#"JSON.parse("{\"a\":\"\\\"`\"}")"#), "{made}");
        assert_eq!(made.lines().filter(|line| is_example_assert(line)).count(), 1);
    }
}
