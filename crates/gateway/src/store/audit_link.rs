//! How events of the audit hang together. Never changed once it is out: what was written must be provable for years.

use ring::digest::{Context, SHA256};

use super::AuditHash;

/// Before the first event there is this.
pub(crate) const BEGINNING: AuditHash = [0; 32];

const EVENT: &[u8] = b"gristmill audit event 1\n";

/// The hash of an event: over the one before, its number and its text.
pub(crate) fn link(previous: &AuditHash, number: u64, text: &str) -> AuditHash {
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
