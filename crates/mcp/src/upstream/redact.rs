//! Takes secrets out of what a server says. A server knows the secrets that it was given, and some
//! show them to whoever asks: what we put in must not come back to a program, a model or a log.

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use gristmill_gateway::upstream::{ServerFacts, UpstreamFailure};
use gristmill_json_text::{string_at, strings};
use parking_lot::RwLock;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::secret_search::{NoRoom, SECRET_CHARS_MIN, SecretSearch};

/// JSON in text in JSON, and so on: so deep is looked.
const NESTED_MAX: usize = 3;

/// Bytes as the protocol writes them, however their end is padded.
const CONFIG: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const BYTES: GeneralPurpose = GeneralPurpose::new(&STANDARD, CONFIG);
const BYTES_FOR_URLS: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, CONFIG);

/// What stands for anything that a server says once a secret found no room.
const WITHHELD: &str = "[withheld: too many secrets]";

/// The secrets that one server was given. Clones know the same secrets.
#[derive(Clone, Default)]
pub(crate) struct Redactor {
    known: Arc<RwLock<Known>>,
}

#[derive(Default)]
struct Known {
    search: SecretSearch,
    /// A secret found no room: nothing that the server says can be trusted to be without it.
    is_incomplete: bool,
}

impl Redactor {
    /// One more secret. `name` is what is shown instead. If there is no room for it, nothing that the
    /// server says passes any more.
    pub(crate) fn add(&self, name: &str, value: &str) {
        let value = value.trim();
        if value.chars().count() < SECRET_CHARS_MIN {
            return;
        }
        let shown: String = name
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':'))
            .collect();
        let shown = format!("[secret {shown}]");
        let mut known = self.known.write();
        for secret in spellings(value) {
            known.is_incomplete |= known.search.add(secret, &shown) == Err(NoRoom);
        }
    }

    /// Whether every secret is looked for; if not, what to do about it.
    pub(crate) fn check(&self) -> Result<(), UpstreamFailure> {
        match self.known.read().is_incomplete {
            false => Ok(()),
            true => Err(UpstreamFailure::BadAnswer(
                "what it says is withheld: it was given more secrets than can be searched for; \
                 restart gristmill, and give the server fewer"
                    .to_owned(),
            )),
        }
    }

    /// The text without the secrets.
    pub(crate) fn clean<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let known = self.known.read();
        match known.is_incomplete {
            true => Cow::Borrowed(WITHHELD),
            false => known.search.replaced(text),
        }
    }

    /// JSON without the secrets, which is still JSON.
    pub(crate) fn clean_json(&self, raw: String) -> String {
        let (is_empty, is_incomplete) = {
            let known = self.known.read();
            (known.search.is_empty(), known.is_incomplete)
        };
        if is_incomplete {
            return "null".to_owned();
        }
        if is_empty {
            return raw;
        }
        let raw = self.clean_strings(&raw, NESTED_MAX).unwrap_or(raw);
        match self.clean(&raw) {
            Cow::Borrowed(_) => raw,
            Cow::Owned(cleaned) if serde_json::from_str::<IgnoredAny>(&cleaned).is_ok() => cleaned,
            // One of them stands in a number.
            Cow::Owned(_) => match serde_json::from_str(&raw) {
                Ok(value) => self.clean_value(value).to_string(),
                Err(_) => "null".to_owned(),
            },
        }
    }

    /// Looks at what each string stands for, however it is written. `None` if nothing was found.
    fn clean_strings(&self, json: &str, nested: usize) -> Option<String> {
        let mut cleaned: Option<String> = None;
        let mut copied = 0;
        for span in strings(json.as_bytes()) {
            let written = || Cow::Borrowed(&json[span.start + 1..span.end - 1]);
            let decoded = string_at(json, span.start).map_or_else(|_| written(), |(string, _)| string);
            if let Some(text) = self.clean_decoded(&decoded, nested) {
                let made = cleaned.get_or_insert_default();
                made.push_str(&json[copied..span.start]);
                made.push_str(&Value::from(text).to_string());
                copied = span.end;
            }
        }
        if let Some(made) = &mut cleaned {
            made.push_str(&json[copied..]);
        }
        cleaned
    }

    /// A text that may be JSON itself.
    fn clean_decoded(&self, text: &str, nested: usize) -> Option<String> {
        let is_json = nested > 0
            && text.contains('\\')
            && text.trim_start().starts_with(['{', '['])
            && serde_json::from_str::<IgnoredAny>(text).is_ok();
        let inner = if is_json { self.clean_strings(text, nested - 1) } else { self.clean_bytes(text) };
        match self.clean(inner.as_deref().unwrap_or(text)) {
            Cow::Owned(cleaned) => Some(cleaned),
            Cow::Borrowed(_) => inner,
        }
    }

    /// A text that may be bytes in base64: those of an image, of a resource, or whatever a server writes so. The
    /// program gets them decoded.
    fn clean_bytes(&self, text: &str) -> Option<String> {
        let belongs =
            |byte: u8| byte.is_ascii_alphanumeric() || b"+/-_=".contains(&byte) || byte.is_ascii_whitespace();
        if text.len() < SECRET_CHARS_MIN / 3 * 4 || !text.bytes().all(belongs) {
            return None;
        }
        // Some libraries break it into lines.
        let written: Cow<'_, [u8]> = match text.bytes().any(|byte| byte.is_ascii_whitespace()) {
            true => text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect(),
            false => text.as_bytes().into(),
        };
        let is_for_urls = written.iter().any(|byte| matches!(byte, b'-' | b'_'));
        let engine = if is_for_urls { &BYTES_FOR_URLS } else { &BYTES };
        let bytes = engine.decode(&*written).ok()?;
        let cleaned = self.known.read().search.replaced_in_bytes(&bytes)?;
        Some(engine.encode(cleaned))
    }

    /// Parsed JSON has a bounded depth.
    fn clean_value(&self, value: Value) -> Value {
        match value {
            Value::Number(number) => match self.clean(&number.to_string()) {
                Cow::Borrowed(_) => Value::Number(number),
                Cow::Owned(cleaned) => cleaned.into(),
            },
            Value::String(text) => self.clean(&text).into(),
            Value::Array(items) => items.into_iter().map(|item| self.clean_value(item)).collect(),
            Value::Object(members) => {
                let cleaned = |(name, member): (String, Value)| {
                    (self.clean(&name).into_owned(), self.clean_value(member))
                };
                Value::Object(members.into_iter().map(cleaned).collect())
            }
            Value::Null | Value::Bool(_) => value,
        }
    }

    /// What a server says about itself, without the secrets.
    pub(crate) fn clean_facts(&self, facts: ServerFacts) -> ServerFacts {
        let clean = |text: Option<String>| text.map(|text| self.clean(&text).into_owned());
        ServerFacts {
            title: clean(facts.title),
            version: clean(facts.version),
            instructions: clean(facts.instructions),
            protocol: facts.protocol,
        }
    }

    /// A failure in the server's words, without the secrets.
    pub(crate) fn clean_failure(&self, failure: UpstreamFailure) -> UpstreamFailure {
        if let Err(withheld) = self.check() {
            return withheld;
        }
        let clean = |text: String| self.clean(&text).into_owned();
        match failure {
            UpstreamFailure::Down(text) => UpstreamFailure::Down(clean(text)),
            UpstreamFailure::Lost(text) => UpstreamFailure::Lost(clean(text)),
            UpstreamFailure::LoginNeeded(text) => UpstreamFailure::LoginNeeded(clean(text)),
            UpstreamFailure::BadAnswer(text) => UpstreamFailure::BadAnswer(clean(text)),
            UpstreamFailure::Refused { code, message } => {
                UpstreamFailure::Refused { code, message: clean(message) }
            }
            UpstreamFailure::Timeout { limit_ms } => UpstreamFailure::Timeout { limit_ms },
        }
    }
}

