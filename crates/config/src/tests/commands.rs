//! The commands that show and change a configuration.

use std::fs;
use std::path::Path;

use crate::commands::add::{Add, AddError, Scope, Target, add};
use crate::commands::add_json::{AddJson, add_json};
use crate::commands::approve::{self, ApproveError};
use crate::commands::remove::{RemoveError, remove};
use crate::commands::{check, get, path, show};

use super::super::resolved::Approval;
use super::World;

const USER: &str = "home/.config/gristmill/gristmill.toml";
const PROJECT: &str = "home/project/gristmill.toml";

fn local(name: &str, words: &[&str]) -> Add {
    Add {
        name: name.to_owned(),
        target: Target::Command(words.iter().map(|word| (*word).to_owned()).collect()),
        env: Vec::new(),
        headers: Vec::new(),
        cwd: None,
        description: None,
        category: None,
        scope: Scope::User,
        replace: false,
    }
}

fn read(world: &World, name: &str) -> String {
    fs::read_to_string(world.path(name)).unwrap()
}

/// Without the world's folder.
fn short(world: &World, text: &str) -> String {
    text.replace(world.path("home").parent().unwrap().to_str().unwrap(), "")
}

#[test]
fn add_makes_the_users_file_and_hints_at_plain_secrets() {
    let world = World::new();
    let server = Add {
        env: vec!["API_TOKEN=abc=d".to_owned(), "OTHER_TOKEN=${OTHER}".to_owned()],
        description: Some("Things".to_owned()),
        ..local("things", &["./bin/run", "--port", "1"])
    };
    let report = add(&world.surroundings, &server).unwrap();
    assert_eq!(
        short(&world, &read(&world, USER)),
        "[servers.things]\ncommand = \"/home/project/bin/run\"\nargs = [\"--port\", \"1\"]\nenv = { API_TOKEN = \"abc=d\", OTHER_TOKEN = \"${OTHER}\" }\ndescription = \"Things\"\n"
    );
    assert_eq!(short(&world, &report.text), format!("added things in /{USER}"));
    assert_eq!(report.hints.len(), 2);
    assert!(report.hints[0].starts_with("the value of API_TOKEN is in the file as plain text"));
    assert!(matches!(add(&world.surroundings, &server), Err(AddError::Edit(_))));
    add(&world.surroundings, &Add { replace: true, ..server }).unwrap();
}

#[test]
fn add_takes_an_address_with_headers() {
    let world = World::new();
    let server = Add {
        target: Target::Url("https://x.example.com/mcp".to_owned()),
        headers: vec!["Authorization: Bearer ${TOKEN}".to_owned()],
        ..local("web", &[])
    };
    add(&world.surroundings, &server).unwrap();
    assert_eq!(
        read(&world, USER),
        "[servers.web]\nurl = \"https://x.example.com/mcp\"\nheaders = { Authorization = \"Bearer ${TOKEN}\" }\n"
    );
    let error = |server: Add| add(&world.surroundings, &server).unwrap_err().to_string();
    assert!(error(local("none", &[])).starts_with("say what to start after `--`"));
    assert!(error(Add { env: vec!["X".to_owned()], ..local("x", &["y"]) }).starts_with("`--env` must be"));
    assert!(
        error(Add { headers: vec!["X".to_owned()], ..local("x", &["y"]) }).starts_with("`--header` must be")
    );
    let bad = Add { target: Target::Url("x.example.com".to_owned()), ..local("bad", &[]) };
    assert_eq!(
        error(bad),
        "the configuration has a mistake:\n  `bad.url` must begin with `http://` or `https://`"
    );
}

