//! What the tools of `filesystem` take and give.

use serde_json::{Value, json};

use super::{LINES_MAX, MATCHES_MAX};
use crate::definition::{Effect, full_object, object, tool};

pub fn definitions() -> Vec<Value> {
    vec![
        list_directory_tool(),
        directory_tree_tool(),
        read_file_tool(),
        write_file_tool(),
        search_files_tool(),
        file_info_tool(),
        move_file_tool(),
        make_directory_tool(),
    ]
}

fn list_directory_tool() -> Value {
    tool(
        ["list_directory", "List a folder"],
        "Lists the files and folders in a folder, in order of their names.",
        Effect::Reads,
        object(&[], json!({ "path": folder() })),
        full_object(json!({
            "path": path(),
            "total": { "type": "integer", "description": "How many entries" },
            "entries": { "type": "array", "items": entry(), "description": "Files and folders" },
        })),
    )
}

fn directory_tree_tool() -> Value {
    tool(
        ["directory_tree", "Draw a folder"],
        "Draws a folder with everything beneath it as indented text. For values, use list_directory.",
        Effect::Reads,
        object(&[], json!({ "path": folder() })),
        Value::Null,
    )
}

fn read_file_tool() -> Value {
    tool(
        ["read_file", "Read a text file"],
        "Reads the lines of a UTF-8 text file (up to 4 MiB), all or a part.",
        Effect::Reads,
        object(
            &["path"],
            json!({
                "path": file(),
                "offset": { "type": "integer", "minimum": 0, "default": 0, "description": "Lines to skip first" },
                "limit": {
                    "type": "integer", "minimum": 1, "maximum": LINES_MAX, "default": 2000,
                    "description": "Lines to give at most",
                },
            }),
        ),
        full_object(json!({
            "path": path(),
            "text": { "type": "string", "description": "The lines, with their line ends" },
            "lines": { "type": "integer", "description": "How many lines are in text" },
            "lines_total": { "type": "integer", "description": "How many lines the file has" },
            "next_offset": { "type": ["integer", "null"], "description": "Where the rest begins; null at the end" },
        })),
    )
}

fn write_file_tool() -> Value {
    tool(
        ["write_file", "Write a text file"],
        "Writes a text file (up to 4 MiB). Its folder must exist; see make_directory.",
        Effect::Replaces,
        object(
            &["path", "text"],
            json!({
                "path": file(),
                "text": { "type": "string", "description": "What to write" },
                "mode": {
                    "type": "string", "enum": ["replace", "append", "new"], "default": "replace",
                    "description": "Replace the whole file, append to it, or refuse if it exists",
                },
            }),
        ),
        full_object(json!({
            "path": path(),
            "bytes_written": { "type": "integer", "description": "Bytes of the text" },
            "size_bytes": { "type": "integer", "description": "Size of the file now" },
        })),
    )
}

fn search_files_tool() -> Value {
    tool(
        ["search_files", "Find files by name"],
        "Finds files by a glob: * and ? within a name, ** across folders. A pattern without a slash is held \
         against the file's name alone, in every folder.",
        Effect::Reads,
        object(
            &["pattern"],
            json!({
                "pattern": { "type": "string", "description": "Such as *.md or logs/**/*.log" },
                "path": folder(),
                "limit": {
                    "type": "integer", "minimum": 1, "maximum": MATCHES_MAX, "default": 100,
                    "description": "Matches to give at most",
                },
            }),
        ),
        full_object(json!({
            "total": { "type": "integer", "description": "How many matches are given" },
            "matches": { "type": "array", "items": entry(), "description": "Files, in order of their paths" },
            "truncated": { "type": "boolean", "description": "Whether there may be more" },
        })),
    )
}

fn file_info_tool() -> Value {
    tool(
        ["file_info", "Describe a file"],
        "Tells what a path is, its size and when it was last changed.",
        Effect::Reads,
        object(&["path"], json!({ "path": { "type": "string", "description": "Path of a file or folder" } })),
        full_object(json!({
            "path": path(), "name": name(), "kind": kind(), "size_bytes": size(),
            "modified_at": { "type": "string", "description": "Time of the last change, in UTC" },
        })),
    )
}

fn move_file_tool() -> Value {
    tool(
        ["move_file", "Move or rename"],
        "Moves or renames a file or folder. The new folder must exist.",
        Effect::Moves,
        object(
            &["from", "to"],
            json!({
                "from": { "type": "string", "description": "Where it is" },
                "to": { "type": "string", "description": "Where it shall be, with its new name" },
                "overwrite": {
                    "type": "boolean", "default": false, "description": "Replace a file that is there already",
                },
            }),
        ),
        full_object(json!({
            "from": { "type": "string", "description": "Where it was" },
            "to": { "type": "string", "description": "Where it is now" },
        })),
    )
}

fn make_directory_tool() -> Value {
    tool(
        ["make_directory", "Make a folder"],
        "Makes a folder, with the folders above it where they are missing.",
        Effect::Ensures,
        object(&["path"], json!({ "path": { "type": "string", "description": "Path of the new folder" } })),
        full_object(json!({
            "path": path(),
            "created": { "type": "boolean", "description": "False if it was there already" },
        })),
    )
}

fn file() -> Value {
    json!({ "type": "string", "description": "Path of the file, such as notes/plan.md" })
}

fn folder() -> Value {
    json!({ "type": "string", "default": "", "description": "Path of the folder; \"\" is the root" })
}

fn path() -> Value {
    json!({ "type": "string", "description": "The path, from the root" })
}

fn kind() -> Value {
    json!({ "type": "string", "enum": ["file", "folder", "other"], "description": "What it is" })
}

fn size() -> Value {
    json!({ "type": "integer", "minimum": 0, "description": "Size in bytes; 0 for a folder" })
}

fn name() -> Value {
    json!({ "type": "string", "description": "The last part of the path" })
}

fn entry() -> Value {
    full_object(json!({ "path": path(), "name": name(), "kind": kind(), "size_bytes": size() }))
}
