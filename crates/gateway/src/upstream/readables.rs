//! Resources and prompts of all servers under names of ours. They are listed from what is known, and
//! read from the server, within the same limits as calls.

use std::sync::Arc;

use gristmill_domain::resource_uri::{self, ResourceUriError};
use gristmill_domain::{Code, format_ms, nearest, one_line};
use gristmill_protocol::has_reserved_key;
use serde_json::{Map, Value};

use super::server::Server;
use super::{Upstreams, calls};
use crate::ports::{ToolFailure, UpstreamFailure};

/// Names that are suggested for one that is not there.
const NEAREST_MAX: usize = 3;

/// A resource or a prompt that could not be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResourceFailure {
    /// Nothing was asked: there is no such server or prompt.
    #[error("there is no `{name}`{}", hint_text(.nearest))]
    Unknown {
        /// As it was written.
        name: String,
        /// The closest names there are.
        nearest: Vec<String>,
    },
    /// Nothing was asked: it is no URI of ours.
    #[error("`{uri}` is no resource of gristmill: {why}")]
    BadUri {
        /// As it was written, cut.
        uri: String,
        /// What is wrong with it.
        why: ResourceUriError,
    },
    /// The server is the trouble, or it said no.
    #[error("{message}")]
    Upstream {
        /// What kind of trouble.
        code: Code,
        /// What happened and what to do.
        message: String,
    },
}

/// What is asked of a server.
#[derive(Clone, Copy)]
enum Wanted<'a> {
    /// Its own URI.
    Resource(&'a str),
    /// Its own name, and the arguments as JSON.
    Prompt(&'a str, &'a str),
}

fn hint_text(nearest: &[String]) -> String {
    match nearest {
        [] => String::new(),
        names => format!("; did you mean {}?", names.join(", ")),
    }
}

impl Upstreams {
    /// The resources of all servers, with URIs of ours: server by server as configured, each in the
    /// order of its server. Nothing is reached that is known already.
    pub async fn resources(&self) -> Vec<Value> {
        self.listed(|server, name| {
            let known = server.read();
            known.resources.iter().map(|resource| resource.to_value(name)).collect()
        })
        .await
    }

    /// The same for templates of resources, whose expressions stay as they are.
    pub async fn resource_templates(&self) -> Vec<Value> {
        self.listed(|server, name| {
            let known = server.read();
            known.resource_templates.iter().map(|template| template.to_value(name)).collect()
        })
        .await
    }

    /// The prompts of all servers, in the same order, named `server.prompt`.
    pub async fn prompts(&self) -> Vec<Value> {
        self.listed(|server, name| {
            let known = server.read();
            known.prompts.iter().map(|prompt| prompt.to_value(name)).collect()
        })
        .await
    }

    async fn listed(&self, of: impl Fn(&Server, &str) -> Vec<Value>) -> Vec<Value> {
        self.known_soon().await;
        self.inner.try_unreached_again();
        self.inner.servers().iter().flat_map(|server| of(server, &server.settings.name)).collect()
    }

    /// Reads a resource by a URI of ours, listed or not: its server decides. The whole result, with
    /// URIs of ours in it.
    pub async fn read_resource(&self, uri: &str) -> Result<Value, ResourceFailure> {
        let shown = || one_line(uri, 200);
        let asked =
            resource_uri::from_ours(uri).map_err(|why| ResourceFailure::BadUri { uri: shown(), why })?;
        let Some(server) = self.inner.server(&asked.server) else {
            let names = self.inner.servers().iter().map(|server| server.settings.name.as_str());
            let near = nearest(&asked.server, names.map(|name| (name, name)), NEAREST_MAX);
            let nearest = near.into_iter().map(|name| format!("{}{name}/…", resource_uri::SCHEME)).collect();
            return Err(ResourceFailure::Unknown { name: shown(), nearest });
        };
        let raw = self.ask(server, Wanted::Resource(&asked.uri)).await?;
        let mut result = parsed(server, &raw)?;
        let contents = result.get_mut("contents").and_then(Value::as_array_mut);
        for content in contents.into_iter().flatten() {
            rename(content, &server.settings.name);
        }
        Ok(result)
    }

