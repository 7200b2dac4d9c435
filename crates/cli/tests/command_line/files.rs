//! What commands keep on disk: caches, engines, the configuration, backups.

use std::process::Stdio;

use gristmill_testkit::{Home, TestFolder};
use serde_json::json;

use crate::support::gristmill;
use crate::{command, gristmill_command, parsed, run, text};

#[test]
fn a_damaged_or_foreign_engine_file_is_made_again_and_never_trusted() {
    let good = run(&["setup"]);
    assert!(good.status.success(), "{}", text(&good.stderr));
    let path = text(&good.stdout).trim().rsplit_once(": ").unwrap().1.to_owned();
    let path = std::path::Path::new(&path);
    let cache = TestFolder::new("cache");
    let engines = cache.path().join("engines");
    std::fs::create_dir(&engines).unwrap();
    let copy = engines.join(path.file_name().unwrap());
    let mut bytes = std::fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&copy, &bytes).unwrap();
    let with_cache = |arguments: &[&str]| {
        gristmill_command()
            .args(arguments)
            .env("GRISTMILL_CACHE_DIR", cache.path())
            .stdin(Stdio::null())
            .output()
            .unwrap()
    };
    // One bit is wrong: the worker does not load it, and has it compiled again.
    let output = with_cache(&["run", "-c", "6 * 7"]);
    assert_eq!(text(&output.stdout), "42\n", "{}", text(&output.stderr));
    let names: Vec<_> = std::fs::read_dir(&engines).unwrap().map(|entry| entry.unwrap().path()).collect();
    let compiled: Vec<_> =
        names.iter().filter(|path| path.extension().is_some_and(|e| e == "cwasm")).collect();
    assert_eq!(compiled.len(), 1, "{names:?}");
    let hash = blake3::hash(&std::fs::read(compiled[0]).unwrap()).to_hex().to_string();
    assert!(compiled[0].to_str().unwrap().contains(&hash), "the file has the hash in its name");
    // The right bytes, but anyone may write them: not trusted either.
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(compiled[0], std::fs::Permissions::from_mode(0o666)).unwrap();
    let output = with_cache(&["setup"]);
    assert!(output.status.success());
    let mode = std::fs::metadata(compiled[0]).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o400);
}

#[test]
fn without_a_cache_setup_says_what_to_do_and_programs_run() {
    let folder = TestFolder::new("cache");
    let not_a_folder = folder.path().join("file");
    std::fs::write(&not_a_folder, "").unwrap();
    let with_cache = |arguments: &[&str]| {
        command(arguments).env("GRISTMILL_CACHE_DIR", &not_a_folder).stdin(Stdio::null()).output().unwrap()
    };
    let output = with_cache(&["setup"]);
    let said = text(&output.stderr);
    assert!(said.starts_with("error: can't unpack the Python engine to "), "{said}");
    assert!(said.contains("\nhint: set GRISTMILL_CACHE_DIR to a folder you can write to"), "{said}");
    assert_eq!(text(&with_cache(&["run", "-c", "6 * 7"]).stdout), "42\n");
}

