//! What the commands show and change.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use gristmill_testkit::Home;
use serde_json::{Value, json};

use crate::support::gristmill;
use crate::world::names_in;

/// A home with a skill that has two versions.
fn home_with_versions(name: &str) -> Home {
    let home = Home::new(gristmill(), name);
    for (number, value) in [(1, "1"), (2, "2")] {
        let path = home.work().join("total_of.py");
        fs::write(&path, format!("'''Adds up, version {number}.'''\ndef total(): return {value}\n"))
            .expect("a file");
        home.ok(&["skills", "add", "total_of.py"]);
    }
    home
}

#[test]
fn commands_show_edit_and_bring_back() {
    let home = home_with_versions("skills-commands");
    let listed = home.ok(&["skills", "list"]);
    assert!(
        listed.starts_with(
            "total_of (v2): Adds up, version 2.\n    from skills.total_of import total; total()"
        ),
        "{listed}"
    );
    assert_eq!(home.ok(&["run", "-c", "from skills.total_of import total; total()"]).trim(), "2");
    let history = home.ok(&["skills", "history", "total_of"]);
    assert_eq!(history.lines().count(), 3, "a heading and two versions: {history}");
    assert!(history.contains("saved by local"), "{history}");
    home.ok(&["skills", "rollback", "total_of", "1"]);
    assert_eq!(home.ok(&["run", "-c", "from skills.total_of import total; total()"]).trim(), "1");
    let found = home.ok(&["tools", "search", "adds up"]);
    assert!(found.contains("from skills.total_of import total"), "{found}");

    // An editor that breaks the code: nothing is saved, and the edit is kept.
    let edited = |script: &str| {
        let editor = home.path().join("editor.sh");
        fs::write(&editor, format!("#!/bin/sh\n{script}\n")).expect("a file");
        let words = format!("sh {}", editor.display());
        home.command(&["skills", "edit", "total_of"])
            .env("EDITOR", words)
            .env_remove("VISUAL")
            .output()
            .expect("it runs")
    };
    let broken = edited("echo 'def (' >> \"$1\"");
    let said = String::from_utf8_lossy(&broken.stderr).into_owned();
    assert_eq!(broken.status.code(), Some(2), "{said}");
    assert!(said.contains("valid Python") && said.contains("your edit is in "), "{said}");
    let good = edited("echo 'def more(): return 7' >> \"$1\"");
    assert!(good.status.success(), "{}", String::from_utf8_lossy(&good.stderr));
    assert_eq!(home.ok(&["run", "-c", "from skills.total_of import more; more()"]).trim(), "7");

    home.ok(&["skills", "export", "out"]);
    home.ok(&["skills", "delete", "total_of"]);
    assert_eq!(home.run(&["skills", "show", "total_of"]).code, Some(2));
    let imported = home.ok(&["skills", "import", "out"]);
    assert!(imported.starts_with("saved total_of version 6"), "{imported}");
    assert!(home.ok(&["skills", "show", "total_of"]).contains("def more(): return 7"));
    let history = home.run(&["skills", "history", "total_of"]);
    assert_eq!(history.stdout.lines().count(), 7, "version 5 is the deletion: {}", history.stdout);
    assert_eq!(history.stderr, "", "hints are for terminals");
}

#[test]
fn tests_of_an_imported_skill_run_only_when_they_are_asked_for() {
    let home = Home::new(gristmill(), "skills-imported");
    let folder = home.work().join("theirs/their_sum");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("their_sum.py"), "def total(): return 1\n").expect("a file");
    fs::write(folder.join("test_their_sum.py"), "assert total() == 2\n").expect("a file");
    let imported = home.run(&["skills", "import", "theirs"]);
    assert!(imported.stdout.starts_with("saved their_sum version 1"), "{}", imported.stderr);
    assert!(
        imported.stderr.contains("not run") && imported.stderr.contains("gristmill skills test their_sum"),
        "{}",
        imported.stderr
    );
    let recorded = || {
        let listed: Value = serde_json::from_str(&home.ok(&["history", "--json"])).expect("JSON");
        listed.as_array().expect("a list").len()
    };
    assert_eq!(recorded(), 0);
    assert_eq!(home.run(&["skills", "test", "their_sum"]).code, Some(1), "now it ran, and failed");
    assert_eq!(recorded(), 1);
}

