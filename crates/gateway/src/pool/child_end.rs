//! How a child ended, and what the kernel counted for it.

use gristmill_protocol::{ChildExit, ProcessUse};

/// The end of a child, told by the zygote that reaped it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChildEnd {
    pub exit: ChildExit,
    /// In its whole life; see [`ChildEnd::since`].
    pub used: ProcessUse,
}

impl ChildEnd {
    /// The same without the CPU time that was used before its last program began.
    pub fn since(self, cpu_us_before: u64) -> Self {
        let cpu_us = self.used.cpu_us.saturating_sub(cpu_us_before);
        Self { used: ProcessUse { cpu_us, ..self.used }, ..self }
    }
}
