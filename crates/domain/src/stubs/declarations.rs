//! Every tool of a catalogue as declarations for a type checker.
//!
//! A stub says what a tool takes; a declaration says what is certainly wrong. It's wider than the stub wherever
//! the schema, the guest or the door takes more: a text for a choice of texts, any object for a map, and anything
//! at all where parts of a schema depend on each other.

use std::collections::BTreeSet;

use super::Language;
use super::caps::LEVELS;
use super::inert_text::{key, string};
use super::interface::Interface;
use super::types::{Body, Field, Named, Scalar, Type, Types};
use crate::catalogue::{Catalogue, Server, Tool};

/// Of all declarations. Tools beyond it take and return anything.
const DECLARED_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Between the parts of a type's name: server, tool, and what the stub calls it.
const BETWEEN: &str = "__";

/// What makes the parts of a schema depend on each other.
const DEPENDING: [&str; 9] = [
    "if",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "$ref",
    "dependentSchemas",
    "patternProperties",
    "unevaluatedProperties",
];

/// The module that a program's import of a server's tools stands for, by the server's place in the catalogue. It's
/// no longer than any name that a program writes for one.
pub fn declared_module(place: usize) -> String {
    format!("gm:{place}")
}

/// The module that has every name, of any type.
pub const ANY_MODULE: &str = "x";

/// The declarations of all tools: a global `tools`, a module for each server, and the interface `ToolCalls`.
pub fn declarations(catalogue: &Catalogue) -> String {
    let mut made = format!("declare module \"{ANY_MODULE}\";\n");
    let mut calls = String::new();
    let mut all = String::new();
    for (place, server) in catalogue.servers.iter().enumerate() {
        let owner = format!("{}{BETWEEN}tools", server.identifier);
        let (mut methods, mut exports) = (String::new(), String::new());
        for tool in &server.tools {
            let function = match made.len() < DECLARED_BYTES_MAX {
                true => Declared::of(server, tool).written(&mut made),
                false => "(args?: any): Promise<any>".to_owned(),
            };
            let mut names = spellings(&tool.identifier);
            names.dedup();
            for name in &names {
                methods.push_str(&format!("  {name}{function};\n"));
                exports.push_str(&format!("  export const {name}: {owner}[\"{}\"];\n", tool.identifier));
            }
            for name in called_by(server, tool) {
                let name = string(Language::TypeScript, &name);
                calls.push_str(&format!("  {name}: {owner}[\"{}\"];\n", tool.identifier));
            }
        }
        made.push_str(&format!("interface {owner} {{\n{methods}  [other: string]: any;\n}}\n"));
        let module = declared_module(place);
        made.push_str(&format!(
            "declare module \"{module}\" {{\n  const it: {owner};\n  export default it;\n{exports}}}\n"
        ));
        all.push_str(&format!("  {}: {owner};\n", server.identifier));
    }
    made.push_str(&format!("interface ToolCalls {{\n{calls}}}\n"));
    made.push_str(&format!("declare const tools: {{\n{all}  [other: string]: any;\n}};\n"));
    made
}

