//! Formats, types, unknown keys: a file is read, and all of its mistakes are told.

use std::collections::BTreeMap;

use gristmill_gateway::domain::{
    Accept, OAuthSettings, Protocol, SecretText, ServerLimits, ServerSettings, Transport,
};

use super::{document, http, said, servers, stdio};

fn text(text: &str) -> SecretText {
    SecretText::parse(text).unwrap()
}

fn full() -> Vec<ServerSettings> {
    let env = BTreeMap::from([("TOKEN".to_owned(), text("${TOKEN}")), ("PORT".to_owned(), text("8080"))]);
    let local = ServerSettings {
        transport: Transport::Stdio {
            command: text("npx"),
            args: vec![text("-y"), text("server")],
            env,
            cwd: Some("/etc/p/sub".into()),
        },
        description: Some("Issues".to_owned()),
        category: Some("code".to_owned()),
        enabled: false,
        accept: Accept::Nothing,
        protocol: Some(Protocol::V20251125),
        limits: ServerLimits {
            startup_ms: 5_000,
            call_ms: 90_000,
            parallel_calls: 4,
            result_bytes: 1 << 20,
            calls_per_minute: 60,
        },
        ..stdio("local", "x")
    };
    let remote = ServerSettings {
        transport: Transport::Http {
            url: text("https://example.com/mcp"),
            headers: BTreeMap::from([("X-Key".to_owned(), text("${env:KEY}"))]),
            oauth: OAuthSettings {
                client_id: Some(text("us")),
                client_secret: Some(text("${keyring:us}")),
                scopes: vec!["read".to_owned(), "write".to_owned()],
                callback_port: Some(8123),
            },
        },
        ..http("remote", "http://x")
    };
    vec![local, remote]
}

const TOML: &str = r#"
[servers.local]
command = "npx"
args = ["-y", "server"]
env = { TOKEN = "${TOKEN}", PORT = 8080 }
cwd = "sub"
description = "Issues"
category = "code"
enabled = false
accept = "nothing"
protocol = "2025-11-25"
limits = { startup = "5s", call = "1.5m", parallel_calls = 4, result_size = "1M", calls_per_minute = 60 }

[servers.remote]
url = "https://example.com/mcp"
headers.X-Key = "${env:KEY}"

[servers.remote.oauth]
client_id = "us"
client_secret = "${keyring:us}"
scopes = ["read", "write"]
callback_port = 8123
"#;

const YAML: &str = r#"
servers:
  local:
    command: npx
    args: [-y, server]
    env:
      TOKEN: ${TOKEN}
      PORT: 8080
    cwd: sub
    description: Issues
    category: code
    enabled: false   # for now
    accept: nothing
    protocol: 2025-11-25
    limits: {startup: 5s, call: 1.5m, parallel_calls: 4, result_size: 1M, calls_per_minute: 60}
  remote:
    url: https://example.com/mcp
    headers: {X-Key: "${env:KEY}"}
    oauth:
      client_id: us
      client_secret: ${keyring:us}
      scopes: read write
      callback_port: 8123
"#;

const JSON: &str = r#"{
  // ours
  "servers": {
    "local": {
      "command": "npx", "args": ["-y", "server"],
      "env": {"TOKEN": "${TOKEN}", "PORT": 8080},
      "cwd": "sub", "description": "Issues", "category": "code",
      "enabled": false, "accept": "nothing", "protocol": "2025-11-25",
      "limits": {"startup": 5, "call": "90s", "parallel_calls": 4, "result_size": 1048576, "calls_per_minute": 60},
    },
    /* elsewhere */
    "remote": {
      "url": "https://example.com/mcp",
      "headers": {"X-Key": "${env:KEY}"},
      "oauth": {"client_id": "us", "client_secret": "${keyring:us}", "scopes": ["read", "write"], "callback_port": 8123},
    },
  },
}"#;

