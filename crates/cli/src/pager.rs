//! Long texts for a person: through the user's pager on a terminal, as they are elsewhere.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::{Command, Stdio};

use tokio::signal::unix::{SignalKind, signal};

/// What is used if nothing is said, as git does.
const USUAL: &str = "less";

/// Prints a text. A pager that can't be started is no reason not to.
pub fn print(text: &str) -> io::Result<()> {
    let pager = io::stdout().is_terminal().then(|| chosen(env::var_os("PAGER"))).flatten();
    if pager.is_some_and(|pager| paged(&pager, text)) {
        return Ok(());
    }
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        // Whoever read our output has seen enough.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The pager's command; none if `PAGER` is empty or `cat`.
fn chosen(said: Option<OsString>) -> Option<OsString> {
    match said {
        None => Some(OsString::from(USUAL)),
        Some(said) if said.is_empty() || said == "cat" => None,
        Some(said) => Some(said),
    }
}

/// Whether a pager has shown it.
fn paged(pager: &OsString, text: &str) -> bool {
    // Ctrl-C is for the pager: from now on it doesn't end this process, which waits for it.
    let _interrupts = signal(SignalKind::interrupt());
    let mut command = Command::new("sh");
    command.arg("-c").arg(pager).stdin(Stdio::piped());
    if env::var_os("LESS").is_none() {
        // Colors as they are, and no pages where one screen is enough.
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        // A pager that was left early doesn't read the rest.
        let _ = input.write_all(text.as_bytes());
    }
    // 127: there is no such command.
    child.wait().is_ok_and(|status| status.code() != Some(127))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_decides_and_cat_is_no_pager() {
        let check = |said: Option<&str>, expected: Option<&str>| {
            assert_eq!(chosen(said.map(OsString::from)), expected.map(OsString::from), "{said:?}");
        };
        check(None, Some("less"));
        check(Some("more -s"), Some("more -s"));
        check(Some(""), None);
        check(Some("cat"), None);
    }
}
