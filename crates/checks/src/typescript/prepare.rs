//! A program as a worker takes it.

use super::mistakes::Mistake;
use super::parse::{Trouble, unfenced, with_program};
use super::script::{Top, script};
use crate::finding::{Finding, Findings};
use crate::lines::Lines;
use crate::rules::{Rule, Severity};

/// What becomes of a program's variables, functions and classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TopLevel {
    /// They end with it.
    Forget,
    /// The programs that follow in the same interpreter find them.
    Keep,
}

/// The JavaScript of a program: an async function, whose lines are those of the program.
pub fn prepare(code: &str, top_level: TopLevel) -> Result<String, Box<Finding>> {
    let top = match top_level {
        TopLevel::Forget => Top::Forgotten,
        TopLevel::Keep => Top::Kept,
    };
    made(code, top)
}

/// The JavaScript of a module: an async function that gives what the module exports.
pub fn prepare_module(code: &str) -> Result<String, Box<Finding>> {
    made(code, Top::Exported)
}

fn made(code: &str, top: Top) -> Result<String, Box<Finding>> {
    let text = unfenced(code);
    with_program(&text, |program| script(&text, program, top)).map_err(|trouble| told(&text, trouble))
}

/// Why there is no script, as a finding.
pub(super) fn told(text: &str, trouble: Trouble) -> Box<Finding> {
    let mistake = match trouble {
        Trouble::Wrong(mistake) => mistake,
        Trouble::TooDeep(range) => Mistake {
            range,
            message: "the program is nested too deeply".to_owned(),
            hint: Some("split long expressions".to_owned()),
        },
    };
    let lines = Lines::of(text);
    let mut findings = Findings::new(&lines);
    findings.add_as(Rule::Syntax, Severity::Error, mistake.range, mistake.message, mistake.hint);
    // There is exactly one.
    let mut findings = findings.finish().findings;
    Box::new(findings.swap_remove(0))
}
