//! From JSON Schema (draft-07 and 2020-12) to types.
//!
//! A schema is hostile: nesting, time, the number of types and the length of every text are capped,
//! and whatever is over a cap or makes no sense becomes `Any`. Nothing is fetched from anywhere.

mod object_shape;

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::caps::{Caps, INLINE_PARTS_MAX};
use super::field_notes;
use super::inert_text::one_line;
use super::reference::{self, Reference};
use super::type_names::{TypeNames, is_title, variant_hint};
use super::types::{Body, Entry, Field, Named, Scalar, Type, Types};
use super::variants::variants;
pub(super) use object_shape::Shape;

/// Reads the schemas of one tool.
pub(super) struct Reader<'a> {
    pub caps: &'static Caps,
    /// What references point into.
    pub root: &'a Value,
    pub types: Types,
    pub names: TypeNames,
    pub nodes_left: usize,
    depth: usize,
    /// How many lists, maps and objects are around what is being read.
    containers: usize,
    references: HashMap<String, Reference>,
}

impl<'a> Reader<'a> {
    pub fn new(caps: &'static Caps, root: &'a Value, tool: &str) -> Self {
        Self {
            caps,
            root,
            types: Types::default(),
            names: TypeNames::new(tool),
            nodes_left: caps.nodes_max,
            depth: 0,
            containers: 0,
            references: HashMap::new(),
        }
    }

    /// Another document, whose types stand in the same file.
    pub fn set_root(&mut self, root: &'a Value) {
        self.root = root;
        self.nodes_left = self.caps.nodes_max;
        self.references.clear();
    }

    /// The type of a schema; `hint` names it if it needs a name.
    pub fn read(&mut self, schema: &'a Value, hint: &str) -> Type {
        let Value::Object(schema) = schema else { return Type::Any };
        if self.nodes_left == 0 || self.depth >= self.caps.depth_max {
            return Type::Any;
        }
        self.nodes_left -= 1;
        self.depth += 1;
        let read = self.read_object_schema(schema, hint);
        self.depth -= 1;
        if schema.get("nullable") == Some(&Value::Bool(true)) {
            Type::union([read, Type::Null])
        } else {
            read
        }
    }

    fn read_object_schema(&mut self, schema: &'a Map<String, Value>, hint: &str) -> Type {
        let has = |name: &str| schema.contains_key(name);
        if let Some(target) = reference::target(schema) {
            if !has("properties") && !has("allOf") {
                return self.read_reference(target);
            }
            return self.read_fields(schema, hint);
        }
        if let Some(value) = schema.get("const") {
            return self.literals(std::slice::from_ref(value));
        }
        if let Some(Value::Array(values)) = schema.get("enum") {
            return self.literals(values);
        }
        let has_fields =
            schema.get("properties").and_then(Value::as_object).is_some_and(|all| !all.is_empty());
        if !has_fields && let Some(variants) = variants(schema) {
            let read = self.read_variants(variants, hint);
            if read != Type::Any {
                return read;
            }
        }
        if let Some(Value::Array(parts)) = schema.get("allOf")
            && !has_fields
        {
            let read = self.read_all_of(schema, parts, hint);
            if read != Type::Any {
                return read;
            }
        }
        self.read_by_type(schema, hint, has_fields)
    }

    fn read_by_type(&mut self, schema: &'a Map<String, Value>, hint: &str, has_fields: bool) -> Type {
        match schema.get("type") {
            Some(Value::String(name)) => self.read_type(name, schema, hint),
            Some(Value::Array(names)) => {
                let names: Vec<&str> = names.iter().filter_map(Value::as_str).take(8).collect();
                let read: Vec<Type> = names.iter().map(|name| self.read_type(name, schema, hint)).collect();
                Type::union(read)
            }
            _ if has_fields => self.read_fields(schema, hint),
            _ if schema.contains_key("items") || schema.contains_key("prefixItems") => {
                self.read_list(schema, hint)
            }
            _ if schema.contains_key("additionalProperties") || schema.contains_key("patternProperties") => {
                self.read_fields(schema, hint)
            }
            _ => Type::Any,
        }
    }

    fn read_type(&mut self, name: &str, schema: &'a Map<String, Value>, hint: &str) -> Type {
        match name {
            "string" => Type::Str,
            "integer" => Type::Int,
            "number" => Type::Float,
            "boolean" => Type::Bool,
            "null" => Type::Null,
            "array" => self.read_list(schema, hint),
            "object" => self.read_fields(schema, hint),
            _ => Type::Any,
        }
    }

