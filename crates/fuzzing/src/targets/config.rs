//! Configuration files, ours and other clients', in each of the three formats.

use std::path::{Path, PathBuf};

use gristmill_config::document::{Document, SERVERS_MAX};
use gristmill_config::format::Format;
use gristmill_config::read_file::FileText;
use gristmill_config::server_entry::is_name;
use gristmill_config::server_place::ServerPlace;
use gristmill_config::tree::{DEPTH_MAX, Node, Value};
use gristmill_config::written::{self, Purpose};
use gristmill_config::{edit_json, edit_toml};

use crate::target::{Reached, Target, about, words};

pub const TARGET: Target = Target {
    name: "config",
    promise: "a file is refused at a line that it has, or read within bounds; each of its servers reads back as it is when it is written again",
    run,
    dictionary: &[
        b"[servers.a]\n",
        b"command = \"",
        b"url = \"https://",
        b"\"mcpServers\": {",
        b"\"servers\": {",
        b"args: [",
        b"env = {",
        b"${env:TOKEN}",
        b"${file:~/x}",
        b"[limits]\n",
        b"time = \"5s\"",
        b"[policy]\nrules = [",
        b"[[policy.rules]]\n",
        b"sandbox = true",
        b"'''",
        b"\"\"\"",
        b"&a",
        b"*a",
        b"<<: ",
        b"!!str ",
        b"---\n",
        b"/*",
        b"//",
        b"\\u0000",
        b"\xef\xbb\xbf",
    ],
    bytes_max: 4096,
};

/// The first byte says what the file is called.
const NAMES: [&str; 5] = ["gristmill.toml", "gristmill.yaml", "gristmill.json", ".mcp.json", "config.toml"];

fn run(bytes: &[u8]) -> Reached {
    let Some((choice, rest)) = bytes.split_first() else { return Reached::of(()) };
    let name = NAMES[usize::from(*choice) % NAMES.len()];
    let path = Path::new("/home/someone/project").join(name);
    let file = FileText { path: path.clone(), bytes: rest.to_vec(), writable_by_others: false };
    let document = Document::read(&file, Some(Path::new("/home/someone")));
    let Ok(text) = file.text() else {
        assert!(!document.problems.is_empty(), "what isn't text is refused");
        return Reached::of((name, "not text"));
    };
    let tree = Format::of(&path).expect("a format").parse(text);
    if let Ok(tree) = &tree {
        check_bounds(tree, 0);
        agrees_with_json(name, text, tree);
    }
    // Line ends are counted as the formats do it.
    let lines = text.split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']).count();
    for problem in &document.problems {
        assert!(problem.place.line.is_none_or(|line| line <= lines + 1), "{lines} lines: {problem:?}");
        assert!(!problem.kind.to_string().is_empty());
    }
    assert!(tree.is_ok() || !document.problems.is_empty(), "what can't be parsed is told");
    assert!(document.servers.len() <= SERVERS_MAX);
    for (server, _) in &document.servers {
        assert!(is_name(&server.name), "{:?}", server.name);
        reads_back(&path, server);
    }
    let first = document.problems.first().map(|problem| words(&problem.kind.to_string()));
    Reached::of((
        name,
        first,
        about(document.servers.len()),
        document.limits.len(),
        document.user_tables.len(),
    ))
}

fn check_bounds(node: &Node, depth: usize) {
    assert!(depth <= DEPTH_MAX, "deeper than {DEPTH_MAX}");
    match &node.value {
        Value::List(nodes) => nodes.iter().for_each(|node| check_bounds(node, depth + 1)),
        Value::Map(entries) => entries.iter().for_each(|entry| check_bounds(&entry.node, depth + 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => {}
    }
}

/// JSON without comments is what another parser takes it for.
fn agrees_with_json(name: &str, text: &str, tree: &Node) {
    if !name.ends_with(".json") || !tree.repeated_keys().is_empty() || text.contains("$serde_json") {
        return;
    }
    if let Ok(value) = serde_json::from_str::<serde_json::Value>(text) {
        assert_eq!(tree.to_json(), value, "the tree says what the text says");
    }
}

/// Written into an empty file of its own, a server is the same.
fn reads_back(path: &Path, server: &gristmill_domain::ServerSettings) {
    let node = written::server(server, Purpose::File);
    let place = ServerPlace { block: "servers", name: &server.name };
    let toml = edit_toml::edit("", &place, Some(&node)).map(|text| ("gristmill.toml", text));
    let json = edit_json::edit("{}", &place, Some(&node)).map(|text| ("gristmill.json", text));
    for written in [toml, json] {
        let (name, text) = written.expect("a server can be put into an empty file");
        let path: PathBuf = path.with_file_name(name);
        let file = FileText { path, bytes: text.clone().into_bytes(), writable_by_others: false };
        let again = Document::read(&file, Some(Path::new("/home/someone")));
        let read = again.servers.first().map(|(server, _)| server);
        assert_eq!(read, Some(server), "{text}\n{:?}", again.problems);
    }
}
