//! Tools that do what a test says.

use std::collections::HashMap;
use std::sync::Arc;

use gristmill_gateway::domain::ToolAnswer;
use gristmill_gateway::ports::{BoxFuture, ToolCall, ToolFailure, Tools};
use serde_json::{Map, Value};

type Script = Arc<dyn Fn(Map<String, Value>) -> Result<Value, ToolFailure> + Send + Sync>;

/// Tools by name, each a function of its arguments.
#[derive(Clone, Default)]
pub struct ScriptedTools(HashMap<String, Script>);

impl ScriptedTools {
    /// No tool yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// One more.
    pub fn tool(
        mut self,
        name: &str,
        script: impl Fn(Map<String, Value>) -> Result<Value, ToolFailure> + Send + Sync + 'static,
    ) -> Self {
        self.0.insert(name.to_owned(), Arc::new(script));
        self
    }
}

impl Tools for ScriptedTools {
    fn call(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolAnswer, ToolFailure>> {
        Box::pin(async move {
            match self.0.get(&call.name) {
                Some(script) => script(call.arguments).map(ToolAnswer::from),
                None => {
                    let nearest = self.0.keys().cloned().collect();
                    Err(ToolFailure::Unknown { name: call.name, nearest })
                }
            }
        })
    }
}
