//! Numbers as SQLite has them.

/// SQLite has no unsigned numbers; a program may well claim a line beyond them.
pub(super) fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn natural(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
