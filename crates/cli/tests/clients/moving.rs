//! Servers that move behind us, and back.

use std::path::PathBuf;

use gristmill_testkit::Ran;
use serde_json::{Value, json};

use crate::desk::{Desk, FILES, mode};

#[test]
fn servers_move_behind_us_and_back() {
    let desk = Desk::full("move");
    for (client, path, before) in FILES {
        let ran = desk.ok(&["connect", client, "--yes", "--move-servers"]);
        assert!(ran.stdout.contains("as `gristmill` in "), "{}", ran.stdout);
        let left = desk.text(path);
        assert!(!left.contains("server-github") && !left.contains("mcp.figma.com"), "{left}");
        desk.ok(&["disconnect", client, "--yes"]);
        assert_eq!(desk.text(path), before, "{client}");
    }
    let config = desk.config();
    assert!(config.contains("[servers.zapier]") && config.contains("[servers.context7]"), "{config}");
    assert!(!config.contains("CANARY"), "{config}");
    assert!(!config.contains("old-news"), "the old transport stays where it is\n{config}");
}

#[test]
fn moved_servers_stay_behind_us_if_asked_and_what_others_wrote_meanwhile_stays() {
    let desk = Desk::full("meanwhile");
    let path = ".codeium/windsurf/mcp_config.json";
    desk.ok(&["connect", "windsurf", "--yes", "--move-servers"]);
    let text = desk.text(path).replace(
        "{\n  \"mcpServers\": {\n",
        "{\n  \"mine\": 1,\n  \"mcpServers\": {\n    \"off\": {\"command\": \"mine\"},\n",
    );
    desk.write(path, &text);
    let ran = desk.ok(&["disconnect", "windsurf", "--yes", "--dry-run"]);
    assert!(ran.stderr.contains("off stays in Gristmill: the client now has another"), "{}", ran.stderr);
    assert_eq!(desk.text(path), text, "a dry run changes nothing");
    desk.ok(&["disconnect", "windsurf", "--yes", "--keep-moved"]);
    let left: Value = serde_json::from_slice(&desk.read(path)).unwrap();
    assert_eq!(left, json!({ "mine": 1, "mcpServers": { "off": { "command": "mine" } } }));
}

#[test]
fn connecting_ends_with_the_servers_that_are_still_in_the_client_s_own_list() {
    let desk = Desk::full("left");
    let left = "still in Codex's own list: context7, figma\n";
    for ran in [desk.ok(&["connect", "codex", "--yes"]), desk.ok(&["connect", "codex"])] {
        assert!(ran.stderr.contains(left), "{}", ran.stderr);
    }
    let ran = desk.ok(&["connect", "codex", "--yes", "--move-servers"]);
    assert!(!ran.stderr.contains("still in"), "{}", ran.stderr);
    let ran = desk.ok(&["connect", "codex", "--yes"]);
    assert_eq!(ran.stderr, "", "there is nothing left to say");
    let desk = Desk::new("left-in-project");
    desk.write("work/.mcp.json", r#"{"mcpServers": {"db": {"command": "db"}}}"#);
    let ran = desk.ok(&["connect", "claude-code", "--project", "--yes"]);
    assert!(!ran.stderr.contains("--move-servers"), "they cannot move: {}", ran.stderr);
}

#[test]
fn before_servers_move_it_is_said_what_goes_where_and_what_they_lack() {
    let desk = Desk::full("announced");
    desk.ok(&["import", "playwright-mcp"]);
    let mut command = desk.home.command(&["connect", "vscode", "--move-servers", "--dry-run"]);
    let dry = Ran::of(command.env("PATH", "/nowhere").output().unwrap());
    let lacks = "Before they work:\n  \
                 set in ~/config/gristmill/.env or in the environment: PERPLEXITY_KEY (perplexity)\n  \
                 install: npx (playwright-mcp, perplexity)\n";
    assert_eq!(
        dry.stderr,
        format!(
            "note: moves to ~/config/gristmill/gristmill.toml: perplexity, local-docs\n\
             note: already in Gristmill: io.github.microsoft/playwright-mcp\n\
             note: perplexity: set PERPLEXITY_KEY: VS Code asks for `perplexity-key` when it starts the server\n\
             {lacks}nothing changed (dry run)\n"
        )
    );
    let mut command = desk.home.command(&["connect", "vscode", "--move-servers", "--yes"]);
    let ran = Ran::of(command.env("PATH", "/nowhere").output().unwrap());
    assert_eq!(ran.stderr.matches(lacks).count(), 1, "once, and at the end: {}", ran.stderr);
    let moved = "moved to Gristmill: \
                 io.github.microsoft/playwright-mcp, perplexity, local-docs\n";
    assert!(ran.stdout.contains(moved), "{}", ran.stdout);
    let dry = desk.ok(&["connect", "windsurf", "--move-servers", "--dry-run"]);
    let secrets = "note: secrets move to ~/config/gristmill/.env: ZAPIER_URL_TOKEN\n";
    assert!(dry.stderr.contains(secrets), "{}", dry.stderr);
}

#[test]
fn a_server_that_has_its_secret_does_not_give_way_to_one_that_lacks_it() {
    let desk = Desk::new("lacks");
    desk.write(
        "config/gristmill/gristmill.toml",
        "[servers.github]\ncommand = \"gh\"\nenv = { TOKEN = \"${GH_UNSET}\" }\n",
    );
    let before = r#"{"mcpServers": {"github": {"command": "gh", "env": {"TOKEN": "CANARY0123456789"}}}}"#;
    desk.write(".cursor/mcp.json", before);
    let ran = desk.ok(&["connect", "cursor", "--move-servers", "--yes"]);
    assert!(
        ran.stderr.contains("note: github stays in the client: you have a different server"),
        "{}",
        ran.stderr
    );
    assert!(desk.text(".cursor/mcp.json").contains("CANARY0123456789"));
    desk.ok(&["disconnect", "cursor", "--yes"]);
    desk.write("config/gristmill/.env", "GH_UNSET=CANARY0123456789\n");
    let ran = desk.ok(&["connect", "cursor", "--move-servers", "--yes"]);
    assert!(ran.stderr.contains("note: already in Gristmill: github\n"), "{}", ran.stderr);
}

#[test]
fn a_copy_of_a_project_s_file_is_not_left_in_the_project() {
    let desk = Desk::new("project-backup");
    let before = r#"{"mcpServers": {"db": {"command": "db", "env": {"TOKEN": "CANARY"}}}}"#;
    desk.write("work/.cursor/mcp.json", before);
    let ran = desk.ok(&["connect", "cursor", "--project", "--yes"]);
    assert_eq!(desk.backups("work/.cursor/mcp.json"), Vec::<PathBuf>::new());
    let told = ran.stdout.lines().find_map(|line| line.strip_prefix("backup: ~/")).unwrap();
    assert!(told.starts_with("data/backups/"), "{told}");
    assert_eq!((desk.text(told).as_str(), mode(&desk.at(told))), (before, 0o600));
    let ran = desk.ok(&["disconnect", "cursor", "--project", "--yes"]);
    assert!(ran.stdout.contains(&format!("backup: ~/{told}\n")), "{}", ran.stdout);
    assert_eq!(desk.text("work/.cursor/mcp.json"), before);
}
