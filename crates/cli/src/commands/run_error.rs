//! A program's error as a person reads it in a terminal.

use gristmill_gateway::ErrorReport;

use crate::terminal::Printable;

/// Which files the program could see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workspace {
    /// A folder or a session that was named.
    Chosen,
    /// An empty folder, because none was named.
    Empty,
}

/// The program's own lines, if there are any.
pub fn traceback(error: &ErrorReport) -> Option<&str> {
    error.traceback.as_deref().map(str::trim_end).filter(|text| !text.is_empty())
}

/// A traceback as its language prints it. Only what a server may have said is set in: further lines of a message, and
/// whatever reads like a line of ours.
pub fn shown_traceback(traceback: &str) -> String {
    let mut shown = String::new();
    let mut names_error = true;
    for (index, line) in Printable::all(traceback).lines().enumerate() {
        let is_indented = line.starts_with([' ', '\t']);
        let is_heading = HEADINGS.contains(&line);
        let is_own = index == 0 || is_indented || is_heading || (names_error && is_error_line(line));
        shown.push_str(if is_own || line.is_empty() { "" } else { "  " });
        shown.push_str(line);
        shown.push('\n');
        // An error stands below its frames, or below the heading of a traceback without any.
        names_error = is_indented || is_heading;
    }
    shown
}

/// What Python says between errors of which one led to another.
const HEADINGS: [&str; 3] = [
    "Traceback (most recent call last):",
    "During handling of the above exception, another exception occurred:",
    "The above exception was the direct cause of the following exception:",
];

/// What lines of ours begin with.
const OUR_WORDS: [&str; 5] = ["error", "warning", "hint", "note", "plan"];

/// `KeyError: 'x'` or `errors.NotFound`, and no line of ours.
fn is_error_line(line: &str) -> bool {
    let name = line.split_once(':').map_or(line, |(name, _)| name);
    let is_part = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
    name.split('.').all(is_part) && !OUR_WORDS.contains(&name)
}

/// What follows the traceback: the code, the message if the traceback doesn't have it, and hints.
pub fn error_lines(error: &ErrorReport, workspace: Workspace) -> Vec<String> {
    let traceback = traceback(error);
    let line = error.line.map(|line| format!(", line {line}")).unwrap_or_default();
    let message = error.message.trim();
    let is_shown = traceback.is_some_and(|traceback| traceback.contains(message));
    let message = if is_shown || message.is_empty() { String::new() } else { format!(": {message}") };
    let own = (workspace == Workspace::Empty && is_missing_file(traceback)).then_some(SEE_THIS_FOLDER);
    let hints = error.hint.as_deref().into_iter().chain(own).map(|hint| format!("hint: {hint}"));
    std::iter::once(format!("error[{}]{line}{message}", error.code)).chain(hints).collect()
}

const SEE_THIS_FOLDER: &str = "to let the program see the files in this folder, add `--workspace .`";

/// Whether a file is missing that a workspace could have: `FileNotFoundError: [Errno 44] ...: 'sales.csv'`. Those
/// of other folders, such as results, are in none.
fn is_missing_file(traceback: Option<&str>) -> bool {
    let last = traceback.and_then(|traceback| traceback.lines().last()).unwrap_or_default();
    let Some(told) = last.strip_prefix("FileNotFoundError: ") else { return false };
    // A path that has a single quote stands in double ones.
    let path = [": '", ": \""].into_iter().find_map(|quote| told.split_once(quote)).map(|(_, path)| path);
    let is_of_workspace = |path: &str| !path.starts_with('/') || path.starts_with("/workspace/");
    path.is_some_and(is_of_workspace) && !told.contains("no such result")
}

#[cfg(test)]
mod tests {
    use gristmill_gateway::domain::Code;

    use super::*;

    fn error(message: &str, traceback: Option<&str>, hint: Option<&str>) -> ErrorReport {
        ErrorReport {
            code: Code::Exception,
            kind: "exception".to_owned(),
            message: message.to_owned(),
            line: Some(3),
            traceback: traceback.map(str::to_owned),
            hint: hint.map(str::to_owned),
        }
    }