/// A name in the spellings that programs use: as it is, `camelCase`, `snake_case`.
fn spellings(identifier: &str) -> Vec<String> {
    let (mut camel, mut snake) = (String::new(), String::new());
    let mut after_gap = false;
    for c in identifier.chars() {
        match c {
            '_' if !camel.is_empty() => after_gap = true,
            c if after_gap => {
                camel.extend(c.to_uppercase());
                after_gap = false;
            }
            c => camel.push(c),
        }
        if c.is_uppercase() && !snake.is_empty() && !snake.ends_with('_') {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    let mut made = vec![identifier.to_owned()];
    made.extend([camel, snake].into_iter().filter(|other| other != identifier));
    made
}

/// What `callMCPTool` is given for a tool.
fn called_by(server: &Server, tool: &Tool) -> BTreeSet<String> {
    let servers = [&server.offer.name, &server.identifier, &server.folder];
    let tools = [&tool.definition.name, &tool.identifier];
    servers.iter().flat_map(|server| tools.iter().map(move |tool| format!("{server}.{tool}"))).collect()
}

/// Which way a value goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// To the tool: whatever may be right is taken.
    In,
    /// Back to the program.
    Out,
}

struct Declared {
    /// What names of its types begin with.
    prefix: String,
    interface: Interface,
    /// Whether its arguments can't be told.
    takes_anything: bool,
}

impl Declared {
    fn of(server: &Server, tool: &Tool) -> Self {
        let schema = &tool.definition.input_schema;
        Self {
            prefix: format!("{}{BETWEEN}{}{BETWEEN}", server.identifier, tool.identifier),
            interface: Interface::declared(tool, &LEVELS[1]),
            takes_anything: DEPENDING.iter().any(|keyword| schema.get(keyword).is_some()),
        }
    }

    /// Adds its types, and gives its parameters and its result.
    fn written(&self, made: &mut String) -> String {
        let Interface { parameters, others, result, types } = &self.interface;
        let takes_anything = self.takes_anything || others.is_some();
        let (mut given, mut returned) = (BTreeSet::new(), BTreeSet::new());
        if !takes_anything {
            parameters.iter().for_each(|(_, field)| reach(&field.value, types, &mut given));
        }
        reach(result, types, &mut returned);
        for (way, ids) in [(Way::In, &given), (Way::Out, &returned)] {
            for named in ids.iter().filter_map(|id| types.get(*id)).map(|(_, named)| named) {
                made.push_str(&self.definition(named, way));
            }
        }
        let answer = self.text(result, Way::Out);
        if takes_anything {
            return format!("(args?: any): Promise<{answer}>");
        }
        let fields: String = parameters.iter().map(|(_, field)| self.member(field, Way::In)).collect();
        let arguments = format!("{}Arguments", self.prefix);
        made.push_str(&format!("interface {arguments} {{\n{fields}}}\n"));
        let mark = if parameters.iter().all(|(_, field)| !field.is_required) { "?" } else { "" };
        format!("(args{mark}: {arguments}): Promise<{answer}>")
    }

    fn definition(&self, named: &Named, way: Way) -> String {
        let name = self.name(&named.name, way);
        match &named.body {
            Body::Alias(value) => format!("type {name} = {};\n", self.text(value, way)),
            Body::Object { fields, is_open } => {
                let mut members: String = fields.iter().map(|field| self.member(field, way)).collect();
                if *is_open {
                    members.push_str("  [key: string]: any;\n");
                }
                format!("interface {name} {{\n{members}}}\n")
            }
        }
    }

    fn member(&self, field: &Field, way: Way) -> String {
        let mark = if field.is_required { "" } else { "?" };
        let name = key(Language::TypeScript, &field.name);
        format!("  {name}{mark}: {};\n", self.text(&field.value, way))
    }

    fn name(&self, name: &str, way: Way) -> String {
        match way {
            Way::In => format!("{}In{BETWEEN}{name}", self.prefix),
            Way::Out => format!("{}{name}", self.prefix),
        }
    }

    fn text(&self, value: &Type, way: Way) -> String {
        match value {
            Type::Any | Type::Tuple(..) => "any".to_owned(),
            Type::Null => "null".to_owned(),
            Type::Bool => "boolean".to_owned(),
            Type::Int | Type::Float => "number".to_owned(),
            Type::Str => "string".to_owned(),
            // A variable that holds one of them is a text or a number, for all that its type says.
            Type::Literal(values) => {
                let kinds: BTreeSet<&str> = values.iter().map(kind).collect();
                kinds.into_iter().collect::<Vec<_>>().join(" | ")
            }
            Type::List(item) if way == Way::In => format!("readonly ({})[]", self.text(item, way)),
            Type::List(item) => format!("({})[]", self.text(item, way)),
            Type::Map(_) if way == Way::In => "object".to_owned(),
            Type::Map(item) => format!("{{ [key: string]: {} }}", self.text(item, way)),
            Type::Named(id) => match self.interface.types.get(*id) {
                Some((_, named)) => self.name(&named.name, way),
                None => "any".to_owned(),
            },
            Type::Union(members) => {
                let members: Vec<String> = members.iter().map(|member| self.text(member, way)).collect();
                members.join(" | ")
            }
        }
    }
}

fn kind(scalar: &Scalar) -> &'static str {
    match scalar {
        Scalar::Str(_) => "string",
        Scalar::Int(_) => "number",
        Scalar::Bool(_) => "boolean",
    }
}

/// The named types that a type needs.
fn reach(value: &Type, types: &Types, found: &mut BTreeSet<usize>) {
    match value {
        Type::Named(id) => {
            let Some((id, named)) = types.get(*id) else { return };
            if found.insert(id) {
                match &named.body {
                    Body::Alias(value) => reach(value, types, found),
                    Body::Object { fields, .. } => {
                        fields.iter().for_each(|field| reach(&field.value, types, found));
                    }
                }
            }
        }
        Type::List(item) | Type::Map(item) => reach(item, types, found),
        Type::Union(members) => members.iter().for_each(|member| reach(member, types, found)),
        Type::Tuple(..)
        | Type::Any
        | Type::Null
        | Type::Bool
        | Type::Int
        | Type::Float
        | Type::Str
        | Type::Literal(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::catalogue::{ServerOffer, ToolDefinition};

    fn declared(tool: &str) -> String {
        let definition = ToolDefinition::from_text(tool).expect("a definition");
        let offer = ServerOffer {
            name: "crm-eu".to_owned(),
            tools: vec![Arc::new(definition)],
            ..ServerOffer::default()
        };
        declarations(&Catalogue::new(vec![offer]))
    }

    #[test]
    fn a_tool_is_declared_under_its_spellings_and_wider_than_its_stub() {
        let text = declared(
            r#"{"name":"get_record","inputSchema":{"type":"object","required":["id"],"properties":{
                "id":{"type":"string"},"mode":{"enum":["a","b"]},"tags":{"type":"array","items":{"type":"string"}},
                "filter":{"type":"object","properties":{"field":{"type":"string"}}}}},
              "outputSchema":{"type":"object","required":["title"],"properties":{"title":{"type":"string"}}}}"#,
        );
        for part in [
            "interface crm_eu__get_record__Arguments {\n  id: string;\n",
            "  mode?: string;\n",
            "  tags?: readonly (string)[];\n",
            "export const getRecord: crm_eu__tools[\"get_record\"];",
            "\"crm-eu.get_record\": crm_eu__tools[\"get_record\"];",
            "declare module \"gm:0\"",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(text.contains("__In__"), "what goes in has types of its own\n{text}");
    }

    #[test]
    fn arguments_that_depend_on_each_other_can_be_anything() {
        let text = declared(
            r#"{"name":"put","inputSchema":{"type":"object","properties":{"a":{"type":"string"}},
              "oneOf":[{"required":["a"]},{"properties":{"a":{"type":"number"}}}]}}"#,
        );
        assert!(text.contains("  put(args?: any): Promise<any>;\n"), "{text}");
    }
}
