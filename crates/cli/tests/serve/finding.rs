//! `search_tools` and `get_tool_definition`: how a model finds what a program can call.

use gristmill_testkit::processes::eventually;
use serde_json::{Value, json};

use crate::cases;
use crate::client::{legacy, members, text_of};
use crate::gateways::{Place, Served, shared};

cases![
    a_search_answers_how_to_call_what_it_found,
    the_name_of_a_server_finds_its_tools_beside_another_server,
    each_detail_level_shows_more,
    without_a_query_the_servers_are_listed,
    a_server_or_a_category_narrows_the_search,
    a_limit_leaves_out_and_says_how_many_there_are,
    what_does_not_fit_is_not_counted_as_shown,
    a_limit_that_is_none_is_refused_with_the_range,
    where_nothing_fits_the_answer_says_what_to_try,
    what_is_always_denied_is_not_found,
    what_is_always_denied_is_not_defined_and_not_browsed,
    what_is_always_denied_is_refused_by_its_rule_in_every_spelling,
    an_unknown_filter_is_refused_with_the_nearest,
    a_server_that_is_down_is_named,
    the_agent_is_told_what_waits_for_its_user_and_why,
    without_servers_a_search_says_how_to_connect_some,
    without_servers_a_program_hears_that_there_are_none,
    a_definition_comes_in_each_language,
    the_definitions_of_a_server_or_a_category_come_together,
    a_server_narrows_a_bare_name,
    a_name_that_several_servers_have_is_refused_with_all_of_them,
    an_unknown_definition_names_the_nearest,
    a_definition_of_nothing_says_what_to_pass,
    many_definitions_are_left_out_by_name,
];

const CONVERT: &str = "calculator.convert_units(value: float, from_, to) -> {value, from, to, kind}";

fn search(arguments: Value) -> Value {
    shared().call("search_tools", arguments)
}

fn refusal(tool: &str, arguments: Value) -> String {
    let answer = shared().call(tool, arguments);
    assert_eq!((&answer["isError"], answer.get("structuredContent")), (&json!(true), None), "{answer:#}");
    text_of(&answer).to_owned()
}

fn a_search_answers_how_to_call_what_it_found() {
    let first_sentence = "    Converts a value between units of length, mass, temperature, time or data.";
    assert_eq!(
        search(json!({"query": "convert kilometres to miles"})),
        json!({
            "content": [{"type": "text", "text": format!("1 of 1 shown\n{CONVERT}\n{first_sentence}")}],
            "structuredContent": {"shown": 1, "total": 1, "found": [format!("{CONVERT}\n{}", first_sentence.trim())]},
            "isError": false,
        })
    );
}

fn the_name_of_a_server_finds_its_tools_beside_another_server() {
    let served = Place::new("weather-words").example("weather").example("calculator").serve(legacy(), &[]);
    let found = served.structured("search_tools", json!({"query": "weather", "detail_level": "names"}));
    let names = found["found"].as_array().expect("names");
    assert!(names.contains(&json!("weather.current")), "{found:#}");
}

fn concat_lines(lines: &[&str]) -> String {
    lines.join("\n")
}

fn each_detail_level_shows_more() {
    let found = |level: &str| {
        let arguments =
            json!({"query": "convert units", "server": "calculator", "detail_level": level, "limit": 1});
        search(arguments)["structuredContent"]["found"].take()
    };
    assert_eq!(found("names"), json!(["calculator.convert_units"]));
    assert_eq!(
        found("summary"),
        json!([format!(
            "{CONVERT}\nConverts a value between units of length, mass, temperature, time or data."
        )])
    );
    assert_eq!(
        found("full"),
        json!([concat_lines(&[
            CONVERT,
            "Converts a value between units of length, mass, temperature, time or data. Both units must be of one kind.",
            "- value: How many of the unit `from`",
            "- from: Name or symbol, such as km, mile, kg, celsius, hour, GiB",
            "- to: Name or symbol of the unit wanted",
        ])])
    );
    let refused = refusal("search_tools", json!({"query": "x", "detail_level": "most"}));
    assert_eq!(
        refused,
        "error[GM-2002]: `detail_level` must be one of \"names\", \"summary\", \"full\", not \"most\""
    );
}

