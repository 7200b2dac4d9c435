//! `gristmill add-json NAME JSON`: a server as other clients' documentation writes it.

use crate::Surroundings;
use crate::format::Format;
use crate::strictness::Strictness;
use crate::tree::Node;

use super::add::{self, AddError, Report, Scope};

/// The command line of `add-json`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddJson {
    pub name: String,
    /// What would stand behind the name in `mcpServers`.
    pub json: String,
    pub scope: Scope,
    pub replace: bool,
}

/// The one server of a whole block, which is what most documentation gives: the one of this name, or
/// the only one.
fn inside<'a>(tree: &'a Node, name: &str) -> Option<&'a Node> {
    let blocks = ["mcpServers", "servers", "mcp_servers"];
    let block = tree.entries().iter().find(|entry| blocks.contains(&entry.key.as_str()))?;
    let servers = block.node.entries();
    let named = servers.iter().find(|entry| entry.key == name);
    match (named, servers) {
        (Some(entry), _) => Some(&entry.node),
        (None, [only]) => Some(&only.node),
        (None, _) => None,
    }
}

/// Adds a server. What another client's keys became of is among the hints.
pub fn add_json(surroundings: &Surroundings, add: &AddJson) -> Result<Report, AddError> {
    let file = add::file_of(surroundings, &add.scope)?;
    let tree = Format::Json.parse(&add.json).map_err(|error| AddError::NotJson(error.to_string()))?;
    let entry = inside(&tree, &add.name).unwrap_or(&tree);
    let (server, problems) = add::read(surroundings, &file, &add.name, entry, Strictness::Foreign)?;
    let mut report = add::put_server(surroundings, file, &server, add.replace)?;
    let told = problems.iter().map(ToString::to_string);
    report.hints.splice(0..0, told);
    Ok(report)
}
