//! Servers of other clients, taken over: what becomes of them, and where their secrets go.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use gristmill_testkit::{Home, Ran};
use serde_json::Value;
use support::gristmill;

/// Everything that the files in `clients/` hold, in our words.
const IMPORTED: &str = include_str!("clients/imported.toml");

struct Desk {
    home: Home,
}

impl Desk {
    fn new(name: &str) -> Self {
        Self { home: Home::new(gristmill(), name) }
    }

    fn full(name: &str) -> Self {
        let desk = Self::new(name);
        desk.write(".claude.json", include_str!("clients/claude.json"));
        desk.write(
            "config/Claude/claude_desktop_config.json",
            include_str!("clients/claude_desktop_config.json"),
        );
        desk.write(".cursor/mcp.json", include_str!("clients/cursor_mcp.json"));
        desk.write("config/Code/User/mcp.json", include_str!("clients/vscode_mcp.json"));
        desk.write("config/Code/User/settings.json", include_str!("clients/vscode_settings.json"));
        desk.write(".codex/config.toml", include_str!("clients/codex_config.toml"));
        desk.write(".gemini/settings.json", include_str!("clients/gemini_settings.json"));
        desk.write(".codeium/windsurf/mcp_config.json", include_str!("clients/windsurf_mcp_config.json"));
        desk
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        let ran = self.home.run(arguments);
        assert!(!ran.stdout.contains("CANARY"), "{}", ran.stdout);
        assert!(!ran.stderr.contains("CANARY"), "{}", ran.stderr);
        ran
    }

    fn ok(&self, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}\n{}\n{}", ran.stdout, ran.stderr);
        ran
    }

    fn config(&self) -> String {
        fs::read_to_string(self.home.config_file()).unwrap_or_default()
    }

    fn env_file(&self) -> PathBuf {
        self.home.config_file().with_file_name(".env")
    }

    fn env(&self) -> String {
        fs::read_to_string(self.env_file()).unwrap_or_default()
    }

    /// One server of the list.
    fn row(&self, arguments: &[&str], client: &str, name: &str) -> Value {
        let ran = self.ok(&[&["import", "--json"], arguments].concat());
        let listed: Value = serde_json::from_str(&ran.stdout).unwrap();
        let rows = listed["servers"].as_array().unwrap();
        rows.iter().find(|row| row["client"] == client && row["name"] == name).unwrap().clone()
    }

    fn remarks(&self, arguments: &[&str], client: &str, name: &str) -> String {
        let row = self.row(arguments, client, name);
        let remarks = row["remarks"].as_array().unwrap().iter().map(|remark| remark.as_str().unwrap());
        remarks.collect::<Vec<_>>().join("; ")
    }
}

#[test]
fn every_client_s_servers_become_ours_and_their_secrets_references() {
    let desk = Desk::full("import");
    let listed = desk.ok(&["import"]);
    assert!(
        listed.stderr.contains("hint: gristmill import --all, or gristmill import NAME…"),
        "{}",
        listed.stderr
    );
    assert_eq!(desk.config(), "", "without a word nothing is taken");
    desk.ok(&["import", "--all", "--dry-run"]);
    assert_eq!((desk.config(), desk.env()), (String::new(), String::new()));
    let ran = desk.ok(&["import", "--all"]);
    assert_eq!(desk.config(), IMPORTED, "{}", ran.stdout);
    assert_eq!(
        desk.env(),
        "BRAVE_API_KEY=BSACANARYq8w7e6r5t4y3u2i1o0p\n\
         CONTEXT7_API_KEY=ctx7sk-CANARYc0ntext7\n\
         GITHUB_PERSONAL_ACCESS_TOKEN=ghp_CANARY0123456789abcdefghijABCDEFGHIJ\n\
         LINEAR_TOKEN=lin_api_CANARY9876543210zyxwvutsrq\n\
         NOTES_KEY=CANARYnoteskey\n\
         POSTGRES_SECRET=CANARYpassw0rd\n\
         REMOTE_API_KEY=CANARYgeminikey\n\
         SEARCH_URL_TOKEN=CANARYexa\n\
         ZAPIER_URL_TOKEN=CANARYZk3v9Qm2Lr8Tn4Wx7Yb1\n"
    );
    assert_eq!(fs::metadata(desk.env_file()).unwrap().permissions().mode() & 0o777, 0o600);
    let checked = desk.run(&["config", "check"]).stdout;
    let errors = checked.lines().filter(|line| line.starts_with("error: "));
    for error in errors {
        assert!(
            error.contains("which isn't set") || error.contains(" runs `"),
            "only what is lacking: {error}"
        );
    }
    let again = desk.ok(&["import", "--all"]);
    assert!(again.stderr.contains("nothing imported"), "{}", again.stderr);
    assert_eq!(desk.config(), IMPORTED, "the second time nothing changes");
}