#[test]
fn a_projects_skill_cannot_be_imported_before_it_is_approved() {
    let home = Home::new(gristmill(), "skills-project");
    let folder = home.work().join(".gristmill/skills/site_rules");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("site_rules.py"), "def rules(): return 'theirs'\n").expect("a file");
    fs::write(folder.join("SKILL.md"), "---\nname: site_rules\ndescription: \"Rules\\u001b[2J\"\n---\n")
        .expect("a file");
    let program = ["run", "-c", "from skills.site_rules import rules; rules()"];
    assert_eq!(home.run(&program).code, Some(1));
    let listed = home.run(&["skills", "list"]);
    assert!(listed.stdout.contains("site_rules (needs approval)"), "{}", listed.stdout);
    assert!(
        !listed.stdout.contains('\u{1b}') && listed.stderr.contains("skills approve"),
        "{}",
        listed.stderr
    );
    assert!(home.run(&program).stderr.contains("gristmill skills approve site_rules"), "the program is told");
    let which = home.run(&["skills", "approve"]);
    assert_eq!(which.code, Some(2));
    assert!(
        which.stderr.contains("choose skills to approve: site_rules") && which.stderr.contains("--all"),
        "{}",
        which.stderr
    );
    home.ok(&["skills", "approve", "site_rules", "--yes"]);
    assert_eq!(home.ok(&program).trim(), "theirs");
    fs::write(folder.join("site_rules.py"), "def rules(): return 'changed'\n").expect("a file");
    assert_eq!(home.run(&program).code, Some(1), "it waits again");
    // Nobody is there to say yes: what changed is shown, and nothing is approved.
    let asked = home.run(&["skills", "approve", "--all"]);
    assert_eq!(asked.code, Some(2), "{}", asked.stderr);
    let changed = "- def rules(): return 'theirs'\n+ def rules(): return 'changed'";
    assert!(asked.stdout.contains(changed), "{}", asked.stdout);
    assert!(
        asked.stderr.contains("site_rules not approved") && asked.stderr.contains("--yes"),
        "{}",
        asked.stderr
    );
    assert_eq!(home.run(&program).code, Some(1), "it still waits");
    let edited = home.run(&["skills", "edit", "site_rules"]);
    assert!(edited.stderr.contains("isn't approved yet"), "{}", edited.stderr);
    // One that waits does not stand in the way of one's own.
    home.ok(&["run", "-c", "save_skill('site_rules', 'def rules(): return 1')"]);
    assert_eq!(home.ok(&program).trim(), "1");
    let theirs = fs::read_to_string(folder.join("site_rules.py")).expect("a file");
    assert_eq!(theirs, "def rules(): return 'changed'\n");
}

#[test]
fn a_projects_skill_does_not_hide_behind_the_users_own() {
    let home = home_with_versions("skills-both");
    let folder = home.work().join(".gristmill/skills/total_of");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("total_of.py"), "def total(): return 'theirs\u{202e}'\n").expect("a file");
    let both = home.run(&["skills", "show", "total_of"]);
    assert!(both.stdout.contains("=== total_of (user, usable) ==="), "{}", both.stdout);
    assert!(both.stdout.contains("=== total_of (project, needs approval) ==="), "{}", both.stdout);
    assert!(both.stdout.contains("return 'theirs\\u{202e}'"), "nothing is hidden: {}", both.stdout);
    assert!(both.stderr.contains("skills approve total_of"), "{}", both.stderr);
    let theirs = home.ok(&["skills", "show", "total_of", "--project", "--json"]);
    let theirs: Value = serde_json::from_str(&theirs).expect("JSON");
    assert_eq!((&theirs["place"], &theirs["state"]), (&json!("project"), &json!("waiting for approval")));
    let found = home.run(&["skills", "list", "adds up"]);
    assert!(found.stderr.contains("not searched: total_of"), "{}", found.stderr);
    let approved = home.ok(&["skills", "approve", "total_of", "--yes"]);
    assert!(
        approved.contains("total_of is new in this project") && approved.contains("theirs"),
        "{approved}"
    );
    let listed = home.ok(&["skills", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed).expect("JSON");
    let of = |state: &str| {
        let found = listed.as_array().expect("a list").iter().find(|one| one["state"] == json!(state));
        found.map(|one| one["place"].clone())
    };
    assert_eq!((of("usable"), of("hidden by the project's")), (Some(json!("project")), Some(json!("user"))));
    let deleted = home.run(&["skills", "remove", "total_of"]);
    assert_eq!(deleted.stdout, "removed total_of (project)\n");
    assert!(deleted.stderr.contains("your own total_of is used now"), "{}", deleted.stderr);
}

