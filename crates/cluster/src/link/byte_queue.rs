//! Bytes that go in at the back and out at the front, in bulk.

use std::collections::VecDeque;

use super::limits::KEPT_BYTES;

#[derive(Debug, Default)]
pub(super) struct ByteQueue {
    bytes: VecDeque<u8>,
}

impl ByteQueue {
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    pub(super) fn get(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    /// Appends `length` bytes from `at` on to `target`; fewer if there are no more.
    pub(super) fn copy_to(&self, target: &mut Vec<u8>, at: usize, length: usize) {
        let (front, back) = self.bytes.as_slices();
        let end = at.saturating_add(length);
        target.extend_from_slice(clipped(front, at, end));
        target.extend_from_slice(clipped(
            back,
            at.saturating_sub(front.len()),
            end.saturating_sub(front.len()),
        ));
    }

    /// Drops the first `length` bytes, or all if there are fewer. What a large message took is given back.
    pub(super) fn drop_front(&mut self, length: usize) {
        self.bytes.drain(..length.min(self.bytes.len()));
        // A quarter, and then room for twice as much: the buffer does not grow and shrink with every message.
        if self.bytes.capacity() > KEPT_BYTES && self.bytes.len() < self.bytes.capacity() / 4 {
            self.bytes.shrink_to((self.bytes.len() * 2).max(KEPT_BYTES));
        }
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }
}

fn clipped(bytes: &[u8], start: usize, end: usize) -> &[u8] {
    let end = end.min(bytes.len());
    &bytes[start.min(end)..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_part_is_copied_wherever_the_bytes_wrap() {
        let mut queue = ByteQueue::default();
        let mut expected = Vec::new();
        for round in 0..50u8 {
            let bytes: Vec<u8> = (0..37).map(|at| at ^ round).collect();
            queue.push(&bytes);
            expected.extend_from_slice(&bytes);
            queue.drop_front(29);
            expected.drain(..29);
            for (at, length) in [(0, 0), (0, 8), (3, 5), (5, 1000), (1000, 5), (7, usize::MAX)] {
                let mut copied = Vec::new();
                queue.copy_to(&mut copied, at, length);
                let wanted: Vec<u8> = expected.iter().copied().skip(at).take(length).collect();
                assert_eq!(copied, wanted, "{length} bytes from {at} on in round {round}");
            }
        }
    }

    #[test]
    fn the_room_of_a_large_message_is_given_back() {
        let mut queue = ByteQueue::default();
        queue.push(&vec![7; 16 * 1024 * 1024]);
        queue.drop_front(16 * 1024 * 1024 - 10);
        assert_eq!(queue.len(), 10);
        assert!(queue.capacity() <= KEPT_BYTES, "{} bytes are kept", queue.capacity());
    }
}