#[test]
fn the_list_says_what_each_would_become() {
    let desk = Desk::full("verdicts");
    let check = |client: &str, name: &str, words: &str| {
        let remarks = desk.remarks(&[], client, name);
        assert!(remarks.contains(words), "{client} {name}: {remarks}");
    };
    check("claude-code", "github", "new; a secret moves to .env: GITHUB_PERSONAL_ACCESS_TOKEN");
    check("claude-code", "old-news", "the old HTTP+SSE transport, which is not spoken here");
    check("claude-code", "postgres", "new; for /srv/shop");
    check("cursor", "github", "same as in Claude Code");
    check("cursor", "notes", "left out: envFile");
    check(
        "vscode",
        "io.github.microsoft/playwright-mcp",
        "new, as playwright-mcp; left out: gallery, version",
    );
    check("vscode", "perplexity", "set PERPLEXITY_KEY: VS Code asks for `perplexity-key`");
    check("codex", "figma", "tools, as in the client: only get_design");
    check("windsurf", "zapier", "tools, as in the client: without delete_zap");
    check("gemini", "python-tools", "not carried over: trust (what another client may call without asking)");
    check("gemini", "slow", "turned off in Gemini CLI");
    desk.ok(&["connect", "gemini", "--yes"]);
    check("gemini", "gristmill", "skipped: this is Gristmill");
    desk.ok(&["import", "github"]);
    check("cursor", "github", "already imported");
    desk.write("config/gristmill/gristmill.toml", "[servers.github]\ncommand = \"mine\"\n");
    check("claude-code", "github", "differs from yours; use --replace");
    let ran = desk.run(&["import", "github"]);
    assert!(ran.stderr.contains("nothing imported: `github`: differs from yours"), "{}", ran.stderr);
    desk.ok(&["import", "github", "--replace"]);
    assert!(desk.config().contains("server-github"), "{}", desk.config());
}

#[test]
fn a_wrong_name_takes_nothing_and_needs_no_list() {
    let desk = Desk::full("wrong-name");
    let ran = desk.run(&["import", "linear", "gihtub"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
    assert_eq!(
        ran.stderr,
        "error: nothing imported: no client has a server `gihtub` (did you mean `github`?)\n"
    );
    assert_eq!(desk.config(), "");
    let ran = desk.ok(&["import", "linear"]);
    let listed: Vec<&str> = ran.stdout.lines().filter(|line| line.starts_with("Claude Code")).collect();
    assert_eq!(listed, ["Claude Code  ~/.claude.json"], "only what was named is shown: {}", ran.stdout);
    assert!(!ran.stdout.contains("server-github"), "{}", ran.stdout);
    let ran = desk.ok(&["import", "linear"]);
    assert_eq!(ran.stderr, "linear is already imported\nnothing imported\n");
}

#[test]
fn the_same_server_of_two_clients_is_taken_once_with_the_secret_that_one_of_them_has() {
    let desk = Desk::new("twins");
    desk.write(
        ".claude.json",
        r#"{"mcpServers": {
            "weather": {"command": "weather", "timeout": 5000},
            "github": {"command": "gh-server", "env": {"TOKEN": "${GH_UNSET}"}},
            "home": {"command": "db", "env": {"DB_PASSWORD": "CANARYhome"}},
            "off": {"command": "off", "disabled": true}
        }}"#,
    );
    desk.write(
        ".cursor/mcp.json",
        r#"{"mcpServers": {
            "weather": {"command": "weather"},
            "clouds": {"command": "weather", "timeout": 5000},
            "github": {"command": "gh-server", "env": {"TOKEN": "ghp_CANARY0123456789abcdefghijABCDEFGHIJ"}},
            "home": {"command": "db", "env": {"DB_PASSWORD": "CANARYwork"}},
            "off": {"command": "off"}
        }}"#,
    );
    let check = |client: &str, name: &str, words: &str| {
        assert_eq!(desk.remarks(&[], client, name), words, "{client} {name}");
    };
    check("cursor", "weather", "same as in Claude Code, with different time limits");
    check("cursor", "clouds", "same as weather in Claude Code");
    check("cursor", "github", "same as in Claude Code");
    check(
        "claude-code",
        "github",
        "new; a secret moves to .env: GITHUB_TOKEN; with the secrets from Cursor, which has the same server",
    );
    desk.ok(&["import", "--all"]);
    assert_eq!(
        desk.config(),
        "[servers.weather]\ncommand = \"weather\"\nlimits = { call = \"5s\" }\n\n\
         [servers.github]\ncommand = \"gh-server\"\nenv = { TOKEN = \"${GITHUB_TOKEN}\" }\n\n\
         [servers.home]\ncommand = \"db\"\nenv = { DB_PASSWORD = \"${DB_PASSWORD}\" }\n\n\
         [servers.off]\ncommand = \"off\"\nenabled = false\n\n\
         [servers.home-cursor]\ncommand = \"db\"\nenv = { DB_PASSWORD = \"${HOME_DB_PASSWORD}\" }\n\n\
         [servers.off-cursor]\ncommand = \"off\"\n"
    );
    check("cursor", "github", "already imported");
    check("cursor", "weather", "already imported");
}

