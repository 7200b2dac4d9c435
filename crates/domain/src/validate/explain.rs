//! The validator's findings, told so that the call can be put right.
//!
//! Of several alternatives of which none fits, the closest is named; the others stay unsaid.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::Value;

use super::bad_arguments::{Problem, name_list};
use super::parameters::missing_field;
use super::references;
use super::words::{expectation, quoted, shown};
use crate::nearest::nearest;
use crate::visible_text::one_line;

const DEPTH_MAX: usize = 6;
/// Findings turned into words; the rest is counted.
const PROBLEMS_MAX: usize = 50;
/// Choices and names that a wrong one is compared with.
const COMPARED_MAX: usize = 1_000;

/// Puts the findings about one call into words.
pub(super) struct Explain<'a> {
    pub root: &'a Value,
    /// The tool, as messages call it.
    pub tool: &'a str,
    /// The arguments that were checked.
    pub arguments: &'a Value,
}

impl Explain<'_> {
    /// All of them, in their order, bounded.
    pub(super) fn all<'e>(&self, errors: impl Iterator<Item = &'e ValidationError<'e>>) -> Vec<Problem> {
        let mut problems = Vec::new();
        for error in errors {
            if problems.len() < PROBLEMS_MAX {
                self.one(error, 0, &mut problems);
            } else {
                problems.push(self.misfit(error));
            }
        }
        problems
    }

    fn one(&self, error: &ValidationError<'_>, depth: usize, problems: &mut Vec<Problem>) {
        let path = self.path(error);
        let it = subject(&path);
        let problem = match error.kind() {
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                return self.alternatives(error, context, depth, problems);
            }
            Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
                return problems.extend(unexpected.iter().map(|name| self.unknown(error, &path, name)));
            }
            Kind::Required { property } => self.missing(error, &path, property),
            Kind::Enum { options } => self.wrong_choice(error, &path, options),
            Kind::FalseSchema => Problem::new(&path, format!("{it} is not allowed here")),
            Kind::Not { .. } => {
                let value = shown(error.instance());
                Problem::new(&path, format!("{it} has a value that isn't allowed: {value}"))
            }
            Kind::OneOfMultipleValid { .. } => self.ambiguous(error, &path),
            Kind::UniqueItems => Problem::new(&path, format!("{it} must not contain duplicates")),
            Kind::Contains => Problem::new(&path, format!("{it} is missing a required item")),
            Kind::MinProperties { limit } => self.field_count(error, &path, "at least", *limit),
            Kind::MaxProperties { limit } => self.field_count(error, &path, "at most", *limit),
            Kind::AdditionalItems { limit } => {
                Problem::new(&path, format!("{it} must be a list of at most {limit} items"))
            }
            Kind::PropertyNames { error } => {
                let name = shown(error.instance());
                Problem::new(&path, format!("{it} has a field {name}, a name that is not allowed"))
            }
            // The schema's own words cover type, range, length and pattern at once.
            _ => self.misfit(error),
        };
        problems.push(problem);
    }

    fn misfit(&self, error: &ValidationError<'_>) -> Problem {
        let path = self.path(error);
        let value = shown(error.instance());
        let it = subject(&path);
        let text = match self.holder(error).and_then(|schema| expectation(self.root, schema)) {
            Some(expected) => format!("{it} must be {expected}, not {value}"),
            None => format!("{it}: {}", one_line(&error.masked().to_string(), 160)),
        };
        Problem::new(&path, text)
    }

    fn missing(&self, error: &ValidationError<'_>, path: &str, property: &Value) -> Problem {
        let name = property.as_str().unwrap_or_default();
        let schema = self.holder(error).and_then(|schema| schema.get("properties")?.get(name));
        missing_field(self.root, &joined(path, name), schema)
    }

    fn unknown(&self, error: &ValidationError<'_>, path: &str, name: &str) -> Problem {
        let given = |known: &str| error.instance().get(known).is_some();
        let schema = self.holder(error);
        let known = schema.and_then(|schema| schema.get("properties")?.as_object());
        let names = || known.into_iter().flat_map(|known| known.keys()).take(COMPARED_MAX);
        let candidates = names().filter(|known| !given(known)).map(|known| (known.as_str(), known.as_str()));
        let near = nearest(name, candidates, 1).first().copied();
        let required: Vec<&str> = schema
            .and_then(|schema| schema.get("required")?.as_array())
            .map_or_else(Vec::new, |names| names.iter().filter_map(Value::as_str).collect());
        let (first, rest): (Vec<_>, Vec<_>) =
            names().map(String::as_str).partition(|name| required.contains(name));
        let first = first.into_iter().map(|name| format!("{} (required)", one_line(name, 60)));
        let takes = name_list(first.chain(rest.into_iter().map(|name| one_line(name, 60))));
        if path.is_empty() {
            return Problem::unknown_argument(self.tool, name, near, &takes);
        }
        Problem::unknown_field(&joined(path, name), path, near, &takes)
    }

    fn wrong_choice(&self, error: &ValidationError<'_>, path: &str, options: &Value) -> Problem {
        let misfit = self.misfit(error);
        let texts = options.as_array().into_iter().flatten().filter_map(Value::as_str);
        let candidates = texts.take(COMPARED_MAX).map(|text| (text, text));
        let given = error.instance().as_str();
        match given.and_then(|given| nearest(given, candidates, 1).first().copied()) {
            Some(near) => Problem::new(path, format!("{} (did you mean {}?)", misfit.text, quoted(near))),
            None => misfit,
        }
    }

    fn field_count(&self, error: &ValidationError<'_>, path: &str, bound: &str, limit: u64) -> Problem {
        let count = error.instance().as_object().map_or(0, serde_json::Map::len);
        let fields = if limit == 1 { "field" } else { "fields" };
        let it = subject(path);
        Problem::new(path, format!("{it} must have {bound} {limit} {fields}, not {count}"))
    }

    fn alternatives(
        &self,
        error: &ValidationError<'_>,
        context: &[Vec<ValidationError<'static>>],
        depth: usize,
        problems: &mut Vec<Problem>,
    ) {
        let here = error.instance_path().as_str();
        let of_this_kind: Vec<usize> =
            (0..context.len()).filter(|&index| !is_other_kind(&context[index], here)).collect();
        let closest = of_this_kind.iter().copied().min_by_key(|&index| distance(&context[index]));
        let Some(closest) = closest.filter(|_| depth < DEPTH_MAX) else {
            return problems.push(self.misfit(error));
        };
        let plain_value = !error.instance().is_object() && !error.instance().is_array();
        if plain_value && of_this_kind.len() > 1 {
            return problems.push(self.misfit(error));
        }
        let mut found = Vec::new();
        context[closest].iter().for_each(|inner| self.one(inner, depth + 1, &mut found));
        if of_this_kind.len() > 1
            && let Some(first) = found.first_mut()
        {
            let path = self.path(error);
            let it = subject(&path);
            let form = self.form_name(error, closest);
            let text = format!(
                "{it} must match one of {} forms; the closest is {form}: {}",
                context.len(),
                first.text
            );
            *first = Problem { kind: first.kind, ..Problem::new(&first.path, text) };
        }
        problems.append(&mut found);
    }

    /// Fits several forms: what tells them apart is usually a constant that was left out.
    fn ambiguous(&self, error: &ValidationError<'_>, path: &str) -> Problem {
        let forms = self.root.pointer(error.schema_path().as_str()).and_then(Value::as_array);
        let fields = |form| references::followed(self.root, form).get("properties")?.as_object();
        let mut tags: Vec<(&str, Vec<Value>)> = Vec::new();
        for (name, field) in forms.into_iter().flatten().take(64).filter_map(fields).flatten().take(1_000) {
            let Some(tag) = field.get("const").or_else(|| sole(field)) else {
                continue;
            };
            match tags.iter_mut().find(|(known, _)| known == name) {
                Some((_, values)) => values.push(tag.clone()),
                None => tags.push((name, vec![tag.clone()])),
            }
        }
        tags.retain(|(name, values)| values.len() > 1 && error.instance().get(name).is_none());
        let Some((name, values)) = tags.into_iter().next() else {
            let text = format!("{} must match exactly one form, not several", subject(path));
            return Problem::new(path, text);
        };
        missing_field(self.root, &joined(path, name), Some(&serde_json::json!({ "enum": values })))
    }

    /// What tells an alternative from the others: its title, its name, its constant, or its place.
    fn form_name(&self, error: &ValidationError<'_>, index: usize) -> String {
        let place = || format!("form {}", index + 1);
        let pointer = error.schema_path().as_str();
        let Some(schema) = self.root.pointer(&format!("{pointer}/{index}")) else {
            return place();
        };
        let followed = references::followed(self.root, schema);
        let constant = followed.get("properties").and_then(Value::as_object).and_then(|fields| {
            fields.iter().find_map(|(name, field)| Some((name, field.get("const").or_else(|| sole(field))?)))
        });
        if let Some((name, value)) = constant {
            return format!("the one with `{}` {}", one_line(name, 40), shown(value));
        }
        let title = followed.get("title").and_then(Value::as_str).map(|title| one_line(title, 60));
        let referred = || Some(one_line(schema.get("$ref")?.as_str()?.rsplit('/').next()?, 60));
        title
            .filter(|title| !title.is_empty())
            .or_else(referred)
            .map_or_else(place, |name| format!("`{name}`"))
    }

    /// The schema that the failed keyword stands in.
    fn holder(&self, error: &ValidationError<'_>) -> Option<&Value> {
        let (holder, _) = error.schema_path().as_str().rsplit_once('/')?;
        self.root.pointer(holder)
    }

    /// Where, as a program writes it.
    fn path(&self, error: &ValidationError<'_>) -> String {
        const PARTS_MAX: usize = 24;
        let mut written = String::new();
        let mut value = Some(self.arguments);
        for part in error.instance_path().as_str().split('/').skip(1).take(PARTS_MAX) {
            let name = part.replace("~1", "/").replace("~0", "~");
            let inside = value;
            value = inside.and_then(|value| match value {
                Value::Array(items) => items.get(name.parse::<usize>().ok()?),
                other => other.get(&name),
            });
            if inside.is_some_and(Value::is_array) {
                written.push_str(&format!("[{}]", one_line(&name, 20)));
            } else {
                written = joined(&written, &name);
            }
        }
        written
    }
}