fn without_a_query_the_servers_are_listed() {
    for arguments in [json!({}), json!({"query": ""}), json!({"query": "  "})] {
        let found = search(arguments)["structuredContent"].take();
        assert_eq!((&found["shown"], &found["total"]), (&json!(3), &json!(3)), "{found:#}");
        let lines = found["found"].as_array().expect("lines");
        let starts = [
            "calculator (3 tools, examples): Exact",
            "crm (7 tools, examples): Accounts",
            "robot (24 tools): does as it is told",
        ];
        for (line, start) in lines.iter().zip(starts) {
            assert!(line.as_str().is_some_and(|line| line.starts_with(start)), "{line}");
        }
    }
}

fn a_server_or_a_category_narrows_the_search() {
    let names = |mut arguments: Value| {
        arguments["detail_level"] = json!("names");
        search(arguments)["structuredContent"]["found"].take()
    };
    let calculator = json!(["calculator.convert_units", "calculator.evaluate", "calculator.statistics"]);
    assert_eq!(names(json!({"server": "calculator"})), calculator);
    assert_eq!(names(json!({"query": "echo", "server": "robot", "limit": 1})), json!(["robot.echo"]));
    assert_eq!(names(json!({"query": "echo", "category": "examples"})), json!([]));
    let listed = search(json!({"category": "examples"}))["structuredContent"].take();
    assert!(
        listed["found"].to_string().contains("calculator") && !listed["found"].to_string().contains("robot"),
        "{listed:#}"
    );
}

fn a_limit_leaves_out_and_says_how_many_there_are() {
    let answer = search(json!({"server": "calculator", "detail_level": "names", "limit": 2}));
    let structured = &answer["structuredContent"];
    assert_eq!(
        (&structured["shown"], &structured["total"], &structured["found"]),
        (&json!(2), &json!(3), &json!(["calculator.convert_units", "calculator.evaluate"]))
    );
    assert_eq!(structured.get("more"), None, "whoever set a limit knows how to get more");
    assert_eq!(text_of(&answer), "2 of 3 shown\ncalculator.convert_units\ncalculator.evaluate");
}

fn what_does_not_fit_is_not_counted_as_shown() {
    let served = Place::new("does-not-fit").scripted("robot", &["many=400"]).serve(legacy(), &[]);
    let found = served.structured("search_tools", json!({"server": "robot", "limit": 500}));
    let lines = found["found"].as_array().expect("lines");
    let tools = lines.iter().filter(|line| line.as_str().is_some_and(|line| !line.starts_with(' '))).count();
    assert_eq!((&found["shown"], &found["total"]), (&json!(tools), &json!(424)));
    assert!(tools < 424, "the answer has a budget of tokens");
    assert_eq!(found["more"], "More: narrow the query, or name a server.");
}

fn a_limit_that_is_none_is_refused_with_the_range() {
    for limit in [json!(0), json!(-1), json!(10_000_000_000_u64)] {
        let refused = refusal("search_tools", json!({"query": "convert", "limit": limit}));
        assert_eq!(refused, format!("error[GM-2002]: limit is {limit}; it can be 1 to 500"));
    }
}

fn where_nothing_fits_the_answer_says_what_to_try() {
    let more = "No matches. Try other words, or an empty query to list all servers: calculator, crm, robot.";
    let answer = search(json!({"query": "zzzqqqxxx"}));
    assert_eq!(answer["structuredContent"], json!({"shown": 0, "total": 0, "found": [], "more": more}));
    assert!(text_of(&answer).ends_with(more), "{answer:#}");
}

fn what_is_always_denied_is_not_found() {
    let rules = json!({"rules": [
        {"server": "weather", "decision": "deny"},
        {"server": "crm", "tool": "update_*", "decision": "deny"},
        {"server": "crm", "tool": "add_note", "where": {"text": "*secret*"}, "decision": "deny"},
    ]});
    let place = Place::new("finding-denied").example("crm").example("weather").setting("policy", rules);
    let served = place.serve(legacy(), &[]);
    let found = |arguments: Value| served.structured("search_tools", arguments);
    let of_crm = found(json!({"server": "crm", "detail_level": "names"}))["found"].to_string();
    assert!(of_crm.contains("add_note") && !of_crm.contains("update_record"), "{of_crm}");
    let listed = found(json!({}));
    assert!(listed["found"].to_string().contains("crm (6 tools"), "{listed:#}");
    assert_eq!((&listed["shown"], &listed["total"]), (&json!(1), &json!(1)), "{listed:#}");
    assert_eq!(found(json!({"query": "weather forecast"}))["total"], 0);
    let nothing = found(json!({"query": "zzzqqqxxx"}));
    let instead = "No matches. Try other words, or an empty query to list all servers: crm.";
    assert_eq!(nothing["more"], instead);
    let refused = served.call("search_tools", json!({"query": "rain", "server": "weather"}));
    assert!(text_of(&refused).contains("there is no server `weather`"), "{refused:#}");
    let program = "print(await search_tools('weather forecast'), await search_tools('update a record'))";
    let printed = served.structured("execute_code", json!({"code": program}))["output"].to_string();
    assert!(printed.contains("crm.") && !printed.contains("update_record"), "{printed}");
    assert!(!printed.contains("weather.forecast"), "{printed}");
}

