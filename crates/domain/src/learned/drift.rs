//! What differs between two learned types, in words: names of fields and types, no values.

use std::collections::BTreeSet;

use serde_json::Value;

/// More are only counted.
const SHOWN_MAX: usize = 5;

/// What a path may come to.
const PATH_BYTES_MAX: usize = 120;

/// How the second differs from the first, such as ``items[].price: integer -> number``. Empty if it doesn't.
pub fn drift(old: &Value, new: &Value) -> Vec<String> {
    let mut differences = Differences::default();
    differences.walk("", old, new);
    let more = differences.left_out;
    differences.told.extend((more > 0).then(|| format!("and {more} more")));
    differences.told
}

#[derive(Default)]
struct Differences {
    told: Vec<String>,
    left_out: usize,
}

impl Differences {
    fn tell(&mut self, path: &str, what: &str) {
        if self.told.len() >= SHOWN_MAX {
            self.left_out += 1;
            return;
        }
        let path = if path.is_empty() { "the answer" } else { path };
        self.told.push(format!("{}: {what}", crate::first_bytes(path, PATH_BYTES_MAX)));
    }

    fn walk(&mut self, path: &str, old: &Value, new: &Value) {
        if old == new {
            return;
        }
        let (before, after) = (kinds(old), kinds(new));
        if before != after {
            let words = |kinds: &BTreeSet<String>| match kinds.is_empty() {
                true => "any".to_owned(),
                false => kinds.iter().cloned().collect::<Vec<_>>().join(" | "),
            };
            self.tell(path, &format!("{} -> {}", words(&before), words(&after)));
        }
        if let (Some(old), Some(new)) = (part(old, "object"), part(new, "object")) {
            self.objects(path, old, new);
        }
        if let (Some(old), Some(new)) = (part(old, "array"), part(new, "array")) {
            let none = Value::Null;
            let (old, new) = (old.get("items").unwrap_or(&none), new.get("items").unwrap_or(&none));
            self.walk(&format!("{path}[]"), old, new);
        }
    }

    fn objects(&mut self, path: &str, old: &Value, new: &Value) {
        let fields = |schema: &Value| schema.get("properties").and_then(Value::as_object).cloned();
        let (before, after) = (fields(old).unwrap_or_default(), fields(new).unwrap_or_default());
        let is_map = |schema: &Value| schema.get("additionalProperties").is_some();
        if !is_map(old) && is_map(new) && !before.is_empty() && after.is_empty() {
            return self.tell(path, "its keys are data now");
        }
        let is_required = |schema: &Value, name: &str| {
            let required = schema.get("required").and_then(Value::as_array);
            required.is_some_and(|required| required.iter().any(|one| one == name))
        };
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for name in names {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            match (before.get(name), after.get(name)) {
                (None, Some(_)) => self.tell(&path, "new"),
                (Some(_), None) => self.tell(&path, "not seen any more"),
                (Some(before), Some(after)) => {
                    match (is_required(old, name), is_required(new, name)) {
                        (true, false) => self.tell(&path, "missing in some answers now"),
                        (false, true) => self.tell(&path, "always there now"),
                        (true, true) | (false, false) => {}
                    }
                    self.walk(&path, before, after);
                }
                (None, None) => {}
            }
        }
        let others = |schema: &Value| schema.get("additionalProperties").cloned();
        if let (Some(old), Some(new)) = (others(old), others(new)) {
            self.walk(&format!("{path}[key]"), &old, &new);
        }
    }
}

/// The members of a union, or the schema itself.
fn members(schema: &Value) -> Vec<&Value> {
    match schema.get("anyOf").and_then(Value::as_array) {
        Some(members) => members.iter().collect(),
        None => vec![schema],
    }
}

fn kinds(schema: &Value) -> BTreeSet<String> {
    let mut kinds = BTreeSet::new();
    for member in members(schema) {
        let format = member.get("format").and_then(Value::as_str);
        match &member["type"] {
            Value::String(name) => {
                kinds.insert(format.unwrap_or(name).to_owned());
            }
            Value::Array(names) => kinds.extend(names.iter().filter_map(Value::as_str).map(str::to_owned)),
            _ => {}
        }
    }
    kinds
}

fn part<'a>(schema: &'a Value, kind: &str) -> Option<&'a Value> {
    members(schema).into_iter().find(|member| member["type"] == kind)
}
