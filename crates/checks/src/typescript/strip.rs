//! Types go, and the program stays, line by line and column by column.
//!
//! What a type statement leaves behind is a `;`: without it, the lines around it could become one statement.

use oxc_ast::ast::{
    ArrowFunctionExpression, CallExpression, CatchParameter, Class, ClassElement, Decorator,
    ExportDeclaration, Expression, FormalParameter, FormalParameterRest, Function, ImportExpression,
    ImportMeta, NewExpression, Statement, TSAsExpression, TSEnumDeclaration, TSImportEqualsDeclaration,
    TSInstantiationExpression, TSNamespaceDeclaration, TSNonNullExpression, TSSatisfiesExpression,
    TSTypeAssertion, TaggedTemplateExpression, VariableDeclarator,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

use super::classes;
use super::edits::Edits;
use super::enums;
use super::erased::is_erased;
use super::mistakes::Mistake;
use super::namespaces;
use super::parse::{Trouble, WALKED_MAX, range};
use super::tokens::{after_blank, is_line_end, words_between};

/// The walk that blanks types.
pub(super) struct Strip<'s> {
    pub text: &'s str,
    pub edits: Edits,
    /// The first thing that can't be made JavaScript.
    pub trouble: Option<Trouble>,
    depth: usize,
}

impl<'s> Strip<'s> {
    pub fn new(text: &'s str) -> Self {
        Self { text, edits: Edits::default(), trouble: None, depth: 0 }
    }

    pub fn refuse(&mut self, mistake: Mistake) {
        self.trouble.get_or_insert(Trouble::Wrong(mistake));
    }

    pub fn has_newline(&self, from: usize, to: usize) -> bool {
        self.text.get(from..to).is_some_and(|text| text.contains(is_line_end))
    }

    pub fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    pub fn blank_option(&mut self, node: Option<&impl GetSpan>) {
        if let Some(node) = node {
            self.edits.blank_span(node.span());
        }
    }

    /// A sign that only types have, right after something: `?` or `!`.
    pub fn blank_sign(&mut self, after: u32, signs: &[u8]) -> bool {
        let at = after_blank(self.text, after as usize);
        let is_there = signs.contains(&self.byte(at));
        if is_there {
            self.edits.blank(at, at + 1);
        }
        is_there
    }

    /// A statement that leaves nothing.
    pub fn erase(&mut self, span: Span) {
        self.edits.blank_as(span.start as usize, span.end as usize, ';');
    }

    /// `x as T`: goes, unless what follows on the next line would be taken for its continuation.
    fn cast(&mut self, inner_end: u32, end: u32) {
        let start = after_blank(self.text, inner_end as usize);
        let next = after_blank(self.text, end as usize);
        match self.byte(next) {
            b'(' | b'[' | b'`' => self.edits.blank_as(start, end as usize, ';'),
            _ => self.edits.blank(start, end as usize),
        }
    }

    /// Whether the walk may go deeper. Every level comes back through [`Strip::leave`].
    fn enter(&mut self, span: Span) -> bool {
        self.depth += 1;
        if self.depth > WALKED_MAX {
            let place = range(span.start as usize, span.start as usize + 1);
            self.trouble.get_or_insert(Trouble::TooDeep(place));
        }
        self.trouble.is_none()
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    fn parameters(&mut self, function: &Function<'_>) {
        if let Some(this) = &function.this_param {
            let after = after_blank(self.text, this.span.end as usize);
            let end = if self.byte(after) == b',' { after + 1 } else { this.span.end as usize };
            self.edits.blank(this.span.start as usize, end);
        }
    }
}

impl<'a> VisitJs<'a> for Strip<'_> {
    fn visit_expression(&mut self, it: &Expression<'a>) {
        if self.enter(it.span()) {
            walk_js::walk_expression(self, it);
        }
        self.leave();
    }

    fn visit_statement(&mut self, it: &Statement<'a>) {
        if is_erased(it) {
            self.erase(it.span());
            return;
        }
        if self.enter(it.span()) {
            walk_js::walk_statement(self, it);
        }
        self.leave();
    }

    fn visit_decorator(&mut self, it: &Decorator<'a>) {
        self.refuse(Mistake::decorator(it));
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        walk_js::walk_ts_as_expression(self, it);
        self.cast(it.expression.span().end, it.span.end);
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        walk_js::walk_ts_satisfies_expression(self, it);
        self.cast(it.expression.span().end, it.span.end);
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        // In brackets: `<T>{}` must not become a block, nor a line after `return` a statement.
        self.edits.blank_as(it.span.start as usize, it.expression.span().start as usize, '(');
        walk_js::walk_ts_type_assertion(self, it);
        self.edits.insert(it.span.end as usize, ")");
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        walk_js::walk_ts_non_null_expression(self, it);
        self.edits.blank(it.span.end as usize - 1, it.span.end as usize);
    }

