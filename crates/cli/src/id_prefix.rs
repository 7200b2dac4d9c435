//! Ids by their beginnings: whoever types one types as much of it as tells it from the others.

use anyhow::anyhow;
use gristmill_gateway::domain::{counted, visible};

use crate::failure::Failure;

/// Fewer characters are as likely a slip as an id.
const PREFIX_CHARS_MIN: usize = 4;

/// More candidates than anyone compares.
const CANDIDATES_SHOWN_MAX: usize = 8;

/// Something that has an id.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Such as `execution`.
    pub noun: &'static str,
    /// The command that lists them.
    pub list_command: &'static str,
}

pub const EXECUTION: Kind = Kind { noun: "execution", list_command: "gristmill history" };
pub const SESSION: Kind = Kind { noun: "session", list_command: "gristmill sessions list" };
pub const RESULT: Kind = Kind { noun: "result", list_command: "gristmill results list" };

impl Kind {
    /// The id that is meant: itself, or the only one that begins so.
    pub fn resolve<'a>(self, given: &str, ids: impl IntoIterator<Item = &'a str>) -> Result<String, Failure> {
        let mut candidates = Vec::new();
        for id in ids {
            if id == given {
                return Ok(id.to_owned());
            }
            if id.starts_with(given) {
                candidates.push(id.to_owned());
            }
        }
        if candidates.is_empty() {
            return Err(self.missing(given));
        }
        self.check_length(given)?;
        match candidates.len() {
            1 => Ok(candidates.swap_remove(0)),
            _ => Err(self.ambiguous(given, &candidates)),
        }
    }

    /// Whether enough of an id is there to look for it.
    pub fn check_length(self, given: &str) -> Result<(), Failure> {
        if given.chars().count() >= PREFIX_CHARS_MIN {
            return Ok(());
        }
        let Self { noun, list_command } = self;
        Err(Failure::Usage(anyhow!(
            "`{}` is too short: give at least {PREFIX_CHARS_MIN} characters of the {noun}'s id\nhint: `{list_command}` shows the ids",
            visible(given)
        )))
    }

    pub fn missing(self, given: &str) -> Failure {
        let Self { noun, list_command } = self;
        Failure::Usage(anyhow!("no {noun} `{}`\nhint: `{list_command}` shows what there is", visible(given)))
    }

    pub fn ambiguous(self, given: &str, candidates: &[String]) -> Failure {
        let shown: Vec<&str> = candidates.iter().take(CANDIDATES_SHOWN_MAX).map(String::as_str).collect();
        let more = if candidates.len() > shown.len() { ", …" } else { "" };
        Failure::Usage(anyhow!(
            "`{}` matches {}: {}{more}\nhint: type more of the one you mean",
            visible(given),
            counted(candidates.len(), self.noun),
            shown.join(", ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_means_the_only_id_that_has_it() {
        let ids = ["abcdefgh", "abcdxyz1", "qrstuvwx", "abcd"];
        let check = |given: &str, expected: Result<&str, &str>| {
            let found = EXECUTION.resolve(given, ids).map_err(|failure| match failure {
                Failure::Usage(error) => error.to_string(),
                Failure::Configuration(error) | Failure::Internal(error) => format!("not usage: {error}"),
            });
            match expected {
                Ok(id) => assert_eq!(found.as_deref(), Ok(id), "{given}"),
                Err(words) => assert!(found.as_ref().is_err_and(|error| error.contains(words)), "{found:?}"),
            }
        };
        check("qrst", Ok("qrstuvwx"));
        check("abcdefgh", Ok("abcdefgh"));
        // Itself, although others begin with it.
        check("abcd", Ok("abcd"));
        check("qrs", Err("too short: give at least 4 characters"));
        check("", Err("too short"));
        check("nope", Err("no execution `nope`\nhint: `gristmill history`"));
        let ids = ["abcdefgh", "abcdxyz1"];
        let failure = RESULT.resolve("abcd", ids).err();
        let Some(Failure::Usage(error)) = failure else { panic!("it is ambiguous") };
        assert!(
            error.to_string().starts_with("`abcd` matches 2 results: abcdefgh, abcdxyz1\nhint: type more")
        );
    }
}
