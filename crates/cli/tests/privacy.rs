//! Personal data through the whole binary: what a model, a record and a hostile program get of it.
#![cfg(target_os = "linux")]

mod support;

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gristmill_testkit::Home;
use serde_json::{Value, json};
use support::gristmill;

/// The CRM with its made-up people, a calculator, and files; in a mode.
fn home(name: &str, mode: &str, more: &str) -> Home {
    let home = Home::new(gristmill(), name);
    let binary = gristmill();
    let files = home.path().join("files");
    std::fs::create_dir_all(&files).expect("made");
    let server = |name: &str, arguments: &str| {
        format!("[servers.{name}]\ncommand = {binary:?}\nargs = ['example-server', {arguments}]\n")
    };
    let servers = [
        server("crm", "'crm'"),
        server("calculator", "'calculator'"),
        server("files", &format!("'filesystem', '--root', '{}'", files.display())),
    ];
    std::fs::create_dir_all(home.config_file().parent().expect("a folder")).expect("made");
    let config = format!("policy = 'trusting'\n[privacy]\nmode = '{mode}'\n{more}\n{}", servers.concat());
    std::fs::write(home.config_file(), config).expect("written");
    home
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"))
}

/// What a program comes to, in the session `s`.
fn run(home: &Home, code: &str) -> Value {
    parsed(&home.run(&["run", "--json", "--timeout", "60s", "--session", "s", "-c", code]).stdout)
}

fn result(home: &Home, code: &str) -> Value {
    let mut ran = run(home, code);
    assert_eq!(ran["success"], true, "{code}\n{ran:#}");
    ran["result"].take()
}

const LEADS: &str =
    "from servers.crm import list_leads\nleads = (await list_leads(page_size=20))['records']\n";

/// The addresses that the CRM has.
fn addresses(name: &str) -> Vec<String> {
    let open = home(name, "off", "");
    let found = result(&open, &format!("{LEADS}[lead['email'] for lead in leads]"));
    let found: Vec<String> = serde_json::from_value(found).expect("texts");
    assert!(found.len() > 10 && found.iter().all(|address| address.contains('@')), "{found:?}");
    found
}

/// Whether any of these is in a text, as it is, reversed, in other cases or encoded.
fn leak(text: &str, values: &[String]) -> Option<String> {
    let small = text.to_lowercase();
    values.iter().find_map(|value| {
        let reversed: String = value.chars().rev().collect();
        let letters: Vec<String> = value.chars().map(|letter| letter.to_string()).collect();
        let codes: Vec<String> = value.bytes().map(|byte| byte.to_string()).collect();
        let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
        let forms = [
            value.clone(),
            reversed,
            letters.join(" "),
            letters.join("\\n"),
            letters.join("\",\""),
            codes.join(","),
            codes.join(", "),
            hex,
            value.replace('@', "%40"),
            STANDARD.encode(value),
            // The part before the sign tells enough.
            value.split('@').next().unwrap_or_default().to_owned(),
        ];
        forms.into_iter().find(|form| small.contains(&form.to_lowercase()))
    })
}

fn every_file(folder: &Path, files: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_symlink() {
            true => {}
            false if path.is_dir() => every_file(&path, files),
            false => files.push((path.display().to_string(), std::fs::read(&path).unwrap_or_default())),
        }
    }
}

/// Where a value lies in any byte below a folder.
fn lies_in(folder: &Path, values: &[String]) -> Vec<String> {
    let mut files = Vec::new();
    every_file(folder, &mut files);
    assert!(!files.is_empty(), "nothing was looked at");
    let has = |bytes: &[u8]| {
        values.iter().any(|value| bytes.windows(value.len()).any(|window| window == value.as_bytes()))
    };
    files.into_iter().filter(|(_, bytes)| has(bytes)).map(|(path, _)| path).collect()
}

