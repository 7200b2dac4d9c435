//! Output beside what a document shows of it. `…` stands for any text in a line, and alone for any lines.

use std::path::Path;

/// Where a reader's configuration lies, as documents write it.
const SHOWN_CONFIG: &str = "/home/you/.config";
const SHOWN_HOME: &str = "/home/you";

/// Whether the output is as it is shown, but for times, handles, the home and the width of columns.
pub fn is_shown(shown: &str, printed: &str, home: &Path) -> bool {
    let shown: Vec<String> = shown.trim_end().lines().map(steady).collect();
    let printed = as_shown(printed, home);
    let printed: Vec<String> = printed.trim_end().lines().map(steady).collect();
    lines_match(&shown, &printed)
}

/// The output as a document shows it: with a reader's home.
pub fn as_shown(printed: &str, home: &Path) -> String {
    let home = home.to_string_lossy();
    printed.replace(&format!("{home}/config"), SHOWN_CONFIG).replace(home.as_ref(), SHOWN_HOME)
}

fn lines_match(shown: &[String], printed: &[String]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((first, rest)) if first.trim() == "…" => {
            (0..=printed.len()).any(|skipped| lines_match(rest, &printed[skipped..]))
        }
        Some((first, rest)) => printed
            .split_first()
            .is_some_and(|(line, left)| line_matches(first, line) && lines_match(rest, left)),
    }
}

fn line_matches(shown: &str, printed: &str) -> bool {
    let mut parts = shown.split('…');
    let Some(mut left) = parts.next().and_then(|first| printed.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return left.is_empty() };
    for part in between {
        match left.split_once(part) {
            Some((_, after)) => left = after,
            None => return false,
        }
    }
    left.ends_with(last)
}

/// A line without what differs from run to run.
fn steady(line: &str) -> String {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    for at in 0..words.len() {
        let is_time = words
            .get(at + 1)
            .is_some_and(|unit| ["ms", "s"].contains(&unit.trim_end_matches([',', ';', ')'])));
        if is_time && is_number(words[at]) {
            words[at] = "#";
        } else if is_handle(words[at]) {
            words[at] = "HANDLE";
        }
    }
    // What is indented says so: a program's lines are shown, too.
    let indent = line.len() - line.trim_start().len();
    " ".repeat(indent) + &words.join(" ")
}

fn is_number(word: &str) -> bool {
    let word = word.trim_start_matches('(');
    word.starts_with(|first: char| first.is_ascii_digit())
        && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.' || byte == b',')
}

fn is_handle(word: &str) -> bool {
    let word = word.trim_matches(|side: char| !side.is_ascii_alphanumeric());
    word.len() == 20 && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}