    /// Fills in a prompt of a server. The whole result, with URIs of ours for the resources in it.
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Value, ResourceFailure> {
        self.known_soon().await;
        let Some((server, prompt)) = self.prompt_of(name) else {
            let known: Vec<String> =
                self.inner.servers().iter().flat_map(|server| server.prompt_names()).collect();
            let near = nearest(name, known.iter().map(|name| (name.as_str(), name.as_str())), NEAREST_MAX);
            return Err(ResourceFailure::Unknown {
                name: one_line(name, 200),
                nearest: near.into_iter().map(str::to_owned).collect(),
            });
        };
        let arguments = Value::Object(arguments).to_string();
        let raw = self.ask(server, Wanted::Prompt(&prompt, &arguments)).await?;
        let mut result = parsed(server, &raw)?;
        let messages = result.get_mut("messages").and_then(Value::as_array_mut);
        for message in messages.into_iter().flatten() {
            let Some(content) = message.get_mut("content") else { continue };
            match content["type"].as_str() {
                Some("resource_link") => rename(content, &server.settings.name),
                Some("resource") => {
                    if let Some(resource) = content.get_mut("resource") {
                        rename(resource, &server.settings.name);
                    }
                }
                Some(_) | None => {}
            }
        }
        Ok(result)
    }

    /// The server of a prompt, and the server's own name for it.
    fn prompt_of(&self, name: &str) -> Option<(&Arc<Server>, String)> {
        self.inner.servers().iter().find_map(|server| {
            let own = name.strip_prefix(&server.settings.name)?.strip_prefix('.')?;
            let known = server.read().prompts.iter().any(|prompt| prompt.name == own);
            known.then(|| (server, own.to_owned()))
        })
    }

    /// One request within the server's limits. Made again if the connection turned out to be gone
    /// before anything was sent.
    async fn ask(&self, server: &Arc<Server>, wanted: Wanted<'_>) -> Result<String, ResourceFailure> {
        let of_call = |failure: ToolFailure| match failure {
            ToolFailure::Upstream { code, message, .. } => ResourceFailure::Upstream { code, message },
            ToolFailure::Unknown { .. }
            | ToolFailure::Ambiguous { .. }
            | ToolFailure::BadArguments(_)
            | ToolFailure::Said(_) => {
                ResourceFailure::Upstream { code: Code::Tool, message: failure.to_string() }
            }
        };
        let _permit = calls::admit(server).await.map_err(of_call)?;
        let mut is_again = false;
        loop {
            let live = server.live(&self.inner).await;
            let upstream = live.map_err(|failure| of_call(calls::unreached(server, &failure)))?;
            let outcome = match wanted {
                Wanted::Resource(uri) => upstream.read_resource(uri).await,
                Wanted::Prompt(name, arguments) => upstream.get_prompt(name, arguments).await,
            };
            let failure = match outcome {
                Ok(raw) => return Ok(raw),
                Err(failure) => failure,
            };
            match failure {
                UpstreamFailure::Down(_) if !is_again => {
                    is_again = true;
                    if let Ok(why) = tokio::time::timeout(calls::LOST_WAIT, upstream.lost()).await {
                        server.lost(&upstream, why).await;
                    }
                }
                failure => return Err(of_request(server, &failure)),
            }
        }
    }
}

fn of_request(server: &Server, failure: &UpstreamFailure) -> ResourceFailure {
    let name = &server.settings.name;
    let (code, message) = match failure {
        UpstreamFailure::Down(why) => (Code::ServerDown, format!("the server `{name}` is down: {why}")),
        UpstreamFailure::LoginNeeded(why) => {
            (Code::LoginNeeded, format!("`{name}` wants a login: {why}; run `gristmill login {name}`"))
        }
        UpstreamFailure::Timeout { limit_ms } => {
            (Code::CallTimeout, format!("`{name}` did not answer within {}", format_ms(*limit_ms)))
        }
        UpstreamFailure::Lost(why) => (Code::CallLost, format!("`{name}` was lost while it read: {why}")),
        UpstreamFailure::Refused { message, .. } => (Code::Tool, format!("`{name}` says: {message}")),
        UpstreamFailure::BadAnswer(why) => (Code::BadAnswer, format!("`{name}`: {why}")),
    };
    ResourceFailure::Upstream { code, message }
}

/// Why an answer with such a key is not taken.
pub(super) const RESERVED_KEY: &str = "its answer has a key that begins with `$serde_json::private::`";

fn parsed(server: &Server, raw: &str) -> Result<Value, ResourceFailure> {
    if has_reserved_key(raw.as_bytes()) {
        return Err(of_request(server, &UpstreamFailure::BadAnswer(RESERVED_KEY.to_owned())));
    }
    match serde_json::from_str::<Value>(raw) {
        Ok(value) if value.is_object() => Ok(value),
        Ok(_) | Err(_) => {
            Err(of_request(server, &UpstreamFailure::BadAnswer("its answer is not an object".to_owned())))
        }
    }
}

/// Puts our URI in the place of the server's.
fn rename(resource: &mut Value, server: &str) {
    if let Some(Value::String(uri)) = resource.get_mut("uri") {
        *uri = resource_uri::to_ours(server, uri);
    }
}
