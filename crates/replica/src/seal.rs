//! The key that the machines share: what goes into the log is sealed with it, and contents are named by it.
//!
//! Walls: whoever carries the log and lacks the key can neither read nor change an entry, nor put it in the place of
//! another, nor tell from a name whether it is that of a content they know. The key is wiped when it is dropped, and
//! never printed.

use std::fmt;

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

const KEY_BYTES: usize = 32;

/// In front of what is sealed, so that a later version can seal in another way.
const FORMAT: u8 = 1;

/// Each message has a key of its own that follows from these, which never repeat: so one nonce will do for all.
const SALT_BYTES: usize = 32;
const HEADER_BYTES: usize = 1 + SALT_BYTES;

/// By how much a message grows when it is sealed.
pub const SEALED_BYTES_MORE: usize = HEADER_BYTES + 16;

const SEALING: &str = "gristmill 2026 replica: keys of sealed messages";
const NAMING: &str = "gristmill 2026 replica: names of contents";
const TELLING: &str = "gristmill 2026 replica: telling keys apart";

/// A text that is no key. The text itself is never repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealKeyError {
    #[error("it isn't a key: expected 32 bytes, as 64 hexadecimal digits or in base64")]
    NotAKey,
}

/// A message that was not sealed or opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    #[error("the system random source failed; try again")]
    Randomness,
    /// No message of ours is so large.
    #[error("{what} is too large to be sealed")]
    TooLarge { what: String },
    /// Nothing of it is used.
    #[error(
        "{what} was sealed by another version of gristmill (format {format}); run the same version on all machines"
    )]
    OtherFormat { what: String, format: u8 },
    /// Nothing of it is used.
    #[error("can't open {what}: it was sealed with another key than {key}, or changed on its way")]
    Refused { what: String, key: String },
}

/// See the module.
#[derive(Clone)]
pub struct Seal {
    sealing: Zeroizing<[u8; KEY_BYTES]>,
    naming: Zeroizing<[u8; KEY_BYTES]>,
    id: [u8; 4],
}

impl Seal {
    /// A new key as a text, to be kept in a file or by a secret store, and read by [`Seal::read`].
    pub fn generate() -> Result<Zeroizing<String>, SealError> {
        let mut material = Zeroizing::new([0_u8; KEY_BYTES]);
        getrandom::fill(&mut *material).map_err(|_| SealError::Randomness)?;
        Ok(Zeroizing::new(hexadecimal(&*material)))
    }

    /// The key in a text: 32 bytes in hexadecimal digits or in base64, of either alphabet.
    pub fn read(text: &str) -> Result<Self, SealKeyError> {
        let text = text.trim();
        let material = match text.len() {
            64 => from_hexadecimal(text),
            _ => from_base64(text),
        };
        material.map(|material| Self::of(&material)).ok_or(SealKeyError::NotAKey)
    }

    /// The seal of this key material.
    pub fn of(material: &[u8; KEY_BYTES]) -> Self {
        let derive = |purpose: &str| blake3::derive_key(purpose, material);
        let [a, b, c, d, ..] = derive(TELLING);
        Self {
            sealing: Zeroizing::new(derive(SEALING)),
            naming: Zeroizing::new(derive(NAMING)),
            id: [a, b, c, d],
        }
    }

    /// Eight hexadecimal digits that differ for another key, and tell nothing of this one.
    pub fn id(&self) -> String {
        hexadecimal(&self.id)
    }

    /// Seals a message. `what` says which one it is, such as `entry 17 of team`: it opens as that one only.
    pub fn seal(&self, what: &str, plain: &[u8]) -> Result<Vec<u8>, SealError> {
        let mut salt = [0; SALT_BYTES];
        getrandom::fill(&mut salt).map_err(|_| SealError::Randomness)?;
        let too_large = |_| SealError::TooLarge { what: what.to_owned() };
        let key = self.key_for(&salt).map_err(too_large)?;
        let mut sealed = Vec::with_capacity(plain.len() + SEALED_BYTES_MORE);
        sealed.push(FORMAT);
        sealed.extend_from_slice(&salt);
        sealed.extend_from_slice(plain);
        let body = sealed.get_mut(HEADER_BYTES..).unwrap_or_default();
        let tag = key.seal_in_place_separate_tag(nonce(), Aad::from(what.as_bytes()), body);
        sealed.extend_from_slice(tag.map_err(too_large)?.as_ref());
        Ok(sealed)
    }

