//! Marks of servers, carried from one program to the next by whatever a session leaves behind. Every
//! program here has a process of its own, so nothing is remembered but what is on the disk.
#![cfg(target_os = "linux")]

mod support;

use gristmill_testkit::Home;
use serde_json::{Value, json};
use support::gristmill;

/// The calculator under four names.
fn home(name: &str, policy: &str) -> Home {
    let home = Home::new(gristmill(), name);
    let binary = gristmill();
    let server = |name: &str, marks: &str| {
        format!(
            "[servers.{name}]\ncommand = {binary:?}\nargs = ['example-server', 'calculator']\nmarks = {marks}\n"
        )
    };
    let servers = [
        server("web", "['untrusted']"),
        server("crm", "['private']"),
        server("mail", "['external']"),
        server("notes", "[]"),
    ];
    std::fs::create_dir_all(home.config_file().parent().expect("a folder")).expect("made");
    std::fs::write(home.config_file(), format!("{policy}\n{}", servers.concat())).expect("written");
    home
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"))
}

/// What a program comes to, in a session or in none.
fn run(home: &Home, session: Option<&str>, code: &str) -> Value {
    run_in("python", home, session, code)
}

fn run_in(language: &str, home: &Home, session: Option<&str>, code: &str) -> Value {
    // Time enough for a busy machine.
    let mut words = vec!["run", "--json", "--timeout", "60s", "--language", language];
    words.extend(session.iter().flat_map(|session| ["--session", session]));
    words.extend(["-c", code]);
    parsed(&home.run(&words).stdout)
}

fn result(home: &Home, session: Option<&str>, code: &str) -> Value {
    let mut ran = run(home, session, code);
    assert_eq!(ran["success"], true, "{code}\n{ran:#}");
    ran["result"].take()
}

fn reads(server: &str) -> String {
    format!("from servers.{server} import evaluate\n{server} = await evaluate(expression='6 * 7')\n")
}

const BOTH: &str =
    "this session has read untrusted data from `web` and private data from `crm`, and `mail` is external";

/// Whether a program that ends by sending mail was stopped, and for which reason.
fn sends(home: &Home, session: Option<&str>, before: &str) -> Option<String> {
    let ran = run(home, session, &format!("{before}\n{}result = 'sent'", reads("mail")));
    match ran["error"]["message"].as_str() {
        None => {
            assert_eq!(ran["result"], "sent", "{ran:#}");
            None
        }
        Some(message) => Some(message.to_owned()),
    }
}

fn is_stopped(home: &Home, session: Option<&str>, before: &str) -> bool {
    match sends(home, session, before) {
        None => false,
        Some(message) => {
            assert!(message.contains(BOTH) && message.contains("(rule `flow`)"), "{message}");
            true
        }
    }
}

#[test]
fn one_program_that_brings_all_three_together_is_stopped_at_the_third() {
    let home = home("flow-one", "");
    let both = reads("web") + &reads("crm");
    assert!(is_stopped(&home, None, &both));
    assert!(!is_stopped(&home, None, &reads("web")) && !is_stopped(&home, None, &reads("crm")));
    assert_eq!(result(&home, None, &format!("{both}{}result = 'kept'", reads("notes"))), "kept");
    let message = sends(&home, None, &both).expect("it is stopped");
    let id = message.split("gristmill approvals allow ").nth(1).expect("how to allow it");
    let id = id.split('`').next().expect("an id");
    home.ok(&["approvals", "allow", id]);
    let audit = home.ok(&["audit", "query", "--json"]);
    assert!(audit.contains("\"rule\":\"flow\"") || audit.contains("\"rule\": \"flow\""), "{audit}");
}

#[test]
fn a_session_is_stopped_whichever_of_its_programs_and_processes_read_what() {
    let home = home("flow-session", "");
    result(&home, Some("s"), &(reads("web") + "state['page'] = web\nresult = 1"));
    assert!(!is_stopped(&home, Some("s"), ""));
    result(&home, Some("s"), &(reads("crm") + "open('/workspace/deal', 'w').write(str(crm))\nresult = 1"));
    assert!(is_stopped(&home, Some("s"), "text = open('/workspace/deal').read()"), "a file carries it");
    assert!(is_stopped(&home, Some("s"), "text = state['page']"), "state carries it");
    assert!(!is_stopped(&home, Some("other"), ""), "another session has read nothing");
    let archive = home.work().join("s.tar");
    let archive = archive.to_str().expect("a path");
    home.ok(&["sessions", "export", "s", archive]);
    home.ok(&["sessions", "import", archive, "--name", "again"]);
    assert!(is_stopped(&home, Some("again"), ""), "an archive carries it");
}