#[test]
fn the_three_formats_say_the_same() {
    assert_eq!(servers("gristmill.toml", TOML), full());
    assert_eq!(servers("gristmill.yaml", YAML), full());
    assert_eq!(servers("gristmill.yml", YAML), full());
    assert_eq!(servers("gristmill.json", JSON), full());
}

#[test]
fn line_ends_and_a_byte_order_mark_do_not_matter() {
    for (name, text) in [("gristmill.toml", TOML), ("gristmill.yaml", YAML), ("gristmill.json", JSON)] {
        let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        assert_eq!(servers(name, &windows), full(), "{name}");
    }
}

#[test]
fn an_empty_file_says_nothing_in_any_format() {
    for name in ["gristmill.toml", "gristmill.yaml", "gristmill.json"] {
        for text in ["", "\n", "  \n\n"] {
            assert_eq!(servers(name, text), [], "{name} {text:?}");
        }
    }
    assert_eq!(servers("gristmill.yaml", "# nothing yet\n"), []);
    assert_eq!(servers("gristmill.yaml", "---\nservers:\n"), []);
    assert_eq!(servers("gristmill.json", "// nothing yet\n"), []);
}

#[test]
fn all_mistakes_are_told_at_once_with_line_key_and_suggestion() {
    let text = r#"levle = "hardened"

[servers.one]
comand = "npx"
args = "-y"

[servers."a/b"]
command = "x"
enabled = "yes"

[servers.two]
url = "ftp://x"
accept = "everthing"
limits = { cal = "5s", startup = "soon", parallel_calls = 0 }
"#;
    assert_eq!(
        said(&document("gristmill.toml", text)),
        [
            "Error gristmill.toml:1: `levle` unknown key (did you mean `level`?); expected one of servers, mcpServers, level, limits, sessions, history, results, audit, approvals, guardrails, engines, learning, search, network, policy, privacy, watch, alerts, dashboard, serve, llm, cluster",
            "Error gristmill.toml:3: `servers.one` needs either `command` or `url`",
            "Error gristmill.toml:4: `servers.one.comand` unknown key (did you mean `command`?); expected one of command, args, env, cwd, url, headers, oauth, description, category, enabled, accept, protocol, tools, limits, sandbox, marks, privacy",
            "Error gristmill.toml:5: `servers.one.args` must be a list of texts, not text",
            "Error gristmill.toml:7: `servers.a/b` isn't a valid server name; use 1 to 64 characters, without `.`, `/` or control characters",
            "Error gristmill.toml:9: `servers.a/b.enabled` must be true or false, not text",
            "Error gristmill.toml:12: `servers.two.url` must start with `http://` or `https://`",
            "Error gristmill.toml:13: `servers.two.accept` must be one of nothing, additions, everything (did you mean `everything`?)",
            "Error gristmill.toml:14: `servers.two.limits.startup` must be a time, such as \"30s\"",
            "Error gristmill.toml:14: `servers.two.limits.parallel_calls` must be a whole number from 1 to 1024",
            "Error gristmill.toml:14: `servers.two.limits.cal` unknown key (did you mean `call`?); expected one of startup, call, parallel_calls, result_size, calls_per_minute",
        ]
    );
}

#[test]
fn lines_are_right_in_yaml_and_json_too() {
    let yaml = "servers:\n  one:\n    command: x\n    argz: []\n";
    let json =
        "{\n  \"servers\": {\n    \"one\": {\n      \"command\": \"x\",\n      \"argz\": []\n    }\n  }\n}";
    let key = "`servers.one.argz` unknown key (did you mean `args`?)";
    assert!(
        said(&document("gristmill.yaml", yaml))[0].starts_with(&format!("Error gristmill.yaml:4: {key}"))
    );
    assert!(
        said(&document("gristmill.json", json))[0].starts_with(&format!("Error gristmill.json:5: {key}"))
    );
}