#[test]
fn add_json_takes_what_other_clients_document() {
    let world = World::new();
    let json = AddJson {
        name: "web".to_owned(),
        json: r#"{"type": "http", "url": "https://x.example.com/mcp", "timeout": 5000, "trust": true}"#
            .to_owned(),
        scope: Scope::User,
        replace: false,
    };
    let report = add_json(&world.surroundings, &json).unwrap();
    assert_eq!(
        read(&world, USER),
        "[servers.web]\nurl = \"https://x.example.com/mcp\"\nlimits = { call = \"5s\" }\n"
    );
    assert_eq!(report.hints.len(), 3);
    let broken = AddJson { json: "{".to_owned(), ..json };
    assert!(matches!(add_json(&world.surroundings, &broken), Err(AddError::NotJson(_))));
}

#[test]
fn a_projects_file_that_we_change_stays_approved_and_another_does_not_become_so() {
    let world = World::new();
    let server = Add { scope: Scope::Project, ..local("a", &["a"]) };
    add(&world.surroundings, &server).unwrap();
    assert_eq!(world.load().config.servers[0].approval, Approval::Given);
    add(&world.surroundings, &Add { name: "b".to_owned(), ..server.clone() }).unwrap();
    remove(&world.surroundings, "a", None).unwrap();
    assert_eq!(world.load().config.servers[0].approval, Approval::Given);
    world.write(PROJECT, "[servers.evil]\ncommand = 'evil'\n");
    add(&world.surroundings, &server).unwrap();
    assert_eq!(world.load().config.server("evil").map(|s| s.approval), Some(Approval::Outdated));
}

#[test]
fn remove_finds_the_file_or_asks() {
    let world = World::new()
        .user("[servers.both]\ncommand = 'x'\n[servers.mine]\ncommand = 'x'\n")
        .project("[servers.both]\ncommand = 'x'\n");
    let error = |name| remove(&world.surroundings, name, None).unwrap_err();
    assert!(matches!(error("both"), RemoveError::InTwoFiles { .. }));
    assert_eq!(
        error("mien").to_string(),
        "there is no server `mien` (did you mean `mine`?); `gristmill list` shows those there are"
    );
    remove(&world.surroundings, "mine", None).unwrap();
    remove(&world.surroundings, "both", Some(&Scope::User)).unwrap();
    remove(&world.surroundings, "both", Some(&Scope::Project)).unwrap();
    assert!(world.load().config.servers.is_empty());
}

