//! The Model Context Protocol, from both sides: the servers that we call, and those that we are.
//!
//! Walls: the only crate that names `rmcp`. What a server says is hostile: capped before it is
//! parsed, never trusted. Secrets are resolved here, at the moment they are used, and are in no
//! message, log or error.
#![forbid(unsafe_code)]

pub mod addresses;
mod alert_webhook;
mod approval_webhook;
pub mod direct;
mod endpoint;
#[doc(hidden)]
pub mod fuzzing;
pub mod http_client;
mod message;
pub mod oauth;
pub mod public_addresses;
pub mod secret;
mod secrets;
mod server;
mod signed_post;
pub mod stdio;
mod tool_server;
mod upstream;

pub use alert_webhook::AlertWebhook;
pub use approval_webhook::{ApprovalWebhook, WebhookSettings};
pub use endpoint::{Admitted, EndpointAnswer, EndpointBody, EndpointSettings, McpEndpoint};
pub use message::{Fault, PARSED_BYTES_MAX, Refusal};
pub use secrets::{SecretContext, SecretError};
pub use server::{
    CodeWriters, CodeWriting, Connection, GatewayServer, NewServerError, Profile, ServerLine, ServerParts,
    SingleCalls, UnknownProfile, standing_tokens,
};
pub use signed_post::WebhookError;
pub use tool_server::{ServedAnswer, ServedInfo, ServedTools, ToolServerError, serve_stdio};
pub use upstream::{LoginFailure, McpConnector, SupervisorCommand, events};
pub use url::Url;
