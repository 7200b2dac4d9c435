//! What becomes of keys that nobody here knows.

/// How much a block is ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// A key that we do not know is a mistake.
    Ours,
    /// A key that we do not know may be one that its client knows, unless it looks like a slip.
    Foreign,
}
