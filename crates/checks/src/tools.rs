//! The tools that a Python program names.

use ruff_python_ast::{Expr, ExprCall, Stmt};
use ruff_text_size::Ranged;

use crate::bindings::Bindings;
use crate::literals::literal;
use crate::paths::{path_of, text_of};
use crate::tool_judge::{Given, Judge, Named, Reached};

pub(crate) struct ToolUse<'a, 'f, 'l> {
    pub judge: Judge<'a, 'f, 'l>,
    pub bindings: &'a Bindings<'a>,
}

impl<'a> ToolUse<'a, '_, '_> {
    /// `from servers.crm import update_record`, `from servers import crm`, `import servers.crm`.
    pub fn import(&mut self, stmt: &'a Stmt, reached: Reached) {
        match stmt {
            Stmt::Import(import) => {
                for alias in &import.names {
                    let mut parts = alias.name.as_str().split('.');
                    if parts.next() == Some("servers") {
                        self.judge.name(Named::imported(parts.next(), parts.next()), alias.range(), reached);
                    }
                }
            }
            Stmt::ImportFrom(import) if import.level == 0 => {
                let module = import.module.as_ref().map_or("", |module| module.as_str());
                let mut parts = module.split('.');
                if parts.next() != Some("servers") {
                    return;
                }
                let server = parts.next();
                if server.is_some() && parts.next().is_some() {
                    return;
                }
                for alias in &import.names {
                    let name = alias.name.as_str();
                    match (server, name) {
                        (Some(server), "*") => {
                            self.judge.name(Named::imported(Some(server), None), stmt.range(), reached)
                        }
                        (None, "*") => {}
                        (Some(server), tool) => {
                            self.judge.name(Named::imported(Some(server), Some(tool)), alias.range(), reached)
                        }
                        (None, server) => {
                            self.judge.name(Named::imported(Some(server), None), alias.range(), reached)
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// A call; if it is one of a tool, its name and its arguments.
    pub fn call(&mut self, call: &'a ExprCall, reached: Reached) {
        let Some(path) = path_of(&call.func) else { return };
        let Some(whole) = self.bindings.resolved(&path) else { return };
        let parts: Vec<&str> = whole.split('.').collect();
        // A session's variable may have any name.
        if parts.first() == Some(&"servers") && !self.bindings.is_imported(path[0]) {
            return;
        }
        match parts.as_slice() {
            // An import that fails is told where it stands.
            ["servers", server, tool] if path.len() > 1 => {
                self.judge.name(Named::called(Some(server), tool), call.func.range(), reached);
                self.arguments(&format!("{server}.{tool}"), call, Passed::ByName, reached);
            }
            ["servers", server, tool] => {
                self.arguments(&format!("{server}.{tool}"), call, Passed::ByName, reached);
            }
            ["callMCPTool" | "call_mcp_tool"] | ["gristmill", "callMCPTool" | "call_mcp_tool"] => {
                let Some(name) = call.arguments.args.first() else { return };
                let Some(text) = text_of(name) else { return };
                let (server, tool) = match text.split_once(['.', '/']) {
                    Some((server, tool)) => (Some(server), tool),
                    None => (None, text),
                };
                self.judge.name(Named::called(server, tool), name.range(), reached);
                self.arguments(text, call, Passed::AfterName, reached);
            }
            _ => {}
        }
    }

    fn arguments(&mut self, name: &str, call: &'a ExprCall, passed: Passed, reached: Reached) {
        if let Some(given) = given(call, passed) {
            self.judge.arguments(name, &given, call.range(), reached);
        }
    }
}

/// Where a call has the arguments of its tool.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passed {
    /// `tool(a=1)` or `tool({"a": 1})`
    ByName,
    /// `callMCPTool("tool", {"a": 1})`
    AfterName,
}

/// `None` if not even the names are known.
fn given(call: &ExprCall, passed: Passed) -> Option<Given> {
    let positional = match passed {
        Passed::ByName => &call.arguments.args[..],
        Passed::AfterName => call.arguments.args.get(1..)?,
    };
    let mut made = Given::default();
    match positional {
        [] | [Expr::NoneLiteral(_)] => {}
        [Expr::Dict(dict)] => {
            for item in &dict.items {
                made.add(text_of(item.key.as_ref()?)?, literal(&item.value));
            }
        }
        _ => return None,
    }
    for keyword in &call.arguments.keywords {
        made.add(keyword.arg.as_ref()?.as_str(), literal(&keyword.value));
    }
    Some(made)
}
