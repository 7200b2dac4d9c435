//! Conditions on fields, joined by and, or, not.
//!
//! They are two-valued, as in pandas: a missing value or NaN equals nothing, so `==` and the orders are false
//! there and `!=` is true; `not` turns exactly what was true into false.

use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};

use super::comparison::{Comparison, evaluate};
use crate::arguments::{Arguments, json_kind};
use crate::bounds::{CONDITION_DEPTH_MAX, PATTERN_BYTES_MAX};
use crate::expression::Expression;
use crate::outcome::{Notes, Problem};
use crate::spellings::{plain, setting};
use crate::table::Table;

/// A condition that was understood.
#[derive(Debug)]
pub(super) enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    Expression(Expression),
    Compare { field: String, comparison: Comparison },
}

const KNOWN: [&str; 12] = [
    "field",
    "operator",
    "value",
    "ignore_case",
    "conditions",
    "logic",
    "and",
    "or",
    "not",
    "where",
    "min",
    "max",
];
const ACCEPTED: [&str; 5] = ["expression", "values", "all", "any", "condition"];

/// The operators, each with its other spellings.
const OPERATORS: [(&str, &[&str]); 17] = [
    ("==", &["=", "===", "eq", "equals", "equal", "equal_to", "is"]),
    ("!=", &["<>", "!==", "ne", "neq", "not_equals", "not_equal", "not_equal_to", "is_not", "not"]),
    (">", &["gt", "greater", "greater_than", "more_than", "above", "after"]),
    (
        ">=",
        &[
            "=>",
            "≥",
            "gte",
            "ge",
            "gteq",
            "greater_or_equal",
            "greater_than_or_equal",
            "greater_than_or_equal_to",
            "at_least",
        ],
    ),
    ("<", &["lt", "less", "less_than", "fewer_than", "below", "before"]),
    (
        "<=",
        &[
            "=<",
            "≤",
            "lte",
            "le",
            "lteq",
            "less_or_equal",
            "less_than_or_equal",
            "less_than_or_equal_to",
            "at_most",
        ],
    ),
    ("in", &["isin", "is_in", "one_of", "any_of"]),
    ("not in", &["not_in", "nin", "notin", "none_of"]),
    ("contains", &["includes"]),
    ("not contains", &["not_contains", "does_not_contain", "excludes"]),
    ("starts", &["starts_with", "startswith", "begins_with", "prefix"]),
    ("ends", &["ends_with", "endswith", "suffix"]),
    ("matches", &["match", "regex", "regexp", "like_regex", "=~", "~"]),
    ("between", &["range", "in_range"]),
    ("is null", &["is_null", "isnull", "null", "is_missing", "missing", "is_none", "isna", "not_exists"]),
    (
        "is not null",
        &["is_not_null", "not_null", "notnull", "is_present", "present", "is_not_none", "notna", "exists"],
    ),
    ("is nan", &["is_nan", "isnan", "nan"]),
];
/// Words that lead to an operator in an error and are not understood: they can mean two things.
const UNCLEAR: [(&str, &[&str]); 3] =
    [("contains", &["like", "ilike"]), ("is null", &["empty"]), ("is not null", &["not_empty"])];

impl Condition {
    /// Of a table with these fields: a name that is no setting may be one of them.
    pub(super) fn parse(body: &Value, table: &Table) -> Result<Self, Problem> {
        Self::parse_at(body, table, 0)
    }

