//! Bech32 and bech32m (BIP 173 and 350).

const ALPHABET: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";

/// What stands before the `1`, and whose address it then is.
const COINS: &[(&str, &str)] = &[
    ("bc", "crypto-bitcoin"),
    ("tb", "crypto-bitcoin"),
    ("bcrt", "crypto-bitcoin"),
    ("ltc", "crypto-litecoin"),
    ("addr", "crypto-cardano"),
    ("stake", "crypto-cardano"),
    ("cosmos", "crypto-cosmos"),
    ("osmo", "crypto-cosmos"),
    ("bnb", "crypto-binance"),
    ("terra", "crypto-terra"),
];

/// The coin whose address it is, if the checksum fits.
pub fn coin(word: &str) -> Option<&'static str> {
    let is_mixed = word.bytes().any(|byte| byte.is_ascii_uppercase())
        && word.bytes().any(|byte| byte.is_ascii_lowercase());
    if is_mixed {
        return None;
    }
    let lower = word.to_ascii_lowercase();
    let (prefix, data) = lower.rsplit_once('1')?;
    let (_, coin) = COINS.iter().find(|(known, _)| *known == prefix)?;
    if data.len() < 8 {
        return None;
    }
    let values: Option<Vec<u32>> = data
        .bytes()
        .map(|byte| ALPHABET.iter().position(|letter| *letter == byte).map(|value| value as u32))
        .collect();
    let high = prefix.bytes().map(|byte| u32::from(byte >> 5));
    let low = prefix.bytes().map(|byte| u32::from(byte & 31));
    let all = high.chain([0]).chain(low).chain(values?);
    // 1 ends bech32, the other bech32m.
    matches!(checksum(all), 1 | 0x2BC8_30A3).then_some(*coin)
}

fn checksum(values: impl Iterator<Item = u32>) -> u32 {
    const GENERATOR: [u32; 5] = [0x3B6A_57B2, 0x2650_8E6D, 0x1EA1_19FA, 0x3D42_33DD, 0x2A14_62B3];
    values.fold(1, |sum, value| {
        let top = sum >> 25;
        let next = (sum & 0x01FF_FFFF) << 5 ^ value;
        GENERATOR
            .iter()
            .enumerate()
            .fold(next, |next, (bit, term)| if top >> bit & 1 == 1 { next ^ term } else { next })
    })
}