/// What a message is about.
fn subject(path: &str) -> String {
    if path.is_empty() { "all arguments together".to_owned() } else { format!("`{path}`") }
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() {
        return one_line(name, 80);
    }
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty();
    if plain { format!("{path}.{}", one_line(name, 80)) } else { format!("{path}[{}]", quoted(name)) }
}

/// The only choice there is.
fn sole(field: &Value) -> Option<&Value> {
    match field.get("enum")?.as_array()?.as_slice() {
        [one] => Some(one),
        _ => None,
    }
}

/// Whether an alternative failed because it wants another kind of value altogether.
fn is_other_kind(errors: &[ValidationError<'_>], here: &str) -> bool {
    errors.iter().filter(|error| error.instance_path().as_str() == here).any(|error| match error.kind() {
        Kind::Type { .. } | Kind::FalseSchema => true,
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            context.iter().all(|inner| is_other_kind(inner, here))
        }
        _ => false,
    })
}

/// How far off an alternative is: a wrong constant weighs most, then unknown and missing names.
fn distance(errors: &[ValidationError<'_>]) -> usize {
    let weight = |error: &ValidationError<'_>| match error.kind() {
        Kind::Constant { .. } => 100,
        Kind::Enum { options } if options.as_array().is_some_and(|options| options.len() == 1) => 100,
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            10 * unexpected.len()
        }
        Kind::Required { .. } => 10,
        _ => 3,
    };
    errors.iter().map(weight).sum()
}