#[test]
fn a_model_and_every_record_get_tokens_in_the_place_of_values() {
    let values = addresses("privacy-out-open");
    let home = home("privacy-out", "output", "");
    let code = format!(
        "{LEADS}print(leads[0]['email'])\nimport sys\nprint('to', leads[1]['email'], file=sys.stderr)\n\
         state['one'] = 1\nresult = {{'all': [lead['email'] for lead in leads], 'by': {{leads[2]['email']: 1}}}}"
    );
    let ran = run(&home, &code);
    assert_eq!(ran["success"], true, "{ran:#}");
    assert_eq!(leak(&ran.to_string(), &values), None, "{ran:#}");
    let first = ran["result"]["all"][0].as_str().expect("a token").to_owned();
    assert!(first.starts_with("[EMAIL_"), "{first}");
    assert_eq!(ran["stdout"], format!("{first}\n"), "the same value is the same token");
    assert!(ran["notes"].to_string().contains("gristmill privacy allow [EMAIL_"), "{}", ran["notes"]);
    let failed = run(&home, &format!("{LEADS}raise ValueError('no such person: ' + leads[3]['email'])"));
    assert_eq!(failed["success"], false);
    assert_eq!(leak(&failed.to_string(), &values), None, "{failed:#}");
    assert_eq!(lies_in(&home.path().join("data"), &values), Vec::<String>::new());
    // A token of an answer is good in the next program.
    let sent = format!(
        "from servers.files import write_file\nawait write_file(path='to.txt', text='to {first}')\n'done'"
    );
    assert_eq!(result(&home, &sent), json!("done"));
    let written = std::fs::read_to_string(home.path().join("files/to.txt")).expect("written");
    assert_eq!(written, format!("to {}", values[0]), "the server has the value");
}

#[test]
fn a_name_that_the_result_tells_is_hidden_in_what_was_printed_too() {
    let home = home("printed-names", "output", "");
    let code = "from servers.crm import get_record\nlead = await get_record(type='lead', id='LEAD-0002')\n\
                print('it is', lead['name'])\nlead";
    let ran = run(&home, code);
    let token = ran["result"]["name"].as_str().unwrap_or_else(|| panic!("{ran:#}"));
    assert!(token.starts_with("[PERSON_NAME_"), "{ran:#}");
    assert_eq!(ran["stdout"], json!(format!("it is {token}\n")));
}

#[test]
fn at_the_boundary_neither_program_nor_model_nor_disk_has_a_value() {
    let values = addresses("privacy-in-open");
    let allowed = "[[privacy.restore]]\nkinds = ['email']\nto = 'files.write_file'\nallow = true\n";
    let home = home("privacy-in", "boundary", allowed);
    let code = format!(
        "{LEADS}from servers.files import write_file\n\
         state['leads'] = leads\nopen('/workspace/leads.txt', 'w').write(str(leads))\n\
         await write_file(path='all.txt', text='\\n'.join(lead['email'] for lead in leads))\n\
         result = [leads[0]['email'], '@' in str(leads), len({{lead['email'] for lead in leads}})]"
    );
    let found = result(&home, &code);
    assert_eq!((&found[1], &found[2]), (&json!(false), &json!(20)), "joined, grouped and counted by tokens");
    let written = std::fs::read_to_string(home.path().join("files/all.txt")).expect("written");
    assert_eq!(written.lines().collect::<Vec<_>>(), values, "the server has them all");
    assert_eq!(lies_in(&home.path().join("data"), &values), Vec::<String>::new());
    let domain = result(
        &home,
        &format!(
            "{LEADS}[privacy.domain(leads[0]['email']), privacy.same(leads[0]['email'], leads[0]['email']), privacy.same(leads[0]['email'], leads[1]['email'])]"
        ),
    );
    assert_eq!(domain, json!(["example.com", true, false]));
}

