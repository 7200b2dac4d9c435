//! What a program prints while it runs, hidden line by line: a value is rarely longer than its line.

use super::veil::Veil;

/// A line that goes on longer is shown up to here, and then on from its last gap.
const LINE_BYTES_MAX: usize = 64 << 10;

/// Whole lines of one stream.
#[derive(Default)]
pub(crate) struct LiveOutput {
    rest: Vec<u8>,
}

impl LiveOutput {
    /// Takes what was printed and gives what can be shown of it by now.
    pub async fn push(&mut self, veil: &Veil, bytes: &[u8]) -> Vec<u8> {
        self.rest.extend_from_slice(bytes);
        let end = match self.rest.iter().rposition(|byte| *byte == b'\n') {
            Some(at) => at + 1,
            None if self.rest.len() > LINE_BYTES_MAX => {
                self.rest.iter().rposition(u8::is_ascii_whitespace).map_or(self.rest.len(), |at| at + 1)
            }
            None => return Vec::new(),
        };
        let shown: Vec<u8> = self.rest.drain(..end).collect();
        hidden(veil, shown).await
    }

    /// What is left at the end.
    pub async fn finish(&mut self, veil: &Veil) -> Vec<u8> {
        hidden(veil, std::mem::take(&mut self.rest)).await
    }
}

/// Bytes that are no text are shown as such.
async fn hidden(veil: &Veil, bytes: Vec<u8>) -> Vec<u8> {
    if bytes.is_empty() {
        return bytes;
    }
    let mut text = String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    veil.text(&mut text).await;
    text.into_bytes()
}
