//! Who asks, and by which ids things are found again.
//!
//! Walls: nothing else of the gateway is imported here, and nothing is read or written.

mod caller;
mod execution_id;
mod owner;
mod session_id;
mod trace_context;
pub(crate) mod unguessable;

pub use caller::{Caller, Client, TokenRef};
pub use execution_id::ExecutionId;
pub use owner::Owner;
pub use session_id::SessionId;
pub use trace_context::TraceContext;
