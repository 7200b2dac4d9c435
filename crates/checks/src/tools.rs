//! The tools that a Python program names.

use ruff_python_ast::{Expr, ExprCall, Stmt};
use ruff_text_size::{Ranged, TextRange, TextSize};

use crate::bindings::{Bindings, Noted};
use crate::literals::literal;
use crate::paths::{first_name_of, first_part, text_of};
use crate::tool_judge::{Given, Judge, Named, Reached};

/// Where a program may name tools: in an import, or in a call.
#[derive(Default)]
pub(crate) struct ToolPlaces {
    /// Where these begin, in their order.
    starts: Vec<TextSize>,
}

impl ToolPlaces {
    pub fn of(noted: &[Noted<'_>], bindings: &Bindings) -> Self {
        let is_call = |call: &ExprCall| bindings.first_meant(&call.func).is_some_and(leads_to_tools);
        let start_of = |noted: &Noted<'_>| match noted {
            Noted::Stmt(stmt) if imports_tools(stmt) => Some(stmt.start()),
            Noted::Expr(Expr::Call(call)) if is_call(call) => Some(call.start()),
            Noted::Stmt(_) | Noted::Expr(_) => None,
        };
        let mut starts: Vec<TextSize> = noted.iter().filter_map(start_of).collect();
        starts.sort_unstable();
        Self { starts }
    }

    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Whether there are any within this.
    pub fn are_in(&self, range: TextRange) -> bool {
        let first = self.starts.partition_point(|start| *start < range.start());
        self.starts.get(first).is_some_and(|start| *start < range.end())
    }
}

/// Whether what begins with this name may be a tool, or call one.
fn leads_to_tools(first: &str) -> bool {
    matches!(first, "servers" | "gristmill" | "callMCPTool" | "call_mcp_tool")
}

fn imports_tools(stmt: &Stmt) -> bool {
    let is_servers = |module: &str| first_part(module) == "servers";
    match stmt {
        Stmt::Import(import) => import.names.iter().any(|alias| is_servers(alias.name.as_str())),
        Stmt::ImportFrom(import) => import.module.as_ref().is_some_and(|module| is_servers(module.as_str())),
        _ => false,
    }
}

pub(crate) struct ToolUse<'a, 'f, 'l> {
    pub judge: Judge<'a, 'f, 'l>,
    pub bindings: &'a Bindings,
    pub places: &'a ToolPlaces,
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
        let Some(whole) = self.bindings.resolved_if(&call.func, leads_to_tools) else { return };
        let parts: Vec<&str> = whole.split('.').collect();
        // A session's variable may have any name.
        let is_imported = || first_name_of(&call.func).is_some_and(|name| self.bindings.is_imported(name));
        if parts.first() == Some(&"servers") && !is_imported() {
            return;
        }
        match parts.as_slice() {
            // An import that fails is told where it stands.
            ["servers", server, tool] if matches!(&*call.func, Expr::Attribute(_)) => {
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