#[test]
fn show_keeps_references_and_masks_everything_that_may_be_a_secret() {
    let world = World::new().user(
        r#"level = "hardened"
limits = { wall_time = "2s" }
[servers.local]
command = "run"
args = ["--token", "hunter2", "--api-key=hunter2", "--port", "80", "--password", "${P}"]
env = { A = "hunter2", B = "${B}", C = "x-hunter2-${C}" }
[servers.web]
url = "https://user:hunter2@x.example.com/mcp?key=hunter2&b=${B}"
headers = { Authorization = "Bearer ${TOKEN}", X = "hunter2" }
oauth = { client_secret = "hunter2", client_id = "us" }
"#,
    );
    let loaded = world.load();
    let toml = show::as_toml(&loaded.config);
    let json = show::as_json(&loaded.config).to_string();
    assert!(!toml.contains("hunter2") && !json.contains("hunter2"), "{toml}\n{json}");
    let expected = format!(
        r#"# /{USER}:3
[servers.local]
command = "run"
args = ["--token", "…", "--api-key=…", "--port", "80", "--password", "${{P}}"]
env = {{ A = "…", B = "${{B}}", C = "…${{C}}" }}
"#
    );
    assert_eq!(short(&world, &get::as_text(&loaded.config, "local").unwrap()), expected);
    assert!(short(&world, &toml).starts_with(&format!(
        "# /{USER}:1\nlevel = \"hardened\"\n\n[limits]\nwall_time = \"2 s\" # /{USER}:2\ncpu_time = \"3 s\" # default\n"
    )));
    assert!(toml.contains(r#"url = "https://…@x.example.com/mcp?…${B}""#), "{toml}");
    assert!(toml.contains(r#"headers = { Authorization = "Bearer ${TOKEN}", X = "…" }"#), "{toml}");
    assert!(toml.contains(r#"oauth = { client_id = "us", client_secret = "…" }"#), "{toml}");
    assert!(toml.parse::<toml_edit::DocumentMut>().is_ok());
    assert_eq!(get::as_json(&loaded.config, "locl").unwrap_err().nearest, Some("local".to_owned()));
}

#[test]
fn check_tells_everything_worst_first() {
    let world = World::new()
        .user("[servers.a]\ncomand = 'x'\n[servers.b]\ncommand = 'x'\ntrust = true\n")
        .project("[servers.c]\ncommand = 'x'\n");
    let checked = check::check(&world.load());
    let text = short(&world, &checked.text);
    let lines: Vec<&str> = text.lines().collect();
    assert!(!checked.is_usable);
    assert_eq!(lines.len(), 5);
    assert!(lines[0].starts_with(&format!("error: /{USER}:1: `servers.a` says neither")));
    assert!(lines[1].starts_with(&format!("error: /{USER}:2: `servers.a.comand` unknown key")));
    assert!(
        lines[2].starts_with(&format!("warning: /{PROJECT} is a project's file that you have not approved"))
    );
    assert!(lines[3].starts_with(&format!("note: /{USER}:5: `servers.b.trust`")));
    assert_eq!(lines[4], "2 files read, 2 servers, 1 usable; 2 errors, 1 warning");
    assert_eq!(checked.json["problems"][1]["line"], 2);
    assert!(check::check(&World::new().load()).is_usable);
}

#[test]
fn path_tells_what_is_looked_at() {
    let world = World::new()
        .user("")
        .file("home/.config/gristmill/gristmill.json", "{}")
        .file("home/project/.mcp.json", "{}");
    let text = short(&world, &path::as_text(&world.load().config));
    assert_eq!(
        text,
        "user     /home/.config/gristmill/gristmill.toml  (used)
user     /home/.config/gristmill/gristmill.yaml  (not there)
user     /home/.config/gristmill/gristmill.yml  (not there)
user     /home/.config/gristmill/gristmill.json  (not read)
project  /home/project/gristmill.toml  (not there)
project  /home/project/gristmill.yaml  (not there)
project  /home/project/gristmill.yml  (not there)
project  /home/project/gristmill.json  (not there)
project  /home/project/.mcp.json  (not approved)
"
    );
}

#[test]
fn approve_shows_what_it_approves_and_approves_what_it_showed() {
    let world = World::new()
        .project("level = 'hardened'\n[servers.a]\ncommand = 'a'\nenv.NODE_OPTIONS = '-r evil'\n")
        .file("home/project/.env", "A=1\n");
    let request = approve::prepare(&world.surroundings, None).unwrap();
    assert_eq!(
        short(&world, &request.text),
        format!(
            "# /{PROJECT}:2\n[servers.a]\ncommand = \"a\"\nenv = {{ NODE_OPTIONS = \"-r evil\" }}\n# /{PROJECT}:1\nlevel = \"hardened\"\n# variables from /home/project/.env\n"
        )
    );
    // It changes between looking and saying yes.
    world.write(PROJECT, "[servers.a]\ncommand = 'evil'\n");
    request.grant().unwrap();
    assert_eq!(world.load().config.servers[0].approval, Approval::Outdated);
    let files =
        approve::prepare(&world.surroundings, Some(Path::new("gristmill.toml"))).unwrap().grant().unwrap();
    assert_eq!(files, [world.path(PROJECT), world.path("home/project/.env")]);
    assert_eq!(world.load().config.servers[0].approval, Approval::Given);
    assert!(approve::revoke(&world.surroundings, Path::new("gristmill.toml")).unwrap());
    assert_eq!(world.load().config.servers[0].approval, Approval::Missing);
    world.write(PROJECT, "[servers.a]\ncomand = 'evil'\n");
    let error = approve::prepare(&world.surroundings, None).unwrap_err();
    assert!(matches!(error, ApproveError::Mistakes(_)));
    let elsewhere = World::new();
    assert!(matches!(approve::prepare(&elsewhere.surroundings, None), Err(ApproveError::NoProject)));
}
