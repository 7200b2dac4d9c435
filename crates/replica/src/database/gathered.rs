//! The last version of each page, gathered from the frames of a log.

use std::collections::BTreeMap;

use super::error::DatabaseError;
use super::log::Frame;
use super::pages::{Page, Pages};

/// What may be gathered at once: it is held in memory.
pub(super) const GATHERED_BYTES_MAX: u64 = 256 << 20;

#[derive(Debug)]
pub(super) struct Gathered {
    page_bytes: u32,
    /// What the last frame says; 0 within a transaction.
    pages_in_file: u32,
    pages: BTreeMap<u32, Vec<u8>>,
    bytes_max: u64,
}

impl Gathered {
    pub(super) fn new(page_bytes: u32, bytes_max: u64) -> Self {
        Self { page_bytes, pages_in_file: 0, pages: BTreeMap::new(), bytes_max }
    }

    pub(super) fn add(&mut self, frame: Frame<'_>) -> Result<(), DatabaseError> {
        self.pages_in_file = frame.pages_in_file;
        if let Some(page) = self.pages.get_mut(&frame.page_number) {
            page.copy_from_slice(frame.page);
            return Ok(());
        }
        let bytes = (self.pages.len() as u64 + 1) * u64::from(self.page_bytes);
        if bytes > self.bytes_max {
            return Err(DatabaseError::TooLarge { bytes_max: self.bytes_max });
        }
        self.pages.insert(frame.page_number, frame.page.to_vec());
        Ok(())
    }

    /// The pages that are in the file after the last transaction; `None` if the last frame didn't end one.
    pub(super) fn finish(self) -> Option<Pages> {
        let Self { page_bytes, pages_in_file, pages, .. } = self;
        if pages_in_file == 0 {
            return None;
        }
        // An earlier transaction may have written pages that a later one cut off.
        let kept = pages.into_iter().take_while(|(number, _)| *number <= pages_in_file);
        let pages = kept.map(|(number, bytes)| Page { number, bytes }).collect();
        Some(Pages { page_bytes, pages_in_file, pages })
    }
}