/// The same with a mode for the CRM alone, and a rule that lets addresses go into files.
fn stricter_crm(name: &str, mode: &str, crm: &str) -> Home {
    let allowed = "[[privacy.restore]]\nkinds = ['email']\nto = 'files.write_file'\nallow = true\n";
    let home = home(name, mode, allowed);
    let config = std::fs::read_to_string(home.config_file()).expect("it is there");
    let stricter = config.replace("[servers.crm]\n", &format!("[servers.crm]\nprivacy = '{crm}'\n"));
    std::fs::write(home.config_file(), stricter).expect("written");
    home
}

#[test]
fn a_stricter_server_keeps_its_values_whatever_the_gateways_mode_is() {
    let values = addresses("privacy-strict-open");
    let tricks = [
        "print(restore_pii(t), privacy.restore([t]))",
        "print(privacy.same(t, 'x@example.com'))",
        "from servers.files import write_file, read_file\nawait write_file(path='x', text=t)\nprint((await read_file(path='x')), ' '.join(str(await read_file(path='x'))))",
        "from servers.files import write_file, list_directory\nawait write_file(path='y', text=t + '@@' + t + '=')\nfrom servers.files import read_file\nprint(str(await read_file(path='y'))[::-1])",
    ];
    for mode in ["off", "output"] {
        let home = stricter_crm(&format!("privacy-strict-{mode}"), mode, "boundary");
        for code in tricks {
            let ran = run(&home, &format!("{LEADS}t = leads[0]['email']\n{code}"));
            assert_eq!(leak(&ran.to_string(), &values), None, "{mode}: {code}\n{ran:#}");
        }
        let written = std::fs::read_to_string(home.path().join("files/x")).expect("written");
        assert_eq!(written, values[0], "the server has the value");
        assert_eq!(lies_in(&home.path().join("data"), &values), Vec::<String>::new());
    }
    let home = stricter_crm("privacy-strict-model", "off", "output");
    let ran = run(
        &home,
        &format!(
            "{LEADS}print(leads[0]['email'])\n[leads, 'bob@elsewhere.org', leads[0]['email'].count('@')]"
        ),
    );
    assert_eq!(ran["success"], true, "{ran:#}");
    assert_eq!(leak(&ran.to_string(), &values), None, "{ran:#}");
    assert_eq!(ran["result"][1], "bob@elsewhere.org", "nobody hides it: {ran:#}");
    assert_eq!(ran["result"][2], 1, "the program has the value: {ran:#}");
    assert_eq!(lies_in(&home.path().join("data"), &values), Vec::<String>::new());
}

