//! How much of the audit fits, counted piece by piece: the connection also writes what runs, so no piece takes long.

use super::numbers::{natural, whole};
use super::{Reply, Store, StoreError};

/// What a row takes beside its text.
const ROW_BYTES: u64 = 60;

/// Some events weighed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    /// They fit. Older ones begin below this number.
    Fits { from: i64, bytes: u64 },
    /// The newest of them that no longer fits.
    TooMuch(u64),
    /// There are none.
    Empty,
}

impl Store {
    /// The number of the newest event that no longer fits into so many bytes; `None` if all do. Looks at so many
    /// events at once.
    pub(crate) async fn audit_beyond(
        &self,
        bytes_max: u64,
        at_once: usize,
    ) -> Result<Option<u64>, StoreError> {
        let (mut below, mut left) = (i64::MAX, bytes_max);
        loop {
            match self.weigh_audit(below, left, at_once).await? {
                Piece::Fits { from, bytes } => (below, left) = (from, left.saturating_sub(bytes)),
                Piece::TooMuch(number) => return Ok(Some(number)),
                Piece::Empty => return Ok(None),
            }
        }
    }

    fn weigh_audit(&self, below: i64, left: u64, at_once: usize) -> Reply<Piece> {
        self.run(move |connection| {
            let mut query = connection.prepare_cached(
                "SELECT min(number), max(held), max(number) FILTER (WHERE held > ?2) FROM (SELECT number, \
                 sum(length(event) + ?3) OVER (ORDER BY number DESC ROWS UNBOUNDED PRECEDING) AS held FROM \
                 (SELECT number, event FROM audit_events WHERE number < ?1 ORDER BY number DESC LIMIT ?4))",
            )?;
            let values = [below, whole(left), whole(ROW_BYTES), whole(at_once as u64)];
            let weighed: (Option<i64>, Option<i64>, Option<i64>) =
                query.query_row(values, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            Ok(match weighed {
                (_, _, Some(number)) => Piece::TooMuch(natural(number)),
                (Some(from), bytes, None) => Piece::Fits { from, bytes: natural(bytes.unwrap_or(0)) },
                (None, ..) => Piece::Empty,
            })
        })
    }
}
