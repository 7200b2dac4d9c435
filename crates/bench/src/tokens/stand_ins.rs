//! The servers of a job, in this process: what the direct ways see of them.

use std::path::Path;

use anyhow::{anyhow, bail};
use serde_json::{Map, Value, json};

use gristmill_example_servers::{self as example_servers, Answer, ExampleServer, NAMES, Options};

/// A tool as a model is sent it.
pub struct Definition {
    /// `server.tool`
    pub name: String,
    /// Name, description and input schema as JSON, and nothing else.
    pub sent: String,
}

pub struct StandIns(Vec<(&'static str, Box<dyn ExampleServer>)>);

impl StandIns {
    pub fn start(names: &[&'static str], catalogues: &Path) -> anyhow::Result<Self> {
        let start = |name: &&'static str| {
            let server = if NAMES.contains(name) {
                example_servers::by_name(name, &Options::default())
            } else {
                let file = Some(catalogues.join(format!("{name}.json")));
                example_servers::by_name("replay", &Options { file, ..Options::default() })
            };
            server.map(|server| (*name, server)).map_err(|error| anyhow!(error))
        };
        Ok(Self(names.iter().map(start).collect::<anyhow::Result<_>>()?))
    }

    pub fn definitions(&self) -> Vec<Definition> {
        let of_one = |(name, server): &(&'static str, Box<dyn ExampleServer>)| {
            let name = *name;
            server.tools().into_iter().map(move |tool| Definition {
                name: format!("{name}.{}", tool["name"].as_str().unwrap_or_default()),
                sent: sent(&tool).to_string(),
            })
        };
        self.0.iter().flat_map(of_one).collect()
    }

    /// What comes into the context.
    pub fn call(&self, server: &str, tool: &str, arguments: &Map<String, Value>) -> anyhow::Result<String> {
        let Some((_, found)) = self.0.iter().find(|(name, _)| *name == server) else {
            bail!("{server} is not connected in this job")
        };
        match found.call(tool, arguments).map_err(|error| anyhow!("{server}.{tool}: {error}"))? {
            Answer::Structured(value) => Ok(value.to_string()),
            Answer::Text(text) => Ok(text),
            Answer::Image { .. } => bail!("{server}.{tool} gave a picture; pictures are not counted here"),
        }
    }
}

/// What a client passes on of a definition.
pub fn sent(tool: &Value) -> Value {
    json!({"name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"]})
}
