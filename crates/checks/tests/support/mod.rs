//! Tools that a check knows. Each test uses a part of it.
#![allow(dead_code)]

use std::sync::Arc;

use gristmill_checks::ToolNames;
use gristmill_domain::catalogue::{Catalogue, Lookup, Server, ServerOffer, Tool, ToolDefinition};
use gristmill_domain::validate::ArgumentCheck;
use serde_json::{Value, json};

pub struct Known {
    pub lookup: Lookup,
    /// Whether everything is known that there is.
    pub is_all: bool,
    /// A tool that the program may never call.
    pub denied: Option<&'static str>,
}

impl Known {
    /// One server, and nothing else.
    pub fn server(name: &str, tools: Vec<Arc<ToolDefinition>>) -> Self {
        let offer = ServerOffer { name: name.to_owned(), tools, ..ServerOffer::default() };
        Self { lookup: Lookup::new(Arc::new(Catalogue::new(vec![offer]))), is_all: true, denied: None }
    }
}

impl ToolNames for Known {
    fn lookup(&self) -> Option<&Lookup> {
        Some(&self.lookup)
    }

    fn is_certainly_unknown(&self, _server: Option<&str>, _tool: Option<&str>) -> bool {
        self.is_all
    }

    fn argument_check(&self, server: &Server, tool: &Tool) -> Option<Arc<ArgumentCheck>> {
        let name = format!("{}.{}", server.folder, tool.stem);
        Some(Arc::new(ArgumentCheck::new(&name, &tool.definition.input_schema)))
    }

    fn is_shown(&self, _server: &Server, tool: &Tool) -> bool {
        self.denied != Some(tool.definition.name.as_str())
    }
}

pub fn tool(name: &str, schema: &Value) -> Arc<ToolDefinition> {
    let text = json!({"name": name, "inputSchema": schema}).to_string();
    Arc::new(ToolDefinition::from_text(&text).expect("a tool"))
}

/// The arguments of a tool that changes a record.
pub fn record_update() -> Value {
    json!({
        "type": "object",
        "properties": {
            "record_id": {"type": "string"},
            "amount": {"type": "integer"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["record_id"],
        "additionalProperties": false,
    })
}
