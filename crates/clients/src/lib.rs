//! The other MCP clients of this person: what servers they have, and our own entry among them.
//!
//! Walls: nothing here starts a server or looks up a reference. Files of other clients are hostile
//! when they are read (capped in size, depth and number) and precious when they are written: only
//! what was meant changes, the result is read again first, and there is always a whole file. No
//! value that may be a secret is shown.

pub mod known;
pub mod places;

pub mod client_file;
pub mod translate;

pub mod secret_shapes;
pub mod secret_values;
pub mod variables;

pub mod import;
pub mod same_server;
pub mod still_missing;
pub mod survey;

pub mod entry_token;
pub mod our_entry;

pub mod change;
pub mod connect;
pub mod disconnect;
pub mod undo;

pub mod diff;
pub mod masked_text;

pub mod backup;
pub mod records;

pub use known::Client;
pub use places::{FileScope, Place};
