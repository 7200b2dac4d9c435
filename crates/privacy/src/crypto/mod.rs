//! Addresses of cryptocurrencies, by their checksums.

mod base58;
mod bech32;
mod keccak;

use crate::context::Context;
use crate::finding::Finding;
use crate::kind::Kind;
use crate::topic::Topic;

/// A word as an address.
pub fn read(word: &str, start: usize, context: &Context) -> Option<Finding> {
    let (confidence, rule) = match word.len() {
        42 if word.starts_with("0x") => ethereum(&word[2..], start, context)?,
        14..=110 if word.contains('1') && bech32::coin(word).is_some() => (97, bech32::coin(word)?),
        25..=36 => (97, base58::checked_coin(word)?),
        95 | 106 => (96, base58::monero(word)?),
        // Thirty-two bytes and no checksum: only where somebody says so.
        43 | 44 if context.has(Topic::Crypto, start) && base58::is_key(word) => (75, "crypto-solana"),
        _ => return None,
    };
    Some(Finding::new(Kind::CryptoAddress, start..start + word.len(), confidence, rule))
}

/// Forty hexadecimal digits, whose case is a checksum (EIP-55) unless all of it is one case.
fn ethereum(digits: &str, start: usize, context: &Context) -> Option<(u8, &'static str)> {
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) || digits.bytes().all(|byte| byte == b'0') {
        return None;
    }
    let lower = digits.to_ascii_lowercase();
    let is_one_case = digits == lower || digits == digits.to_ascii_uppercase();
    if is_one_case {
        return Some((if context.has(Topic::Crypto, start) { 95 } else { 70 }, "crypto-ethereum"));
    }
    let hash = keccak::hash(lower.as_bytes());
    let fits = |(at, byte): (usize, u8)| {
        let half = hash[at / 2] >> (if at % 2 == 0 { 4 } else { 0 }) & 0xF;
        byte.is_ascii_digit() || byte.is_ascii_uppercase() == (half > 7)
    };
    digits.bytes().enumerate().all(fits).then_some((98, "crypto-ethereum"))
}
