//! A shape as JSON Schema, which is what stubs are made of.

use serde_json::{Map, Value, json};

use super::shape::{ObjectShape, Scalars, Shape, TextShape};

impl Shape {
    /// What all values of this shape conform to. The same shape always gives the same schema.
    pub fn to_schema(&self) -> Value {
        if self.any {
            return json!({});
        }
        let mut plain: Vec<&str> = Vec::new();
        if self.scalars.has(Scalars::BOOLEAN) {
            plain.push("boolean");
        }
        if self.scalars.has(Scalars::NUMBER) {
            plain.push("number");
        } else if self.scalars.has(Scalars::INTEGER) {
            plain.push("integer");
        }
        let mut made: Vec<Value> = plain.into_iter().map(|name| json!({ "type": name })).collect();
        made.extend(self.text.as_ref().map(of_text));
        made.extend(self.list.as_ref().map(|list| match &list.items {
            Some(items) => json!({ "type": "array", "items": items.to_schema() }),
            None => json!({ "type": "array" }),
        }));
        made.extend(self.object.as_ref().map(of_object));
        if self.scalars.has(Scalars::NULL) {
            made.push(json!({ "type": "null" }));
        }
        match made.len() {
            0 => json!({}),
            1 => made.remove(0),
            _ => union(made),
        }
    }
}

/// Plain types are named in one list.
fn union(members: Vec<Value>) -> Value {
    let is_plain = |member: &Value| member.as_object().is_some_and(|member| member.len() == 1);
    if members.iter().all(is_plain) {
        let names: Vec<&Value> = members.iter().map(|member| &member["type"]).collect();
        return json!({ "type": names });
    }
    json!({ "anyOf": members })
}

fn of_text(text: &TextShape) -> Value {
    if let Some(words) = text.choices.as_ref().and_then(|choices| choices.words()) {
        return json!({ "type": "string", "enum": words });
    }
    match text.formats.name() {
        Some(format) => json!({ "type": "string", "format": format }),
        None => json!({ "type": "string" }),
    }
}

fn of_object(object: &ObjectShape) -> Value {
    let mut made = Map::from_iter([("type".to_owned(), json!("object"))]);
    if !object.fields.is_empty() {
        let properties: Map<String, Value> =
            object.fields.iter().map(|(name, field)| (name.clone(), field.value.to_schema())).collect();
        made.insert("properties".to_owned(), Value::Object(properties));
        let required: Vec<&String> =
            object.fields.iter().filter(|(_, field)| !field.is_optional).map(|(name, _)| name).collect();
        if !required.is_empty() {
            made.insert("required".to_owned(), json!(required));
        }
    }
    if let Some(others) = &object.others {
        made.insert("additionalProperties".to_owned(), others.to_schema());
    }
    Value::Object(made)
}
