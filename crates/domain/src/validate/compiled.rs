//! A compiled schema, and how much it may be asked to do.

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::{Map, Value};

use super::schema_cost::{CostError, SchemaCost, measure};
use crate::visible_text::one_line;

/// One pattern's program. `.{1,255}` needs half of it.
const PATTERN_BYTES_MAX: usize = 512 * 1024;
/// Bytes read by patterns in one check. Each byte can cost as many steps as the pattern has states.
const MATCHED_BYTES_MAX: u64 = 20_000;
/// Steps of one check; some tenths of a second at the very most.
const CHECK_STEPS_MAX: u64 = 20_000_000;
/// Steps of one explanation, each of which may keep something.
const EXPLAIN_STEPS_MAX: u64 = 100_000;
/// Schemas inside values inside schemas: how deep a check recurses.
const RECURSION_MAX: usize = 1_000;
/// Deeper than servers parse.
const ARGUMENTS_DEPTH_MAX: usize = 100;

/// What of a schema is not checked, and why. The names of the arguments always are.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unchecked {
    #[error("the input schema isn't checked, only its names: {0}")]
    TooCostly(#[from] CostError),
    #[error("the input schema isn't checked, only its names: {0}")]
    Everything(CompileError),
    #[error("patterns in the input schema aren't checked: {0}")]
    Patterns(CompileError),
}

/// The compiler's words, shortened and harmless.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct CompileError(String);

/// A schema ready to check with.
#[derive(Debug)]
pub(super) struct Compiled {
    validator: Validator,
    /// The same without patterns, for texts too long to match; only where there are patterns.
    plain: Option<Validator>,
    cost: SchemaCost,
}

/// How much can be said about arguments that do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Explainable {
    /// Everything that is wrong.
    All,
    First,
    /// Only that something is.
    Nothing,
}

/// How large a call's arguments are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ArgumentsSize {
    nodes: u64,
    bytes: u64,
    depth: usize,
}

impl Compiled {
    /// The schema, and what of it is not checked; or why none of it is.
    pub(super) fn new(schema: &Value) -> Result<(Self, Option<Unchecked>), Unchecked> {
        let cost = measure(schema)?;
        let plain = (cost.patterns > 0).then(|| without_patterns(schema));
        let plain = plain.and_then(|schema| build_either(&schema).ok());
        match build_either(schema) {
            Ok(validator) => Ok((Self { validator, plain, cost }, None)),
            Err(error) => match plain {
                Some(validator) => {
                    Ok((Self { validator, plain: None, cost }, Some(Unchecked::Patterns(error))))
                }
                None => Err(Unchecked::Everything(error)),
            },
        }
    }

    /// The validator for these arguments and their size, unless a check could take too long.
    pub(super) fn affordable(&self, arguments: &Map<String, Value>) -> Option<(&Validator, ArgumentsSize)> {
        let mut size = ArgumentsSize::default();
        size.add_members(arguments, 1)?;
        let units = size.nodes.saturating_add(size.bytes / 64);
        let matched = |patterns: usize| size.bytes.saturating_mul(patterns as u64) <= MATCHED_BYTES_MAX;
        let fits = self.cost.steps.saturating_mul(units) <= CHECK_STEPS_MAX
            && self.cost.chain.saturating_mul(size.depth) <= RECURSION_MAX
            && matched(self.cost.name_patterns);
        let validator = match &self.plain {
            Some(plain) if !matched(self.cost.patterns) => plain,
            Some(_) | None => &self.validator,
        };
        fits.then_some((validator, size))
    }

    /// How much can be said about what is wrong. Where a schema contains itself in several places,
    /// each level of the arguments multiplies the alternatives.
    pub(super) fn explainable(&self, size: ArgumentsSize) -> Explainable {
        let depth = u32::try_from(size.depth).unwrap_or(u32::MAX);
        let factor = if self.cost.recursive { self.cost.forks.saturating_pow(depth) } else { 1 };
        let steps = self.cost.forks.saturating_mul(size.nodes).saturating_mul(factor);
        match (steps <= EXPLAIN_STEPS_MAX, self.cost.recursive) {
            (true, _) => Explainable::All,
            (false, false) => Explainable::First,
            (false, true) => Explainable::Nothing,
        }
    }
}

impl ArgumentsSize {
    fn add(&mut self, value: &Value, depth: usize) -> Option<()> {
        match value {
            Value::Object(members) => return self.add_members(members, depth),
            Value::Array(items) => {
                self.enter(depth)?;
                items.iter().try_for_each(|item| self.add(item, depth + 1))?;
            }
            Value::String(text) => self.bytes += text.len() as u64,
            Value::Number(number) => self.bytes += number.as_str().len() as u64,
            Value::Null | Value::Bool(_) => {}
        }
        self.nodes += 1;
        Some(())
    }

    fn add_members(&mut self, members: &Map<String, Value>, depth: usize) -> Option<()> {
        self.enter(depth)?;
        self.nodes += 1;
        for (name, member) in members {
            self.bytes += name.len() as u64;
            self.add(member, depth + 1)?;
        }
        Some(())
    }

    fn enter(&mut self, depth: usize) -> Option<()> {
        self.depth = self.depth.max(depth);
        (depth <= ARGUMENTS_DEPTH_MAX).then_some(())
    }
}

fn build(schema: &Value, draft: Option<Draft>) -> Result<Validator, CompileError> {
    let patterns = PatternOptions::regex().size_limit(PATTERN_BYTES_MAX).dfa_size_limit(PATTERN_BYTES_MAX);
    let mut options = jsonschema::options()
        .offline()
        .with_pattern_options(patterns)
        // A format is a hint; servers differ in what they take for a date or an address.
        .should_validate_formats(false);
    if let Some(draft) = draft {
        options = options.with_draft(draft);
    }
    options.build(schema).map_err(|error| {
        let place = error.instance_path().as_str();
        let text = one_line(&error.to_string(), 160);
        CompileError(if place.is_empty() { text } else { format!("{text} (at {})", one_line(place, 80)) })
    })
}

/// Much that names no draft was written for the older one, where `items` may be a list.
fn build_either(schema: &Value) -> Result<Validator, CompileError> {
    build(schema, None).or_else(|error| match schema.get("$schema") {
        None => build(schema, Some(Draft::Draft7)).map_err(|_| error),
        Some(_) => Err(error),
    })
}

fn without_patterns(schema: &Value) -> Value {
    let mut schema = schema.clone();
    remove_patterns(&mut schema);
    schema
}

/// Takes out `pattern`, wherever it is one. The caller has bounded the schema's depth.
fn remove_patterns(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            if keywords.get("pattern").is_some_and(Value::is_string) {
                keywords.shift_remove("pattern");
            }
            keywords.values_mut().for_each(remove_patterns);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_patterns),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
