//! Where a server stands in a file, for the editors of the formats.

pub struct ServerPlace<'a> {
    /// The table of servers.
    pub block: &'a str,
    pub name: &'a str,
}

/// Why a format's editor gives up.
pub type UnsafeReason = &'static str;
