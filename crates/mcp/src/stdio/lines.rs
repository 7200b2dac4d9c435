//! Bytes into lines, each within a bound. Reading can be given up at any moment and taken up again:
//! what was read of a line is kept.

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Without its end.
    Whole(Vec<u8>),
    /// It was read past and not kept.
    TooLong,
}

pub(super) struct Lines<R> {
    input: BufReader<R>,
    bytes_max: usize,
    /// Of the line that is being read.
    begun: Vec<u8>,
    /// The rest of this line is read past.
    is_skipping: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(input: R, bytes_max: usize) -> Self {
        let input = BufReader::with_capacity(64 * 1024, input);
        Self { input, bytes_max, begun: Vec::new(), is_skipping: false }
    }

    /// The next line that is not empty; `None` at the end of the input, or where it breaks.
    pub(super) async fn next(&mut self) -> Option<Line> {
        loop {
            let Ok(available) = self.input.fill_buf().await else { return None };
            let is_end = available.is_empty();
            let newline = available.iter().position(|byte| *byte == b'\n');
            let part = &available[..newline.unwrap_or(available.len())];
            if !self.is_skipping {
                if self.begun.len() + part.len() > self.bytes_max {
                    self.is_skipping = true;
                    self.begun = Vec::new();
                } else {
                    self.begun.extend_from_slice(part);
                }
            }
            let consumed = newline.map_or(available.len(), |at| at + 1);
            self.input.consume(consumed);
            if newline.is_none() && !is_end {
                continue;
            }
            if std::mem::take(&mut self.is_skipping) {
                return Some(Line::TooLong);
            }
            let mut line = std::mem::take(&mut self.begun);
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

    #[tokio::test]
    async fn lines_end_with_or_without_a_carriage_return_and_empty_ones_do_not_count() {
        let read = lines(b"a\r\n\n  \n\r\nb\nc", 10).await;
        assert_eq!(read, [whole("a"), whole("b"), whole("c")]);
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_one_and_the_next_is_whole() {
        assert_eq!(
            lines(b"1234\n12345\n1\n12345", 4).await,
            [whole("1234"), Line::TooLong, whole("1"), Line::TooLong]
        );
        let long = [vec![b'x'; 1_000_000], b"\nnext\n".to_vec()].concat();
        assert_eq!(lines(&long, 1000).await, [Line::TooLong, whole("next")]);
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
