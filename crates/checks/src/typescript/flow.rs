//! Which calls are certain to be made, and fail the program if they fail: only what is wrong there is an error.
//!
//! Certain is what stands at the top of the program, or in a function that is awaited there, and is awaited where
//! it stands. Whatever is behind a condition, in a loop, inside `try`, or after a line that may end the program
//! early, isn't.

use std::collections::{HashMap, HashSet};

use oxc_allocator::Vec as ArenaVec;
use oxc_ast::ast::{
    ArrowFunctionExpression, AwaitExpression, BindingPattern, CallExpression, ConditionalExpression,
    Declaration, DoWhileStatement, Expression, ExpressionStatement, ForInStatement, ForOfStatement,
    ForStatement, Function, FunctionBody, IfStatement, ImportDeclaration, LogicalExpression, Program,
    Statement, SwitchStatement, TryStatement, WhileStatement,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::Span;
use oxc_syntax::scope::ScopeFlags;

use super::calls::{ToolUse, place};
use super::paths::bare;
use crate::rules::Rule;
use crate::tool_judge::Reached;

/// The walk through a program's tool calls.
struct Flow<'p, 'a, 'u, 'j, 'f, 'l> {
    tool_use: &'u mut ToolUse<'a, 'j, 'f, 'l>,
    functions: HashMap<&'a str, &'p FunctionBody<'a>>,
    entered: HashSet<&'a str>,
    reached: Reached,
    /// The call that is awaited where it stands.
    awaited: Option<Span>,
}

pub(super) fn judge_tools<'a>(program: &Program<'a>, tool_use: &mut ToolUse<'a, '_, '_, '_>) {
    let bindings = tool_use.bindings;
    let functions =
        program.body.iter().filter_map(function_of).filter(|(name, _)| bindings.is_bound_once(name));
    let functions = functions.collect();
    let reached = if bindings.is_hidden { Reached::Perhaps } else { Reached::Certainly };
    let mut flow = Flow { tool_use, functions, entered: HashSet::new(), reached, awaited: None };
    flow.visit_statements(&program.body);
}

/// `function f() {}`, `const f = async () => {}`
fn function_of<'p, 'a>(statement: &'p Statement<'a>) -> Option<(&'a str, &'p FunctionBody<'a>)> {
    match statement.as_declaration()? {
        Declaration::FunctionDeclaration(function) if !function.generator => {
            Some((function.id.as_ref()?.name.as_str(), function.body.as_deref()?))
        }
        Declaration::VariableDeclaration(variables) => {
            let [one] = variables.declarations.as_slice() else { return None };
            let BindingPattern::BindingIdentifier(name) = &one.id else { return None };
            Some((name.name.as_str(), body_of(one.init.as_ref()?)?))
        }
        _ => None,
    }
}

fn body_of<'p, 'a>(expression: &'p Expression<'a>) -> Option<&'p FunctionBody<'a>> {
    match bare(expression) {
        Expression::ArrowFunctionExpression(arrow) => match &arrow.body {
            oxc_ast::ast::ArrowFunctionBody::FunctionBody(body) => Some(body),
            _ => None,
        },
        Expression::FunctionExpression(function) if !function.generator => function.body.as_deref(),
        _ => None,
    }
}

impl<'a> Flow<'_, 'a, '_, '_, '_, '_> {
    /// What only may run.
    fn perhaps(&mut self, walk: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.reached, Reached::Perhaps);
        walk(self);
        self.reached = before;
    }

    /// Goes on in a function that is awaited for certain. Once: it may call itself.
    fn enter(&mut self, call: &CallExpression<'a>) {
        match bare(&call.callee) {
            Expression::Identifier(name) => {
                let Some(body) = self.functions.get(name.name.as_str()).copied() else { return };
                if self.entered.insert(name.name.as_str()) {
                    self.visit_statements(&body.statements);
                }
            }
            // `await (async () => { ... })()`
            callee => {
                if let Some(body) = body_of(callee) {
                    self.visit_statements(&body.statements);
                }
            }
        }
    }
}

