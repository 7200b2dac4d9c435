//! Resources and prompts of all servers under names of ours, from what is approved of each. They are read
//! through the door.

use std::sync::Arc;

use gristmill_domain::resource_uri;
use serde_json::Value;

use super::seen::Offered;
use super::server::Server;
use super::{Upstreams, supervisor};
use crate::ids::Caller;
use crate::privacy::{Privacy, Source};

/// Something that a server offers, as it is listed.
struct Listed {
    server: Arc<Server>,
    value: Value,
    /// The member that has a URI of ours, and what its server calls it.
    uri: Option<(&'static str, String)>,
}

impl Upstreams {
    /// The resources of all servers, with URIs of ours: server by server as configured, each in the
    /// order of its server. Nothing is reached that is known already. For a caller, without those that are always denied
    /// to it, and without what is personal in them.
    pub async fn resources(&self, caller: Option<&Caller>) -> Vec<Value> {
        let is_denied = self.denied(caller);
        let listed = self.listed(|server| {
            let name = server.name();
            let known = server.read();
            let usable = known.usable.resources().iter();
            let listed = usable.filter(|resource| !is_denied(name, Offered::Resource(&resource.uri))).map(
                |resource| {
                    let uri = Some(("uri", resource.uri.clone()));
                    Listed { server: Arc::clone(server), value: resource.to_value(name), uri }
                },
            );
            listed.collect()
        });
        self.shown(listed.await, caller, resource_uri::to_ours).await
    }

    /// The same for templates of resources, whose expressions stay as they are.
    pub async fn resource_templates(&self, caller: Option<&Caller>) -> Vec<Value> {
        let is_denied = self.denied(caller);
        let listed = self.listed(|server| {
            let name = server.name();
            let known = server.read();
            let usable = known.usable.resource_templates().iter();
            let listed = usable
                .filter(|template| !is_denied(name, Offered::ResourceTemplate(&template.uri_template)))
                .map(|template| {
                    let uri = Some(("uriTemplate", template.uri_template.clone()));
                    Listed { server: Arc::clone(server), value: template.to_value(name), uri }
                });
            listed.collect()
        });
        self.shown(listed.await, caller, resource_uri::template_to_ours).await
    }

    /// The prompts of all servers, in the same order, named `server.prompt`.
    pub async fn prompts(&self, caller: Option<&Caller>) -> Vec<Value> {
        let is_denied = self.denied(caller);
        let listed = self.listed(|server| {
            let name = server.name();
            let known = server.read();
            let usable = known.usable.prompts().iter();
            let listed = usable
                .filter(|prompt| !is_denied(name, Offered::Prompt(&prompt.name)))
                .map(|prompt| Listed { server: Arc::clone(server), value: prompt.to_value(name), uri: None });
            listed.collect()
        });
        self.shown(listed.await, caller, resource_uri::to_ours).await
    }

    /// What is always denied to a caller; nothing is to nobody in particular.
    fn denied(&self, caller: Option<&Caller>) -> impl Fn(&str, Offered<'_>) -> bool {
        move |server, offered| caller.is_some_and(|caller| self.door.denies_always(caller, server, offered))
    }

    async fn listed(&self, of: impl Fn(&Arc<Server>) -> Vec<Listed>) -> Vec<Listed> {
        self.registry.known_soon().await;
        supervisor::retry_unreached(&self.registry);
        self.registry.servers().iter().flat_map(of).collect()
    }

    async fn shown(
        &self,
        listed: Vec<Listed>,
        caller: Option<&Caller>,
        to_ours: impl Fn(&str, &str) -> String,
    ) -> Vec<Value> {
        let mut shown = Vec::with_capacity(listed.len());
        for one in listed {
            shown.push(match (self.door.privacy(), caller) {
                (Some(privacy), Some(caller)) => one.shown_to(privacy, caller, &to_ours).await,
                _ => one.value,
            });
        }
        shown
    }
}

impl Listed {
    /// As this caller may see it. A URI is looked at as its server wrote it: encoded, a token in it would stand for
    /// something else.
    async fn shown_to(
        self,
        privacy: &Privacy,
        caller: &Caller,
        to_ours: impl Fn(&str, &str) -> String,
    ) -> Value {
        let Self { server, mut value, uri } = self;
        let Some(veil) = privacy.veil_to(caller, &server.settings) else { return value };
        let source = Source { server: Some(server.name()), ..Source::default() };
        let Some((member, uri)) = uri else {
            veil.value(&mut value, source).await;
            return value;
        };
        let mut own = Value::String(uri);
        veil.value(&mut own, source).await;
        // Ours stays where it was, and isn't looked at again.
        value[member] = Value::Null;
        veil.value(&mut value, source).await;
        value[member] = Value::from(to_ours(server.name(), own.as_str().unwrap_or_default()));
        value
    }
}
