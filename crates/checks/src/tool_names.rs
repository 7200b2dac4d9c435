//! What is known about tools, for whoever checks a program.

use std::sync::Arc;

use gristmill_domain::catalogue::{Lookup, Server, Tool};
use gristmill_domain::validate::ArgumentCheck;

/// What is known about tools when a program is checked.
pub trait ToolNames {
    /// Every tool by name; `None` if that isn't known.
    fn lookup(&self) -> Option<&Lookup>;

    /// Whether no server has this tool or, without a tool, whether there is no such server: neither now, nor
    /// held back, nor once a server that can't be reached now is there again.
    fn is_certainly_unknown(&self, server: Option<&str>, tool: Option<&str>) -> bool;

    /// The check of a tool's arguments, if there is one.
    fn argument_check(&self, server: &Server, tool: &Tool) -> Option<Arc<ArgumentCheck>>;

    /// Whether the program may ever call a tool. One that it may not is named in no advice.
    fn is_shown(&self, server: &Server, tool: &Tool) -> bool;
}

/// Nothing is known about tools.
pub struct NoTools;

impl ToolNames for NoTools {
    fn lookup(&self) -> Option<&Lookup> {
        None
    }

    fn is_certainly_unknown(&self, _server: Option<&str>, _tool: Option<&str>) -> bool {
        false
    }

    fn argument_check(&self, _server: &Server, _tool: &Tool) -> Option<Arc<ArgumentCheck>> {
        None
    }

    fn is_shown(&self, _server: &Server, _tool: &Tool) -> bool {
        true
    }
}
