//! Structured data, walked with the names of its fields. The walk keeps its own stack: depth costs memory only.

use serde_json::{Map, Value};

use crate::detector::Detector;
use crate::fields::Field;
use crate::finding::{Finding, JsonFinding, TooMany};
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
    /// In one of them.
    findings_max: usize,
    told: F,
}

/// A finding in a document, by the number of the key, text or number that it is in: all of them are counted from
/// 0 in the order in which they are written, a key before its value.
#[derive(Clone, Debug)]
pub struct NodeFinding<'t, 'v> {
    pub node: usize,
    /// The value itself.
    pub value: &'t str,
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
    /// Of a number that is an integer: without zeros behind its point.
    text: &'t str,
    /// How long it is as it is written.
    written_bytes: usize,
    is_key: bool,
    is_number: bool,
    schema: Option<&'v Value>,
}

impl Node<'_, '_> {
    /// What is all of the text is all of what is written.
    fn as_written(&self, finding: Finding) -> Finding {
        match finding.span == (0..self.text.len()) {
            true => Finding { span: 0..self.written_bytes, ..finding },
            false => finding,
        }
    }
}

impl Detector {
    /// Everything in a JSON document, with the names of fields as context.
    pub fn scan_json(&self, value: &Value, origin: &Origin<'_>) -> Vec<JsonFinding> {
        let mut found = Vec::new();
        let scanned = scan(self, value, origin, usize::MAX, |path, _, node, finding| {
            let finding = node.as_written(finding);
            found.push(JsonFinding { pointer: pointer(path), is_in_key: node.is_key, finding });
            Ok(())
        });
        match scanned {
            // Without a bound there are never too many.
            Ok(()) | Err(TooMany) => found,
        }
    }

    /// The same by node, each told as it is found: nothing is kept here. It ends where one key, text or number has
    /// more than `findings_max`, or where `told` says that there were too many.
    pub fn scan_nodes<'v>(
        &self,
        value: &'v Value,
        origin: &Origin<'v>,
        findings_max: usize,
        mut told: impl FnMut(NodeFinding<'_, 'v>) -> Result<(), TooMany>,
    ) -> Result<(), TooMany> {
        scan(self, value, origin, findings_max, |_, number, node, finding| {
            let Some(value) = node.text.get(finding.span.clone()) else { return Ok(()) };
            let is_whole = value.len() == node.text.len();
            let finding = node.as_written(finding);
            let Node { is_number, schema, .. } = *node;
            told(NodeFinding { node: number, value, is_number, is_whole, schema, finding })
        })
    }
}

fn scan<'v, F: FnMut(&[Step<'v>], usize, &Node<'_, 'v>, Finding) -> Result<(), TooMany>>(
    detector: &Detector,
    value: &'v Value,
    origin: &Origin<'v>,
    findings_max: usize,
    told: F,
) -> Result<(), TooMany> {
    let path: Vec<Step<'v>> = origin.above.iter().map(|key| Step::Key(key)).collect();
    let beside = Beside::of(origin.above.last().map_or("", String::as_str), origin.beside);
    let mut walk = Walk { detector, origin: *origin, path, nodes: 0, findings_max, told };
    let mut open: Vec<(Rest<'v>, Option<&'v Value>)> = Vec::new();
    walk.visit(value, beside, origin.schema, &mut open)?;
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
                    walk.key(key)?;
                }
                walk.visit(value, beside, below, &mut open)?;
            }
            None => {
                open.pop();
                walk.path.pop();
            }
        }
    }
    Ok(())
}

impl<'v, F: FnMut(&[Step<'v>], usize, &Node<'_, 'v>, Finding) -> Result<(), TooMany>> Walk<'v, '_, F> {
    /// A value whose step is on the path. One that holds others is left open; any other is done.
    fn visit(
        &mut self,
        value: &'v Value,
        beside: Beside<'v>,
        schema: Option<&'v Value>,
        open: &mut Vec<(Rest<'v>, Option<&'v Value>)>,
    ) -> Result<(), TooMany> {
        match value {
            Value::Object(members) => {
                open.push((Rest::Object(members.iter(), members), schema));
                return Ok(());
            }
            Value::Array(items) => {
                open.push((Rest::Array(items.iter().enumerate()), schema));
                return Ok(());
            }
            Value::String(text) => self.text(text, false, beside, schema)?,
            Value::Number(number) => self.text(&number.to_string(), true, beside, schema)?,
            Value::Null | Value::Bool(_) => {}
        }
        self.path.pop();
        Ok(())
    }

    fn key(&mut self, key: &str) -> Result<(), TooMany> {
        let node = Node { text: key, written_bytes: key.len(), is_key: true, is_number: false, schema: None };
        for finding in self.detector.scan_up_to(key, self.findings_max)? {
            self.keep(&node, finding)?;
        }
        self.nodes += 1;
        Ok(())
    }

    fn text(
        &mut self,
        written: &str,
        is_number: bool,
        beside: Beside<'_>,
        schema: Option<&'v Value>,
    ) -> Result<(), TooMany> {
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
        let text = if is_number { integer_of(written) } else { written };
        let node = Node { text, written_bytes: written.len(), is_key: false, is_number, schema };
        let topics = field.topics;
        let found = self.detector.within(text, topics, self.findings_max, |sink| field.find(text, sink))?;
        for finding in found {
            self.keep(&node, finding)?;
        }
        self.nodes += 1;
        Ok(())
    }

    fn keep(&mut self, node: &Node<'_, 'v>, finding: Finding) -> Result<(), TooMany> {
        if self.detector.allow().has_fields() {
            let keys = self.path.iter().filter_map(|step| match step {
                Step::Key(key) => Some(*key),
                Step::Index(_) => None,
            });
            let names: Vec<&str> =
                self.origin.server.into_iter().chain(self.origin.tool).chain(keys).collect();
            if self.detector.allow().has_field(&names, &finding.kind) {
                return Ok(());
            }
        }
        (self.told)(&self.path, self.nodes, node, finding)
    }
}

/// `5555555555554444.0` is an integer that somebody keeps as a float.
fn integer_of(number: &str) -> &str {
    match number.split_once('.') {
        Some((integer, zeros)) if zeros.bytes().all(|byte| byte == b'0') => integer,
        _ => number,
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
