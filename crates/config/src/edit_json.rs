//! Edits JSON; comments, order and indentation stay.

use jsonc_parser::cst::{CstInputValue, CstRootNode};

use super::read_json;
use super::server_place::{ServerPlace, UnsafeReason};
use super::tree::{Node, Value};

/// Puts a server there, or takes it away.
pub fn edit(text: &str, place: &ServerPlace<'_>, node: Option<&Node>) -> Result<String, UnsafeReason> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let root = CstRootNode::parse(text, &read_json::options()).map_err(|_| "it can't be parsed")?;
    let object = root.object_value_or_create().ok_or("it isn't an object")?;
    if object
        .get(place.block)
        .and_then(|block| block.value())
        .is_some_and(|value| value.as_null_keyword().is_some())
        && let Some(block) = object.get(place.block)
    {
        block.set_value(CstInputValue::Object(Vec::new()));
    }
    let block = object.object_value_or_create(place.block).ok_or("its servers are not an object")?;
    match (node, block.get(place.name)) {
        (Some(node), Some(server)) => server.set_value(value(node)),
        (Some(node), None) => drop(block.append(place.name, value(node))),
        (None, Some(server)) => server.remove(),
        (None, None) => return Err("the server isn't in it"),
    }
    let mut text = root.to_string();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

pub(super) fn value(node: &Node) -> CstInputValue {
    match &node.value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(text) => CstInputValue::Number(text.clone()),
        Value::Text(text) => CstInputValue::String(text.clone()),
        Value::List(nodes) => CstInputValue::Array(nodes.iter().map(value).collect()),
        Value::Map(entries) => {
            CstInputValue::Object(entries.iter().map(|e| (e.key.clone(), value(&e.node))).collect())
        }
    }
}
