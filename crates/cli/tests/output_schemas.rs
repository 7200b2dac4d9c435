//! What `--json` prints and `_meta` holds, against the schemas in `docs/reference/schemas`: real output of every
//! command in one home. The schemas permit no member that they don't name, so a new one fails here until it is
//! described.

mod support;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use gristmill_gateway::ids::Owner;
use gristmill_gateway::marks::Scope;
use gristmill_gateway::privacy::{Vault, Wanted};
use gristmill_gateway::store::Store;
use gristmill_privacy::{Form, Kind};
use gristmill_testkit::Home;
use serde_json::{Value, json};
use support::gristmill;

fn reference() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference")
}

/// The names of all schemas.
fn every_schema() -> BTreeSet<String> {
    let entries = std::fs::read_dir(reference().join("schemas")).expect("the schemas").flatten();
    entries.map(|entry| entry.path().file_stem().unwrap_or_default().to_string_lossy().into_owned()).collect()
}

/// Outputs of one home, each checked against its schema.
struct Outputs {
    home: Home,
    /// Schemas that some output was checked against.
    used: BTreeSet<String>,
}

impl Outputs {
    /// Runs a command that may also fail in its own way, and gives what it printed.
    fn check(&mut self, schema: &str, codes: &[i32], arguments: &[&str]) -> Value {
        let ran = self.home.run(arguments);
        let told = format!("{arguments:?}\n{}\n{}", ran.stdout, ran.stderr);
        assert!(ran.code.is_some_and(|code| codes.contains(&code)), "{:?} {told}", ran.code);
        let printed: Value =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error} {told}"));
        self.fits(schema, &printed, &told);
        printed
    }

    fn fits(&mut self, schema: &str, value: &Value, told: &str) {
        let path = reference().join("schemas").join(format!("{schema}.json"));
        let text = std::fs::read_to_string(&path).expect("a schema");
        let schema_value: Value = serde_json::from_str(&text).expect("JSON");
        let validator = jsonschema::validator_for(&schema_value).expect("a schema");
        let wrong: Vec<String> =
            validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(wrong.is_empty(), "{schema}.json\n{}\n{told}", wrong.join("\n"));
        self.used.insert(schema.to_owned());
    }

    /// An output that is a list, and has something in it.
    fn check_filled(&mut self, schema: &str, arguments: &[&str]) -> Value {
        let printed = self.check(schema, &[0], arguments);
        assert!(printed.as_array().is_some_and(|items| !items.is_empty()), "{arguments:?}: {printed}");
        printed
    }
}

#[test]
fn every_output_is_as_its_schema_says() {
    let home = Home::new(gristmill(), "output-schemas");
    home.add_example("weather");
    let mut outputs = Outputs { home, used: BTreeSet::new() };
    programs(&mut outputs);
    servers_and_tools(&mut outputs);
    what_is_kept(&mut outputs);
    configuration_and_system(&mut outputs);
    policy(&mut outputs);
    tables(&mut outputs);
    answers(&mut outputs);
    outputs.check("cache-clean", &[0], &["cache", "clean", "--json"]);
    assert_eq!(outputs.used, every_schema(), "a schema that no output was checked against");
}

fn programs(outputs: &mut Outputs) {
    let weather = "from servers.weather import current\nprint('asked')\n\
        open('notes.txt', 'w').write('kept')\nawait current(city='Oslo')";
    let ran = outputs.check("run", &[0], &["run", "--json", "--session", "notes", "-c", weather]);
    assert_eq!(ran["tools_called"][0]["ok"], true, "{ran}");
    outputs.check("run", &[1], &["run", "--json", "--no-servers", "-c", "1 / 0"]);
    let slow = ["run", "--json", "--no-servers", "--timeout", "1s", "-c", "while True: pass"];
    outputs.check("run", &[3], &slow);
    // Too large for its answer: the whole of it is kept.
    outputs.home.ok(&["run", "--no-servers", "--max-output-tokens", "200", "-c", "list(range(5000))"]);
    let history = outputs.check_filled("history", &["history", "--json"]);
    for execution in history.as_array().into_iter().flatten() {
        let id = execution["id"].as_str().expect("an id");
        outputs.check("show", &[0], &["show", id, "--json"]);
    }
    outputs.check("ask", &[0, 1], &["ask", "--json", "--no-model", "what is the weather in Oslo"]);
    outputs.check("stats", &[0], &["stats", "--json"]);
    let file = outputs.home.work().join("suspicious.py");
    std::fs::write(&file, "exec(x)\nawait callMCPTool('weather.currnt', {})\nx = (1 +\n").expect("a program");
    outputs.check("check", &[1], &["check", "--json", "suspicious.py"]);
    std::fs::write(&file, "exec(x)\nawait callMCPTool('weather.currnt', {})\n").expect("a program");
    let checked = outputs.check("check", &[0], &["check", "--json", "suspicious.py"]);
    assert_eq!(
        (&checked["findings"][0]["rule"], &checked["refused"]),
        (&json!("GC-104"), &json!(false)),
        "{checked}"
    );
}

