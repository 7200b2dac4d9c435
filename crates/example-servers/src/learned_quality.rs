//! How well types are learned: fields that were learned from answers against those that servers declare.
//!
//! Answers of the example servers are their own. For the definitions of real servers that declare results, answers
//! are drawn from what they declare. A field is judged where the server says which fields there are; where it
//! leaves that open, nobody knows.

use std::collections::BTreeSet;
use std::path::Path;

use gristmill_domain::learned::{LearnedType, NothingPersonal, observe};
use serde_json::{Map, Value, json};

use super::tests::calls;
use super::*;

/// How deep drawn answers are.
const DEPTH_MAX: usize = 8;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Score {
    tools: usize,
    learned: usize,
    declared: usize,
    both: usize,
    /// Learned where the server leaves open what there is.
    not_judged: usize,
}

impl Score {
    fn add(&mut self, learned: &Value, declared: &Value) {
        let (mut found, mut known) = (BTreeSet::new(), BTreeSet::new());
        let open = fields(declared, declared, "", &mut known);
        fields(learned, learned, "", &mut found);
        let is_open =
            |path: &String| !known.contains(path) && open.iter().any(|place| path.starts_with(place));
        let (not_judged, judged): (Vec<&String>, Vec<&String>) = found.iter().partition(|path| is_open(path));
        self.tools += 1;
        self.not_judged += not_judged.len();
        self.learned += judged.len();
        self.declared += known.len();
        self.both += judged.iter().filter(|path| known.contains(**path)).count();
    }

    fn precision(self) -> f64 {
        self.both as f64 / self.learned.max(1) as f64
    }

    fn recall(self) -> f64 {
        self.both as f64 / self.declared.max(1) as f64
    }
}

/// Adds the paths of all named fields, and gives those below which any field may be.
fn fields(root: &Value, schema: &Value, path: &str, found: &mut BTreeSet<String>) -> Vec<String> {
    let mut open = Vec::new();
    walk(root, schema, path, 0, found, &mut open);
    open
}

fn walk(
    root: &Value,
    schema: &Value,
    path: &str,
    depth: usize,
    found: &mut BTreeSet<String>,
    open: &mut Vec<String>,
) {
    let schema = resolved(root, schema);
    if depth > DEPTH_MAX || schema.as_object().is_none_or(Map::is_empty) {
        open.push(format!("{path}."));
        open.push(format!("{path}["));
        return;
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        for variant in schema[key].as_array().into_iter().flatten() {
            walk(root, variant, path, depth, found, open);
        }
    }
    let properties = schema["properties"].as_object();
    for (name, below) in properties.into_iter().flatten() {
        let path = format!("{path}.{name}");
        found.insert(path.clone());
        walk(root, below, &path, depth + 1, found, open);
    }
    let is_object = schema["type"] == "object" || properties.is_some();
    match &schema["additionalProperties"] {
        Value::Object(others) if is_object => {
            open.push(format!("{path}."));
            if !others.is_empty() {
                walk(root, &schema["additionalProperties"], &format!("{path}[key]"), depth + 1, found, open);
            }
        }
        Value::Bool(true) if is_object => open.push(format!("{path}.")),
        Value::Null if is_object && properties.is_none() => open.push(format!("{path}.")),
        _ => {}
    }
    if schema["type"] == "array" {
        walk(root, &schema["items"], &format!("{path}[]"), depth + 1, found, open);
    }
}

fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let target = schema["$ref"].as_str().and_then(|target| target.strip_prefix('#'));
    target.and_then(|target| root.pointer(target)).unwrap_or(schema)
}

fn learn(answers: &[Value]) -> Value {
    let mut learned = LearnedType::default();
    for answer in answers {
        learned.learn(observe(&answer.to_string(), &NothingPersonal).expect("JSON"));
    }
    learned.schema()
}

