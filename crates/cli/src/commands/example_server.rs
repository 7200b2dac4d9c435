//! `gristmill example-server NAME`: an MCP server over standard input and output, to try things on.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::anyhow;
use clap::Args;
use gristmill_example_servers::{self as example_servers, Answer, ExampleServer, Options};
use gristmill_gateway::ports::BoxFuture;
use gristmill_mcp::{ServedAnswer, ServedInfo, ServedTools, serve_stdio};
use serde_json::{Map, Value};

use super::{Failure, Outcome};

#[derive(Args)]
pub struct ExampleServerArguments {
    /// Which one: calculator, weather, filesystem, database, documents or crm
    pub name: String,

    /// replay: the definitions to serve, for measuring
    #[arg(hide = true)]
    pub file: Option<PathBuf>,

    /// filesystem: serve this folder [default: a sample tree in memory]
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,

    /// database: keep its file in this folder [default: in memory]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

pub async fn example_server(arguments: ExampleServerArguments) -> Outcome {
    let options = Options { root: arguments.root, data: arguments.data, file: arguments.file };
    let server = example_servers::by_name(&arguments.name, &options)
        .map_err(|error| Failure::Usage(anyhow!(error)))?;
    let served = Arc::new(Served(Arc::from(server)));
    serve_stdio(served).await.map_err(|error| Failure::Internal(anyhow!(error)))?;
    Ok(ExitCode::SUCCESS)
}

struct Served(Arc<dyn ExampleServer>);

impl ServedTools for Served {
    fn info(&self) -> ServedInfo {
        ServedInfo {
            name: self.0.name().to_owned(),
            title: self.0.title().to_owned(),
            instructions: self.0.instructions().to_owned(),
        }
    }

    fn tools(&self) -> Vec<Value> {
        self.0.tools()
    }

    fn call(
        &self,
        tool: String,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'_, Result<ServedAnswer, String>> {
        let server = Arc::clone(&self.0);
        Box::pin(async move {
            let called = match server.answers_at_once() {
                true => server.call(&tool, &arguments),
                // A query may take seconds: other calls go on meanwhile.
                false => {
                    let called = tokio::task::spawn_blocking(move || server.call(&tool, &arguments)).await;
                    called.map_err(|error| error.to_string())?
                }
            };
            Ok(match called? {
                Answer::Structured(value) => ServedAnswer::Structured(value),
                Answer::Text(text) => ServedAnswer::Text(text),
                Answer::Image { mime, bytes, text } => {
                    ServedAnswer::Image { mime: mime.to_owned(), bytes, text }
                }
            })
        })
    }
}
