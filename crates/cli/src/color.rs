//! Color: whether it is wanted, and which words get it.
//!
//! Only what stands at the beginning of a message or says how something went is colored, so that
//! everything reads the same without.

use std::io::IsTerminal;
use std::sync::OnceLock;

use clap::ColorChoice;

static CHOICE: OnceLock<ColorChoice> = OnceLock::new();

/// What words are painted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// Errors and failed states.
    Bad,
    Warning,
    /// Hints and notes.
    Aside,
    /// States that are as they should be.
    Good,
    Heading,
}

/// Takes what `--color` says. Before it, color is automatic.
pub fn choose(choice: ColorChoice) {
    // A second choice in one process cannot happen.
    let _ = CHOICE.set(choice);
}

pub fn on_stdout() -> bool {
    is_wanted(std::io::stdout().is_terminal())
}

pub fn on_stderr() -> bool {
    is_wanted(std::io::stderr().is_terminal())
}

/// The text in its color, or as it is.
pub fn painted(text: &str, paint: Paint, is_on: bool) -> String {
    if !is_on {
        return text.to_owned();
    }
    let code = match paint {
        Paint::Bad => "1;31",
        Paint::Warning => "1;33",
        Paint::Aside => "1;36",
        Paint::Good => "32",
        Paint::Heading => "1",
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}

/// A message with the word at its beginning in color: `error[GM-1201]:`, `warning:`, `hint:`, `note:`.
pub fn message(line: &str, is_on: bool) -> String {
    if !is_on {
        return line.to_owned();
    }
    let (label, rest) = match line.find(':') {
        Some(colon) => line.split_at(colon + 1),
        None if line.starts_with("error[") => (line, ""),
        None => return line.to_owned(),
    };
    let word = label.split(['[', ' ', ':']).next().unwrap_or_default();
    let paint = match word {
        "error" => Paint::Bad,
        "warning" => Paint::Warning,
        "hint" | "note" => Paint::Aside,
        _ => return line.to_owned(),
    };
    format!("{}{rest}", painted(label, paint, is_on))
}

fn is_wanted(is_terminal: bool) -> bool {
    let choice = CHOICE.get().copied().unwrap_or(ColorChoice::Auto);
    decide(choice, is_terminal, |name| std::env::var(name).ok())
}

/// The flag first, then NO_COLOR, CLICOLOR_FORCE and CLICOLOR, then whether someone looks at it.
fn decide(choice: ColorChoice, is_terminal: bool, variable: impl Fn(&str) -> Option<String>) -> bool {
    match choice {
        ColorChoice::Always => return true,
        ColorChoice::Never => return false,
        ColorChoice::Auto => {}
    }
    let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let is = |name: &str, expected: &str| variable(name).is_some_and(|value| value == expected);
    if is_set("NO_COLOR") {
        return false;
    }
    if is_set("CLICOLOR_FORCE") && !is("CLICOLOR_FORCE", "0") {
        return true;
    }
    is_terminal && !is("CLICOLOR", "0") && !is("TERM", "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_comes_before_the_environment_and_that_before_the_terminal() {
        let check = |choice, is_terminal, variables: &[(&str, &str)], expected: bool| {
            let variable = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(decide(choice, is_terminal, variable), expected, "{choice:?} {variables:?}");
        };
        check(ColorChoice::Auto, true, &[], true);
        check(ColorChoice::Auto, false, &[], false);
        check(ColorChoice::Auto, true, &[("NO_COLOR", "1")], false);
        check(ColorChoice::Auto, true, &[("NO_COLOR", "")], true);
        check(ColorChoice::Auto, false, &[("CLICOLOR_FORCE", "1")], true);
        check(ColorChoice::Auto, false, &[("CLICOLOR_FORCE", "0")], false);
        check(ColorChoice::Auto, false, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false);
        check(ColorChoice::Auto, true, &[("CLICOLOR", "0")], false);
        check(ColorChoice::Auto, true, &[("TERM", "dumb")], false);
        check(ColorChoice::Always, false, &[("NO_COLOR", "1")], true);
        check(ColorChoice::Never, true, &[("CLICOLOR_FORCE", "1")], false);
    }

    #[test]
    fn only_the_word_before_a_message_is_colored() {
        let check = |line: &str, expected: &str| assert_eq!(message(line, true), expected);
        check("error[GM-1201]: too: long", "\x1b[1;31merror[GM-1201]:\x1b[0m too: long");
        check("error[GM-1101] line 3: bad", "\x1b[1;31merror[GM-1101] line 3:\x1b[0m bad");
        check("error[GM-1102], line 3", "\x1b[1;31merror[GM-1102], line 3\x1b[0m");
        check("hint: do it", "\x1b[1;36mhint:\x1b[0m do it");
        check("ValueError: no", "ValueError: no");
        check("plain words", "plain words");
        assert_eq!(message("error: no", false), "error: no");
    }
}
