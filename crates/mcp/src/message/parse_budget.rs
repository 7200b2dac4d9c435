//! How much of what clients send may be in memory at once, over all of them.
//!
//! Parsed, a message is up to a hundred times as large as its text, so a few dozen that are each within their
//! bounds could fill the memory. Every larger message takes a share of one budget before it is parsed and
//! gives it back when nothing of it is left. Where there is no room it waits for a moment and is then refused
//! with what to do; small messages always pass.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use gristmill_json_text::JsonCaps;
use parking_lot::Mutex;
use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::json_shape::{DEPTH_MAX, VALUES_MAX};

/// What all messages together may take: two of the largest that are accepted, or some hundred that hold a
/// large table as text.
pub const PARSED_BYTES_MAX: usize = 256 << 20;

/// What one value takes at most while its message is read: the tree of ours, that of `rmcp`, and the arguments
/// that a tool makes of it are never there all at once, but two of them are.
const VALUE_BYTES: usize = 400;

/// Of a text there are at most this many copies: as it came, as it was checked, and inside values.
const TEXT_COPIES: usize = 3;

/// What is smaller takes no share: ordinary calls work however busy it is. All connections together send no
/// more than a few of the largest.
const SMALL_BYTES: usize = 64 * 1024;

/// How long a message waits for room. Parsing takes milliseconds; what holds room longer is a program with
/// a large context, and the client can wait better than we.
const WAIT: Duration = Duration::from_secs(2);

/// Messages that wait at once: each has its text in memory.
const WAITING_MAX: usize = 32;

/// Permits of the semaphore count in this unit, since it has 32 bits for them.
const UNIT_BYTES: usize = 1024;

/// The budget of this process.
pub(crate) static BUDGET: LazyLock<ParseBudget> = LazyLock::new(|| ParseBudget::new(PARSED_BYTES_MAX));

/// There is no room. Nothing of the message was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "busy: requests now being handled take all the memory that requests can have ({} MB); try again in a second, \
     or pass large data as a workspace file", PARSED_BYTES_MAX >> 20
)]
pub(crate) struct Busy;

pub(crate) struct ParseBudget {
    room: Arc<Semaphore>,
    units_max: usize,
    waiting: AtomicUsize,
}

/// A share of the budget. Clones are the same share, which ends with the last of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct ParsedShare(Arc<Mutex<Option<OwnedSemaphorePermit>>>);

impl ParseBudget {
    fn new(bytes: usize) -> Self {
        let units_max = bytes / UNIT_BYTES;
        Self { room: Arc::new(Semaphore::new(units_max)), units_max, waiting: AtomicUsize::new(0) }
    }

    /// Room for a message that is about to be parsed.
    pub async fn take(&self, message: &[u8]) -> Result<ParsedShare, Busy> {
        self.take_bytes(parsed_bytes(message)).await
    }

    /// Room for a text that is about to be read.
    pub async fn take_bytes(&self, bytes: usize) -> Result<ParsedShare, Busy> {
        if bytes <= SMALL_BYTES {
            return Ok(ParsedShare::default());
        }
        let units = u32::try_from(bytes.div_ceil(UNIT_BYTES).min(self.units_max)).unwrap_or(u32::MAX);
        if let Ok(permit) = Arc::clone(&self.room).try_acquire_many_owned(units) {
            return Ok(ParsedShare::holding(permit));
        }
        let _waits = Waits::begin(&self.waiting).ok_or(Busy)?;
        match tokio::time::timeout(WAIT, Arc::clone(&self.room).acquire_many_owned(units)).await {
            Ok(Ok(permit)) => Ok(ParsedShare::holding(permit)),
            Ok(Err(_)) | Err(_) => Err(Busy),
        }
    }
}

impl ParsedShare {
    fn holding(permit: OwnedSemaphorePermit) -> Self {
        Self(Arc::new(Mutex::new(Some(permit))))
    }

    /// That of a request under way.
    pub fn of(context: &RequestContext<RoleServer>) -> Self {
        let parts = context.extensions.get::<http::request::Parts>();
        let of_http = parts.and_then(|parts| parts.extensions.get::<Self>());
        of_http.or_else(|| context.extensions.get::<Self>()).cloned().unwrap_or_default()
    }

