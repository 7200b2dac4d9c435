//! The tools that a program names, against those there are.

use std::sync::Arc;

use gristmill_domain::catalogue::{Lookup, Reserved, Resolved, Server, Tool, fold};
use gristmill_domain::validate::ArgumentCheck;
use gristmill_domain::{nearest, one_line};
use ruff_python_ast::{Expr, ExprCall, Stmt};
use ruff_text_size::{Ranged, TextRange};
use serde_json::{Map, Value};

use crate::bindings::Bindings;
use crate::finding::Findings;
use crate::literals::literal;
use crate::paths::{path_of, text_of};
use crate::rules::{Rule, Severity};

/// What is known about tools when a program is checked.
pub trait ToolNames {
    /// Every tool by name; `None` if that isn't known.
    fn lookup(&self) -> Option<&Lookup>;

    /// Whether no server has this tool or, without a tool, whether there is no such server: neither now, nor
    /// held back, nor once a server that can't be reached now is there again.
    fn is_certainly_unknown(&self, server: Option<&str>, tool: Option<&str>) -> bool;

    /// The check of a tool's arguments, if there is one.
    fn argument_check(&self, server: &Server, tool: &Tool) -> Option<Arc<ArgumentCheck>>;
}

/// Nothing is known about tools.
pub struct NoTools;

impl ToolNames for NoTools {
    fn lookup(&self) -> Option<&Lookup> {
        None
    }

    fn is_certainly_unknown(&self, _server: Option<&str>, _tool: Option<&str>) -> bool {
        false
    }

    fn argument_check(&self, _server: &Server, _tool: &Tool) -> Option<Arc<ArgumentCheck>> {
        None
    }
}

/// What makes the parts of a schema depend on each other: with a value missing, nothing about it is certain.
const DEPENDING: [&str; 11] = [
    "if",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "$ref",
    "dependentSchemas",
    "dependentRequired",
    "dependencies",
    "propertyNames",
    "unevaluatedProperties",
];

/// What is shown of a server's or a tool's name.
const NAME_CHARS_MAX: usize = 200;

/// Names that a message lists.
const LISTED_MAX: usize = 40;

/// Stands for a value that isn't known yet.
const UNKNOWN_VALUE: Value = Value::Null;

/// Whether a line is certain to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    Certainly,
    Perhaps,
}

/// A server and a tool, as a program names them.
#[derive(Clone, Copy)]
struct Named<'n> {
    server: Option<&'n str>,
    tool: Option<&'n str>,
    how: How,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Imported,
    Called,
}

impl<'n> Named<'n> {
    fn imported(server: Option<&'n str>, tool: Option<&'n str>) -> Self {
        Self { server, tool, how: How::Imported }
    }

    fn called(server: Option<&'n str>, tool: &'n str) -> Self {
        Self { server, tool: Some(tool), how: How::Called }
    }

    fn whole(&self) -> String {
        [self.server, self.tool].into_iter().flatten().collect::<Vec<_>>().join(".")
    }
}

pub(crate) struct ToolUse<'a, 'f, 'l> {
    pub tools: &'a dyn ToolNames,
    pub lookup: &'a Lookup,
    pub bindings: &'a Bindings<'a>,
    pub findings: &'f mut Findings<'l>,
}

