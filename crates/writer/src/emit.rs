//! From a plan to a program. Names come from plans that were checked; everything else is a literal.

use crate::arguments::Argument;
use crate::literal::{literal, quoted};
use crate::plan::{Call, Plan};
use crate::{Language, Program, emit_python, emit_typescript};

/// Pages that a program reads before it gives up.
pub const PAGES_MAX: u32 = 200;
/// Rows for each of which a second tool is called.
pub const LINKED_MAX: u32 = 200;

/// What a program says when an answer is only a part.
pub const PART_ONLY: &str = "the tool gave only a part of its rows; narrow the question";
/// What it says when there is no end of pages.
pub const TOO_MANY_PAGES: &str = "there are more than 200 pages; narrow the question";
/// What it says when it would have to make too many calls.
pub const TOO_MANY_ROWS: &str = "there are more than 200 rows to ask about; narrow the question";

/// Names that programs use themselves; a tool of such a name is imported under another one.
const OWN_NAMES: &[&str] = &[
    "answer",
    "rows",
    "row",
    "values",
    "value",
    "groups",
    "group",
    "key",
    "given",
    "next_page",
    "result",
    "results",
    "each",
    "ordered",
    "sum",
    "len",
    "min",
    "max",
    "sorted",
    "range",
    "dict",
    "RuntimeError",
    "Map",
    "Error",
    "a",
    "b",
    "_",
    "any",
    "number",
    "string",
    "await",
    "import",
    "from",
];

/// The program of a plan.
pub fn program(plan: &Plan, language: Language) -> Program {
    let code = match language {
        Language::Python => emit_python::code(plan),
        Language::TypeScript => emit_typescript::code(plan),
    };
    let mut tools = vec![plan.call.full_name.clone()];
    tools.extend(plan.link.iter().map(|link| link.call.full_name.clone()));
    Program { code, assumptions: plan.assumptions.clone(), tools }
}

/// The name under which a call's function is imported.
pub fn local_name(call: &Call, other: Option<&Call>) -> String {
    let is_taken = other.is_some_and(|other| other.function == call.function);
    match OWN_NAMES.contains(&call.function.as_str()) || is_taken {
        true if is_taken => format!("call_{}_of_each", call.function),
        true => format!("call_{}", call.function),
        false => call.function.clone(),
    }
}

/// `{"city": "Lisbon"}`, with further members that are expressions.
pub fn object(language: Language, arguments: &[Argument], further: &[(&str, String)]) -> String {
    let member = |name: &str, value: &str| format!("{}: {value}", quoted(language, name));
    let given = arguments.iter().map(|argument| member(&argument.name, &literal(language, &argument.value)));
    let further = further.iter().map(|(name, value)| member(name, value));
    let members: Vec<String> = given.chain(further).collect();
    format!("{{{}}}", members.join(", "))
}