/// A server of which a part may be called, and one of which nothing may.
fn partly_denied(name: &str) -> Served {
    let rules = json!({"rules": [
        {"server": "weather", "decision": "deny"},
        {"server": "crm", "tool": "update_*", "decision": "deny"},
    ]});
    let place = Place::new(name).example("crm").example("weather").setting("policy", rules);
    place.serve(legacy(), &["--profile", "full"])
}

fn what_is_always_denied_is_not_defined_and_not_browsed() {
    let served = partly_denied("finding-part");
    let asked = |arguments: Value| served.call("get_tool_definition", arguments);
    let refused = asked(json!({"name": "crm.update_record"}));
    let told = "error[GM-3301]: crm.update_record isn't allowed\nhint: the user's policy, or the access token, denies every call of it";
    assert!(text_of(&refused).starts_with(told), "{refused:#}");
    let near = asked(json!({"name": "crm.update_recor"}));
    assert!(!text_of(&near).contains("update_record"), "{near:#}");
    let of_crm = asked(json!({"server": "crm"}))["structuredContent"]["definitions"].to_string();
    assert!(of_crm.contains("crm.get_record") && !of_crm.contains("update_record"), "{of_crm}");
    let refused = asked(json!({"server": "weather"}));
    assert!(text_of(&refused).contains("no server matches `weather`"), "{refused:#}");
    for (code, hidden) in [
        ("from servers.crm import zzz", "update_record"),
        ("from servers.crm import update_record\nawait update_record(q=1)", "(required)"),
        ("await callMCPTool('crm.update_recor', {})", "update_record"),
    ] {
        let checked = served.call("validate_code", json!({"code": code}));
        assert!(!text_of(&checked).contains(hidden), "{checked:#}");
    }
    let browsed = |code: &str| served.structured("execute_code", json!({"code": code}))["result"].to_string();
    for code in [
        "[list_directory('servers/'), list_directory('servers/crm'), read_file('servers/index.md'), list_tools()]",
        "import servers\n[servers.__all__, dir(servers.crm)]",
    ] {
        let seen = browsed(code);
        assert!(seen.contains("get_record") && !seen.contains("update_record"), "{seen}");
        assert!(!seen.contains("weather"), "{seen}");
    }
    let error = |code: &str| served.structured("execute_code", json!({"code": code}))["error"].clone();
    let unknown = error("describe_tool('crm.update_record')");
    let told = "there is no tool \"crm.update_record\" that this program may call; did you mean";
    assert!(unknown["message"].as_str().is_some_and(|said| said.contains(told)), "{unknown:#}");
}

fn what_is_always_denied_is_refused_by_its_rule_in_every_spelling() {
    let served = partly_denied("finding-refused");
    for (language, code) in [
        (
            "python",
            "from servers.crm import update_record\nawait update_record(type='lead', id='LEAD-1', fields={})",
        ),
        ("python", "from servers.crm import updateRecord\nawait updateRecord()"),
        ("python", "import servers\nawait servers.weather.current(place='Bern')"),
        ("python", "from servers.weather import forecast\nawait forecast()"),
        ("python", "await callMCPTool('crm.update_record', {})"),
        ("typescript", "import { updateRecord } from './servers/crm'; await updateRecord({})"),
        ("typescript", "import { current } from './servers/weather'; await current({ place: 'Bern' })"),
        ("typescript", "await tools.weather.current({ place: 'Bern' })"),
    ] {
        let ran = served.structured("execute_code", json!({"code": code, "language": language}));
        let said = ran["error"]["message"].as_str().unwrap_or_default();
        assert!(said.contains("isn't allowed: ") && said.contains("(rule `"), "{code}: {ran:#}");
    }
    let caught = "from servers.crm import update_record\n\
        try:\n    await update_record(id='x')\nexcept ToolError as error:\n    result = error.code";
    assert_eq!(served.structured("execute_code", json!({"code": caught}))["result"], "GM-3301");
}

