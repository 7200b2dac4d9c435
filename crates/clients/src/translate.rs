//! A server in its client's words, said in ours.
//!
//! The words themselves are read by `config/server_entry.rs`. What is here is what differs from
//! client to client: how variables and folders are written, and which names may be used.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gristmill_config::document::is_ourselves;
use gristmill_config::problem::{Foreign, Problem, ProblemKind, Problems, Severity, shown};
use gristmill_config::references::{Folders, variable_for};
use gristmill_config::server_entry::{self, is_name};
use gristmill_config::strictness::Strictness;
use gristmill_config::tree::{Entry, Node, Value};
use gristmill_gateway::domain::{
    Part, Reference, SecretText, ServerSettings, ToolPattern, ToolRules, Transport,
};

use super::client_file::{ClientFile, ListedServer};
use super::known::Client;
use super::places::FileScope;

/// The surroundings of an entry.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    pub home: Option<&'a Path>,
    /// The folder of the project that we are in.
    pub project: &'a Path,
    /// Whether the server is to go into that project's file.
    pub into_project: bool,
}

/// What became of an entry.
#[derive(Debug)]
pub enum Translated {
    /// It is a server.
    Server {
        settings: Box<ServerSettings>,
        /// What is worth knowing.
        remarks: Vec<String>,
    },
    /// It is this very program.
    Ourselves,
    /// We cannot take it.
    Refused { why: String },
}

/// Reads an entry of a file.
pub fn translate(file: &ClientFile, listed: ListedServer<'_>, context: Context<'_>) -> Translated {
    let client = file.place.client;
    let base = base_folder(file, listed, context);
    let mut rewriting = Rewriting { client, base: base.as_deref(), set: BTreeSet::new(), missing: None };
    let node = rewriting.node(&listed.entry.node);
    let Rewriting { set, missing, .. } = rewriting;
    if let Some(missing) = missing {
        return Translated::Refused { why: missing };
    }
    if let Some(why) = old_transport(client, &node) {
        return Translated::Refused { why };
    }
    let own = file.place.path.parent().unwrap_or(Path::new("/"));
    let base = base.unwrap_or_else(|| own.to_owned());
    let folders =
        Folders { file: base.clone(), workspace: base.clone(), home: context.home.map(Path::to_owned) };
    let name = our_name(&listed.entry.key);
    let mut problems = Problems::default();
    let settings = server_entry::read(&name, &node, "", Strictness::Foreign, &folders, &mut problems);
    let problems = problems.into_vec();
    let Some(mut settings) = settings else { return Translated::Refused { why: errors(&problems) } };
    if is_ourselves(&settings) {
        return Translated::Ourselves;
    }
    if let Some(reference) = foreign_reference(&settings.transport) {
        return Translated::Refused {
            why: format!(
                "has {reference} in it, which is only text to {client}, and would be carried out here; \
                 if you mean it, add the server with gristmill add"
            ),
        };
    }
    let is_of_project = listed.project.is_some() || file.place.file_scope == FileScope::Project;
    if let Transport::Stdio { cwd: cwd @ None, .. } = &mut settings.transport
        && is_of_project
        && !(context.into_project && base == context.project)
    {
        *cwd = Some(base);
    }
    let mut remarks = remarks(&problems);
    remarks.extend(offered(&settings.tools));
    remarks.extend(set.into_iter().map(|(variable, id)| {
        format!("set {variable}: {client} asks for `{}` when it starts the server", shown(&id))
    }));
    if client == Client::Gemini && is_excluded(&file.tree, &listed.entry.key) {
        settings.enabled = false;
        remarks.push("is turned off in Gemini CLI (mcp.excluded); imported turned off".to_owned());
    }
    if client == Client::Gemini && node.entry("url").is_some() && node.entry("type").is_none() {
        remarks.push(
            "Gemini CLI may mean the old transport by `url`; gristmill list shows whether it answers"
                .to_owned(),
        );
    }
    Translated::Server { settings: Box::new(settings), remarks }
}

