//! Keccak-256, as Ethereum has it: the padding is that of before SHA-3.

/// Bytes that go in between two permutations.
const RATE: usize = 136;

const ROUNDS: [u64; 24] = [
    0x0000_0000_0000_0001,
    0x0000_0000_0000_8082,
    0x8000_0000_0000_808A,
    0x8000_0000_8000_8000,
    0x0000_0000_0000_808B,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8009,
    0x0000_0000_0000_008A,
    0x0000_0000_0000_0088,
    0x0000_0000_8000_8009,
    0x0000_0000_8000_000A,
    0x0000_0000_8000_808B,
    0x8000_0000_0000_008B,
    0x8000_0000_0000_8089,
    0x8000_0000_0000_8003,
    0x8000_0000_0000_8002,
    0x8000_0000_0000_0080,
    0x0000_0000_0000_800A,
    0x8000_0000_8000_000A,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8080,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8008,
];

pub fn hash(message: &[u8]) -> [u8; 32] {
    let mut state = [0_u64; 25];
    let mut blocks = message.chunks_exact(RATE);
    for block in blocks.by_ref() {
        absorb(&mut state, block);
    }
    let rest = blocks.remainder();
    let mut last = [0_u8; RATE];
    last[..rest.len()].copy_from_slice(rest);
    last[rest.len()] = 0x01;
    last[RATE - 1] |= 0x80;
    absorb(&mut state, &last);
    let mut hash = [0_u8; 32];
    for (bytes, lane) in hash.chunks_exact_mut(8).zip(state) {
        bytes.copy_from_slice(&lane.to_le_bytes());
    }
    hash
}

fn absorb(state: &mut [u64; 25], block: &[u8]) {
    for (lane, bytes) in state.iter_mut().zip(block.chunks_exact(8)) {
        *lane ^= bytes.iter().rev().fold(0, |lane, byte| lane << 8 | u64::from(*byte));
    }
    ROUNDS.iter().for_each(|constant| round(state, *constant));
}

fn round(state: &mut [u64; 25], constant: u64) {
    // Each column gets the parity of its neighbors.
    let parity: [u64; 5] = std::array::from_fn(|x| (0..5).fold(0, |all, y| all ^ state[x + 5 * y]));
    for (at, lane) in state.iter_mut().enumerate() {
        let x = at % 5;
        *lane ^= parity[(x + 4) % 5] ^ parity[(x + 1) % 5].rotate_left(1);
    }
    // Lanes turn and change places along one path through all of them but the first.
    let (mut x, mut y) = (1, 0);
    let mut lane = state[1];
    for step in 1..=24_u32 {
        (x, y) = (y, (2 * x + 3 * y) % 5);
        lane = std::mem::replace(&mut state[x + 5 * y], lane.rotate_left(step * (step + 1) / 2 % 64));
    }
    for row in state.chunks_exact_mut(5) {
        let before: [u64; 5] = std::array::from_fn(|x| row[x]);
        for (x, lane) in row.iter_mut().enumerate() {
            *lane = before[x] ^ (!before[(x + 1) % 5] & before[(x + 2) % 5]);
        }
    }
    state[0] ^= constant;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(message: &[u8], expected: &str) {
        let hash: String = hash(message).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hash, expected);
    }

    #[test]
    fn hashes_are_those_of_known_messages() {
        check(b"", "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470");
        check(b"abc", "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45");
    }

    #[test]
    fn a_message_may_fill_its_last_block() {
        assert_ne!(hash(&[7; RATE]), hash(&[7; RATE - 1]));
        assert_ne!(hash(&[7; RATE - 1]), hash(&[7; RATE - 2]));
    }
}
