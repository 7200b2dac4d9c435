//! What a tool takes: its parameters, and where in a sentence a value of each kind is looked for.

use serde_json::Value;

use crate::shape::{choices, kinds, properties, resolved};
use crate::stems::stems_of;

/// Parameters of one tool.
const PARAMETERS_MAX: usize = 32;

/// One argument that a tool takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    pub name: String,
    pub words: Vec<String>,
    pub about: Vec<String>,
    pub kind: ParameterKind,
    pub required: bool,
    /// A value from its description, such as `DOC-0107`.
    pub example: Option<String>,
}

/// What it takes.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterKind {
    /// One of a few texts.
    Choice(Vec<String>),
    Flag,
    Number(Range),
    /// Which part of a list: never guessed.
    Paging(Range),
    Numbers,
    Date,
    Identifier,
    Email,
    Url,
    Path,
    Glob,
    Expression,
    /// Words to search for.
    Query,
    /// A text to keep or send.
    Prose,
    /// Any other text, such as the name of a city.
    Name,
    /// Nothing that a sentence can give.
    Other,
}

/// Which numbers are allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    pub whole: bool,
    pub min: f64,
    pub max: f64,
}

impl Range {
    pub fn allows(self, number: f64) -> bool {
        number >= self.min && number <= self.max && (!self.whole || number.fract() == 0.0)
    }
}

const PAGING: &[&str] = &[
    "page",
    "page_size",
    "pagesize",
    "per_page",
    "limit",
    "offset",
    "cursor",
    "page_token",
    "max_results",
    "size",
    "top",
    "skip",
    "start_at",
];

/// All parameters, in the order of the schema.
pub fn parameters(input: &Value) -> Vec<Parameter> {
    let required: Vec<&str> = input
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let all = properties(input).into_iter().flatten().take(PARAMETERS_MAX);
    all.map(|(name, schema)| {
        let schema = resolved(schema, input);
        let about = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        Parameter {
            name: name.clone(),
            words: stems_of(name),
            about: stems_of(about),
            kind: kind(name, about, schema),
            required: required.contains(&name.as_str()),
            example: example(about),
        }
    })
    .collect()
}

/// Whether a tool has more parameters than are looked at, or requires one that is not described.
pub fn has_unknown(input: &Value) -> bool {
    let known = properties(input);
    let required =
        input.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let is_long = known.is_some_and(|known| known.len() > PARAMETERS_MAX);
    is_long || required.into_iter().any(|name| known.is_none_or(|known| !known.contains_key(name)))
}

fn kind(name: &str, about: &str, schema: &Value) -> ParameterKind {
    if let Some(choices) = choices(schema) {
        return ParameterKind::Choice(choices);
    }
    let is_paging = PAGING.contains(&name.to_lowercase().as_str());
    match kinds(schema).as_slice() {
        ["boolean"] => ParameterKind::Flag,
        ["integer" | "number"] if is_paging => ParameterKind::Paging(range(schema)),
        ["integer" | "number"] => ParameterKind::Number(range(schema)),
        ["string"] if is_paging => ParameterKind::Other,
        ["string"] => text_kind(name, about, schema),
        ["array"] => match schema.get("items").map(|items| kinds(items)) {
            Some(items) if matches!(items.as_slice(), ["number" | "integer"]) => ParameterKind::Numbers,
            _ => ParameterKind::Other,
        },
        _ => ParameterKind::Other,
    }
}

fn range(schema: &Value) -> Range {
    let bound = |name: &str, unsaid: f64| schema.get(name).and_then(Value::as_f64).unwrap_or(unsaid);
    Range {
        whole: kinds(schema) == ["integer"],
        min: bound("minimum", f64::MIN),
        max: bound("maximum", f64::MAX),
    }
}

fn text_kind(name: &str, about: &str, schema: &Value) -> ParameterKind {
    let words = stems_of(name);
    let about_words = stems_of(about);
    let named = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    let told = |wanted: &[&str]| about_words.iter().any(|word| wanted.contains(&word.as_str()));
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let ends_with_id = words.last().is_some_and(|word| word == "id" || word == "key" || word == "uuid");
    match format {
        "date" => return ParameterKind::Date,
        "email" => return ParameterKind::Email,
        "uri" | "url" => return ParameterKind::Url,
        // A time of day is more than a sentence usually says.
        "date-time" | "time" => return ParameterKind::Other,
        _ => {}
    }
    match () {
        () if about.contains("YYYY-MM-DD") => ParameterKind::Date,
        () if named(&["email", "mail"]) => ParameterKind::Email,
        () if named(&["url", "uri", "link"]) => ParameterKind::Url,
        () if ends_with_id => ParameterKind::Identifier,
        () if named(&["glob", "pattern"]) => ParameterKind::Glob,
        () if named(&["path", "file", "filename", "filepath", "folder"]) => ParameterKind::Path,
        () if named(&["expression", "formula", "calculation"]) => ParameterKind::Expression,
        () if named(&["query", "q", "search", "keyword", "sql", "term"]) => ParameterKind::Query,
        () if named(&[
            "text",
            "body",
            "content",
            "message",
            "note",
            "comment",
            "description",
            "subject",
            "title",
        ]) =>
        {
            ParameterKind::Prose
        }
        () if told(&["path"]) => ParameterKind::Path,
        () => ParameterKind::Name,
    }
}

