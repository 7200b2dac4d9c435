//! Resources and prompts of all servers under names of ours, from what is approved of each. They are read
//! through the door.

use serde_json::Value;

use super::server::Server;
use super::{Upstreams, supervisor};

impl Upstreams {
    /// The resources of all servers, with URIs of ours: server by server as configured, each in the
    /// order of its server. Nothing is reached that is known already.
    pub async fn resources(&self) -> Vec<Value> {
        self.listed(|server, name| {
            let known = server.read();
            known.usable.resources().iter().map(|resource| resource.to_value(name)).collect()
        })
        .await
    }

    /// The same for templates of resources, whose expressions stay as they are.
    pub async fn resource_templates(&self) -> Vec<Value> {
        self.listed(|server, name| {
            let known = server.read();
            known.usable.resource_templates().iter().map(|template| template.to_value(name)).collect()
        })
        .await
    }

    /// The prompts of all servers, in the same order, named `server.prompt`.
    pub async fn prompts(&self) -> Vec<Value> {
        self.listed(|server, name| {
            let known = server.read();
            known.usable.prompts().iter().map(|prompt| prompt.to_value(name)).collect()
        })
        .await
    }

    async fn listed(&self, of: impl Fn(&Server, &str) -> Vec<Value>) -> Vec<Value> {
        self.registry.known_soon().await;
        supervisor::retry_unreached(&self.registry);
        self.registry.servers().iter().flat_map(|server| of(server, server.name())).collect()
    }
}
