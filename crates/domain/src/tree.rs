//! The tool tree: the files that programs browse and read under `/servers`.
//!
//! Pure: makes the files' content and says which version they are; others write them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::catalogue::{Catalogue, Server, first_sentence, import_name};
use crate::quantity::counted;
use crate::stubs::{self, one_line};

/// One file of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeFile {
    /// Relative, with `/` between its parts, such as `google-drive/getDocument.py`.
    pub path: String,
    pub content: String,
}

/// What the index says about a server beside its description, by the server's configured name, such
/// as "down: connection refused". Servers without an entry are well.
pub type States = BTreeMap<String, String>;

/// Raised whenever the same catalogue gives other files than before.
const FORMAT: u64 = 4;

const DESCRIPTION_CHARS_MAX: usize = 2_000;
const VERSION_CHARS_MAX: usize = 100;
const STATE_CHARS_MAX: usize = 300;

/// All files of the tree, in order. The same catalogue always gives the same files.
pub fn files(catalogue: &Catalogue, states: &States) -> Vec<TreeFile> {
    let mut files = vec![TreeFile { path: "index.md".to_owned(), content: index(catalogue, states) }];
    // Names that are not those of the folders, for whoever imports a server by its own.
    let renamed = catalogue.servers.iter().filter(|server| server.folder != server.offer.name);
    let names: Map<String, Value> =
        renamed.map(|server| (server.offer.name.clone(), Value::from(server.folder.as_str()))).collect();
    if !names.is_empty() {
        files.push(TreeFile {
            path: ".names.json".to_owned(),
            content: format!("{:#}\n", Value::Object(names)),
        });
    }
    if !catalogue.out_of_use.is_empty() {
        let names: Vec<&str> = catalogue.out_of_use.iter().map(|server| server.offer.name.as_str()).collect();
        files.push(TreeFile {
            path: ".out_of_use.json".to_owned(),
            content: format!("{:#}\n", serde_json::json!({ "servers": names })),
        });
    }
    for server in &catalogue.servers {
        let folder = &server.folder;
        let mut add =
            |name: &str, content: String| files.push(TreeFile { path: format!("{folder}/{name}"), content });
        add(".server.json", about(server, states.get(&server.offer.name)));
        add("index.ts", exports(server));
        let offer = &server.offer;
        if !offer.resources.is_empty() || !offer.resource_templates.is_empty() {
            let resources = offer.resources.iter().map(|resource| resource.to_value(&offer.name));
            let templates = offer.resource_templates.iter().map(|template| template.to_value(&offer.name));
            add(".resources.json", format!("{:#}\n", resources.chain(templates).collect::<Value>()));
        }
        if !offer.prompts.is_empty() {
            let prompts = offer.prompts.iter().map(|prompt| prompt.to_value(&offer.name));
            add(".prompts.json", format!("{:#}\n", prompts.collect::<Value>()));
        }
        for tool in &server.tools {
            add(&format!("{}.py", tool.stem), stubs::python(server, tool));
            add(&format!("{}.ts", tool.stem), stubs::typescript(server, tool));
        }
    }
    files
}

/// The tree of a caller who isn't shown everything. A mark tells the guests that a name which isn't here may still be
/// one that the gateway knows, and has an answer to.
pub fn part(shown: &Catalogue, states: &States) -> Vec<TreeFile> {
    let mut files = files(shown, states);
    let content = "Tools that this program can't call aren't here.\n".to_owned();
    files.push(TreeFile { path: ".partial".to_owned(), content });
    files
}

/// The version of a part: that of the whole, and the names that are missing.
pub fn part_version<'a>(whole: &str, missing: impl Iterator<Item = &'a str>) -> String {
    let mut parts = Parts::default();
    parts.add(Some("part"));
    parts.add(Some(whole));
    missing.for_each(|name| parts.add(Some(name)));
    parts.hash()
}

/// Differs whenever the files do; equal for equal ones. Hashes definitions, renders nothing.
pub fn version(catalogue: &Catalogue, states: &States) -> String {
    version_with(&offers_version(catalogue), states)
}

/// The same, from the version of what is offered.
pub fn version_with(offers: &str, states: &States) -> String {
    let mut parts = Parts::default();
    parts.add(Some(offers));
    for (server, state) in states {
        parts.add(Some(server));
        parts.add(Some(state));
    }
    parts.hash()
}

/// The same with what was learned of the tools, whose own version that is.
pub fn version_with_learned(version: &str, learned: &str) -> String {
    let mut parts = Parts::default();
    parts.add(Some(version));
    parts.add(Some(learned));
    parts.hash()
}

/// Every part with its length, so that no two lists of parts read alike.
#[derive(Default)]
struct Parts(blake3::Hasher);

impl Parts {
    fn add(&mut self, part: Option<&str>) {
        let length = part.map_or(u64::MAX, |part| part.len() as u64);
        self.0.update(&length.to_le_bytes());
        self.0.update(part.unwrap_or_default().as_bytes());
    }

