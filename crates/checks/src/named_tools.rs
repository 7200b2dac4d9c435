//! Which tools a program may call, as far as its text says: for whoever decides whether it may run without being
//! asked about.
//!
//! Whatever can't be followed counts as a call of anything: a computed name, a module that reaches others, code that
//! isn't in the program. The wall is elsewhere; this must only never be more certain than the text.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ExprCall, FStringPart, InterpolatedStringElement, Mod, Operator, Stmt};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

use crate::bindings::Bindings;
use crate::check::CODE_BYTES_MAX;
use crate::nesting::is_too_deep;
use crate::paths::{path_of, text_of};
use crate::repaired::repaired;
use crate::request_hosts::{Beginning, RequestHosts, is_request};

/// Names of one program; more are no program that anybody reads.
const NAMES_MAX: usize = 200;

/// Modules that only compute. Any other may lead anywhere.
const COMPUTING: [&str; 42] = [
    "__future__",
    "asyncio",
    "base64",
    "bisect",
    "calendar",
    "collections",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "dateutil",
    "decimal",
    "difflib",
    "enum",
    "fractions",
    "functools",
    "gristmill",
    "hashlib",
    "heapq",
    "hmac",
    "html",
    "io",
    "itertools",
    "json",
    "locale",
    "math",
    "numbers",
    "operator",
    "os",
    "pathlib",
    "pprint",
    "random",
    "re",
    "secrets",
    "servers",
    "statistics",
    "string",
    "textwrap",
    "time",
    "typing",
    "unicodedata",
    "uuid",
];

/// Modules of the same kind that are named whole.
const COMPUTING_WHOLE: [&str; 2] = ["urllib.parse", "zoneinfo"];

/// Names that lead to what the text doesn't show.
const LEADING_ANYWHERE: [&str; 14] = [
    "__builtins__",
    "__import__",
    "compile",
    "delattr",
    "eval",
    "exec",
    "getattr",
    "globals",
    // Requests to hosts, which the text can't tell apart.
    "http",
    "locals",
    "setattr",
    "skills",
    "sys",
    "vars",
];

/// What a program calls, as far as its text says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedTools {
    /// As the program names them: `server.tool`, or `tool`.
    pub names: BTreeSet<String>,
    /// Where the requests of a tool go, if the text says so of each.
    pub hosts: BTreeMap<String, BTreeSet<String>>,
    /// Whether it may call others, too.
    pub may_call_others: bool,
}

impl NamedTools {
    /// Of a text that can't be read.
    pub(crate) fn unreadable() -> Self {
        Self { may_call_others: true, ..Self::default() }
    }

    pub(crate) fn add(&mut self, name: String) {
        if self.names.len() >= NAMES_MAX {
            self.may_call_others = true;
            return;
        }
        self.names.insert(name);
    }
}

/// Which tools a Python program may call.
pub fn named_tools(code: &str) -> NamedTools {
    let text = repaired(code).text;
    if text.len() > CODE_BYTES_MAX || is_too_deep(&text) {
        return NamedTools::unreadable();
    }
    let parsed = parse_unchecked(&text, ParseOptions::from(Mode::Module));
    let Mod::Module(module) = parsed.syntax() else { return NamedTools::unreadable() };
    if !parsed.errors().is_empty() {
        return NamedTools::unreadable();
    }
    let bindings = Bindings::of(&module.body);
    let found = NamedTools { may_call_others: bindings.is_hidden, ..NamedTools::default() };
    let mut finder = Finder { bindings: &bindings, found, hosts: RequestHosts::default() };
    finder.visit_body(&module.body);
    let Finder { mut found, hosts, .. } = finder;
    hosts.settle(&mut found);
    found
}

struct Finder<'b> {
    bindings: &'b Bindings,
    found: NamedTools,
    hosts: RequestHosts,
}