impl<'a> ToolUse<'a, '_, '_> {
    /// `from servers.crm import update_record`, `from servers import crm`, `import servers.crm`.
    pub fn import(&mut self, stmt: &'a Stmt, reached: Reached) {
        match stmt {
            Stmt::Import(import) => {
                for alias in &import.names {
                    let mut parts = alias.name.as_str().split('.');
                    if parts.next() == Some("servers") {
                        self.judge_name(Named::imported(parts.next(), parts.next()), alias.range(), reached);
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
                            self.judge_name(Named::imported(Some(server), None), stmt.range(), reached)
                        }
                        (None, "*") => {}
                        (Some(server), tool) => {
                            self.judge_name(Named::imported(Some(server), Some(tool)), alias.range(), reached)
                        }
                        (None, server) => {
                            self.judge_name(Named::imported(Some(server), None), alias.range(), reached)
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
                self.judge_name(Named::called(Some(server), tool), call.func.range(), reached);
                self.judge_call(&format!("{server}.{tool}"), call, Passed::ByName, reached);
            }
            ["servers", server, tool] => {
                self.judge_call(&format!("{server}.{tool}"), call, Passed::ByName, reached);
            }
            ["callMCPTool" | "call_mcp_tool"] | ["gristmill", "callMCPTool" | "call_mcp_tool"] => {
                let Some(name) = call.arguments.args.first() else { return };
                let Some(text) = text_of(name) else { return };
                let (server, tool) = match text.split_once(['.', '/']) {
                    Some((server, tool)) => (Some(server), tool),
                    None => (None, text),
                };
                self.judge_name(Named::called(server, tool), name.range(), reached);
                self.judge_call(text, call, Passed::AfterName, reached);
            }
            _ => {}
        }
    }

    fn judge_name(&mut self, named: Named<'_>, range: TextRange, reached: Reached) {
        let Named { server, tool, .. } = named;
        if let Some((rule, message)) = self.not_usable(&named) {
            self.findings.add_as(rule, severity_of(rule, reached), range, message, None);
            return;
        }
        // A leading underscore pair is Python's own. Without any server the guest says what to do.
        let is_internal = tool.or(server).is_none_or(|name| name.starts_with("__"));
        if is_internal || self.lookup.catalogue().servers.is_empty() {
            return;
        }
        let known = server.and_then(|server| self.server_called(server));
        let is_found = match tool {
            Some(_) => !matches!(self.lookup.resolve(&named.whole()), Resolved::None(_)),
            None => known.is_some(),
        };
        if is_found || !self.tools.is_certainly_unknown(server, tool) {
            return;
        }
        let (rule, message, hint) = match (server, known, named.how) {
            (Some(server), None, How::Imported) => (Rule::UnknownServer, self.no_server(server), None),
            (_, Some(known), How::Imported) => {
                let tools = known.tools.iter().take(LISTED_MAX).map(|tool| tool.identifier.as_str());
                let listed =
                    format!("servers.{} has: {}", known.identifier, tools.collect::<Vec<_>>().join(", "));
                (Rule::UnknownTool, self.no_tool(&named).0, Some(listed))
            }
            _ => {
                let (message, has_names) = self.no_tool(&named);
                (Rule::UnknownTool, message, has_names.then(|| "use one of the names above".to_owned()))
            }
        };
        self.findings.add_as(rule, severity_of(rule, reached), range, message, hint);
    }

    /// What is said of a server that is configured and not in use, and of a tool that is left out.
    fn not_usable(&self, named: &Named<'_>) -> Option<(Rule, String)> {
        let known = named.server.and_then(|server| self.server_called(server));
        if let Some(server) = known.filter(|server| server.offer.is_out_of_use) {
            let name = one_line(&server.offer.name, NAME_CHARS_MAX);
            let why = format!(
                "the server `{name}` is disabled or not approved; the user can check with `gristmill list`"
            );
            return Some(match named.how {
                How::Imported => {
                    (Rule::UnknownServer, format!("No module named 'servers.{}': {why}", server.identifier))
                }
                How::Called => (Rule::UnknownTool, format!("{} can't be called: {why}", named.whole())),
            });
        }
        let Resolved::Reserved(server, tool) = self.lookup.resolve(&named.whole()) else { return None };
        matches!(tool.why, Reserved::Excluded | Reserved::NotIncluded).then(|| {
            let name = one_line(&format!("{}.{}", server.offer.name, tool.name), NAME_CHARS_MAX);
            let whose = one_line(&server.offer.name, NAME_CHARS_MAX);
            let message = format!(
                "{name} isn't allowed: the user's configuration excludes it (`tools` of the server `{whose}`). Use another tool, or tell the user"
            );
            (Rule::UnknownTool, message)
        })
    }

    fn server_called(&self, name: &str) -> Option<&'a Server> {
        let wanted = fold(name);
        let is_meant = |server: &&Server| {
            [&server.offer.name, &server.identifier].iter().any(|name| fold(name) == wanted)
        };
        self.lookup.catalogue().all_servers().find(is_meant)
    }

    /// As the guest says it.
    fn no_server(&self, server: &str) -> String {
        let names: Vec<&str> =
            self.lookup.catalogue().servers.iter().map(|server| server.identifier.as_str()).collect();
        let said = match nearest(server, names.iter().map(|name| (*name, *name)), 1).first() {
            Some(near) => format!("did you mean 'servers.{near}'?"),
            None => format!(
                "there are: {}",
                names.iter().take(LISTED_MAX).copied().collect::<Vec<_>>().join(", ")
            ),
        };
        format!("No module named 'servers.{server}'; {said}")
    }

    /// As the door says it, and whether there are names in it.
    fn no_tool(&self, named: &Named<'_>) -> (String, bool) {
        let whole = named.whole();
        let near = match self.lookup.resolve(&whole) {
            Resolved::None(near) => near,
            Resolved::One(..) | Resolved::Reserved(..) | Resolved::Several(_) => Vec::new(),
        };
        let said = match near.is_empty() {
            true => "search_tools(\"...\") finds tools".to_owned(),
            false => format!("did you mean {}?", near.join(", ")),
        };
        (format!("there is no tool `{whole}`; {said}"), !near.is_empty())
    }

    fn judge_call(&mut self, name: &str, call: &'a ExprCall, passed: Passed, reached: Reached) {
        let Resolved::One(server, tool) = self.lookup.resolve(name) else { return };
        let Some(given) = Given::of(call, passed) else { return };
        let schema = &tool.definition.input_schema;
        if !given.is_complete() && DEPENDING.iter().any(|keyword| schema.get(keyword).is_some()) {
            return;
        }
        if given.are_only_names() && has_exactly_these(schema, &given.values) {
            return;
        }
        let Some(check) = self.tools.argument_check(server, tool) else { return };
        let mut arguments = given.values.clone();
        check.fit(&mut arguments);
        // A null for what isn't known is dropped where null isn't allowed; it was given all the same.
        for (unknown, _) in
            given.values.iter().filter(|(name, _)| given.unknown.iter().any(|other| other == *name))
        {
            let is_there = arguments.keys().any(|kept| fold(kept) == fold(unknown));
            if !is_there {
                arguments.insert(unknown.clone(), UNKNOWN_VALUE);
            }
        }
        let Err(bad) = check.check(&arguments) else { return };
        let is_told = |path: &str| {
            let top = path.split(['.', '[']).next().unwrap_or(path);
            match given.is_complete() {
                true => true,
                false => !top.is_empty() && !given.unknown.iter().any(|unknown| fold(unknown) == fold(top)),
            }
        };
        let told: Vec<&str> = bad
            .problems
            .iter()
            .filter(|problem| is_told(&problem.path))
            .map(|problem| problem.text.as_str())
            .collect();
        if told.is_empty() {
            return;
        }
        let message = told.join("; ");
        let rule = Rule::BadArguments;
        self.findings.add_as(
            rule,
            severity_of(rule, reached),
            call.range(),
            message,
            Some("fix the argument".to_owned()),
        );
    }
}

fn severity_of(rule: Rule, reached: Reached) -> Severity {
    match reached {
        Reached::Certainly => rule.severity(),
        Reached::Perhaps => Severity::Medium,
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

/// The arguments of a call, as far as they can be seen.
struct Given {
    values: Map<String, Value>,
    /// Those whose values aren't known.
    unknown: Vec<String>,
}

impl Given {
    /// `None` if not even the names are known.
    fn of(call: &ExprCall, passed: Passed) -> Option<Self> {
        let positional = match passed {
            Passed::ByName => &call.arguments.args[..],
            Passed::AfterName => call.arguments.args.get(1..)?,
        };
        let mut made = Self { values: Map::new(), unknown: Vec::new() };
        match positional {
            [] | [Expr::NoneLiteral(_)] => {}
            [Expr::Dict(dict)] => {
                for item in &dict.items {
                    made.add(text_of(item.key.as_ref()?)?, &item.value);
                }
            }
            _ => return None,
        }
        for keyword in &call.arguments.keywords {
            made.add(keyword.arg.as_ref()?.as_str(), &keyword.value);
        }
        Some(made)
    }

    fn add(&mut self, name: &str, value: &Expr) {
        let value = literal(value).unwrap_or_else(|| {
            self.unknown.push(name.to_owned());
            UNKNOWN_VALUE
        });
        self.values.insert(name.to_owned(), value);
    }

    fn is_complete(&self) -> bool {
        self.unknown.is_empty()
    }

    /// Whether no value is known: then there is nothing to say but about names.
    fn are_only_names(&self) -> bool {
        self.unknown.len() == self.values.len()
    }
}

/// Whether the schema has all of these names, and asks for no other. Most calls are so, and end here.
fn has_exactly_these(schema: &Value, given: &Map<String, Value>) -> bool {
    let has = |name: &String| schema["properties"].get(name).is_some();
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_given = |name: &Value| name.as_str().is_some_and(|name| given.contains_key(name));
    given.keys().all(has) && required.iter().all(is_given)
}
