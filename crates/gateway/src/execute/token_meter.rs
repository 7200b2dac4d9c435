//! Counts the tokens of what a program's calls send and get, beside the program: exactly, up to a
//! bound, and in proportion beyond it.

use tokio::task::JoinHandle;

use super::report::ToolCalled;
use crate::tokens;

/// What is counted exactly in one execution. Each text is copied until it is counted, and a count
/// takes about as long as reading the text five times.
const COUNTED_BYTES_MAX: usize = 16 << 20;

/// Below this a count takes less time than handing it to another thread.
const AT_ONCE_BYTES_MAX: usize = 512;

/// Of a call.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Arguments,
    Answer,
}

/// See the module.
#[derive(Default)]
pub(super) struct TokenMeter {
    is_on: bool,
    counted_bytes: usize,
    counts: Vec<Count>,
}

struct Count {
    /// Which call, by its place in the list of calls.
    place: usize,
    side: Side,
    bytes: usize,
    /// How many of them are counted.
    counted_bytes: usize,
    tokens: Counting,
}

enum Counting {
    Done(usize),
    UnderWay(JoinHandle<usize>),
}

impl TokenMeter {
    pub fn new(is_on: bool) -> Self {
        Self { is_on, ..Self::default() }
    }

    /// Takes note of one side of a call. Needs a tokio runtime.
    pub fn count(&mut self, place: usize, side: Side, text: &str) {
        if !self.is_on {
            return;
        }
        let end = text.floor_char_boundary(COUNTED_BYTES_MAX - self.counted_bytes);
        let counted = &text[..end];
        self.counted_bytes += counted.len();
        let tokens = if counted.len() <= AT_ONCE_BYTES_MAX {
            Counting::Done(tokens::count(counted))
        } else {
            let copy = counted.to_owned();
            Counting::UnderWay(tokio::task::spawn_blocking(move || tokens::count(&copy)))
        };
        self.counts.push(Count { place, side, bytes: text.len(), counted_bytes: counted.len(), tokens });
    }

    /// Waits for every count and writes them into the list. Gives whether any is an estimate.
    pub async fn settle(self, called: &mut [ToolCalled]) -> bool {
        let mut counts = Vec::with_capacity(self.counts.len());
        let mut known = (0, 0);
        for count in self.counts {
            let tokens = match count.tokens {
                Counting::Done(tokens) => tokens,
                Counting::UnderWay(task) => task.await.unwrap_or_default(),
            };
            known = (known.0 + tokens, known.1 + count.counted_bytes);
            counts.push((count.place, count.side, count.bytes, count.counted_bytes, tokens));
        }
        let mut is_estimate = false;
        for (place, side, bytes, counted_bytes, tokens) in counts {
            let tokens = match (counted_bytes == bytes, counted_bytes) {
                (true, _) => tokens,
                (false, 0) => in_proportion(known.0, bytes, known.1),
                (false, counted) => in_proportion(tokens, bytes, counted),
            };
            is_estimate |= counted_bytes != bytes;
            let Some(call) = called.get_mut(place) else { continue };
            match side {
                Side::Arguments => call.argument_tokens = Some(tokens as u64),
                Side::Answer => call.answer_tokens = Some(tokens as u64),
            }
        }
        is_estimate
    }
}

fn in_proportion(tokens: usize, bytes: usize, counted_bytes: usize) -> usize {
    (tokens as f64 * bytes as f64 / counted_bytes.max(1) as f64).round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> ToolCalled {
        ToolCalled::unanswered("a.b", None, 0)
    }

    #[tokio::test]
    async fn both_sides_of_each_call_are_counted() {
        let mut meter = TokenMeter::new(true);
        let long = "every word is one token here ".repeat(100);
        meter.count(0, Side::Arguments, r#"{"x":1}"#);
        meter.count(1, Side::Answer, &long);
        let mut called = [call(), call()];
        assert!(!meter.settle(&mut called).await);
        let counted = called.map(|call| (call.argument_tokens, call.answer_tokens));
        let expected = tokens::count(&long) as u64;
        assert_eq!(counted, [(Some(tokens::count(r#"{"x":1}"#) as u64), None), (None, Some(expected))]);
    }

    #[tokio::test]
    async fn what_is_too_much_to_count_is_estimated() {
        let mut meter = TokenMeter::new(true);
        // All but a little of the bound is used up.
        meter.counted_bytes = COUNTED_BYTES_MAX - 600;
        let words = "word ".repeat(400);
        meter.count(0, Side::Answer, &words);
        meter.count(0, Side::Arguments, &words);
        let mut called = [call()];
        assert!(meter.settle(&mut called).await);
        let exact = tokens::count(&words) as f64;
        for tokens in [called[0].answer_tokens, called[0].argument_tokens] {
            let off = (tokens.unwrap() as f64 - exact).abs() / exact;
            assert!(off < 0.02, "{tokens:?} instead of {exact}");
        }
    }

    #[tokio::test]
    async fn nothing_is_counted_for_those_who_do_not_ask() {
        let mut meter = TokenMeter::new(false);
        meter.count(0, Side::Answer, "words");
        let mut called = [call()];
        assert!(!meter.settle(&mut called).await);
        assert_eq!(called[0], call());
    }
}