#[test]
fn what_servers_still_lack_is_said_at_the_end() {
    let desk = Desk::full("lack");
    desk.write("config/gristmill/.env", "DB_CONNECTION_STRING=here\n");
    let mut command =
        desk.home.command(&["import", "perplexity", "python-tools", "local-docs", "zapier", "slow"]);
    let ran = Ran::of(command.env("PATH", "/nowhere").env("LOG_LEVEL", "debug").output().unwrap());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(
        ran.stderr,
        "Before they work:\n  \
         set in ~/config/gristmill/.env or in the environment: PERPLEXITY_KEY (perplexity)\n  \
         install: npx (perplexity), python (python-tools)\n"
    );
    let ran = desk.ok(&["import", "linear", "--json"]);
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(told["missing"], serde_json::json!({ "variables": {}, "programs": {}, "logins": [] }));
}

#[test]
fn the_same_name_twice_is_two_names() {
    let desk = Desk::new("clash");
    let entry = |command: &str| format!("{{\"mcpServers\": {{\"db\": {{\"command\": \"{command}\"}}}}}}");
    desk.write(".claude.json", &entry("one"));
    desk.write(".cursor/mcp.json", &entry("two"));
    desk.write(".gemini/settings.json", &entry("one"));
    desk.ok(&["import", "--all"]);
    let expected = "[servers.db]\ncommand = \"one\"\n\n[servers.db-cursor]\ncommand = \"two\"\n";
    assert_eq!(desk.config(), expected);
    desk.ok(&["import", "--all"]);
    assert_eq!(desk.config(), expected);
    let desk = Desk::new("from");
    desk.write(".claude.json", &entry("one"));
    desk.write(".cursor/mcp.json", &entry("two"));
    desk.ok(&["import", "--all", "--from", "cursor"]);
    assert_eq!(desk.config(), "[servers.db]\ncommand = \"two\"\n");
}

