//! A program's error as a person reads it in a terminal.

use gristmill_gateway::ErrorReport;

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

/// Results are files too, but no workspace has them.
fn is_missing_file(traceback: Option<&str>) -> bool {
    let last = traceback.and_then(|traceback| traceback.lines().last()).unwrap_or_default();
    last.starts_with("FileNotFoundError: ") && !last.contains("/results/")
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
    fn a_missing_file_leads_to_the_workspace_unless_one_was_chosen() {
        let missing =
            error("no such file", Some("FileNotFoundError: no such file: 'a.csv'"), Some("there is b"));
        let hints = [
            "hint: there is b",
            "hint: to let the program see the files in this folder, add `--workspace .`",
        ];
        assert_eq!(error_lines(&missing, Workspace::Empty)[1..], hints);
        assert_eq!(error_lines(&missing, Workspace::Chosen)[1..], hints[..1]);
        let result =
            error("no such result", Some("FileNotFoundError: no such result: '/results/x.json'"), None);
        assert_eq!(error_lines(&result, Workspace::Empty).len(), 1);
    }
}
