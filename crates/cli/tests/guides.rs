//! `gristmill help`: commands, and the guides of docs/ by topic.

mod support;

use std::path::Path;

use gristmill_testkit::Home;
use support::gristmill;

/// Names of the pages that are guides, from the folders themselves.
fn names() -> Vec<String> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut names: Vec<String> = [docs.clone(), docs.join("how-to")]
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).expect("a folder"))
        .map(|entry| entry.expect("a page").file_name().into_string().expect("a name"))
        .filter_map(|name| name.strip_suffix(".md").map(str::to_owned))
        .filter(|name| name != "README")
        .collect();
    names.sort();
    names
}

#[test]
fn help_alone_lists_commands_and_every_topic() {
    let home = Home::new(gristmill(), "help-list");
    let listed = home.ok(&["help"]);
    assert!(listed.starts_with(&home.ok(&["--help"])), "{listed}");
    let (_, topics) = listed.split_once("\nTopics:\n").expect("topics");
    let shown: Vec<&str> = topics
        .lines()
        .take_while(|line| !line.is_empty())
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(shown, names());
}

#[test]
fn every_guide_is_shown_as_plain_text_in_a_pipe() {
    let home = Home::new(gristmill(), "help-guides");
    for name in names() {
        let page = home.ok(&["help", "--guide", &name]);
        let mut lines = page.lines();
        let title = lines.next().unwrap_or_default();
        assert_eq!(lines.next(), Some("=".repeat(title.chars().count()).as_str()), "{name}");
        assert!(!page.contains('\x1b') && !page.contains("\n<!--"), "{name}\n{page}");
        // Code is left as it is, and a long word has a line of its own.
        let is_long = |line: &&str| line.chars().count() > 100 && !line.starts_with("    ");
        let long: Vec<&str> = page.lines().filter(is_long).filter(|line| line.trim().contains(' ')).collect();
        assert_eq!(long, Vec::<&str>::new(), "{name}");
    }
}

#[test]
fn a_command_comes_before_a_guide_of_the_same_name() {
    let home = Home::new(gristmill(), "help-commands");
    assert_eq!(home.ok(&["help", "run"]), home.ok(&["run", "--help"]));
    assert_eq!(home.ok(&["help", "token", "new"]), home.ok(&["token", "new", "--help"]));
    let policy = home.ok(&["help", "policy"]);
    assert!(policy.starts_with(&home.ok(&["policy", "--help"])), "{policy}");
    assert!(policy.ends_with("There's a guide, too: gristmill help --guide policy\n"), "{policy}");
    assert!(home.ok(&["help", "--guide", "policy"]).starts_with("Policy: who may call what\n====="));
    assert!(
        home.ok(&["help", "tutorial"]).contains("\n=====") && home.ok(&["help", "tutorial.md"]).len() > 1000
    );
}

#[test]
fn a_topic_that_is_not_there_names_the_closest() {
    let home = Home::new(gristmill(), "help-unknown");
    let ran = home.run(&["help", "tutorail"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stdout);
    assert!(
        ran.stderr.contains("no command or topic `tutorail`; the closest are: tutorial"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("hint: `gristmill help` lists"), "{}", ran.stderr);
    let ran = home.run(&["help", "token", "nwe"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("`token nwe`"), "{}", ran.stderr);
}
