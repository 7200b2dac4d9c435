//! Our entry comes and goes without a trace.

use std::fs;

use serde_json::{Value, json};

use crate::desk::{Desk, FILES, common, mode};
use crate::support::gristmill;

#[test]
fn connecting_adds_to_a_file_and_disconnecting_gives_it_back_to_the_byte() {
    let desk = Desk::full("round-trip");
    for (client, path, before) in FILES {
        desk.ok(&["connect", client, "--yes"]);
        let after = desk.read(path);
        assert_eq!(common(before.as_bytes(), &after), before.len(), "{client}: only something was added");
        assert!(desk.text(path).contains(&gristmill().display().to_string()), "{client}");
        let backups = desk.backups(path);
        assert_eq!(backups.len(), 1, "{client}");
        assert_eq!((fs::read(&backups[0]).unwrap(), mode(&backups[0])), (before.into(), 0o600), "{client}");
        let again = desk.ok(&["connect", client]);
        assert!(again.stdout.contains("is already connected"), "{}", again.stdout);
        assert_eq!(desk.read(path), after, "{client}: the second time nothing changes");
        desk.ok(&["disconnect", client, "--yes"]);
        assert_eq!(desk.text(path), before, "{client}");
        assert!(desk.ok(&["disconnect", client]).stdout.contains("isn't connected"), "{client}");
    }
}

#[test]
fn a_file_that_its_client_wrote_anew_loses_our_entry_only() {
    let desk = Desk::full("rewritten");
    desk.ok(&["connect", "claude-code", "--yes"]);
    let mut json: Value = serde_json::from_slice(&desk.read(".claude.json")).unwrap();
    json["numStartups"] = json!(413);
    desk.write(".claude.json", serde_json::to_string_pretty(&json).unwrap());
    desk.ok(&["disconnect", "claude-code", "--yes"]);
    json["mcpServers"].as_object_mut().unwrap().remove("gristmill");
    assert_eq!(desk.text(".claude.json"), serde_json::to_string_pretty(&json).unwrap());
}

#[test]
fn every_layout_of_a_file_is_kept() {
    let desk = Desk::new("layouts");
    let plain = "{\n  \"a\": [1, 2],\n  \"mcpServers\": {\n    \"x\": {\"command\": \"x\"}\n  }\n}\n";
    let crlf = plain.replace('\n', "\r\n");
    let marked = format!("\u{feff}{plain}");
    let cases = [
        "",
        "{}",
        "{}\n",
        "{ }\n",
        "\n",
        "{\n}\n",
        "// only words\n{}\n",
        "{\"mcpServers\":{}}",
        "{\"a\":1}",
        "{\"mcpServers\":{\"x\":{\"command\":\"x\"}},\"z\":[{\"b\":1}]}",
        "{\n  \"mcpServers\": null\n}\n",
        "{\n\t\"mcpServers\": {\n\t\t\"x\": {\"command\": \"x\"}, // why\n\t},\n}",
        plain,
        &crlf,
        &marked,
    ];
    for before in cases {
        desk.write(".cursor/mcp.json", before);
        desk.ok(&["connect", "cursor", "--yes"]);
        let after = desk.text(".cursor/mcp.json");
        assert_eq!(after.contains("\r\n"), before.contains("\r\n"), "{before:?} {after:?}");
        assert!(!before.contains("\r\n") || after.matches('\n').count() == after.matches("\r\n").count());
        assert_eq!(after.starts_with('\u{feff}'), before.starts_with('\u{feff}'), "{before:?} {after:?}");
        if !before.trim().is_empty() {
            assert_eq!(after.ends_with('\n'), before.ends_with('\n'), "{before:?} {after:?}");
        }
        assert!(after.contains("\"serve\""), "{after}");
        desk.ok(&["disconnect", "cursor", "--yes"]);
        assert_eq!(desk.text(".cursor/mcp.json"), before);
    }
    for before in [
        "",
        "# nothing yet\n",
        "a = 1",
        "[mcp_servers]\n",
        "a = 1\r\n\r\n[b]\r\nc = 2\r\n",
        "mcp_servers = {}\n",
    ] {
        desk.write(".codex/config.toml", before);
        desk.ok(&["connect", "codex", "--yes"]);
        assert!(desk.text(".codex/config.toml").contains("serve"));
        desk.ok(&["disconnect", "codex", "--yes"]);
        assert_eq!(desk.text(".codex/config.toml"), before);
    }
}

