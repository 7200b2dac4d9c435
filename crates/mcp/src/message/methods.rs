//! The methods that a client may use, and the form of their parameters. The types of `rmcp` would
//! take what has another form for a method that they do not know, or drop it.

use serde_json::{Map, Value};

/// How a conversation without a handshake can begin.
pub(crate) const DISCOVER: &str = "server/discover";

/// When a method is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// Until 2025-11-25.
    Legacy,
    Any,
}

/// The form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Text,
    Object,
    Number,
    /// A string or an integer.
    Id,
    OneOf(&'static [&'static str]),
}

struct Field {
    /// With dots, from `params` on.
    path: &'static [&'static str],
    form: Form,
    is_required: bool,
}

pub(super) struct Method {
    name: &'static str,
    pub(super) era: Era,
    fields: &'static [Field],
}

const fn must(path: &'static [&'static str], form: Form) -> Field {
    Field { path, form, is_required: true }
}

const fn may(path: &'static [&'static str], form: Form) -> Field {
    Field { path, form, is_required: false }
}

const fn method(name: &'static str, fields: &'static [Field]) -> Method {
    Method { name, era: Era::Any, fields }
}

const fn legacy(name: &'static str, fields: &'static [Field]) -> Method {
    Method { name, era: Era::Legacy, fields }
}

const LEVELS: &[&str] = &["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

const PAGE: &[Field] = &[may(&["cursor"], Form::Text)];

const URI: &[Field] =
    &[must(&["uri"], Form::Text), may(&["inputResponses"], Form::Object), may(&["requestState"], Form::Text)];

const NAMED: &[Field] = &[
    must(&["name"], Form::Text),
    may(&["arguments"], Form::Object),
    may(&["inputResponses"], Form::Object),
    may(&["requestState"], Form::Text),
];

const TASK: &[Field] = &[must(&["taskId"], Form::Text)];

const REQUESTS: &[Method] = &[
    legacy(
        "initialize",
        &[
            must(&["protocolVersion"], Form::Text),
            must(&["capabilities"], Form::Object),
            must(&["clientInfo"], Form::Object),
            must(&["clientInfo", "name"], Form::Text),
            must(&["clientInfo", "version"], Form::Text),
        ],
    ),
    legacy("ping", &[]),
    legacy("logging/setLevel", &[must(&["level"], Form::OneOf(LEVELS))]),
    legacy("resources/subscribe", URI),
    legacy("resources/unsubscribe", URI),
    method(DISCOVER, &[must(&["_meta"], Form::Object)]),
    method("tools/list", PAGE),
    method("tools/call", NAMED),
    method("resources/list", PAGE),
    method("resources/templates/list", PAGE),
    method("resources/read", URI),
    method("prompts/list", PAGE),
    method("prompts/get", NAMED),
    method("subscriptions/listen", &[must(&["notifications"], Form::Object)]),
    method("tasks/get", TASK),
    method("tasks/update", &[must(&["taskId"], Form::Text), must(&["inputResponses"], Form::Object)]),
    method("tasks/cancel", TASK),
];

const NOTIFICATIONS: &[Method] = &[
    method("notifications/initialized", &[]),
    method("notifications/roots/list_changed", &[]),
    method("notifications/cancelled", &[may(&["requestId"], Form::Id), may(&["reason"], Form::Text)]),
    method(
        "notifications/progress",
        &[
            must(&["progressToken"], Form::Id),
            must(&["progress"], Form::Number),
            may(&["total"], Form::Number),
            may(&["message"], Form::Text),
        ],
    ),
];

/// What every method may have.
const META: &[Field] = &[may(&["_meta"], Form::Object), may(&["_meta", "progressToken"], Form::Id)];

pub(super) fn request(name: &str) -> Option<&'static Method> {
    REQUESTS.iter().find(|method| method.name == name)
}

pub(super) fn notification(name: &str) -> Option<&'static Method> {
    NOTIFICATIONS.iter().find(|method| method.name == name)
}

/// The request method that was probably meant.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    let known = REQUESTS.iter().map(|method| (method.name, method.name));
    gristmill_gateway::domain::nearest(name, known, 1).first().copied()
}

/// What is wrong with what every method may have.
pub(super) fn wrong_meta(params: &Map<String, Value>) -> Option<String> {
    META.iter().find_map(|field| wrong_field(field, params))
}

impl Method {
    /// The first thing that is wrong with its parameters.
    pub(super) fn wrong_params(&self, params: &Map<String, Value>) -> Option<String> {
        self.fields.iter().find_map(|field| wrong_field(field, params))
    }
}

fn wrong_field(field: &Field, params: &Map<String, Value>) -> Option<String> {
    let mut inside = Some(params);
    let mut value = None;
    for key in field.path {
        value = inside.and_then(|object| object.get(*key));
        inside = value.and_then(Value::as_object);
    }
    let name = field.path.join(".");
    match value {
        // `null` is how some clients leave out what may be left out.
        None | Some(Value::Null) if !field.is_required => None,
        None => Some(format!("`params.{name}` is missing; it must be {}", described(field.form))),
        Some(value) if fits(field.form, value) => None,
        Some(value) => {
            Some(format!("`params.{name}` must be {}, not {}", described(field.form), kind(value)))
        }
    }
}

fn fits(form: Form, value: &Value) -> bool {
    match form {
        Form::Text => value.is_string(),
        Form::Object => value.is_object(),
        Form::Number => value.is_number(),
        Form::Id => value.is_string() || value.as_i64().is_some(),
        Form::OneOf(words) => value.as_str().is_some_and(|word| words.contains(&word)),
    }
}

fn described(form: Form) -> String {
    match form {
        Form::Text => "a string".to_owned(),
        Form::Object => "an object".to_owned(),
        Form::Number => "a number".to_owned(),
        Form::Id => "a string or an integer".to_owned(),
        Form::OneOf(words) => format!("one of {}", words.join(", ")),
    }
}

/// What a value is, for a message.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
