//! A type as it is written in either language.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::Value;

use super::Language;
use super::inert_text::{key, literal, string};
use super::types::{Body, Field, Named, Scalar, Type, Types};

/// Writes types, and remembers what a Python file has to import for them.
pub(super) struct TypeText<'a> {
    language: Language,
    types: &'a Types,
    /// The tool's own name, which hides a word of the language that is spelled alike.
    tool: &'a str,
    /// How many levels of small objects are spelled out in place of their names.
    inline_levels: usize,
    imports: RefCell<BTreeSet<&'static str>>,
}

/// Objects with more fields are shown by name.
const INLINE_FIELDS_MAX: usize = 8;

/// Words that a Python stub takes from `typing`.
const TYPING: [&str; 5] = ["Any", "Literal", "NotRequired", "TypeAlias", "TypedDict"];

/// Words that a Python stub takes from the language.
const BUILTINS: [&str; 7] = ["str", "int", "float", "bool", "list", "dict", "tuple"];

impl<'a> TypeText<'a> {
    pub fn new(language: Language, types: &'a Types, tool: &'a str) -> Self {
        Self { language, types, tool, inline_levels: 0, imports: RefCell::default() }
    }

    /// With small objects spelled out.
    pub fn inline(language: Language, types: &'a Types) -> Self {
        Self { inline_levels: 2, ..Self::new(language, types, "") }
    }

    pub fn of(&self, value: &Type) -> String {
        self.nested(value, self.inline_levels)
    }

    fn nested(&self, value: &Type, levels: usize) -> String {
        match self.language {
            Language::Python => self.python(value, levels),
            Language::TypeScript => self.typescript(value, levels),
        }
    }

    fn python(&self, value: &Type, levels: usize) -> String {
        match value {
            Type::Any => self.word("Any"),
            Type::Null => "None".to_owned(),
            Type::Bool => self.word("bool"),
            Type::Int => self.word("int"),
            Type::Float => self.word("float"),
            Type::Str => self.word("str"),
            Type::Literal(values) => {
                let values: Vec<String> = values.iter().map(|value| self.scalar(value)).collect();
                format!("{}[{}]", self.word("Literal"), values.join(", "))
            }
            Type::List(item) => format!("{}[{}]", self.word("list"), self.python(item, levels)),
            Type::Tuple(items, rest) => {
                let mut items: Vec<String> = items.iter().map(|item| self.python(item, levels)).collect();
                let tuple = self.word("tuple");
                items.extend(
                    rest.as_ref().map(|rest| format!("*{tuple}[{}, ...]", self.python(rest, levels))),
                );
                format!("{tuple}[{}]", items.join(", "))
            }
            Type::Map(item) => {
                format!("{}[{}, {}]", self.word("dict"), self.word("str"), self.python(item, levels))
            }
            Type::Named(id) => self.named(*id, levels),
            Type::Union(members) => {
                let members: Vec<String> = members.iter().map(|member| self.python(member, levels)).collect();
                members.join(" | ")
            }
        }
    }

    fn typescript(&self, value: &Type, levels: usize) -> String {
        match value {
            Type::Any => "unknown".to_owned(),
            Type::Null => "null".to_owned(),
            Type::Bool => "boolean".to_owned(),
            Type::Int | Type::Float => "number".to_owned(),
            Type::Str => "string".to_owned(),
            Type::Literal(values) => {
                let values: Vec<String> = values.iter().map(|value| self.scalar(value)).collect();
                values.join(" | ")
            }
            Type::List(item) => format!("{}[]", self.grouped(item, levels)),
            Type::Tuple(items, rest) => {
                let mut items: Vec<String> = items.iter().map(|item| self.typescript(item, levels)).collect();
                items.extend(rest.as_ref().map(|rest| format!("...{}[]", self.grouped(rest, levels))));
                format!("[{}]", items.join(", "))
            }
            // A type that is defined through itself may do so in an index signature, not in a `Record`.
            Type::Map(item) if item.mentions(&|id| self.is_alias(id)) => {
                format!("{{ [key: string]: {} }}", self.typescript(item, levels))
            }
            Type::Map(item) => format!("Record<string, {}>", self.typescript(item, levels)),
            Type::Named(id) => self.named(*id, levels),
            Type::Union(members) => {
                let members: Vec<String> =
                    members.iter().map(|member| self.typescript(member, levels)).collect();
                members.join(" | ")
            }
        }
    }

