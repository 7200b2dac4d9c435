//! A condition on one argument: where it is, and what it must be.

use serde_json::Value;

use super::arguments::{Arguments, Spelling};
use super::decimal::Decimal;
use super::wildcard::wildcard_fits;
use crate::hosts::decoded;

/// Longer ones are none that anybody writes.
const TEXT_BYTES_MAX: usize = 1_024;

/// Steps of a path.
const STEPS_MAX: usize = 16;

/// Values of the arguments that one condition looks at. More count as a match: what nobody could look
/// through is not let past a rule that forbids.
const VALUES_MAX: usize = 10_000;

/// `amount` is `>1000`: any value at the path may fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    path: String,
    steps: Vec<Step>,
    text: String,
    test: Test,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Key(String),
    Index(usize),
    /// `[*]` and `*`: every element or member.
    Every,
}

#[derive(Clone, Debug, PartialEq)]
enum Test {
    Compare(Comparison, Decimal),
    Fits(String),
    FitsNot(String),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A condition that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    #[error("the path must be names with dots between them, such as `order.total` or `items[*].price`")]
    Path,
    #[error("must be a comparison such as `>1000`, or a text with `*` for anything")]
    Test,
    #[error("is too long")]
    Long,
}

impl Condition {
    pub fn read(path: &str, test: &str) -> Result<Self, ConditionError> {
        if path.len() > TEXT_BYTES_MAX || test.len() > TEXT_BYTES_MAX {
            return Err(ConditionError::Long);
        }
        let steps = read_path(path).ok_or(ConditionError::Path)?;
        let read = read_test(test).ok_or(ConditionError::Test)?;
        Ok(Self { path: path.to_owned(), steps, text: test.to_owned(), test: read })
    }

    pub fn path(&self) -> &str {
        &self.path
    }

    /// What it must be, as it is written.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn fits(&self, arguments: &Arguments<'_>) -> bool {
        let mut left = VALUES_MAX;
        let fits = |value: &Value| self.test.fits(value, arguments.spelling());
        any_fits(arguments.value(), &self.steps, &fits, &mut left)
    }
}

fn any_fits(value: &Value, steps: &[Step], test: &dyn Fn(&Value) -> bool, left: &mut usize) -> bool {
    if *left == 0 {
        return true;
    }
    *left -= 1;
    let Some((first, rest)) = steps.split_first() else { return test(value) };
    match (first, value) {
        (Step::Key(key), Value::Object(members)) => {
            members.get(key).is_some_and(|member| any_fits(member, rest, test, left))
        }
        (Step::Index(index), Value::Array(items)) => {
            items.get(*index).is_some_and(|item| any_fits(item, rest, test, left))
        }
        (Step::Every, Value::Array(items)) => items.iter().any(|item| any_fits(item, rest, test, left)),
        (Step::Every, Value::Object(members)) => {
            members.values().any(|member| any_fits(member, rest, test, left))
        }
        (Step::Key(_) | Step::Index(_) | Step::Every, _) => false,
    }
}

impl Test {
    fn fits(&self, value: &Value, spelling: Spelling) -> bool {
        let fits = |pattern: &str| {
            let text = text(value);
            let as_written = wildcard_fits(pattern, &text);
            as_written || (spelling == Spelling::Decoded && wildcard_fits(&decoded(pattern), &text))
        };
        match self {
            Test::Compare(comparison, than) => {
                number(value).is_some_and(|number| comparison.holds(&number, than))
            }
            Test::Fits(pattern) => fits(pattern),
            Test::FitsNot(pattern) => !fits(pattern),
        }
    }
}

impl Comparison {
    fn holds(self, one: &Decimal, other: &Decimal) -> bool {
        match self {
            Comparison::Less => one < other,
            Comparison::LessOrEqual => one <= other,
            Comparison::Greater => one > other,
            Comparison::GreaterOrEqual => one >= other,
        }
    }
}

