//! `help()` in programs: short guides, which name only what is there. And `call_tool`, for one call without a program.

use gristmill_gateway::tokens;
use serde_json::{Value, json};

use crate::cases;
use crate::client::modern;
use crate::gateways::{Place, shared};

cases![
    each_guide_is_short_and_names_what_a_python_program_has,
    each_guide_is_short_and_names_what_a_typescript_program_has,
    help_shows_one_tool,
    a_single_call_passes_the_same_door,
];

const TOPICS: [&str; 9] =
    ["", "tools", "files", "results", "skills", "statistics", "analysis", "state", "privacy"];
const TOKENS_MAX: usize = 300;

/// Names in the guides that stand for a program's own.
const EXAMPLES: &str = "get_record total";

fn check(topic: &str, code: &str) {
    let report = shared().structured("execute_code", json!({"code": code, "max_output_tokens": 4_000}));
    assert_eq!(report["status"], "ok", "{report}");
    let text = report["output"].as_str().expect("a guide").trim_end();
    assert!(text.lines().count() > 2, "{topic}: {text}");
    let counted = tokens::count(text);
    assert!(counted <= TOKENS_MAX, "{topic}: {counted} tokens");
    let named: Vec<String> = names_called(text);
    let missing = report["result"].as_array().expect("names").iter().filter_map(Value::as_str);
    let missing: Vec<&str> = missing.collect();
    assert!(missing.is_empty(), "{topic} names what isn't there: {missing:?} of {named:?}");
}

/// Every name before a bracket, as a program looks for them.
fn names_called(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in text.match_indices('(') {
        let before = &text[..at];
        let begin = before.rfind(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(0, |at| at + 1);
        names.push(before[begin..].to_owned());
    }
    names
}

fn each_guide_is_short_and_names_what_a_python_program_has() {
    for topic in TOPICS {
        let code = format!(
            "import contextlib\nsaid = io.StringIO()\nwith contextlib.redirect_stdout(said):\n    help({topic:?})\n\
             text = said.getvalue()\nprint(text)\n\
             names = set(re.findall(r\"(?<![\\w.])([A-Za-z_]\\w*)\\(\", text)) - set(\"{EXAMPLES}\".split())\n\
             known = lambda name: callable(globals().get(name) or getattr(__builtins__, name, None))\n\
             result = sorted(name for name in names if not known(name))"
        );
        check(topic, &code);
    }
}

fn each_guide_is_short_and_names_what_a_typescript_program_has() {
    for topic in TOPICS {
        let code = format!(
            "const said: string[] = [];\nconst log = console.log;\nconsole.log = (text: string) => {{ said.push(text); }};\n\
             help({topic:?});\nconsole.log = log;\nconst text: string = said.join(\"\\n\");\nconsole.log(text);\n\
             const names = new Set([...text.matchAll(/(?<![\\w.])([A-Za-z_]\\w*)\\(/g)].map((found) => found[1]));\n\
             const examples = \"{EXAMPLES} join\".split(\" \");\n\
             export default [...names].filter((name) => !examples.includes(name) && typeof (globalThis as any)[name] !== \"function\");"
        );
        check(topic, &code);
    }
}

fn help_shows_one_tool() {
    let output = |code: &str| {
        let report = shared().structured("execute_code", json!({"code": code}));
        report["output"].as_str().unwrap_or_default().to_owned()
    };
    let shown = output("help('crm.get_record')");
    assert!(shown.contains("async def get_record("), "{shown}");
    let missed = output("help('skils')");
    assert!(missed.contains("did you mean help(\"skills\")? Topics: tools, files"), "{missed}");
}

fn a_single_call_passes_the_same_door() {
    let rules = json!({"rules": [{"server": "crm", "decision": "deny", "reason": "not today"}]});
    let place = Place::new("call-tool")
        .example("calculator")
        .example("crm")
        .example("weather")
        .setting("policy", rules);
    let served = place.serve(modern(), &["--profile", "standard", "--call-tool"]);
    let call = |name: &str, arguments: Value| {
        served.call("call_tool", json!({"name": name, "arguments": arguments}))["structuredContent"].take()
    };
    let done = call("calculator.evaluate", json!({"expression": "6 * 7"}));
    assert_eq!((&done["status"], &done["result"]["value"]), (&json!("ok"), &json!(42)), "{done}");
    let denied = call("crm.get_record", json!({"type": "contact", "id": "CON-0017"}));
    assert_eq!(denied["error"]["code"], "GM-3301", "{denied}");
    assert!(denied.to_string().contains("not today"), "{denied}");
    let unknown = call("calculator.evaluat", json!({"expression": "1"}));
    assert!(unknown["error"].to_string().contains("calculator.evaluate"), "{unknown}");
    let unfit = call("calculator.evaluate", json!({"expresion": "1"}));
    assert!(unfit["error"].to_string().contains("expression"), "{unfit}");
    // Too much for an answer: it is condensed, and kept whole under a handle, as a program's result is.
    let kept = call("weather.history", json!({"city": "Oslo", "from": "2023-01-01", "to": "2026-01-01"}));
    assert!(kept["result_handle"].is_string(), "{kept}");
    let recorded = served.structured("get_execution_stats", json!({}));
    assert!(recorded.to_string().contains("calculator.evaluate"), "it is in the history: {recorded}");
}
