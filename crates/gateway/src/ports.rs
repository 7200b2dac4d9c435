//! Every trait through which the gateway reaches the outside.

use std::future::Future;
use std::pin::Pin;

use serde_json::{Map, Value};

/// A future that can be stored.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The tools that a program can call.
pub trait Tools: Send + Sync + 'static {
    /// Calls one. Dropping the future cancels the call.
    fn call(&self, call: ToolCall) -> BoxFuture<'_, Result<Value, ToolFailure>>;

    /// The folder that programs see as `/servers`, if there is one.
    fn tree(&self) -> Option<&std::path::Path> {
        None
    }
}

/// One call of a tool, as a program wrote it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// `tool` or `server.tool`.
    pub name: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
}

/// A call that did not work out. The program sees it as a `ToolError`, and may go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolFailure {
    /// Nothing was sent: there is no such tool.
    #[error("there is no tool `{name}`{}", hint_text(.nearest))]
    Unknown {
        /// As it was written.
        name: String,
        /// The closest names there are.
        nearest: Vec<String>,
    },
    /// Nothing was sent: the arguments are wrong.
    #[error("{0}")]
    BadArguments(String),
    /// The tool ran and said no, in its own words.
    #[error("{0}")]
    Said(String),
}

fn hint_text(nearest: &[String]) -> String {
    match nearest {
        [] => "; no tools are connected".to_owned(),
        names => format!("; there are {}", names.join(", ")),
    }
}

/// A gateway without any tool.
pub struct NoTools;

impl Tools for NoTools {
    fn call(&self, call: ToolCall) -> BoxFuture<'_, Result<Value, ToolFailure>> {
        Box::pin(async move { Err(ToolFailure::Unknown { name: call.name, nearest: Vec::new() }) })
    }
}