/// How a server is reached, in a few words without secrets, for entries that cannot be translated.
pub fn outline(node: &Node) -> String {
    let text = |key: &str| match node.entry(key).map(|entry| &entry.node.value) {
        Some(Value::Text(text)) => Some(text.as_str()),
        _ => None,
    };
    let url = ["httpUrl", "serverUrl", "url"].into_iter().find_map(text);
    match (text("command"), url) {
        (Some(command), _) => shown(command),
        (None, Some(url)) => {
            let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
            let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
            shown(&format!("{scheme}://{}", host.rsplit('@').next().unwrap_or_default()))
        }
        (None, None) => String::new(),
    }
}

/// The folder that `${workspaceFolder}` and relative paths mean; none if it changes.
fn base_folder(file: &ClientFile, listed: ListedServer<'_>, context: Context<'_>) -> Option<PathBuf> {
    match (listed.project, file.place.file_scope) {
        (Some(project), _) => Some(PathBuf::from(project)).filter(|path| path.is_absolute()),
        (None, FileScope::Project) => Some(context.project.to_owned()),
        (None, FileScope::User) => context.into_project.then(|| context.project.to_owned()),
    }
}

/// Galleries give names such as `io.github.owner/server`, which cannot be a name of ours.
fn our_name(name: &str) -> String {
    if is_name(name) {
        return name.to_owned();
    }
    let last = name.rsplit(['/', '\\']).find(|part| !part.trim().is_empty()).unwrap_or(name);
    let letter = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | ' ') { c } else { '-' };
    let name: String = last.trim().chars().take(64).map(letter).collect();
    let name = name.trim().to_owned();
    if is_name(&name) { name } else { "server".to_owned() }
}