#[test]
fn a_project_s_file_gives_nothing_that_was_not_named() {
    let desk = Desk::new("project");
    desk.write("work/.cursor/mcp.json", r#"{"mcpServers": {"a": {"command": "./a.sh"}, "b": {"command": "b", "args": ["${workspaceFolder}"]}}}"#);
    let ran = desk.ok(&["import", "--all"]);
    assert_eq!(desk.config(), "");
    assert_eq!(
        ran.stderr,
        "nothing imported\n\
         not imported, because a project file has them: a, b; if you trust it: gristmill import a b\n"
    );
    assert!(
        desk.remarks(&[], "cursor", "a").contains("in a project file: review it, then import it by name")
    );
    desk.ok(&["import", "b"]);
    let work = desk.home.work().display().to_string();
    assert_eq!(
        desk.config(),
        format!("[servers.b]\ncommand = \"b\"\nargs = [\"{work}\"]\ncwd = \"{work}\"\n")
    );
}

#[test]
fn what_a_project_s_file_had_waits_for_approval_in_the_project_s_configuration() {
    let desk = Desk::full("approval");
    desk.write("work/.git/HEAD", "");
    desk.write(
        "work/.cursor/mcp.json",
        r#"{"mcpServers": {"a": {"command": "a", "env": {"LD_PRELOAD": "./a.so"}}}}"#,
    );
    desk.ok(&["import", "--project", "filesystem"]);
    let checked = desk.run(&["config", "check"]).stdout;
    assert!(
        checked.contains("1 in use; ") && checked.contains(", 0 warnings"),
        "what was the user's own is trusted: {checked}"
    );
    let ran = desk.ok(&["import", "--project", "a"]);
    assert!(ran.stdout.contains("gristmill config approve"), "{}", ran.stdout);
    let checked = desk.ok(&["config", "check"]).stdout;
    assert!(checked.contains("has changed since you approved it, so it isn't used"), "{checked}");
    desk.ok(&["connect", "cursor", "--project", "--move-servers", "--yes"]);
    assert!(desk.ok(&["config", "check"]).stdout.contains("so it isn't used"));
}

#[test]
fn a_variable_that_means_something_else_keeps_its_meaning() {
    let desk = Desk::full("variables");
    desk.write("config/gristmill/.env", "# mine\nLINEAR_TOKEN=other\n");
    let mut command = desk.home.command(&["import", "github", "linear"]);
    let ran = Ran::of(command.env("GITHUB_PERSONAL_ACCESS_TOKEN", "another").output().unwrap());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(desk.config().contains("\"${GITHUB_GITHUB_PERSONAL_ACCESS_TOKEN}\""), "{}", desk.config());
    assert_eq!(
        desk.env(),
        "# mine\nLINEAR_TOKEN=other\n\
         GITHUB_GITHUB_PERSONAL_ACCESS_TOKEN=ghp_CANARY0123456789abcdefghijABCDEFGHIJ\n\
         LINEAR_TOKEN_2=lin_api_CANARY9876543210zyxwvutsrq\n"
    );
    assert_eq!(fs::metadata(desk.env_file()).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn values_stay_where_they_are_if_asked() {
    let desk = Desk::full("keep");
    desk.ok(&["import", "linear", "--keep-values"]);
    assert!(desk.config().contains("Bearer lin_api_CANARY"), "{}", desk.config());
    assert_eq!(desk.env(), "");
}

#[test]
fn what_cannot_be_translated_is_said() {
    let desk = Desk::new("untranslatable");
    desk.write(
        ".cursor/mcp.json",
        r#"{"mcpServers": {
            "a": {"command": "a", "args": ["${workspaceFolder}/x"]},
            "b": {"command": "b", "args": ["${config:some.setting}"]},
            "c": {"url": "https://x.example/sse"},
            "d": {"comand": "d"},
            "e": 7,
            "f": {"command": "f", "args": ["${pathSeparator}tmp", "$HOME"]},
            "g": {"command": "${userHome}/bin/g"}
        }}"#,
    );
    let check = |name: &str, words: &str| {
        let remarks = desk.remarks(&[], "cursor", name);
        assert!(remarks.contains(words), "{name}: {remarks}");
    };
    check("a", "uses ${workspaceFolder}, which is another folder in each project");
    check("b", "`${config:…}` isn't a reference");
    check("c", "the old HTTP+SSE transport");
    check("d", "did you mean `command`?");
    check("e", "must be a table, not a number");
    desk.ok(&["import", "--all"]);
    let home = desk.home.path().display();
    assert_eq!(
        desk.config(),
        format!(
            "[servers.f]\ncommand = \"f\"\nargs = [\"/tmp\", \"$HOME\"]\n\n[servers.g]\ncommand = \"{home}/bin/g\"\n"
        )
    );
}

#[test]
fn a_file_that_we_read_ourselves_is_not_used_before_it_is_approved() {
    let desk = Desk::new("own-file");
    desk.write("work/.mcp.json", r#"{"mcpServers": {"db": {"command": "db"}}}"#);
    let row = desk.row(&[], "claude-code", "db");
    assert_eq!(row["verdict"], "not_approved", "{row}");
    assert!(
        desk.remarks(&[], "claude-code", "db")
            .contains("once you review it and run gristmill config approve")
    );
    let ran = desk.run(&["import", "db"]);
    assert!(ran.stderr.contains("nothing imported: `db`: not used yet"), "{}", ran.stderr);
    desk.ok(&["config", "approve", "--yes"]);
    assert_eq!(desk.remarks(&[], "claude-code", "db"), "already used: Gristmill reads this file");
}

#[test]
fn a_file_that_a_project_s_clients_share_is_not_written() {
    let desk = Desk::full("shared-file");
    let shared = r#"{"mcpServers": {"db": {"command": "db"}}}"#;
    desk.write("work/.mcp.json", shared);
    let ran = desk.run(&["import", "--project", "filesystem"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("leave out --project, or create a gristmill.toml next to it"),
        "{}",
        ran.stderr
    );
    assert_eq!(fs::read_to_string(desk.home.work().join(".mcp.json")).unwrap(), shared);
    desk.write("work/gristmill.toml", "");
    let ran = desk.ok(&["import", "--project", "linear"]);
    assert!(ran.stdout.contains("add .env to its .gitignore"), "{}", ran.stdout);
    assert!(ran.stdout.contains("approve them to use them: gristmill config approve"), "{}", ran.stdout);
    desk.write("work/.gitignore", "target\n.env\n");
    let ran = desk.ok(&["import", "--project", "github"]);
    assert!(!ran.stdout.contains(".gitignore"), "{}", ran.stdout);
}

#[test]
fn a_configuration_that_cannot_be_changed_stops_before_anything_is_written() {
    let desk = Desk::full("broken-target");
    desk.write("config/gristmill/gristmill.toml", "[servers.a]\ncommand = npx\n");
    for arguments in [&["import", "--all"][..], &["connect", "cursor", "--move-servers", "--dry-run"]] {
        let ran = desk.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
        assert!(
            ran.stderr.contains("gristmill.toml:2: can't be parsed: text must stand in quotes"),
            "{}",
            ran.stderr
        );
    }
    assert_eq!(desk.env(), "");
}

#[test]
fn a_yaml_configuration_is_left_to_its_owner() {
    const YAML: &str = "config/gristmill/gristmill.yaml";
    let desk = Desk::new("yaml-target");
    desk.write(
        ".cursor/mcp.json",
        r#"{"mcpServers": {"notes": {"command": "npx", "env": {"NOTES_KEY": "CANARYnoteskey"}}}}"#,
    );
    let mine = "# mine\nservers:\n  web:\n    url: https://x.example.com/mcp\n";
    desk.write(YAML, mine);
    let read = || fs::read_to_string(desk.home.path().join(YAML)).unwrap();
    let ran = desk.run(&["connect", "cursor", "--move-servers", "--yes"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("`gristmill import` prints what to add"), "{}", ran.stderr);
    let ran = desk.run(&["import", "notes", "--keep-values"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
    let ran = desk.run(&["import", "notes"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("add this below `servers:` (line 2):"), "{}", ran.stderr);
    let entry = "  notes:\n    command: \"npx\"\n    env:\n      NOTES_KEY: \"${NOTES_KEY}\"\n";
    assert!(ran.stdout.contains(entry), "{}", ran.stdout);
    assert_eq!((read().as_str(), desk.env().as_str()), (mine, "NOTES_KEY=CANARYnoteskey\n"));
    // Once it is pasted, nothing is left to take, and the client's own can go.
    desk.write(YAML, &format!("{mine}{entry}"));
    let ran = desk.ok(&["import", "notes"]);
    assert!(ran.stderr.contains("notes is already imported"), "{}", ran.stderr);
    desk.ok(&["connect", "cursor", "--move-servers", "--yes"]);
    let cursor = fs::read_to_string(desk.home.path().join(".cursor/mcp.json")).unwrap();
    assert!(cursor.contains("gristmill") && !cursor.contains("notes"), "{cursor}");
}

#[test]
fn what_would_be_carried_out_here_and_is_only_text_there_is_not_taken() {
    let desk = Desk::new("foreign-references");
    desk.write(
        ".cursor/mcp.json",
        r#"{"mcpServers": {
            "runs": {"url": "http://127.0.0.1:9/mcp", "headers": {"X-B": "${cmd:touch made}"}},
            "reads": {"command": "x", "env": {"A": "a ${file:/etc/passwd}"}},
            "asks": {"command": "x", "args": ["${keyring:login}"]},
            "hides": {"command": "x", "env": {"A": "${B:-${cmd:touch made}}"}},
            "plain": {"command": "x", "env": {"A": "$${cmd:echo}"}}
        }}"#,
    );
    let ran = desk.run(&["import", "--all"]);
    for kind in ["${cmd:…}", "${file:…}", "${keyring:…}"] {
        assert!(
            ran.stdout.contains(kind) || ran.stderr.contains(kind),
            "{kind}\n{}{}",
            ran.stdout,
            ran.stderr
        );
    }
    let config = desk.config();
    for name in ["runs", "reads", "asks"] {
        assert!(!config.contains(name), "{config}");
    }
    // What is taken of the others stays text.
    assert!(!config.contains("\"${cmd:") && !config.contains("= \"${file:"), "{config}");
    desk.run(&["list", "--no-check"]);
    assert!(!desk.home.path().join("made").exists());
}
