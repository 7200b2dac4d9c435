//! Where a text comes from: from memory, or in pieces from elsewhere.

use std::convert::Infallible;

pub trait Source {
    /// Why there is no next piece.
    type Error;

    /// The bytes that are there and not yet used; empty only at the end of the text.
    fn chunk(&mut self) -> Result<&[u8], Self::Error>;

    /// Uses bytes of the last chunk, at most as many as it has.
    fn advance(&mut self, count: usize);

    /// How many bytes were used.
    fn position(&self) -> u64;
}

/// A text in memory, whose only chunk is all that is left of it.
#[derive(Clone, Debug)]
pub struct SliceSource<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> SliceSource<'a> {
    pub fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }
}

impl Source for SliceSource<'_> {
    type Error = Infallible;

    fn chunk(&mut self) -> Result<&[u8], Infallible> {
        Ok(self.text.get(self.at..).unwrap_or_default())
    }

    fn advance(&mut self, count: usize) {
        self.at = self.text.len().min(self.at.saturating_add(count));
    }

    fn position(&self) -> u64 {
        self.at as u64
    }
}
