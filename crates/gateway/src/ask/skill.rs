//! What worked, as a skill: the program as a function, and a test that is made from its run.
//!
//! Walls: the test has no value of the run in it, only types, and names that the program itself has.

use gristmill_checks::{FUNCTION_NAME, NotAFunction};
use gristmill_domain::one_line;
use gristmill_protocol::EngineId;
use serde_json::Value;

use super::event::{AskEnding, Asked, AskedProgram};
use crate::language::skill_language;
use crate::privacy::has_token;
use crate::skills::{SaveRequest, SkillOrigin, SkillTest};

/// Fields of a result that a test looks for.
const FIELDS_MAX: usize = 20;

/// What a skill is described with, of its task.
const DESCRIPTION_CHARS_MAX: usize = 300;

/// Nothing was saved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotASkill {
    #[error("only a program that ran to its end can be kept")]
    NotRun,
    #[error(
        "the program has hidden values in it, which mean nothing in another session; write it for any value"
    )]
    HiddenValues,
    #[error("the program can't be a function: {0}")]
    NotAFunction(#[from] NotAFunction),
}

/// The skill that an ask has made, to be saved under a name. Its test calls it if it only reads, and can't write
/// whatever the program does.
pub fn skill_of(asked: &Asked, name: &str) -> Result<SaveRequest, NotASkill> {
    let (AskEnding::Finished, Some(program), Some(report)) = (asked.ending, &asked.program, &asked.report)
    else {
        return Err(NotASkill::NotRun);
    };
    if has_token(&program.code) {
        return Err(NotASkill::HiddenValues);
    }
    let code = match program.engine {
        EngineId::Python | EngineId::Native => gristmill_checks::as_function(&program.code)?,
        EngineId::TypeScript => gristmill_checks::typescript::as_function(&program.code)?,
    };
    let reads = asked.preview.as_ref().is_some_and(|preview| preview.only_reads) && asked.made.is_empty();
    let shape = reads.then(|| Shape::of(report.result.as_ref(), &program.code));
    let calls: Vec<String> = match &asked.preview {
        Some(preview) => preview.tools.iter().map(|tool| one_line(&tool.name, 200)).collect(),
        None => Vec::new(),
    };
    let description = match has_token(&asked.sentence) {
        true => None,
        false => Some(one_line(&asked.sentence, DESCRIPTION_CHARS_MAX)),
    };
    Ok(SaveRequest {
        name: name.to_owned(),
        code,
        language: Some(skill_language(program.engine)),
        description,
        test: Some(SkillTest::Source(test_of(program, shape.as_ref(), &calls))),
        origin: SkillOrigin::Person,
        tests_only_read: true,
        ..SaveRequest::default()
    })
}

/// What a result is like: no value is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Shape {
    Anything,
    Null,
    Flag,
    Number,
    Text,
    /// With these fields.
    Object(Vec<String>),
    /// Of things that are all alike.
    List(Box<Shape>),
}

impl Shape {
    fn of(value: Option<&Value>, code: &str) -> Self {
        match value {
            None | Some(Value::Null) => Shape::Null,
            Some(Value::Bool(_)) => Shape::Flag,
            Some(Value::Number(_)) => Shape::Number,
            Some(Value::String(_)) => Shape::Text,
            Some(Value::Object(members)) => {
                // What the program doesn't name may be data.
                let named = members.keys().filter(|key| is_named(code, key)).take(FIELDS_MAX);
                let mut named: Vec<String> = named.cloned().collect();
                named.sort_unstable();
                Shape::Object(named)
            }
            Some(Value::Array(items)) => {
                let mut shapes = items.iter().map(|item| Shape::of(Some(item), code));
                let first = shapes.next().unwrap_or(Shape::Anything);
                let alike = if shapes.all(|shape| shape == first) { first } else { Shape::Anything };
                Shape::List(Box::new(alike))
            }
        }
    }

    /// What is true of every value of this shape, in Python.
    fn python(&self, value: &str) -> Option<String> {
        Some(match self {
            Shape::Anything => return None,
            Shape::Null => format!("{value} is None"),
            Shape::Flag => format!("isinstance({value}, bool)"),
            Shape::Number => format!("isinstance({value}, (int, float))"),
            Shape::Text => format!("isinstance({value}, str)"),
            Shape::Object(fields) if fields.is_empty() => format!("isinstance({value}, dict)"),
            Shape::Object(fields) => {
                format!("isinstance({value}, dict) and {{{}}} <= set({value})", quoted(fields))
            }
            Shape::List(item) => match item.python("item") {
                Some(each) => format!("isinstance({value}, list) and all({each} for item in {value})"),
                None => format!("isinstance({value}, list)"),
            },
        })
    }

