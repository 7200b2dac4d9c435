//! Events of the audit as they are written and asked for, and who links and signs them.

use serde::{Deserialize, Serialize};

use super::disk::Safe;

/// A hash of the chain.
pub(crate) type AuditHash = [u8; 32];

/// An event that has no number yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AuditRow {
    pub text: String,
    pub effect: RowEffect,
}

/// What an event does to the executions that have no final one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum RowEffect {
    None,
    Opens {
        execution: String,
        gateway: String,
    },
    /// Left out if there was a final one already.
    Closes {
        execution: String,
    },
}

/// An event as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRecord {
    pub number: u64,
    /// Empty if it has not the length of a hash.
    pub hash: Vec<u8>,
    /// One line of JSON.
    pub text: String,
}

/// A hash that was signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedHead {
    pub number: u64,
    pub is_anchor: bool,
    pub hash: Vec<u8>,
    pub at_ms: i64,
    pub signature: Vec<u8>,
}

/// How far the chain goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AuditHead {
    pub number: u64,
    pub hash: AuditHash,
}

/// Who has events to write. Used on the thread of the database, but for `take_of`.
pub(crate) trait AuditBatch: Send + Sync + 'static {
    /// Whether no event waits.
    fn is_empty(&self) -> bool;
    /// The events that wait, in their order.
    fn take(&self) -> Vec<AuditRow>;
    /// Those of one execution, in their order, for whoever is in a hurry; `None` if they are many, or if some of them
    /// are on another way.
    fn take_of(&self, execution: &str) -> Option<Vec<AuditRow>>;
    /// What was taken is written, or was put back.
    fn is_settled(&self);
    /// They could not be written.
    fn put_back(&self, rows: Vec<AuditRow>);
    /// They are in the database, of which this is the last.
    fn written(&self, head: &AuditHead);
}

/// Who signs hashes. Used on the thread of the database.
pub(crate) trait AuditSigner: AuditBatch {
    fn sign(&self, number: u64, is_anchor: bool, hash: &AuditHash, at_ms: i64) -> SignedHead;
    /// Whether this signature is ours.
    fn has_signed(&self, head: &SignedHead) -> bool;
    /// What was signed last, as it is known outside of the database; `None` if nothing good says so.
    fn mark(&self) -> Option<SignedHead>;
    /// It is in the database.
    fn signed(&self, head: &SignedHead);
    /// And whether it would be there after a loss of power: only then may the mark say so.
    fn reached_disk(&self, head: &SignedHead, safe: Safe);
    /// The event that says that the chain does not lead to the mark, or that there is none.
    fn broken(&self, mark: Option<&SignedHead>, head: &AuditHead) -> AuditRow;
    /// The event that says how far the chain was let go of.
    fn cut(&self, anchor: &SignedHead) -> AuditRow;
}

/// Which events are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Any of these; all if there are none.
    pub kinds: Vec<&'static str>,
    pub server: Option<String>,
    pub tool: Option<String>,
    /// An owner, or the name of a token.
    pub caller: Option<String>,
    /// The beginning of its handle.
    pub session: Option<String>,
    pub execution: Option<String>,
    /// As events have it.
    pub since: Option<String>,
    /// Among so many of the newest only.
    pub newest: Option<usize>,
}

/// How much there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuditSize {
    pub events: u64,
    pub first: u64,
    pub last: u64,
    /// Number and moment of the last that was signed.
    pub signed: Option<(u64, i64)>,
}

/// What may be let go of.
#[derive(Clone, Debug)]
pub(crate) struct AuditKeep {
    /// Events before this moment, as they have it.
    pub before: String,
    /// The newest event that no longer fits.
    pub beyond: Option<u64>,
}