#[test]
fn our_entry_is_written_as_each_client_wants_it() {
    let program = gristmill().display().to_string();
    let check = |client: &str, path: &str, flags: &[&str], expected: Value| {
        let desk = Desk::new("entry");
        desk.ok(&[&["connect", client, "--yes"], flags].concat());
        let text = desk.text(path);
        let block = match client {
            "vscode" => "servers",
            _ => "mcpServers",
        };
        let found: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(found, json!({ block: { "gristmill": expected } }), "{client}");
        assert_eq!(mode(&desk.at(path)), 0o600, "{client}");
        desk.ok(&["disconnect", client, "--yes"]);
        assert!(!desk.at(path).exists(), "{client}: a file that was made for us goes with us");
    };
    let typed = json!({ "type": "stdio", "command": program, "args": ["serve"] });
    let bare = json!({ "command": program, "args": ["serve"] });
    let url = "https://tools.example.com/mcp";
    let sent = |header: &str| json!({ "Authorization": header });
    for (client, path, _) in FILES.into_iter().filter(|(client, ..)| *client != "codex") {
        let is_typed = ["claude-code", "cursor", "vscode"].contains(&client);
        check(client, path, &[], if is_typed { typed.clone() } else { bare.clone() });
        let http = match client {
            "claude-code" => {
                json!({ "type": "http", "url": url, "headers": sent("Bearer ${GRISTMILL_TOKEN}") })
            }
            "vscode" => {
                json!({ "type": "http", "url": url, "headers": sent("Bearer ${env:GRISTMILL_TOKEN}") })
            }
            "cursor" => json!({ "url": url, "headers": sent("Bearer ${env:GRISTMILL_TOKEN}") }),
            "gemini" => json!({ "httpUrl": url, "headers": sent("Bearer $GRISTMILL_TOKEN") }),
            "windsurf" => json!({ "serverUrl": url, "headers": sent("Bearer ${env:GRISTMILL_TOKEN}") }),
            _ => continue,
        };
        check(client, path, &["--http", url], http);
    }
    let desk = Desk::new("entry");
    desk.ok(&[
        "connect",
        "codex",
        "--yes",
        "--profile",
        "minimal",
        "--command",
        "/opt/gristmill",
        "--name",
        "mill",
    ]);
    assert_eq!(
        desk.text(".codex/config.toml"),
        "[mcp_servers.mill]\ncommand = \"/opt/gristmill\"\nargs = [\"serve\", \"--profile\", \"minimal\"]\n"
    );
    desk.refused(&["connect", "claude-desktop", "--http", url], "leave out --http");
    desk.refused(&["connect", "cursor", "--http", "ftp://x"], "must be a URL");
    desk.refused(&["connect", "cursor", "--profile", "huge"], "[possible values: minimal, standard, full]");
    desk.refused(&["connect", "windsurf", "--project"], "has no project file");
}

#[test]
fn another_path_replaces_the_first_and_still_goes_without_a_trace() {
    let desk = Desk::full("update");
    let before = FILES[3].2;
    desk.ok(&["connect", "vscode", "--yes"]);
    let ran = desk.ok(&["connect", "vscode", "--yes", "--command", "/opt/gristmill"]);
    assert!(ran.stdout.contains("+            \"command\": \"/opt/gristmill\","), "{}", ran.stdout);
    assert_eq!(desk.text(FILES[3].1).matches("\"gristmill\":").count(), 1);
    desk.refused(&["connect", "vscode", "--name", "other"], "already has Gristmill as `gristmill`");
    desk.ok(&["disconnect", "vscode", "--yes"]);
    assert_eq!(desk.text(FILES[3].1), before);
    desk.refused(&["connect", "vscode", "--name", "perplexity"], "that isn't Gristmill; choose another name");
}

#[test]
fn what_someone_added_to_our_entry_stays() {
    let desk = Desk::new("added");
    let program = gristmill().display().to_string();
    let entry = json!({ "env": { "A": "b" }, "command": "/old/gristmill", "args": ["serve", "--quiet"] });
    let file = |entry: &Value| format!("{:#}\n", json!({ "mcpServers": { "gristmill": entry } }));
    desk.write(".gemini/settings.json", file(&entry));
    desk.ok(&["connect", "gemini", "--yes"]);
    let mut expected = entry.clone();
    expected["command"] = json!(program);
    let found: Value = serde_json::from_slice(&desk.read(".gemini/settings.json")).unwrap();
    assert_eq!(found, json!({ "mcpServers": { "gristmill": expected } }));
    assert!(desk.ok(&["connect", "gemini"]).stdout.contains("is already connected"));
    desk.ok(&["connect", "gemini", "--yes", "--profile", "full"]);
    expected["args"] = json!(["serve", "--profile", "full"]);
    let found: Value = serde_json::from_slice(&desk.read(".gemini/settings.json")).unwrap();
    assert_eq!(found, json!({ "mcpServers": { "gristmill": expected } }));
    desk.ok(&["disconnect", "gemini", "--yes"]);
    let found: Value = serde_json::from_slice(&desk.read(".gemini/settings.json")).unwrap();
    assert_eq!(found, json!({ "mcpServers": {} }), "an entry made by hand goes, too");
}

#[test]
fn a_project_s_file_is_connected_for_itself() {
    let desk = Desk::new("project-file");
    let ran = desk.ok(&["connect", "claude-code", "--project", "--yes", "--command", "gristmill"]);
    assert!(ran.stdout.contains("work/.mcp.json"), "{}", ran.stdout);
    let entry = json!({ "type": "stdio", "command": "gristmill", "args": ["serve"] });
    let found: Value = serde_json::from_slice(&desk.read("work/.mcp.json")).unwrap();
    assert_eq!(found, json!({ "mcpServers": { "gristmill": entry } }));
    let ran = desk.ok(&["config", "check"]);
    assert!(ran.stdout.contains("0 errors, 0 warnings"), "it needs no approval of its own: {}", ran.stdout);
    assert!(!desk.at(".claude.json").exists());
    desk.refused(&["connect", "claude-code", "--project", "--move-servers"], "Gristmill already reads ");
    desk.ok(&["disconnect", "claude-code", "--project", "--yes"]);
    assert!(!desk.at("work/.mcp.json").exists());
}
