//! The fields of a result on one short line, with types left out: `{id, tags: [], items: [{sku, price}]}`.
//!
//! Where not all of them fit, those come first by which programs find their way: fields near the top, what identifies
//! or names a thing, lists and objects with what is in them. `…` stands for the others.

use std::cmp::Reverse;

use super::Language;
use super::inert_text::key;
use super::types::{Body, Type, Types};

/// Objects within objects whose fields are named.
const LEVELS_MAX: usize = 5;
/// Fields that are looked at; many more than fit.
const FIELDS_MAX: usize = 300;
/// Fields that don't fit, after which no other one is tried.
const MISFITS_MAX: usize = 12;

/// Names, or last words of names, that say what a thing is, where it stands and how to go on.
const TELLING: [&str; 25] = [
    "id", "key", "uid", "name", "title", "status", "state", "stage", "type", "number", "count", "total",
    "amount", "value", "url", "email", "date", "time", "text", "body", "comments", "label", "labels", "next",
    "cursor",
];

/// The outline within so many characters; `None` if the type has no fields to name. One field is named
/// however long it is.
pub(super) fn outline(types: &Types, result: &Type, chars_max: usize) -> Option<String> {
    let mut made = Outline { types, fields: Vec::new() };
    let root = made.read(result, 0, None)?;
    if !matches!(root, Below::Fields { .. }) {
        return None;
    }
    let mut order: Vec<usize> = (0..made.fields.len()).collect();
    order.sort_by_key(|at| (made.fields[*at].importance(), *at));
    let (mut is_first, mut misfits) = (true, 0);
    for at in order {
        if misfits == MISFITS_MAX {
            break;
        }
        if made.fields[at].parent.is_some_and(|parent| !made.fields[parent].is_named) {
            continue;
        }
        made.fields[at].is_named = true;
        if !is_first && made.text(&root).chars().count() > chars_max {
            made.fields[at].is_named = false;
            misfits += 1;
        }
        is_first = false;
    }
    Some(made.text(&root))
}

struct Outline<'a> {
    types: &'a Types,
    /// A parent comes before what is in it.
    fields: Vec<OutlineField>,
}

struct OutlineField {
    /// As it is written, with its mark.
    name: String,
    parent: Option<usize>,
    level: usize,
    is_telling: bool,
    below: Below,
    is_named: bool,
}

/// What is known of a value.
enum Below {
    Scalar,
    /// What stands around the fields of an object, and where these are.
    Fields {
        before: String,
        after: String,
        members: Vec<usize>,
        is_open: bool,
    },
    /// A list or a map of values without fields.
    Plain(&'static str),
}

impl OutlineField {
    fn importance(&self) -> (usize, Reverse<bool>) {
        let leads_on = self.is_telling || !matches!(self.below, Below::Scalar);
        (self.level + if leads_on { 0 } else { 2 }, Reverse(leads_on))
    }
}

impl Outline<'_> {
    /// Reads a value; its fields get the places after those that are there.
    fn read(&mut self, value: &Type, level: usize, parent: Option<usize>) -> Option<Below> {
        match value {
            Type::List(item) => Some(match self.read(item, level, parent)? {
                Below::Fields { before, after, members, is_open } => Below::Fields {
                    before: format!("[{before}"),
                    after: format!("{after}]"),
                    members,
                    is_open,
                },
                Below::Scalar | Below::Plain(_) => Below::Plain("[]"),
            }),
            Type::Map(item) => Some(match self.read(item, level, parent)? {
                Below::Fields { before, after, members, is_open } => Below::Fields {
                    before: format!("{{[key]: {before}"),
                    after: format!("{after}}}"),
                    members,
                    is_open,
                },
                Below::Scalar | Below::Plain(_) => Below::Plain("{}"),
            }),
            Type::Tuple(..) => Some(Below::Plain("[]")),
            Type::Union(members) => {
                let mut plain = Below::Scalar;
                for member in members {
                    match self.read(member, level, parent)? {
                        found @ Below::Fields { .. } => return Some(found),
                        Below::Plain(text) => plain = Below::Plain(text),
                        Below::Scalar => {}
                    }
                }
                Some(plain)
            }
            Type::Named(id) => match &self.types.get(*id)?.1.body {
                Body::Alias(value) if level < LEVELS_MAX => self.read(value, level + 1, parent),
                Body::Object { fields, is_open } if level < LEVELS_MAX => {
                    let mut members = Vec::new();
                    for field in fields {
                        let at = self.fields.len();
                        if at >= FIELDS_MAX {
                            break;
                        }
                        let mark = if field.is_required { "" } else { "?" };
                        self.fields.push(OutlineField {
                            name: format!("{}{mark}", key(Language::TypeScript, &field.name)),
                            parent,
                            level,
                            is_telling: is_telling(&field.name),
                            below: Below::Scalar,
                            is_named: false,
                        });
                        members.push(at);
                        let below = self.read(&field.value, level + 1, Some(at)).unwrap_or(Below::Scalar);
                        self.fields[at].below = below;
                    }
                    let is_open = *is_open || members.len() < fields.len();
                    Some(Below::Fields { before: "{".to_owned(), after: "}".to_owned(), members, is_open })
                }
                Body::Alias(_) | Body::Object { .. } => Some(Below::Plain("{}")),
            },
            Type::Any | Type::Null | Type::Bool | Type::Int | Type::Float | Type::Str | Type::Literal(_) => {
                Some(Below::Scalar)
            }
        }
    }

    fn text(&self, below: &Below) -> String {
        let Below::Fields { before, after, members, is_open } = below else { return String::new() };
        let named = members.iter().map(|at| &self.fields[*at]).filter(|field| field.is_named);
        let mut shown: Vec<String> = named
            .map(|field| match &field.below {
                Below::Scalar => field.name.clone(),
                Below::Plain(text) => format!("{}: {text}", field.name),
                below @ Below::Fields { .. } => format!("{}: {}", field.name, self.text(below)),
            })
            .collect();
        if *is_open || shown.len() < members.len() {
            shown.push("…".to_owned());
        }
        format!("{before}{}{after}", shown.join(", "))
    }
}

/// `total`, `issueId`, `html_url`.
fn is_telling(name: &str) -> bool {
    let snake = name.rsplit(['_', '-', '.']).next().unwrap_or(name);
    let last = snake.char_indices().rfind(|(_, one)| one.is_uppercase()).map_or(0, |(at, _)| at);
    let word = snake.get(last..).unwrap_or(snake).to_lowercase();
    TELLING.contains(&word.as_str()) || name.to_lowercase().contains("next") || name.ends_with("ID")
}
