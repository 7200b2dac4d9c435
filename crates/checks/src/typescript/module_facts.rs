//! What a module says about itself: what it exports, what it imports, which tools it calls.

use std::collections::{BTreeSet, HashMap};

use gristmill_domain::one_line;
use gristmill_domain::skills::{CodeFacts, DEFAULT_EXPORT, FunctionFact, NeededTool, SkillLanguage};
use oxc_ast::ast::{
    CallExpression, Declaration, ExportDefaultDeclarationKind, Expression, FormalParameters, Function,
    ImportDeclaration, ImportDeclarationSpecifier, ImportOrExportKind, Program, ReturnStatement, Statement,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

use super::bindings::{Bindings, module_path};
use super::calls::{place, tool_of};
use super::imports::exported_name;
use super::mistakes::Mistake;
use super::module_docs::Docs;
use super::modules::package_of;
use super::parse::{Trouble, unfenced, with_program};
use super::paths::bare;
use super::prepare::told;
use super::script::{Top, script};
use crate::finding::Finding;

const FUNCTIONS_MAX: usize = 100;
const NAMES_MAX: usize = 200;
const PARAMETERS_MAX: usize = 50;
const PARAMETER_CHARS_MAX: usize = 200;

/// What a module in TypeScript or JavaScript says about itself, or the first mistake in it. Nothing of it runs.
pub fn module_facts(code: &str) -> Result<CodeFacts, Box<Finding>> {
    let text = unfenced(code);
    let found = with_program(&text, |program| {
        script(&text, program, Top::Exported)?;
        no_return(program)?;
        Ok(facts_of(&text, program))
    });
    found.map_err(|trouble| told(&text, trouble))
}

/// The functions at the top of a test whose names begin with `test`, in its order.
pub fn test_functions(code: &str) -> Vec<String> {
    let text = unfenced(code);
    let found = with_program(&text, |program| {
        let named = program.body.iter().filter_map(Statement::as_declaration).flat_map(functions_of);
        let tests = named.map(|function| function.name).filter(|name| name.starts_with("test"));
        Ok(tests.map(str::to_owned).take(FUNCTIONS_MAX).collect())
    });
    // What is wrong with it is told when it runs.
    found.unwrap_or_default()
}

/// A module is imported: what follows a `return` would be exported or not, as it comes.
fn no_return(program: &Program<'_>) -> Result<(), Trouble> {
    struct Finder(Option<Span>);
    impl<'a> VisitJs<'a> for Finder {
        fn visit_return_statement(&mut self, it: &ReturnStatement<'a>) {
            self.0.get_or_insert(it.span);
        }

        // What returns in there returns from there.
        fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}

        fn visit_expression(&mut self, _: &Expression<'a>) {}
    }
    let mut finder = Finder(None);
    program.body.iter().for_each(|statement| finder.visit_statement(statement));
    match finder.0 {
        None => Ok(()),
        Some(span) => Err(Trouble::Wrong(Mistake {
            range: place(span),
            message: "`return` outside of a function".to_owned(),
            hint: Some("a skill is imported: export a function that returns it".to_owned()),
        })),
    }
}

fn facts_of(text: &str, program: &Program<'_>) -> CodeFacts {
    let docs = Docs { text, program };
    let mut functions = exported(&docs);
    functions.truncate(FUNCTIONS_MAX);
    let bindings = Bindings::of(program);
    let mut named = Named { bindings: &bindings, imports: BTreeSet::new(), tools: BTreeSet::new() };
    named.visit_program(program);
    let tools = named.tools.into_iter().take(NAMES_MAX).map(|name| NeededTool { name, schema: None });
    // What stands at the top may be about the first function alone.
    let doc = Some(docs.of_module()).filter(|doc| functions.iter().all(|one| one.doc != *doc));
    CodeFacts {
        language: SkillLanguage::TypeScript,
        doc: doc.unwrap_or_default(),
        functions,
        imports: named.imports.into_iter().take(NAMES_MAX).collect(),
        tools: tools.collect(),
        broken: None,
    }
}

/// A function at the top, exported or not.
struct Known<'p, 'a> {
    name: &'a str,
    parameters: &'p FormalParameters<'a>,
    is_async: bool,
}

/// `function f() {}`, `const f = () => {}, g = function () {}`
fn functions_of<'p, 'a>(declaration: &'p Declaration<'a>) -> Vec<Known<'p, 'a>> {
    match declaration {
        Declaration::FunctionDeclaration(function) => {
            let name = function.id.as_ref().map(|id| id.name.as_str());
            let known = |name| Known { name, parameters: &function.params, is_async: function.r#async };
            name.map(known).into_iter().collect()
        }
        Declaration::VariableDeclaration(variables) => {
            let declarators = variables.declarations.iter();
            let functions = declarators.filter_map(|one| {
                let oxc_ast::ast::BindingPattern::BindingIdentifier(name) = &one.id else { return None };
                let (parameters, is_async) = function_in(one.init.as_ref()?)?;
                Some(Known { name: name.name.as_str(), parameters, is_async })
            });
            functions.collect()
        }
        _ => Vec::new(),
    }
}

fn function_in<'p, 'a>(expression: &'p Expression<'a>) -> Option<(&'p FormalParameters<'a>, bool)> {
    match bare(expression) {
        Expression::ArrowFunctionExpression(arrow) => Some((&*arrow.params, arrow.r#async)),
        Expression::FunctionExpression(function) => Some((&*function.params, function.r#async)),
        _ => None,
    }
}

/// What can be imported and called, in its order.
fn exported(docs: &Docs<'_, '_, '_>) -> Vec<FunctionFact> {
    let mut here = HashMap::new();
    let mut facts = Vec::new();
    for statement in &docs.program.body {
        let at = statement.span().start as usize;
        let declaration = match statement {
            Statement::ExportDeclaration(export) => Some(&export.declaration),
            _ => statement.as_declaration(),
        };
        if let Some(declaration) = declaration {
            let functions = functions_of(declaration).into_iter();
            here.extend(functions.map(|function| (function.name, (function, at))));
        }
    }
    for statement in &docs.program.body {
        let at = statement.span().start as usize;
        match statement {
            Statement::ExportDeclaration(export) => {
                let functions = functions_of(&export.declaration);
                facts.extend(functions.iter().map(|known| docs.fact(known.name, known, at)));
            }
            Statement::ExportNamedDeclaration(export) => {
                let specifiers = export.specifiers.iter();
                facts.extend(specifiers.filter_map(|one| {
                    let (known, at) = here.get(exported_name(&one.local))?;
                    Some(docs.fact(exported_name(&one.exported), known, *at))
                }));
            }
            Statement::ExportDefaultDeclaration(export) => {
                let known = match &export.declaration {
                    ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
                        Some((&*function.params, function.r#async, at))
                    }
                    ExportDefaultDeclarationKind::Identifier(name) => here
                        .get(name.name.as_str())
                        .map(|(known, at)| (known.parameters, known.is_async, *at)),
                    other => other
                        .as_expression()
                        .and_then(function_in)
                        .map(|(parameters, is_async)| (parameters, is_async, at)),
                };
                facts.extend(known.map(|(parameters, is_async, at)| {
                    docs.fact(DEFAULT_EXPORT, &Known { name: DEFAULT_EXPORT, parameters, is_async }, at)
                }));
            }
            _ => {}
        }
    }
    facts
}

impl Docs<'_, '_, '_> {
    fn fact(&self, name: &str, known: &Known<'_, '_>, at: usize) -> FunctionFact {
        let written = |span: Span| one_line(span.source_text(self.text), PARAMETER_CHARS_MAX);
        let parameters = known.parameters.items.iter().map(|one| one.span);
        let rest = known.parameters.rest.iter().map(|rest| rest.span);
        FunctionFact {
            name: name.to_owned(),
            parameters: parameters.chain(rest).take(PARAMETERS_MAX).map(written).collect(),
            doc: self.before(at),
            is_async: known.is_async,
        }
    }
}

/// Modules that are imported, and tools that are called.
struct Named<'b, 'a> {
    bindings: &'b Bindings<'a>,
    imports: BTreeSet<String>,
    tools: BTreeSet<String>,
}

impl<'a> VisitJs<'a> for Named<'_, 'a> {
    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        if it.import_kind == ImportOrExportKind::Type {
            return;
        }
        let module = it.source.value.as_str();
        self.imports.insert(one_line(&import_name(module), PARAMETER_CHARS_MAX));
        let Some(path) = module_path(module).filter(|path| path.first() == Some(&"servers")) else { return };
        match path.as_slice() {
            [_, server, tool] => {
                self.tools.insert(format!("{server}.{tool}"));
            }
            [_, server] => {
                for specifier in it.specifiers.iter().flatten() {
                    let ImportDeclarationSpecifier::ImportSpecifier(one) = specifier else { continue };
                    let name = exported_name(&one.imported);
                    // A name that begins as types do may be one: the stubs declare them.
                    let is_type = one.import_kind == ImportOrExportKind::Type
                        || name.starts_with(char::is_uppercase)
                        || name == DEFAULT_EXPORT;
                    if !is_type {
                        self.tools.insert(format!("{server}.{name}"));
                    }
                }
            }
            _ => {}
        }
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if let Some(called) = tool_of(self.bindings, it) {
            self.tools.insert(one_line(&called.name, PARAMETER_CHARS_MAX));
        }
        walk_js::walk_call_expression(self, it);
    }
}

/// `skills.name` for a skill, `servers` for servers, else the package.
fn import_name(module: &str) -> String {
    let ours = module.trim_start_matches(['.', '/', '@', '~']);
    match ours.split_once('/') {
        Some(("skills", name)) => {
            let name = name.split('/').next().unwrap_or(name);
            format!("skills.{}", name.trim_end_matches(".ts").trim_end_matches(".js"))
        }
        Some(("servers", _)) => "servers".to_owned(),
        _ => package_of(module).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_says_what_it_exports_imports_and_calls() {
        let code = r#"
/**
 * Deals that are open, by city.
 */

import { findDeals, type Deal } from "./servers/crm";
import { mean } from "skills/numbers.ts";
import assert from "node:assert";
import type { Row } from "zod";

/**
 * Finds the open deals of a city.
 * @param city where
 */
export async function openDeals(city: string, limit = 10): Promise<Deal[]> {
  return (await findDeals({ city })).slice(0, limit);
}

// Adds.
// And more.
export const total = (...values: number[]) => values.reduce((a, b) => a + b, 0);

function hidden({ a }: { a: number }, b?: string) { return callMCPTool("crm.close_deal", { a }); }
const local = async () => tools.mail.send({});
export { hidden as shown, local };
export default openDeals;
export const rate = 1.5;
"#;
        let facts = module_facts(code).expect("facts");
        assert_eq!(facts.language, SkillLanguage::TypeScript);
        assert_eq!(facts.doc, "Deals that are open, by city.");
        let shown: Vec<_> = facts
            .functions
            .iter()
            .map(|one| (one.name.as_str(), one.parameters.join(", "), one.doc.as_str(), one.is_async))
            .collect();
        assert_eq!(
            shown,
            [
                ("openDeals", "city: string, limit = 10".to_owned(), "Finds the open deals of a city.", true),
                ("total", "...values: number[]".to_owned(), "Adds.\nAnd more.", false),
                ("shown", "{ a }: { a: number }, b?: string".to_owned(), "", false),
                ("local", String::new(), "", true),
                ("default", "city: string, limit = 10".to_owned(), "Finds the open deals of a city.", true),
            ]
        );
        assert_eq!(facts.imports, ["assert", "servers", "skills.numbers"]);
        let tools: Vec<_> = facts.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(tools, ["crm.close_deal", "crm.findDeals", "mail.send"]);
    }

    #[test]
    fn a_comment_at_the_top_is_about_the_module_or_the_function_below_it() {
        let doc = |code: &str| {
            let facts = module_facts(code).expect("facts");
            (facts.doc, facts.functions[0].doc.clone())
        };
        let both = ("".to_owned(), "Adds.".to_owned());
        assert_eq!(doc("/** Adds. */\nexport function add() {}"), both);
        assert_eq!(doc("// Adds.\nexport function add() {}"), both);
        let module = ("Sums.\nAll.".to_owned(), String::new());
        assert_eq!(doc("// Sums.\n// All.\n\nexport function add() {}"), module);
    }

    #[test]
    fn mistakes_of_a_module_are_told_with_their_lines() {
        let told = |code: &str| {
            let finding = module_facts(code).expect_err("a mistake");
            (finding.line, finding.message.clone())
        };
        assert_eq!(told("export const a = 1;\nexport function f( {").0, 2);
        let returned = (2, "`return` outside of a function".to_owned());
        assert_eq!(told("const a = 1;\nif (a) { return 2; }"), returned);
        assert!(module_facts("export const f = () => { return 1; };").is_ok());
    }

    #[test]
    fn test_functions_are_those_at_the_top() {
        let code = "function test_one() { function test_inner() {} }\nconst testTwo = async () => 1;\nconst other = 1;";
        assert_eq!(test_functions(code), ["test_one", "testTwo"]);
        assert!(test_functions("function test_one( {").is_empty());
    }
}
