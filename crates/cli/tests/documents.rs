//! The pages that a newcomer follows, as a newcomer follows them: every file that they say to save, every
//! command in order, and what it prints. In a page, a fence such as `python NAME.py` is a file, a fence
//! `console` holds commands after `$ ` with their output. `…` in an output stands for the rest of its line, or alone for any
//! lines. `UPDATE_EXPECTED=1` writes what is printed into the page.

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gristmill_testkit::{Home, Ran};
use support::gristmill;

#[test]
fn the_first_server_and_program_of_the_readme_work_as_shown() {
    follow("README.md");
}

#[test]
fn the_tutorial_works_as_shown() {
    follow("docs/tutorial.md");
}

#[test]
fn programs_run_as_their_page_shows() {
    follow("docs/running.md");
}

#[test]
fn servers_are_added_searched_and_called_as_their_page_shows() {
    follow("docs/servers.md");
}

#[test]
fn secrets_are_kept_as_their_page_shows() {
    follow("docs/how-to/secrets.md");
}

#[test]
fn local_files_are_read_as_their_page_shows() {
    follow("docs/how-to/local-csv.md");
}

#[test]
fn a_backup_brings_everything_back_as_its_page_shows() {
    follow("docs/how-to/backup-and-restore.md");
}

#[test]
fn every_page_with_commands_and_output_is_tested() {
    let tested = include_str!("documents.rs");
    let mut count = 0;
    for folder in ["", "docs", "docs/how-to"] {
        for entry in std::fs::read_dir(repository().join(folder)).expect("a folder").flatten() {
            let page = Path::new(folder).join(entry.file_name());
            let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
            if page.extension().is_some_and(|end| end == "md") && text.contains("\n```console\n") {
                assert!(tested.contains(&format!("follow(\"{}\")", page.display())), "{}", page.display());
                count += 1;
            }
        }
    }
    assert_eq!(count, 7);
}

/// A newcomer with a page.
struct Reader {
    home: Home,
    /// Handles in the page, and what they are here.
    handles: Vec<(String, String)>,
    differences: Vec<String>,
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn follow(page: &str) {
    let path = repository().join(page);
    let text = std::fs::read_to_string(&path).expect("a page");
    let home = Home::new(gristmill(), "documents");
    let mut reader = Reader { home, handles: Vec::new(), differences: Vec::new() };
    let followed = reader.follow(&text);
    assert!(followed.contains("\n$ "), "{page} has no commands");
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(&path, followed).expect("a page");
    } else {
        assert!(reader.differences.is_empty(), "{page}\n{}", reader.differences.join("\n\n"));
    }
}

impl Reader {
    /// Gives the page back with what was really printed, where that differs.
    fn follow(&mut self, page: &str) -> String {
        let mut followed = String::new();
        let mut lines = page.lines();
        while let Some(line) = lines.next() {
            followed += &format!("{line}\n");
            let is_console = line == "```console";
            let file = file_name(line);
            if !is_console && file.is_none() {
                continue;
            }
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            if let Some(name) = file {
                std::fs::write(self.home.work().join(name), body.join("\n") + "\n").expect("a file");
                followed += &(body.join("\n") + "\n");
            } else {
                followed += &self.commands(&body);
            }
            followed += "```\n";
        }
        followed
    }

    fn commands(&mut self, body: &[&str]) -> String {
        let mut followed = String::new();
        let mut rest = body;
        while let Some((line, after)) = rest.split_first() {
            let command = line.strip_prefix("$ ").expect("a command");
            let count = after.iter().take_while(|line| !line.starts_with("$ ")).count();
            let (expected, next) = after.split_at(count);
            followed += &format!("$ {command}\n{}", self.command(command, expected));
            rest = next;
        }
        followed
    }

    /// Runs one, and gives the output that belongs into the page.
    fn command(&mut self, command: &str, expected: &[&str]) -> String {
        let real =
            self.handles.iter().fold(command.to_owned(), |text, (page, here)| text.replace(page, here));
        let ran = self.run(&real);
        let printed = self.as_in_the_page(&ran.stdout, &expected.join("\n"));
        let is_shown_to_fail = printed.contains("error");
        assert!(ran.code == Some(0) || is_shown_to_fail, "{command}\n{printed}");
        let kept: Vec<&str> = printed.lines().filter(|line| is_shown_to_fail || !is_hint(line)).collect();
        if fits(&steady_lines(expected), &steady_lines(&kept)) {
            return expected.iter().map(|line| format!("{line}\n")).collect();
        }
        self.differences.push(format!("$ {command}\n{printed}instead of\n{}", expected.join("\n")));
        kept.iter().map(|line| format!("{line}\n")).collect()
    }