/// Draws values, always the same ones.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }

    fn value(&mut self, root: &Value, schema: &Value, depth: usize) -> Value {
        let schema = resolved(root, schema);
        if let Some(values) = schema["enum"].as_array() {
            return values[self.below(values.len())].clone();
        }
        if !schema["const"].is_null() {
            return schema["const"].clone();
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(variants) = schema[key].as_array().filter(|variants| !variants.is_empty()) {
                let chosen = self.below(variants.len());
                return self.value(root, &variants[chosen], depth);
            }
        }
        let name = match &schema["type"] {
            Value::String(name) => name.as_str(),
            Value::Array(names) => names[self.below(names.len())].as_str().unwrap_or("null"),
            _ if schema["properties"].is_object() => "object",
            _ => "null",
        };
        match name {
            "object" => self.object(root, schema, depth),
            "array" if depth < DEPTH_MAX => {
                let count = 1 + self.below(4);
                (0..count).map(|_| self.value(root, &schema["items"], depth + 1)).collect()
            }
            "array" => json!([]),
            "string" => json!(format!("{:x} {}", self.below(1 << 20), self.below(100))),
            "integer" => json!(self.below(1_000)),
            "number" => json!(self.below(1_000) as f64 / 8.0 + 0.0625),
            "boolean" => json!(self.below(2) == 0),
            _ => Value::Null,
        }
    }

    fn object(&mut self, root: &Value, schema: &Value, depth: usize) -> Value {
        let mut made = Map::new();
        let is_required = |name: &String| {
            schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name))
        };
        for (name, below) in schema["properties"].as_object().into_iter().flatten() {
            if is_required(name) || self.below(10) < 7 {
                made.insert(name.clone(), self.value(root, below, depth + 1));
            }
        }
        if let (true, Value::Object(others)) = (made.is_empty(), &schema["additionalProperties"]) {
            for _ in 0..self.below(4) {
                let key = format!("{:08x}", self.below(usize::MAX));
                made.insert(key, self.value(root, &Value::Object(others.clone()), depth + 1));
            }
        }
        Value::Object(made)
    }
}

#[test]
fn fields_learned_from_the_example_servers_are_those_that_they_declare() {
    let mut score = Score::default();
    for name in NAMES {
        let server = by_name(name, &Options::default()).expect(name);
        for tool in server.tools().iter().filter(|tool| tool["outputSchema"].is_object()) {
            let made = calls().into_iter().filter(|call| call.0 == name && tool["name"] == call.1);
            let answers = made.map(|(_, tool, arguments)| {
                match server.call(tool, arguments.as_object().expect("arguments")) {
                    Ok(Answer::Structured(value)) => value,
                    other => panic!("{name}.{tool}: {other:?}"),
                }
            });
            score.add(&learn(&answers.collect::<Vec<_>>()), &tool["outputSchema"]);
        }
    }
    println!("example servers: {score:?}, precision {:.3}, recall {:.3}", score.precision(), score.recall());
    assert!(score.tools >= 25 && score.declared >= 100, "{score:?}");
    assert!(score.precision() >= 0.95, "{score:?}");
    assert!(score.recall() >= 0.85, "{score:?}");
}

#[test]
fn fields_learned_from_answers_as_real_servers_declare_them_are_those() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/tokens/catalogues");
    for (answers, recall) in [(1, 0.6), (3, 0.85), (10, 0.9)] {
        let mut score = Score::default();
        for name in ["airtable", "analytics", "atlassian", "aws", "mongodb"] {
            let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).expect("a catalogue");
            let catalogue: Value = serde_json::from_str(&text).expect("JSON");
            for (place, tool) in catalogue["tools"].as_array().expect("tools").iter().enumerate() {
                let declared = &tool["outputSchema"];
                if declared.is_object() {
                    let mut draw = Draw(place as u64);
                    let drawn: Vec<Value> = (0..answers).map(|_| draw.value(declared, declared, 0)).collect();
                    score.add(&learn(&drawn), declared);
                }
            }
        }
        println!(
            "real definitions, {answers} answers each: {score:?}, precision {:.3}, recall {:.3}",
            score.precision(),
            score.recall()
        );
        assert!(score.tools >= 180 && score.declared >= 400, "{score:?}");
        assert!(score.precision() >= 0.95, "{score:?}");
        assert!(score.recall() >= recall, "{answers}: {score:?}");
        assert_eq!(score.not_judged, 0, "keys of maps are ids here, and none of them is a field");
    }
}
