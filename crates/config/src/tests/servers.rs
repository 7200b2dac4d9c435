//! Servers as other clients write them, and the references in them.

use std::collections::BTreeMap;

use gristmill_gateway::domain::{
    SecretText, ServerLimits, ServerSettings, ToolPattern, ToolRules, Transport,
};

use super::{document, http, said, servers, stdio};

fn text(text: &str) -> SecretText {
    SecretText::parse(text).unwrap()
}

fn with(server: ServerSettings, args: &[&str], env: &[(&str, &str)]) -> ServerSettings {
    let Transport::Stdio { command, cwd, .. } = server.transport else { panic!("not a program") };
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), text(value))).collect();
    let transport = Transport::Stdio { command, args: args.iter().map(|arg| text(arg)).collect(), env, cwd };
    ServerSettings { transport, ..server }
}

fn with_headers(server: ServerSettings, headers: &[(&str, &str)]) -> ServerSettings {
    let Transport::Http { url, oauth, .. } = server.transport else { panic!("not an address") };
    let headers: BTreeMap<_, _> =
        headers.iter().map(|(name, value)| ((*name).to_owned(), text(value))).collect();
    ServerSettings { transport: Transport::Http { url, headers, oauth }, ..server }
}

fn read(name: &str, text: &str) -> (Vec<ServerSettings>, Vec<String>) {
    let document = document(name, text);
    let said = said(&document);
    (document.servers.into_iter().map(|(server, _)| server).collect(), said)
}

#[test]
fn claude_and_cursor_files_are_read_as_they_are() {
    let json = r#"{
      "mcpServers": {
        "files": {"type": "stdio", "command": "npx", "args": ["-y", "@x/files", "/srv"], "env": {}},
        "github": {"type": "http", "url": "https://api.example.com/mcp", "headers": {"Authorization": "Bearer ${GITHUB_TOKEN:-none}"}},
        "plain": {"url": "https://mcp.example.com/mcp", "env": {}, "disabled": true}
      }
    }"#;
    let files = with(stdio("files", "npx"), &["-y", "@x/files", "/srv"], &[]);
    let github = with_headers(
        http("github", "https://api.example.com/mcp"),
        &[("Authorization", "Bearer ${GITHUB_TOKEN:-none}")],
    );
    let plain = ServerSettings { enabled: false, ..http("plain", "https://mcp.example.com/mcp") };
    assert_eq!(servers(".mcp.json", json), [files, github, plain]);
}

fn rules(include: Option<&[&str]>, exclude: &[&str]) -> ToolRules {
    let patterns = |texts: &[&str]| texts.iter().filter_map(|text| ToolPattern::read(text)).collect();
    ToolRules { include: include.map(patterns), exclude: patterns(exclude) }
}

