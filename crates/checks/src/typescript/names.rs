//! Names that a program binds and uses.

use std::collections::{HashMap, HashSet};

use oxc_ast::ast::{BindingPattern, IdentifierReference, Program, Statement};
use oxc_ast_visit::{VisitJs, walk_js};

use super::erased::is_erased;
use super::tokens::{Kind, Tokens};

/// The names of a pattern, such as `a` and `b` of `{a, c: [b]}`.
pub(super) fn bound_by<'a>(pattern: &BindingPattern<'a>, names: &mut Vec<&'a str>) {
    match pattern {
        BindingPattern::BindingIdentifier(name) => names.push(name.name.as_str()),
        BindingPattern::AssignmentPattern(inner) => bound_by(&inner.left, names),
        BindingPattern::ObjectPattern(object) => {
            object.properties.iter().for_each(|property| bound_by(&property.value, names));
            object.rest.iter().for_each(|rest| bound_by(&rest.argument, names));
        }
        BindingPattern::ArrayPattern(array) => {
            array.elements.iter().flatten().for_each(|element| bound_by(element, names));
            array.rest.iter().for_each(|rest| bound_by(&rest.argument, names));
        }
    }
}

/// Which names are used as values, rather than as types.
pub(super) fn values_of<'a>(program: &Program<'a>) -> HashSet<&'a str> {
    let mut values = Values(HashSet::new());
    for statement in &program.body {
        values.visit_statement(statement);
    }
    values.0
}

struct Values<'a>(HashSet<&'a str>);

impl<'a> VisitJs<'a> for Values<'a> {
    fn visit_statement(&mut self, it: &Statement<'a>) {
        if !is_erased(it) {
            walk_js::walk_statement(self, it);
        }
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        self.0.insert(it.name.as_str());
    }
}

/// How often each word stands in a text.
pub(super) fn word_counts(text: &str) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    let mut tokens = Tokens::of(text);
    while let Some(token) = tokens.next() {
        if token.kind == Kind::Word {
            *counts.entry(&text[token.start..token.end]).or_default() += 1;
        }
    }
    counts
}