    fn grouped(&self, value: &Type, levels: usize) -> String {
        let text = self.typescript(value, levels);
        let is_union = match value {
            Type::Union(_) => true,
            Type::Literal(values) => values.len() > 1,
            Type::Any
            | Type::Null
            | Type::Bool
            | Type::Int
            | Type::Float
            | Type::Str
            | Type::List(_)
            | Type::Tuple(..)
            | Type::Map(_)
            | Type::Named(_) => false,
        };
        if is_union { format!("({text})") } else { text }
    }

    fn scalar(&self, value: &Scalar) -> String {
        match value {
            Scalar::Str(text) => string(self.language, text),
            Scalar::Int(int) => int.to_string(),
            Scalar::Bool(truth) => literal(self.language, &Value::Bool(*truth)),
        }
    }

    fn is_alias(&self, id: usize) -> bool {
        match self.types.get(id) {
            Some((_, Named { body: Body::Alias(_), .. })) => true,
            Some((_, Named { body: Body::Object { .. }, .. })) | None => false,
        }
    }

    fn named(&self, id: usize, levels: usize) -> String {
        let Some((_, named)) = self.types.get(id) else { return self.nested(&Type::Any, 0) };
        match &named.body {
            Body::Object { fields, .. } if levels > 0 && fields.len() <= INLINE_FIELDS_MAX => {
                self.object(fields, levels - 1)
            }
            Body::Object { .. } | Body::Alias(_) => named.name.clone(),
        }
    }

    fn object(&self, fields: &[Field], levels: usize) -> String {
        let field = |field: &Field| {
            let mark = if field.is_required { "" } else { "?" };
            let name = key(Language::TypeScript, &field.name);
            format!("{name}{mark}: {}", self.nested(&field.value, levels))
        };
        let fields: Vec<String> = fields.iter().map(field).collect();
        match self.language {
            Language::Python => format!("{{{}}}", fields.join(", ")),
            Language::TypeScript => format!("{{ {} }}", fields.join("; ")),
        }
    }

    /// A word of Python's, imported if need be, under its full name if the tool hides it.
    pub fn word(&self, word: &'static str) -> String {
        let is_typing = TYPING.contains(&word);
        let is_hidden = self.tool == word;
        if is_hidden {
            let module = if is_typing { "typing" } else { "builtins" };
            self.imports.borrow_mut().insert(module);
            return format!("{module}.{word}");
        }
        if is_typing {
            self.imports.borrow_mut().insert(word);
        }
        word.to_owned()
    }

    /// The imports for all that was written so far.
    pub fn imports(&self) -> String {
        let used = self.imports.borrow();
        let modules = ["builtins", "typing"].into_iter().filter(|module| used.contains(module));
        let mut made: String = modules.map(|module| format!("import {module}\n")).collect();
        let words: Vec<&str> = TYPING.into_iter().filter(|word| used.contains(word)).collect();
        if !words.is_empty() {
            made.push_str(&format!("from typing import {}\n", words.join(", ")));
        }
        made
    }

    /// Whether a field of this name would hide a word that the types of a class are written with.
    pub fn is_hiding(&self, field: &str) -> bool {
        TYPING.contains(&field)
            || BUILTINS.contains(&field)
            || matches!(field, "typing" | "builtins")
            || self.types.written().any(|(_, named)| named.name == field)
    }
}