    /// What was sealed as exactly this, by whoever has the key.
    pub fn open(&self, what: &str, sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        let refused = || SealError::Refused { what: what.to_owned(), key: self.id() };
        let (&format, rest) = sealed.split_first().ok_or_else(refused)?;
        if format != FORMAT {
            return Err(SealError::OtherFormat { what: what.to_owned(), format });
        }
        let (salt, body) = rest.split_first_chunk::<SALT_BYTES>().ok_or_else(refused)?;
        let key = self.key_for(salt).map_err(|_| refused())?;
        let mut body = body.to_vec();
        let plain = key.open_in_place(nonce(), Aad::from(what.as_bytes()), &mut body);
        let length = plain.map_err(|_| refused())?.len();
        body.truncate(length);
        Ok(body)
    }

    /// What a content is named by.
    pub fn content_hash(&self, content: &[u8]) -> ContentHash {
        let mut hasher = self.content_hasher();
        hasher.update(content);
        hasher.finish()
    }

    /// The same, for a content that comes piece by piece.
    pub fn content_hasher(&self) -> ContentHasher {
        ContentHasher(blake3::Hasher::new_keyed(&self.naming))
    }

    fn key_for(&self, salt: &[u8; SALT_BYTES]) -> Result<LessSafeKey, ring::error::Unspecified> {
        let key = Zeroizing::new(*blake3::keyed_hash(&self.sealing, salt).as_bytes());
        UnboundKey::new(&CHACHA20_POLY1305, &*key).map(LessSafeKey::new)
    }
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Seal({})", self.id())
    }
}

/// The name of a content: two contents have the same one only if they are equal, and nobody without the key can tell
/// the name of a content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ContentHash(pub [u8; KEY_BYTES]);

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hexadecimal(&self.0))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({self})")
    }
}

/// See [`Seal::content_hasher`].
pub struct ContentHasher(blake3::Hasher);

impl ContentHasher {
    pub fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    /// The name of all that came until now.
    pub fn finish(&self) -> ContentHash {
        ContentHash(*self.0.finalize().as_bytes())
    }
}

impl fmt::Debug for ContentHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ContentHasher")
    }
}

/// The key of a message is used once.
fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; NONCE_LEN])
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn from_hexadecimal(text: &str) -> Option<Zeroizing<[u8; KEY_BYTES]>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut bytes = Zeroizing::new([0; KEY_BYTES]);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != KEY_BYTES || !rest.is_empty() {
        return None;
    }
    for ([high, low], byte) in pairs.iter().zip(bytes.iter_mut()) {
        *byte = digit(high)? << 4 | digit(low)?;
    }
    Some(bytes)
}

