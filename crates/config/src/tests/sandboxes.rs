//! `sandbox` of a server.

use gristmill_gateway::domain::{SandboxHost, SandboxNetwork, SandboxPreset, SandboxSettings, Sandboxing};

use super::{document, said, servers};
use crate::written::{self, Purpose};

const FULL: &str = r#"
[servers.a]
command = "notes"

[servers.a.sandbox]
read = ["sub", "/srv"]
write = ["out"]
network = ["api.example.com", "*.example.org:8443"]
env = ["PATH"]
preset = "python"
required = true
"#;

fn sandbox(text: &str) -> Sandboxing {
    let found = servers("gristmill.toml", &format!("[servers.a]\ncommand = \"notes\"\nsandbox = {text}\n"));
    found.into_iter().next().unwrap().sandbox
}

fn full() -> SandboxSettings {
    let hosts = ["api.example.com", "*.example.org:8443"];
    SandboxSettings {
        read: vec!["/etc/p/sub".into(), "/srv".into()],
        write: vec!["/etc/p/out".into()],
        network: SandboxNetwork::Hosts(hosts.map(|host| SandboxHost::read(host).unwrap()).into()),
        env: Some(vec!["PATH".to_owned()]),
        preset: Some(SandboxPreset::Python),
        required: true,
    }
}

#[test]
fn a_sandbox_is_on_off_or_a_table() {
    assert_eq!(servers("gristmill.toml", FULL)[0].sandbox, Sandboxing::On(full()));
    assert_eq!(sandbox("true"), Sandboxing::On(SandboxSettings::default()));
    assert_eq!(sandbox("{}"), Sandboxing::On(SandboxSettings::default()));
    assert_eq!(sandbox("false"), Sandboxing::Off);
    let closed = SandboxSettings { network: SandboxNetwork::Off, ..SandboxSettings::default() };
    assert_eq!(sandbox("{ network = 'off' }"), Sandboxing::On(closed.clone()));
    // Nobody on the list is nobody to connect to.
    assert_eq!(sandbox("{ network = [] }"), Sandboxing::On(closed));
    assert_eq!(servers("gristmill.toml", "[servers.a]\ncommand = 'x'\n")[0].sandbox, Sandboxing::ByLevel);
}

#[test]
fn what_is_written_is_read_again() {
    for sandboxing in [
        Sandboxing::ByLevel,
        Sandboxing::Off,
        Sandboxing::On(SandboxSettings::default()),
        Sandboxing::On(full()),
    ] {
        let mut server = servers("gristmill.toml", FULL).remove(0);
        server.sandbox = sandboxing;
        let node = written::server(&server, Purpose::File);
        let mut problems = crate::problem::Problems::default();
        let folders = crate::references::Folders::of("/etc/p/gristmill.toml".as_ref(), None);
        let strictness = crate::strictness::Strictness::Ours;
        let read = crate::server_entry::read("a", &node, "a", strictness, &folders, &mut problems);
        assert_eq!(read, Some(server), "{:?}", problems.into_vec());
    }
}

#[test]
fn mistakes_in_a_sandbox_are_told() {
    let text = r#"[servers.a]
command = "notes"
sandbox = { reed = ["x"], network = "of", preset = "pyhton" }

[servers.b]
command = "notes"
sandbox = { network = ["https://example.com"], env = ["A=B"] }

[servers.c]
url = "https://example.com/mcp"
sandbox = true

[servers.d]
command = "notes"
sandbox = "yes"
"#;
    assert_eq!(
        said(&document("gristmill.toml", text)),
        [
            "Error gristmill.toml:3: `servers.a.sandbox.network` must be one of on, off (did you mean `off`?)",
            "Error gristmill.toml:3: `servers.a.sandbox.preset` must be one of node, python, none (did you mean `python`?)",
            "Error gristmill.toml:3: `servers.a.sandbox.reed` unknown key (did you mean `read`?); expected one of read, write, network, env, preset, required",
            "Error gristmill.toml:7: `servers.b.sandbox.network[0]` isn't a host; write a name, a pattern or an address with an optional port, such as `*.example.com:443`",
            "Error gristmill.toml:7: `servers.b.sandbox.env` isn't a valid environment variable name",
            "Error gristmill.toml:11: `servers.c.sandbox` only applies to servers with `command`",
            "Error gristmill.toml:15: `servers.d.sandbox` must be true, false or a table, not text",
        ]
    );
}
