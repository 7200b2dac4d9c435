//! Classes: modifiers and types go, and parameters that are properties become them.

use oxc_ast::ast::{
    AccessorPropertyType, BindingPattern, Class, ClassElement, Expression, Function, MethodDefinition,
    MethodDefinitionKind, MethodDefinitionType, PropertyDefinition, PropertyDefinitionType, PropertyKey,
    Statement,
};
use oxc_span::{GetSpan, Span};

use super::strip::Strip;
use super::tokens::{after_blank, words_between};

/// What only types have, of the words before a member's name.
const MODIFIERS: [&str; 7] =
    ["private", "protected", "public", "abstract", "override", "readonly", "declare"];

/// `abstract class A<T> extends B<C> implements D`
pub(super) fn strip_head(strip: &mut Strip<'_>, class: &Class<'_>) {
    let body = class.body.span.start as usize;
    if class.r#abstract {
        let words = words_between(strip.text, class.span.start as usize, body);
        if let Some((at, word)) = words.into_iter().find(|(_, word)| *word == "abstract") {
            strip.edits.blank(at, at + word.len());
        }
    }
    strip.blank_option(class.type_parameters.as_deref());
    let mut end = class.id.as_ref().map_or(class.span.start, |id| id.span.end);
    end = class.type_parameters.as_ref().map_or(end, |types| types.span.end);
    if let Some(heritage) = &class.heritage {
        strip.blank_option(heritage.type_arguments.as_deref());
        end = heritage.type_arguments.as_ref().map_or(heritage.expression.span().end, |types| types.span.end);
    }
    if let (Some(first), Some(last)) = (class.implements.first(), class.implements.last()) {
        let words = words_between(strip.text, end as usize, first.span.start as usize);
        if let Some((at, _)) = words.into_iter().rfind(|(_, word)| *word == "implements") {
            strip.edits.blank(at, last.span.end as usize);
        }
    }
}

/// Whether anything of it stays.
pub(super) fn strip_element(strip: &mut Strip<'_>, element: &ClassElement<'_>) -> bool {
    match element {
        ClassElement::StaticBlock(_) => true,
        ClassElement::TSIndexSignature(signature) => {
            strip.erase(signature.span);
            false
        }
        ClassElement::MethodDefinition(method) => strip_method(strip, method),
        ClassElement::PropertyDefinition(property) => strip_property(strip, property),
        ClassElement::AccessorProperty(accessor) => {
            if accessor.r#type == AccessorPropertyType::TSAbstractAccessorProperty {
                strip.erase(accessor.span);
                return false;
            }
            strip_modifiers(strip, accessor.span, &accessor.key);
            strip.blank_option(accessor.type_annotation.as_deref());
            true
        }
    }
}

fn strip_method(strip: &mut Strip<'_>, method: &MethodDefinition<'_>) -> bool {
    let is_abstract = method.r#type == MethodDefinitionType::TSAbstractMethodDefinition;
    if is_abstract || method.value.body.is_none() {
        strip.erase(method.span);
        return false;
    }
    strip_modifiers(strip, method.span, &method.key);
    if method.optional {
        let end = key_end(strip, &method.key, method.computed);
        strip.blank_sign(end, b"?");
    }
    if method.kind == MethodDefinitionKind::Constructor {
        assign_properties(strip, &method.value);
    }
    true
}

fn strip_property(strip: &mut Strip<'_>, property: &PropertyDefinition<'_>) -> bool {
    let is_abstract = property.r#type == PropertyDefinitionType::TSAbstractPropertyDefinition;
    if is_abstract || property.declare {
        strip.erase(property.span);
        return false;
    }
    strip_modifiers(strip, property.span, &property.key);
    let end = key_end(strip, &property.key, property.computed);
    if property.optional || property.definite {
        strip.blank_sign(end, b"?!");
    }
    if let Some(annotation) = &property.type_annotation {
        let (from, to) = (annotation.span.start as usize, annotation.span.end as usize);
        match &property.value {
            // A field named `get` must not become a getter of the next line.
            None => strip.edits.blank_as(from, to, ';'),
            Some(_) => strip.edits.blank(from, to),
        }
    }
    true
}

/// The first of them leaves a `;`, for the member before may have none.
fn strip_modifiers(strip: &mut Strip<'_>, element: Span, key: &PropertyKey<'_>) {
    let start = element.start as usize;
    let words = words_between(strip.text, start, key.span().start as usize);
    for (at, word) in words.into_iter().filter(|(_, word)| MODIFIERS.contains(word)) {
        match at == start {
            true => strip.edits.blank_as(at, at + word.len(), ';'),
            false => strip.edits.blank(at, at + word.len()),
        }
    }
}

fn key_end(strip: &Strip<'_>, key: &PropertyKey<'_>, is_computed: bool) -> u32 {
    let end = key.span().end;
    if !is_computed {
        return end;
    }
    let bracket = after_blank(strip.text, end as usize);
    u32::try_from(bracket + 1).unwrap_or(end)
}

/// `constructor(private x: number)` sets `this.x`, after `super()` if there is one.
fn assign_properties(strip: &mut Strip<'_>, constructor: &Function<'_>) {
    let Some(body) = &constructor.body else { return };
    let is_property = |item: &&oxc_ast::ast::FormalParameter<'_>| {
        item.accessibility.is_some() || item.readonly || item.r#override
    };
    let names = constructor.params.items.iter().filter(is_property).filter_map(|item| name_of(&item.pattern));
    let made: String = names.map(|name| format!("this.{name} = {name}; ")).collect();
    if made.is_empty() {
        return;
    }
    let after_super =
        body.statements.iter().find(|statement| is_super_call(statement)).map(|found| found.span().end);
    let after_directives = body.directives.last().map(|directive| directive.span.end);
    match after_super.or(after_directives) {
        Some(at) => strip.edits.insert(at as usize, &format!("; {}", made.trim_end())),
        None => strip.edits.insert(body.span.start as usize + 1, &format!(" {}", made.trim_end())),
    }
}

fn name_of<'a>(pattern: &BindingPattern<'a>) -> Option<&'a str> {
    match pattern {
        BindingPattern::BindingIdentifier(name) => Some(name.name.as_str()),
        BindingPattern::AssignmentPattern(inner) => name_of(&inner.left),
        BindingPattern::ObjectPattern(_) | BindingPattern::ArrayPattern(_) => None,
    }
}

fn is_super_call(statement: &Statement<'_>) -> bool {
    let Statement::ExpressionStatement(statement) = statement else { return false };
    let Expression::CallExpression(call) = &statement.expression else { return false };
    matches!(call.callee, Expression::Super(_))
}
