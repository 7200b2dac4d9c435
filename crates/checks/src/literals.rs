//! Values that stand in a program as they are, as JSON.

use ruff_python_ast::{Expr, Number, UnaryOp};
use serde_json::{Map, Value};

/// A value that is known before the program runs, as it reaches a tool; `None` if any part of it isn't.
pub(crate) fn literal(expr: &Expr) -> Option<Value> {
    Some(match expr {
        Expr::StringLiteral(text) => Value::String(text.value.to_str().to_owned()),
        Expr::BooleanLiteral(truth) => Value::Bool(truth.value),
        Expr::NoneLiteral(_) => Value::Null,
        Expr::NumberLiteral(number) => number_of(&number.value)?,
        Expr::UnaryOp(unary) if unary.op == UnaryOp::USub => negative(literal(&unary.operand)?)?,
        Expr::List(list) => Value::Array(list.elts.iter().map(literal).collect::<Option<_>>()?),
        Expr::Dict(dict) => {
            let mut map = Map::new();
            for item in &dict.items {
                let Value::String(key) = literal(item.key.as_ref()?)? else { return None };
                map.insert(key, literal(&item.value)?);
            }
            Value::Object(map)
        }
        _ => return None,
    })
}

fn number_of(number: &Number) -> Option<Value> {
    match number {
        Number::Int(int) => int.as_i64().map(Value::from),
        Number::Float(float) => serde_json::Number::from_f64(*float).map(Value::Number),
        Number::Complex { .. } => None,
    }
}

fn negative(value: Value) -> Option<Value> {
    let number = value.as_number()?;
    match number.as_i64() {
        Some(int) => Some(Value::from(-int)),
        None => serde_json::Number::from_f64(-number.as_f64()?).map(Value::Number),
    }
}