#[test]
fn door_9_the_tools_that_a_client_hides_stay_hidden_however_it_says_so() {
    let check = |entry: &str, expected: ToolRules| {
        let json = format!(r#"{{"mcpServers": {{"a": {{"command": "a", {entry}}}}}}}"#);
        let (found, said) = read("settings.json", &json);
        assert_eq!(found.first().map(|server| &server.tools), Some(&expected), "{entry}: {said:?}");
    };
    check(r#""includeTools": ["x", "y(z)"], "excludeTools": ["y"]"#, rules(Some(&["x", "y"]), &["y"]));
    check(r#""enabled_tools": ["x"], "disabled_tools": ["z"]"#, rules(Some(&["x"]), &["z"]));
    check(r#""disabledTools": ["x"]"#, rules(None, &["x"]));
    check(r#""allowedTools": ["x"], "tools": ["x", "y"]"#, rules(Some(&["x"]), &[]));
    check(r#""tools": ["*"]"#, rules(Some(&["*"]), &[]));
    check(r#""tools": []"#, rules(Some(&[]), &[]));
    check(
        r#""tools": {"x": false, "y": {"enabled": false}, "z": {"approval_mode": "prompt"}}"#,
        rules(None, &["x", "y"]),
    );
    check(
        r#""tools": {"include": ["get_*"], "exclude": ["get_key"]}"#,
        rules(Some(&["get_*"]), &["get_key"]),
    );
    // One that cannot be read takes the server away: without it, it would offer more.
    for wrong in [r#""includeTools": "x""#, r#""disabled_tools": [1]"#, r#""excludeTools": [""]"#] {
        let json = format!(r#"{{"mcpServers": {{"a": {{"command": "a", {wrong}}}}}}}"#);
        let (found, said) = read("settings.json", &json);
        assert_eq!((found.len(), said.len()), (0, 1), "{wrong}: {said:?}");
    }
}

#[test]
fn gemini_settings_are_read_and_its_own_keys_are_noted() {
    let json = r#"{
      "theme": "dark",
      "mcpServers": {
        "a": {"httpUrl": "https://a.example.com/mcp", "timeout": 30000, "trust": true, "includeTools": ["x"]},
        "b": {"command": "b", "cwd": "./work", "timeout": 5}
      }
    }"#;
    let a = ServerSettings {
        limits: ServerLimits { call_ms: 30_000, ..ServerLimits::default() },
        tools: rules(Some(&["x"]), &[]),
        ..http("a", "https://a.example.com/mcp")
    };
    let mut b = ServerSettings {
        limits: ServerLimits { call_ms: 5_000, ..ServerLimits::default() },
        ..stdio("b", "b")
    };
    if let Transport::Stdio { cwd, .. } = &mut b.transport {
        *cwd = Some("/etc/p/./work".into());
    }
    let (found, said) = read("settings.json", json);
    assert_eq!(found, [a, b]);
    assert_eq!(
        said,
        [
            "Note settings.json:2: `theme` is another client's setting; ignored",
            "Note settings.json:4: `mcpServers.a.timeout` is read as milliseconds; use `limits.call` to give a unit",
            "Note settings.json:4: `mcpServers.a.trust` lets another client call tools without asking; it doesn't count here",
            "Note settings.json:5: `mcpServers.b.timeout` is read as seconds; use `limits.call` to give a unit",
        ]
    );
}

#[test]
fn vs_code_files_are_read_and_inputs_are_explained() {
    let json = r#"{
      "inputs": [{"type": "promptString", "id": "gh-token"}],
      "servers": {
        "good": {"type": "stdio", "command": "${workspaceFolder}/run", "args": ["$${workspaceFolder}", "${userHome}"]},
        "bad": {"type": "http", "url": "https://x.example.com", "headers": {"A": "${input:gh-token}"}}
      }
    }"#;
    let (found, said) = read(".vscode/mcp.json", json);
    assert_eq!(found, [with(stdio("good", "/etc/p/run"), &["$${workspaceFolder}", "/home/u"], &[])]);
    assert_eq!(
        said,
        [
            "Note .vscode/mcp.json:2: `inputs` are prompts for VS Code; ignored",
            "Error .vscode/mcp.json:5: `servers.bad.headers.A` `${input:gh-token}` only works in VS Code; use `${GH_TOKEN}` and set that variable, or `${keyring:gh-token}`",
        ]
    );
}

#[test]
fn codex_files_are_read_as_they_are() {
    let toml = r#"
model = "x"
[mcp_servers.docs]
command = "docs"
env_vars = ["DOCS_KEY"]
startup_timeout_sec = 20
tool_timeout_sec = 1.5
[mcp_servers.web]
url = "https://web.example.com/mcp"
bearer_token_env_var = "WEB_TOKEN"
http_headers = { X-A = "1" }
env_http_headers = { X-B = "B_VALUE" }
"#;
    let docs = with(stdio("docs", "docs"), &[], &[("DOCS_KEY", "${DOCS_KEY}")]);
    let limits = ServerLimits { startup_ms: 20_000, call_ms: 1_500, ..ServerLimits::default() };
    let web = with_headers(
        http("web", "https://web.example.com/mcp"),
        &[("Authorization", "Bearer ${WEB_TOKEN}"), ("X-A", "1"), ("X-B", "${B_VALUE}")],
    );
    let (found, said) = read("config.toml", toml);
    assert_eq!(found, [ServerSettings { limits, ..docs }, web]);
    assert_eq!(said, ["Note config.toml:2: `model` is another client's setting; ignored"]);
}

#[test]
fn the_old_transport_is_refused_in_words() {
    let json = r#"{"mcpServers": {"a": {"type": "sse", "url": "https://x.example.com/sse"}, "b": {"url": "https://x.example.com/sse"}}}"#;
    let (found, said) = read(".mcp.json", json);
    assert_eq!(found, [http("b", "https://x.example.com/sse")]);
    assert_eq!(
        said,
        [
            "Error .mcp.json:1: `mcpServers.a.type` the old HTTP+SSE transport isn't supported; use the server's Streamable HTTP URL with `type = \"http\"`",
            "Warning .mcp.json:1: `mcpServers.b.url` looks like the old HTTP+SSE transport; if it fails, use the server's Streamable HTTP URL",
        ]
    );
}

#[test]
fn rules_in_another_clients_file_are_not_ignored_in_silence() {
    let json = r#"{"mcpServers": {}, "policy": {"preset": "careful"}, "theme": "dark"}"#;
    let (_, said) = read("team.json", json);
    assert_eq!(
        said,
        [
            "Warning team.json:1: `policy` has no effect in another client's file; move it to a gristmill.toml or gristmill.json",
            "Note team.json:1: `theme` is another client's setting; ignored",
        ]
    );
    let own = r#"{"mcpServers": {}, "policy": {"preset": "careful"}}"#;
    assert_eq!(read("gristmill.json", own).1, [""; 0]);
}

#[test]
fn an_unknown_key_of_another_client_is_a_note_unless_it_looks_like_a_slip() {
    let json = r#"{"mcpServers": {"a": {"command": "x", "quux": 1}, "b": {"command": "x", "commnd": 1}}}"#;
    let (found, said) = read(".mcp.json", json);
    assert_eq!(found, [stdio("a", "x")]);
    assert_eq!(said[0], "Note .mcp.json:1: `mcpServers.a.quux` isn't a key Gristmill knows; ignored");
    assert!(
        said[1].starts_with("Error .mcp.json:1: `mcpServers.b.commnd` unknown key (did you mean `command`?)")
    );
}

#[test]
fn gristmill_in_its_own_list_is_left_out() {
    let json = r#"{"mcpServers": {
      "gristmill": {"command": "/usr/bin/gristmill", "args": ["serve"]},
      "crm": {"command": "gristmill", "args": ["example-server", "crm"]}}}"#;
    let (found, said) = read(".mcp.json", json);
    assert_eq!(found, [with(stdio("crm", "gristmill"), &["example-server", "crm"], &[])]);
    assert_eq!(said, ["Note .mcp.json:2: `mcpServers.gristmill` is Gristmill itself; ignored"]);
}

#[test]
fn every_kind_of_reference_is_kept_and_none_is_looked_up() {
    let toml = r#"[servers.a]
command = "${BIN:-run}"
args = ["${file:/run/x}", "a${env:A}b", "$${literal}"]
env = { K = "${keyring:k}", C = "${cmd:pass show x}" }
"#;
    let expected = with(
        stdio("a", "${BIN:-run}"),
        &["${file:/run/x}", "a${env:A}b", "$${literal}"],
        &[("K", "${keyring:k}"), ("C", "${cmd:pass show x}")],
    );
    assert_eq!(servers("gristmill.toml", toml), [expected]);
}

#[test]
fn a_bad_reference_names_its_key() {
    let toml =
        "[servers.a]\ncommand = 'x'\nargs = ['ok', '${']\n[servers.a.env]\nA = '${vault:x}'\nB = '${1}'\n";
    let (found, said) = read("gristmill.toml", toml);
    assert_eq!(found, []);
    assert_eq!(
        said,
        [
            "Error gristmill.toml:3: `servers.a.args[1]` `${` has no closing `}`; to write it literally, use `$${`",
            "Error gristmill.toml:5: `servers.a.env.A` `${vault:…}` isn't a reference; use env, file, keyring or cmd; to write a literal `${`, double the dollar: `$${`",
            "Error gristmill.toml:6: `servers.a.env.B` `1` isn't a valid environment variable name; to write a literal `${`, double the dollar: `$${`",
        ]
    );
}

#[test]
fn what_does_not_fit_together_is_told() {
    let check = |entry: &str, expected: &str| {
        let text = format!("{{\"servers\": {{\"a\": {entry}}}}}");
        let (found, said) = read("gristmill.json", &text);
        assert_eq!(found, [], "{entry}");
        assert!(said.iter().any(|said| said.contains(expected)), "{entry}: {said:?}");
    };
    check(r#"{"command": "x", "url": "https://x"}"#, "has both `command` and `url`");
    check(r#"{"command": "x", "type": "http"}"#, "`servers.a.type` only applies to servers with `url`");
    check(
        r#"{"url": "https://x", "type": "stdio"}"#,
        "`servers.a.type` only applies to servers with `command`",
    );
    check(
        r#"{"url": "https://x", "args": ["y"]}"#,
        "`servers.a.args` only applies to servers with `command`",
    );
    check(
        r#"{"command": "x", "headers": {"A": "b"}}"#,
        "`servers.a.headers` only applies to servers with `url`",
    );
    check(r#"{"command": "x", "enabled": true, "disabled": true}"#, "contradicts `enabled`");
    check(r#"{"command": "  "}"#, "`servers.a.command` can't be empty");
    check(r#"{"command": ["x"]}"#, "`servers.a.command` must be text, not a list");
    check(r#"{"command": "x\u0000"}"#, "can't contain a NUL character");
    check(r#"{"command": "x", "env": {"A=B": "c"}}"#, "isn't a valid environment variable name");
    check(r#"{"command": "x", "env": {"A": ["c"]}}"#, "`servers.a.env.A` must be text, not a list");
    check(r#"{"command": "x", "cwd": "${HOME}/x"}"#, "can't contain references");
    check(r#"{"url": "https://x", "headers": {"a b": "c"}}"#, "isn't a valid HTTP header");
    check(r#"{"url": "https://x", "headers": {"a": "c\nd: e"}}"#, "isn't a valid HTTP header");
    check(r#"{"url": "https://"}"#, "must start with");
    check(r#"{"url": "https://x", "type": "websocket"}"#, "must be one of stdio, http, streamable-http");
    check(r#"{"url": "https://x", "oauth": {"clientid": "x"}}"#, "(did you mean `client_id`?)");
    check(
        r#"{"url": "https://x", "oauth": {"callback_port": 70000}}"#,
        "must be a whole number from 1 to 65535",
    );
    check(r#"{"command": "x", "limits": {"call": "2d"}}"#, "must be from 10 ms to 1 d");
    check(r#"{"command": "x", "limits": {"call": "2 weeks"}}"#, "must be a time, such as");
    check(r#"{"command": "x", "limits": {"call": "900h"}}"#, "must be from 10 ms to 1 d");
    check(r#"{"command": "x", "limits": {"result_size": "1G"}}"#, "must be from 1 KB to 256 MB");
    check(r#""npx server""#, "`servers.a` must be a table, not text");
}

#[test]
fn a_server_in_two_blocks_of_a_file_is_a_mistake() {
    let json = r#"{"servers": {"a": {"command": "x"}}, "mcpServers": {"a": {"command": "y"}}}"#;
    let (_, said) = read("gristmill.json", json);
    assert_eq!(
        said,
        [
            "Error gristmill.json:1: `mcpServers.a` this server is already in `servers` of the same file; keep one"
        ]
    );
}
