//! Writes the tool tree of the catalogues in a folder, for looking at stubs and for checking them.
//!
//!     cargo run -p gristmill-domain --example write_tree -- CATALOGUES TREE
//!
//! Each `.json` file in CATALOGUES is `{"server", "version", "tools": [definitions]}`.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use gristmill_domain::catalogue::{Catalogue, ServerOffer, ToolDefinition};
use gristmill_domain::tree;
use serde_json::Value;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [catalogues, to] = arguments.as_slice() else {
        return Err("usage: write_tree CATALOGUES TREE".into());
    };
    let mut offers = Vec::new();
    for entry in std::fs::read_dir(catalogues)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            offers.push(offer(&path).map_err(|error| format!("{}: {error}", path.display()))?);
        }
    }
    let catalogue = Catalogue::new(offers);
    let began = Instant::now();
    let version = tree::version(&catalogue, &tree::States::new());
    let hashed = began.elapsed();
    let began = Instant::now();
    let files = tree::files(&catalogue, &tree::States::new());
    let rendered = began.elapsed();
    for file in &files {
        let path = to.join(&file.path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, &file.content)?;
    }
    let chars = |extension: &str| -> usize {
        let wanted = files.iter().filter(|file| file.path.ends_with(extension));
        wanted.map(|file| file.content.chars().count()).sum()
    };
    println!(
        "{} servers, {} tools, {} files; .py {} characters, .ts {} characters; made in {rendered:?}, \
         hashed in {hashed:?}; version {version}",
        catalogue.servers.len(),
        catalogue.tool_count(),
        files.len(),
        chars(".py"),
        chars(".ts"),
    );
    Ok(())
}

fn offer(path: &Path) -> Result<ServerOffer, Box<dyn Error>> {
    let written: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let text = |name: &str| written.get(name).and_then(Value::as_str).map(str::to_owned);
    let tools = written.get("tools").and_then(Value::as_array).ok_or("no `tools`")?;
    let tools = tools.iter().map(|tool| ToolDefinition::from_text(&tool.to_string()).map(Arc::new));
    Ok(ServerOffer {
        name: text("server").ok_or("no `server`")?,
        title: text("title"),
        version: text("version"),
        description: text("description"),
        category: text("category"),
        tools: tools.collect::<Result<_, _>>()?,
        ..ServerOffer::default()
    })
}
