//! A message that was not taken, and the JSON-RPC error that says why.

use rmcp::model::RequestId;
use serde_json::{Value, json};

/// Which kind of mistake, as JSON-RPC numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Not JSON.
    Parse,
    /// Not a message.
    Request,
    /// A method that is not there.
    Method,
    /// The parameters of a method.
    Params,
    /// None of these: the connection, the token, the machine.
    Transport,
    /// A session that is not there.
    Session,
}

impl Fault {
    pub(crate) fn code(self) -> i64 {
        match self {
            Fault::Parse => -32700,
            Fault::Request => -32600,
            Fault::Method => -32601,
            Fault::Params => -32602,
            Fault::Transport => -32000,
            Fault::Session => -32001,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub(crate) fault: Fault,
    pub(crate) message: String,
    /// Where it could be read.
    pub(crate) id: Option<RequestId>,
}

impl Refusal {
    pub fn new(fault: Fault, message: impl Into<String>) -> Self {
        Self { fault, message: message.into(), id: None }
    }

    pub(crate) fn with_id(mut self, id: Option<RequestId>) -> Self {
        self.id = id;
        self
    }

    /// The error object, on one line.
    pub fn to_json(&self) -> Vec<u8> {
        let id = self.id.clone().map_or(Value::Null, RequestId::into_json_value);
        let error = json!({ "code": self.fault.code(), "message": self.message });
        json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string().into_bytes()
    }
}
