//! The commands that show and change a configuration.

use std::fs;
use std::path::Path;

use crate::commands::add::{Add, AddError, Scope, Target, add};
use crate::commands::add_json::{AddJson, add_json};
use crate::commands::approve::{self, ApproveError};
use crate::commands::remove::{RemoveError, Secrets, remove};
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
        sandbox: false,
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
    assert_eq!(report.hints.len(), 1);
    assert!(report.hints[0].starts_with("API_TOKEN is stored as plain text"));
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
    assert!(error(local("none", &[])).starts_with("the command goes after `--`"));
    assert!(error(Add { env: vec!["X".to_owned()], ..local("x", &["y"]) }).starts_with("`--env` must be"));
    assert!(
        error(Add { headers: vec!["X".to_owned()], ..local("x", &["y"]) }).starts_with("`--header` must be")
    );
    let bad = Add { target: Target::Url("x.example.com".to_owned()), ..local("bad", &[]) };
    assert_eq!(
        error(bad),
        "the configuration has an error:\n  `bad.url` must start with `http://` or `https://`"
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
    assert_eq!(report.hints.len(), 2);
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
    remove(&world.surroundings, "a", None, Secrets::Keep).unwrap();
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
    let error = |name| remove(&world.surroundings, name, None, Secrets::Keep).unwrap_err();
    assert!(matches!(error("both"), RemoveError::InTwoFiles { .. }));
    assert_eq!(
        error("mien").to_string(),
        "no server `mien` (did you mean `mine`?); `gristmill list` shows your servers"
    );
    remove(&world.surroundings, "mine", None, Secrets::Keep).unwrap();
    remove(&world.surroundings, "both", Some(&Scope::User), Secrets::Keep).unwrap();
    remove(&world.surroundings, "both", Some(&Scope::Project), Secrets::Keep).unwrap();
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
        .user("[servers.a]\ncomand = 'x'\n[servers.b]\nurl = 'https://x.example/mcp'\ntrust = true\n")
        .project("[servers.c]\ncommand = 'x'\n");
    let checked = check::check(&world.load(), &world.surroundings);
    let text = short(&world, &checked.text);
    let lines: Vec<&str> = text.lines().collect();
    assert!(!checked.is_usable);
    assert_eq!(lines.len(), 5);
    assert!(lines[0].starts_with(&format!("error: /{USER}:1: `servers.a` needs either")));
    assert!(lines[1].starts_with(&format!("error: /{USER}:2: `servers.a.comand` unknown key")));
    assert!(lines[2].starts_with(&format!("warning: /{PROJECT} is a project file you haven't approved")));
    assert!(lines[3].starts_with(&format!("note: /{USER}:5: `servers.b.trust`")));
    assert_eq!(lines[4], "2 files read, 2 servers, 1 in use; 2 errors, 1 warning");
    assert_eq!(checked.json["problems"][1]["line"], 2);
    let empty = World::new();
    assert!(check::check(&empty.load(), &empty.surroundings).is_usable);
}

#[test]
fn check_names_the_server_the_field_and_what_to_do_about_unset_variables_and_missing_commands() {
    let world = World::new().user(
        "[servers.web]\nurl = 'https://${HOST}/mcp'\nheaders = { Authorization = 'Bearer ${TOKEN}', X = '${SET}' }\n\
         [servers.local]\ncommand = 'no-such-program'\nargs = ['${WITH:-default}']\n\
         [servers.path]\ncommand = '/nowhere/server'\n\
         [servers.off]\ncommand = 'no-such-program'\nenabled = false\n",
    );
    world.write("home/.config/gristmill/.env", "SET=1\n");
    let checked = check::check(&world.load(), &world.surroundings);
    assert!(!checked.is_usable);
    let env = "/home/.config/gristmill/.env";
    let mut lines: Vec<String> = short(&world, &checked.text).lines().map(str::to_owned).collect();
    assert_eq!(lines.pop().as_deref(), Some("1 file read, 4 servers, 3 in use; 4 errors, 0 warnings"));
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            format!(
                "error: /{USER}:1: `servers.web.headers.Authorization` needs the variable `TOKEN`, which isn't set; add `TOKEN=…` to {env}, or set it in the environment"
            ),
            format!(
                "error: /{USER}:1: `servers.web.url` needs the variable `HOST`, which isn't set; add `HOST=…` to {env}, or set it in the environment"
            ),
            format!(
                "error: /{USER}:4: `servers.local.command` runs `no-such-program`, which isn't on PATH; install it, or give its full path"
            ),
            format!(
                "error: /{USER}:7: `servers.path.command` runs `/nowhere/server`, which doesn't exist; fix the path"
            ),
        ]
    );
}