/// Each tries to have a value, or to get one out, and must not. `t` is a token, `leads` are the records.
const TRICKS: [(&str, &str); 22] = [
    ("print it", "print(t, repr(t), leads)"),
    ("letter by letter", "print(' '.join(t)); print([ord(c) for c in t])"),
    ("reversed", "print(t[::-1])"),
    ("encoded", "import base64; print(base64.b64encode(t.encode()), t.encode().hex())"),
    ("ask for it back", "print(restore_pii(t)); print(privacy.restore([t]))"),
    ("ask for it in a structure", "print(restore_pii({'a': {'b': [t]}, t: 1}))"),
    ("compare with a guess", "print(privacy.same(t, 'a@example.com'))"),
    ("an error with arguments", "from servers.crm import list_leads\nawait list_leads(page=t)"),
    ("an error of another tool", "from servers.crm import get_record\nawait get_record(type=t, id=t)"),
    (
        "a record that is not there",
        "from servers.crm import get_record\nprint(await get_record(type='lead', id=t))",
    ),
    ("compute with it", "from servers.calculator import evaluate\nprint(await evaluate(expression=t))"),
    (
        "compute with a part of it",
        "from servers.calculator import evaluate\nprint(await evaluate(expression='1 + ' + t))",
    ),
    (
        "write a file and read it",
        "from servers.files import write_file, read_file\nawait write_file(path='x', text=t)\nprint(await read_file(path='x'))",
    ),
    (
        "in the name of a file",
        "from servers.files import write_file, list_directory\nawait write_file(path=t, text='x')\nprint(await list_directory(path='.'))",
    ),
    (
        "write a note and read it",
        "from servers.crm import add_note, list_activities\nawait add_note(record_id=leads[0]['id'], text='about ' + t)\nprint(await list_activities(record_id=leads[0]['id']))",
    ),
    (
        "hide it from the search",
        "from servers.crm import add_note, list_activities\nawait add_note(record_id=leads[0]['id'], text=t + '@@' + t + '=')\nprint(await list_activities(record_id=leads[0]['id']))",
    ),
    (
        "as another field",
        "from servers.crm import update_record, get_record\nawait update_record(type='lead', id=leads[1]['id'], fields={'company': 'x' + t + '-y'})\nprint(await get_record(type='lead', id=leads[1]['id']))",
    ),
    ("by another name", "print(await callMCPTool('files.write_file', {'path': 'y', 'text': t}))"),
    ("through an analysis", "print(await analyze([{'a': t}], [{'select': ['a']}]))"),
    (
        "from files and results",
        "import os\nfor top in ['/workspace', '/results', '/servers']:\n    for at, _, names in os.walk(top):\n        for name in names:\n            try:\n                print(open(os.path.join(at, name)).read()[:2000])\n            except Exception as e:\n                print(e)",
    ),
    ("tokens of its own", "print(sanitize_pii(t + ' ' + t.upper()), restore_pii('[EMAIL_aaaaaaaa]'))"),
    ("from memory", "import gc\nprint([o for o in gc.get_objects() if 'example.com' in str(o)[:2000]][:3])"),
];

#[test]
fn the_boundary_gains_a_hostile_program_nothing_whatever_it_tries() {
    let values = addresses("privacy-tricks-open");
    let home = home("privacy-tricks", "boundary", "");
    let mut tried = 0;
    for (trick, code) in TRICKS {
        let ran = run(&home, &format!("{LEADS}t = leads[0]['email']\n{code}"));
        let told = ran.to_string();
        assert!(!told.contains("SyntaxError"), "{trick}: {ran:#}");
        assert_eq!(leak(&told, &values), None, "{trick}: {ran:#}");
        tried += 1;
    }
    assert!(tried >= 20);
    assert_eq!(lies_in(&home.path().join("data"), &values), Vec::<String>::new());
    // The same program with the door open does get it: the check can fail.
    let open = self::home("privacy-tricks-control", "off", "");
    let ran = run(&open, &format!("{LEADS}t = leads[0]['email']\n{}", TRICKS[2].1));
    assert!(leak(&ran.to_string(), &values).is_some(), "{ran:#}");
}

#[test]
fn a_scan_uses_the_patterns_and_exceptions_of_your_configuration() {
    let more =
        "[privacy.patterns]\nticket = 'T-[0-9]{4}'\n[privacy.allow]\nvalues = ['ann@mill-brook.org']\n";
    let home = home("privacy-scan", "off", more);
    let file = home.path().join("mail.txt");
    std::fs::write(&file, "ann@mill-brook.org and bob@mill-brook.org about T-1234").expect("written");
    let file = file.to_str().expect("a path");
    let kinds = |more: &[&str]| {
        let found = parsed(&home.run(&[&["privacy", "scan", file, "--json"], more].concat()).stdout);
        let kinds: Vec<String> = found["findings"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|one| one["kind"].as_str().expect("a name").to_owned())
            .collect();
        (kinds, found["settings"].as_str().expect("where they are").to_owned())
    };
    let (found, by) = kinds(&[]);
    assert_eq!(found, ["email", "ticket"]);
    assert!(by.ends_with(".toml"), "{by}");
    assert_eq!(kinds(&["--no-config"]), (vec!["email".to_owned(); 2], "the defaults".to_owned()));
}
