//! Values that stand in a program as they are, as JSON.

use oxc_ast::ast::{ArrayExpressionElement, Expression, ObjectPropertyKind, PropertyKey, UnaryOperator};
use serde_json::{Map, Number, Value};

use super::paths::{bare, text_of};

/// Whole numbers up to here are exact.
const WHOLE_MAX: f64 = 9_007_199_254_740_991.0;

/// A value that is known before the program runs, as it reaches a tool; `None` if any part of it isn't.
pub(super) fn literal(expression: &Expression<'_>) -> Option<Value> {
    if let Some(text) = text_of(expression) {
        return Some(Value::from(text));
    }
    Some(match bare(expression) {
        Expression::BooleanLiteral(truth) => Value::Bool(truth.value),
        Expression::NullLiteral(_) => Value::Null,
        Expression::NumericLiteral(number) => number_of(number.value)?,
        Expression::UnaryExpression(unary) if unary.operator == UnaryOperator::UnaryNegation => {
            number_of(-literal(&unary.argument)?.as_f64()?)?
        }
        Expression::ArrayExpression(array) => {
            let element = |element: &ArrayExpressionElement<'_>| literal(element.as_expression()?);
            Value::Array(array.elements.iter().map(element).collect::<Option<_>>()?)
        }
        Expression::ObjectExpression(object) => {
            let mut map = Map::new();
            for property in &object.properties {
                let ObjectPropertyKind::ObjectProperty(property) = property else { return None };
                let key = key_of(&property.key, property.computed)?;
                map.insert(key.to_owned(), literal(&property.value)?);
            }
            Value::Object(map)
        }
        _ => return None,
    })
}

/// The name of a property, where it is known.
pub(super) fn key_of<'a>(key: &PropertyKey<'a>, is_computed: bool) -> Option<&'a str> {
    match key {
        PropertyKey::StaticIdentifier(name) if !is_computed => Some(name.name.as_str()),
        PropertyKey::StringLiteral(text) => Some(text.value.as_str()),
        _ => None,
    }
}

fn number_of(number: f64) -> Option<Value> {
    if number.fract() == 0.0 && number.abs() <= WHOLE_MAX {
        return Some(Value::from(number as i64));
    }
    Number::from_f64(number).map(Value::Number)
}
