//! Names for types, from titles, references and the fields that hold them.

use std::collections::HashSet;

use serde_json::Value;

use super::inert_text::one_line;

const NAME_CHARS_MAX: usize = 40;

/// Words that mean something in a stub of either language.
const TAKEN: [&str; 22] = [
    "Any",
    "Array",
    "Awaitable",
    "Boolean",
    "Date",
    "Ellipsis",
    "Error",
    "Exception",
    "False",
    "Function",
    "Literal",
    "None",
    "NotImplemented",
    "NotRequired",
    "Number",
    "Object",
    "Promise",
    "Record",
    "String",
    "True",
    "TypeAlias",
    "TypedDict",
];

/// The names given so far.
#[derive(Debug)]
pub(super) struct TypeNames(HashSet<String>);

impl TypeNames {
    /// The tool's own name is never given to a type.
    pub fn new(tool: &str) -> Self {
        let taken = TAKEN.into_iter().chain([tool]);
        Self(taken.map(str::to_owned).collect())
    }

    /// A name like the hint that no other type has.
    pub fn take(&mut self, hint: &str) -> String {
        let name = pascal_case(hint);
        if self.0.insert(name.clone()) {
            return name;
        }
        for number in 2..=self.0.len() + 2 {
            let numbered = format!("{name}{number}");
            if self.0.insert(numbered.clone()) {
                return numbered;
            }
        }
        name
    }

    /// The name is not needed after all.
    pub fn release(&mut self, name: &str) {
        self.0.remove(name);
    }
}

/// `file-path` becomes `FilePath`. Never empty.
pub(super) fn pascal_case(text: &str) -> String {
    let mut made = String::new();
    let mut is_start = true;
    for c in text.chars().take(NAME_CHARS_MAX) {
        if !c.is_ascii_alphanumeric() {
            is_start = true;
            continue;
        }
        made.push(if is_start { c.to_ascii_uppercase() } else { c });
        is_start = false;
    }
    if !made.starts_with(|c: char| c.is_ascii_alphabetic()) {
        made.insert_str(0, "Type");
    }
    made
}

/// `Target` whose `type` is always `user` is a `TargetUser`.
pub(super) fn variant_hint(variant: &Value, hint: &str) -> String {
    let properties = variant.get("properties").and_then(Value::as_object);
    let only = |schema: &Value| {
        let single = schema.get("enum").and_then(Value::as_array).filter(|values| values.len() == 1);
        let value = schema.get("const").or_else(|| single?.first())?.as_str()?;
        (!value.is_empty() && value.len() <= 30).then(|| value.to_owned())
    };
    let mark = properties.and_then(|properties| properties.values().take(4).find_map(only));
    mark.map_or_else(|| hint.to_owned(), |mark| format!("{} {mark}", one_line(hint, 40)))
}

/// Whether a title is the name of a type rather than a sentence.
pub(super) fn is_title(title: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '_' | '-');
    title.len() <= 40
        && title.chars().all(is_word)
        && title.matches(' ').count() <= 3
        && title.starts_with(|c: char| c.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_get_names_of_their_own() {
        let mut names = TypeNames::new("Thing");
        let mut check = |hint: &str, expected: &str| assert_eq!(names.take(hint), expected, "{hint}");
        check("file-path", "FilePath");
        check("file_path", "FilePath2");
        check("thing", "Thing2");
        check("any", "Any2");
        check("2fa", "Type2fa");
        check("読む", "Type");
        check("", "Type2");
    }
}
