//! What the hashes and signatures of the chain are made of. Never changed once it is out: what was written
//! must be provable for years.

use ring::digest::{Context, SHA256};

use crate::store::{AuditHash, SignedHead};

/// Before the first event there is this.
pub(super) const BEGINNING: AuditHash = [0; 32];

const EVENT: &[u8] = b"gristmill audit event 1\n";
const CHECKPOINT: &[u8] = b"gristmill audit checkpoint 1\n";
const ANCHOR: &[u8] = b"gristmill audit anchor 1\n";

/// The hash of an event: over the one before, its number and its text.
pub(super) fn link(previous: &AuditHash, number: u64, text: &str) -> AuditHash {
    let mut context = Context::new(&SHA256);
    context.update(EVENT);
    context.update(previous);
    context.update(&number.to_be_bytes());
    context.update(text.as_bytes());
    let mut hash = BEGINNING;
    // SHA-256 has as many bytes.
    hash.copy_from_slice(context.finish().as_ref());
    hash
}

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