impl Finder<'_> {
    fn anything(&mut self) {
        self.found.may_call_others = true;
    }

    fn module(&mut self, module: &str) {
        let top = module.split('.').next().unwrap_or(module);
        if !COMPUTING.contains(&top) && !COMPUTING_WHOLE.contains(&module) {
            self.anything();
        }
    }

    fn imported_from(&mut self, module: &str, names: &[ruff_python_ast::Alias]) {
        self.module(module);
        let mut parts = module.split('.');
        if parts.next() != Some("servers") {
            return;
        }
        let (server, rest) = (parts.next(), parts.next());
        for alias in names {
            match (server, rest, alias.name.as_str()) {
                (_, _, "*") | (_, Some(_), _) => self.anything(),
                (Some(server), None, tool) => self.found.add(format!("{server}.{tool}")),
                // A server, whose uses are followed.
                (None, None, _) => {}
            }
        }
    }

    /// What a path of names stands for.
    fn path(&mut self, path: &[&str]) {
        if path.iter().any(|part| part.starts_with("__")) {
            self.anything();
        }
        if self.bindings.is_imported(path[0]) && !self.bindings.is_bound_once(path[0]) {
            self.anything();
            return;
        }
        let Some(whole) = self.bindings.resolved(path) else { return };
        let parts: Vec<&str> = whole.split('.').collect();
        match parts.as_slice() {
            ["servers" | "tools", server, tool, ..] => self.uses(format!("{server}.{tool}")),
            // A whole server in one's hand may be asked for any of its tools.
            ["servers" | "tools" | "gristmill"] | ["servers", _] => self.anything(),
            ["callMCPTool" | "call_mcp_tool"]
            | ["gristmill", "callMCPTool" | "call_mcp_tool" | "http", ..] => {
                self.anything();
            }
            ["os", rest @ ..] if !matches!(rest, ["path", ..]) => self.anything(),
            [first, ..] if LEADING_ANYWHERE.contains(first) => self.anything(),
            // Modules have others in them.
            parts
                if parts.iter().any(|part| matches!(*part, "sys" | "builtins" | "modules" | "importlib")) =>
            {
                self.anything();
            }
            _ => {}
        }
    }

    /// `callMCPTool("server.tool", ...)`. Whether it was one.
    fn called_by_name(&mut self, call: &ExprCall) -> bool {
        let whole = path_of(&call.func).and_then(|path| self.bindings.resolved(&path));
        let is_helper = whole.as_deref().is_some_and(|whole| {
            matches!(whole.strip_prefix("gristmill.").unwrap_or(whole), "callMCPTool" | "call_mcp_tool")
        });
        if !is_helper {
            return false;
        }
        match call.arguments.args.first().and_then(text_of) {
            Some(name) => self.uses(name.replacen('/', ".", 1)),
            None => self.anything(),
        }
        true
    }

    /// A tool, in whatever way.
    fn uses(&mut self, tool: String) {
        self.hosts.used_otherwise(&tool);
        self.found.add(tool);
    }

    /// `http.get("https://host/...")`, and the same by the server's tools. Whether it was one whose host is known.
    fn requested(&mut self, call: &ExprCall) -> bool {
        let whole = path_of(&call.func).and_then(|path| self.bindings.resolved(&path));
        let Some(whole) = whole else { return false };
        let parts: Vec<&str> = whole.strip_prefix("gristmill.").unwrap_or(&whole).split('.').collect();
        let named = |name: &str| {
            let keyword = call.arguments.find_keyword(name)?;
            Some(&keyword.value)
        };
        let given = |place: usize, name: &str| call.arguments.args.get(place).or_else(|| named(name));
        let (method, url) = match parts.as_slice() {
            ["http", "request"] => (given(0, "method").and_then(text_of), given(1, "url")),
            ["http", method] => (Some(*method), given(0, "url")),
            ["servers" | "tools", server, tool] if is_request(server) => {
                let in_first = || call.arguments.args.first().and_then(|given| member(given, "url"));
                (Some(*tool), named("url").or_else(in_first))
            }
            _ => return false,
        };
        let tool =
            method.zip(url.and_then(beginning_of)).and_then(|(method, url)| self.hosts.request(method, url));
        let is_known = tool.is_some();
        tool.into_iter().for_each(|tool| self.found.add(tool));
        is_known
    }
}

impl<'a> Visitor<'a> for Finder<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Import(import) => import.names.iter().for_each(|alias| self.module(alias.name.as_str())),
            Stmt::ImportFrom(import) if import.level == 0 => {
                let module = import.module.as_ref().map_or("", |module| module.as_str());
                self.imported_from(module, &import.names);
            }
            Stmt::ImportFrom(_) => self.anything(),
            _ => {}
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Call(call) if self.called_by_name(call) || self.requested(call) => {
                self.visit_arguments(&call.arguments);
            }
            Expr::Name(name) => self.path(&[name.id.as_str()]),
            Expr::Attribute(attribute) => match path_of(expr) {
                Some(path) => self.path(&path),
                None => {
                    if attribute.attr.starts_with("__") {
                        self.anything();
                    }
                    visitor::walk_expr(self, expr);
                }
            },
            _ => visitor::walk_expr(self, expr),
        }
    }
}

/// The value of a key in a dictionary whose keys are all written out.
fn member<'e>(expr: &'e Expr, name: &str) -> Option<&'e Expr> {
    let Expr::Dict(dict) = expr else { return None };
    let mut found = None;
    for item in &dict.items {
        if text_of(item.key.as_ref()?)? == name {
            found = Some(&item.value);
        }
    }
    found
}

