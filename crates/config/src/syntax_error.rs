//! What is wrong with a text that is not in its format.

use super::tree::BoundsError;

/// A file that cannot be read as what its name says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SyntaxError {
    #[error("{message}")]
    Text {
        /// What the parser says.
        message: String,
        /// Where, from 1.
        line: Option<usize>,
        /// The characters before it on its line, and one.
        column: Option<usize>,
    },
    /// Too deep or too large.
    #[error(transparent)]
    Bounds(#[from] BoundsError),
}

impl SyntaxError {
    /// Where, if it is known.
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::Text { line, .. } => *line,
            Self::Bounds(_) => None,
        }
    }

    /// Where on that line, if it is known, from 1.
    pub fn column(&self) -> Option<usize> {
        match self {
            Self::Text { column, .. } => *column,
            Self::Bounds(_) => None,
        }
    }
}