#[test]
fn who_reads_a_stored_result_has_read_what_it_was_made_from() {
    let home = home("flow-result", "");
    let large = "result = 'x' * 6_000_000";
    let both = reads("web") + &reads("crm");
    let ran = run(&home, Some("s"), &(both + large));
    let path = ran["large_result"]["path"].as_str().unwrap_or_else(|| panic!("{ran:#}")).to_owned();
    assert!(!is_stopped(&home, Some("t"), ""), "it lies there and was not read");
    assert!(is_stopped(&home, Some("t"), &format!("text = open({path:?}).read(100)")));
    assert!(is_stopped(&home, Some("t"), ""), "the session keeps that");
    // A name that is put together, and a read without a call after it.
    let (folder, file) = path.rsplit_once('/').expect("a path");
    let read = format!("text = open('/'.join([{folder:?}, {file:?}])).read(100)\nresult = 1");
    result(&home, Some("u"), &read);
    assert!(is_stopped(&home, Some("u"), ""));
    assert!(!is_stopped(&home, Some("v"), ""), "the others are as they were");
}

#[test]
fn who_imports_a_skill_has_read_what_it_was_made_from_until_a_person_approves_it() {
    let home = home("flow-skill", "");
    let both = reads("web") + &reads("crm");
    let save = "save_skill('deals', 'def best():\\n    return 42\\n')\nresult = 1";
    result(&home, Some("s"), &(both + save));
    assert!(!is_stopped(&home, Some("t"), ""));
    assert!(is_stopped(&home, Some("t"), "from skills.deals import best\nbest()"));
    let hidden = "import importlib\ntry:\n    importlib.import_module('skills.' + 'de' + 'als')\n    result = 'found'\n\
                  except ImportError:\n    result = 'not there'";
    assert_eq!(result(&home, Some("u"), hidden), "not there", "what isn't named isn't found");
    let listed = "result = [skill['name'] for skill in list_skills()]";
    assert_eq!(result(&home, Some("u"), listed), json!([]), "nor is it listed");
    assert_eq!(result(&home, Some("s"), listed), json!(["deals"]));
    let file = home.path().join("data/skills/deals/deals.py");
    std::fs::write(&file, "def best():\n    return 43\n").expect("written");
    assert!(!is_stopped(&home, Some("v"), "from skills.deals import best\nassert best() == 43"));
}

#[test]
fn the_test_of_a_skill_is_no_way_out() {
    let home = home("flow-skill-test", "");
    let both = reads("web") + &reads("crm");
    let test = "from servers.mail import evaluate\nawait evaluate(expression='1')";
    let save = format!(
        "try:\n    save_skill('leak', 'def f():\\n    return 1\\n', test={test:?})\n    result = 'saved'\n\
         except Exception as error:\n    result = str(error)"
    );
    let said = result(&home, Some("s"), &(both + &save));
    assert!(said.as_str().is_some_and(|said| said.contains("rule `flow`")), "{said}");
    assert_eq!(result(&home, Some("t"), &save), "saved", "who has read nothing may");
}

#[test]
fn what_the_test_of_a_skill_reads_its_saver_has_read() {
    let home = home("flow-skill-reads", "");
    let test = "from servers.crm import evaluate\nraise Exception(str(await evaluate(expression='6 * 7')))";
    let save = format!(
        "try:\n    save_skill('peek', 'def f():\\n    return 1\\n', test={test:?})\n\
         except Exception as error:\n    said = str(error)\nresult = said"
    );
    let said = result(&home, Some("s"), &(reads("web") + &save));
    assert!(said.as_str().is_some_and(|said| said.contains("42")), "{said}");
    assert!(is_stopped(&home, Some("s"), ""));
    assert!(!is_stopped(&home, Some("t"), ""), "nobody else has");
}

/// Saves a skill with what both have answered in it.
fn keep_the_deal(home: &Home) {
    let both = reads("web") + &reads("crm");
    let save = "save_skill('keep99', 'S = %r' % f'the deal: {web} {crm}')\nresult = 1";
    result(home, Some("s"), &(both + save));
}

/// Has a test read that skill, which the program itself doesn't name.
const PEEK: &str = "said = 'saved'\nname = 'keep' + '99'\ntry:\n    \
    save_skill('other99', 'y = 1', test=f'from skills.{name} import S\\nraise Exception(S)')\n\
    except Exception as error:\n    said = str(error)\n";

#[test]
fn what_the_test_of_a_skill_imports_its_saver_has_read() {
    let home = home("flow-skill-imports", "");
    keep_the_deal(&home);
    assert!(!is_stopped(&home, Some("t"), ""));
    assert!(is_stopped(&home, Some("t"), PEEK));
    assert!(is_stopped(&home, Some("t"), ""), "the session keeps that");
    assert!(is_stopped(&home, None, PEEK), "a client without a session");
    let said = result(&home, Some("u"), &format!("{PEEK}result = said"));
    assert!(said.as_str().is_some_and(|said| said.contains("the deal")), "{said}");
    assert!(is_stopped(&home, Some("u"), ""), "a later program");
    // A skill without marks that imports one with them.
    let over = "save_skill('between99', 'from skills.%s import S' % ('keep' + '99'))\nresult = 1";
    result(&home, Some("between"), over);
    assert!(!is_stopped(&home, Some("between"), ""));
    let through = PEEK.replace("'keep' + '99'", "'between' + '99'");
    assert!(is_stopped(&home, Some("v"), &through), "by way of another skill");
    assert!(!is_stopped(&home, Some("w"), ""), "nobody else has");
}