    fn parse_at(body: &Value, table: &Table, depth: usize) -> Result<Self, Problem> {
        if depth > CONDITION_DEPTH_MAX {
            return Err(Problem::new(format!(
                "conditions are nested more than {CONDITION_DEPTH_MAX} levels deep"
            )));
        }
        match body {
            Value::Array(_) => return Ok(Condition::All(list(body, table, depth)?)),
            Value::String(text) => return Ok(Condition::Expression(Expression::parse(text)?)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
        }
        if let Value::Object(object) = body
            && let Some(by_field) = Self::by_field(object, table)?
        {
            return Ok(by_field);
        }
        let arguments = Arguments::new("a condition", body, &KNOWN, &ACCEPTED)?;
        let mut parts = Vec::new();
        if let Some(conditions) = arguments.first_of(&["conditions", "condition"]) {
            let inner = list(conditions, table, depth)?;
            parts.push(if is_or(&arguments)? { Condition::Any(inner) } else { Condition::All(inner) });
        }
        if let Some(inner) = arguments.first_of(&["and", "all"]) {
            parts.push(Condition::All(list(inner, table, depth)?));
        }
        if let Some(inner) = arguments.first_of(&["or", "any"]) {
            parts.push(Condition::Any(list(inner, table, depth)?));
        }
        if let Some(inner) = arguments.first_of(&["not"]) {
            parts.push(Condition::Not(Box::new(Self::parse_at(inner, table, depth + 1)?)));
        }
        if let Some(text) = arguments.text(&["where", "expression"])? {
            parts.push(Condition::Expression(Expression::parse(text)?));
        }
        if let Some(field) = arguments.text(&["field"])? {
            let comparison = comparison(&arguments).map_err(|problem| problem.field(field))?;
            parts.push(Condition::Compare { field: field.to_owned(), comparison });
        }
        match parts.len() {
            0 => Err(Problem::new("a condition needs a field, an operator and a value, or conditions inside").hint(
                r#"example: {"field": "price", "operator": ">", "value": 10}, or {"conditions": [...], "logic": "OR"}"#,
            )),
            1 => Ok(parts.remove(0)),
            _ => Ok(Condition::All(parts)),
        }
    }

    /// `{"total": {">": 10}, "city": "Oslo"}`: fields of the table in the place of settings. `None` where a
    /// name is something else.
    fn by_field(object: &Map<String, Value>, table: &Table) -> Result<Option<Self>, Problem> {
        let is_setting =
            |name: &str| setting(name, &|name| KNOWN.contains(&name) || ACCEPTED.contains(&name));
        let is_field = |name: &String| is_setting(name).is_none() && table.has(name);
        let has_operators = |value: &Value| {
            let mut operators = value.as_object().into_iter().flat_map(Map::keys).peekable();
            operators.peek().is_some() && operators.all(|operator| operator_of(operator).is_ok())
        };
        let unknown = object
            .iter()
            .find(|(name, value)| is_setting(name).is_none() && !table.has(name) && has_operators(value));
        if let Some((name, _)) = unknown {
            return Err(table.unknown_field(name));
        }
        if object.is_empty() || !object.keys().all(is_field) {
            return Ok(None);
        }
        let mut parts = Vec::new();
        for (field, wanted) in object {
            let found: Result<Vec<Comparison>, Problem> = match wanted {
                Value::Object(operators) if !operators.is_empty() => {
                    operators.iter().map(|(operator, value)| operation(operator, value)).collect()
                }
                Value::Array(values) => Ok(vec![Comparison::In(values.clone())]),
                Value::Null => Ok(vec![Comparison::IsNull]),
                Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                    Ok(vec![Comparison::Equal(wanted.clone())])
                }
            };
            let found = found.map_err(|problem| problem.field(field.as_str()))?;
            let compare = |comparison| Condition::Compare { field: field.clone(), comparison };
            parts.extend(found.into_iter().map(compare));
        }
        Ok(Some(if parts.len() == 1 { parts.remove(0) } else { Condition::All(parts) }))
    }

    /// The fields that it compares, in the order in which they are named.
    pub(super) fn fields(&self) -> Vec<&str> {
        match self {
            Condition::All(inner) | Condition::Any(inner) => {
                inner.iter().flat_map(Condition::fields).collect()
            }
            Condition::Not(inner) => inner.fields(),
            Condition::Expression(expression) => expression.fields(),
            Condition::Compare { field, .. } => vec![field.as_str()],
        }
    }

    /// In which rows it holds.
    pub(super) fn holds(&self, table: &Table, notes: &mut Notes) -> Result<Vec<bool>, Problem> {
        match self {
            Condition::All(inner) => {
                let mut mask = vec![true; table.rows()];
                for condition in inner {
                    let other = condition.holds(table, notes)?;
                    mask.iter_mut().zip(other).for_each(|(own, other)| *own &= other);
                }
                Ok(mask)
            }
            Condition::Any(inner) => {
                let mut mask = vec![false; table.rows()];
                for condition in inner {
                    let other = condition.holds(table, notes)?;
                    mask.iter_mut().zip(other).for_each(|(own, other)| *own |= other);
                }
                Ok(mask)
            }
            Condition::Not(inner) => Ok(inner.holds(table, notes)?.into_iter().map(|holds| !holds).collect()),
            Condition::Expression(expression) => expression.holds(table, notes),
            Condition::Compare { field, comparison } => {
                evaluate(table, field, comparison, notes).map_err(|problem| problem.field(field.as_str()))
            }
        }
    }
}

fn list(value: &Value, table: &Table, depth: usize) -> Result<Vec<Condition>, Problem> {
    match value {
        Value::Array(items) => items.iter().map(|item| Condition::parse_at(item, table, depth + 1)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            Ok(vec![Condition::parse_at(value, table, depth + 1)?])
        }
    }
}

fn is_or(arguments: &Arguments<'_>) -> Result<bool, Problem> {
    match arguments.text(&["logic"])? {
        None => Ok(false),
        Some(logic) if ["and", "all", "&&"].iter().any(|word| logic.eq_ignore_ascii_case(word)) => Ok(false),
        Some(logic) if ["or", "any", "||"].iter().any(|word| logic.eq_ignore_ascii_case(word)) => Ok(true),
        Some(logic) => Err(Problem::unknown("logic", logic, ["AND", "OR"])
            .hint("use AND or OR; for NOT write {\"not\": {...}}")),
    }
}