impl<'a> VisitJs<'a> for Flow<'_, 'a, '_, '_, '_, '_> {
    fn visit_statements(&mut self, it: &ArenaVec<'a, Statement<'a>>) {
        let before = self.reached;
        for statement in it {
            self.visit_statement(statement);
            if may_end(statement) {
                self.reached = Reached::Perhaps;
            }
        }
        self.reached = before;
    }

    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        self.tool_use.import(it, self.reached);
    }

    fn visit_await_expression(&mut self, it: &AwaitExpression<'a>) {
        if let Expression::CallExpression(call) = bare(&it.argument) {
            self.awaited = Some(call.span);
        }
        walk_js::walk_await_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        let is_awaited = self.awaited.take_if(|awaited| *awaited == it.span).is_some();
        if let Some(called) = self.tool_use.tool_of(it) {
            // Without `await` it goes who knows where: into `Promise.all`, a variable, or nowhere.
            let reached = if is_awaited { self.reached } else { Reached::Perhaps };
            self.tool_use.call(&called, it, reached);
        }
        if is_awaited && self.reached == Reached::Certainly {
            self.enter(it);
        }
        walk_js::walk_call_expression(self, it);
    }

    fn visit_expression_statement(&mut self, it: &ExpressionStatement<'a>) {
        if let Expression::CallExpression(call) = bare(&it.expression)
            && let Some(called) = self.tool_use.tool_of(call)
        {
            let message =
                format!("`{}` is called, and nobody awaits it: its failure would be lost", called.name);
            let hint = Some("write `await` before the call".to_owned());
            self.tool_use.judge.findings.add(Rule::NotAwaited, place(call.span), message, hint);
        }
        walk_js::walk_expression_statement(self, it);
    }

    fn visit_if_statement(&mut self, it: &IfStatement<'a>) {
        self.visit_expression(&it.test);
        self.perhaps(|flow| {
            flow.visit_statement(&it.consequent);
            it.alternate.iter().for_each(|alternate| flow.visit_statement(alternate));
        });
    }

    fn visit_conditional_expression(&mut self, it: &ConditionalExpression<'a>) {
        self.visit_expression(&it.test);
        self.perhaps(|flow| {
            flow.visit_expression(&it.consequent);
            flow.visit_expression(&it.alternate);
        });
    }

    fn visit_logical_expression(&mut self, it: &LogicalExpression<'a>) {
        self.visit_expression(&it.left);
        self.perhaps(|flow| flow.visit_expression(&it.right));
    }

    fn visit_for_statement(&mut self, it: &ForStatement<'a>) {
        self.perhaps(|flow| walk_js::walk_for_statement(flow, it));
    }

    fn visit_for_in_statement(&mut self, it: &ForInStatement<'a>) {
        self.perhaps(|flow| walk_js::walk_for_in_statement(flow, it));
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.visit_expression(&it.right);
        self.perhaps(|flow| walk_js::walk_for_of_statement(flow, it));
    }

    fn visit_while_statement(&mut self, it: &WhileStatement<'a>) {
        self.perhaps(|flow| walk_js::walk_while_statement(flow, it));
    }

    fn visit_do_while_statement(&mut self, it: &DoWhileStatement<'a>) {
        self.perhaps(|flow| walk_js::walk_do_while_statement(flow, it));
    }

    fn visit_switch_statement(&mut self, it: &SwitchStatement<'a>) {
        self.perhaps(|flow| walk_js::walk_switch_statement(flow, it));
    }

    fn visit_try_statement(&mut self, it: &TryStatement<'a>) {
        self.perhaps(|flow| walk_js::walk_try_statement(flow, it));
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.perhaps(|flow| walk_js::walk_function(flow, it, flags));
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.perhaps(|flow| walk_js::walk_arrow_function_expression(flow, it));
    }
}

/// Whether what follows a statement may not run although nothing fails.
fn may_end(statement: &Statement<'_>) -> bool {
    struct Finder(bool);
    impl<'a> VisitJs<'a> for Finder {
        fn visit_statement(&mut self, it: &Statement<'a>) {
            self.0 |= matches!(
                it,
                Statement::ReturnStatement(_)
                    | Statement::ThrowStatement(_)
                    | Statement::BreakStatement(_)
                    | Statement::ContinueStatement(_)
            );
            walk_js::walk_statement(self, it);
        }

        // What returns in there returns from there.
        fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}

        fn visit_expression(&mut self, _: &Expression<'a>) {}
    }
    let mut finder = Finder(false);
    finder.visit_statement(statement);
    finder.0
}
