//! Edits YAML line by line, since nothing that writes YAML keeps its comments.
//!
//! Only the common layout is touched, one server below the other. Anything else is refused; what
//! goes wrong all the same is caught when the result is read again.

use super::edit::{Place, Unsafe};
use super::tree::{Entry, Node, Value};

/// Puts a server there, or takes it away.
pub fn edit(text: &str, tree: &Node, place: &Place<'_>, node: Option<&Node>) -> Result<String, Unsafe> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    match tree.entry(place.block) {
        Some(block) => edit_block(&mut lines, block, place, node)?,
        None => {
            if let Some(node) = node {
                lines.push(format!("{}:", place.block));
                lines.extend(server_lines(place.name, node, 2));
            }
        }
    }
    let mut text = lines.join("\n");
    if !text.is_empty() {
        text.push('\n');
    }
    Ok(text)
}

fn edit_block(
    lines: &mut Vec<String>,
    block: &Entry,
    place: &Place<'_>,
    node: Option<&Node>,
) -> Result<(), Unsafe> {
    let Some(last) = block.node.entries().last() else {
        // `servers:` or `servers: {}` and nothing more.
        let at = block.line - 1;
        let line = lines.get_mut(at).ok_or("its lines cannot be counted")?;
        let bare = line.trim_end().trim_end_matches("{}").trim_end();
        if bare.trim() != format!("{}:", place.block) {
            return Err("its servers are written on one line");
        }
        *line = bare.to_owned();
        let added = node.map(|node| server_lines(place.name, node, block.column + 2)).unwrap_or_default();
        lines.splice(at + 1..at + 1, added);
        return Ok(());
    };
    if !block.node.entries().iter().all(|entry| begins_line(lines, entry)) {
        return Err("its servers are written on one line");
    }
    let column = last.column;
    match (block.node.entry(place.name), node) {
        (Some(old), Some(node)) => {
            let range = old.line - 1..end_of(lines, old);
            lines.splice(range, server_lines(place.name, node, column));
        }
        (None, Some(node)) => {
            let end = end_of(lines, last);
            lines.splice(end..end, server_lines(place.name, node, column));
        }
        (Some(old), None) => {
            let range = start_with_comment(lines, old)..end_of(lines, old);
            lines.drain(range);
        }
        (None, None) => return Err("the server is not there"),
    }
    Ok(())
}

fn begins_line(lines: &[String], entry: &Entry) -> bool {
    let line = lines.get(entry.line.wrapping_sub(1));
    line.is_some_and(|line| {
        line.chars().take(entry.column).all(|c| c == ' ') && line.chars().count() > entry.column
    })
}

fn indentation(line: &str) -> usize {
    line.chars().take_while(|c| *c == ' ').count()
}

/// The line after the last one that belongs to an entry: everything that stands further in.
fn end_of(lines: &[String], entry: &Entry) -> usize {
    let mut end = entry.line;
    for (index, line) in lines.iter().enumerate().skip(entry.line) {
        let is_blank = line.trim().is_empty();
        if !is_blank && indentation(line) <= entry.column {
            break;
        }
        if !is_blank {
            end = index + 1;
        }
    }
    end
}

/// Comments right above an entry are about it.
fn start_with_comment(lines: &[String], entry: &Entry) -> usize {
    let mut start = entry.line - 1;
    while start > 0 {
        let above = &lines[start - 1];
        if !above.trim_start().starts_with('#') || indentation(above) != entry.column {
            break;
        }
        start -= 1;
    }
    start
}

fn server_lines(name: &str, node: &Node, indent: usize) -> Vec<String> {
    let mut lines = vec![format!("{:indent$}{}:", "", key(name))];
    block_lines(node, indent + 2, &mut lines);
    lines
}

fn block_lines(node: &Node, indent: usize, lines: &mut Vec<String>) {
    for entry in node.entries() {
        match &entry.node.value {
            Value::Map(entries) if !entries.is_empty() => {
                lines.push(format!("{:indent$}{}:", "", key(&entry.key)));
                block_lines(&entry.node, indent + 2, lines);
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Map(_) => {
                lines.push(format!("{:indent$}{}: {}", "", key(&entry.key), flow(&entry.node)));
            }
        }
    }
}

/// A value on one line: JSON is YAML.
fn flow(node: &Node) -> String {
    match &node.value {
        Value::List(nodes) => format!("[{}]", nodes.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Map(_) => {
            node.to_json().to_string()
        }
    }
}

/// Bare if nobody could take it for anything but a word.
fn key(name: &str) -> String {
    let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let is_word_of_yaml = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
        .contains(&name.to_ascii_lowercase().as_str());
    if is_plain && !is_word_of_yaml { name.to_owned() } else { serde_json::Value::from(name).to_string() }
}