fn an_unknown_filter_is_refused_with_the_nearest() {
    assert_eq!(
        refusal("search_tools", json!({"server": "calculatr"})),
        "error[GM-2002]: there is no server `calculatr`; did you mean `calculator`?"
    );
    let refused = refusal("search_tools", json!({"category": "exmples"}));
    assert!(
        refused.contains("no server has the category `exmples`") && refused.contains("examples"),
        "{refused}"
    );
    let refused = refusal("search_tools", json!({"qery": "x"}));
    assert!(
        refused.contains("`qery` is not an argument of search_tools; did you mean `query`?"),
        "{refused}"
    );
}

fn a_server_that_is_down_is_named() {
    let place =
        Place::new("down").example("calculator").server("never", json!({"command": "/nowhere/at/all"}));
    let served = place.serve(legacy(), &[]);
    let found = served.structured("search_tools", json!({"query": "convert"}));
    assert_eq!((&found["shown"], &found["more"]), (&json!(1), &json!("Unavailable servers: never.")));
    // Asked for by name, why; whether it has been tried yet depends on the moment.
    let found = served.structured("search_tools", json!({"server": "never"}));
    let more = found["more"].as_str().unwrap_or_default();
    let is_told = more.contains("never is down: ") || more.contains("never has not answered yet");
    assert!(is_told, "{found:#}");
}

fn the_agent_is_told_what_waits_for_its_user_and_why() {
    let served = Place::new("waiting").scripted("robot", &[]).serve(legacy(), &[]);
    let change = "from servers.robot import set_tools\n\
        await set_tools(tools=[{'name': 'brand_new', 'inputSchema': {'type': 'object'}}])";
    served.structured("execute_code", json!({"code": change}));
    let said =
        "robot holds back brand_new (new); only the user can approve, with `gristmill tools review robot`.";
    let found = eventually("it is told", || {
        let answer = served.call("search_tools", json!({"query": "brand_new"}));
        text_of(&answer).contains(said).then_some(answer)
    });
    assert!(found["structuredContent"]["more"].as_str().is_some_and(|more| more.contains(said)), "{found:#}");
    let refused = served.call("get_tool_definition", json!({"name": "robot.brand_new"}));
    assert!(text_of(&refused).contains("robot.brand_new is held back"), "{refused:#}");
    let index = served.structured("execute_code", json!({"code": "open('/servers/index.md').read()"}));
    assert!(index.to_string().contains("brand_new (new)"), "{index:#}");
}

fn without_servers_a_search_says_how_to_connect_some() {
    let served = Place::new("none").serve(legacy(), &[]);
    let words = "No servers are connected. Add one with `gristmill add` or `gristmill import`.";
    assert_eq!(
        served.call("search_tools", json!({"query": "x"})),
        json!({
            "content": [{"type": "text", "text": words}],
            "structuredContent": {"shown": 0, "total": 0, "found": [], "more": words},
            "isError": false,
        })
    );
    let refused = served.call("get_tool_definition", json!({"name": "x"}));
    assert!(text_of(&refused).starts_with("error[GM-1401]: no servers are connected\nhint: "), "{refused}");
}

fn without_servers_a_program_hears_that_there_are_none() {
    let served = Place::new("none-in-programs").serve(legacy(), &[]);
    let error = |code: &str| served.structured("execute_code", json!({"code": code}))["error"].clone();
    let words = "no servers are connected to this gateway; \
        the user connects them with `gristmill import` or `gristmill add`";
    let imported = error("from servers.crm import find");
    assert_eq!(imported["message"], format!("No module named 'servers': {words}"), "{imported:#}");
    let called = error("await callMCPTool('crm.find')");
    assert_eq!((&called["code"], &called["hint"]), (&json!("GM-1401"), &json!(words)), "{called:#}");
}

fn definition(arguments: Value) -> Value {
    let answer = shared().call("get_tool_definition", arguments);
    assert_eq!(answer["isError"], false, "{answer:#}");
    answer["structuredContent"].clone()
}

