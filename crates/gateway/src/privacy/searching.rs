//! Room for searches: what one takes in memory grows with its text, and programs choose how many there are at once.

use std::sync::Arc;

use gristmill_domain::{SEARCH_BYTES_MIN, SEARCHED_BYTES_MAX};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Of one gateway.
pub(super) struct SearchRoom(Arc<Semaphore>);

/// A search under way. It goes along to the thread that searches: one that nobody waits for any more still takes its
/// memory.
pub(crate) struct Searching {
    /// None only if there is no room to be taken any more, which is never.
    _room: Option<OwnedSemaphorePermit>,
}

impl Default for SearchRoom {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(SEARCHED_BYTES_MAX)))
    }
}

impl SearchRoom {
    /// Waits until there is room for so many bytes, in the order in which it was asked for. Whoever is cancelled
    /// meanwhile begins nothing.
    pub async fn take(&self, bytes: usize) -> Searching {
        let room = Arc::clone(&self.0).acquire_many_owned(weight(bytes)).await;
        Searching { _room: room.ok() }
    }
}

/// A large search alone takes all the room there is.
fn weight(bytes: usize) -> u32 {
    u32::try_from(bytes.clamp(SEARCH_BYTES_MIN, SEARCHED_BYTES_MAX)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[test]
    fn searches_wait_where_others_take_all_the_room() {
        let room = SearchRoom::default();
        let large = room.take(usize::MAX).now_or_never().expect("alone, it has room");
        assert!(room.take(1).now_or_never().is_none());
        drop(large);
        let small: Vec<Searching> = (0..64).map_while(|_| room.take(1).now_or_never()).collect();
        assert_eq!(small.len(), SEARCHED_BYTES_MAX / SEARCH_BYTES_MIN);
        drop(small);
        assert!(room.take(SEARCHED_BYTES_MAX).now_or_never().is_some(), "whoever gave up holds nothing");
    }
}