#[test]
fn gateways_that_start_together_do_not_sweep_each_other_away() {
    let scratch = TestFolder::new("together");
    let children: Vec<_> = (0..24)
        .map(|n| {
            gristmill_command()
                .args(["run", "-c", &format!("print({n})")])
                .env("GRISTMILL_SCRATCH_DIR", scratch.path())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for (n, child) in children.into_iter().enumerate() {
        let output = child.wait_with_output().unwrap();
        assert_eq!(text(&output.stdout), format!("{n}\n"), "{}", text(&output.stderr));
    }
}

#[test]
fn the_cache_is_cleaned_without_touching_data() {
    let home = Home::new(gristmill(), "cache-clean");
    home.add_example("calculator");
    home.ok(&["run", "--session", "kept", "-c", "open('a', 'w').write('x')\nNone"]);
    home.ok(&["tools", "list"]);
    let cache = home.path().join("cache");
    assert!(cache.join("offers").read_dir().unwrap().count() > 0);
    let said = home.ok(&["cache", "clean"]);
    assert!(said.contains("freed ") && said.contains("tool lists of servers"), "{said}");
    assert_eq!(cache.join("offers").read_dir().unwrap().count(), 0);
    // A link leads to engines that belong to someone else.
    assert!(cache.join("engines").exists());
    assert_eq!(home.ok(&["workspace", "cat", "kept", "a"]), "x");
    assert_eq!(home.ok(&["cache", "clean"]), "nothing to clean\n");
    assert_eq!(home.ok(&["cache", "path"]).trim(), cache.to_str().unwrap());
}

#[test]
fn the_configuration_is_edited_in_an_editor_and_checked_first() {
    let home = Home::new(gristmill(), "config-edit");
    let edit = |script: &str| {
        let mut command = home.command(&["config", "edit"]);
        command.env_remove("VISUAL").env("EDITOR", script);
        let output = command.output().unwrap();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let write = |line: &str| format!("f() {{ printf '%s\\n' '{line}' > \"$1\"; }}; f");
    let (code, said, stderr) = edit(&write("level = \"hardened\""));
    assert_eq!(code, Some(0), "{stderr}");
    assert!(said.starts_with("saved "), "{said}");
    assert_eq!(std::fs::read_to_string(home.config_file()).unwrap(), "level = \"hardened\"\n");
    let (code, _, stderr) = edit(&write("levle = \"production\""));
    assert_eq!(code, Some(2));
    assert!(stderr.contains("did you mean `level`") && stderr.contains("was not changed"), "{stderr}");
    assert_eq!(std::fs::read_to_string(home.config_file()).unwrap(), "level = \"hardened\"\n");
    let (code, said, _) = edit("true");
    assert_eq!((code, said.as_str()), (Some(0), "no changes\n"));
    let schema = parsed(&home.ok(&["config", "schema"]));
    assert_eq!(schema["properties"]["level"]["default"], json!("production"));
}

#[test]
fn a_backup_restores_configuration_and_data_and_overwrites_nothing() {
    let home = Home::new(gristmill(), "backup");
    home.add_example("calculator");
    home.ok(&["run", "--session", "kept", "-c", "open('a.txt', 'w').write('kept')\nstate['n'] = 7"]);
    let ran = home.run(&["backup", "all.tar.gz"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "all.tar.gz\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("keep it private"), "{}", ran.stderr);
    assert_eq!(home.run(&["backup", "all.tar.gz"]).code, Some(2), "nothing is overwritten");
    let file = home.work().join("all.tar.gz");
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let refused = home.run(&["restore", "all.tar.gz"]);
    let path = |name: &str| home.path().join(name).display().to_string();
    let (data, config) = (path("data"), path("config/gristmill"));
    let says = format!(
        "{data} and {config} aren't empty, and restore overwrites nothing\n\
         hint: move them away first: mv {data} {data}.old && mv {config} {config}.old\n"
    );
    assert!(refused.code == Some(2) && refused.stderr.contains(&says), "{}", refused.stderr);
    std::fs::remove_dir_all(&config).unwrap();
    let refused = home.run(&["restore", "all.tar.gz"]);
    let says = format!("{data} isn't empty, and restore overwrites nothing\nhint: move it away first: ");
    assert!(refused.code == Some(2) && refused.stderr.contains(&says), "{}", refused.stderr);

    let other = Home::new(gristmill(), "restored");
    assert!(other.ok(&["restore", file.to_str().unwrap()]).starts_with("restored "));
    assert_eq!(other.ok(&["workspace", "cat", "kept", "a.txt"]), "kept");
    assert_eq!(other.ok(&["run", "--session", "kept", "-c", "state['n']"]), "7\n");
    assert!(other.ok(&["tools", "list"]).contains("evaluate"));
    let newest = |home: &Home| parsed(&home.ok(&["history", "--json"]))[0]["code"].take();
    assert_eq!(newest(&other), json!("state['n']"));
    let broken = other.work().join("broken.tar.gz");
    std::fs::write(&broken, "no archive").unwrap();
    assert_eq!(Home::new(gristmill(), "broken").run(&["restore", broken.to_str().unwrap()]).code, Some(2));
    // The checksum is at the end, behind everything that a reader of the files would look at.
    let mut bytes = std::fs::read(&file).unwrap();
    let checksum = bytes.len() - 8;
    bytes[checksum] ^= 1;
    let damaged = other.work().join("damaged.tar.gz");
    std::fs::write(&damaged, &bytes).unwrap();
    let into = Home::new(gristmill(), "damaged");
    let refused = into.run(&["restore", damaged.to_str().unwrap()]);
    assert!(refused.code == Some(2) && refused.stderr.contains("it's damaged"), "{}", refused.stderr);
    assert!(!into.path().join("data/gristmill.db").exists(), "nothing was put in place");
}
