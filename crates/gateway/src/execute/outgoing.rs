//! Answers on their way to the worker: whole frames, sent as far as the worker reads.

use std::collections::VecDeque;
use std::time::Duration;

use gristmill_domain::Code;
use gristmill_protocol::{Completion, ToWorker, encode_frame};

use super::call_failure::failure;
use crate::pool::Worker;

/// Answers that the worker has not read. Beyond this no further call is begun, nor heard: some are
/// answered at once.
const UNREAD_BYTES_MAX: usize = 32 * 1024 * 1024;

/// For the rest of an answer to a worker that has nothing to do but to read it.
const FINISH_TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Default)]
pub(super) struct Outgoing {
    frames: VecDeque<Vec<u8>>,
    /// Of the first one: bytes that were sent.
    sent_bytes: usize,
    /// Of all: bytes that were not.
    unsent_bytes: usize,
    /// The worker has closed its side, as one that is done does.
    input_closed: bool,
}

impl Outgoing {
    pub fn push(&mut self, completion: Completion) {
        let id = completion.id;
        let frame = encode_frame(&ToWorker::Completed(completion)).or_else(|error| {
            let refusal = failure(id, "limit", Code::CallBytes, &error.to_string(), "");
            encode_frame(&ToWorker::Completed(refusal))
        });
        if let (Ok(frame), false) = (frame, self.input_closed) {
            self.unsent_bytes += frame.len();
            self.frames.push_back(frame);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Whether the worker is so far behind that nothing more is to be answered.
    pub fn is_full(&self) -> bool {
        self.unsent_bytes >= UNREAD_BYTES_MAX
    }

    /// Sends what can be sent at once; whether anything was.
    pub fn try_send(&mut self, worker: &Worker) -> bool {
        let Some(front) = self.frames.front() else { return false };
        match worker.try_send(&front[self.sent_bytes..]) {
            Ok(0) => false,
            Ok(count) => {
                self.sent(count);
                true
            }
            Err(_) => {
                // It takes no more answers, but its last words may still be unread.
                *self = Self { input_closed: true, ..Self::default() };
                false
            }
        }
    }

    fn sent(&mut self, count: usize) {
        self.sent_bytes += count;
        self.unsent_bytes -= count;
        if self.frames.front().is_some_and(|front| front.len() == self.sent_bytes) {
            self.frames.pop_front();
            self.sent_bytes = 0;
        }
    }

    /// An answer that is half sent must go out whole, or the next message could not be read. Whether
    /// it did.
    pub async fn finish_answer(&self, worker: &Worker) -> bool {
        match self.frames.front().filter(|_| self.sent_bytes > 0) {
            None => true,
            Some(front) => {
                let rest = worker.send(&front[self.sent_bytes..], &[]);
                matches!(tokio::time::timeout(FINISH_TIMEOUT, rest).await, Ok(Ok(())))
            }
        }
    }
}
