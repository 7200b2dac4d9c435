//! What `gristmill config show` prints is a configuration itself.

use serde_json::Value as Json;

use super::super::document::parse;
use super::super::read_file::FileText;
use super::World;
use crate::commands::show;

/// Every key that is shown, with values that round and escape badly, and a secret wherever one can be written down.
const EVERYTHING: &str = r#"level = "production"
[limits]
wall_time = "1234ms"
cpu_time = "2s"
cpu_percent = 50
memory = "100000001B"
output_bytes = 0
result_bytes = 12
result_depth = 5
open_files = 3
file_bytes = 1
workspace_bytes = "12345678B"
workspace_files = 7
tool_calls = 8
parallel_calls = 9
[sessions]
idle = "90061s"
named_idle = "36h"
max = 10
kept_interpreters = 0
[history]
keep = "25h"
max_size = "1234567B"
content = false
[audit]
enabled = true
arguments = true
keep = "100h"
max_size = "3000001B"
[approvals.webhook]
url = "https://hooks.example.com/x?key=hunter2"
secret = "${APPROVALS_SECRET}"
public_url = "https://gristmill.example.com"
[watch]
enabled = true
calls_per_minute = 50
denials_per_minute = 3
output_per_minute = "65537B"
[alerts]
log = false
notices = true
command = ["/usr/bin/notify", "--say \"it's\"", "a\tb", "\u007f\u200b\\"]
[alerts.webhook]
url = "https://me:hunter2@hooks.example.com/y"
secret = "hunter2"
[dashboard]
price_per_million_tokens = 1e-7
[results]
keep = "25h"
max_size = "12345678B"
[engines]
warm = ["python", "typescript"]
[engines.native]
enabled = true
auto = true
hardened = true
without_namespaces = true
tokens = ["reports-*"]
sessions = ["reports-*"]
python = "/usr/bin/python3"
path = ["/opt/more"]
preload = ["numpy"]
[learning]
types = false
[search]
meaning = false
uses = false
[network]
allowed_hosts = ["api.example.com", "http://127.0.0.1:8080"]
timeout = "1234ms"
request_size = "2000000B"
response_size = "8M"
requests_per_execution = 7
[network.credentials."api.example.com"]
header = "Authorization"
value = "Bearer ${env:API_PASS}"
[serve]
profile = "standard"
signature_tokens = 100
call_tool = true
generate_code = true
[llm]
enabled = true
provider = "azure"
model = "gpt-5"
url = "https://me:hunter2@x.openai.azure.com/?key=hunter2"
api_key = "hunter2"
deployment = "mine\u0007"
api_version = "2024-10-21"
temperature = 0.2
max_tokens = 4000
timeout = "90001ms"
input_price = 1.25
output_price = 10
[cluster]
nats = ["tls://a.example.com:4222"]
name = "team"
node = "gateway-1"
nkey = "${file:gateway-1.nk}"
ca = "/etc/ca.pem"
certificate = "/etc/me.pem"
key = "/etc/me.key"
run = "anywhere"
takes = 4
labels = ["eu"]
state_key = "${file:state.key}"
[[cluster.place]]
engines = ["native"]
levels = ["production"]
tokens = ["ci-*"]
sessions = ["heavy-*"]
run = "nodes"
labels = ["gpu"]
[guardrails]
strict_mode = true
allowed_modules = ["json", "os.path"]
denied_modules = ["re"]
types = "off"
[guardrails.development]
allowed_modules = ["math"]
denied_modules = ["os"]
[guardrails.production]
allowed_modules = ["math"]
[guardrails.hardened]
allowed_modules = []
denied_modules = ["sys"]
[policy]
preset = "strict"
read_only = true
[privacy]
mode = "boundary"
off = ["ip_address", "employee"]
confidence_min = 60
phone_regions = ["US"]
restore_to_model = ["email"]
[privacy.patterns]
employee = 'E-[0-9]{6}"'
[privacy.allow]
values = ["support@example.com"]
[servers.local]
command = "run"
args = ["--token", "hunter2", "--api-key=hunter2", "two\nlines"]
env = { A = "hunter2", B = "${B}", C = "x-hunter2-${C}" }
cwd = "/tmp"
description = "Two\nlines"
category = "things"
enabled = false
accept = "additions"
protocol = "2025-11-25"
marks = ["untrusted", "private"]
privacy = "output"
tools = { include = ["a*"], exclude = ["ab"] }
limits = { startup = "1234ms", call = "5s", parallel_calls = 2, result_size = "1234B", calls_per_minute = 3 }
sandbox = { read = ["/a"], write = ["/b"], network = ["a.example.com"], env = ["HOME"], required = true }
[servers."odd name"]
url = "https://user:hunter2@x.example.com/mcp?key=hunter2&b=${B}"
headers = { Authorization = "Bearer ${TOKEN}", X = "hunter2" }
oauth = { client_id = "us", client_secret = "hunter2", scopes = ["read"], callback_port = 8123 }
[servers.off]
command = "run"
sandbox = false
"#;

/// Without who said what.
fn values(toml: &str) -> Vec<&str> {
    let lines = toml.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.rsplit_once(" # ").map_or(line, |(value, _)| value)).collect()
}

/// The keys of a table that the schema has and a file doesn't. Tables that can also be one word aren't looked into.
fn absent(schema: &Json, file: &Json, path: &str) -> Vec<String> {
    let keys = schema["properties"].as_object().into_iter().flatten();
    let mut absent = Vec::new();
    for (key, schema) in keys.filter(|(_, schema)| schema["properties"].is_object()) {
        let path = format!("{path}{key}.");
        for inner in schema["properties"].as_object().into_iter().flatten().map(|(inner, _)| inner) {
            if file[key].get(inner).is_none() {
                absent.push(format!("{path}{inner}"));
            }
        }
        absent.extend(self::absent(schema, &file[key], &path));
    }
    absent
}

#[test]
fn what_is_shown_can_be_read_again_and_says_the_same() {
    let check = |text: &str| {
        let world = World::new().user(text);
        let loaded = world.load();
        assert_eq!(world.said(&loaded), Vec::<String>::new(), "{text}");
        show::as_toml(&loaded.config)
    };
    for text in ["", EVERYTHING] {
        let shown = check(text);
        assert!(!shown.contains("hunter2"), "{shown}");
        assert_eq!(values(&check(&shown)), values(&shown));
    }
}

#[test]
fn everything_that_can_be_set_is_shown() {
    let path = "gristmill.toml".into();
    let bytes = show::as_toml(&World::new().user(EVERYTHING).load().config).into_bytes();
    let shown = parse(&FileText { path, bytes, writable_by_others: false }).unwrap().to_json();
    assert_eq!(absent(&crate::schema::schema(), &shown, ""), Vec::<String>::new());
}

#[test]
fn sizes_and_times_are_shown_as_they_are_and_credentials_by_their_references() {
    let shown = show::as_toml(&World::new().user(EVERYTHING).load().config);
    for line in [
        "wall_time = \"1234ms\" # ",
        "output_bytes = \"0B\" # ",
        "workspace_bytes = \"12345678B\" # ",
        "named_idle = \"1.5 d\" # ",
        "webhook.url = \"https://…@hooks.example.com/y\" # ",
        "webhook.secret = \"${APPROVALS_SECRET}\" # ",
        "\n[network.credentials.\"api.example.com\"]\nheader = \"Authorization\"\nvalue = \"Bearer ${API_PASS}\"\n",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
}
