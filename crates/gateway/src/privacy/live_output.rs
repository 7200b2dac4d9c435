//! What a program prints while it runs, hidden line by line: a value is rarely longer than its line. A private
//! key is, so its lines are held back until it ends.

use super::veil::Veil;

/// A line that goes on longer is shown up to here, and then on from its last gap.
const LINE_BYTES_MAX: usize = 64 << 10;

/// What begins like a private key and isn't over after so many bytes is none, and is shown.
const KEY_BYTES_MAX: usize = 64 << 10;

const KEY_BEGINS: &[u8] = b"-----BEGIN ";
const KEY_ENDS: &[u8] = b"-----END ";
const KEY_LABEL: &[u8] = b"PRIVATE KEY";

/// How far behind its beginning a key's label ends.
const KEY_LABEL_BYTES_MAX: usize = 60;

/// Whole lines of one stream.
#[derive(Default)]
pub(crate) struct LiveOutput {
    rest: Vec<u8>,
}

impl LiveOutput {
    /// Takes what was printed and gives what can be shown of it by now.
    pub async fn push(&mut self, veil: &Veil, bytes: &[u8]) -> Vec<u8> {
        self.rest.extend_from_slice(bytes);
        match self.shown_up_to() {
            0 => Vec::new(),
            end => hidden(veil, self.rest.drain(..end).collect()).await,
        }
    }

    /// What is left at the end.
    pub async fn finish(&mut self, veil: &Veil) -> Vec<u8> {
        hidden(veil, std::mem::take(&mut self.rest)).await
    }

    fn shown_up_to(&self) -> usize {
        let end = match self.rest.iter().rposition(|byte| *byte == b'\n') {
            Some(at) => at + 1,
            None if self.rest.len() > LINE_BYTES_MAX => {
                self.rest.iter().rposition(u8::is_ascii_whitespace).map_or(self.rest.len(), |at| at + 1)
            }
            None => 0,
        };
        let whole = &self.rest[..end];
        open_key(whole).filter(|key| end - key <= KEY_BYTES_MAX).unwrap_or(end)
    }
}

/// Where the line is that begins a private key whose end isn't there yet.
fn open_key(lines: &[u8]) -> Option<usize> {
    let last = |wanted: &[u8]| lines.windows(wanted.len()).rposition(|window| window == wanted);
    let begin = last(KEY_BEGINS)?;
    let label = lines[begin..].iter().take(KEY_LABEL_BYTES_MAX).copied().collect::<Vec<u8>>();
    let is_key = label.windows(KEY_LABEL.len()).any(|window| window == KEY_LABEL);
    if !is_key || last(KEY_ENDS).is_some_and(|end| end > begin) {
        return None;
    }
    Some(lines[..begin].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{Caller, Owner};
    use crate::privacy::{Privacy, PrivacySettings, Vault};
    use gristmill_domain::Level;

    fn veil() -> Veil {
        let vault = Vault::open(None, None).unwrap();
        let privacy = Privacy::new(PrivacySettings::of(Level::Production), vault).unwrap();
        privacy.veil_for(&Caller::of(Owner::local()))
    }

    async fn shown(lines: &[&str]) -> Vec<String> {
        let (veil, mut live, mut shown) = (veil(), LiveOutput::default(), Vec::new());
        for line in lines {
            shown.push(String::from_utf8(live.push(&veil, line.as_bytes()).await).unwrap());
        }
        shown.push(String::from_utf8(live.finish(&veil).await).unwrap());
        shown
    }

    #[tokio::test]
    async fn a_private_key_that_is_printed_line_by_line_is_hidden_whole() {
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n";
        let key = ["-----BEGIN RSA PRIVATE KEY-----\n", body, body, "-----END RSA PRIVATE KEY-----\n"];
        let all = shown(&["before\n", key[0], key[1], key[2], key[3], "after\n"]).await;
        assert_eq!((all[0].as_str(), all[1].as_str(), all[2].as_str()), ("before\n", "", ""));
        assert!(all[4].starts_with("[SECRET_") && all[4].ends_with("]\n"), "{all:?}");
        assert_eq!(all[5], "after\n");
        let cut = shown(&[key[0], key[1]]).await.concat();
        assert!(!cut.contains("MII"), "one that never ends is hidden at the end: {cut}");
    }

    #[tokio::test]
    async fn what_only_begins_like_a_key_is_held_back_no_longer_than_a_key_is() {
        let begins = "-----BEGIN PRIVATE KEY-----\n";
        let line = format!("{}\n", "word ".repeat(2_000));
        let mut lines = vec![begins];
        lines.extend(std::iter::repeat_n(line.as_str(), 10));
        let all = shown(&lines).await;
        assert!(all[..5].iter().all(String::is_empty) && !all[8].is_empty() && !all[10].is_empty());
        let other = shown(&["-----BEGIN CERTIFICATE-----\n", "x\n"]).await;
        assert_eq!(other, ["-----BEGIN CERTIFICATE-----\n", "x\n", ""]);
    }
}