#[test]
fn the_test_of_a_skill_finds_a_marked_skill_only_by_its_name() {
    let home = home("flow-skill-built-name", "");
    keep_the_deal(&home);
    let code =
        "import importlib\n\ndef find():\n    return importlib.import_module('skills.' + 'keep' + '99').S\n";
    let save = |test: &str| {
        format!(
            "said = 'saved'\ntry:\n    save_skill('finder', {code:?}, test={test:?})\n\
             except Exception as error:\n    said = str(error)\n"
        )
    };
    let said = |session: &str, test: &str| {
        let said = result(&home, Some(session), &(save(test) + "result = said"));
        said.as_str().unwrap_or_else(|| panic!("{said}")).to_owned()
    };
    let loads = "raise Exception(find())";
    let told = said("t", loads);
    assert!(told != "saved" && !told.contains("the deal"), "{told}");
    let told = said("t", "raise Exception('found ' + ' '.join(skill['name'] for skill in list_skills()))");
    assert!(told.contains("found ") && !told.contains("keep99"), "{told}");
    assert!(!is_stopped(&home, Some("t"), &save(loads)), "it has read nothing");
    let told = said("s", loads);
    assert!(told.contains("the deal"), "whose saver has read the same finds it: {told}");
}

#[test]
fn a_test_in_typescript_is_no_way_around_marks_either() {
    let home = home("flow-skill-typescript", "");
    let keep = r#"
import { evaluate as web } from "./servers/web";
import { evaluate as crm } from "./servers/crm";
const read = [await web({ expression: "6 * 7" }), await crm({ expression: "6 * 7" })];
saveSkill("keep99", `export const S = ${JSON.stringify("the deal: " + JSON.stringify(read))};`);
export default 1;
"#;
    let kept = run_in("typescript", &home, Some("s"), keep);
    assert_eq!(kept["result"], 1, "{kept:#}");
    let peek = r#"
import { evaluate } from "./servers/mail";
const name = "keep" + "99";
let said = "saved";
try {
  saveSkill("other99", "export const y = 1;", { test: `import { S } from "skills/${name}";
throw new Error(S);` });
} catch (error) {
  said = String(error);
}
"#;
    let read = run_in("typescript", &home, Some("t"), &format!("{peek}export default said;"));
    assert!(read["result"].as_str().is_some_and(|said| said.contains("the deal")), "{read:#}");
    let send = r#"await evaluate({ expression: "1" }); export default "sent";"#;
    for session in [Some("t"), Some("u"), None] {
        let sent = run_in("typescript", &home, session, &format!("{peek}{send}"));
        let message = sent["error"]["message"].as_str().unwrap_or_else(|| panic!("{sent:#}"));
        assert!(message.contains(BOTH) && message.contains("(rule `flow`)"), "{message}");
    }
    let before = peek.replace("saveSkill(", "String(");
    let sent = run_in("typescript", &home, Some("v"), &format!("{before}{send}"));
    assert_eq!(sent["result"], "sent", "{sent:#}");
}

#[test]
fn marks_are_shown_and_a_test_says_what_would_happen() {
    let home = home("flow-show", "level = 'hardened'");
    let shown = home.ok(&["policy", "show"]);
    assert!(shown.contains("flow: deny before anything is sent to an external server"), "{shown}");
    assert!(shown.contains("marks: web is untrusted\n"), "{shown}");
    let shown = parsed(&home.ok(&["policy", "show", "--json"]));
    assert_eq!(shown["marks"], json!({"crm": ["private"], "mail": ["external"], "web": ["untrusted"]}));
    let tested = parsed(&home.ok(&["policy", "test", "mail.evaluate", "--read-both", "--json"]));
    assert_eq!((&tested["decision"], &tested["rule"]), (&json!("deny"), &json!("flow")));
    assert_eq!(tested["why"], BOTH);
    assert_eq!(
        tested["lines"].as_array().and_then(|lines| lines.last()),
        Some(&json!({
            "rule": "flow", "applies_to": "external servers, once untrusted and private data was read",
            "origin": "default", "decision": "deny", "outcome": {"is": "decides"},
        }))
    );
    let deciding = |tested: &Value, is: &str| {
        let lines = tested["lines"].as_array().expect("lines");
        let fit = lines.iter().filter(|line| line["outcome"]["is"] == is);
        fit.map(|line| line["rule"].as_str().expect("a rule").to_owned()).collect::<Vec<String>>()
    };
    assert_eq!(deciding(&tested, "decides"), ["flow"], "{tested:#}");
    assert_eq!(deciding(&tested, "overruled").len(), 1, "{tested:#}");
    let table = home.ok(&["policy", "test", "mail.evaluate", "--read-both", "--level", "production"]);
    assert!(table.contains("mail.evaluate: ask, because "), "{table}");
    assert!(table.contains("yes, but `flow` is stricter"), "{table}");
    let unread = parsed(&home.ok(&["policy", "test", "mail.evaluate", "--json"]));
    assert_eq!(unread["decision"], "allow");
}
