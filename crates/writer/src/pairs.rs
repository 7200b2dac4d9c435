//! Arguments that come in pairs: the beginning and the end of a time, and of a way.

use serde_json::Value;

use crate::arguments::Filling;
use crate::kinds::{End, ParameterKind};
use crate::lexicon;
use crate::reading::{Problem, Role};
use crate::sentence::{Kind, next_content, previous_content};

/// `between A and B`, `from A to B`, or one date for one parameter.
pub fn dates(filling: &mut Filling<'_, '_>) -> Result<(), Problem> {
    let open = filling.open(|parameter| parameter.kind == ParameterKind::Date);
    let found = filling.reading.free(|token| token.kind == Kind::Date);
    let text = |filling: &Filling<'_, '_>, index: usize| filling.reading.tokens[index].text.clone();
    match (open.as_slice(), found.as_slice()) {
        ([only], [date]) if only.end().is_none() => {
            let value = text(filling, *date);
            filling.give(only, Value::from(value), *date, *date + 1);
        }
        ([_, _], [first, second]) => {
            let from = open.iter().find(|parameter| parameter.end() == Some(End::From));
            let to = open.iter().find(|parameter| parameter.end() == Some(End::To));
            let (Some(from), Some(to)) = (from, to) else { return Ok(()) };
            let (begins, ends) = (text(filling, *first), text(filling, *second));
            if begins > ends {
                return Err(Problem::NotAllowed { parameter: to.name.clone(), value: ends });
            }
            let before = first.checked_sub(1).filter(|before| filling.reading.is_free(*before));
            let is_joined = filling.reading.lower(first + 1);
            let leads = before.map(|before| filling.reading.lower(before));
            let is_range = second - first == 2
                && matches!(
                    (leads, is_joined),
                    (Some("between"), "and") | (Some("from"), "to" | "until" | "till")
                );
            if !is_range {
                return Ok(());
            }
            filling.give(from, Value::from(begins), *first, *first + 1);
            filling.give(to, Value::from(ends), *second, *second + 1);
            filling.reading.take_all(before.into_iter().chain([first + 1]), Role::ArgumentName);
        }
        _ => {}
    }
    Ok(())
}

/// `X to Y`, for parameters such as `from` and `to` that take texts: paths, units, names.
pub fn ways(filling: &mut Filling<'_, '_>) {
    let open = filling.open(|parameter| {
        matches!(parameter.kind, ParameterKind::Name | ParameterKind::Path) && parameter.end().is_some()
    });
    let [one, other] = open.as_slice() else { return };
    let (from, to) = match (one.end(), other.end()) {
        (Some(End::From), Some(End::To)) => (one, other),
        (Some(End::To), Some(End::From)) => (other, one),
        _ => return,
    };
    let tokens = filling.reading.tokens;
    let joins = filling.reading.free(|token| matches!(token.lower.as_str(), "to" | "into"));
    let [join] = joins[..] else { return };
    let takes = |index: &usize| {
        let token = &tokens[*index];
        let is_word = token.is_word() && !lexicon::is_stop(&token.lower) && !lexicon::is_strict(&token.lower);
        let is_text = matches!(token.kind, Kind::Path | Kind::Quoted | Kind::Identifier);
        filling.reading.is_free(*index) && (is_word || is_text) && !filling.tool.names(&token.stem)
    };
    let begins = previous_content(tokens, join).filter(takes);
    let ends = next_content(tokens, join + 1).filter(takes);
    let (Some(begins), Some(ends)) = (begins, ends) else { return };
    // A pair is of one kind: two paths, or two words.
    if std::mem::discriminant(&tokens[begins].kind) != std::mem::discriminant(&tokens[ends].kind) {
        return;
    }
    filling.give(from, Value::from(tokens[begins].text.as_str()), begins, begins + 1);
    filling.give(to, Value::from(tokens[ends].text.as_str()), ends, ends + 1);
    filling.reading.take(join, Role::ArgumentName);
}
