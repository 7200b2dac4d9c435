//! Structured data, walked with the names of its fields. The walk keeps its own stack: depth costs memory only.

use serde_json::{Map, Value};

use crate::detector::Detector;
use crate::fields::Field;
use crate::finding::{Finding, JsonFinding};
use crate::persons::{is_bare_name, is_person};

/// Where a document comes from, for allow-lists and for context.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin<'o> {
    pub server: Option<&'o str>,
    pub tool: Option<&'o str>,
    /// The JSON Schema of the document; its titles are context.
    pub schema: Option<&'o Value>,
    /// The names of fields that it was found under, the outermost first.
    pub above: &'o [String],
    /// The object that it is a member of.
    pub beside: Option<&'o Map<String, Value>>,
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

struct Walk<'v, 'd, F> {
    detector: &'d Detector,
    origin: Origin<'v>,
    path: Vec<Step<'v>>,
    /// Keys, texts and numbers so far.
    nodes: usize,
    told: F,
}

/// A finding in a document, by the number of the key, text or number that it is in: all of them are counted from
/// 0 in the order in which they are written, a key before its value.
#[derive(Clone, Debug)]
pub struct NodeFinding<'v> {
    pub node: usize,
    /// The value itself.
    pub value: String,
    /// Whether the node is a number.
    pub is_number: bool,
    /// Whether it is all of its node.
    pub is_whole: bool,
    /// What the node is described by; none for a key.
    pub schema: Option<&'v Value>,
    pub finding: Finding,
}

/// What a finding is in.
struct Node<'t, 'v> {
    text: &'t str,
    is_key: bool,
    is_number: bool,
    schema: Option<&'v Value>,
}

impl Detector {
    /// Everything in a JSON document, with the names of fields as context.
    pub fn scan_json(&self, value: &Value, origin: &Origin<'_>) -> Vec<JsonFinding> {
        let mut found = Vec::new();
        scan(self, value, origin, |path, _, node, finding| {
            found.push(JsonFinding { pointer: pointer(path), is_in_key: node.is_key, finding });
        });
        found
    }

    /// The same by node: what it takes grows with the document, however its keys are.
    pub fn scan_nodes<'v>(&self, value: &'v Value, origin: &Origin<'v>) -> Vec<NodeFinding<'v>> {
        let mut found = Vec::new();
        scan(self, value, origin, |_, number, node, finding| {
            let Some(value) = node.text.get(finding.span.clone()) else { return };
            let (value, is_whole) = (value.to_owned(), value.len() == node.text.len());
            let Node { is_number, schema, .. } = *node;
            found.push(NodeFinding { node: number, value, is_number, is_whole, schema, finding });
        });
        found
    }
}

fn scan<'v, F: FnMut(&[Step<'v>], usize, &Node<'_, 'v>, Finding)>(
    detector: &Detector,
    value: &'v Value,
    origin: &Origin<'v>,
    told: F,
) {
    let path: Vec<Step<'v>> = origin.above.iter().map(|key| Step::Key(key)).collect();
    let beside = Beside::of(origin.above.last().map_or("", String::as_str), origin.beside);
    let mut walk = Walk { detector, origin: *origin, path, nodes: 0, told };
    let mut open: Vec<(Rest<'v>, Option<&'v Value>)> = Vec::new();
    walk.visit(value, beside, origin.schema, &mut open);
    while let Some((rest, schema)) = open.last_mut() {
        let schema = *schema;
        let next = match rest {
            Rest::Object(members, all) => members.next().map(|(key, value)| {
                let below = schema.and_then(|schema| of_property(schema, key));
                (Step::Key(key), value, below, Beside::of(key, Some(all)))
            }),
            Rest::Array(items) => items.next().map(|(at, value)| {
                let below = schema.and_then(|schema| schema.get("items"));
                (Step::Index(at), value, below, Beside::default())
            }),
        };
        match next {
            Some((step, value, below, beside)) => {
                walk.path.push(step);
                if let Step::Key(key) = step {
                    walk.key(key);
                }
                walk.visit(value, beside, below, &mut open);
            }
            None => {
                open.pop();
                walk.path.pop();
            }
        }
    }
}

impl<'v, F: FnMut(&[Step<'v>], usize, &Node<'_, 'v>, Finding)> Walk<'v, '_, F> {
    /// A value whose step is on the path. One that holds others is left open; any other is done.
    fn visit(
        &mut self,
        value: &'v Value,
        beside: Beside<'v>,
        schema: Option<&'v Value>,
        open: &mut Vec<(Rest<'v>, Option<&'v Value>)>,
    ) {
        match value {
            Value::Object(members) => return open.push((Rest::Object(members.iter(), members), schema)),
            Value::Array(items) => return open.push((Rest::Array(items.iter().enumerate()), schema)),
            Value::String(text) => self.text(text, false, beside, schema),
            Value::Number(number) => self.text(&number.to_string(), true, beside, schema),
            Value::Null | Value::Bool(_) => {}
        }
        self.path.pop();
    }

    fn key(&mut self, key: &str) {
        let node = Node { text: key, is_key: true, is_number: false, schema: None };
        for finding in self.detector.scan(key) {
            self.keep(&node, finding);
        }
        self.nodes += 1;
    }

    fn text(&mut self, text: &str, is_number: bool, beside: Beside<'_>, schema: Option<&'v Value>) {
        let mut keys = self.path.iter().rev().filter_map(|step| match step {
            Step::Key(key) => Some(*key),
            Step::Index(_) => None,
        });
        let key = keys.next().unwrap_or_default();
        let parent = keys.next();
        let titled = schema.and_then(|schema| schema.get("title")).and_then(Value::as_str);
        let mut field = Field::of(key, parent, beside.title.or(titled));
        if beside.is_person {
            field = field.of_person();
        }
        let node = Node { text, is_key: false, is_number, schema };
        for finding in self.detector.within(text, field.topics, |sink| field.find(text, sink)) {
            self.keep(&node, finding);
        }
        self.nodes += 1;
    }

    fn keep(&mut self, node: &Node<'_, 'v>, finding: Finding) {
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
        (self.told)(&self.path, self.nodes, node, finding);
    }
}

fn pointer(path: &[Step<'_>]) -> String {
    let mut pointer = String::new();
    for step in path {
        pointer.push('/');
        match step {
            Step::Key(key) => pointer.push_str(&key.replace('~', "~0").replace('/', "~1")),
            Step::Index(at) => pointer.push_str(&at.to_string()),
        }
    }
    pointer
}

fn of_property<'v>(schema: &'v Value, key: &str) -> Option<&'v Value> {
    schema.get("properties").and_then(|all| all.get(key)).or_else(|| schema.get("additionalProperties"))
}

/// What the other members of an object say about one.
#[derive(Clone, Copy, Default)]
struct Beside<'v> {
    title: Option<&'v str>,
    is_person: bool,
}

impl<'v> Beside<'v> {
    fn of(key: &str, all: Option<&'v Map<String, Value>>) -> Self {
        let Some(all) = all else { return Self::default() };
        let is_person = is_bare_name(key) && is_person(all.keys().map(String::as_str));
        Self { title: neighbor_title(key, all), is_person }
    }
}

/// `{"name": "SSN", "value": "…"}`: the name of a value is that of its neighbor.
fn neighbor_title<'v>(key: &str, all: &'v Map<String, Value>) -> Option<&'v str> {
    if !key.eq_ignore_ascii_case("value") {
        return None;
    }
    ["name", "label", "key", "type", "field", "title"].iter().find_map(|name| all.get(*name)?.as_str())
}
