//! `replay FILE`: a stand-in for a server of the world, for measuring. The definitions are the real
//! ones, from a file of `tools/list`; the answers are computed, always the same, and have the fields
//! that the real server gives. Nothing is kept: what a call writes is confirmed and forgotten.

mod airtable;
mod github;
mod grafana;
mod hubspot;
mod jira;
mod kubernetes;
mod sentry;
#[cfg(test)]
mod tests;
mod words;

use std::io::Read;
use std::path::Path;

use gristmill_domain::one_line;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::definition::check_call;
use super::{Answer, ExampleServer};

/// Many times the largest catalogue that we know of.
const FILE_BYTES_MAX: u64 = 8 << 20;

/// A text, or `None` if this tool has no answer here.
type Answered = Result<Option<String>, String>;

pub struct Replay {
    server: String,
    tools: Vec<Value>,
}

#[derive(Deserialize)]
struct Dump {
    server: String,
    tools: Vec<Value>,
}

impl Replay {
    /// With the definitions of a file.
    pub fn new(file: Option<&Path>) -> Result<Self, String> {
        let file = file.ok_or("replay needs a file of definitions: gristmill example-server replay FILE")?;
        let opened = std::fs::File::open(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let mut text = String::new();
        opened
            .take(FILE_BYTES_MAX)
            .read_to_string(&mut text)
            .map_err(|error| format!("{}: {error}", file.display()))?;
        let dump: Dump = serde_json::from_str(&text).map_err(|error| {
            format!("{} isn't a catalog (an object with `server` and `tools`): {error}", file.display())
        })?;
        for (index, tool) in dump.tools.iter().enumerate() {
            let wrong = |what: &str| format!("{}: {what}", file.display());
            let Some(name) = tool["name"].as_str() else {
                return Err(wrong(&format!("the tool at place {} has no `name`", index + 1)));
            };
            if !tool["inputSchema"].is_object() {
                let shown = one_line(name, 60);
                return Err(wrong(&format!("the tool `{shown}` has no `inputSchema`, which is an object")));
            }
        }
        Ok(Self { server: dump.server, tools: dump.tools })
    }

    fn no_answer(&self, tool: &str) -> String {
        format!("{tool} of {} is here for its definition only: no answer is scripted for it", self.server)
    }
}

impl ExampleServer for Replay {
    fn name(&self) -> &'static str {
        "replay"
    }

    fn title(&self) -> &'static str {
        "Replay"
    }

    fn instructions(&self) -> &'static str {
        "Definitions of another server with answers that are computed, for measuring."
    }

    fn tools(&self) -> Vec<Value> {
        self.tools.clone()
    }

    fn call(&self, tool: &str, arguments: &Map<String, Value>) -> Result<Answer, String> {
        check_call(&self.tools, tool, arguments)?;
        if self.server == "airtable-mcp-server" {
            let answered = airtable::call(tool, arguments)?;
            return answered.map(Answer::Structured).ok_or_else(|| self.no_answer(tool));
        }
        let answered = match self.server.as_str() {
            "github-mcp-server" => github::call(tool, arguments),
            "mcp-atlassian" => jira::call(tool, arguments),
            "mcp-grafana" => grafana::call(tool, arguments),
            "hubspot__mcp-server" => hubspot::call(tool, arguments),
            "mcp-server-kubernetes" => kubernetes::call(tool, arguments),
            "sentry__mcp-server" => sentry::call(tool, arguments),
            _ => Ok(None),
        }?;
        answered.map(Answer::Text).ok_or_else(|| self.no_answer(tool))
    }
}

/// The same number for the same text.
fn number_of(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
