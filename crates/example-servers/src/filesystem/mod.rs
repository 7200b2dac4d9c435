//! `filesystem`: files beneath one folder, or in a tree in memory. No name leads out of it, and
//! no link is trusted to stay inside.

mod definitions;
mod demo_files;
mod folder_tree;
mod inside_path;
mod memory_tree;
mod tree;

use std::path::Path;

use serde_json::{Map, Value, json};

use super::definition::check_call;
use super::{Answer, ExampleServer, arguments, calendar};
use gristmill_domain::Glob;
use inside_path::InsidePath;
use tree::{Entry, Kind, Tree, WriteMode};

/// The largest file that is read or written.
const FILE_BYTES_MAX: usize = 4 << 20;
/// Lines of one answer of `read_file`.
const LINES_MAX: u64 = 20_000;
/// Entries that a search or a tree looks at.
const VISITED_MAX: usize = 20_000;
/// Matches of a search.
const MATCHES_MAX: u64 = 1_000;
/// Bytes of a pattern.
const PATTERN_BYTES_MAX: usize = 512;
/// How deep a search or a tree goes.
const DEPTH_MAX: usize = 32;

pub struct Filesystem {
    tools: Vec<Value>,
    tree: Box<dyn Tree>,
}

impl Filesystem {
    /// Serves the folder, or a tree in memory without one.
    pub fn new(root: Option<&Path>) -> Result<Self, String> {
        let tree: Box<dyn Tree> = match root {
            Some(root) => Box::new(folder_tree::FolderTree::open(root)?),
            None => Box::new(memory_tree::MemoryTree::with_files(demo_files::demo_files())),
        };
        Ok(Self { tools: definitions::definitions(), tree })
    }
}

impl ExampleServer for Filesystem {
    fn name(&self) -> &'static str {
        "filesystem"
    }

    fn title(&self) -> &'static str {
        "Filesystem"
    }

    fn instructions(&self) -> &'static str {
        "Files and folders beneath one root. Paths are relative to it, with forward slashes; the root itself is \"\"."
    }

    fn tools(&self) -> Vec<Value> {
        self.tools.clone()
    }

    fn call(&self, tool: &str, arguments: &Map<String, Value>) -> Result<Answer, String> {
        check_call(&self.tools, tool, arguments)?;
        match tool {
            "list_directory" => self.list_directory(arguments),
            "read_file" => self.read_file(arguments),
            "write_file" => self.write_file(arguments),
            "search_files" => self.search_files(arguments),
            "file_info" => {
                let path = path(arguments, "path")?;
                let entry = self.tree.entry(&path)?;
                Ok(described(&path.to_string(), &entry))
            }
            "move_file" => self.move_file(arguments),
            "make_directory" => {
                let path = path(arguments, "path")?.below_root()?;
                let created = self.tree.make_folder(&path)?;
                Ok(json!({ "path": path.to_string(), "created": created }))
            }
            _ => return self.directory_tree(arguments).map(Answer::Text),
        }
        .map(Answer::Structured)
    }
}

impl Filesystem {
    fn list_directory(&self, arguments: &Map<String, Value>) -> Result<Value, String> {
        let path = path(arguments, "path")?;
        let listed = self.tree.entries(&path)?;
        let entries: Vec<Value> = listed.iter().map(|entry| named(&path.join(&entry.name), entry)).collect();
        Ok(json!({ "path": path.to_string(), "total": entries.len(), "entries": entries }))
    }

    fn read_file(&self, arguments: &Map<String, Value>) -> Result<Value, String> {
        let path = path(arguments, "path")?.below_root()?;
        let offset = arguments::whole(arguments, "offset", 0, [0, u64::from(u32::MAX)])? as usize;
        let limit = arguments::whole(arguments, "limit", 2_000, [1, LINES_MAX])? as usize;
        let text = String::from_utf8(self.tree.read(&path, FILE_BYTES_MAX)?)
            .map_err(|_| format!("{path} is not UTF-8 text; only text can be read"))?;
        let total = text.split_inclusive('\n').count();
        let lines: Vec<&str> = text.split_inclusive('\n').skip(offset).take(limit).collect();
        let end = offset.saturating_add(lines.len());
        let next_offset = (end < total && !lines.is_empty()).then_some(end);
        Ok(json!({
            "path": path.to_string(), "text": lines.concat(), "lines": lines.len(), "lines_total": total,
            "next_offset": next_offset,
        }))
    }

