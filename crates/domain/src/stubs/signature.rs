//! How a tool is called, on one line.

use super::Language;
use super::caps::SIGNATURE_CHARS_MAX;
use super::inert_text::key;
use super::interface::Interface;
use super::outline::outline;
use super::python;
use super::type_text::TypeText;
use super::types::Type;
use crate::catalogue::{Server, Tool};

pub(super) fn line(language: Language, interface: &Interface, server: &Server, tool: &Tool) -> String {
    let name = format!("{}.{}", server.identifier, tool.identifier);
    let inline = TypeText::inline(language, &interface.types);
    let named = TypeText::new(language, &interface.types, "");
    let spelled_out = parameters(language, interface, &inline);
    let by_name = parameters(language, interface, &named);
    let (long_result, short_result) = match tool.learned.as_ref().filter(|learned| learned.says_something()) {
        Some(_) => learned_results(&inline, &named, interface),
        None => (inline.of(&interface.result), short_result(&named, &interface.result)),
    };
    let whole = |parameters: &[String], result: &str| {
        let line = written(language, &name, parameters, result);
        match tool.learned.as_ref().filter(|learned| learned.says_something()) {
            Some(learned) => format!("{line} {} {}", comment_mark(language), learned.seen()),
            None => line,
        }
    };
    let attempts = [(&spelled_out, &long_result), (&spelled_out, &short_result), (&by_name, &short_result)];
    for (parameters, result) in attempts {
        let line = whole(parameters, result);
        if line.chars().count() <= SIGNATURE_CHARS_MAX {
            return line;
        }
    }
    // Required ones come first: what goes last is optional as long as there is any.
    let mut kept = by_name;
    kept.push("…".to_owned());
    while kept.len() > 1 && whole(&kept, &short_result).chars().count() > SIGNATURE_CHARS_MAX {
        kept.remove(kept.len() - 2);
    }
    whole(&kept, &short_result)
}

fn parameters(language: Language, interface: &Interface, text: &TypeText<'_>) -> Vec<String> {
    let written = interface.parameters.iter().map(|(identifier, field)| match language {
        Language::Python => python::parameter(identifier, field, text),
        Language::TypeScript => {
            let mark = if field.is_required { "" } else { "?" };
            format!("{}{mark}: {}", key(language, &field.name), text.of(&field.value))
        }
    });
    let others = interface.others.as_ref().map(|others| match language {
        Language::Python => format!("**others: {}", text.of(others)),
        Language::TypeScript => "[key: string]: unknown".to_owned(),
    });
    written.chain(others).collect()
}

/// Of a result that was learned, fields are worth more than the names of types that nobody sees.
fn learned_results(inline: &TypeText<'_>, named: &TypeText<'_>, interface: &Interface) -> (String, String) {
    let Interface { result, types, .. } = interface;
    let (typed, chars_max) = (inline.of(result), SIGNATURE_CHARS_MAX / 2);
    let outlined = |chars_max| outline(types, result, chars_max);
    let is_spelled_out = !types.written().any(|(_, named)| typed.contains(&named.name));
    let long = if is_spelled_out { typed } else { outlined(chars_max).unwrap_or(typed) };
    let short = outlined(chars_max / 2).unwrap_or_else(|| short_result(named, result));
    (long, short)
}

fn comment_mark(language: Language) -> &'static str {
    match language {
        Language::Python => " #",
        Language::TypeScript => " //",
    }
}

/// A result whose type is too long to be written becomes anything.
fn short_result(text: &TypeText<'_>, result: &Type) -> String {
    let written = text.of(result);
    if written.chars().count() <= SIGNATURE_CHARS_MAX / 3 { written } else { text.of(&Type::Any) }
}

fn written(language: Language, name: &str, parameters: &[String], result: &str) -> String {
    match language {
        Language::Python => format!("{name}({}) -> {result}", parameters.join(", ")),
        Language::TypeScript if parameters.is_empty() => format!("{name}(): Promise<{result}>"),
        Language::TypeScript => format!("{name}(args: {{ {} }}): Promise<{result}>", parameters.join("; ")),
    }
}