    /// Gives back all but what `bytes` take.
    pub fn shrink_to(&self, bytes: usize) {
        let mut held = self.0.lock();
        let Some(permit) = held.as_mut() else { return };
        let units = bytes.div_ceil(UNIT_BYTES);
        if units < permit.num_permits() {
            let kept = permit.split(units);
            *held = kept.filter(|kept| kept.num_permits() > 0);
        }
    }
}

/// That of a call, which gives it back when it is answered, whoever else still has the request.
#[derive(Debug)]
pub(crate) struct CallShare(pub ParsedShare);

impl Drop for CallShare {
    fn drop(&mut self) {
        self.0.shrink_to(0);
    }
}

/// One that waits, counted as long as this lives.
struct Waits<'a>(&'a AtomicUsize);

impl<'a> Waits<'a> {
    /// `None` if as many wait as may.
    fn begin(waiting: &'a AtomicUsize) -> Option<Self> {
        let ahead = waiting.fetch_add(1, Ordering::Relaxed);
        let waits = Self(waiting);
        (ahead < WAITING_MAX).then_some(waits)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What a message may take once it is parsed. One that is refused for its shape is never parsed.
fn parsed_bytes(message: &[u8]) -> usize {
    let caps = JsonCaps { bytes_max: usize::MAX, depth_max: DEPTH_MAX, values_max: VALUES_MAX };
    let values = caps.check(message).unwrap_or(0);
    message.len() * TEXT_COPIES + values * VALUE_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn many_values(count: usize) -> Vec<u8> {
        format!("[{}0]", "{},".repeat(count / 2)).into_bytes()
    }

    fn units_free(budget: &ParseBudget) -> usize {
        budget.room.available_permits()
    }

    #[tokio::test(start_paused = true)]
    async fn door_7_messages_of_all_callers_share_one_budget() {
        let budget = ParseBudget::new(64 << 20);
        let message = many_values(100_000);
        let first = budget.take(&message).await.unwrap();
        // Forty-some megabytes of sixty-four: there is no room for another.
        assert!(units_free(&budget) < 26 * 1024, "{}", units_free(&budget));
        assert_eq!(budget.take(&message).await.unwrap_err(), Busy);
        // Small ones always pass.
        budget.take(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await.unwrap();
        drop(first);
        assert_eq!(units_free(&budget), 64 * 1024);
        budget.take(&message).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_waits_gets_its_room_as_soon_as_there_is_some() {
        let budget = ParseBudget::new(64 << 20);
        let message = many_values(100_000);
        let first = budget.take(&message).await.unwrap();
        let (second, ()) = tokio::join!(budget.take(&message), async {
            tokio::time::sleep(WAIT / 2).await;
            first.shrink_to(0);
        });
        second.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn what_becomes_text_gives_most_of_its_room_back() {
        let budget = ParseBudget::new(64 << 20);
        let share = budget.take(&many_values(100_000)).await.unwrap();
        let clone = share.clone();
        share.shrink_to(1 << 20);
        assert_eq!(units_free(&budget), 63 * 1024);
        share.shrink_to(2 << 20);
        assert_eq!(units_free(&budget), 63 * 1024, "it never grows");
        drop(share);
        assert_eq!(units_free(&budget), 63 * 1024, "as long as anybody has it");
        drop(clone);
        assert_eq!(units_free(&budget), 64 * 1024);
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_is_larger_than_the_budget_gets_all_of_it() {
        let budget = ParseBudget::new(1 << 20);
        let share = budget.take(&many_values(100_000)).await.unwrap();
        assert_eq!(units_free(&budget), 0);
        drop(share);
        assert_eq!(units_free(&budget), 1024);
    }

    #[tokio::test(start_paused = true)]
    async fn the_queue_has_an_end() {
        let budget = Arc::new(ParseBudget::new(1 << 20));
        let held = budget.take_bytes(1 << 20).await.unwrap();
        let waiting: Vec<_> = (0..WAITING_MAX)
            .map(|_| {
                let budget = Arc::clone(&budget);
                tokio::spawn(async move { budget.take_bytes(1 << 20).await.map(drop) })
            })
            .collect();
        tokio::task::yield_now().await;
        let begun = tokio::time::Instant::now();
        assert_eq!(budget.take_bytes(1 << 20).await.unwrap_err(), Busy);
        assert_eq!(begun.elapsed(), Duration::ZERO, "told at once");
        drop(held);
        for one in waiting {
            one.await.unwrap().unwrap();
        }
        assert_eq!(budget.waiting.load(Ordering::Relaxed), 0);
    }
}