    fn literals(&self, values: &[Value]) -> Type {
        let mut kinds: Vec<Type> = Vec::new();
        let mut scalars: Vec<Scalar> = Vec::new();
        let mut chars = 0;
        let is_short = values.len() <= self.caps.literals_max;
        // Past some point more values say nothing new about their kind.
        for value in values.iter().take(1_000) {
            let scalar = Scalar::of(value).filter(|_| is_short);
            chars += scalar.as_ref().map_or(0, Scalar::chars);
            let kind = match (scalar, value) {
                (Some(scalar), _) if chars <= self.caps.literal_chars_max => {
                    scalars.push(scalar);
                    continue;
                }
                (_, Value::Null) => Type::Null,
                (_, Value::Bool(_)) => Type::Bool,
                (_, Value::Number(number)) if number.is_f64() => Type::Float,
                (_, Value::Number(_)) => Type::Int,
                (_, Value::String(_)) => Type::Str,
                (_, Value::Array(_)) => Type::List(Box::new(Type::Any)),
                (_, Value::Object(_)) => Type::Map(Box::new(Type::Any)),
            };
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        let is_spelled_out = kinds.iter().all(|kind| *kind == Type::Null);
        if !is_spelled_out {
            // All or none: half a list of values would be a wrong one.
            let of = |scalar: &Scalar| match scalar {
                Scalar::Str(_) => Type::Str,
                Scalar::Int(_) => Type::Int,
                Scalar::Bool(_) => Type::Bool,
            };
            kinds.extend(scalars.iter().map(of));
        } else if !scalars.is_empty() {
            kinds.insert(0, Type::Literal(scalars));
        }
        Type::union(kinds)
    }

    fn read_variants(&mut self, variants: &'a [Value], hint: &str) -> Type {
        if variants.len() > self.caps.variants_max {
            return Type::Any;
        }
        let read = variants.iter().map(|variant| self.read(variant, &variant_hint(variant, hint)));
        let read: Vec<Type> = read.collect();
        Type::union(read)
    }

    /// Objects are merged. Of anything else the first part that says something counts.
    fn read_all_of(&mut self, schema: &'a Map<String, Value>, parts: &'a [Value], hint: &str) -> Type {
        if let [only] = parts {
            return self.read(only, hint);
        }
        let mut shape = Shape::default();
        shape.collect(self, schema);
        if !shape.fields.is_empty() {
            return self.read_shape(shape, schema, hint);
        }
        parts
            .iter()
            .take(self.caps.variants_max)
            .map(|part| self.read(part, hint))
            .find(|read| *read != Type::Any)
            .unwrap_or(Type::Any)
    }

    fn read_list(&mut self, schema: &'a Map<String, Value>, hint: &str) -> Type {
        let hint = format!("{}Item", one_line(hint, 40));
        let (fixed, rest) = match (schema.get("prefixItems"), schema.get("items")) {
            (Some(Value::Array(fixed)), rest) => (Some(fixed), rest),
            (_, Some(Value::Array(fixed))) => (Some(fixed), schema.get("additionalItems")),
            (_, rest) => (None, rest),
        };
        self.containers += 1;
        let rest = rest.filter(|rest| rest.is_object()).map(|rest| Box::new(self.read(rest, &hint)));
        let is_tuple = |fixed: &&Vec<Value>| !fixed.is_empty() && fixed.len() <= self.caps.variants_max;
        let made = match fixed.filter(is_tuple) {
            Some(fixed) => Type::Tuple(fixed.iter().map(|item| self.read(item, &hint)).collect(), rest),
            None if fixed.is_some() => Type::List(Box::new(Type::Any)),
            None => Type::List(rest.unwrap_or_else(|| Box::new(Type::Any))),
        };
        self.containers -= 1;
        made
    }

    fn read_fields(&mut self, schema: &'a Map<String, Value>, hint: &str) -> Type {
        let mut shape = Shape::default();
        shape.collect(self, schema);
        let Some(variants) = shape.variants.take() else { return self.read_shape(shape, schema, hint) };
        if variants.len() > self.caps.variants_max {
            return self.read_shape(shape, schema, hint);
        }
        let mut made = Vec::new();
        for variant in variants {
            let mut whole = shape.clone();
            if let Value::Object(variant) = variant {
                whole.collect(self, variant);
            }
            if whole.fields.len() == shape.fields.len() {
                // A variant that only says which fields go together.
                return self.read_shape(shape, schema, hint);
            }
            made.push(self.read_shape(whole, schema, &variant_hint(variant, hint)));
        }
        Type::union(made)
    }

    fn read_shape(&mut self, shape: Shape<'a>, schema: &'a Map<String, Value>, hint: &str) -> Type {
        self.containers += 1;
        let made = self.read_shape_inside(shape, schema, hint);
        self.containers -= 1;
        made
    }

    fn read_shape_inside(&mut self, shape: Shape<'a>, schema: &'a Map<String, Value>, hint: &str) -> Type {
        let is_roomy =
            self.types.order.len() < self.caps.types_max && shape.fields.len() <= self.caps.fields_max;
        if shape.fields.is_empty() || !is_roomy {
            let other = shape.others.filter(|_| shape.fields.is_empty()).map(|other| self.read(other, hint));
            return Type::Map(Box::new(other.unwrap_or(Type::Any)));
        }
        let title = schema.get("title").and_then(Value::as_str).filter(|title| is_title(title));
        let name = self.names.take(title.unwrap_or(hint));
        let fields = self.read_shape_fields(&shape);
        let is_open = shape.is_open || shape.others.is_some();
        let body = Body::Object { fields, is_open };
        if let Some(same) = self.types.written().find(|(_, named)| named.body == body).map(|(id, _)| id) {
            self.names.release(&name);
            return Type::Named(same);
        }
        let doc = self.doc(schema);
        Type::Named(self.write_down(Named { name, doc, body }))
    }

    /// Required ones first.
    pub fn read_shape_fields(&mut self, shape: &Shape<'a>) -> Vec<Field> {
        let mut fields: Vec<Field> = Vec::new();
        for (name, schema) in &shape.fields {
            fields.push(self.read_field(name, schema, shape.required.contains(name)));
        }
        fields.sort_by_key(|field| !field.is_required);
        fields
    }

    fn read_field(&mut self, name: &str, schema: &'a Value, is_required: bool) -> Field {
        let value = self.read(schema, name);
        let mut field = Field {
            name: name.to_owned(),
            value,
            is_required,
            doc: String::new(),
            notes: Vec::new(),
            default: None,
            sample: None,
        };
        let Value::Object(schema) = schema else { return field };
        field.doc = self.doc(schema);
        if let (Type::Named(id), None) = (&field.value, reference::target(schema))
            && let Some(Entry::Named(named)) = self.types.entries.get_mut(*id)
            && named.doc == field.doc
        {
            // Said once is enough.
            named.doc = String::new();
        }
        if self.caps.field_doc_chars_max > 0 {
            field_notes::add(&mut field, schema, self.root, self.caps);
        }
        field
    }

    fn doc(&self, schema: &Map<String, Value>) -> String {
        let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        one_line(text, self.caps.field_doc_chars_max)
    }

    fn write_down(&mut self, named: Named) -> usize {
        let id = self.types.entries.len();
        self.types.entries.push(Entry::Named(named));
        self.types.order.push(id);
        id
    }

    fn read_reference(&mut self, target: &'a str) -> Type {
        let containers = self.containers;
        match self.references.get_mut(target) {
            Some(Reference::Read(read)) => return read.clone(),
            // Defined as itself and nothing more.
            Some(Reference::Reading { containers: around, .. }) if *around == containers => return Type::Any,
            Some(Reference::Reading { id, .. }) => {
                if id.is_none() {
                    *id = Some(self.types.entries.len());
                    self.types.entries.push(Entry::Blank);
                }
                return id.map_or(Type::Any, Type::Named);
            }
            None => {}
        }
        let Some(schema) = reference::resolve(self.root, target) else { return Type::Any };
        self.references.insert(target.to_owned(), Reference::Reading { id: None, containers });
        let hint = reference::name(target);
        let read = self.read(schema, &hint);
        let recursive = match self.references.get(target) {
            Some(Reference::Reading { id, .. }) => *id,
            Some(Reference::Read(_)) | None => None,
        };
        let read = self.name_reference(read, recursive, &hint, schema);
        self.references.insert(target.to_owned(), Reference::Read(read.clone()));
        read
    }

    /// A type that mentions itself, or that is long, is written down once.
    fn name_reference(&mut self, read: Type, recursive: Option<usize>, hint: &str, schema: &Value) -> Type {
        match (&read, recursive) {
            (Type::Named(id), Some(recursive)) => {
                self.types.entries[recursive] = Entry::Same(*id);
                return read;
            }
            (Type::Named(_), None) => return read,
            (_, None) if read.parts() <= INLINE_PARTS_MAX => return read,
            _ => {}
        }
        if self.types.order.len() >= self.caps.types_max {
            return Type::Any;
        }
        let doc = schema.as_object().map(|schema| self.doc(schema)).unwrap_or_default();
        let named = Named { name: self.names.take(hint), doc, body: Body::Alias(read) };
        let id = match recursive {
            Some(id) => {
                self.types.entries[id] = Entry::Named(named);
                self.types.order.push(id);
                id
            }
            None => self.write_down(named),
        };
        Type::Named(id)
    }
}
