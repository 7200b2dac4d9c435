//! Structured data, walked with the names of its fields. The walk keeps its own stack: depth costs memory only.

use serde_json::{Map, Value};

use crate::detector::Detector;
use crate::fields::Field;
use crate::finding::{Finding, JsonFinding};

/// Where a document comes from, for allow-lists and for context.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin<'o> {
    pub server: Option<&'o str>,
    pub tool: Option<&'o str>,
    /// The JSON Schema of the document; its titles are context.
    pub schema: Option<&'o Value>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'v> {
    Key(&'v str),
    Index(usize),
}

enum Rest<'v> {
    Object(serde_json::map::Iter<'v>, &'v Map<String, Value>),
    Array(std::iter::Enumerate<std::slice::Iter<'v, Value>>),
}

struct Walk<'v, 'd> {
    detector: &'d Detector,
    origin: Origin<'v>,
    path: Vec<Step<'v>>,
    found: Vec<JsonFinding>,
}

impl Detector {
    /// Everything in a JSON document, with the names of fields as context.
    pub fn scan_json(&self, value: &Value, origin: &Origin<'_>) -> Vec<JsonFinding> {
        scan(self, value, origin)
    }
}

fn scan<'v>(detector: &Detector, value: &'v Value, origin: &Origin<'v>) -> Vec<JsonFinding> {
    let mut walk = Walk { detector, origin: *origin, path: Vec::new(), found: Vec::new() };
    let mut open: Vec<(Rest<'v>, Option<&'v Value>)> = Vec::new();
    walk.visit(value, None, origin.schema, &mut open);
    while let Some((rest, schema)) = open.last_mut() {
        let schema = *schema;
        let next = match rest {
            Rest::Object(members, all) => members.next().map(|(key, value)| {
                let below = schema.and_then(|schema| of_property(schema, key));
                (Step::Key(key), value, below, neighbor_title(key, all))
            }),
            Rest::Array(items) => items.next().map(|(at, value)| {
                (Step::Index(at), value, schema.and_then(|schema| schema.get("items")), None)
            }),
        };
        match next {
            Some((step, value, below, title)) => {
                walk.path.push(step);
                if let Step::Key(key) = step {
                    walk.key(key);
                }
                walk.visit(value, title, below, &mut open);
            }
            None => {
                open.pop();
                walk.path.pop();
            }
        }
    }
    walk.found
}

impl<'v> Walk<'v, '_> {
    /// A value whose step is on the path. One that holds others is left open; any other is done.
    fn visit(
        &mut self,
        value: &'v Value,
        title: Option<&'v str>,
        schema: Option<&'v Value>,
        open: &mut Vec<(Rest<'v>, Option<&'v Value>)>,
    ) {
        match value {
            Value::Object(members) => return open.push((Rest::Object(members.iter(), members), schema)),
            Value::Array(items) => return open.push((Rest::Array(items.iter().enumerate()), schema)),
            Value::String(text) => self.text(text, title, schema),
            Value::Number(number) => self.text(&number.to_string(), title, schema),
            Value::Null | Value::Bool(_) => {}
        }
        self.path.pop();
    }

    fn key(&mut self, key: &str) {
        for finding in self.detector.scan(key) {
            self.keep(finding, true);
        }
    }

    fn text(&mut self, text: &str, title: Option<&str>, schema: Option<&Value>) {
        let mut keys = self.path.iter().rev().filter_map(|step| match step {
            Step::Key(key) => Some(*key),
            Step::Index(_) => None,
        });
        let key = keys.next().unwrap_or_default();
        let parent = keys.next();
        let titled = schema.and_then(|schema| schema.get("title")).and_then(Value::as_str);
        let field = Field::of(key, parent, title.or(titled));
        for finding in self.detector.within(text, field.topics, |sink| field.find(text, sink)) {
            self.keep(finding, false);
        }
    }

    fn keep(&mut self, finding: Finding, is_in_key: bool) {
        if self.detector.allow().has_fields() {
            let keys = self.path.iter().filter_map(|step| match step {
                Step::Key(key) => Some(*key),
                Step::Index(_) => None,
            });
            let names: Vec<&str> =
                self.origin.server.into_iter().chain(self.origin.tool).chain(keys).collect();
            if self.detector.allow().has_field(&names, &finding.kind) {
                return;
            }
        }
        let mut pointer = String::new();
        for step in &self.path {
            pointer.push('/');
            match step {
                Step::Key(key) => pointer.push_str(&key.replace('~', "~0").replace('/', "~1")),
                Step::Index(at) => pointer.push_str(&at.to_string()),
            }
        }
        self.found.push(JsonFinding { pointer, is_in_key, finding });
    }
}

fn of_property<'v>(schema: &'v Value, key: &str) -> Option<&'v Value> {
    schema.get("properties").and_then(|all| all.get(key)).or_else(|| schema.get("additionalProperties"))
}

/// `{"name": "SSN", "value": "…"}`: the name of a value is that of its neighbor.
fn neighbor_title<'v>(key: &str, all: &'v Map<String, Value>) -> Option<&'v str> {
    if !key.eq_ignore_ascii_case("value") {
        return None;
    }
    ["name", "label", "key", "type", "field", "title"].iter().find_map(|name| all.get(*name)?.as_str())
}
