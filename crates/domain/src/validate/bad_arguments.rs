//! What is wrong with a call's arguments, in words for whoever wrote the call.

use std::fmt;

use crate::visible_text::one_line;

/// Problems shown; the rest is counted.
const SHOWN_MAX: usize = 5;
const NAMES_MAX: usize = 24;
/// One problem's text. Its parts are bounded already; this bounds their sum.
const TEXT_CHARS_MAX: usize = 900;
/// A path, where it is kept.
const PATH_CHARS_MAX: usize = 80;

/// Arguments that do not fit the tool's schema. Nothing was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct BadArguments {
    /// What is wrong, most telling first; at most five.
    pub problems: Vec<Problem>,
    /// How many more there are.
    pub more: usize,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where, as a program writes it: `filters[2].status`. Empty for the arguments as a whole.
    pub path: String,
    /// What, on one line.
    pub text: String,
    /// The same without anything that was given.
    pub kind: ProblemKind,
}

/// What is wrong in general.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    Unknown,
    Missing,
    Misfit,
}

impl BadArguments {
    /// Of at least one problem; repeated ones count once.
    pub(super) fn of(found: Vec<Problem>) -> Self {
        let mut problems: Vec<Problem> = Vec::new();
        let mut more = 0;
        for problem in found {
            if problems.contains(&problem) {
                continue;
            }
            if problems.len() < SHOWN_MAX {
                problems.push(problem);
            } else {
                more += 1;
            }
        }
        Self { problems, more }
    }

    /// Where it is wrong and how, without any value that was given: to be kept.
    pub fn without_values(&self) -> String {
        let told = |problem: &Problem| {
            let it = match problem.path.as_str() {
                "" => "the arguments".to_owned(),
                path => format!("`{}`", one_line(path, PATH_CHARS_MAX)),
            };
            match problem.kind {
                ProblemKind::Unknown => format!("{it}: unknown"),
                ProblemKind::Missing => format!("{it}: missing"),
                ProblemKind::Misfit => format!("{it}: doesn't fit the schema"),
            }
        };
        let mut told: Vec<String> = self.problems.iter().map(told).collect();
        if self.more > 0 {
            told.push(format!("and {} more", self.more));
        }
        told.join("; ")
    }
}

impl fmt::Display for BadArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            f.write_str(&problem.text)?;
        }
        match self.more {
            0 => Ok(()),
            1 => f.write_str("\nand 1 more problem"),
            more => write!(f, "\nand {more} more problems"),
        }
    }
}

impl Problem {
    pub(super) fn new(path: &str, text: String) -> Self {
        Self { path: path.to_owned(), text: one_line(&text, TEXT_CHARS_MAX), kind: ProblemKind::Misfit }
    }

    pub(super) fn missing(path: &str, text: String) -> Self {
        Self { kind: ProblemKind::Missing, ..Self::new(path, text) }
    }

    pub(super) fn unknown_argument(tool: &str, name: &str, near: Option<&str>, takes: &str) -> Self {
        let name = one_line(name, 80);
        let near = did_you_mean(near);
        let text = format!("`{name}` is not an argument of {tool}{near} It takes: {takes}");
        Self { kind: ProblemKind::Unknown, ..Self::new(&name, text) }
    }

    pub(super) fn unknown_field(path: &str, owner: &str, near: Option<&str>, takes: &str) -> Self {
        let near = did_you_mean(near);
        let text = format!("`{path}` is not a field of `{owner}`{near} It takes: {takes}");
        Self { kind: ProblemKind::Unknown, ..Self::new(path, text) }
    }
}

fn did_you_mean(near: Option<&str>) -> String {
    near.map_or_else(|| ".".to_owned(), |near| format!("; did you mean `{}`?", one_line(near, 80)))
}

/// Names with commas, the rest counted.
pub(super) fn name_list(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    let mut list = names.iter().take(NAMES_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.is_empty() {
        list.push_str("nothing");
    }
    if names.len() > NAMES_MAX {
        list.push_str(&format!(", and {} more", names.len() - NAMES_MAX));
    }
    list
}
