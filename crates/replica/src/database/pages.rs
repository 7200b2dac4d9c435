//! Pages on their way from one database file to another.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::error::MalformedPages;

/// The sizes that SQLite gives a page, powers of two.
pub(super) const PAGE_BYTES: std::ops::RangeInclusive<u32> = 512..=65_536;

/// Far beyond what a gateway's database grows to. A wrong number must not become a file that no disk can hold.
const FILE_BYTES_MAX: u64 = 1 << 40;

/// Whole pages as they were after one or more transactions: the last version of each, in the order of their numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pages {
    /// The size of every page.
    pub page_bytes: u32,
    /// How long the file is after these transactions. It may be shorter than before.
    pub pages_in_file: u32,
    pub pages: Vec<Page>,
}

/// One page of a database file.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// Counted from 1.
    pub number: u32,
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
}

/// Without the content, which is the database's own affair.
impl fmt::Debug for Page {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Page")
            .field("number", &self.number)
            .field("bytes", &format_args!("{} bytes", self.bytes.len()))
            .finish()
    }
}

impl Pages {
    /// The length of the file that these pages belong to.
    pub(super) fn file_bytes(&self) -> u64 {
        u64::from(self.pages_in_file) * u64::from(self.page_bytes)
    }

    /// Pages come from another machine: only what can be a part of a database file passes.
    pub(super) fn check(&self) -> Result<(), MalformedPages> {
        let page_bytes = self.page_bytes;
        if !PAGE_BYTES.contains(&page_bytes) || !page_bytes.is_power_of_two() {
            return Err(MalformedPages::PageSize { page_bytes });
        }
        let bytes = self.file_bytes();
        if bytes > FILE_BYTES_MAX {
            return Err(MalformedPages::FileSize { bytes });
        }
        let mut before = 0;
        for Page { number, bytes } in &self.pages {
            let (number, bytes) = (*number, bytes.len());
            if number <= before {
                return Err(MalformedPages::Order { number });
            }
            if number > self.pages_in_file {
                return Err(MalformedPages::Outside { number });
            }
            if bytes != page_bytes as usize {
                return Err(MalformedPages::Length { number, bytes });
            }
            before = number;
        }
        Ok(())
    }
}
