//! A TypeScript program as a function that other programs import: see the same of Python.

use oxc_ast::ast::{BindingPattern, Declaration, Program, Statement};
use oxc_span::GetSpan;

use super::edits::Edits;
use super::erased::is_erased;
use super::parse::{range, unfenced, with_program};
use crate::as_function::{FUNCTION_NAME, NotAFunction};
use crate::check::CODE_BYTES_MAX;
use crate::lines::Lines;

/// The program as `export async function run()`, which gives what the program's result would be. Imports stay
/// before it.
pub fn as_function(code: &str) -> Result<String, NotAFunction> {
    let text = unfenced(code);
    if text.len() > CODE_BYTES_MAX {
        return Err(NotAFunction::Unreadable);
    }
    let lines = Lines::of(&text);
    let made = with_program(&text, |program| Ok(function_of(program, &text, &lines)));
    made.unwrap_or(Err(NotAFunction::Unreadable))
}

fn function_of(program: &Program<'_>, text: &str, lines: &Lines<'_>) -> Result<String, NotAFunction> {
    let (mut imports, mut edits) = (String::new(), Edits::default());
    let mut has_result = false;
    let says_something = |statement: &&Statement<'_>| {
        !is_erased(statement) && !matches!(statement, Statement::EmptyStatement(_))
    };
    let last = program.body.iter().rfind(says_something);
    // What a program exports last is its result.
    let exported = last.and_then(|last| match last {
        Statement::ExportDefaultDeclaration(export) => export.declaration.as_expression(),
        _ => None,
    });
    for statement in &program.body {
        let span = statement.span();
        let what = match statement {
            Statement::ImportDeclaration(_) => {
                imports.push_str(&text[span.start as usize..span.end as usize]);
                imports.push('\n');
                edits.blank_span(span);
                None
            }
            Statement::ExportDefaultDeclaration(_)
                if exported.is_some() && last.is_some_and(|last| last.span() == span) =>
            {
                None
            }
            Statement::ExportFromDeclaration(_)
            | Statement::ExportAllDeclaration(_)
            | Statement::ExportNamedDeclaration(_)
            | Statement::ExportDeclaration(_)
            | Statement::ExportDefaultDeclaration(_)
            | Statement::TSExportAssignment(_) => Some("`export`"),
            _ => match statement.as_declaration() {
                Some(Declaration::TSNamespaceDeclaration(_)) => Some("`namespace`"),
                Some(Declaration::VariableDeclaration(variables)) => {
                    has_result |= variables.declarations.iter().any(|one| {
                        matches!(&one.id, BindingPattern::BindingIdentifier(name) if name.name.as_str() == "result")
                    });
                    None
                }
                Some(_) | None => None,
            },
        };
        if let Some(what) = what {
            let line = lines.line_of(range(span.start as usize, span.end as usize).start());
            return Err(NotAFunction::OnlyAtTop { line, what });
        }
    }
    let returned = match (last, exported) {
        (Some(last), Some(value)) => {
            edits.blank(last.span().start as usize, value.span().start as usize);
            Some(value.span())
        }
        (Some(Statement::ExpressionStatement(last)), None) if !has_result => Some(last.expression.span()),
        (Some(_) | None, _) => None,
    };
    if let Some(value) = returned {
        edits.insert(value.start as usize, "return (");
        edits.insert(value.end as usize, ")");
    }
    let body = edits.apply(text);
    // What the imports left behind is no line of it.
    let first = body.find(|letter: char| !letter.is_whitespace()).unwrap_or(0);
    let first = body[..first].rfind('\n').map_or(0, |end| end + 1);
    let body = body[first..].trim_end();
    let end = if has_result && exported.is_none() { "\nreturn result;" } else { "" };
    Ok(format!("{imports}export async function {FUNCTION_NAME}() {{\n{body}{end}\n}}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_stay_at_the_top_and_the_last_value_is_returned() {
        let code = "import { get } from \"./servers/crm\";\nconst rows = await get({});\nrows.length;";
        let expected = "import { get } from \"./servers/crm\";\nexport async function run() {\nconst rows = await get({});\nreturn (rows.length);\n}\n";
        assert_eq!(as_function(code).as_deref(), Ok(expected));
        let code = "const result = 1;\nconsole.log(2);";
        let expected =
            "export async function run() {\nconst result = 1;\nconsole.log(2);\nreturn result;\n}\n";
        assert_eq!(as_function(code).as_deref(), Ok(expected));
    }

    #[test]
    fn a_default_export_at_the_end_is_returned() {
        let check = |code: &str, body: &str| {
            let expected = format!("export async function run() {{\n{body}\n}}\n");
            assert_eq!(as_function(code), Ok(expected), "{code}");
        };
        let blank = " ".repeat("export default ".len());
        check(
            "const result = 1;\nexport default result;\n",
            &format!("const result = 1;\n{blank}return (result);"),
        );
        check("const a = 1;\nexport default { a }", &format!("const a = 1;\n{blank}return ({{ a }})"));
        let told = as_function("export default 1;\nconsole.log(2);");
        assert_eq!(told, Err(NotAFunction::OnlyAtTop { line: 1, what: "`export`" }));
        let told = as_function("export default function f() {}");
        assert_eq!(told, Err(NotAFunction::OnlyAtTop { line: 1, what: "`export`" }));
    }

    #[test]
    fn what_works_only_at_the_top_is_refused_with_its_line() {
        let told = as_function("const a = 1;\nexport const b = 2;");
        assert_eq!(told, Err(NotAFunction::OnlyAtTop { line: 2, what: "`export`" }));
        assert_eq!(as_function("function ("), Err(NotAFunction::Unreadable));
    }
}
