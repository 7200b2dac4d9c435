//! A writer without a model: a sentence and a few tools in, a program or a refusal out.
//!
//! One rule stands above the others: every word that carries meaning must have been used for something. A
//! program is written only if a tool, its arguments and an operation account for the whole sentence, and no
//! other tool does so nearly as well. Everything else is refused, with the reason and the nearest tools.
//!
//! Pure: no I/O, no clock. The sentence and the schemas are data from outside: each text, list and depth has
//! a limit, and both reach a program only as escaped literals.

mod arguments;
mod choose;
mod early;
mod emit;
mod emit_python;
mod emit_typescript;
mod field_phrases;
mod fields;
mod kinds;
mod lexicon;
mod literal;
mod numbers;
mod operations;
mod pairs;
mod plan;
mod reading;
mod sentence;
mod shape;
mod shown;
mod stems;
mod tokenize;

pub use gristmill_domain::stubs::Language;
use serde_json::Value;

/// Tools that are looked at; the rest of a list is ignored.
pub const TOOLS_MAX: usize = 16;
/// Characters of a sentence.
pub const SENTENCE_CHARS_MAX: usize = 2_000;

/// What is wanted, and what there is to do it with.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// What somebody wants, in English.
    pub sentence: &'a str,
    pub language: Language,
    /// The tools that a search found for the sentence, the nearest first.
    pub tools: &'a [Candidate<'a>],
}

/// A tool that might do it.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The server's name, as people know it.
    pub server: &'a str,
    /// The name under which programs import the server.
    pub module: &'a str,
    /// The tool's name, as its server has it.
    pub tool: &'a str,
    /// The name of its function in stubs.
    pub function: &'a str,
    pub description: &'a str,
    pub input_schema: &'a Value,
    /// Declared by the server, or learned from earlier answers.
    pub output_schema: Option<&'a Value>,
    /// Whether a call changes nothing.
    pub read_only: bool,
    /// How near the search found it, from 0 to 1.
    pub nearness: f32,
}

impl Candidate<'_> {
    fn full_name(&self) -> String {
        format!("{}.{}", self.server, self.tool)
    }
}

/// What became of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Written(Program),
    Refused(Refusal),
}

/// A program that does what the sentence says, as far as the rules understand it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub code: String,
    /// What was read into the sentence, one statement each.
    pub assumptions: Vec<String>,
    /// The tools that it calls, as `server.tool`.
    pub tools: Vec<String>,
}

/// Why there is no program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// One sentence for a person.
    pub reason: String,
    /// The tools that come nearest, as `server.tool`.
    pub nearest: Vec<String>,
}

/// Writes the program, or says why not. The same task always gets the same answer.
pub fn write(task: &Task<'_>) -> Outcome {
    match choose::choose(task) {
        Ok(plan) => Outcome::Written(emit::program(&plan, task.language)),
        Err(refusal) => Outcome::Refused(refusal),
    }
}