    /// The same in TypeScript.
    fn typescript(&self, value: &str) -> Option<String> {
        let is = |kind: &str| format!("typeof {value} === \"{kind}\"");
        Some(match self {
            Shape::Anything => return None,
            Shape::Null => format!("{value} == null"),
            Shape::Flag => is("boolean"),
            Shape::Number => is("number"),
            Shape::Text => is("string"),
            Shape::Object(fields) => {
                let each =
                    fields.iter().map(|field| format!(" && {} in {value}", Value::from(field.as_str())));
                format!("{} && {value} !== null{}", is("object"), each.collect::<String>())
            }
            Shape::List(item) => match item.typescript("item") {
                Some(each) => format!("Array.isArray({value}) && {value}.every((item) => {each})"),
                None => format!("Array.isArray({value})"),
            },
        })
    }
}

/// Whether the program itself has this name, as a whole word.
fn is_named(code: &str, name: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let is_word = !name.is_empty() && name.len() <= 64 && name.chars().all(is_part);
    is_word
        && code.match_indices(name).any(|(at, _)| {
            let before = code[..at].chars().next_back();
            let after = code[at + name.len()..].chars().next();
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
}

fn quoted(fields: &[String]) -> String {
    fields.iter().map(|field| Value::from(field.as_str()).to_string()).collect::<Vec<_>>().join(", ")
}

/// The source of the test.
fn test_of(program: &AskedProgram, shape: Option<&Shape>, calls: &[String]) -> String {
    let calls = if calls.is_empty() { "no tool".to_owned() } else { calls.join(", ") };
    match (program.engine, shape) {
        (EngineId::Python | EngineId::Native, Some(shape)) => {
            let condition = shape.python("found").unwrap_or_default();
            format!(
                "# Made from a run that called {calls}.\nfound = await {FUNCTION_NAME}()\n\
                 assert {condition}, f\"{FUNCTION_NAME}() gave {{type(found).__name__}}\"\n"
            )
        }
        (EngineId::Python | EngineId::Native, None) => format!(
            "# It writes with {calls}: the test doesn't call it.\nimport asyncio\n\
             assert asyncio.iscoroutinefunction({FUNCTION_NAME})\n"
        ),
        (EngineId::TypeScript, Some(shape)) => {
            let condition = shape.typescript("found").unwrap_or_default();
            format!(
                "// Made from a run that called {calls}.\nconst found: any = await {FUNCTION_NAME}();\n\
                 assert({condition}, `{FUNCTION_NAME}() gave ${{typeof found}}`);\n"
            )
        }
        (EngineId::TypeScript, None) => format!(
            "// It writes with {calls}: the test doesn't call it.\nassert(typeof {FUNCTION_NAME} === \"function\");\n"
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_test_has_types_and_names_of_the_program_and_no_value_of_the_run() {
        let code = "result = [{'name': row['name'], 'total': 1} for row in rows]";
        let value =
            json!([{"name": "Ann Lee", "total": 3, "ann@example.com": 1}, {"name": "Bo", "total": 4}]);
        let shape = Shape::of(Some(&value), code);
        assert_eq!(shape, Shape::List(Box::new(Shape::Object(vec!["name".to_owned(), "total".to_owned()]))));
        let python = shape.python("found").expect("a condition");
        assert_eq!(
            python,
            r#"isinstance(found, list) and all(isinstance(item, dict) and {"name", "total"} <= set(item) for item in found)"#
        );
        let typescript = shape.typescript("found").expect("a condition");
        assert_eq!(
            typescript,
            r#"Array.isArray(found) && found.every((item) => typeof item === "object" && item !== null && "name" in item && "total" in item)"#
        );
        for text in [python, typescript] {
            assert!(!text.contains("Ann") && !text.contains("ann@"), "{text}");
        }
    }

    #[test]
    fn lists_of_different_things_are_lists() {
        assert_eq!(Shape::of(Some(&json!([1, "a"])), ""), Shape::List(Box::new(Shape::Anything)));
        assert_eq!(Shape::of(Some(&json!([])), ""), Shape::List(Box::new(Shape::Anything)));
        assert_eq!(
            Shape::of(Some(&json!(3)), "").python("found").as_deref(),
            Some("isinstance(found, (int, float))")
        );
        assert_eq!(Shape::of(None, "").python("found").as_deref(), Some("found is None"));
    }
}
