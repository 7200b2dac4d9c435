//! Files that must not be written, or that others write at the same time.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Stdio;

use gristmill_testkit::Ran;
use serde_json::{Value, json};

use crate::desk::{Desk, FILES, common, mode};

#[test]
fn nothing_changes_unless_someone_says_so() {
    let desk = Desk::full("asking");
    let before = desk.text(".cursor/mcp.json");
    desk.refused(
        &["connect", "cursor"],
        "nothing changed\nhint: not a terminal, so there is no one to ask; pass --yes",
    );
    let dry = desk.ok(&["connect", "cursor", "--dry-run", "--move-servers"]);
    assert!(dry.stdout.contains("-\t\t\t\"command\": \"npx\","), "{}", dry.stdout);
    assert_eq!((desk.text(".cursor/mcp.json"), desk.config()), (before, String::new()));
    assert_eq!(desk.backups(".cursor/mcp.json"), Vec::<PathBuf>::new());
    let desk = Desk::new("absent");
    // Whoever runs this may have the client.
    let mut command = desk.home.command(&["connect", "windsurf"]);
    let ran = Ran::of(command.env("PATH", "/nowhere").output().unwrap());
    assert_eq!(ran.code, Some(2), "{}", ran.stdout);
    assert!(ran.stderr.contains("Windsurf doesn't seem to be installed"), "{}", ran.stderr);
    assert!(!desk.at(".codeium").exists());
}

#[test]
fn files_that_must_not_be_written_are_left_alone() {
    let desk = Desk::full("protected");
    let path = desk.at(".cursor/mcp.json");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    desk.refused(&["connect", "cursor", "--yes"], "is read-only; make it writable");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    desk.ok(&["connect", "cursor", "--yes"]);
    assert_eq!(mode(&path), 0o644, "the mode stays");

    desk.write("dotfiles/gemini.json", FILES[5].2);
    fs::remove_file(desk.at(".gemini/settings.json")).unwrap();
    symlink(desk.at("dotfiles/gemini.json"), desk.at(".gemini/settings.json")).unwrap();
    desk.ok(&["connect", "gemini", "--yes"]);
    assert!(desk.at(".gemini/settings.json").is_symlink(), "the link stays");
    assert!(desk.text("dotfiles/gemini.json").contains("\"serve\""));
    desk.ok(&["disconnect", "gemini", "--yes"]);
    assert_eq!(desk.text("dotfiles/gemini.json"), FILES[5].2);

    fs::remove_file(desk.at(".codex/config.toml")).unwrap();
    symlink(desk.at("nowhere"), desk.at(".codex/config.toml")).unwrap();
    desk.refused(&["connect", "codex", "--yes"], "it links to a file that doesn't exist");
    fs::remove_file(desk.at(".codex/config.toml")).unwrap();
    fs::create_dir(desk.at(".codex/config.toml")).unwrap();
    desk.refused(&["connect", "codex", "--yes"], "isn't a regular file");
}

#[test]
fn broken_files_are_named_with_line_and_column_and_never_touched() {
    let deep = format!("{}{}", "[".repeat(400), "]".repeat(400));
    let check = |content: &[u8], words: &str| {
        let desk = Desk::full("broken");
        desk.write(".cursor/mcp.json", content);
        desk.refused(&["connect", "cursor", "--yes"], words);
        assert_eq!(desk.read(".cursor/mcp.json"), content);
        let ran = desk.run(&["import", "--all"]);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
        assert!(ran.stdout.contains("imported 16 servers"), "the others are taken: {}", ran.stdout);
    };
    check(b"{\n  \"mcpServers\": {\n    \"x\": CANARY\n", ".cursor/mcp.json:3:10: can't be parsed");
    check(b"{\"mcpServers\": []}", "`mcpServers` must be a table of servers, not a list");
    check(b"{\"mcpServers\": \xff}", "isn't UTF-8 text (at byte 15)");
    check(&vec![b' '; (32 << 20) + 1], "is larger than 32 MB");
    check(deep.as_bytes(), "nested deeper than 128 levels");
    let desk = Desk::new("broken");
    desk.write(".codex/config.toml", "a = 1\nb = = 2\n");
    desk.refused(&["connect", "codex", "--yes"], "config.toml:2:5: can't be parsed");
    desk.write(".gemini/settings.json", "{\"mcpServers\": {\"a\": {}, \"a\": {\"command\": \"x\"}}}");
    desk.refused(&["connect", "gemini", "--yes"], "a name appears twice");
}

#[test]
fn a_large_file_is_changed_like_a_small_one() {
    let desk = Desk::new("large");
    let history: Vec<Value> =
        (0..20_000).map(|n| json!({ "display": format!("line {n}"), "pastedContents": {} })).collect();
    let before =
        serde_json::to_string_pretty(&json!({ "projects": { "/srv": { "history": history } } })).unwrap();
    desk.write(".claude.json", &before);
    desk.ok(&["connect", "claude-code", "--yes"]);
    assert_eq!(common(before.as_bytes(), &desk.read(".claude.json")), before.len());
    desk.ok(&["disconnect", "claude-code", "--yes"]);
    assert_eq!(desk.text(".claude.json"), before);
}

#[test]
fn killed_at_the_backup_the_file_is_whole_and_the_next_run_goes_on() {
    let desk = Desk::full("killed");
    let (client, path, before) = FILES[0];
    let mut command = desk.home.command(&["connect", client, "--yes"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while desk.backups(path).is_empty() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let left = desk.text(path);
    assert!(left == before || left.contains("\"gristmill\""), "neither the old file nor the new one");
    serde_json::from_str::<Value>(&left).unwrap();
    desk.ok(&["connect", client, "--yes"]);
    desk.ok(&["disconnect", client, "--yes"]);
    assert_eq!(desk.text(path), before);
}

#[test]
fn a_damaged_record_stops_nothing_silently() {
    let desk = Desk::full("record");
    desk.ok(&["connect", "cursor", "--yes", "--move-servers"]);
    assert_eq!(mode(&desk.at("data/connections.json")), 0o600);
    desk.write("data/connections.json", "{");
    desk.refused(&["disconnect", "cursor", "--yes"], "can't read the record of connections");
    fs::remove_file(desk.at("data/connections.json")).unwrap();
    desk.ok(&["disconnect", "cursor", "--yes"]);
    assert!(!desk.text(".cursor/mcp.json").contains("\"serve\""), "our entry is known without a record");
}
