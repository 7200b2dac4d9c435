//! Ways in for the fuzz targets (`crates/fuzzing`), to readers that nothing else outside may call.

use rmcp::ServerHandler;
use tokio_util::sync::CancellationToken;

use crate::endpoint::{EndpointSettings, McpEndpoint};
use crate::message::{self, Refusal};
use crate::upstream::events::EventReader;

/// The data and the id of each event that the pieces of a stream hold, and whether the stream was given
/// up as too large behind them.
pub fn read_events(pieces: &[&[u8]], bytes_max: usize) -> (Vec<(String, Option<String>)>, bool) {
    let mut reader = EventReader::new(bytes_max);
    let mut events = Vec::new();
    for piece in pieces {
        match reader.feed(piece) {
            Ok(read) => events.extend(read.into_iter().map(|event| (event.data, event.id))),
            Err(_) => return (events, true),
        }
    }
    (events, false)
}

/// One message of a client: the text that is passed on, or why it is refused.
///
/// # Errors
/// The answer that the client gets.
pub fn check_message(bytes: &[u8], says_modern: bool) -> Result<String, Refusal> {
    message::check(bytes, says_modern).map(|checked| checked.text).map_err(|refused| refused.refusal)
}

/// An endpoint with a server behind it that offers nothing.
///
/// Generic, so that all of it is compiled where it is used, and the binary has none of it: call it with [`Empty`].
pub fn empty_endpoint<H: Nothing>(settings: EndpointSettings, shutdown: CancellationToken) -> McpEndpoint {
    McpEndpoint::new(H::default, settings, shutdown)
}

/// A server that offers nothing.
pub trait Nothing: ServerHandler + Clone + Default {}

#[derive(Clone, Default)]
pub struct Empty;

impl ServerHandler for Empty {}

impl Nothing for Empty {}