    fn write_file(&self, arguments: &Map<String, Value>) -> Result<Value, String> {
        let path = path(arguments, "path")?.below_root()?;
        let text = arguments::text(arguments, "text")?;
        if text.len() > FILE_BYTES_MAX {
            return Err(format!("the text has {} bytes; a file holds at most {FILE_BYTES_MAX}", text.len()));
        }
        let mode = match arguments::optional_text(arguments, "mode")?.unwrap_or("replace") {
            "replace" => WriteMode::Replace,
            "append" => WriteMode::Append,
            "new" => WriteMode::New,
            other => return Err(super::unknown_name::unknown("mode", other, ["replace", "append", "new"])),
        };
        let size = self.tree.write(&path, text, mode, FILE_BYTES_MAX)?;
        Ok(json!({ "path": path.to_string(), "bytes_written": text.len(), "size_bytes": size }))
    }

    fn search_files(&self, arguments: &Map<String, Value>) -> Result<Value, String> {
        let glob = glob(arguments::text(arguments, "pattern")?)?;
        let start = path(arguments, "path")?;
        let limit = arguments::whole(arguments, "limit", 100, [1, MATCHES_MAX])? as usize;
        let mut matches = Vec::new();
        let mut truncated = self.walk(&start, &mut |relative, entry| {
            if entry.kind == Kind::File && glob.fits(relative) {
                matches.push(named(&start.join(relative), entry));
            }
            matches.len() <= limit
        })?;
        truncated |= matches.len() > limit;
        matches.truncate(limit);
        Ok(json!({ "total": matches.len(), "matches": matches, "truncated": truncated }))
    }

    fn move_file(&self, arguments: &Map<String, Value>) -> Result<Value, String> {
        let from = path(arguments, "from")?.below_root()?;
        let to = path(arguments, "to")?.below_root()?;
        let overwrite = arguments::flag(arguments, "overwrite")?;
        if to.is_within(&from) {
            return Err(format!("{from} cannot be moved into itself ({to})"));
        }
        self.tree.rename(&from, &to, overwrite)?;
        Ok(json!({ "from": from.to_string(), "to": to.to_string() }))
    }

    fn directory_tree(&self, arguments: &Map<String, Value>) -> Result<String, String> {
        let start = path(arguments, "path")?;
        let mut drawn = format!("{}/\n", if start.is_root() { "." } else { start.last() });
        let truncated = self.walk(&start, &mut |relative, entry| {
            let depth = relative.matches('/').count() + 1;
            let mark = if entry.kind == Kind::Folder { "/" } else { "" };
            drawn.push_str(&format!("{}{}{mark}\n", "  ".repeat(depth), entry.name));
            true
        })?;
        if truncated {
            drawn.push_str("… there is more; ask for a folder further down\n");
        }
        Ok(drawn)
    }

    /// Every entry beneath a folder, in order, until `visit` says no. Whether something was left out.
    fn walk(&self, start: &InsidePath, visit: &mut dyn FnMut(&str, &Entry) -> bool) -> Result<bool, String> {
        let below = |prefix: &str, entries: Vec<Entry>| {
            entries
                .into_iter()
                .rev()
                .map(|entry| (format!("{prefix}{}", entry.name), entry))
                .collect::<Vec<_>>()
        };
        let mut waiting = below("", self.tree.entries(start)?);
        let mut visited = 0;
        let mut left_out = false;
        while let Some((relative, entry)) = waiting.pop() {
            visited += 1;
            if visited > VISITED_MAX || !visit(&relative, &entry) {
                return Ok(true);
            }
            if entry.kind != Kind::Folder {
                continue;
            }
            if relative.matches('/').count() + 1 >= DEPTH_MAX {
                left_out = true;
                continue;
            }
            // A folder that cannot be read, or is gone by now, does not spoil the rest.
            match InsidePath::parse(&start.join(&relative)).and_then(|folder| self.tree.entries(&folder)) {
                Ok(entries) => waiting.extend(below(&format!("{relative}/"), entries)),
                Err(_) => left_out = true,
            }
        }
        Ok(left_out)
    }
}

/// A pattern without a folder means files of that name anywhere.
fn glob(pattern: &str) -> Result<Glob, String> {
    let whole = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
    let glob = Glob::read(&whole).filter(|_| (1..=PATTERN_BYTES_MAX).contains(&pattern.len()));
    glob.ok_or_else(|| format!("the pattern must have 1 to {PATTERN_BYTES_MAX} bytes, such as *.md"))
}

fn path(arguments: &Map<String, Value>, name: &str) -> Result<InsidePath, String> {
    InsidePath::parse(arguments::optional_text(arguments, name)?.unwrap_or_default())
}

fn named(path: &str, entry: &Entry) -> Value {
    json!({ "path": path, "name": entry.name, "kind": entry.kind.word(), "size_bytes": entry.size_bytes })
}

fn described(path: &str, entry: &Entry) -> Value {
    let mut described = named(path, entry);
    described["modified_at"] = Value::from(calendar::time_of(entry.modified));
    described
}

#[cfg(test)]
mod tests;