#[test]
fn a_removed_server_leaves_its_secrets_or_takes_them_along() {
    let servers = "[servers.one]\ncommand = 'x'\nenv = { A = '${ONE_TOKEN}', B = '${SHARED}' }\n\
                   [servers.two]\ncommand = 'x'\nenv = { B = '${SHARED}' }\n";
    let secrets = "# mine\nONE_TOKEN=s3cret\nSHARED=both\n";
    let env = "home/.config/gristmill/.env";
    let world = World::new().user(servers);
    world.write(env, secrets);
    let report = remove(&world.surroundings, "one", None, Secrets::Keep).unwrap();
    let text = short(&world, &report.text);
    assert!(text.ends_with(&format!("\nstill in /{env}, and no longer used: ONE_TOKEN")), "{text}");
    assert!(report.hints[0].contains("--purge") && !text.contains("s3cret"), "{:?}", report.hints);
    assert_eq!(read(&world, env), secrets);
    let world = World::new().user(servers);
    world.write(env, secrets);
    let report = remove(&world.surroundings, "one", None, Secrets::Purge).unwrap();
    let text = short(&world, &report.text);
    assert!(text.ends_with(&format!("\nremoved ONE_TOKEN from /{env}")), "{text}");
    assert_eq!(read(&world, env), "# mine\nSHARED=both\n");
    let report = remove(&world.surroundings, "two", None, Secrets::Purge).unwrap();
    assert_eq!((read(&world, env).as_str(), report.hints.len()), ("# mine\n", 0));
}

const ONE: &str = "[servers.one]\ncommand = 'x'\nenv = { A = '${ONE}' }\n";

#[test]
fn purge_does_not_write_through_a_link() {
    let world = World::new().user(ONE);
    let real = world.write("home/app/.env", "ONE=1\nTWO=2\n");
    let env = "home/.config/gristmill/.env";
    std::os::unix::fs::symlink(&real, world.path(env)).unwrap();
    let report = remove(&world.surroundings, "one", None, Secrets::Purge).unwrap();
    let text = short(&world, &report.text);
    assert!(text.ends_with(&format!("\nstill in /{env}, and no longer used: ONE")), "{text}");
    let hints: Vec<String> = report.hints.iter().map(|hint| short(&world, hint)).collect();
    let expected =
        format!("/{env} is a symbolic link, and what it points to may be used by others; delete ONE by hand");
    assert_eq!(hints, [expected]);
    assert_eq!(read(&world, "home/app/.env"), "ONE=1\nTWO=2\n");
    assert!(world.path(env).symlink_metadata().unwrap().is_symlink());
}

#[test]
fn purge_changes_nothing_in_an_env_file_with_a_value_of_several_lines() {
    let secrets = "MULTI=\"a\nONE=inside\nb\"\n";
    let world = World::new().user(ONE).file("home/.config/gristmill/.env", secrets);
    let report = remove(&world.surroundings, "one", None, Secrets::Purge).unwrap();
    assert_eq!(report.hints.len(), 1);
    let hint = &report.hints[0];
    assert!(hint.contains("wasn't changed") && hint.ends_with("; delete ONE by hand"), "{hint}");
    assert_eq!(read(&world, "home/.config/gristmill/.env"), secrets);
    assert!(!read(&world, USER).contains("one"));
}

#[test]
fn purge_only_names_the_variables_in_a_projects_env_file() {
    let named = Scope::File("gristmill.toml".into());
    for scope in [None, Some(Scope::Project), Some(named)] {
        for secrets in [Secrets::Purge, Secrets::Keep] {
            let world = World::new().project(ONE).file("home/project/.env", "ONE=1\nTWO=2\n");
            let report = remove(&world.surroundings, "one", scope.as_ref(), secrets).unwrap();
            let text = short(&world, &report.text);
            assert!(text.ends_with("\nstill in /home/project/.env, and no longer used: ONE"), "{text}");
            assert_eq!(report.hints, ["the project's .env may be used by others; delete ONE by hand"]);
            assert_eq!(read(&world, "home/project/.env"), "ONE=1\nTWO=2\n");
            assert!(!read(&world, PROJECT).contains("one"));
        }
    }
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
            "# /{PROJECT}:2\n[servers.a]\ncommand = \"a\"\nenv = {{ NODE_OPTIONS = \"-r evil\" }}\n# runs: a\n# in: /home/project\n\n# /{PROJECT}:1\nlevel = \"hardened\"\n# variables from /home/project/.env\n"
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
