//! What the signatures of the chain are made of. Never changed once it is out: what was written must be provable
//! for years.

use crate::store::SignedHead;
pub(super) use crate::store::{BEGINNING, link};

const CHECKPOINT: &[u8] = b"gristmill audit checkpoint 1\n";
const ANCHOR: &[u8] = b"gristmill audit anchor 1\n";

/// What is signed of a head: which event, its hash, when, and whether the chain begins after it.
pub(super) fn signed_bytes(head: &SignedHead) -> Vec<u8> {
    let mut bytes = if head.is_anchor { ANCHOR } else { CHECKPOINT }.to_vec();
    bytes.extend(head.number.to_be_bytes());
    bytes.extend(head.at_ms.to_be_bytes());
    bytes.extend(&head.hash);
    bytes
}

pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_of_the_one_before_the_number_and_the_text_and_stays_what_it_is() {
        let first = link(&BEGINNING, 1, "{}");
        // Computed once by hand with another implementation of SHA-256.
        assert_eq!(hex(&first), "7f8457cd3e62c190b22ea3cf8bd56fa4f1b0ef03f481a5540bef4fde2347747f");
        let others = [link(&first, 1, "{}"), link(&BEGINNING, 2, "{}"), link(&BEGINNING, 1, "{ }")];
        assert!(others.iter().all(|other| *other != first));
    }
}
