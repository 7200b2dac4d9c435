//! Takes a key out of what a provider says. Providers repeat keys in their errors, whole or in part.

use std::collections::HashSet;

use gristmill_gateway::domain::one_line;

use crate::limits::REASON_CHARS_MAX;

/// As many characters of a key in a row are a part of it, and no accident.
const PART_BYTES: usize = 8;

const SHOWN: &str = "(secret)";

/// The text on one line, short, and with nothing of the key in it.
pub(crate) fn reason(text: &str, key: Option<&str>) -> String {
    // Before it is cut, so that the cut can't hide the rest of a key.
    one_line(&without_key(text, key), REASON_CHARS_MAX)
}

fn without_key(text: &str, key: Option<&str>) -> String {
    let key = key.unwrap_or_default().trim().as_bytes();
    let length = PART_BYTES.min(key.len());
    // Shorter ones are placeholders for servers that need none.
    if length < 4 {
        return text.to_owned();
    }
    let parts: HashSet<&[u8]> = key.windows(length).collect();
    let mut is_secret = vec![false; text.len()];
    for (at, window) in text.as_bytes().windows(length).enumerate() {
        if parts.contains(window) {
            is_secret[at..at + length].fill(true);
        }
    }
    let mut made = String::with_capacity(text.len());
    let mut was_secret = false;
    for (at, character) in text.char_indices() {
        match (is_secret[at], was_secret) {
            (true, false) => made.push_str(SHOWN),
            (true, true) => {}
            (false, _) => made.push(character),
        }
        was_secret = is_secret[at];
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_taken_out_whole_and_in_part() {
        let key = "sk-proj-abcdefghijklmnop";
        let check = |text: &str, expected: &str| assert_eq!(reason(text, Some(key)), expected);
        check("wrong key sk-proj-abcdefghijklmnop!", "wrong key (secret)!");
        check("wrong key: sk-proj-ab***********mnop", "wrong key: (secret)***********mnop");
        check("…fghijklmnop ends it", "…(secret) ends it");
        check("sk-proj-abcdefghijklmnopsk-proj-abcdefghijklmnop", "(secret)");
        check("no key in it", "no key in it");
        let long = format!("{}{key}", "x".repeat(REASON_CHARS_MAX - 10));
        assert!(!reason(&long, Some(key)).contains("sk-"));
    }

    #[test]
    fn placeholders_of_servers_without_keys_are_no_secrets() {
        assert_eq!(reason("none of it", Some("no")), "none of it");
        assert_eq!(reason("a\nb", None), "a b");
        assert_eq!(reason("hunter is here", Some("hunter")), "(secret) is here");
    }
}
