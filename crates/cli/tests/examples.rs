//! The examples, as a person runs them: the commands of each README in a shell, from the root of the
//! repository, and everything that they print.

mod support;

use std::path::{Path, PathBuf};

use gristmill_testkit::{Home, Ran};
use support::gristmill;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// What stands between the shell's fences of an example's README.
fn commands(folder: &Path) -> String {
    let text = std::fs::read_to_string(folder.join("README.md")).expect("a README");
    let (_, after) = text.split_once("```sh\n").expect("commands");
    let (commands, _) = after.split_once("```").expect("an end of the commands");
    commands.to_owned()
}

fn check(name: &str) {
    let home = Home::new(gristmill(), name);
    let folder = repository().join("examples").join(name);
    let ran = home.shell(&commands(&folder)).current_dir(repository()).output().expect("a shell");
    let ran = Ran::of(ran);
    assert_eq!(ran.code, Some(0), "{name}\n{}\n{}", ran.stdout, ran.stderr);
    let printed = steady(&ran.stdout);
    let path = folder.join("expected.txt");
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(&path, &printed).expect("a file");
    }
    let expected = std::fs::read_to_string(&path).expect("what it prints");
    assert_eq!(printed, expected, "{name}\n{}", ran.stderr);
}

/// What differs from run to run by its name: handles of sessions, and times.
fn steady(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let mut shown: Vec<&str> = Vec::new();
        for word in line.split(' ') {
            if is_handle(word) {
                shown.push("(HANDLE):");
            } else if is_time(word)
                && let Some(day) = shown.last_mut()
            {
                *day = "YYYY-MM-DD";
                shown.push("HH:MM");
            } else {
                shown.push(word);
            }
        }
        shown.join(" ") + "\n"
    });
    lines.collect()
}

fn is_handle(word: &str) -> bool {
    let handle = word.strip_prefix('(').and_then(|rest| rest.strip_suffix("):"));
    handle.is_some_and(|handle| handle.len() == 20 && handle.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

fn is_time(word: &str) -> bool {
    let parts = word.split_once(':');
    let two = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    parts.is_some_and(|(hours, minutes)| two(hours) && two(minutes))
}

#[test]
fn a_tool_is_called_as_a_function() {
    check("01-basic-tool-call");
}

#[test]
fn what_one_server_answers_goes_into_another() {
    check("02-multi-tool-chain");
}

#[test]
fn ten_thousand_rows_become_three_lines() {
    check("03-data-filtering");
}

#[test]
fn programs_loop_decide_retry_and_call_many_at_once() {
    check("04-control-flow");
}

#[test]
fn the_next_program_of_a_session_finds_files_and_state() {
    check("05-state-persistence");
}

#[test]
fn a_skill_is_saved_once_and_imported_later() {
    check("06-skills");
}

#[test]
fn tools_are_browsed_and_a_workspace_is_filled() {
    check("07-file-system");
}

#[test]
fn a_session_goes_on_by_its_name_and_a_stranger_sees_only_the_skill() {
    check("08-cross-session");
}

#[test]
fn a_table_is_analysed_in_a_program_and_at_a_terminal() {
    check("09-analysis");
}

#[test]
fn typescript_has_types_errors_and_many_calls_at_once() {
    check("10-typescript");
}

#[test]
fn a_module_in_typescript_is_saved_once_and_imported_later() {
    check("11-typescript-skills");
}

#[test]
fn programs_of_both_languages_share_a_session() {
    check("12-two-languages");
}

#[test]
fn every_example_is_listed_and_tested() {
    let examples = repository().join("examples");
    let listed = std::fs::read_to_string(examples.join("README.md")).expect("a README");
    let tested = include_str!("examples.rs");
    let mut count = 0;
    for entry in std::fs::read_dir(&examples).expect("examples").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            assert!(listed.contains(&format!("[{name}]({name})")), "{name} is not in examples/README.md");
            assert!(tested.contains(&format!("check(\"{name}\")")), "{name} has no test");
            count += 1;
        }
    }
    assert_eq!(count, 12);
}