#[test]
fn a_key_that_is_there_twice_is_a_mistake() {
    let check = |name, text| said(&document(name, text));
    assert_eq!(
        check("gristmill.json", "{\"servers\": {\"a\": {\"command\": \"x\"},\n\"a\": {\"command\": \"y\"}}}"),
        ["Error gristmill.json:2: `servers.a` this key appears twice; keep one"]
    );
    assert_eq!(
        check("gristmill.yaml", "servers:\n  a:\n    command: x\n    command: y\n"),
        ["Error gristmill.yaml:4: `servers.a.command` this key appears twice; keep one"]
    );
    assert_eq!(
        check("gristmill.toml", "[servers.a]\ncommand = 'x'\ncommand = 'y'\n"),
        ["Error gristmill.toml:3: can't be parsed: duplicate key"]
    );
}

#[test]
fn a_text_that_is_not_its_format_says_where() {
    let check = |name, text, expected: &str| {
        let said = said(&document(name, text));
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with(expected), "{}", said[0]);
    };
    check("gristmill.toml", "level = 'x'\n[servers\n", "Error gristmill.toml:2: can't be parsed: ");
    check(
        "gristmill.toml",
        "[servers.a]\ncommand = npx\n",
        "Error gristmill.toml:2: can't be parsed: text must stand in quotes",
    );
    check(
        "gristmill.toml",
        "[servers.a]\nargs = ['x', /srv]\n",
        "Error gristmill.toml:2: can't be parsed: text must stand in quotes",
    );
    check("gristmill.yaml", "level: x\nservers: [\n", "Error gristmill.yaml:");
    check("gristmill.json", "{\n\"level\": }", "Error gristmill.json:2: can't be parsed: ");
    check("gristmill.ini", "", "Error gristmill.ini has no known extension; use .toml, .yaml, .yml or .json");
    check("gristmill.yaml", "a: &x 1\nb: *x\n", "Error gristmill.yaml:2: can't be parsed: aliases");
    check(
        "gristmill.yaml",
        "a: 1\n---\nb: 2\n",
        "Error gristmill.yaml:2: can't be parsed: it holds a second",
    );
    check("gristmill.yaml", "- a\n- b\n", "Error gristmill.yaml:1: must be a table, not a list");
    check("gristmill.json", "[]", "Error gristmill.json:1: must be a table, not a list");
}

#[test]
fn names_that_cannot_be_are_refused() {
    for name in ["", " ", "a.b", "a/b", "a\u{7}b", &"x".repeat(65)] {
        let text = serde_json::json!({"servers": {name: {"command": "x"}}}).to_string();
        let said = said(&document("gristmill.json", &text));
        assert!(said[0].contains("isn't a valid server name"), "{name:?}: {said:?}");
    }
    for name in ["a", "My Server", "größe", "@scope-x_1", &"x".repeat(64)] {
        let text = serde_json::json!({"servers": {name: {"command": "x"}}}).to_string();
        assert_eq!(servers("gristmill.json", &text), [stdio(name, "x")]);
    }
}

#[test]
fn limits_and_the_level_are_read() {
    let document =
        document("gristmill.toml", "level = 'hardened'\nlimits = { wall_time = 2, memory = '64M' }\n");
    let limits: Vec<_> =
        document.limits.iter().map(|(name, value, _)| (name.as_str(), value.as_str())).collect();
    assert_eq!(document.level.map(|(level, _)| level.as_str()), Some("hardened"));
    assert_eq!(limits, [("wall_time", "2"), ("memory", "64M")]);
    let said = said(&super::document("gristmill.toml", "level = 'high'\nlimits = { wal_time = 2 }\n"));
    assert_eq!(
        said[0],
        "Error gristmill.toml:1: `level` `high` isn't an isolation level; use development, production or hardened"
    );
    assert!(said[1].contains("`limits.wal_time` unknown key (did you mean `wall_time`?)"), "{}", said[1]);
}
