//! Other clients' files: connected, disconnected, never harmed. The files in `clients/` are as people
//! have them, with comments, unknown keys and secrets, which all hold the word CANARY.

mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use gristmill_testkit::{Home, Ran};
use serde_json::{Value, json};
use support::gristmill;

/// Each client, its file in a home, and what is in it.
const FILES: [(&str, &str, &str); 7] = [
    ("claude-code", ".claude.json", include_str!("clients/claude.json")),
    (
        "claude-desktop",
        "config/Claude/claude_desktop_config.json",
        include_str!("clients/claude_desktop_config.json"),
    ),
    ("cursor", ".cursor/mcp.json", include_str!("clients/cursor_mcp.json")),
    ("vscode", "config/Code/User/mcp.json", include_str!("clients/vscode_mcp.json")),
    ("codex", ".codex/config.toml", include_str!("clients/codex_config.toml")),
    ("gemini", ".gemini/settings.json", include_str!("clients/gemini_settings.json")),
    ("windsurf", ".codeium/windsurf/mcp_config.json", include_str!("clients/windsurf_mcp_config.json")),
];

struct Desk {
    home: Home,
}

impl Desk {
    fn new(name: &str) -> Self {
        Self { home: Home::new(gristmill(), name) }
    }

    /// With every client's file.
    fn full(name: &str) -> Self {
        let desk = Self::new(name);
        for (_, path, text) in FILES {
            desk.write(path, text);
        }
        desk.write("config/Code/User/settings.json", include_str!("clients/vscode_settings.json"));
        desk
    }

    fn at(&self, path: &str) -> PathBuf {
        self.home.path().join(path)
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn read(&self, path: &str) -> Vec<u8> {
        fs::read(self.at(path)).unwrap()
    }

    fn text(&self, path: &str) -> String {
        String::from_utf8(self.read(path)).unwrap()
    }

    /// What is sent by whoever is the local owner.
    fn bearer(&self) -> String {
        format!("Bearer {}", self.text("data/local-token").trim_end())
    }

    /// A command that must work and must not tell a secret.
    fn ok(&self, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}\n{}\n{}", ran.stdout, ran.stderr);
        ran
    }

    fn refused(&self, arguments: &[&str], words: &str) {
        let ran = self.run(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}\n{}\n{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(words), "{arguments:?}\n{}", ran.stderr);
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        let ran = self.home.run(arguments);
        assert!(!ran.stdout.contains("CANARY"), "{}", ran.stdout);
        assert!(!ran.stderr.contains("CANARY"), "{}", ran.stderr);
        ran
    }

    fn backups(&self, path: &str) -> Vec<PathBuf> {
        let path = self.at(path);
        let begins = format!("{}.gristmill-backup-", path.file_name().unwrap().to_string_lossy());
        let names = fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
        names.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(&begins)).collect()
    }

    fn config(&self) -> String {
        fs::read_to_string(self.home.config_file()).unwrap_or_default()
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// How many bytes two files have in common at their beginning and end.
fn common(one: &[u8], other: &[u8]) -> usize {
    let start = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let rest = one[start..].iter().rev().zip(other[start..].iter().rev());
    start + rest.take_while(|(a, b)| a == b).count()
}

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