#[test]
fn a_skill_put_there_by_hand_says_what_it_is_for_and_what_is_wrong_with_it() {
    let home = Home::new(gristmill(), "skills-by-hand");
    home.ok(&["skills", "list"]);
    let counts = "'''Counts the words.'''\ndef count(text): return 1\n";
    for (name, code) in [("by_hand", counts), ("broken", "def f(:\n")] {
        let folder = home.path().join("data/skills").join(name);
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join(format!("{name}.py")), code).expect("a file");
    }
    let listed = home.ok(&["skills", "list"]);
    let told = "by_hand (v1): Counts the words.\n    from skills.by_hand import count";
    assert!(listed.contains(told), "{listed}");
    assert!(listed.contains("warning: can't be imported: it isn't valid Python"), "{listed}");
}

#[test]
fn an_edit_that_changes_nothing_leaves_nothing_behind() {
    let home = home_with_versions("skills-edit-nothing");
    fs::write(home.work().join("test_it.py"), "assert total() == 2\n").expect("a file");
    home.ok(&["skills", "add", "total_of.py", "--test", "test_it.py"]);
    let edited = |editor: &str| {
        let mut command = home.command(&["skills", "edit", "total_of"]);
        command.env("EDITOR", editor).env_remove("VISUAL").output().expect("it runs")
    };
    for (editor, code) in [("true", 0), ("false", 2), ("/no/such/editor", 2)] {
        assert_eq!(edited(editor).status.code(), Some(code), "{editor}");
        let left = names_in(&home.path().join("data"));
        assert!(!left.iter().any(|name| name.starts_with("editing-")), "{editor}: {left:?}");
    }
    let shown = edited("echo");
    assert!(String::from_utf8_lossy(&shown.stdout).contains("test_total_of.py"), "the test is edited, too");
}

#[test]
fn killed_at_any_moment_the_old_or_the_new_skill_is_there_whole() {
    let home = home_with_versions("skills-killed");
    let folder = home.path().join("data/skills");
    let contents = |version: &str| home.ok(&["skills", "show", "total_of", "--version", version, "--json"]);
    let code = |shown: String| {
        let shown: Value = serde_json::from_str(&shown).expect("JSON");
        shown["files"]["total_of.py"].as_str().expect("code").to_owned()
    };
    let whole = [code(contents("1")), code(contents("2"))];
    for round in 0..24_u64 {
        let version = if round % 2 == 0 { "1" } else { "2" };
        let mut child = home
            .command(&["skills", "rollback", "total_of", version])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        std::thread::sleep(Duration::from_millis(round * 4));
        let _ = child.kill();
        child.wait().expect("it ends");
        let found = fs::read_to_string(folder.join("total_of/total_of.py")).expect("it is there");
        assert!(whole.contains(&found), "round {round}: {found}");
        assert!(folder.join("total_of/SKILL.md").is_file(), "round {round}");
    }
    home.ok(&["skills", "rollback", "total_of", "1"]);
    assert_eq!(names_in(&folder), ["total_of"], "nothing is left behind");
    assert_eq!(home.ok(&["run", "-c", "from skills.total_of import total; total()"]).trim(), "1");
}