    fn visit_ts_instantiation_expression(&mut self, it: &TSInstantiationExpression<'a>) {
        walk_js::walk_ts_instantiation_expression(self, it);
        self.edits.blank_span(it.type_arguments.span);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.blank_option(it.type_arguments.as_deref());
        walk_js::walk_call_expression(self, it);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        self.blank_option(it.type_arguments.as_deref());
        walk_js::walk_new_expression(self, it);
    }

    fn visit_tagged_template_expression(&mut self, it: &TaggedTemplateExpression<'a>) {
        self.blank_option(it.type_arguments.as_deref());
        walk_js::walk_tagged_template_expression(self, it);
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        let start = it.span.start as usize;
        self.edits.replace(start, start + "import".len(), "__gristmill.load");
        walk_js::walk_import_expression(self, it);
    }

    fn visit_import_meta(&mut self, it: &ImportMeta) {
        self.edits.replace(it.span.start as usize, it.span.end as usize, "__gristmill.meta");
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.blank_option(it.type_parameters.as_deref());
        self.parameters(it);
        self.blank_option(it.return_type.as_deref());
        walk_js::walk_function(self, it, flags);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        let (open, close) = (it.params.span.start as usize, it.params.span.end as usize);
        if let Some(types) = &it.type_parameters {
            let (from, to) = (types.span.start as usize, types.span.end as usize);
            // Between `async` and its bracket, and after `return`, no line may end.
            match self.has_newline(from, open) && self.byte(open) == b'(' {
                true => {
                    self.edits.blank_as(from, to, '(');
                    self.edits.blank(open, open + 1);
                }
                false => self.edits.blank(from, to),
            }
        }
        if let Some(returned) = &it.return_type {
            let (from, to) = (returned.span.start as usize, returned.span.end as usize);
            self.edits.blank(from, to);
            // Nor between the bracket and `=>`: the bracket goes there.
            if self.has_newline(from, to) && self.byte(close - 1) == b')' {
                self.edits.blank(close - 1, close);
                self.edits.insert(to, ")");
            }
        }
        walk_js::walk_arrow_function_expression(self, it);
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        if it.accessibility.is_some() || it.readonly || it.r#override {
            let start = it.pattern.span().start as usize;
            let words: Vec<_> = words_between(self.text, it.span.start as usize, start);
            for (at, word) in words {
                self.edits.blank(at, at + word.len());
            }
        }
        if it.optional {
            self.blank_sign(it.pattern.span().end, b"?");
        }
        self.blank_option(it.type_annotation.as_deref());
        walk_js::walk_formal_parameter(self, it);
    }

    fn visit_formal_parameter_rest(&mut self, it: &FormalParameterRest<'a>) {
        self.blank_option(it.type_annotation.as_deref());
        walk_js::walk_formal_parameter_rest(self, it);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if it.definite {
            self.blank_sign(it.id.span().end, b"!");
        }
        self.blank_option(it.type_annotation.as_deref());
        walk_js::walk_variable_declarator(self, it);
    }

    fn visit_catch_parameter(&mut self, it: &CatchParameter<'a>) {
        self.blank_option(it.type_annotation.as_deref());
        walk_js::walk_catch_parameter(self, it);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        classes::strip_head(self, it);
        walk_js::walk_class(self, it);
    }

    fn visit_class_element(&mut self, it: &ClassElement<'a>) {
        if classes::strip_element(self, it) {
            walk_js::walk_class_element(self, it);
        }
    }

    fn visit_ts_enum_declaration(&mut self, it: &TSEnumDeclaration<'a>) {
        enums::rewrite(self, it, namespaces::Declared::Here);
    }

    fn visit_ts_namespace_declaration(&mut self, it: &TSNamespaceDeclaration<'a>) {
        namespaces::rewrite(self, it, namespaces::Declared::Here);
    }

    fn visit_ts_import_equals_declaration(&mut self, it: &TSImportEqualsDeclaration<'a>) {
        let start = it.span.start as usize;
        self.edits.replace(start, start + "import".len(), "const ");
    }

    /// Inside a namespace; at the top they are taken before the walk gets there.
    fn visit_export_declaration(&mut self, it: &ExportDeclaration<'a>) {
        let start = it.span.start as usize;
        self.edits.blank(start, start + "export".len());
        self.visit_declaration(&it.declaration);
    }
}
