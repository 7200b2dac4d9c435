//! Bytes into lines, each within a bound. Reading can be given up at any moment and taken up again:
//! what was read of a line is kept.

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Without its end.
    Whole(Vec<u8>),
    /// It was read past: its first and its last bytes, which overlap in a short one.
    TooLong { beginning: Vec<u8>, end: Vec<u8> },
}

/// What is kept of each end of a line that is too long: there its id is, if it has one.
const FRAGMENT_BYTES: usize = 2 * 1024;

pub(super) struct Lines<R> {
    input: BufReader<R>,
    bytes_max: usize,
    /// Of the line that is being read; of one that is too long, its first bytes.
    begun: Vec<u8>,
    /// The last bytes of a line that is too long: it is read past.
    skipped: Option<Vec<u8>>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(input: R, bytes_max: usize) -> Self {
        let input = BufReader::with_capacity(64 * 1024, input);
        Self { input, bytes_max, begun: Vec::new(), skipped: None }
    }

    /// The next line that is not empty; `None` at the end of the input, or where it breaks.
    pub(super) async fn next(&mut self) -> Option<Line> {
        loop {
            let Ok(available) = self.input.fill_buf().await else { return None };
            let is_end = available.is_empty();
            let newline = available.iter().position(|byte| *byte == b'\n');
            let part = &available[..newline.unwrap_or(available.len())];
            if let Some(end) = &mut self.skipped {
                keep_last(end, part);
            } else if self.begun.len() + part.len() > self.bytes_max {
                let end = self.skipped.insert(Vec::new());
                keep_last(end, &self.begun);
                keep_last(end, part);
                let room = FRAGMENT_BYTES.saturating_sub(self.begun.len());
                self.begun.extend_from_slice(&part[..part.len().min(room)]);
                self.begun.truncate(FRAGMENT_BYTES);
                self.begun.shrink_to_fit();
            } else {
                self.begun.extend_from_slice(part);
            }
            let consumed = newline.map_or(available.len(), |at| at + 1);
            self.input.consume(consumed);
            if newline.is_none() && !is_end {
                continue;
            }
            let mut line = std::mem::take(&mut self.begun);
            if let Some(end) = self.skipped.take() {
                return Some(Line::TooLong { beginning: line, end });
            }
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            if !line.iter().all(u8::is_ascii_whitespace) {
                return Some(Line::Whole(line));
            }
            if is_end {
                return None;
            }
        }
    }
}

/// Goes on with a line of which only the last bytes are kept.
fn keep_last(end: &mut Vec<u8>, part: &[u8]) {
    end.extend_from_slice(&part[part.len().saturating_sub(FRAGMENT_BYTES)..]);
    let surplus = end.len().saturating_sub(FRAGMENT_BYTES);
    end.drain(..surplus);
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(text: &[u8], bytes_max: usize) -> Vec<Line> {
        let mut lines = Lines::new(text, bytes_max);
        let mut all = Vec::new();
        while let Some(line) = lines.next().await {
            all.push(line);
        }
        all
    }

    fn whole(text: &str) -> Line {
        Line::Whole(text.as_bytes().to_vec())
    }

    fn too_long(beginning: &str, end: &str) -> Line {
        Line::TooLong { beginning: beginning.as_bytes().to_vec(), end: end.as_bytes().to_vec() }
    }

    #[tokio::test]
    async fn lines_end_with_or_without_a_carriage_return_and_empty_ones_do_not_count() {
        let read = lines(b"a\r\n\n  \n\r\nb\nc", 10).await;
        assert_eq!(read, [whole("a"), whole("b"), whole("c")]);
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_one_and_the_next_is_whole() {
        assert_eq!(
            lines(b"1234\n12345\n1\n12345", 4).await,
            [whole("1234"), too_long("12345", "12345"), whole("1"), too_long("12345", "12345")]
        );
    }

    #[tokio::test]
    async fn of_a_line_that_is_too_long_both_ends_are_kept() {
        let (first, last) = ("a".repeat(FRAGMENT_BYTES), "c".repeat(FRAGMENT_BYTES));
        let text = format!("{first}{}{last}\nnext\n", "b".repeat(1_000_000));
        for bytes_max in [0, 1000, FRAGMENT_BYTES + 1, 500_000] {
            let read = lines(text.as_bytes(), bytes_max).await;
            assert_eq!(read[0], too_long(&first, &last), "{bytes_max}");
        }
        let read = lines(text.as_bytes(), 1000).await;
        assert_eq!(read, [too_long(&first, &last), whole("next")]);
    }

    #[tokio::test]
    async fn reading_that_was_given_up_loses_nothing() {
        use tokio::io::AsyncWriteExt;
        let (mut client, server) = tokio::io::duplex(64);
        let mut lines = Lines::new(server, 100);
        client.write_all(b"one ").await.expect("a pipe");
        let given_up = futures_util::future::poll_immediate(lines.next()).await;
        assert_eq!(given_up, None);
        client.write_all(b"line\n").await.expect("a pipe");
        assert_eq!(lines.next().await, Some(whole("one line")));
    }
}
