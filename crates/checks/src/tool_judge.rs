//! Names of tools and their arguments, against the servers there are: the same for every language.

use gristmill_domain::catalogue::{Lookup, Reserved, Resolved, Server, fold, folds_alike};
use gristmill_domain::{nearest, one_line};
use ruff_text_size::TextRange;
use serde_json::{Map, Value};

use crate::finding::Findings;
use crate::rules::{Rule, Severity};
use crate::tool_names::ToolNames;

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
pub(crate) const UNKNOWN_VALUE: Value = Value::Null;

/// Whether a line is certain to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    Certainly,
    Perhaps,
}

/// A server and a tool, as a program names them.
#[derive(Clone, Copy)]
pub(crate) struct Named<'n> {
    server: Option<&'n str>,
    tool: Option<&'n str>,
    how: How,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    Imported,
    Called,
}

impl<'n> Named<'n> {
    pub fn imported(server: Option<&'n str>, tool: Option<&'n str>) -> Self {
        Self { server, tool, how: How::Imported }
    }

    pub fn called(server: Option<&'n str>, tool: &'n str) -> Self {
        Self { server, tool: Some(tool), how: How::Called }
    }

    pub fn whole(&self) -> String {
        [self.server, self.tool].into_iter().flatten().collect::<Vec<_>>().join(".")
    }
}

/// How a program spells things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Words {
    Python,
    TypeScript,
}

impl Words {
    fn search(self) -> &'static str {
        match self {
            Words::Python => "search_tools",
            Words::TypeScript => "await searchTools",
        }
    }
}

/// The arguments of a call, as far as they can be seen.
#[derive(Default)]
pub(crate) struct Given {
    values: Map<String, Value>,
    /// Those whose values aren't known.
    unknown: Vec<String>,
}

