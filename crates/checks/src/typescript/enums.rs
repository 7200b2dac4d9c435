//! Enums become objects, where they stand:
//! `enum A { X, Y = 5 }` is `var A; (A => [ A[A["X"] = 0] = "X", A[A["Y"] = 5] = "Y" ])(A ||= {});`

use std::collections::HashMap;

use oxc_ast::ast::{
    BinaryOperator, Expression, IdentifierReference, TSEnumDeclaration, TSEnumMember, TSEnumMemberName,
    UnaryOperator,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::GetSpan;

use super::mistakes::Mistake;
use super::namespaces::Declared;
use super::strip::Strip;

/// What is known of a member's value.
#[derive(Clone, Debug, PartialEq)]
enum Known {
    Number(f64),
    Text,
    /// Some number, most likely.
    Nothing,
}

pub(super) fn rewrite(strip: &mut Strip<'_>, one: &TSEnumDeclaration<'_>, declared: Declared) {
    let name = one.id.name.as_str();
    let (open, close) = (one.body.span.start as usize, one.body.span.end as usize - 1);
    let head = match declared {
        Declared::Here => format!("var {name}; ({name} => ["),
        Declared::Already => format!(";({name} => ["),
    };
    strip.edits.replace(one.span.start as usize, open + 1, &head);
    let mut known: HashMap<String, Known> = HashMap::new();
    let mut next = Some(0.0);
    let mut last: Option<String> = None;
    for member in &one.body.members {
        let Some(id) = name_of(&member.id) else {
            let hint = "give the member a name, or a string as its name";
            strip.refuse(Mistake::new(member.span, "an enum's member can't have a computed name", hint));
            return;
        };
        let value = member.initializer.as_ref().map(|value| evaluated(value, name, &known));
        let value = value.unwrap_or_else(|| next.map_or(Known::Nothing, Known::Number));
        write(strip, name, member, &Member { id: &id, value: &value, last: last.as_deref(), known: &known });
        next = match &value {
            Known::Number(number) => Some(number + 1.0),
            Known::Text | Known::Nothing => None,
        };
        last = Some(id.clone());
        known.insert(id, value);
    }
    strip.edits.replace(close, close + 1, &format!("])({name} ||= {{}});"));
}

struct Member<'m> {
    id: &'m str,
    value: &'m Known,
    /// The one before.
    last: Option<&'m str>,
    known: &'m HashMap<String, Known>,
}

fn write(strip: &mut Strip<'_>, name: &str, member: &TSEnumMember<'_>, told: &Member<'_>) {
    let quoted = quoted(told.id);
    let (start, end) = (member.span.start as usize, member.span.end as usize);
    let Some(initializer) = &member.initializer else {
        let value = match (told.value, told.last) {
            (Known::Number(number), _) => number.to_string(),
            // As the runtime finds it.
            (_, Some(last)) => format!("{name}[{}] + 1", self::quoted(last)),
            (_, None) => "0".to_owned(),
        };
        strip.edits.replace(start, end, &format!("{name}[{name}[{quoted}] = {value}] = {quoted}"));
        return;
    };
    let from = initializer.span().start as usize;
    let is_text = *told.value == Known::Text;
    let before = if is_text { format!("{name}[{quoted}] = ") } else { format!("{name}[{name}[{quoted}] = ") };
    strip.edits.replace(start, from, &before);
    strip.visit_expression(initializer);
    Members { strip, name, known: told.known }.visit_expression(initializer);
    if !is_text {
        strip.edits.insert(initializer.span().end as usize, &format!("] = {quoted}"));
    }
}

/// A member that another names means the enum's.
struct Members<'m, 's> {
    strip: &'m mut Strip<'s>,
    name: &'m str,
    known: &'m HashMap<String, Known>,
}

impl<'a> VisitJs<'a> for Members<'_, '_> {
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        if self.known.contains_key(it.name.as_str()) {
            self.strip.edits.insert(it.span.start as usize, &format!("{}.", self.name));
        }
    }

    fn visit_expression(&mut self, it: &Expression<'a>) {
        if self.strip.trouble.is_none() {
            walk_js::walk_expression(self, it);
        }
    }
}

fn name_of(id: &TSEnumMemberName<'_>) -> Option<String> {
    match id {
        TSEnumMemberName::Identifier(name) => Some(name.name.to_string()),
        TSEnumMemberName::String(text) | TSEnumMemberName::ComputedString(text) => {
            Some(text.value.to_string())
        }
        TSEnumMemberName::ComputedTemplateString(_) => None,
    }
}

/// As a string of JavaScript.
pub(super) fn quoted(text: &str) -> String {
    // JSON's strings are JavaScript's.
    serde_json::Value::from(text).to_string()
}

fn evaluated(expression: &Expression<'_>, of: &str, known: &HashMap<String, Known>) -> Known {
    match expression {
        Expression::NumericLiteral(number) => Known::Number(number.value),
        Expression::StringLiteral(_) | Expression::TemplateLiteral(_) => Known::Text,
        Expression::ParenthesizedExpression(inner) => evaluated(&inner.expression, of, known),
        Expression::Identifier(name) => known.get(name.name.as_str()).cloned().unwrap_or(Known::Nothing),
        Expression::StaticMemberExpression(member) => match &member.object {
            Expression::Identifier(object) if object.name.as_str() == of => {
                known.get(member.property.name.as_str()).cloned().unwrap_or(Known::Nothing)
            }
            _ => Known::Nothing,
        },
        Expression::UnaryExpression(unary) => match (unary.operator, evaluated(&unary.argument, of, known)) {
            (UnaryOperator::UnaryNegation, Known::Number(number)) => Known::Number(-number),
            (UnaryOperator::UnaryPlus, Known::Number(number)) => Known::Number(number),
            (UnaryOperator::BitwiseNot, Known::Number(number)) => Known::Number(f64::from(!to_i32(number))),
            _ => Known::Nothing,
        },
        Expression::BinaryExpression(binary) => {
            let (left, right) = (evaluated(&binary.left, of, known), evaluated(&binary.right, of, known));
            combined(binary.operator, &left, &right)
        }
        _ => Known::Nothing,
    }
}

fn combined(operator: BinaryOperator, left: &Known, right: &Known) -> Known {
    let (Known::Number(left), Known::Number(right)) = (left, right) else {
        let has_text = *left == Known::Text || *right == Known::Text;
        return if operator == BinaryOperator::Addition && has_text { Known::Text } else { Known::Nothing };
    };
    let (a, b) = (to_i32(*left), to_i32(*right));
    Known::Number(match operator {
        BinaryOperator::Addition => left + right,
        BinaryOperator::Subtraction => left - right,
        BinaryOperator::Multiplication => left * right,
        BinaryOperator::Division => left / right,
        BinaryOperator::Remainder => left % right,
        BinaryOperator::ShiftLeft => f64::from(a.wrapping_shl(b.unsigned_abs() & 31)),
        BinaryOperator::ShiftRight => f64::from(a.wrapping_shr(b.unsigned_abs() & 31)),
        BinaryOperator::BitwiseOR => f64::from(a | b),
        BinaryOperator::BitwiseAnd => f64::from(a & b),
        BinaryOperator::BitwiseXOR => f64::from(a ^ b),
        _ => return Known::Nothing,
    })
}

/// As JavaScript's operators on bits take numbers, as far as enums go.
fn to_i32(number: f64) -> i32 {
    number as i64 as i32
}
