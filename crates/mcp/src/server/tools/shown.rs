//! The tools of a profile: what a caller is shown, and what its arguments are checked by.

use std::sync::{Arc, OnceLock};

use gristmill_gateway::domain::validate::{ArgumentCheck, BadArguments};
use gristmill_gateway::tokens;
use rmcp::model::Tool;
use serde_json::{Map, Value, json};

use super::call_tool::CALL_TOOL;
use super::execute_code::EXECUTE_CODE;
use super::generate_code::GENERATE_CODE;
use super::taken_arguments::TakenArguments;
use super::{ALL, OwnTool};
use crate::server::profile::Profile;

pub(in crate::server) struct ShownTools {
    profile: Profile,
    definitions: Vec<Value>,
    tools: Vec<ShownTool>,
    /// Of the definitions, in their order.
    tokens: OnceLock<Vec<u64>>,
}

/// One tool, with what reads its arguments.
pub(in crate::server) struct ShownTool {
    pub tool: &'static OwnTool,
    taken: TakenArguments,
    check: ArgumentCheck,
}

impl ShownTool {
    fn new(tool: &'static OwnTool, profile: Profile) -> Self {
        let schema = tool.input_schema(profile);
        let taken = TakenArguments::new(tool.name, &schema);
        Self { tool, taken, check: ArgumentCheck::new(tool.name, &schema) }
    }

    /// Understands the arguments as they are meant, and checks them.
    pub fn read(&self, arguments: &mut Map<String, Value>) -> Result<(), BadArguments> {
        self.taken.rename(arguments);
        self.check.fit(arguments);
        self.taken.read_texts(arguments);
        self.check.check(arguments)
    }
}

/// The argument that only a gateway with a native engine shows.
const ENGINE: &str = "engine";

/// The argument that is a program.
const CODE: &str = "code";

/// Modules that are named to a model; it may try others.
const MODULES_SHOWN: usize = 12;

fn named(modules: &[String]) -> String {
    let mut named = modules[..modules.len().min(MODULES_SHOWN)].join(", ");
    if modules.len() > MODULES_SHOWN {
        named.push_str(", …");
    }
    named
}

fn without_engine(mut definition: Value) -> Value {
    if let Some(properties) = definition["inputSchema"]["properties"].as_object_mut() {
        properties.shift_remove(ENGINE);
    }
    definition
}

/// The same for one who may not use it.
pub(in crate::server) fn hide_engine(tool: &mut Tool) {
    let schema = Arc::make_mut(&mut tool.input_schema);
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.shift_remove(ENGINE);
    }
}

/// Whether a tool that only some want is shown, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SingleCalls {
    /// By programs only.
    InPrograms,
    /// With `call_tool` as well.
    ByCallTool,
}

/// Whether a tool that writes programs is shown, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeWriting {
    /// Callers write them.
    ByCaller,
    /// `generate_code` does as well.
    ByGenerateCode,
}

impl ShownTools {
    pub fn new(profile: Profile, single_calls: SingleCalls, writing: CodeWriting) -> Self {
        let calls = (single_calls == SingleCalls::ByCallTool).then_some(&CALL_TOOL);
        let writes = (writing == CodeWriting::ByGenerateCode).then_some(&GENERATE_CODE);
        let opted_in = calls.into_iter().chain(writes);
        let tools = ALL.into_iter().filter(|tool| tool.is_in(profile)).chain(opted_in);
        Self {
            profile,
            definitions: tools.clone().map(|tool| without_engine(tool.definition(profile))).collect(),
            tools: tools.map(|tool| ShownTool::new(tool, profile)).collect(),
            tokens: OnceLock::new(),
        }
    }

    /// The same for a gateway with a native engine, which has these modules of its own: programs can ask for it.
    pub fn with_native(mut self, modules: &[String]) -> Self {
        let description = match modules {
            [] => "native is the machine's own Python.".to_owned(),
            modules => format!("native can import {}; auto picks it by imports.", named(modules)),
        };
        let engine =
            json!({"type": "string", "enum": ["wasm", "native", "auto"], "description": description});
        if let Some(properties) = self.program_properties() {
            properties[ENGINE] = engine;
        }
        self
    }

    /// The same for a gateway whose user has added these modules to those that every Python program can import.
    pub fn with_packages(mut self, modules: &[String]) -> Self {
        let description = format!("Python can also import {}.", named(modules));
        if let Some(properties) = self.program_properties().filter(|_| !modules.is_empty()) {
            properties[CODE]["description"] = json!(description);
        }
        self
    }

    /// The arguments of the tool that runs programs, as they are shown.
    fn program_properties(&mut self) -> Option<&mut Value> {
        let found = self.definitions.iter_mut().find(|definition| definition["name"] == EXECUTE_CODE.name);
        found.map(|definition| &mut definition["inputSchema"]["properties"])
    }

    /// As the protocol has them.
    pub fn definitions(&self) -> &[Value] {
        &self.definitions
    }

    /// What the definition of one of them comes to in a model's context. Counted at the first question:
    /// the tables take longer than a start may.
    pub fn definition_tokens(&self, tool: &OwnTool) -> u64 {
        let place = self.names().position(|name| name == tool.name);
        place.and_then(|place| self.counted().get(place)).copied().unwrap_or_default()
    }

    /// What the definitions of all of them come to.
    pub fn tokens(&self) -> u64 {
        self.counted().iter().sum()
    }

    fn counted(&self) -> &[u64] {
        let count = |definition: &Value| {
            let [name, description] = ["name", "description"].map(|key| definition[key].as_str());
            let (tokens, _) =
                tokens::count_definition(name.unwrap_or_default(), description, &definition["inputSchema"]);
            tokens as u64
        };
        self.tokens.get_or_init(|| self.definitions.iter().map(count).collect())
    }

    pub fn find(&self, name: &str) -> Option<&ShownTool> {
        self.tools.iter().find(|shown| shown.tool.name == name)
    }

    pub fn names(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.tools.iter().map(|shown| shown.tool.name)
    }

    /// Whether a definition is the one that tells of the servers' tools.
    pub fn tells_of_tools(name: &str) -> bool {
        name == EXECUTE_CODE.name
    }

    /// What stands before what is told there.
    pub fn chars_before_tools() -> usize {
        EXECUTE_CODE.description.trim_end().chars().count() + 2
    }

    pub fn has(&self, tool: &OwnTool) -> bool {
        tool.is_in(self.profile)
    }
}

#[cfg(test)]
#[path = "shown_tests.rs"]
mod tests;