fn old_transport(client: Client, node: &Node) -> Option<String> {
    let text = |key: &str| match node.entry(key).map(|entry| &entry.node.value) {
        Some(Value::Text(text)) => Some(text.as_str()),
        _ => None,
    };
    let kind = text("type").or(text("transport")).map(str::to_ascii_lowercase);
    let url = text("serverUrl").or(text("url"));
    let path = url.map(|url| url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/'));
    let looks_old = kind.is_none() && path.is_some_and(|path| path.ends_with("/sse"));
    (kind.as_deref() == Some("sse") || looks_old).then(|| {
        format!(
            "{client} reaches it over the old HTTP+SSE transport, which is not spoken here; \
             most servers have a Streamable HTTP address: gristmill add NAME URL"
        )
    })
}

fn is_excluded(tree: &Node, name: &str) -> bool {
    let excluded = tree.entry("mcp").and_then(|mcp| mcp.node.entry("excluded"));
    match excluded.map(|entry| &entry.node.value) {
        Some(Value::List(nodes)) => nodes.iter().any(|node| node.value == Value::Text(name.to_owned())),
        Some(_) | None => false,
    }
}

fn errors(problems: &[Problem]) -> String {
    let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
    errors.map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// What is left out, by what that means.
fn remarks(problems: &[Problem]) -> Vec<String> {
    let (mut plain, mut grants) = (Vec::new(), Vec::new());
    let mut remarks = Vec::new();
    for problem in problems {
        let key = problem.place.key.clone().unwrap_or_default();
        let key = shown(&key);
        match &problem.kind {
            ProblemKind::Foreign(Foreign::Ignored | Foreign::Unknown) => plain.push(key),
            ProblemKind::Foreign(Foreign::GrantNotCarried) => grants.push(key),
            ProblemKind::Foreign(Foreign::EnvFileNotRead) => {
                remarks
                    .push(format!("left out: {key} (list its variables in `env`, as NAME = \"${{NAME}}\")"));
            }
            // Times are carried over, whatever unit they were in.
            ProblemKind::Foreign(Foreign::Milliseconds | Foreign::Seconds) => {}
            _ => remarks.push(problem.to_string()),
        }
    }
    if !grants.is_empty() {
        let grants = grants.join(", ");
        remarks.push(format!("not carried over: {grants} (what another client may call without asking)"));
    }
    if !plain.is_empty() {
        remarks.push(format!("left out: {}", plain.join(", ")));
    }
    remarks
}

/// Which tools the client offers, and so do we.
fn offered(rules: &ToolRules) -> Option<String> {
    let listed = |patterns: &[ToolPattern]| {
        let names: Vec<String> = patterns.iter().map(|pattern| shown(pattern.as_str())).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    let only = rules.include.as_deref().map(|include| format!("only {}", listed(include)));
    let without = (!rules.exclude.is_empty()).then(|| format!("without {}", listed(&rules.exclude)));
    let said: Vec<String> = only.into_iter().chain(without).collect();
    (!said.is_empty()).then(|| format!("tools, as in the client: {}", said.join(", ")))
}

/// A reference that no client knows: what is harmless text there must not read a file or run a
/// command here.
fn foreign_reference(transport: &Transport) -> Option<&'static str> {
    let texts: Vec<&SecretText> = match transport {
        Transport::Stdio { command, args, env, .. } => {
            std::iter::once(command).chain(args).chain(env.values()).collect()
        }
        Transport::Http { url, headers, oauth } => {
            let login = oauth.client_id.iter().chain(&oauth.client_secret);
            std::iter::once(url).chain(headers.values()).chain(login).collect()
        }
        Transport::Hosts(_) => Vec::new(),
    };
    texts.into_iter().flat_map(SecretText::parts).find_map(|part| match part {
        Part::Plain(_) | Part::Reference(Reference::Environment { .. }) => None,
        Part::Reference(Reference::File(_)) => Some("${file:…}"),
        Part::Reference(Reference::Keyring(_)) => Some("${keyring:…}"),
        Part::Reference(Reference::Command(_)) => Some("${cmd:…}"),
    })
}

fn env_files(entries: &[Entry]) -> impl Iterator<Item = Entry> {
    entries.iter().filter(|entry| matches!(entry.key.as_str(), "envFile" | "env_file")).cloned()
}

/// Writes an entry's texts as we write them.
struct Rewriting<'a> {
    client: Client,
    /// None if it is another one each time.
    base: Option<&'a Path>,
    /// Variables that someone must set, with what the client calls them.
    set: BTreeSet<(String, String)>,
    missing: Option<String>,
}

impl Rewriting<'_> {
    fn node(&mut self, node: &Node) -> Node {
        let value = match &node.value {
            Value::Text(text) => Value::Text(self.text(text)),
            Value::List(nodes) => Value::List(nodes.iter().map(|node| self.node(node)).collect()),
            Value::Map(entries) => Value::Map(
                entries
                    .iter()
                    // It is not read, so nothing in it can be in the way.
                    .filter(|entry| !matches!(entry.key.as_str(), "envFile" | "env_file"))
                    .map(|entry| Entry { node: self.node(&entry.node), ..entry.clone() })
                    .chain(env_files(entries))
                    .collect(),
            ),
            Value::Null | Value::Bool(_) | Value::Number(_) => node.value.clone(),
        };
        Node { line: node.line, value }
    }

    fn text(&mut self, text: &str) -> String {
        let mut written = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            written.push_str(&rest[..at]);
            rest = &rest[at..];
            let (piece, after) = self.reference(rest);
            written.push_str(&piece);
            rest = after;
        }
        written.push_str(rest);
        written
    }

    /// What stands for the `$` that the text begins with, and what comes after it.
    fn reference<'t>(&mut self, text: &'t str) -> (String, &'t str) {
        let braced = text.strip_prefix("${").and_then(|inside| inside.split_once('}'));
        if let Some((inside, after)) = braced {
            return (self.inside(inside), after);
        }
        let bare: String = text[1..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let is_variable = !bare.is_empty() && !bare.starts_with(|c: char| c.is_ascii_digit());
        if self.client == Client::Gemini && is_variable {
            return (format!("${{{bare}}}"), &text[1 + bare.len()..]);
        }
        ("$".to_owned(), &text[1..])
    }

    fn inside(&mut self, inside: &str) -> String {
        if let Some(id) = inside.strip_prefix("input:") {
            let variable = variable_for(id);
            self.set.insert((variable.clone(), id.to_owned()));
            return format!("${{{variable}}}");
        }
        match inside {
            "workspaceFolder" | "workspaceRoot" | "workspaceFolderBasename" if self.base.is_none() => {
                self.missing = Some(format!(
                    "uses ${{{inside}}}, which is another folder in each project; \
                     import it with --project in the project's folder"
                ));
                String::new()
            }
            "workspaceFolderBasename" => {
                let name = self.base.and_then(Path::file_name).unwrap_or_default();
                name.to_string_lossy().replace("${", "$${")
            }
            "pathSeparator" | "/" => "/".to_owned(),
            other => format!("${{{other}}}"),
        }
    }
}