/// A secret as it may stand in a message: as it is, as JSON writes it in one way or the other, and as
/// JSON writes text that is JSON itself.
fn spellings(value: &str) -> Vec<String> {
    let plain = quoted(value);
    let written = [beyond_ascii(&plain, false), beyond_ascii(&plain, true), plain.replace('/', r"\/"), plain];
    let mut all: Vec<String> = written.iter().map(|once| quoted(once)).collect();
    all.extend(written);
    all.push(value.to_owned());
    all.sort();
    all.dedup();
    all
}

/// As it stands between the quotes of a JSON string.
fn quoted(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// With everything but ASCII as escapes, which is how many libraries write.
fn beyond_ascii(text: &str, capitals: bool) -> String {
    let mut written = String::new();
    for character in text.chars() {
        if character.is_ascii() {
            written.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            written.push_str(&if capitals { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") });
        }
    }
    written
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Redactor(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_replaced_by_their_names() {
        let redactor = Redactor::default();
        redactor.add("env:TOKEN", "hunter2hunter2");
        redactor.add("file:~/key", "pa\"ss\\word\n");
        redactor.add("env:SHORT", "abc");
        assert_eq!(redactor.clean(r#"{"TOKEN":"hunter2hunter2"}"#), r#"{"TOKEN":"[secret env:TOKEN]"}"#);
        assert_eq!(redactor.clean(r#"x pa\"ss\\word y"#), "x [secret file:key] y");
        assert_eq!(redactor.clean("abc nothing here"), "abc nothing here");
        assert!(!format!("{redactor:?}").contains("hunter2"));
    }

    #[test]
    fn door_9_the_newest_secrets_are_replaced_however_many_came_before() {
        let redactor = Redactor::default();
        for number in 0..2_000 {
            redactor.add("login", &format!("ü/token-{number:06}"));
        }
        for number in [0, 511, 1_999] {
            let said = format!("{{\"a\":\"ü/token-{number:06}\"}}");
            assert_eq!(redactor.clean_json(said), r#"{"a":"[secret login]"}"#);
        }
        assert_eq!(redactor.check(), Ok(()));
    }

    #[test]
    fn once_a_secret_finds_no_room_nothing_that_the_server_says_passes() {
        let redactor = Redactor::default();
        redactor.known.write().search = SecretSearch::within(40);
        redactor.add("a", "first-secret");
        assert_eq!(redactor.clean("x first-secret"), "x [secret a]");
        redactor.add("b", "another-secret");
        assert_eq!(redactor.clean("x first-secret another-secret"), WITHHELD);
        assert_eq!(redactor.clean_json(r#"{"a":"another-secret"}"#.to_owned()), "null");
        let failed = redactor.clean_failure(UpstreamFailure::Lost("another-secret".to_owned()));
        assert!(failed.to_string().contains("restart gristmill"), "{failed}");
        assert!(redactor.check().is_err());
    }

    #[test]
    fn json_stays_json_when_a_secret_is_a_number() {
        let redactor = Redactor::default();
        redactor.add("env:PIN", "123456");
        let clean = |raw: &str| redactor.clean_json(raw.to_owned());
        assert_eq!(clean(r#"{"n": 1.50, "m": 7}"#), r#"{"n": 1.50, "m": 7}"#);
        assert_eq!(clean(r#"{"a":"123456", "b": 1.50}"#), r#"{"a":"[secret env:PIN]", "b": 1.50}"#);
        let mixed = r#"{"123456":[123456,91234567890987,"123456",1.50,null]}"#;
        let expected = r#"{"[secret env:PIN]":["[secret env:PIN]","9[secret env:PIN]7890987","[secret env:PIN]",1.50,null]}"#;
        assert_eq!(clean(mixed), expected);
    }

    #[test]
    fn a_secret_among_bytes_in_base64_is_replaced_there() {
        let redactor = Redactor::default();
        redactor.add("env:TOKEN", "hunter2hunter2");
        let bytes = |of: &[u8]| BYTES.encode(of);
        let answer = |image: &str, blob: &str| {
            serde_json::json!({"content": [
                {"type": "image", "data": image, "mimeType": "image/png"},
                {"type": "resource", "resource": {"uri": "a:b", "blob": blob}},
            ]})
        };
        let (image, blob) = (bytes(b"\x89PNG\xff hunter2hunter2\0"), bytes(b"key=hunter2hunter2\n"));
        let expected =
            answer(&bytes(b"\x89PNG\xff [secret env:TOKEN]\0"), &bytes(b"key=[secret env:TOKEN]\n"));
        let cleaned = |said: Value| -> Value {
            serde_json::from_str(&redactor.clean_json(said.to_string())).expect("still JSON")
        };
        assert_eq!(cleaned(answer(&image, &blob)), expected);
        let (head, tail) = image.split_at(8);
        let (lines, bare) = (format!("{head}\r\n{tail}\n"), blob.trim_end_matches('='));
        assert_eq!(cleaned(answer(&lines, bare)), expected, "in lines, and without padding");
        let clean = answer(&bytes(b"\x89PNG\xff hunter\0"), "no base64, hunter");
        assert_eq!(redactor.clean_json(clean.to_string()), clean.to_string(), "what has none stays as it is");
    }

    #[test]
    fn secrets_are_found_however_json_writes_them() {
        let redactor = Redactor::default();
        let secret = "a\"b\\ü/😀-token";
        redactor.add("env:TOKEN", secret);
        let value = serde_json::json!({ "API_TOKEN": secret });
        let text = value.to_string();
        // Text that is JSON, in a message that is JSON.
        let nested = serde_json::json!({ "text": text }).to_string();
        let python = r#"{"API_TOKEN": "a\"b\\\u00fc/\ud83d\ude00-token"}"#;
        let nested_python = serde_json::json!({ "text": python }).to_string();
        let php = r#"{"API_TOKEN":"a\"b\\ü\/😀-token"}"#;
        // Whatever a library thinks must be escaped.
        let odd = r#"{"API_TOKEN":"\u0061\u0022b\u005C\u00fc/\uD83D\ude00\u002dtoken"}"#;
        let nested_odd = serde_json::json!({ "text": serde_json::json!([odd]).to_string() }).to_string();
        for message in
            [text, nested, python.to_owned(), nested_python, php.to_owned(), odd.to_owned(), nested_odd]
        {
            assert!(serde_json::from_str::<Value>(&message).is_ok(), "{message}");
            let cleaned = redactor.clean_json(message);
            assert!(cleaned.contains("[secret env:TOKEN]") && !cleaned.contains("-token"), "{cleaned}");
        }
    }
}
