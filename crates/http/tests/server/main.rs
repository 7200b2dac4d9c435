//! The HTTP server, against real sockets: every kind of bad input gets a clear error, and the next
//! request works.

mod access;
mod bad_input;
mod client;
mod connections;
#[path = "../../../mcp/tests/support/scripted_handler.rs"]
mod handler;
#[path = "../../../mcp/tests/support/messages.rs"]
mod messages;
mod mounts;
mod passed_on;
mod server;
mod sessions;
mod shutdown;