/// What follows "such as" in a description.
fn example(about: &str) -> Option<String> {
    let (_, after) = about.split_once("such as ").or_else(|| about.split_once("e.g. "))?;
    let ends = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | ')');
    let text = after.split(ends).next()?.trim_matches(['`', '"', '\'', '.']);
    (!text.is_empty() && text.len() <= 60).then(|| text.to_owned())
}

/// Whether a value could be of the kind that the example is: `ACC-0012` like `MTG-0042`, `FR` like `DE`, but
/// `Germany` not like `DE`.
pub fn is_like(example: Option<&str>, value: &str) -> bool {
    let Some(example) = example else { return true };
    let is_code = |text: &str| text.len() <= 3 && text.chars().all(|c| c.is_ascii_uppercase());
    if is_code(example) {
        return is_code(value) && value.len() == example.len();
    }
    let outline = |text: &str| {
        let mut made: Vec<char> = Vec::new();
        for c in text.chars() {
            let class = if c.is_ascii_digit() {
                '0'
            } else if c.is_alphabetic() {
                'a'
            } else {
                c
            };
            if made.last() != Some(&class) {
                made.push(class);
            }
        }
        made
    };
    let has_digits = |text: &str| text.contains(|c: char| c.is_ascii_digit());
    // Only codes have an outline that says something.
    !has_digits(example) || outline(example) == outline(value)
}

impl Parameter {
    /// Whether a word of the sentence is a word of its name or of what is said about it.
    pub fn has_word(&self, stem: &str) -> bool {
        self.is_named(stem) || (stem.len() > 2 && self.about.iter().any(|word| word == stem))
    }

    /// Whether a word is a word of its name.
    pub fn is_named(&self, stem: &str) -> bool {
        self.words.iter().any(|word| word == stem && word != "id")
    }

    /// Which end of a way it is, for `from` and `to` and their like.
    pub fn end(&self) -> Option<End> {
        match self.words.first().map(String::as_str) {
            Some("from" | "source" | "src" | "start" | "begin" | "since" | "old") => Some(End::From),
            Some("to" | "target" | "destination" | "dest" | "end" | "until" | "new") => Some(End::To),
            _ => None,
        }
    }
}

/// The beginning or the end of a way or a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    From,
    To,
}

/// The choices that a run of words names, with how many words each takes. The words of the longest count.
pub fn choice_at(choices: &[String], stems: &[&str]) -> Option<(String, usize)> {
    let mut found: Option<(String, usize)> = None;
    for choice in choices {
        let words = stems_of(choice);
        let fits = !words.is_empty()
            && words.len() <= stems.len()
            && words.iter().zip(stems).all(|(word, stem)| word == stem);
        if fits && found.as_ref().is_none_or(|(_, length)| *length < words.len()) {
            found = Some((choice.clone(), words.len()));
        }
    }
    found
}

/// Whether another choice has the word, too: `rain` beside `heavy rain`.
pub fn is_part_of_another(choices: &[String], choice: &str) -> bool {
    let words = stems_of(choice);
    choices.iter().filter(|other| *other != choice).any(|other| {
        let others = stems_of(other);
        words.iter().all(|word| others.contains(word))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_parameter_is_told_by_name_format_and_description() {
        let check = |name: &str, schema: Value, expected: ParameterKind| {
            let input = json!({ "properties": { name: schema } });
            assert_eq!(parameters(&input)[0].kind, expected, "{name}");
        };
        check("city", json!({ "type": "string", "description": "such as Lisbon" }), ParameterKind::Name);
        check("from", json!({ "type": "string", "format": "date" }), ParameterKind::Date);
        check("document_id", json!({ "type": "string" }), ParameterKind::Identifier);
        check("where", json!({ "type": "string", "description": "Path of the file" }), ParameterKind::Path);
        check("numbers", json!({ "type": "array", "items": { "type": "number" } }), ParameterKind::Numbers);
        check("fields", json!({ "type": "object" }), ParameterKind::Other);
        check(
            "status",
            json!({ "enum": ["new", "won"] }),
            ParameterKind::Choice(vec!["new".into(), "won".into()]),
        );
    }

    #[test]
    fn a_value_must_look_like_the_example() {
        let check = |example: &str, value: &str, expected: bool| {
            assert_eq!(is_like(Some(example), value), expected, "{example} {value}");
        };
        check("DE", "FR", true);
        check("DE", "Germany", false);
        check("MTG-0042", "ACC-0012", true);
        check("MTG-0042", "anna", false);
        check("Lisbon", "Buenos Aires", true);
    }

    #[test]
    fn a_choice_of_several_words_is_longer_than_one() {
        let choices = ["rain".to_owned(), "heavy rain".to_owned(), "snow".to_owned()];
        assert_eq!(choice_at(&choices, &["heavy", "rain"]), Some(("heavy rain".to_owned(), 2)));
        assert!(is_part_of_another(&choices, "rain"));
        assert!(!is_part_of_another(&choices, "snow"));
    }
}
