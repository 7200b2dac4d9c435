//! Which lines are certain to run, and fail the program if they fail: only what is wrong there is an error.
//!
//! Certain is what stands at the top of the program, or in a function that is called from there, and is
//! awaited where it stands. Whatever is behind a condition, in a loop, inside `try` or `with`, or after a line
//! that may end the program early, isn't.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ExprCall, Stmt, StmtFunctionDef, StmtIf};
use ruff_text_size::Ranged;

use crate::paths::text_of;
use crate::tool_judge::Reached;
use crate::tools::ToolUse;

/// The walk through a program's tool calls.
pub(crate) struct Flow<'a, 'u, 'f, 'l> {
    tool_use: &'u mut ToolUse<'a, 'f, 'l>,
    /// In the order of their names, which are bound to nothing else.
    functions: Vec<Function<'a>>,
}

struct Function<'a> {
    def: &'a StmtFunctionDef,
    is_entered: bool,
}

pub(crate) fn judge_tools<'a>(body: &'a [Stmt], tool_use: &mut ToolUse<'a, '_, '_>) {
    let mut functions: Vec<Function<'a>> = Vec::new();
    for stmt in body {
        if let Stmt::FunctionDef(def) = stmt
            && def.decorator_list.is_empty()
            && tool_use.bindings.is_bound_once(def.name.as_str())
        {
            functions.push(Function { def, is_entered: false });
        }
    }
    functions.sort_unstable_by_key(|function| function.def.name.as_str());
    let reached = if tool_use.bindings.is_hidden { Reached::Perhaps } else { Reached::Certainly };
    Flow { tool_use, functions }.body(body, reached);
}

impl<'a> Flow<'a, '_, '_, '_> {
    fn body(&mut self, body: &'a [Stmt], mut reached: Reached) {
        for stmt in body {
            self.stmt(stmt, reached);
            if reached == Reached::Certainly && may_end(stmt) {
                reached = Reached::Perhaps;
            }
        }
    }

    fn stmt(&mut self, stmt: &'a Stmt, reached: Reached) {
        match stmt {
            Stmt::Import(_) | Stmt::ImportFrom(_) => self.tool_use.import(stmt, reached),
            Stmt::Expr(inner) => self.expr(&inner.value, reached),
            Stmt::Assign(inner) => self.expr(&inner.value, reached),
            Stmt::AugAssign(inner) => self.expr(&inner.value, reached),
            Stmt::AnnAssign(inner) => self.optional(inner.value.as_deref(), reached),
            Stmt::Return(inner) => self.optional(inner.value.as_deref(), reached),
            Stmt::If(inner) if is_main_guard(inner) => self.body(&inner.body, reached),
            Stmt::If(inner) => {
                self.expr(&inner.test, reached);
                self.body(&inner.body, Reached::Perhaps);
                for clause in &inner.elif_else_clauses {
                    self.optional(clause.test.as_ref(), Reached::Perhaps);
                    self.body(&clause.body, Reached::Perhaps);
                }
            }
            Stmt::For(inner) => {
                self.expr(&inner.iter, reached);
                self.body(&inner.body, Reached::Perhaps);
                self.body(&inner.orelse, Reached::Perhaps);
            }
            // A function's body runs when it is called, and a class is rarely where tools are.
            _ => Elsewhere(self).visit_stmt(stmt),
        }
    }

    fn optional(&mut self, expr: Option<&'a Expr>, reached: Reached) {
        if let Some(expr) = expr {
            self.expr(expr, reached);
        }
    }

    fn expr(&mut self, expr: &'a Expr, reached: Reached) {
        match expr {
            Expr::Await(inner) => match &*inner.value {
                Expr::Call(call) => self.awaited(call, reached),
                other => self.expr(other, reached),
            },
            Expr::Call(call) => {
                // An async function that is called so only makes a coroutine.
                if !self.is_async(call) {
                    self.enter(call, reached);
                }
                if is_run(call)
                    && let Some(Expr::Call(inner)) = call.arguments.args.first()
                {
                    self.enter(inner, reached);
                }
                // Made here, and sent who knows where: inside gather, as a task, or never.
                self.tool_use.call(call, Reached::Perhaps);
                self.parts_of(call, reached);
            }
            Expr::Named(inner) => self.expr(&inner.value, reached),
            Expr::Subscript(inner) => self.expr(&inner.value, reached),
            Expr::Attribute(inner) => self.expr(&inner.value, reached),
            _ => Elsewhere(self).walk(expr),
        }
    }

    fn awaited(&mut self, call: &'a ExprCall, reached: Reached) {
        self.tool_use.call(call, reached);
        self.enter(call, reached);
        self.parts_of(call, reached);
    }

    fn parts_of(&mut self, call: &'a ExprCall, reached: Reached) {
        if !matches!(&*call.func, Expr::Name(_)) {
            self.expr(&call.func, reached);
        }
        call.arguments.args.iter().for_each(|argument| self.expr(argument, reached));
        call.arguments.keywords.iter().for_each(|keyword| self.expr(&keyword.value, reached));
    }

    /// Where among the functions is what a call calls.
    fn place_of(&self, call: &ExprCall) -> Option<usize> {
        let Expr::Name(name) = &*call.func else { return None };
        let wanted = name.id.as_str();
        self.functions.binary_search_by(|function| function.def.name.as_str().cmp(wanted)).ok()
    }

    fn is_async(&self, call: &ExprCall) -> bool {
        self.place_of(call).is_some_and(|place| self.functions[place].def.is_async)
    }

    /// Goes on in a function that is called for certain. Once: it may call itself.
    fn enter(&mut self, call: &ExprCall, reached: Reached) {
        if reached != Reached::Certainly {
            return;
        }
        let Some(function) = self.place_of(call).map(|place| &mut self.functions[place]) else { return };
        let def = function.def;
        if !function.is_entered && !yields(def) {
            function.is_entered = true;
            self.body(&def.body, Reached::Certainly);
        }
    }
}