fn a_definition_comes_in_each_language() {
    let name = "calculator.evaluate";
    let of = |format: &str| definition(json!({"name": name, "format": format}))["definitions"][name].take();
    let python = of("python");
    let text = python.as_str().expect("a text");
    assert!(text.contains("async def evaluate(*, expression: str) -> EvaluateResult:"), "{text}");
    assert_eq!(
        definition(json!({"name": name})),
        json!({"definitions": {name: python}}),
        "unless said otherwise"
    );
    let typescript = of("typescript");
    let text = typescript.as_str().expect("a text");
    assert!(text.contains("export declare function evaluate(args: {"), "{text}");
    let json = of("json");
    assert_eq!(
        members(&json),
        ["name", "title", "description", "inputSchema", "outputSchema", "annotations"]
    );
    assert_eq!(
        (&json["name"], &json["inputSchema"]["required"]),
        (&json!("evaluate"), &json!(["expression"]))
    );
    let refused = refusal("get_tool_definition", json!({"name": name, "format": "ruby"}));
    assert!(refused.contains("must be one of \"python\", \"typescript\", \"json\""), "{refused}");
}

fn the_definitions_of_a_server_or_a_category_come_together() {
    let names = |arguments: Value| {
        let shown = definition(arguments);
        members(&shown["definitions"]).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let calculator = ["calculator.convert_units", "calculator.evaluate", "calculator.statistics"];
    assert_eq!(names(json!({"server": "calculator"})), calculator);
    let of_category = names(json!({"category": "examples"}));
    assert!(of_category.starts_with(&calculator.map(str::to_owned)), "{of_category:?}");
    assert!(of_category.iter().any(|name| name.starts_with("crm.")), "{of_category:?}");
    assert!(!of_category.iter().any(|name| name.starts_with("robot.")), "{of_category:?}");
}

fn a_server_narrows_a_bare_name() {
    let shown = definition(json!({"name": "evaluate", "server": "calculator"}));
    assert_eq!(members(&shown["definitions"]), ["calculator.evaluate"]);
}

fn a_name_that_several_servers_have_is_refused_with_all_of_them() {
    let place = Place::new("ambiguous").scripted("one", &[]).scripted("two", &[]);
    let served = place.serve(legacy(), &[]);
    let answer = served.call("get_tool_definition", json!({"name": "echo"}));
    let text = text_of(&answer);
    assert!(
        text.starts_with("error[GM-1401]: ") && text.contains("one.echo") && text.contains("two.echo"),
        "{text}"
    );
    let shown = served.structured("get_tool_definition", json!({"name": "echo", "server": "two"}));
    assert_eq!(members(&shown["definitions"]), ["two.echo"]);
    let hint = served.call("echo", json!({}));
    assert_eq!(hint["structuredContent"]["error"]["code"], "GM-1401", "{hint}");
}

fn an_unknown_definition_names_the_nearest() {
    assert_eq!(
        refusal("get_tool_definition", json!({"name": "evaluat"})),
        "error[GM-1401]: there is no tool `evaluat`; did you mean calculator.evaluate?"
    );
    assert_eq!(
        refusal("get_tool_definition", json!({"server": "calculatr"})),
        "error[GM-1401]: no server matches `calculatr`\nhint: did you mean calculator?"
    );
    assert_eq!(
        refusal("get_tool_definition", json!({"category": "zzz"})),
        "error[GM-1401]: no server matches `zzz`\nhint: search_tools without a query lists servers"
    );
}

fn a_definition_of_nothing_says_what_to_pass() {
    assert_eq!(
        refusal("get_tool_definition", json!({})),
        "error[GM-2002]: no tool given\nhint: pass `name` (such as \"server.tool\") or `server`"
    );
}

fn many_definitions_are_left_out_by_name() {
    let served = Place::new("many").scripted("robot", &["many=400"]).serve(legacy(), &[]);
    let answer = served.call("get_tool_definition", json!({"server": "robot"}));
    let structured = &answer["structuredContent"];
    let shown = members(&structured["definitions"]).len();
    let left_out = structured["left_out"].as_array().expect("names");
    let (last, named) = left_out.split_last().expect("some");
    let more = 424 - shown - 200;
    assert_eq!((named.len(), last), (200, &json!(format!("and {more} more"))));
    assert!(text_of(&answer).len() < 60_000, "{}", text_of(&answer).len());
}
