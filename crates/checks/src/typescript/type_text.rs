//! A program as a type checker may see it: character for character the same, but what it imports comes from
//! declarations of ours, and comments are blank. So nothing in a program makes a checker read a file.

use gristmill_domain::catalogue::{Lookup, fold};
use gristmill_domain::stubs::{ANY_MODULE, declared_module};
use oxc_ast::ast::{
    ArrowFunctionExpression, ExportAllDeclaration, ExportFromDeclaration, Expression, Function,
    ImportDeclaration, ImportExpression, ReturnStatement, StringLiteral, TSExternalModuleDeclaration,
    TSExternalModuleReference, TSImportType,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

use super::bindings::module_path;
use super::edits::Edits;
use super::parse::{unfenced, with_program};
use super::paths::{bare, text_of};

/// Longer programs are mostly data.
const TEXT_BYTES_MAX: usize = 64 * 1024;

/// What a program has to contain to use a tool at all.
const TOOL_WORDS: [&str; 6] = ["servers", "tools", "callMCPTool", "callMcpTool", "callTool", "call_mcp_tool"];

/// Comments that are for a type checker, and that its authors may use.
const DIRECTIVES: [&str; 2] = ["@ts-ignore", "@ts-expect-error"];

/// In place of `return`.
const THROWN: &str = "throw ";

/// Whether a program may call tools: of others a type checker has little to say.
pub fn may_use_tools(code: &str) -> bool {
    TOOL_WORDS.iter().any(|word| code.contains(word))
}

/// The text for a checker that has the declarations of these tools; `None` for what is better not shown to one.
pub fn type_text(code: &str, lookup: &Lookup) -> Option<String> {
    let text = unfenced(code);
    if text.len() > TEXT_BYTES_MAX {
        return None;
    }
    let made = with_program(&text, |program| {
        let mut edits = Edits::default();
        for comment in &program.comments {
            let content =
                text.get(comment.span.start as usize..comment.span.end as usize).unwrap_or_default();
            let directive = content.strip_prefix("//").unwrap_or_default().trim_start();
            if !DIRECTIVES.iter().any(|known| directive.starts_with(known)) {
                edits.blank_span(comment.span);
            }
        }
        let mut modules = ModuleNames { text: &text, lookup, edits, is_refused: false, functions: 0 };
        modules.visit_program(program);
        Ok((!modules.is_refused).then(|| modules.edits.apply(&text)))
    });
    made.ok().flatten()
}

/// Everything in a program that names a module, and what it returns at the top, where a checker allows no `return`.
struct ModuleNames<'t> {
    text: &'t str,
    lookup: &'t Lookup,
    edits: Edits,
    /// Whether something names one in a way that can't be changed.
    is_refused: bool,
    /// How many functions are around.
    functions: usize,
}

impl ModuleNames<'_> {
    /// Another name in its place, with blanks up to its old length.
    fn rename(&mut self, module: &str, span: Span) {
        let (from, to) = (span.start as usize, span.end as usize);
        let written = self.text.get(from..to).unwrap_or_default();
        let name = format!("\"{}\"", self.declared(module));
        if name.len() > written.len() || !written.is_ascii() || written.contains(['\n', '\r']) {
            self.is_refused = true;
            return;
        }
        self.edits.blank(from, to);
        self.cover(from, &name);
    }

    fn cover(&mut self, from: usize, text: &str) {
        text.char_indices().for_each(|(index, sign)| self.edits.cover(from + index, sign));
    }

    fn declared(&self, module: &str) -> String {
        let server = match module_path(module).as_deref() {
            Some(["servers", server]) => fold(server),
            _ => return ANY_MODULE.to_owned(),
        };
        let servers = &self.lookup.catalogue().servers;
        let place = servers.iter().position(|known| {
            [&known.offer.name, &known.identifier, &known.folder].iter().any(|name| fold(name) == server)
        });
        place.map_or_else(|| ANY_MODULE.to_owned(), declared_module)
    }

    fn literal(&mut self, literal: &StringLiteral<'_>) {
        self.rename(literal.value.as_str(), literal.span);
    }
}

impl<'a> Visit<'a> for ModuleNames<'_> {
    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        self.literal(&it.source);
    }

    fn visit_export_from_declaration(&mut self, it: &ExportFromDeclaration<'a>) {
        self.literal(&it.source);
    }

    fn visit_export_all_declaration(&mut self, it: &ExportAllDeclaration<'a>) {
        self.literal(&it.source);
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        if let Some(module) = text_of(&it.source) {
            self.rename(module, bare(&it.source).span());
        }
        walk::walk_import_expression(self, it);
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.functions += 1;
        walk::walk_function(self, it, flags);
        self.functions -= 1;
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.functions += 1;
        walk::walk_arrow_function_expression(self, it);
        self.functions -= 1;
    }

    fn visit_return_statement(&mut self, it: &ReturnStatement<'a>) {
        // It would look no further. What is thrown is looked at, and is as long.
        if self.functions == 0 && it.argument.is_some() {
            self.cover(it.span.start as usize, THROWN);
        }
        walk::walk_return_statement(self, it);
    }

    fn visit_ts_import_type(&mut self, it: &TSImportType<'a>) {
        self.literal(&it.source);
        walk::walk_ts_import_type(self, it);
    }

    fn visit_ts_external_module_reference(&mut self, it: &TSExternalModuleReference<'a>) {
        self.literal(&it.expression);
    }

    fn visit_ts_external_module_declaration(&mut self, _it: &TSExternalModuleDeclaration<'a>) {
        // `declare module "./file"` adds to what it names, wherever that is.
        self.is_refused = true;
    }

    fn visit_expression(&mut self, it: &Expression<'a>) {
        // `require("...")` names a module, too, where a checker takes it for one.
        if let Expression::CallExpression(call) = it
            && matches!(&call.callee, Expression::Identifier(name) if name.name.as_str() == "require")
            && let Some(first) = call.arguments.first().and_then(|argument| argument.as_expression())
            && let Some(module) = text_of(first)
        {
            self.rename(module, bare(first).span());
        }
        walk::walk_expression(self, it);
    }
}
