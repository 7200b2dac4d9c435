//! One server changes, and nothing else.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use gristmill_gateway::domain::{SecretText, ServerSettings, Transport};

use super::super::by_hand::{Spot, Step};
use super::super::edit::{self, Change, Done, EditError, edit};
use super::{World, http, stdio};

fn new_server() -> ServerSettings {
    let mut server = stdio("new", "npx");
    if let Transport::Stdio { args, env, .. } = &mut server.transport {
        args.extend([SecretText::plain("-y"), SecretText::plain("a \"b\" #c: d")]);
        env.insert("TOKEN".to_owned(), SecretText::parse("${TOKEN}").unwrap());
    }
    server.limits.call_ms = 90_000;
    server
}

fn put(path: &Path, server: &ServerSettings) -> Result<Done, EditError> {
    edit(path, Change::Put { server, replace: false }, None).map(|edited| edited.done)
}

fn replace(path: &Path, server: &ServerSettings) -> Result<Done, EditError> {
    edit(path, Change::Put { server, replace: true }, None).map(|edited| edited.done)
}

fn remove(path: &Path, name: &str) -> Result<Done, EditError> {
    edit(path, Change::Remove { name }, None).map(|edited| edited.done)
}

/// Adds, replaces and removes in a file, and shows it after each.
fn story(name: &str, before: &str) -> [String; 3] {
    let world = World::new();
    let path = world.write(name, before);
    let read = || fs::read_to_string(&path).unwrap();
    assert_eq!(put(&path, &new_server()).unwrap(), Done::Added);
    let added = read();
    assert!(matches!(put(&path, &new_server()), Err(EditError::Exists { .. })));
    assert_eq!(read(), added);
    assert_eq!(replace(&path, &stdio("old", "other")).unwrap(), Done::Replaced);
    let replaced = read();
    assert_eq!(remove(&path, "old").unwrap(), Done::Removed);
    [added, replaced, read()]
}

#[test]
fn toml_keeps_its_comments_and_its_order() {
    let before = "# mine\nlevel = \"hardened\" # safe\n\n# about all servers\n\n# the old one\n[servers.old]\ncommand = \"old\" # why\n\n# web\n[servers.web]\nurl   =   'https://x'\n# end\n";
    let [added, replaced, removed] = story("gristmill.toml", before);
    let new = "\n[servers.new]\ncommand = \"npx\"\nargs = [\"-y\", 'a \"b\" #c: d']\nenv = { TOKEN = \"${TOKEN}\" }\nlimits = { call = \"90s\" }\n";
    assert_eq!(added, format!("{}{new}# end\n", before.trim_end_matches("# end\n")));
    assert_eq!(replaced, added.replace("command = \"old\" # why", "command = \"other\""));
    assert_eq!(removed, replaced.replace("\n# the old one\n[servers.old]\ncommand = \"other\"\n", ""));
}

#[test]
fn json_keeps_its_comments_and_its_order() {
    let before = "{\n  // mine\n  \"level\": \"hardened\",\n  \"mcpServers\": {\n    // the old one\n    \"old\": {\"command\": \"old\"},\n    \"web\": {\"url\": \"https://x\"}, // web\n  },\n}\n";
    let [added, replaced, removed] = story("gristmill.json", before);
    let new = "    \"new\": {\n      \"command\": \"npx\",\n      \"args\": [\"-y\", \"a \\\"b\\\" #c: d\"],\n      \"env\": {\n        \"TOKEN\": \"${TOKEN}\",\n      },\n      \"limits\": {\n        \"call\": \"90s\",\n      },\n    },\n";
    assert_eq!(added, before.replace("// web\n", &format!("// web\n{new}")));
    let other = "{\n      \"command\": \"other\"\n    }";
    assert_eq!(replaced, added.replace("{\"command\": \"old\"}", other));
    // In JSON nobody can tell whom a comment belongs to, so it stays.
    assert_eq!(removed, replaced.replace(&format!("    \"old\": {other},\n"), ""));
}

/// What is to be done by hand: the words, and the text to paste.
fn steps(outcome: Result<Done, EditError>) -> Vec<(String, Option<String>)> {
    let Err(EditError::ByHand(by_hand)) = outcome else { panic!("{outcome:?}") };
    let step = |step: &Step| (step.instruction(), step.text().map(str::to_owned));
    by_hand.steps.iter().map(step).collect()
}