fn servers_and_tools(outputs: &mut Outputs) {
    outputs.check_filled("tools-list", &["tools", "list", "--json"]);
    let found = outputs.check("tools-search", &[0], &["tools", "search", "--json", "forecast"]);
    assert_ne!(found["hits"], Value::Array(Vec::new()));
    outputs.check("tools-review", &[0], &["tools", "review", "--json"]);
    outputs.home.ok(&["run", "-c", "from servers.weather import chart\nlen(await chart(city='Oslo'))"]);
    outputs.check_filled("tools-learned", &["tools", "learned", "--json"]);
    outputs.check("get", &[0], &["get", "weather", "--json"]);
    outputs.check_filled("list", &["list", "--json"]);
    outputs.home.ok(&["add", "ghost", "--", "no-such-program"]);
    outputs.check("list", &[0], &["list", "--no-check", "--json"]);
    outputs.check("list", &[1], &["list", "--json"]);
    outputs.home.ok(&["remove", "ghost"]);
}

fn what_is_kept(outputs: &mut Outputs) {
    outputs.check_filled("results-list", &["results", "list", "--json"]);
    outputs.check_filled("sessions-list", &["sessions", "list", "--json"]);
    outputs.check("sessions-show", &[0], &["sessions", "show", "notes", "--json"]);
    outputs.check_filled("workspace-ls", &["workspace", "ls", "notes", "--json"]);
    let save =
        "save_skill('double', 'def double(x):\\n    \"\"\"Doubles.\"\"\"\\n    return 2 * x', tags=['math'])";
    outputs.home.ok(&["run", "--no-servers", "-c", save]);
    outputs.check_filled("skills-list", &["skills", "list", "--json"]);
    outputs.check("skills-show", &[0], &["skills", "show", "double", "--json"]);
    outputs.check_filled("skills-history", &["skills", "history", "double", "--json"]);
    outputs.check("token-new", &[0], &["token", "new", "laptop", "--json"]);
    outputs.home.ok(&[
        "token",
        "new",
        "ci",
        "--servers",
        "crm",
        "--level",
        "hardened",
        "--read-only",
        "--privacy",
        "boundary",
    ]);
    outputs.check_filled("token-list", &["token", "list", "--json"]);
    outputs.check("db-check", &[0], &["db", "check", "--json"]);
    // A filled one: `serve`, watching.
    outputs.check("anomalies", &[0], &["anomalies", "--json"]);
    outputs.check_filled("audit-query", &["audit", "query", "--limit", "1000", "--json"]);
    let counted = outputs.check("audit-report", &[0], &["audit", "report", "--json"]);
    assert_eq!(counted["by_kind"][0]["name"], "limit wall_time", "{counted}");
    outputs.check("audit-verify", &[0], &["audit", "verify", "--json"]);
    let file = outputs.home.work().join("mail.txt");
    std::fs::write(&file, "to ann@example.com and bob%40example.com").expect("written");
    let scanned = outputs.check("privacy-scan", &[0], &["privacy", "scan", "mail.txt", "--json"]);
    assert_eq!(scanned["findings"][1]["encoding"], "percent", "{scanned}");
    keep_in_vault(&outputs.home.path().join("data"));
    outputs.check_filled("privacy-vault-list", &["privacy", "vault", "list", "--json"]);
}