impl Given {
    /// A value that is there, known or not.
    pub fn add(&mut self, name: &str, value: Option<Value>) {
        let value = value.unwrap_or_else(|| {
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

pub(crate) struct Judge<'a, 'f, 'l> {
    pub tools: &'a dyn ToolNames,
    pub lookup: &'a Lookup,
    pub words: Words,
    pub findings: &'f mut Findings<'l>,
}

impl<'a> Judge<'a, '_, '_> {
    fn module(&self, server: &str) -> String {
        match self.words {
            Words::Python => format!("servers.{server}"),
            Words::TypeScript => format!("servers/{server}"),
        }
    }

    fn no_module(&self, server: &str) -> String {
        match self.words {
            Words::Python => format!("No module named '{}'", self.module(server)),
            Words::TypeScript => format!("Cannot find module '{}'", self.module(server)),
        }
    }

    pub fn name(&mut self, named: Named<'_>, range: TextRange, reached: Reached) {
        let Named { server, tool, .. } = named;
        let known = server.and_then(|server| self.server_called(server));
        let found = self.lookup.find(&named.whole());
        if let Some((rule, message)) = self.not_usable(&named, known, found.as_ref()) {
            self.findings.add_as(rule, severity_of(rule, reached), range, message, None);
            return;
        }
        // A leading underscore pair is Python's own. Without any server the guest says what to do.
        let is_internal = tool.or(server).is_none_or(|name| name.starts_with("__"));
        if is_internal || self.lookup.catalogue().servers.is_empty() {
            return;
        }
        let is_found = match tool {
            Some(_) => found.is_some(),
            None => known.is_some(),
        };
        if is_found || !self.tools.is_certainly_unknown(server, tool) {
            return;
        }
        let (rule, message, hint) = match (server, known, named.how) {
            (Some(server), None, How::Imported) => (Rule::UnknownServer, self.no_server(server), None),
            (_, Some(known), How::Imported) => {
                let shown = known.tools.iter().filter(|tool| self.tools.is_shown(known, tool));
                let tools = shown.take(LISTED_MAX).map(|tool| tool.identifier.as_str());
                let listed = format!(
                    "{} has: {}",
                    self.module(&known.identifier),
                    tools.collect::<Vec<_>>().join(", ")
                );
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
    fn not_usable(
        &self,
        named: &Named<'_>,
        known: Option<&Server>,
        found: Option<&Resolved<'_>>,
    ) -> Option<(Rule, String)> {
        if let Some(server) = known.filter(|server| server.offer.is_out_of_use) {
            let name = one_line(&server.offer.name, NAME_CHARS_MAX);
            let why = format!(
                "the server `{name}` is disabled or not approved; the user can check with `gristmill list`"
            );
            return Some(match named.how {
                How::Imported => {
                    (Rule::UnknownServer, format!("{}: {why}", self.no_module(&server.identifier)))
                }
                How::Called => (Rule::UnknownTool, format!("{} can't be called: {why}", named.whole())),
            });
        }
        let Some(Resolved::Reserved(server, tool)) = found else { return None };
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
        let is_meant = |server: &&Server| {
            [&server.offer.name, &server.identifier].iter().any(|known| folds_alike(known, name))
        };
        self.lookup.catalogue().all_servers().find(is_meant)
    }

    /// As the guest says it.
    fn no_server(&self, server: &str) -> String {
        let has_shown = |server: &&Server| {
            server.tools.is_empty() || server.tools.iter().any(|tool| self.tools.is_shown(server, tool))
        };
        let shown = self.lookup.catalogue().servers.iter().filter(has_shown);
        let names: Vec<&str> = shown.map(|server| server.identifier.as_str()).collect();
        let said = match nearest(server, names.iter().map(|name| (*name, *name)), 1).first() {
            Some(near) => format!("did you mean '{}'?", self.module(near)),
            None => format!(
                "there are: {}",
                names.iter().take(LISTED_MAX).copied().collect::<Vec<_>>().join(", ")
            ),
        };
        format!("{}; {said}", self.no_module(server))
    }

    /// As the door says it, and whether there are names in it.
    fn no_tool(&self, named: &Named<'_>) -> (String, bool) {
        let whole = named.whole();
        let mut near = match self.lookup.resolve(&whole) {
            Resolved::None(near) => near,
            Resolved::One(..) | Resolved::Reserved(..) | Resolved::Several(_) => Vec::new(),
        };
        near.retain(|name| match self.lookup.resolve(name) {
            Resolved::One(server, tool) => self.tools.is_shown(server, tool),
            Resolved::Reserved(..) | Resolved::Several(_) | Resolved::None(_) => true,
        });
        let said = match near.is_empty() {
            true => format!("{}(\"...\") finds tools", self.words.search()),
            false => format!("did you mean {}?", near.join(", ")),
        };
        (format!("there is no tool `{whole}`; {said}"), !near.is_empty())
    }

    /// The arguments of a call of this tool.
    pub fn arguments(&mut self, name: &str, given: &Given, range: TextRange, reached: Reached) {
        let Some(Resolved::One(server, tool)) = self.lookup.find(name) else { return };
        // The door says why it may not be called, whatever it is given.
        if !self.tools.is_shown(server, tool) {
            return;
        }
        let schema = &tool.definition.input_schema;
        if given.are_only_names() && has_exactly_these(schema, &given.values) {
            return;
        }
        if !given.is_complete() && DEPENDING.iter().any(|keyword| schema.get(keyword).is_some()) {
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
            range,
            message,
            Some("fix the argument".to_owned()),
        );
    }
}

pub(crate) fn severity_of(rule: Rule, reached: Reached) -> Severity {
    match reached {
        Reached::Certainly => rule.severity(),
        Reached::Perhaps => Severity::Medium,
    }
}

/// Whether the schema has all of these names, and asks for no other. Most calls are so, and end here.
fn has_exactly_these(schema: &Value, given: &Map<String, Value>) -> bool {
    let has = |name: &String| schema["properties"].get(name).is_some();
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_given = |name: &Value| name.as_str().is_some_and(|name| given.contains_key(name));
    given.keys().all(has) && required.iter().all(is_given)
}
