//! Entries that lead to an address, and the token in them.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use gristmill_testkit::Ran;
use serde_json::{Value, json};

use crate::desk::{Desk, mode};

#[test]
fn an_address_gets_its_path_and_a_header_added_to_it_stays_and_goes_with_it() {
    let desk = Desk::new("address");
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let ran = desk.ok(&["connect", "cursor", "--yes", "--http", &format!("http://localhost:{port}/")]);
    assert_eq!(ran.stderr, "Restart Cursor to use it.\n", "hints are for terminals");
    let url = format!("http://localhost:{port}/mcp");
    let found: Value = serde_json::from_slice(&desk.read(".cursor/mcp.json")).unwrap();
    let headers = json!({ "Authorization": desk.bearer() });
    assert_eq!(found, json!({ "mcpServers": { "gristmill": { "url": url, "headers": headers } } }));
    assert!(
        !ran.stdout.contains(&desk.bearer()[7..]) && ran.stdout.contains("\"Authorization\": \"…\""),
        "{}",
        ran.stdout
    );
    let entry = json!({ "url": url, "headers": { "Authorization": "Bearer CANARY" } });
    desk.write(".cursor/mcp.json", json!({ "mcpServers": { "gristmill": entry } }).to_string());
    let ran = desk.ok(&["connect", "cursor", "--http", &url]);
    assert!(ran.stdout.contains("is already connected"), "{}", ran.stdout);
    desk.ok(&["disconnect", "cursor", "--yes"]);
    assert!(!desk.at(".cursor/mcp.json").exists(), "it was made for us, and nothing else is in it");
}

#[test]
fn the_local_token_goes_only_into_a_private_file_of_ones_own() {
    let desk = Desk::new("token");
    let url = "http://127.0.0.1:8770/mcp";
    desk.write(".cursor/mcp.json", "{}");
    fs::set_permissions(desk.at(".cursor/mcp.json"), fs::Permissions::from_mode(0o644)).unwrap();
    let ran = desk.ok(&["connect", "cursor", "--yes", "--http", url]);
    assert!(ran.stderr.contains("note: only you can read ~/.cursor/mcp.json now"), "{}", ran.stderr);
    assert_eq!(mode(&desk.at(".cursor/mcp.json")), 0o600);
    assert!(desk.text(".cursor/mcp.json").contains(&desk.bearer()));
    // A project's file is for others, too.
    let ran = desk.ok(&["connect", "cursor", "--project", "--yes", "--http", url]);
    let text = desk.text("work/.cursor/mcp.json");
    assert!(text.contains("Bearer ${env:GRISTMILL_TOKEN}") && !text.contains("gmt_"), "{text}");
    let path = desk.at("data/local-token");
    let needed = format!("export GRISTMILL_TOKEN=\"$(cat '{}')\"", path.display());
    assert!(ran.stderr.contains(&needed), "{}", ran.stderr);
    // In a terminal that has the variable, so has the client.
    let mut command = desk.home.command(&["connect", "codex", "--yes", "--http", url]);
    let ran = Ran::of(command.env("GRISTMILL_TOKEN", "gmt_x").output().unwrap());
    assert_eq!((ran.code, ran.stderr.contains("GRISTMILL_TOKEN")), (Some(0), false), "{}", ran.stderr);
    let expected =
        format!("[mcp_servers.gristmill]\nurl = \"{url}\"\nbearer_token_env_var = \"GRISTMILL_TOKEN\"\n");
    assert_eq!(desk.text(".codex/config.toml"), expected);
}

#[test]
fn a_new_local_token_takes_the_place_of_the_old_one_and_of_no_other() {
    let desk = Desk::new("new-token");
    let url = "http://127.0.0.1:8770/mcp";
    let header = || {
        let file: Value = serde_json::from_slice(&desk.read(".cursor/mcp.json")).unwrap();
        file["mcpServers"]["gristmill"]["headers"]["Authorization"].as_str().unwrap().to_owned()
    };
    desk.ok(&["connect", "cursor", "--yes", "--http", url]);
    let first = header();
    desk.ok(&["token", "remove", "local"]);
    let broken = desk.run(&["doctor"]);
    assert!(broken.stdout.contains("sends an access token that doesn't work"), "{}", broken.stdout);
    assert!(
        broken.stdout.contains(&format!("fix: gristmill connect cursor --http {url}")),
        "{}",
        broken.stdout
    );
    desk.ok(&["connect", "cursor", "--yes", "--http", url]);
    assert_eq!(header(), desk.bearer());
    assert_ne!(header(), first);
    let own = json!({ "url": url, "headers": { "Authorization": "Bearer CANARY", "X-Team": "7" } });
    desk.write(".cursor/mcp.json", json!({ "mcpServers": { "gristmill": own } }).to_string());
    desk.ok(&["connect", "cursor", "--yes", "--http", "http://127.0.0.1:8771/mcp"]);
    assert_eq!(header(), "Bearer CANARY", "somebody's own");
    desk.ok(&["connect", "cursor", "--yes", "--http", url]);
    assert_eq!(header(), "Bearer CANARY", "still");
}

#[test]
fn an_entry_from_before_tokens_is_found_and_mended() {
    let desk = Desk::new("no-token");
    let url = "http://127.0.0.1:8770/mcp";
    desk.ok(&["connect", "cursor", "--yes", "--http", url]);
    desk.write(".cursor/mcp.json", json!({ "mcpServers": { "gristmill": { "url": url } } }).to_string());
    let broken = desk.run(&["doctor"]);
    assert!(broken.stdout.contains("sends no access token"), "{}", broken.stdout);
    desk.ok(&["connect", "cursor", "--yes", "--http", url]);
    assert!(desk.text(".cursor/mcp.json").contains(&desk.bearer()));
}

#[test]
fn help_names_the_clients_and_is_short() {
    let ran = Desk::new("help").ok(&["connect", "--help"]);
    let names = "[possible values: claude-code, claude-desktop, cursor, vscode, codex, gemini, windsurf]";
    let words: Vec<&str> = ran.stdout.split_whitespace().collect();
    assert!(words.join(" ").contains(names), "{}", ran.stdout);
    assert!(ran.stdout.lines().count() < 25, "{}", ran.stdout);
}
