//! Resources and prompts of all servers under names of ours, from what is approved of each. They are read
//! through the door.

use gristmill_domain::resource_uri;
use serde_json::Value;

use super::server::Server;
use super::{Upstreams, supervisor};
use crate::privacy::{Source, Veil};

/// Something that a server offers, as it is listed.
struct Listed {
    server: String,
    value: Value,
    /// The member that has a URI of ours, and what its server calls it.
    uri: Option<(&'static str, String)>,
}

impl Upstreams {
    /// The resources of all servers, with URIs of ours: server by server as configured, each in the
    /// order of its server. Nothing is reached that is known already. With a veil, without what is personal in them.
    pub async fn resources(&self, veil: Option<&Veil>) -> Vec<Value> {
        let listed = self.listed(|server, name| {
            let known = server.read();
            let listed = known.usable.resources().iter().map(|resource| {
                let uri = Some(("uri", resource.uri.clone()));
                Listed { server: name.to_owned(), value: resource.to_value(name), uri }
            });
            listed.collect()
        });
        shown(listed.await, veil, resource_uri::to_ours).await
    }

    /// The same for templates of resources, whose expressions stay as they are.
    pub async fn resource_templates(&self, veil: Option<&Veil>) -> Vec<Value> {
        let listed = self.listed(|server, name| {
            let known = server.read();
            let listed = known.usable.resource_templates().iter().map(|template| {
                let uri = Some(("uriTemplate", template.uri_template.clone()));
                Listed { server: name.to_owned(), value: template.to_value(name), uri }
            });
            listed.collect()
        });
        shown(listed.await, veil, resource_uri::template_to_ours).await
    }

    /// The prompts of all servers, in the same order, named `server.prompt`.
    pub async fn prompts(&self, veil: Option<&Veil>) -> Vec<Value> {
        let listed = self.listed(|server, name| {
            let known = server.read();
            let listed = known.usable.prompts().iter().map(|prompt| Listed {
                server: name.to_owned(),
                value: prompt.to_value(name),
                uri: None,
            });
            listed.collect()
        });
        shown(listed.await, veil, resource_uri::to_ours).await
    }

    async fn listed(&self, of: impl Fn(&Server, &str) -> Vec<Listed>) -> Vec<Listed> {
        self.registry.known_soon().await;
        supervisor::retry_unreached(&self.registry);
        self.registry.servers().iter().flat_map(|server| of(server, server.name())).collect()
    }
}

/// What is listed, as it may be shown. A URI is looked at as its server wrote it: encoded, a token in it would stand
/// for something else.
async fn shown(
    listed: Vec<Listed>,
    veil: Option<&Veil>,
    to_ours: impl Fn(&str, &str) -> String,
) -> Vec<Value> {
    let Some(veil) = veil else { return listed.into_iter().map(|listed| listed.value).collect() };
    let mut shown = Vec::with_capacity(listed.len());
    for Listed { server, mut value, uri } in listed {
        let source = Source { server: Some(&server), ..Source::default() };
        let Some((member, uri)) = uri else {
            veil.value(&mut value, source).await;
            shown.push(value);
            continue;
        };
        let mut own = Value::String(uri);
        veil.value(&mut own, source).await;
        // Ours stays where it was, and isn't looked at again.
        value[member] = Value::Null;
        veil.value(&mut value, source).await;
        value[member] = Value::from(to_ours(&server, own.as_str().unwrap_or_default()));
        shown.push(value);
    }
    shown
}
