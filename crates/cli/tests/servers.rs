//! Connected servers, as people and programs use them.

mod support;

use gristmill_testkit::{Home, Ran};
use serde_json::{Value, json};
use support::gristmill;

/// A program's report.
fn report(home: &Home, program: &str) -> Value {
    let ran = home.run(&["run", "--json", "--timeout", "20s", "-c", program]);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}\n{}", ran.stdout, ran.stderr))
}

fn result(home: &Home, program: &str) -> Value {
    let report = report(home, program);
    assert_eq!(report["error"], Value::Null, "{report:#}");
    report["result"].clone()
}

#[test]
fn a_yaml_configuration_is_changed_by_its_owner_alone() {
    let home = Home::new(gristmill(), "yaml-servers");
    let file = home.path().join("mine.yaml");
    std::fs::write(&file, "servers:\n  old:\n    command: x\n").unwrap();
    let file_argument = file.to_str().unwrap();
    let ran = home.run(&["add", "new", "--config", file_argument, "--", "npx", "-y"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(2), "  new:\n    command: \"npx\"\n    args: [\"-y\"]\n")
    );
    for words in ["mine.yaml was not changed", "add this below `servers:` (line 1):"] {
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
    let ran = home.run(&["remove", "old", "--config", file_argument]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("delete `old` (line 2)"), "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "servers:\n  old:\n    command: x\n");
}

#[test]
fn a_newcomer_adds_a_server_looks_at_it_and_calls_it() {
    let home = Home::new(gristmill(), "newcomer");
    assert!(home.run(&["list"]).stderr.contains("No servers configured."));
    home.add_example("calculator");
    let listed: Value = serde_json::from_str(&home.ok(&["list", "--json"])).unwrap();
    let shown = &listed[0];
    assert_eq!(
        (&shown["name"], &shown["state"], &shown["tools"], &shown["title"]),
        (&json!("calculator"), &json!("up"), &json!(3), &json!("Calculator"))
    );
    assert!(home.ok(&["tools", "list"]).contains("evaluate"));
    assert!(home.ok(&["tools", "show", "evaluate"]).contains("async def evaluate(*, expression: str)"));
    assert!(home.ok(&["tools", "search", "convert", "kilometres"]).contains("calculator.convert_units("));
    assert_eq!(
        home.ok(&["tools", "call", "calculator.evaluate", "expression=6*7"]),
        "{\"expression\":\"6*7\",\"value\":42}\n"
    );
    assert_eq!(
        result(&home, "from servers.calculator import evaluate\n(await evaluate(expression='6*7'))['value']"),
        json!(42)
    );
    home.ok(&["remove", "calculator"]);
    assert!(home.run(&["list"]).stderr.contains("No servers configured."));
}

#[test]
fn a_program_browses_searches_reads_and_calls() {
    let home = Home::new(gristmill(), "browse");
    for name in ["calculator", "weather", "database"] {
        home.add_example(name);
    }
    let program = r#"
import servers.database
from servers.weather import forecast
from servers import calculator
hits = search_tools("how warm will it be tomorrow")
found = {
    "tree": list_directory("servers/"),
    "first": hits[0].tool,
    "stub": "async def forecast(" in read_file("servers/weather/forecast.py"),
    "typescript": "export declare function forecast(" in read_file("servers/weather/forecast.ts"),
    "described": describe_tool("weather.forecast", detail="signature").startswith("async def forecast("),
    "days": len((await forecast(city="Oslo", days=3))["days"]),
    "spelt": (await callMCPTool("Convert-Units", {"value": 1, "from": "km", "to": "m"}))["value"],
    "renamed": (await calculator.convert_units(value=1, from_="km", to="m"))["value"],
    "rows": (await servers.database.query(sql="select count(*) as n from tickets"))["rows"],
}
chart = await callMCPTool("weather.chart", {"city": "Oslo"})
found["chart"] = open(chart[1]["path"], "rb").read(4) == b"\x89PNG"
result = found
"#;
    assert_eq!(
        result(&home, program),
        json!({
            "tree": ["calculator/", "database/", "index.md", "weather/"],
            "first": "weather.forecast",
            "stub": true,
            "typescript": true,
            "described": true,
            "days": 3,
            "spelt": 1000,
            "renamed": 1000,
            "rows": [{ "n": 10000 }],
            "chart": true,
        })
    );
}

#[test]
fn what_goes_wrong_with_a_call_is_told_to_the_program() {
    let home = Home::new(gristmill(), "wrong");
    home.add_example("calculator");
    home.ok(&["add", "gone", "--", "/nonexistent/server"]);
    let program = r#"
said = []
async def attempt(name, arguments):
    try:
        await callMCPTool(name, arguments)
    except ToolError as error:
        said.append([error.code, str(error), error.retry_safe])
await attempt("evaluate", {"expresion": "1"})
await attempt("evaluate", {"expression": 1})
await attempt("calculator.evalute", {})
await attempt("evaluate", {"expression": "1 +"})
await attempt("gone.anything", {})
result = said
"#;
    let said = result(&home, program);
    let expect = |index: usize, code: &str, words: &str, retry_safe: Value| {
        assert_eq!(said[index][0], json!(code), "{said:#}");
        assert!(said[index][1].as_str().unwrap().contains(words), "{said:#}");
        assert_eq!(said[index][2], retry_safe, "{said:#}");
    };
    expect(0, "GM-1402", "did you mean `expression`?", Value::Null);
    expect(1, "GM-1402", "`expression` must be text of at most 2000 characters, not 1", Value::Null);
    expect(2, "GM-1401", "did you mean calculator.evaluate?", Value::Null);
    expect(3, "GM-1104", "character", Value::Null);
    expect(4, "GM-3001", "the server `gone` is down: command `/nonexistent/server` not found", json!(true));
}

#[test]
fn the_name_of_a_server_is_no_tool_and_the_shell_says_what_lists_its_tools() {
    let home = Home::new(gristmill(), "server-name");
    home.add_example("calculator");
    let check = |arguments: &[&str], expected: &str| {
        let ran = home.run(arguments);
        assert!(ran.code == Some(2) && ran.stderr.contains(expected), "{arguments:?}: {}", ran.stderr);
    };
    let server =
        "`calculator` is a server, not a tool\nhint: `gristmill tools list calculator` lists its tools\n";
    let none = "there is no tool `qqqq`\nhint: `gristmill tools search WORDS…` finds tools\n";
    check(&["tools", "show", "calculator"], server);
    check(&["tools", "show", "qqqq"], none);
    let called = home.run(&["tools", "call", "calculator"]).stderr;
    assert!(called.contains(&format!("error[GM-1401]: {server}")), "{called}");
    let called = home.run(&["tools", "call", "qqqq"]).stderr;
    assert!(called.contains(&format!("error[GM-1401]: {none}")), "{called}");
}

#[test]
fn a_server_that_is_down_is_named_everywhere() {
    let home = Home::new(gristmill(), "down");
    home.add_example("calculator");
    home.ok(&["add", "broken", "--", "sh", "-c", "echo no licence key >&2; exit 3"]);
    let ran = home.run(&["list"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stdout.contains("the server exited with code 3"), "{}", ran.stdout);
    assert!(ran.stdout.contains("| no licence key"), "{}", ran.stdout);
    let ran = home.run(&["tools", "search", "compute"]);
    assert!(ran.stdout.contains("calculator.evaluate"), "{}", ran.stdout);
    assert!(ran.stderr.contains("note: broken is down"), "{}", ran.stderr);
    let program = r#"
said = [str(search_tools("compute"))]
try:
    import servers.broken
except ImportError as error:
    said.append(str(error))
result = said
"#;
    let said = result(&home, program);
    assert!(said[0].as_str().unwrap().contains("broken is down"), "{said:#}");
    assert!(said[1].as_str().unwrap().contains("server broken is down"), "{said:#}");
}

#[test]
fn tools_are_known_without_starting_their_server() {
    let home = Home::new(gristmill(), "kept");
    let marker = home.path().join("started");
    let script = format!(
        "echo x >> '{}'; exec '{}' example-server calculator",
        marker.display(),
        gristmill().display()
    );
    home.ok(&["add", "calculator", "--", "sh", "-c", &script]);
    let starts = || std::fs::read_to_string(&marker).unwrap_or_default().lines().count();
    let ran = home.run(&["list", "--no-check"]);
    assert!(ran.stdout.contains("\ncalculator  not checked yet"), "{}", ran.stdout);
    assert_eq!((ran.code, starts()), (Some(0), 0), "{}", ran.stderr);
    home.ok(&["tools", "list"]);
    assert_eq!(starts(), 1);
    assert!(home.ok(&["tools", "search", "compute"]).contains("calculator.evaluate"));
    assert_eq!(result(&home, "list_directory('servers/')"), json!(["calculator/", "index.md"]));
    assert_eq!(starts(), 1, "what is known is not asked again");
    home.ok(&["tools", "call", "evaluate", "expression=1"]);
    assert_eq!(starts(), 2);
}

#[test]
fn a_secret_stays_between_the_gateway_and_its_server() {
    let home = Home::new(gristmill(), "secret");
    const SECRET: &str = "sk-do-not-show-4711";
    let script = format!(
        "echo my token is $API_TOKEN >&2; echo $NOT_CONFIGURED >&2; exec '{}' example-server calculator",
        gristmill().display()
    );
    home.ok(&["add", "calculator", "-e", "API_TOKEN=${GM_TEST_SECRET}", "--", "sh", "-c", &script]);
    let run = |arguments: &[&str]| {
        let mut command = home.command(arguments);
        Ran::of(
            command.env("GM_TEST_SECRET", SECRET).env("NOT_CONFIGURED", "not for servers").output().unwrap(),
        )
    };
    let ran = run(&["tools", "call", "evaluate", "expression=1"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let shown = run(&["config", "show"]).stdout;
    assert!(shown.contains("${GM_TEST_SECRET}") && !shown.contains(SECRET), "{shown}");
    let logged = files_below(&home.path().join("cache/logs"));
    assert!(logged.contains("my token is [secret env:GM_TEST_SECRET]"), "{logged}");
    let everything = files_below(home.path());
    assert!(!everything.contains(SECRET), "the secret was written down");
    assert!(!everything.contains("not for servers"), "a variable reached a server that does not have it");
    let ran = home.run(&["tools", "call", "evaluate", "expression=1"]);
    assert!(ran.stderr.contains("the variable GM_TEST_SECRET isn't set"), "{}", ran.stderr);
}

/// The text of every file, links not followed.
fn files_below(folder: &std::path::Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            text.push_str(&files_below(&entry.path()));
        } else if kind.is_file() {
            text.push_str(&String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()));
        }
    }
    text
}

#[test]
fn a_projects_commands_run_only_after_they_were_approved() {
    let home = Home::new(gristmill(), "project");
    let marker = home.path().join("ran");
    std::fs::create_dir(home.work().join(".git")).unwrap();
    let project = |description: &str| {
        let script = format!(
            "touch '{}'; exec '{}' example-server calculator",
            marker.display(),
            gristmill().display()
        );
        let servers = json!({ "mcpServers": { "calculator": {
            "command": "sh", "args": ["-c", script], "env": { "WHAT": description },
        } } });
        std::fs::write(home.work().join(".mcp.json"), servers.to_string()).unwrap();
    };
    project("one");
    let ran = home.run(&["tools", "list"]);
    assert!(
        ran.stderr.contains("haven't approved") && ran.stderr.contains("gristmill config approve"),
        "{}",
        ran.stderr
    );
    assert!(!marker.exists(), "it ran before it was approved");
    assert_eq!(home.run(&["config", "approve"]).code, Some(2), "nobody said yes");
    home.ok(&["config", "approve", "--yes"]);
    assert!(home.ok(&["tools", "list"]).contains("evaluate"));
    std::fs::remove_file(&marker).unwrap();
    project("two");
    let ran = home.run(&["tools", "call", "evaluate", "expression=1"]);
    assert!(ran.stderr.contains("has changed since you approved it"), "{}", ran.stderr);
    assert!(!marker.exists(), "it ran although the file has changed");
}

#[test]
fn mistakes_in_a_configuration_are_all_named_at_once() {
    let home = Home::new(gristmill(), "mistakes");
    let file = home.path().join("bad.toml");
    std::fs::write(&file, "levle = \"production\"\n[servers.a]\ncomand = \"x\"\n[servers.b]\ncommand = 3\n")
        .unwrap();
    let ran = home.run(&["run", "--config", file.to_str().unwrap(), "-c", "1"]);
    assert_eq!(ran.code, Some(2));
    for words in
        ["error[GM-2005]", "levle", "did you mean `level`", "comand", "did you mean `command`", "bad.toml:5"]
    {
        assert!(ran.stderr.contains(words), "{words} is not in:\n{}", ran.stderr);
    }
    let ran = home.run(&["run", "--no-servers", "-c", "1 + 1"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "2\n"));
}

#[test]
fn a_whole_block_of_another_clients_documentation_is_taken() {
    let home = Home::new(gristmill(), "block");
    let block = json!({ "mcpServers": { "calc": {
        "command": gristmill(), "args": ["example-server", "calculator"],
    } } });
    home.ok(&["add-json", "calculator", &block.to_string()]);
    assert!(
        home.ok(&["tools", "list", "--config", home.config_file().to_str().unwrap()]).contains("evaluate")
    );
}

#[test]
fn a_command_needs_no_separator_and_is_said_to_run_with_your_rights() {
    let home = Home::new(gristmill(), "no-separator");
    let binary = gristmill().to_string_lossy().into_owned();
    let ran = home.run(&["add", "calculator", "--category", "math", &binary, "example-server", "calculator"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(ran.stderr, "", "an example server of ours is no stranger");
    let stranger = home.run(&["add", "stranger", "sh", "-c", "true"]);
    let warnings: Vec<&str> = stranger.stderr.lines().filter(|line| line.starts_with("warning:")).collect();
    assert!(matches!(warnings[..], [one] if one.contains("with your rights")), "{}", stranger.stderr);
    home.ok(&["remove", "stranger"]);
    assert!(home.ok(&["tools", "list"]).contains("evaluate"));
    let shown: Value = serde_json::from_str(&home.ok(&["get", "calculator", "--json"])).unwrap();
    assert_eq!(shown["settings"]["category"], json!("math"), "{shown:#}");
    for json in
        [r#"{"command": "other-server"}"#, r#"{"mcpServers": {"other": {"command": "other-server"}}}"#]
    {
        let by_json = home.run(&["add-json", "other", "--replace", json]);
        assert!(by_json.stderr.contains("with your rights"), "{}", by_json.stderr);
    }
    let over_http = home.run(&["add", "far", "https://far.example/mcp", "--description", "Far away"]);
    assert_eq!(over_http.code, Some(0), "{}", over_http.stderr);
    assert!(!over_http.stderr.contains("with your rights"), "{}", over_http.stderr);
    let bare = home.run(&["add", "nothing"]);
    assert!(bare.code == Some(2) && bare.stderr.contains("missing command or URL"), "{}", bare.stderr);
}

#[test]
fn an_image_in_an_answer_is_saved() {
    let home = Home::new(gristmill(), "save-image");
    home.add_example("weather");
    let ran = home.run(&["tools", "call", "weather.chart", "city=Oslo", "--output", "chart.png"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("saved chart.png (image/png, "), "{}", ran.stderr);
    assert!(std::fs::read(home.work().join("chart.png")).unwrap().starts_with(b"\x89PNG"));
    let again = home.run(&["tools", "call", "weather.chart", "city=Oslo", "--output", "chart.png"]);
    assert!(again.code == Some(2) && again.stderr.contains("already exists"), "{}", again.stderr);
    home.ok(&["tools", "call", "weather.current", "city=Oslo", "-o", "now.json"]);
    let saved = std::fs::read(home.work().join("now.json")).unwrap();
    assert!(serde_json::from_slice::<Value>(&saved).unwrap().is_object());
    let named = home.run(&["tools", "call", "weather.chart", "city=Oslo"]);
    assert!(named.stderr.contains("hint: add --output FILE"), "{}", named.stderr);
}

#[test]
fn what_servers_wrote_to_stderr_is_shown() {
    let home = Home::new(gristmill(), "logs");
    assert!(home.run(&["logs", "--servers"]).stderr.contains("no servers are configured"));
    let script = format!(
        "for n in 1 2 3; do echo line $n >&2; done; exec '{}' example-server calculator",
        gristmill().display()
    );
    home.ok(&["add", "calculator", "sh", "-c", &script]);
    let nothing = home.run(&["logs", "calculator"]);
    assert!(nothing.stderr.contains("`calculator` hasn't written anything"), "{}", nothing.stderr);
    home.ok(&["tools", "call", "calculator.evaluate", "expression=1"]);
    assert_eq!(home.ok(&["logs", "calculator"]), "line 1\nline 2\nline 3\n");
    assert_eq!(home.ok(&["logs", "--servers", "--lines", "1"]), "line 3\n");
    let unknown = home.run(&["logs", "calculatr"]);
    assert!(
        unknown.code == Some(2) && unknown.stderr.contains("did you mean `calculator`?"),
        "{}",
        unknown.stderr
    );
}
