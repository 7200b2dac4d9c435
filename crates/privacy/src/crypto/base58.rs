//! Base58 with a checksum: Bitcoin and what came after it.

use sha2::{Digest, Sha256};

use super::keccak;

const BITCOIN: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const RIPPLE: &[u8; 58] = b"rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz";

/// The longest block of bytes that is decoded at once.
const BYTES_MAX: usize = 40;

/// The coin whose address it is.
pub fn checked_coin(word: &str) -> Option<&'static str> {
    let first = *word.as_bytes().first()?;
    if !b"123mnLMDTXtrA97".contains(&first) {
        return None;
    }
    let alphabet = if first == b'r' { RIPPLE } else { BITCOIN };
    let mut bytes = [0_u8; BYTES_MAX];
    let length = decode(word.as_bytes(), alphabet, &mut bytes)?;
    let payload = &bytes[BYTES_MAX - length..];
    let (body, check) = payload.split_at_checked(length.checked_sub(4)?)?;
    let coin = match (first, body) {
        (b'r', [0, ..]) if body.len() == 21 => "crypto-ripple",
        (_, [0x1C, 0xB8 | 0xBD, ..]) if body.len() == 22 => "crypto-zcash",
        (_, [0x00 | 0x05 | 0x6F | 0xC4, ..]) if body.len() == 21 => "crypto-bitcoin",
        (_, [0x30 | 0x32, ..]) if body.len() == 21 => "crypto-litecoin",
        (_, [0x1E | 0x16, ..]) if body.len() == 21 => "crypto-dogecoin",
        (_, [0x41, ..]) if body.len() == 21 => "crypto-tron",
        (_, [0x4C | 0x10, ..]) if body.len() == 21 => "crypto-dash",
        _ => return None,
    };
    let twice = Sha256::digest(Sha256::digest(body));
    (twice[..4] == *check).then_some(coin)
}

/// Whether a word is thirty-two bytes in Bitcoin's alphabet.
pub fn is_key(word: &str) -> bool {
    decode(word.as_bytes(), BITCOIN, &mut [0; BYTES_MAX]) == Some(32)
}

/// Monero writes blocks of eight bytes as eleven characters, and ends with four bytes of a hash.
pub fn monero(word: &str) -> Option<&'static str> {
    if !word.starts_with(['4', '8']) {
        return None;
    }
    let mut all = Vec::with_capacity(80);
    for block in word.as_bytes().chunks(11) {
        let size = if block.len() == 11 { 8 } else { 5 };
        let mut bytes = [0_u8; BYTES_MAX];
        let length = decode(block, BITCOIN, &mut bytes)?;
        if length > size + block.len() {
            return None;
        }
        all.extend_from_slice(&bytes[BYTES_MAX - size..]);
    }
    let (body, check) = all.split_at_checked(all.len().checked_sub(4)?)?;
    (keccak::hash(body)[..4] == *check).then_some("crypto-monero")
}

/// Writes the bytes to the end of `bytes` and tells how many there are, with a zero for each leading first letter.
fn decode(word: &[u8], alphabet: &[u8; 58], bytes: &mut [u8; BYTES_MAX]) -> Option<usize> {
    let mut used = 0;
    for letter in word {
        let mut carry = alphabet.iter().position(|other| other == letter)?;
        let mut at = 0;
        while at < used || carry > 0 {
            if at == BYTES_MAX {
                return None;
            }
            let byte = &mut bytes[BYTES_MAX - 1 - at];
            carry += usize::from(*byte) * 58;
            *byte = (carry & 0xFF) as u8;
            carry >>= 8;
            at += 1;
        }
        used = at;
    }
    let zeros = word.iter().take_while(|letter| **letter == alphabet[0]).count();
    let length = used + zeros;
    (length <= BYTES_MAX).then_some(length)
}