/// How a text begins: a literal, an f-string that begins with one, or one with more added to it.
fn beginning_of(expr: &Expr) -> Option<Beginning<'_>> {
    match expr {
        Expr::StringLiteral(literal) => Some(Beginning { text: literal.value.to_str(), is_whole: true }),
        Expr::FString(text) => {
            let text: &str = match text.value.iter().next()? {
                FStringPart::Literal(literal) => &literal.value,
                FStringPart::FString(text) => match text.elements.first()? {
                    InterpolatedStringElement::Literal(literal) => &literal.value,
                    InterpolatedStringElement::Interpolation(_) => return None,
                },
            };
            Some(Beginning { text, is_whole: false })
        }
        Expr::BinOp(sum) if sum.op == Operator::Add => {
            beginning_of(&sum.left).map(|beginning| Beginning { is_whole: false, ..beginning })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: &str, names: &[&str], may_call_others: bool) {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let found = named_tools(code);
        let hosts = found.hosts.clone();
        assert_eq!(found, NamedTools { names, hosts, may_call_others }, "{code}");
    }

    #[test]
    fn tools_are_named_in_every_spelling() {
        check(
            "from servers.crm import list_leads as l\nrows = await l(status='new')",
            &["crm.list_leads"],
            false,
        );
        check("from servers import crm\nawait crm.get(id=1)", &["crm.get"], false);
        check("import servers.crm\nawait servers.crm.get(id=1)", &["crm.get"], false);
        check("await callMCPTool('crm/get', {})\nawait callMCPTool('echo')", &["crm.get", "echo"], false);
        check("from gristmill import callMCPTool\nawait callMCPTool('a.b')", &["a.b"], false);
        let gathered = "import asyncio\nfrom servers.crm import get\nawait asyncio.gather(*map(get, ids))";
        check(gathered, &["crm.get"], false);
        check("import json, math\nresult = math.sqrt(2)", &[], false);
        check("import gristmill\ngristmill.search_tools('x')", &[], false);
    }

    #[test]
    fn what_cant_be_followed_counts_as_a_call_of_anything() {
        check("await callMCPTool(name, {})", &[], true);
        check("call = callMCPTool\nawait call('a.b')", &[], true);
        check("from servers import crm\nawait getattr(crm, 'get')()", &[], true);
        check("from servers.crm import *\nawait get()", &[], true);
        check("import servers.crm as c\nd = c", &[], true);
        check("from skills.report import make", &[], true);
        check("import importlib", &[], true);
        check("exec('x')", &[], true);
        check("().__class__.__bases__", &[], true);
        check("import sys\nsys.modules", &[], true);
        check("import os\nos.system('ls')", &[], true);
        check("from servers.crm import get\nget = other", &["crm.get"], true);
        check(
            "from servers.crm import get\nfrom servers.hr import get\nawait get()",
            &["crm.get", "hr.get"],
            true,
        );
        check("r = await http.get(url)", &[], true);
        check("from gristmill import http\nawait http.get('x')", &[], true);
        check("import json\njson.codecs.sys.modules['x']", &[], true);
        check("import json\njson.codecs.builtins.eval('1')", &[], true);
        check("this is no program", &[], true);
    }
    #[test]
    fn requests_name_their_hosts_where_the_text_does() {
        let check = |code: &str, hosts: &[(&str, &[&str])], may_call_others: bool| {
            let found = named_tools(code);
            let told: Vec<(&str, Vec<&str>)> = found
                .hosts
                .iter()
                .map(|(tool, hosts)| (tool.as_str(), hosts.iter().map(String::as_str).collect()))
                .collect();
            let expected: Vec<(&str, Vec<&str>)> =
                hosts.iter().map(|(tool, hosts)| (*tool, hosts.to_vec())).collect();
            assert_eq!((told, found.may_call_others), (expected, may_call_others), "{code}");
            assert!(hosts.iter().all(|(tool, _)| found.names.contains(*tool)), "{code}");
        };
        let a: &[&str] = &["a.example"];
        check("r = await http.get('https://a.example/')", &[("http.get", a)], false);
        check("await http.get(f'https://a.example/items/{n}')", &[("http.get", a)], false);
        check("await http.post('https://a.example/' + path, json={})", &[("http.post", a)], false);
        check("await http.request('PUT', url='https://a.example')", &[("http.put", a)], false);
        check("from gristmill import http\nawait http.get('https://a.example/')", &[("http.get", a)], false);
        check("from servers.http import get\nawait get(url='https://a.example/')", &[("http.get", a)], false);
        check(
            "from servers.http import get_\nawait get_({'url': 'https://a.example/'})",
            &[("http.get_", a)],
            false,
        );
        check("from servers.http import get\nawait get({'url': 'https://a.example/', **more})", &[], false);
        check(
            "await http.get('https://a.example/')\nawait http.get('https://b.example/')",
            &[("http.get", &["a.example", "b.example"])],
            false,
        );
        check("await http.get('https://a.example' f'/items/{n}')", &[], true);
        // The whole host, or none.
        check("await http.get(f'https://{host}/items')", &[], true);
        check("await http.get(f'https://a.example{path}')", &[], true);
        check("await http.get('https://a.example/')\nsend = http.get", &[("http.get", a)], true);
        check("http = other\nawait http.get('https://a.example/')", &[], false);
        let both = "from servers.http import get\nawait get(url='https://a.example/')\nawait get(url=u)";
        check(both, &[], false);
        assert!(named_tools(both).names.contains("http.get"));
    }
}