/// The documented spelling of an operator.
fn operator_of(written: &str) -> Result<&'static str, Problem> {
    let wanted = plain(written.trim().trim_start_matches('$'));
    let found = OPERATORS
        .iter()
        .find(|(own, others)| own.replace(' ', "_") == wanted || others.contains(&wanted.as_str()));
    match found {
        Some((own, _)) => Ok(own),
        None => {
            let names: Vec<&str> = OPERATORS.iter().map(|(own, _)| *own).collect();
            if let Some((near, _)) = UNCLEAR.iter().find(|(_, words)| words.contains(&wanted.as_str())) {
                return Err(Problem::new(format!("unknown operator {written:?}"))
                    .hint(format!("did you mean {near:?}? available: {}", names.join(", "))));
            }
            Err(Problem::unknown_spelling("operator", written, OPERATORS))
        }
    }
}

/// What an operator is compared with, and how.
struct Operands<'a> {
    written: &'a str,
    value: Option<&'a Value>,
    ends: Option<(&'a Value, &'a Value)>,
    ignores_case: bool,
}

impl Operands<'_> {
    fn value(&self) -> Result<Value, Problem> {
        self.value.cloned().ok_or_else(|| {
            Problem::new(format!("the operator {:?} needs a value", self.written))
                .hint("for missing values use \"is null\" or \"is not null\"")
        })
    }

    fn many(&self) -> Result<Vec<Value>, Problem> {
        match self.value()? {
            Value::Array(items) => Ok(items),
            other => Err(Problem::new(format!(
                "the operator {:?} needs a list of values, not {}",
                self.written,
                json_kind(&other)
            ))),
        }
    }

    fn text(&self) -> Result<String, Problem> {
        match self.value()? {
            Value::String(text) => Ok(text),
            other => Err(Problem::new(format!(
                "the operator {:?} needs text, not {}",
                self.written,
                json_kind(&other)
            ))),
        }
    }

    fn between(&self) -> Result<Comparison, Problem> {
        if let Some((low, high)) = self.ends {
            return Ok(Comparison::Between(low.clone(), high.clone()));
        }
        match self.many()?.as_slice() {
            [low, high] => Ok(Comparison::Between(low.clone(), high.clone())),
            _ => Err(Problem::new("between needs a list of two values: the lowest and the highest")),
        }
    }
}

/// One member of `{"total": {">": 10}}`.
fn operation(operator: &str, value: &Value) -> Result<Comparison, Problem> {
    let operands = Operands { written: operator, value: Some(value), ends: None, ignores_case: false };
    compared(&operands)
}

fn comparison(arguments: &Arguments<'_>) -> Result<Comparison, Problem> {
    let value = arguments.first_of(&["value", "values"]);
    let ends = arguments.first_of(&["min"]).zip(arguments.first_of(&["max"]));
    // A field and a value, and nothing between them: they are equal.
    let written = match (arguments.text(&["operator"])?, value) {
        (Some(written), _) => written,
        (None, Some(Value::Array(_))) => "in",
        (None, Some(_)) => "==",
        (None, None) if ends.is_some() => "between",
        (None, None) => return Err(arguments.missing(&["operator"])),
    };
    compared(&Operands { written, value, ends, ignores_case: arguments.flag(&["ignore_case"])? })
}

fn compared(operands: &Operands<'_>) -> Result<Comparison, Problem> {
    let ignores_case = operands.ignores_case;
    let is_turned = operands.value == Some(&Value::Bool(false));
    Ok(match operator_of(operands.written)? {
        "==" => Comparison::Equal(operands.value()?),
        "!=" => Comparison::NotEqual(operands.value()?),
        ">" => Comparison::Greater(operands.value()?),
        ">=" => Comparison::GreaterOrEqual(operands.value()?),
        "<" => Comparison::Less(operands.value()?),
        "<=" => Comparison::LessOrEqual(operands.value()?),
        "in" => Comparison::In(operands.many()?),
        "not in" => Comparison::NotIn(operands.many()?),
        "between" => operands.between()?,
        "contains" => Comparison::Contains { part: operands.value()?, ignores_case },
        "not contains" => Comparison::NotContains { part: operands.value()?, ignores_case },
        "starts" => Comparison::Starts { part: operands.text()?, ignores_case },
        "ends" => Comparison::Ends { part: operands.text()?, ignores_case },
        "matches" => Comparison::Matches(pattern(&operands.text()?, ignores_case)?),
        "is null" if is_turned => Comparison::IsNotNull,
        "is null" => Comparison::IsNull,
        "is not null" if is_turned => Comparison::IsNull,
        "is not null" => Comparison::IsNotNull,
        _ => Comparison::IsNan,
    })
}

/// A pattern within its bound.
pub(super) fn pattern(text: &str, ignores_case: bool) -> Result<Regex, Problem> {
    let built = RegexBuilder::new(text)
        .case_insensitive(ignores_case)
        .size_limit(PATTERN_BYTES_MAX)
        .dfa_size_limit(PATTERN_BYTES_MAX)
        .build();
    built.map_err(|error| {
        let reason = error.to_string();
        let reason = reason.lines().last().unwrap_or_default().trim();
        Problem::new(format!("the pattern {text:?} can't be used: {reason}"))
            .hint("patterns are regular expressions without look-around or back-references")
    })
}