/// 43 digits and perhaps a `=` behind them; what 32 bytes have no room for must be zero.
fn from_base64(text: &str) -> Option<Zeroizing<[u8; KEY_BYTES]>> {
    let digits = text.strip_suffix('=').unwrap_or(text).as_bytes();
    if digits.len() != 43 {
        return None;
    }
    let mut bytes = Zeroizing::new([0; KEY_BYTES]);
    let (mut bits, mut count, mut next) = (0_u32, 0, bytes.iter_mut());
    for digit in digits {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            *next.next()? = u8::try_from(bits >> count & 0xff).ok()?;
            bits &= (1 << count) - 1;
        }
    }
    (bits == 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seal() -> Seal {
        Seal::of(&[7; KEY_BYTES])
    }

    #[test]
    fn a_key_is_read_from_hexadecimal_digits_and_from_base64() {
        let material: [u8; KEY_BYTES] = std::array::from_fn(|at| (at as u8).wrapping_mul(9).wrapping_add(3));
        let expected = Seal::of(&material).id();
        let check =
            |text: &str| assert_eq!(Seal::read(text).map(|seal| seal.id()), Ok(expected.clone()), "{text}");
        check(&hexadecimal(&material));
        check(&format!("  {}\n", hexadecimal(&material).to_uppercase()));
        check("AwwVHicwOUJLVF1mb3iBipOcpa63wMnS2-Tt9v8IERo");
        check("AwwVHicwOUJLVF1mb3iBipOcpa63wMnS2+Tt9v8IERo=");
    }

    #[test]
    fn anything_else_is_no_key_and_is_not_repeated() {
        let wrong = [
            "",
            "secret",
            &"g".repeat(64),
            &"0".repeat(63),
            &"0".repeat(66),
            &"A".repeat(42),
            // A bit more than 32 bytes.
            &format!("{}B", "A".repeat(42)),
            &"ä".repeat(32),
        ];
        for text in wrong {
            assert_eq!(Seal::read(text).err(), Some(SealKeyError::NotAKey), "{text}");
        }
        assert!(!SealKeyError::NotAKey.to_string().contains("secret"));
    }

    #[test]
    fn a_new_key_is_another_one_each_time() {
        let (one, other) = (Seal::generate().expect("a key"), Seal::generate().expect("a key"));
        let id = |text: &str| Seal::read(text).expect("a key").id();
        assert_ne!(id(&one), id(&other));
        assert_eq!(id(&one).len(), 8);
    }

    #[test]
    fn printing_it_for_debugging_shows_no_key() {
        assert_eq!(format!("{:?}", seal()), format!("Seal({})", seal().id()));
        let key = hexadecimal(&[7; KEY_BYTES]);
        assert!(!key.contains(&seal().id()));
    }

    #[test]
    fn a_message_is_sealed_differently_each_time() {
        let (one, other) =
            (seal().seal("m", b"same").expect("sealed"), seal().seal("m", b"same").expect("sealed"));
        assert_ne!(one, other);
        assert_eq!(one.len(), 4 + SEALED_BYTES_MORE);
    }

    #[test]
    fn another_format_is_told_from_damage() {
        let mut sealed = seal().seal("entry 1", b"text").expect("sealed");
        if let Some(format) = sealed.first_mut() {
            *format = 9;
        }
        let refused = seal().open("entry 1", &sealed).expect_err("another format");
        assert_eq!(refused, SealError::OtherFormat { what: "entry 1".to_owned(), format: 9 });
    }

    #[test]
    fn the_name_of_a_content_differs_by_key() {
        assert_eq!(seal().content_hash(b"content"), seal().content_hash(b"content"));
        assert_ne!(seal().content_hash(b"content"), Seal::of(&[8; KEY_BYTES]).content_hash(b"content"));
        assert_ne!(seal().content_hash(b"content").0, *blake3::hash(b"content").as_bytes());
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_message_opens_as_what_it_was_sealed_and_not_otherwise(
            plain in proptest::collection::vec(any::<u8>(), 0..600),
            bit in any::<proptest::sample::Index>(),
        ) {
            let sealed = seal().seal("entry 17 of team", &plain).expect("sealed");
            prop_assert_eq!(seal().open("entry 17 of team", &sealed), Ok(plain));
            prop_assert!(seal().open("entry 18 of team", &sealed).is_err());
            prop_assert!(Seal::of(&[8; KEY_BYTES]).open("entry 17 of team", &sealed).is_err());
            let mut flipped = sealed.clone();
            let bit = bit.index(flipped.len() * 8);
            flipped[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(seal().open("entry 17 of team", &flipped).is_err());
            let (cut, _) = sealed.split_at(bit / 8);
            prop_assert!(seal().open("entry 17 of team", cut).is_err());
        }

        #[test]
        fn random_bytes_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(seal().open("entry", &bytes).is_err());
        }
    }
}