fn keep_in_vault(data: &Path) {
    let scope = Scope::Client { owner: Owner::local(), client: "agent".to_owned() };
    let (kind, value, form) = (&Kind::Email, "ann@example.com", Form::Plain);
    let wanted = [Wanted { kind, value, form, is_number: false, server: None }];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let vault = Vault::open(Some(Store::open(data).expect("a database")), None).expect("a vault");
        vault.tokens(&scope, &wanted).await.expect("a token");
    });
}

/// The weather is made to need an approval, which nobody here can give.
fn policy(outputs: &mut Outputs) {
    let rule = "[[policy.rules]]\nserver = 'weather'\ndecision = 'ask'\ncalls_per_day = 100\n";
    let file = outputs.home.work().join("asks.toml");
    let servers = std::fs::read_to_string(outputs.home.config_file()).expect("a configuration");
    std::fs::write(&file, format!("{rule}\n{servers}")).expect("written");
    let file = file.to_str().expect("a path");
    outputs.check("policy-show", &[0], &["policy", "show", "--config", file, "--json"]);
    outputs.check("policy-test", &[0], &["policy", "test", "weather.current", "--config", file, "--json"]);
    let asks = "from servers.weather import current\nawait current(city='Oslo')";
    assert_eq!(outputs.home.run(&["run", "--config", file, "-c", asks]).code, Some(1));
    outputs.check_filled("approvals", &["approvals", "--json"]);
}

fn configuration_and_system(outputs: &mut Outputs) {
    outputs.check("config-show", &[0], &["config", "show", "--json"]);
    let engines = outputs.home.work().join("engines.toml");
    let native =
        "[engines.native]\nenabled = true\npython = \"/usr/bin/python3\"\npreload = []\ntokens = [\"a-*\"]\n";
    let modules = "[guardrails.hardened]\nallowed_modules = [\"json\"]\n[guardrails.production]\n";
    let cluster = "[cluster]\nnats = \"tls://nats.example.com\"\nnode = \"a\"\nnkey = \"${NKEY}\"\nca = \"ca.pem\"\n\
                   certificate = \"me.pem\"\nkey = \"me.key\"\ntakes = 2\nlabels = [\"eu\"]\n\
                   [[cluster.place]]\nengines = [\"native\"]\nlevels = [\"production\"]\ntokens = [\"ci-*\"]\n\
                   sessions = [\"heavy-*\"]\nrun = \"nodes\"\nlabels = [\"gpu\"]\n";
    let hooks = "[approvals.webhook]\nurl = \"https://a.example.com\"\nsecret = \"${HOOK}\"\n\
                 public_url = \"https://b.example.com\"\n\
                 [alerts.webhook]\nurl = \"https://a.example.com\"\nsecret = \"${HOOK}\"\n";
    std::fs::write(&engines, format!("{native}{modules}{hooks}{cluster}")).expect("a test may do this");
    let engines = engines.to_str().expect("text");
    outputs.check("config-show", &[0], &["config", "show", "--json", "--config", engines]);
    outputs.check("config-check", &[0], &["config", "check", "--json"]);
    outputs.check_filled("config-path", &["config", "path", "--json"]);
    outputs.check("levels", &[0], &["levels", "--json"]);
    // 4 where this machine lacks a sandbox layer: the output is the same.
    outputs.check("doctor", &[0, 4], &["doctor", "--json"]);
    outputs.check("doctor", &[0, 4], &["doctor", "--json", "--no-servers"]);
    // 2 where this build has no clusters, 1 since nobody listens there.
    let cluster = outputs.home.work().join("cluster.toml");
    std::fs::write(&cluster, "[cluster]\nnats = \"nats://127.0.0.1:1\"\n").expect("a test may do this");
    let cluster = cluster.to_str().expect("text");
    outputs.check("doctor", &[1, 2, 4], &["doctor", "--json", "--no-servers", "--config", cluster]);
    outputs.check("explain", &[0], &["explain", "GM-1201", "--json"]);
    outputs.check("explain", &[0], &["explain", "GC-114", "--json"]);
    outputs.check("explain", &[0], &["explain", "--json"]);
    let cursor = outputs.home.path().join(".cursor/mcp.json");
    std::fs::create_dir_all(cursor.parent().expect("a folder")).expect("a folder");
    let servers = r#"{"mcpServers": {"notes": {"command": "no-such-program", "env": {"NOTES_TOKEN": "abcdefgh12345678"}}}}"#;
    std::fs::write(cursor, servers).expect("written");
    let found = outputs.check("import", &[0], &["import", "--json"]);
    assert_eq!(found["servers"][0]["name"], "notes", "{found}");
    let attack = ["doctor", "--attack", "--only", "environment,network", "--json"];
    let siege = outputs.check("doctor-attack", &[0], &attack);
    assert_eq!(siege["withstood"], siege["attacks"].as_array().map_or(0, Vec::len), "{siege}");
    let file = outputs.home.config_file();
    let good = std::fs::read_to_string(&file).expect("a configuration");
    std::fs::write(&file, format!("{good}\n[servers.x]\ncomand = 'y'\n")).expect("written");
    let wrong = outputs.check("config-check", &[2], &["config", "check", "--json"]);
    assert_ne!(wrong["problems"], Value::Array(Vec::new()));
    std::fs::write(&file, good).expect("written");
}