    /// In a shell that finds `gristmill` by its name; errors and hints are in the output, as on a screen.
    fn run(&self, command: &str) -> Ran {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([ours()].into_iter().chain(std::env::split_paths(&path)));
        let prepared = self.home.command(&[]);
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("exec 2>&1\n{command}")]).current_dir(self.home.work());
        for (name, value) in prepared.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        // So that everything is where the pages say, below the home.
        for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "GRISTMILL_DATA_DIR"] {
            shell.env_remove(name);
        }
        shell.env("PATH", path.expect("a path")).stdin(Stdio::null());
        Ran::of(shell.output().expect("a shell"))
    }

    /// With the page's own home, place of the binary and handles.
    fn as_in_the_page(&mut self, printed: &str, expected: &str) -> String {
        let unknown = |handle: &&str, known: &[(String, String)], side: fn(&(String, String)) -> &String| {
            !known.iter().any(|pair| side(pair) == handle)
        };
        let new_here = handles(printed).find(|handle| unknown(handle, &self.handles, |pair| &pair.1));
        let new_there = handles(expected).find(|handle| unknown(handle, &self.handles, |pair| &pair.0));
        if let (Some(here), Some(there)) = (new_here, new_there) {
            self.handles.push((there.to_owned(), here.to_owned()));
        }
        let text =
            self.handles.iter().fold(printed.to_owned(), |text, (page, here)| text.replace(here, page));
        let text = text.replace(&*self.home.path().to_string_lossy(), "/home/you");
        text.replace(&*ours().to_string_lossy(), "/usr/local/bin")
    }
}

/// Of a fence such as `python NAME.py`.
fn file_name(line: &str) -> Option<&str> {
    let (_, name) = line.strip_prefix("```")?.split_once(' ')?;
    name.contains('.').then_some(name)
}

/// Where the binary is.
fn ours() -> PathBuf {
    gristmill().parent().expect("a folder").to_owned()
}

fn handles(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter(|word| {
        word.len() == 20 && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    })
}

fn fits(expected: &[String], printed: &[String]) -> bool {
    match (expected.split_first(), printed.split_first()) {
        (None, None) => true,
        (Some((any, rest)), _) if any == "…" => {
            (0..=printed.len()).any(|skipped| fits(rest, &printed[skipped..]))
        }
        (Some((line, rest)), Some((there, others))) => line_fits(line, there) && fits(rest, others),
        (None, Some(_)) | (Some(_), None) => false,
    }
}

fn line_fits(expected: &str, printed: &str) -> bool {
    match expected.split_once('…') {
        Some((beginning, _)) => printed.starts_with(beginning),
        None => expected == printed,
    }
}

fn is_hint(line: &str) -> bool {
    line.starts_with("hint:")
}

fn steady_lines(lines: &[&str]) -> Vec<String> {
    lines
        .iter()
        .filter(|line| !is_hint(line))
        .map(|line| steady(line))
        .filter(|line| !line.is_empty())
        .collect()
}

/// Without what differs from run to run: widths of columns, days and times, and figures beside tokens or
/// milliseconds.
fn steady(line: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let has_figures = line.contains("token") || line.contains(" ms");
    for word in line.split_whitespace() {
        if is_time(word) {
            words.push("TIME".to_owned());
        } else if has_figures && word.starts_with(|c: char| c.is_ascii_digit()) {
            words.push("N".to_owned());
        } else {
            words.push(word.to_owned());
        }
    }
    words.join(" ")
}

/// `07:45`, `07:45:12`, `2026-11-16` and `2026-11-16T07:45:12Z`, with a sign behind it or not.
fn is_time(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let is_made_of = word.bytes().all(|byte| byte.is_ascii_digit() || b":-TZ".contains(&byte));
    digits >= 4 && is_made_of && (word.contains(':') || word.matches('-').count() == 2)
}

#[test]
fn an_output_that_differs_is_noticed() {
    let check = |expected: &[&str], printed: &[&str], fit: bool| {
        assert_eq!(fits(&steady_lines(expected), &steady_lines(printed)), fit, "{expected:?} {printed:?}");
    };
    check(&["a  1 of 2", "b"], &["a 1 of 2", "b"], true);
    check(&["a 1 of 2"], &["a 1 of 3"], false);
    check(&["a", "b"], &["a"], false);
    check(&["a"], &["a", "b"], false);
    check(&["a", "…", "z"], &["a", "m", "n", "z"], true);
    check(&["a", "…", "z"], &["a", "m"], false);
    check(&["begins …"], &["begins with this"], true);
    check(&["begins …"], &["ends with this"], false);
    check(&["up 3 tools 22 ms"], &["up 3 tools 105 ms"], true);
    check(&["up 22 ms"], &["down 22 ms"], false);
    check(&["used 2026-11-16 07:45 UTC"], &["used 2027-01-02 23:59 UTC"], true);
    check(&["a"], &["a", "hint: b"], true);
}
