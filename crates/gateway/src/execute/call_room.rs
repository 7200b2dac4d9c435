//! Room for calls under way: what they take in memory, by an upper estimate of each.

/// What calls under way may take in memory together; one alone may take more.
const BEGUN_BYTES_MAX: usize = 256 * 1024 * 1024;

/// How often the text of a call is there at its height: parsed, as it was written, as it is shown and as it is sent,
/// and what a connection makes of that: a copy, a document, a message, and its bytes on their way.
const COPIES: usize = 8;

/// What one parsed value may take in memory beyond its text.
const VALUE_BYTES: usize = 256;

/// What calls under way take.
#[derive(Debug, Default)]
pub(super) struct CallRoom {
    taken_bytes: usize,
    calls: usize,
}

impl CallRoom {
    /// Takes room for a call; whether there was some.
    pub fn take(&mut self, weight_bytes: usize) -> bool {
        let taken_bytes = self.taken_bytes.saturating_add(weight_bytes);
        let has_room = self.calls == 0 || taken_bytes <= BEGUN_BYTES_MAX;
        if has_room {
            (self.taken_bytes, self.calls) = (taken_bytes, self.calls + 1);
        }
        has_room
    }

    /// When nothing is left of a call. One that was cancelled is still there until then.
    pub fn give_back(&mut self, weight_bytes: usize) {
        self.taken_bytes = self.taken_bytes.saturating_sub(weight_bytes);
        self.calls = self.calls.saturating_sub(1);
    }
}

/// What a call with a text of so many bytes, and so many values in it, takes at most.
pub(super) fn weight_of_call(text_bytes: usize, values: usize) -> usize {
    text_bytes.saturating_mul(COPIES).saturating_add(values.saturating_mul(VALUE_BYTES))
}

/// The text of an analysis is copied once, into its frame, and not parsed here.
pub(super) fn weight_of_analysis(text_bytes: usize) -> usize {
    text_bytes.saturating_mul(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: usize = 1 << 20;

    fn begun_at_once(weight_bytes: usize) -> usize {
        let mut room = CallRoom::default();
        (0..1_000).take_while(|_| room.take(weight_bytes)).count()
    }

    #[test]
    fn calls_begin_as_long_as_all_their_copies_have_room() {
        assert_eq!(begun_at_once(weight_of_call(15 * MB, 3)), 2, "of 64 calls of 15 MB, two at a time");
        assert_eq!(begun_at_once(weight_of_call(MB, 3)), 31);
        assert_eq!(begun_at_once(weight_of_call(100, 3)), 1_000, "no bound for ordinary ones");
        assert_eq!(begun_at_once(weight_of_call(2 * MB, 1_000_000)), 1, "values take more than their text");
        assert_eq!(begun_at_once(weight_of_analysis(16 * MB)), 8);
        assert_eq!(begun_at_once(usize::MAX), 1, "one alone may take more");
    }

    #[test]
    fn room_is_there_again_once_a_call_is_gone() {
        let mut room = CallRoom::default();
        let (large, larger) = (weight_of_call(10 * MB, 1), weight_of_call(16 * MB, 1));
        assert!(room.take(large) && room.take(larger) && !room.take(larger));
        room.give_back(large);
        assert!(!room.take(larger) && room.take(large));
        room.give_back(larger);
        room.give_back(large);
        assert_eq!((room.taken_bytes, room.calls), (0, 0));
    }
}