fn tables(outputs: &mut Outputs) {
    let file = outputs.home.work().join("sales.csv");
    let rows: String = (0..200).map(|n| format!("Oslo,{n}\n")).collect();
    std::fs::write(&file, format!("city,total\n{rows}")).expect("written");
    outputs.check("shape", &[0], &["shape", "sales.csv", "--max-tokens", "100", "--json"]);
    let analyze = |steps: &'static str| ["analyze", "sales.csv", "--steps", steps, "--json"];
    outputs.check("analyze", &[0], &analyze(r#"[{"limit": 2}]"#));
    outputs.check("analyze", &[0], &analyze(r#"[{"describe": {}}]"#));
    outputs.check("analyze", &[1, 2], &analyze(r#"[{"sort": "gone"}]"#));
    let short = ["analyze", "sales.csv", "--steps", "[]", "--max-tokens", "100", "--json"];
    let short = outputs.check("analyze", &[0], &short);
    assert_eq!(short["is_whole"], false, "{short}");
}

/// A client over stdio that asks for one program.
fn answers(outputs: &mut Outputs) {
    let mut serve = outputs.home.command(&["serve"]);
    let mut serve = serve.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a gateway");
    let client = json!({"name": "schemas", "version": "1"});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let code = "from servers.weather import current\nawait current(city='Oslo')";
    let program = json!({"name": "execute_code", "arguments": {"code": code}});
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": program}),
    ];
    let mut input = serve.stdin.take().expect("a pipe");
    messages.iter().for_each(|message| writeln!(input, "{message}").expect("it reads"));
    let output = BufReader::new(serve.stdout.take().expect("a pipe"));
    let answer = output
        .lines()
        .map(|line| serde_json::from_str::<Value>(&line.expect("a line")).expect("a message"))
        .find(|message| message["id"] == 2);
    drop(input);
    serve.wait().expect("it ends");
    let answer = answer.expect("an answer");
    let meta = &answer["result"]["_meta"];
    assert_eq!(meta["gristmill/calls"], 1, "{answer}");
    outputs.fits("meta", meta, &answer.to_string());
}

#[test]
fn every_schema_is_strict_and_listed() {
    let page = std::fs::read_to_string(reference().join("outputs.md")).expect("the page");
    for name in every_schema() {
        assert!(
            page.contains(&format!("(schemas/{name}.json)")),
            "{name} is not in docs/reference/outputs.md"
        );
        let text = std::fs::read_to_string(reference().join("schemas").join(format!("{name}.json")));
        let schema: Value = serde_json::from_str(&text.expect("a schema")).expect("JSON");
        assert_strict(&name, &schema);
    }
}

/// An object names its members, or the kind of all of them.
fn assert_strict(name: &str, schema: &Value) {
    match schema {
        Value::Object(members) => {
            if members.contains_key("properties") {
                assert_eq!(
                    members.get("additionalProperties"),
                    Some(&Value::Bool(false)),
                    "{name}: {schema}"
                );
            }
            members.values().for_each(|member| assert_strict(name, member));
        }
        Value::Array(items) => items.iter().for_each(|item| assert_strict(name, item)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
