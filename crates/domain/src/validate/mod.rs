//! Arguments are checked against the tool's schema before anything is sent.
//!
//! Schema and arguments both come from outside. A schema is measured before it is compiled, patterns
//! run on an engine that never backtracks, references lead nowhere but into the schema itself, and a
//! check that could take long is not begun: then only names are checked, and the server judges the
//! rest.

mod bad_arguments;
mod compiled;
mod explain;
mod names;
mod parameters;
mod references;
mod schema_cost;
#[cfg(test)]
mod tests;
mod words;

pub use bad_arguments::{BadArguments, Problem, ProblemKind};

use serde_json::{Map, Value};

use self::compiled::{Compiled, Explainable};
use self::explain::Explain;
use self::names::Names;
use self::parameters::Parameters;
use crate::visible_text::one_line;

/// The check of one tool's arguments. Made once, at the tool's first call; used many times.
#[derive(Debug)]
pub struct ArgumentCheck {
    tool: String,
    schema: Value,
    names: Names,
    compiled: Option<Compiled>,
    problem: Option<String>,
}

impl ArgumentCheck {
    /// For the tool that messages call `tool`. Never fails: of a schema that cannot be compiled only
    /// the names are checked, and `problem` says why.
    pub fn new(tool: &str, input_schema: &Value) -> Self {
        let (compiled, unchecked) = match Compiled::new(input_schema) {
            Ok((compiled, unchecked)) => (Some(compiled), unchecked),
            Err(unchecked) => (None, Some(unchecked)),
        };
        Self {
            tool: one_line(tool, 200),
            schema: input_schema.clone(),
            names: Names::of(&Parameters::of(input_schema)),
            compiled,
            problem: unchecked.map(|unchecked| unchecked.to_string()),
        }
    }

    /// What is not checked, and why.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Small kindnesses that change no meaning: another spelling of a name becomes the schema's own,
    /// and a null for an optional argument that knows no null is dropped.
    pub fn fit(&self, arguments: &mut Map<String, Value>) {
        if self.names.are_plain(arguments) {
            return;
        }
        let parameters = Parameters::of(&self.schema);
        let respelled = parameters.respelled(arguments);
        if !respelled.is_empty() {
            let renamed = std::mem::take(arguments).into_iter().map(|(name, value)| {
                let meant = respelled.iter().find(|(given, _)| *given == name);
                (meant.map_or(name, |(_, meant)| (*meant).to_owned()), value)
            });
            *arguments = renamed.collect();
        }
        for name in parameters.needless_nulls(arguments) {
            arguments.shift_remove(name);
        }
    }

    /// Whether the arguments fit. `fit` comes first.
    pub fn check(&self, arguments: &Map<String, Value>) -> Result<(), BadArguments> {
        let mut problems = match self.names.are_complete(arguments) {
            true => Vec::new(),
            false => Parameters::of(&self.schema).problems(&self.tool, arguments),
        };
        if let Some(compiled) = &self.compiled {
            problems.extend(self.findings(compiled, arguments, &problems));
        }
        if problems.is_empty() { Ok(()) } else { Err(BadArguments::of(problems)) }
    }

    fn findings(
        &self,
        compiled: &Compiled,
        arguments: &Map<String, Value>,
        told: &[Problem],
    ) -> Vec<Problem> {
        let Some((validator, size)) = compiled.affordable(arguments) else {
            return Vec::new();
        };
        let arguments = Value::Object(arguments.clone());
        if validator.is_valid(&arguments) {
            return Vec::new();
        }
        let errors: Vec<_> = match compiled.explainable(size) {
            Explainable::All => validator.iter_errors(&arguments).collect(),
            Explainable::First => validator.validate(&arguments).err().into_iter().collect(),
            Explainable::Nothing => Vec::new(),
        };
        let explain = Explain { root: &self.schema, tool: &self.tool, arguments: &arguments };
        let mut found = explain.all(errors.iter().filter(|error| !is_about_names(error, told)));
        if found.is_empty() && told.is_empty() {
            let text = format!("the arguments do not fit the schema of {}", self.tool);
            found.push(Problem::new("", text));
        }
        found
    }
}

/// Whether the finding is about a top-level name of which the names themselves told already.
fn is_about_names(error: &jsonschema::ValidationError<'_>, told: &[Problem]) -> bool {
    use jsonschema::error::ValidationErrorKind as Kind;
    let is_told = match error.kind() {
        Kind::Required { .. } | Kind::AdditionalProperties { .. } | Kind::UnevaluatedProperties { .. } => {
            !told.is_empty()
        }
        _ => false,
    };
    is_told && error.instance_path().is_empty()
}