#[test]
fn yaml_is_left_alone_and_its_owner_is_told_what_to_write() {
    let before = "# mine\nlevel: hardened # safe\nservers: # all\n    # the old one\n    old:\n        command: old # why\n";
    let world = World::new();
    let path = world.write("gristmill.yaml", before);
    let new = "    new:\n      command: \"npx\"\n      args: [\"-y\", \"a \\\"b\\\" #c: d\"]\n      env:\n        TOKEN: \"${TOKEN}\"\n      limits:\n        call: \"90s\"\n";
    let added = (String::from("add this below `servers:` (line 3):"), Some(new.to_owned()));
    assert_eq!(steps(put(&path, &new_server())), [added]);
    let replaced = (
        String::from("put this in place of `old` (line 5):"),
        Some("    old:\n      command: \"other\"\n".to_owned()),
    );
    assert_eq!(steps(replace(&path, &stdio("old", "other"))), [replaced]);
    assert_eq!(steps(remove(&path, "old")), [(String::from("delete `old` (line 5)"), None)]);
    assert!(matches!(put(&path, &stdio("old", "other")), Err(EditError::Exists { .. })));
    assert!(matches!(remove(&path, "odl"), Err(EditError::NotThere { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
    // Pasted as it is said, it is the server that was meant.
    assert_eq!(
        super::servers("gristmill.yaml", &format!("{before}{new}")),
        [stdio("old", "old"), new_server()]
    );
}

#[test]
fn yaml_without_servers_or_without_a_file_gets_the_whole_table() {
    let world = World::new();
    for (name, before) in [("a.yaml", Some("level: hardened\n")), ("b.yml", None)] {
        let path = world.path(name);
        if let Some(before) = before {
            world.write(name, before);
        }
        let outcome = put(&path, &stdio("a", "x"));
        let said = outcome.as_ref().unwrap_err().to_string();
        let table = "servers:\n  a:\n    command: \"x\"\n";
        assert_eq!(
            said,
            format!(
                "{} was not changed: Gristmill reads YAML, but does not edit it\nadd this:\n{}",
                path.display(),
                table.trim_end()
            )
        );
        assert_eq!(steps(outcome), [("add this:".to_owned(), Some(table.to_owned()))]);
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), before);
    }
}

#[test]
fn several_servers_for_yaml_are_one_text() {
    let world = World::new();
    let path = world.write("gristmill.yaml", "servers: {}\n");
    let by_hand = edit::by_hand(&path, &[&stdio("a", "x"), &http("b", "https://x")], None).unwrap();
    let below = Some(Spot { key: "servers".to_owned(), line: 1 });
    let text = "  a:\n    command: \"x\"\n  b:\n    url: \"https://x\"\n".to_owned();
    assert_eq!(by_hand.steps, [Step::Add { below, text }]);
}

#[test]
fn a_missing_file_is_made_for_its_owner_only() {
    for (name, expected) in [
        ("deep/er/gristmill.toml", "[servers.a]\ncommand = \"x\"\n"),
        (
            "deep/er/gristmill.json",
            "{\n  \"servers\": {\n    \"a\": {\n      \"command\": \"x\"\n    }\n  }\n}\n",
        ),
        (
            "deep/er/.mcp.json",
            "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"x\"\n    }\n  }\n}\n",
        ),
    ] {
        let world = World::new();
        let path = world.path(name);
        assert_eq!(put(&path, &stdio("a", "x")).unwrap(), Done::Created);
        assert_eq!(fs::read_to_string(&path).unwrap(), expected);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(world.path("deep")).unwrap().permissions().mode() & 0o777, 0o700);
        let beside: Vec<_> = fs::read_dir(world.path("deep/er")).unwrap().collect();
        assert_eq!(beside.len(), 1, "{beside:?}");
    }
}

#[test]
fn the_last_server_can_go_and_another_can_come() {
    for name in ["gristmill.toml", "gristmill.json"] {
        let world = World::new();
        let path = world.path(name);
        for _ in 0..2 {
            put(&path, &new_server()).unwrap();
            remove(&path, "new").unwrap();
        }
        put(&path, &new_server()).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(super::servers(name, &text), [new_server()], "{text}");
    }
}

#[test]
fn empty_blocks_of_every_kind_are_filled() {
    for (name, before) in [
        ("gristmill.toml", "[servers]\n"),
        ("gristmill.toml", "servers = {}\n"),
        ("gristmill.toml", "servers.x.command = 'y'\n"),
        ("gristmill.toml", "level = 'hardened'"),
        ("gristmill.json", "{\"servers\": {}}"),
        ("gristmill.json", "{\"servers\": null}"),
        ("gristmill.json", "// hello\n"),
        ("gristmill.json", "{}"),
    ] {
        let world = World::new();
        let path = world.write(name, before);
        assert_eq!(put(&path, &new_server()).unwrap(), Done::Added, "{before}");
        let text = fs::read_to_string(&path).unwrap();
        assert!(super::servers(name, &text).contains(&new_server()), "{text}");
    }
}

#[test]
fn line_ends_and_the_byte_order_mark_stay() {
    for (name, before) in [
        ("gristmill.toml", "[servers.a]\r\ncommand = 'x'\r\n"),
        ("gristmill.json", "{\r\n  \"servers\": {\r\n    \"a\": {\"command\": \"x\"}\r\n  }\r\n}\r\n"),
    ] {
        let world = World::new();
        let path = world.write(name, &format!("\u{feff}{before}"));
        put(&path, &new_server()).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with('\u{feff}'));
        assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{text:?}");
        assert_eq!(super::servers(name, &text), [stdio("a", "x"), new_server()]);
    }
}

