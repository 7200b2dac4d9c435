//! What stands in the log, entry by entry, and the envelope that an entry goes in.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::database::Pages;
use crate::manifest::Changes;
use crate::packed::{self, PackError};
use crate::seal::ContentHash;

/// One entry of the log. Whoever stands by takes them in their order, each wholly or not at all.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum Entry {
    /// Who leads from here on.
    Leads {
        gateway: String,
        /// Counts how often somebody took the lead.
        incarnation: u64,
        /// Where clients reach it, if it says so.
        address: Option<String>,
        version: String,
        at_ms: i64,
    },
    /// What changed, all of it or nothing.
    Changes { files: Changes, pages: Option<Pages> },
    /// The leader is still there.
    Alive { at_ms: i64 },
    /// The leader ends; anyone may take the lead at once.
    Leaves,
}

/// From here on packing an entry takes milliseconds.
const LARGE_BYTES: usize = 256 << 10;
const LARGE_NODES: usize = 1_000;

impl Entry {
    /// Whether packing it takes a while.
    pub fn is_large(&self) -> bool {
        let Self::Changes { files, pages } = self else { return false };
        let bytes = |pages: &Pages| pages.pages.len() * pages.page_bytes as usize;
        files.nodes.len() > LARGE_NODES || pages.as_ref().is_some_and(|pages| bytes(pages) > LARGE_BYTES)
    }

    /// As it is sealed.
    pub fn encode(&self) -> Result<Vec<u8>, PackError> {
        packed::pack(self)
    }

    /// Whatever was opened; paths in it are well formed, and not checked for whether they are kept.
    pub fn decode(bytes: &[u8]) -> Result<Self, PackError> {
        packed::unpack(bytes)
    }
}

/// A place in the log: behind which entry. Two histories may have entries of the same number, when servers have lost the
/// end of the log and it was written anew; the link tells them apart.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LogPlace {
    /// Of the entry; 0 is the beginning.
    pub sequence: u64,
    /// The hash of the entry as it's sealed, which was sealed with that of the one before it, and so on.
    pub link: [u8; 32],
}

impl LogPlace {
    /// Of an entry as it's in the log.
    pub fn of(sequence: u64, sealed: &[u8]) -> Self {
        Self { sequence, link: *blake3::hash(sealed).as_bytes() }
    }
}

impl fmt::Debug for LogPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second, ..] = self.link;
        write!(f, "LogPlace({}, {first:02x}{second:02x}…)", self.sequence)
    }
}

/// How an entry is in the log: in one message, or stored beside the log because it is larger than one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Envelope {
    /// The entry itself.
    Whole(#[serde(with = "serde_bytes")] Vec<u8>),
    /// Where it is, and how large.
    Stored { id: ContentHash, bytes: u64 },
}

impl Envelope {
    pub fn encode(&self) -> Result<Vec<u8>, PackError> {
        packed::write(self)
    }

    pub fn decode(bytes: &[u8]) -> Result<Self, PackError> {
        packed::read(bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::database::Page;
    use crate::manifest::{FileState, Modified, Node};
    use crate::tree::TreePath;

    fn entries() -> Vec<Entry> {
        let path = |text: &str| TreePath::new(text.as_bytes()).expect("a path");
        let file = FileState {
            hash: ContentHash([3; 32]),
            bytes: 5,
            mode: 0o640,
            modified: Modified { seconds: -7, nanos: 8 },
            inline: Some(b"hello".to_vec().into()),
        };
        vec![
            Entry::Leads {
                gateway: "gateway-1".to_owned(),
                incarnation: 3,
                address: Some("https://a.example".to_owned()),
                version: "0.1.0".to_owned(),
                at_ms: 1_790_000_000_000,
            },
            Entry::Changes {
                files: Changes {
                    nodes: vec![
                        (path("pins.json"), None),
                        (path("skills"), Some(Node::Folder { mode: 0o755 })),
                        (path("skills/a\n\u{e9}"), Some(Node::File(file))),
                    ],
                },
                pages: Some(Pages {
                    page_bytes: 4096,
                    pages_in_file: 2,
                    pages: vec![Page { number: 2, bytes: vec![9; 4096] }],
                }),
            },
            Entry::Changes { files: Changes::default(), pages: None },
            Entry::Alive { at_ms: 0 },
            Entry::Leaves,
        ]
    }

    #[test]
    fn entries_read_back_as_they_were() {
        for entry in entries() {
            let bytes = entry.encode().expect("encoded");
            assert_eq!(Entry::decode(&bytes).as_ref(), Ok(&entry));
        }
    }

    #[test]
    fn envelopes_read_back_as_they_were() {
        let stored = Envelope::Stored { id: ContentHash([1; 32]), bytes: 1 << 40 };
        for envelope in [stored, Envelope::Whole(b"entry".to_vec()), Envelope::Whole(Vec::new())] {
            let bytes = envelope.encode().expect("encoded");
            assert_eq!(Envelope::decode(&bytes).as_ref(), Ok(&envelope));
        }
    }

    #[test]
    fn another_version_is_told_from_damage() {
        let mut bytes = Entry::Leaves.encode().expect("encoded");
        bytes[0] = 2;
        assert_eq!(Entry::decode(&bytes), Err(PackError::OtherVersion { format: 2 }));
        bytes[0] = 1;
        bytes.truncate(bytes.len() - 1);
        assert_eq!(Entry::decode(&bytes), Err(PackError::Damaged));
    }

    #[test]
    fn a_path_that_leads_elsewhere_is_no_entry() {
        for wrong in ["../x", "/etc/passwd", "a//b", "", "a/./b", "a\0b"] {
            let plain = postcard::to_stdvec(&(
                1_u32,
                vec![(serde_bytes::Bytes::new(wrong.as_bytes()), None::<Node>)],
                false,
            ));
            let bytes = zstd::bulk::compress(&plain.expect("written"), 1).expect("compressed");
            let decoded = Entry::decode(&[&[1][..], &bytes].concat());
            assert_eq!(decoded, Err(PackError::Damaged), "{wrong}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Entry::decode(&bytes);
            let _ = Envelope::decode(&bytes);
            // Past the compression, which random bytes never pass.
            let packed = zstd::bulk::compress(&bytes, 1).expect("compressed");
            let _ = Entry::decode(&[&[1][..], &packed].concat());
            let _ = Envelope::decode(&[&[1][..], &bytes].concat());
        }

        #[test]
        fn damaged_entries_never_panic(which in 0_usize..5, at in any::<proptest::sample::Index>(), byte in any::<u8>()) {
            let mut plain = postcard::to_stdvec(&entries()[which]).expect("written");
            let at = at.index(plain.len());
            plain[at] = byte;
            let packed = zstd::bulk::compress(&plain, 1).expect("compressed");
            let _ = Entry::decode(&[&[1][..], &packed].concat());
        }
    }
}
