//! Names as they are written with dots, and what stands in brackets around them.

use oxc_ast::ast::{ChainElement, Expression};

/// More parts than anybody writes.
const PARTS_MAX: usize = 8;

/// An expression without the brackets and types around it.
pub(super) fn bare<'e, 'a>(mut expression: &'e Expression<'a>) -> &'e Expression<'a> {
    loop {
        expression = match expression {
            Expression::ParenthesizedExpression(inner) => &inner.expression,
            Expression::TSAsExpression(inner) => &inner.expression,
            Expression::TSSatisfiesExpression(inner) => &inner.expression,
            Expression::TSNonNullExpression(inner) => &inner.expression,
            Expression::TSTypeAssertion(inner) => &inner.expression,
            Expression::TSInstantiationExpression(inner) => &inner.expression,
            _ => return expression,
        };
    }
}

/// `a.b.c` and `a?.b["c"]` as their parts; `None` for anything else.
pub(super) fn path_of<'a>(expression: &Expression<'a>) -> Option<Vec<&'a str>> {
    let mut parts = Vec::new();
    let mut expression = bare(expression);
    loop {
        if parts.len() > PARTS_MAX {
            return None;
        }
        expression = bare(match expression {
            Expression::StaticMemberExpression(member) => {
                parts.push(member.property.name.as_str());
                &member.object
            }
            Expression::ComputedMemberExpression(member) => {
                parts.push(text_of(&member.expression)?);
                &member.object
            }
            Expression::ChainExpression(chain) => match &chain.expression {
                ChainElement::StaticMemberExpression(member) => {
                    parts.push(member.property.name.as_str());
                    &member.object
                }
                ChainElement::ComputedMemberExpression(member) => {
                    parts.push(text_of(&member.expression)?);
                    &member.object
                }
                _ => return None,
            },
            Expression::Identifier(name) => {
                parts.push(name.name.as_str());
                parts.reverse();
                return Some(parts);
            }
            _ => return None,
        });
    }
}

/// The text of a string, or of a template without substitutions.
pub(super) fn text_of<'a>(expression: &Expression<'a>) -> Option<&'a str> {
    match bare(expression) {
        Expression::StringLiteral(text) => Some(text.value.as_str()),
        Expression::TemplateLiteral(template) if template.expressions.is_empty() => {
            template.quasis.first()?.value.cooked.as_ref().map(|text| text.as_str())
        }
        _ => None,
    }
}