#[test]
fn what_cannot_be_changed_safely_is_left_alone() {
    let world = World::new();
    let path = world.write("gristmill.toml", "servers = [1]\n");
    assert!(matches!(put(&path, &new_server()), Err(EditError::NotSafe { .. })));
    let path = world.write("broken.toml", "[servers\n");
    let error = put(&path, &new_server()).unwrap_err().to_string();
    assert!(error.contains("broken.toml:1: can't be parsed"), "{error}");
}

#[test]
fn a_server_that_is_not_there_cannot_be_removed() {
    let world = World::new();
    let path = world.write("gristmill.toml", "[servers.github]\ncommand = 'x'\n");
    let error = remove(&path, "gihub").unwrap_err().to_string();
    assert!(error.ends_with("has no server `gihub` (did you mean `github`?)"), "{error}");
}

#[test]
fn a_server_that_would_not_be_read_again_is_not_written() {
    let world = World::new();
    let path = world.path("gristmill.toml");
    assert!(matches!(put(&path, &stdio("a/b", "x")), Err(EditError::BadServer(_))));
    assert!(matches!(put(&path, &http("a", "ftp://x")), Err(EditError::BadServer(_))));
    assert!(!path.exists());
}

/// They mean something in one of the formats.
const ODD_NAMES: [&str; 11] = ["true", "null", "12", "a b", "größe", "quo\"te", "x: y", "#x", "no", "-", "'"];

#[test]
fn names_that_mean_something_in_a_format_stay_names() {
    for format in ["gristmill.toml", "gristmill.json"] {
        for name in ODD_NAMES {
            let world = World::new();
            let path = world.path(format);
            put(&path, &stdio("first", "x")).unwrap();
            put(&path, &stdio(name, "${X}")).unwrap();
            put(&path, &http("last", "https://x")).unwrap();
            remove(&path, "first").unwrap();
            let text = fs::read_to_string(&path).unwrap();
            assert_eq!(
                super::servers(format, &text),
                [stdio(name, "${X}"), http("last", "https://x")],
                "{text}"
            );
        }
    }
}

#[test]
fn names_that_mean_something_in_yaml_stay_names_when_pasted() {
    for name in ODD_NAMES {
        let path = World::new().path("gristmill.yaml");
        let text = steps(put(&path, &stdio(name, "${X}"))).remove(0).1.unwrap();
        assert_eq!(super::servers("gristmill.yaml", &text), [stdio(name, "${X}")], "{text}");
    }
}

#[test]
fn a_link_stays_a_link() {
    let world = World::new();
    let real = world.write("dotfiles/g.toml", "");
    let link = world.path("home/gristmill.toml");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    put(&link, &stdio("a", "x")).unwrap();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), "[servers.a]\ncommand = \"x\"\n");
    let dangling = world.path("home/other.toml");
    std::os::unix::fs::symlink("nowhere/at/all", &dangling).unwrap();
    assert!(matches!(put(&dangling, &stdio("a", "x")), Err(EditError::Write(_))));
}

#[test]
fn a_file_keeps_its_mode_and_a_failure_leaves_nothing_behind() {
    let world = World::new();
    let path = world.write("home/gristmill.toml", "");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    put(&path, &stdio("a", "x")).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    // A folder where the file should be: writing fails for every user, root included.
    let folder = world.path("home/folder.toml");
    fs::create_dir(&folder).unwrap();
    assert!(matches!(put(&folder, &stdio("a", "x")), Err(EditError::Read { .. })));
    let below_a_file = path.join("gristmill.toml");
    let error = put(&below_a_file, &stdio("a", "x")).unwrap_err();
    assert!(matches!(error, EditError::Write(_)), "{error}");
    let names: Vec<_> = fs::read_dir(world.path("home")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().ends_with(".new")), "{names:?}");
}

#[test]
fn a_read_only_folder_is_told_of() {
    let world = World::new();
    let path = world.write("locked/gristmill.toml", "");
    fs::set_permissions(world.path("locked"), fs::Permissions::from_mode(0o500)).unwrap();
    let outcome = put(&path, &stdio("a", "x"));
    fs::set_permissions(world.path("locked"), fs::Permissions::from_mode(0o700)).unwrap();
    // Root may write anywhere; then the file is simply changed.
    match outcome {
        Ok(done) => assert_eq!((done, rustix::process::geteuid().is_root()), (Done::Added, true)),
        Err(error) => {
            assert!(error.to_string().contains("can't be written"), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), "");
        }
    }
}