/// Servers take `"1000"` for a number, too: a rule must not be passed by quotes.
fn number(value: &Value) -> Option<Decimal> {
    match value {
        Value::Number(number) => Decimal::read(number.as_str()),
        Value::String(text) => Decimal::read(text.trim()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn text(value: &Value) -> std::borrow::Cow<'_, str> {
    match value {
        Value::String(text) => text.into(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string().into()
        }
    }
}

fn read_path(path: &str) -> Option<Vec<Step>> {
    let path = path.strip_prefix("$.").unwrap_or(path);
    let mut steps = Vec::new();
    for part in path.split('.') {
        let (name, mut brackets) = part.split_at(part.find('[').unwrap_or(part.len()));
        match name {
            "" => return None,
            "*" => steps.push(Step::Every),
            name => steps.push(Step::Key(name.to_owned())),
        }
        while !brackets.is_empty() {
            let (inside, rest) = brackets.strip_prefix('[')?.split_once(']')?;
            steps.push(match inside {
                "*" => Step::Every,
                index => Step::Index(index.parse().ok()?),
            });
            brackets = rest;
        }
    }
    (steps.len() <= STEPS_MAX).then_some(steps)
}

fn read_test(text: &str) -> Option<Test> {
    const COMPARISONS: [(&str, Comparison); 4] = [
        (">=", Comparison::GreaterOrEqual),
        ("<=", Comparison::LessOrEqual),
        (">", Comparison::Greater),
        ("<", Comparison::Less),
    ];
    for (sign, comparison) in COMPARISONS {
        if let Some(rest) = text.strip_prefix(sign) {
            let than = Decimal::read(rest.trim())?;
            return than.is_for_rules().then_some(Test::Compare(comparison, than));
        }
    }
    if let Some(pattern) = text.strip_prefix("!=").or_else(|| text.strip_prefix('!')) {
        return Some(Test::FitsNot(pattern.to_owned()));
    }
    Some(Test::Fits(text.strip_prefix('=').unwrap_or(text).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_condition_looks_at_every_value_that_its_path_leads_to() {
        let arguments = json!({
            "amount": 1500, "text_amount": "1500", "to": "ann@example.com",
            "order": {"items": [{"price": 5}, {"price": 50}], "rush": true},
        });
        let check = |path: &str, test: &str, expected: bool| {
            let text = arguments.to_string();
            let fits = Condition::read(path, test).unwrap().fits(&Arguments::of(&text));
            assert_eq!(fits, expected, "{path} {test}");
        };
        check("amount", ">1000", true);
        check("amount", "> 1500", false);
        check("amount", ">=1500", true);
        check("amount", "<=1499.5", false);
        check("text_amount", ">1000", true);
        check("$.amount", "1500", true);
        check("to", "*@example.com", true);
        check("to", "!*@example.com", false);
        check("to", ">3", false);
        check("order.items[*].price", ">10", true);
        check("order.items[0].price", ">10", false);
        check("order.*", "true", true);
        check("order.rush", "=true", true);
        check("missing", "*", false);
        check("missing", "!x", false);
    }

    #[test]
    fn numbers_of_any_size_are_compared_exactly() {
        let check = |test: &str, number: &str, expected: bool| {
            let condition = Condition::read("amount", test).unwrap();
            for arguments in [format!("{{\"amount\": {number}}}"), format!("{{\"amount\": \"{number}\"}}")] {
                assert_eq!(condition.fits(&Arguments::of(&arguments)), expected, "{test} {arguments}");
            }
        };
        let huge = format!("1{}", "0".repeat(309));
        check(">1000", &huge, true);
        check("<0", &huge, false);
        check("<0", &format!("-{huge}"), true);
        check(">1000", "1e309", true);
        check(">1000", "1E+99999999999999999999", true);
        check(">1000", "1e-99999999999999999999", false);
        check(">0", "1e-400", true);
        check("<=1e400", "1e401", false);
        check(">9007199254740992", "9007199254740993", true);
        check("<9007199254740993", "9007199254740992", true);
        check(">=9007199254740993", "9007199254740992", false);
        check("<=0.1", "0.1000000000000000000001", false);
    }

    #[test]
    fn what_is_no_number_is_compared_with_none() {
        let fits = |test: &str, value: Value| {
            let arguments = json!({ "amount": value }).to_string();
            Condition::read("amount", test).unwrap().fits(&Arguments::of(&arguments))
        };
        for value in [json!("1,000,000"), json!("NaN"), json!(""), json!(true), json!(null), json!([5000])] {
            assert!(!fits(">1000", value.clone()) && !fits("<=1000", value.clone()), "{value}");
        }
        assert!(fits(">1000", json!("inf")) && fits("<0", json!("-Infinity")), "some servers take these");
        assert!(fits(">1000", json!(" 5000 ")));
    }

    #[test]
    fn what_cannot_be_read_is_refused_and_what_is_endless_counts_as_found() {
        assert_eq!(Condition::read("", "x"), Err(ConditionError::Path));
        assert_eq!(Condition::read("a..b", "x"), Err(ConditionError::Path));
        assert_eq!(Condition::read("a[b]", "x"), Err(ConditionError::Path));
        assert_eq!(Condition::read("a", ">much"), Err(ConditionError::Test));
        assert_eq!(Condition::read("a", ">inf"), Err(ConditionError::Test));
        assert_eq!(Condition::read("a", ">1e99999999999999999999"), Err(ConditionError::Test));
        assert_eq!(Condition::read("a", &"x".repeat(2_000)), Err(ConditionError::Long));
        let many = json!({"a": vec![0; VALUES_MAX * 2]});
        assert!(Condition::read("a[*]", "1").unwrap().fits(&Arguments::of(&many.to_string())));
    }
}
