//! `gristmill check`, and what checks do to programs that are run.

mod support;

use gristmill_testkit::Home;
use serde_json::{Value, json};
use support::gristmill;

fn home(name: &str) -> Home {
    Home::new(gristmill(), name)
}

fn write(home: &Home, name: &str, text: &str) {
    std::fs::write(home.work().join(name), text).expect("a file");
}

#[test]
fn a_check_shows_each_finding_with_its_line_and_a_caret() {
    let home = home("check-shows");
    write(&home, "job.py", "import os\nos.system(\"ls\")\n");
    let ran = home.run(&["check", "job.py"]);
    let expected = "job.py:2:1: GC-108 high: `os.system` starts or ends processes\n    os.system(\"ls\")\n    ^^^^^^^^^\n    hint: the sandbox has no processes; use asyncio.gather for parallel tool calls\n";
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), expected), "{}", ran.stderr);
    let ran = home.run(&["check", "--level", "hardened", "job.py"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), expected), "{}", ran.stderr);
    write(&home, "broken.py", "x = (1 +\n");
    let ran = home.run(&["check", "broken.py"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.starts_with("broken.py:1:5: GC-001 error: '(' was never closed\n"), "{}", ran.stdout);
}

#[test]
fn a_check_knows_the_connected_tools() {
    let home = home("check-tools");
    home.add_example("calculator");
    write(&home, "job.py", "from servers.calculator import evaluate\nawait evaluate(expresion='1')\n");
    let ran = home.run(&["check", "job.py"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("job.py:2:7: GC-303 error: ")
            && ran.stdout.contains("did you mean `expression`?"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_denied_module_is_refused_and_a_suspicious_line_is_recorded() {
    let home = home("check-guardrails");
    let file = home.config_file();
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    std::fs::write(&file, "[guardrails]\ndenied_modules = [\"pickle\"]\n").expect("a configuration");
    let report = |code: &str| -> Value {
        let ran = home.run(&["run", "--json", "-c", code]);
        serde_json::from_str(&ran.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}{}", ran.stdout, ran.stderr))
    };
    let refused = report("print(1)\nimport pickle");
    assert_eq!(
        (&refused["error"]["code"], &refused["error"]["line"], &refused["stdout"], &refused["error"]["hint"]),
        (&json!("GM-1701"), &json!(2), &json!(""), &json!("use json"))
    );
    let ran = report("x = eval('1 + ' + '1')\nx");
    assert_eq!((&ran["result"], &ran["findings"][0]["rule"]), (&json!(2), &json!("GC-104")), "{ran:#}");
    let history: Value = serde_json::from_str(&home.ok(&["history", "--json"])).expect("JSON");
    let found = |index: usize| history[index]["findings"].clone();
    assert_eq!((found(0), found(1)), (json!(["GC-104:1"]), json!(["GC-201:2"])));
    let id = history[0]["id"].as_str().expect("an id");
    assert!(home.ok(&["show", id]).contains("GC-104:1"));
}

#[test]
fn a_skills_findings_are_told_when_it_is_shown() {
    let home = home("check-skills");
    let code = "save_skill('calc', 'def calc(text):\\n    \"\"\"Evaluates.\"\"\"\\n    return eval(text)')";
    home.ok(&["run", "--no-servers", "-c", code]);
    let ran = home.run(&["skills", "show", "calc"]);
    assert!(ran.stderr.contains("warning: calc.py:3: GC-104 high: "), "{}", ran.stderr);
}