/// Everything that only may run. What names no tool isn't walked through.
struct Elsewhere<'b, 'a, 'u, 'f, 'l>(&'b mut Flow<'a, 'u, 'f, 'l>);

impl<'a> Elsewhere<'_, 'a, '_, '_, '_> {
    fn walk(&mut self, expr: &'a Expr) {
        self.visit_expr(expr);
    }
}

impl<'a> Visitor<'a> for Elsewhere<'_, 'a, '_, '_, '_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if !self.0.tool_use.places.are_in(stmt.range()) {
            return;
        }
        if matches!(stmt, Stmt::Import(_) | Stmt::ImportFrom(_)) {
            self.0.tool_use.import(stmt, Reached::Perhaps);
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if !self.0.tool_use.places.are_in(expr.range()) {
            return;
        }
        if let Expr::Call(call) = expr {
            self.0.tool_use.call(call, Reached::Perhaps);
        }
        visitor::walk_expr(self, expr);
    }
}

/// Whether what follows a statement may not run although nothing fails.
fn may_end(stmt: &Stmt) -> bool {
    struct Finder(bool);
    impl<'a> Visitor<'a> for Finder {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            match stmt {
                Stmt::Return(_) | Stmt::Raise(_) | Stmt::Break(_) | Stmt::Continue(_) => self.0 = true,
                // What returns in there returns from there.
                Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
                _ => visitor::walk_stmt(self, stmt),
            }
        }

        fn visit_expr(&mut self, _expr: &'a Expr) {}
    }
    let mut finder = Finder(false);
    finder.visit_stmt(stmt);
    finder.0
}

fn yields(def: &StmtFunctionDef) -> bool {
    struct Finder(bool);
    impl<'a> Visitor<'a> for Finder {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            if !matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) {
                visitor::walk_stmt(self, stmt);
            }
        }

        fn visit_expr(&mut self, expr: &'a Expr) {
            self.0 |= matches!(expr, Expr::Yield(_) | Expr::YieldFrom(_));
            visitor::walk_expr(self, expr);
        }
    }
    let mut finder = Finder(false);
    finder.visit_body(&def.body);
    finder.0
}

/// `if __name__ == "__main__":`
fn is_main_guard(stmt: &StmtIf) -> bool {
    let Expr::Compare(compare) = &*stmt.test else { return false };
    let is_name = matches!(&*compare.left, Expr::Name(name) if name.id.as_str() == "__name__");
    let is_equal = matches!(&*compare.ops, [ruff_python_ast::CmpOp::Eq]);
    is_name && is_equal && compare.comparators.first().and_then(text_of) == Some("__main__")
}

/// `asyncio.run(main())`
fn is_run(call: &ExprCall) -> bool {
    matches!(&*call.func, Expr::Attribute(attribute)
        if attribute.attr.as_str() == "run"
            && matches!(&*attribute.value, Expr::Name(name) if name.id.as_str() == "asyncio"))
}