    fn hash(&self) -> String {
        self.0.finalize().to_hex().to_string()
    }
}

/// Differs whenever tools, resources, prompts or what is said of a server do, whatever the states.
pub fn offers_version(catalogue: &Catalogue) -> String {
    let mut parts = Parts::default();
    let mut add = |part: Option<&str>| parts.add(part);
    add(Some(&FORMAT.to_string()));
    for server in &catalogue.servers {
        let offer = &server.offer;
        add(Some(&offer.name));
        add(offer.title.as_deref());
        add(offer.version.as_deref());
        add(offer.description.as_deref());
        add(Some(&server.folder));
        add(Some(&server.identifier));
        add(Some(&server.tools.len().to_string()));
        for tool in &server.tools {
            add(Some(&tool.stem));
            add(Some(&tool.identifier));
            add(Some(&tool.definition.hash.to_hex()));
        }
        let resources = offer.resources.iter().map(|resource| resource.to_value(&offer.name));
        let templates = offer.resource_templates.iter().map(|template| template.to_value(&offer.name));
        let prompts = offer.prompts.iter().map(|prompt| prompt.to_value(&offer.name));
        add(Some(&resources.collect::<Value>().to_string()));
        add(Some(&templates.collect::<Value>().to_string()));
        add(Some(&prompts.collect::<Value>().to_string()));
    }
    for server in &catalogue.out_of_use {
        add(Some("out of use"));
        add(Some(&server.offer.name));
    }
    parts.hash()
}

/// `index.md`: one line for each server.
pub fn index(catalogue: &Catalogue, states: &States) -> String {
    let servers = counted(catalogue.servers.len(), "server");
    let tools = counted(catalogue.tool_count(), "tool");
    let mut made =
        format!("# Servers\n\n{servers}, {tools}. One folder for each server, one stub for each tool.\n\n");
    for server in &catalogue.servers {
        made.push_str(&format!("- {} ({})", server.folder, counts(server)));
        let about = server.offer.description.as_deref().or(server.offer.title.as_deref()).unwrap_or_default();
        let about = one_line(&first_sentence(about), DESCRIPTION_CHARS_MAX);
        if !about.is_empty() {
            made.push_str(&format!(": {about}"));
        }
        if let Some(state) = states.get(&server.offer.name) {
            made.push_str(&format!(" [{}]", one_line(state, STATE_CHARS_MAX)));
        }
        made.push('\n');
    }
    made
}

/// How it is imported where that is not plain, and what it has; tools are named even if there are none.
fn counts(server: &Server) -> String {
    let offer = &server.offer;
    let resources = offer.resources.len() + offer.resource_templates.len();
    let mut counts: Vec<String> = import_name(&server.folder).into_iter().collect();
    counts.push(counted(server.tools.len(), "tool"));
    counts.extend((resources > 0).then(|| counted(resources, "resource")));
    counts.extend((!offer.prompts.is_empty()).then(|| counted(offer.prompts.len(), "prompt")));
    counts.join(", ")
}

fn about(server: &Server, state: Option<&String>) -> String {
    let offer = &server.offer;
    let text = |text: &Option<String>, chars_max: usize| {
        text.as_deref().map_or(Value::Null, |text| Value::from(one_line(text, chars_max)))
    };
    let mut members = Map::new();
    members.insert("name".to_owned(), Value::from(offer.name.as_str()));
    members.insert("title".to_owned(), text(&offer.title, VERSION_CHARS_MAX));
    members.insert("version".to_owned(), text(&offer.version, VERSION_CHARS_MAX));
    members.insert("description".to_owned(), text(&offer.description, DESCRIPTION_CHARS_MAX));
    members.insert("tools".to_owned(), Value::from(server.tools.len()));
    for (name, count) in [
        ("resources", offer.resources.len()),
        ("resource_templates", offer.resource_templates.len()),
        ("prompts", offer.prompts.len()),
    ] {
        if count > 0 {
            members.insert(name.to_owned(), Value::from(count));
        }
    }
    // Names that are not those of the files, for whoever imports a tool by its own.
    let renamed = server.tools.iter().filter(|tool| tool.stem != tool.definition.name);
    let names: Map<String, Value> =
        renamed.map(|tool| (tool.definition.name.clone(), Value::from(tool.stem.as_str()))).collect();
    if !names.is_empty() {
        members.insert("names".to_owned(), Value::Object(names));
    }
    // Read by whoever imports a server that has no tools.
    if let Some(state) = state {
        let state = state.strip_prefix("down: ").unwrap_or(state);
        members.insert("state".to_owned(), Value::from(one_line(state, STATE_CHARS_MAX)));
    }
    format!("{:#}\n", Value::Object(members))
}

/// Functions only: two tools may have types of the same name.
fn exports(server: &Server) -> String {
    if server.tools.is_empty() {
        return "export {};\n".to_owned();
    }
    let line = |tool: &crate::catalogue::Tool| {
        format!("export {{ {} }} from \"./{}\";\n", tool.identifier, tool.stem)
    };
    server.tools.iter().map(line).collect()
}