    #[test]
    fn a_message_is_shown_once() {
        let raised = error("no", Some("Traceback:\nValueError: no\n"), Some("try"));
        assert_eq!(traceback(&raised), Some("Traceback:\nValueError: no"));
        assert_eq!(error_lines(&raised, Workspace::Empty), ["error[GM-1102], line 3", "hint: try"]);
        let told = error("no", None, None);
        assert_eq!(error_lines(&told, Workspace::Empty), ["error[GM-1102], line 3: no"]);
    }

    #[test]
    fn a_traceback_is_printed_as_python_prints_it() {
        for traceback in [
            "Traceback (most recent call last):\n  File \"a.py\", line 1\n    {}['x']\n    ~~^^^^^\nKeyError: 'x'\n",
            "Traceback (most recent call last):\n  File \"a.py\", line 1\n    a()\nKeyError: 'x'\n\n\
             During handling of the above exception, another exception occurred:\n\n\
             Traceback (most recent call last):\n  File \"a.py\", line 3\n    b()\nerrors.NotFound\n",
            "  File \"a.py\", line 1\n    x = (\n        ^\nSyntaxError: '(' was never closed\n",
            "ExceptionGroup: two (2 sub-exceptions)\n  +-- 1 of 2\n  | ValueError: 1\n",
            "program.ts:2\n    y)\nReferenceError: y is not defined\n    at program.ts:2:1\n",
        ] {
            assert_eq!(shown_traceback(traceback), traceback);
        }
    }

    #[test]
    fn lines_of_a_message_are_set_in_and_none_looks_like_ours() {
        let check = |message: &str, expected: &str| {
            let head = "Traceback (most recent call last):\n  File \"a.py\", line 1\n";
            assert_eq!(shown_traceback(&format!("{head}{message}")), format!("{head}{expected}\n"));
        };
        check("ValueError: a\n\nb\n  c", "ValueError: a\n\n  b\n  c");
        check("ToolError: no\r\nerror[GM-9999]: x\ny", "ToolError: no␍\n  error[GM-9999]: x\n  y");
        // Whatever it has before them.
        for before in ["  File \"b.py\", line 2", "Traceback (most recent call last):"] {
            for line in ["error[GM-9999]: x", "hint: y", "plan: z", "Allow it? [y/N]", "dry run: none"] {
                check(
                    &format!("ToolError: no\n{before}\n{line}"),
                    &format!("ToolError: no\n{before}\n  {line}"),
                );
            }
        }
    }

    #[test]
    fn a_missing_file_leads_to_the_workspace_unless_one_was_chosen() {
        let missing =
            error("no such file", Some("FileNotFoundError: no such file: 'a.csv'"), Some("there is b"));
        let hints = [
            "hint: there is b",
            "hint: to let the program see the files in this folder, add `--workspace .`",
        ];
        assert_eq!(error_lines(&missing, Workspace::Empty)[1..], hints);
        assert_eq!(error_lines(&missing, Workspace::Chosen)[1..], hints[..1]);
    }

    #[test]
    fn only_files_that_a_workspace_could_have_lead_to_it() {
        let leads = |told: &str| {
            let missing = error("no such file", Some(&format!("FileNotFoundError: {told}")), None);
            error_lines(&missing, Workspace::Empty).len() == 2
        };
        for told in [
            "[Errno 44] No such file or directory: 'a.csv'",
            "[Errno 44] No such file or directory: './data/a.csv'",
            "[Errno 44] No such file or directory: \"it's.csv\"",
            "[Errno 44] no such file (\".\" holds: nothing): 'a: b.csv'",
            "[Errno 44] No such file or directory: '/workspace/a.csv'",
        ] {
            assert!(leads(told), "{told}");
        }
        for told in [
            "[Errno 44] No such file or directory: '/etc/hosts'",
            "[Errno 44] No such file or directory: '/servers/weather/nope.py'",
            "[Errno 44] no such file (did you mean \"total.py\"?): '/skills/nope.py'",
            "[Errno 44] No such file or directory: '/tmp/a.csv'",
            "[Errno 44] No such file or directory: '/results/x.json'",
            "[Errno 44] no such result: check the handle and the extension: 'results/x.json'",
            "the customer isn't there",
        ] {
            assert!(!leads(told), "{told}");
        }
    }
}
