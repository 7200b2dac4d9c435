//! Changes inputs at random: bits, bytes, boundary numbers, words of the format, pieces of other inputs.

use crate::random::Random;

/// Numbers at which sizes, counts and offsets go wrong, as text.
const NUMBER_TEXTS: [&str; 14] = [
    "0",
    "-1",
    "1",
    "127",
    "128",
    "255",
    "65536",
    "2147483647",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "-9223372036854775809",
    "1e308",
    "0.1e-400",
];

/// The same as bytes.
const NUMBERS: [u64; 12] = [
    0,
    1,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    u64::MAX,
];

/// Bytes that mean something to most readers.
const BYTES: &[u8] = b"\0\t\n\r \"'#%&()*+,-./0:;<=>?@[\\]^_`{|}~\x7f\x80\xbf\xc3\xe2\xef\xf0\xff";

/// One change after the other at most.
const CHANGES_MAX: usize = 6;

pub struct Mutator<'a> {
    random: Random,
    dictionary: &'a [&'a [u8]],
    bytes_max: usize,
}

impl<'a> Mutator<'a> {
    pub fn new(seed: u64, dictionary: &'a [&'a [u8]], bytes_max: usize) -> Self {
        Self { random: Random::new(seed), dictionary, bytes_max }
    }

    /// A changed copy of one of the pool, never longer than allowed.
    pub fn next(&mut self, pool: &[Vec<u8>]) -> Vec<u8> {
        // Those that came last got furthest.
        let recent = if self.random.one_in(2) { pool } else { &pool[pool.len() - pool.len().div_ceil(4)..] };
        let mut input = self.random.pick(recent).cloned().unwrap_or_default();
        for _ in 0..=self.random.below(CHANGES_MAX) {
            self.change(&mut input, pool);
        }
        input.truncate(self.bytes_max);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>, pool: &[Vec<u8>]) {
        let at = self.random.below(input.len() + 1);
        match self.random.below(11) {
            0 => self.flip_bit(input, at),
            1 => self.set_byte(input, at),
            2 => {
                let byte = self.byte();
                input.insert(at, byte);
            }
            3 => self.remove(input, at),
            4 => self.repeat(input, at),
            5 => self.overwrite_number(input, at),
            6 => self.replace_number_text(input, at),
            7 | 8 => self.insert_word(input, at),
            9 => self.splice(input, at, pool),
            _ => self.swap(input, at),
        }
    }

    fn byte(&mut self) -> u8 {
        match self.random.one_in(3) {
            true => self.random.number() as u8,
            false => self.random.pick(BYTES).copied().unwrap_or_default(),
        }
    }

    fn flip_bit(&mut self, input: &mut [u8], at: usize) {
        let bit = self.random.below(8);
        if let Some(byte) = input.get_mut(at) {
            *byte ^= 1 << bit;
        }
    }

    fn set_byte(&mut self, input: &mut [u8], at: usize) {
        let new = self.byte();
        if let Some(byte) = input.get_mut(at) {
            *byte = new;
        }
    }

    fn remove(&mut self, input: &mut Vec<u8>, at: usize) {
        let length = self.length(input.len() - at);
        input.drain(at..at + length);
    }

    /// The same piece again, a few times.
    fn repeat(&mut self, input: &mut Vec<u8>, at: usize) {
        let length = self.length(input.len() - at);
        let times = 1 + if self.random.one_in(8) { self.random.below(200) } else { self.random.below(3) };
        let room = self.bytes_max.saturating_sub(input.len());
        let piece: Vec<u8> = input[at..at + length].iter().copied().cycle().take(length * times).collect();
        input.splice(at..at, piece.into_iter().take(room));
    }

    fn overwrite_number(&mut self, input: &mut [u8], at: usize) {
        let number = self.random.pick(&NUMBERS).copied().unwrap_or_default();
        let width = [1, 2, 4, 8][self.random.below(4)];
        let bytes =
            if self.random.one_in(2) { number.to_le_bytes() } else { number.swap_bytes().to_le_bytes() };
        let bytes = if self.random.one_in(2) { &bytes[..width] } else { &bytes[8 - width..] };
        for (to, from) in input.iter_mut().skip(at).zip(bytes) {
            *to = *from;
        }
    }

    /// The digits at or after the place become another number.
    fn replace_number_text(&mut self, input: &mut Vec<u8>, at: usize) {
        let number = self.random.pick(&NUMBER_TEXTS).copied().unwrap_or_default();
        let from = input.iter().skip(at).position(u8::is_ascii_digit).map_or(at, |offset| at + offset);
        let digits = input.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
        input.splice(from..from + digits, number.bytes());
    }

    fn insert_word(&mut self, input: &mut Vec<u8>, at: usize) {
        let Some(word) = self.random.pick(self.dictionary).copied() else { return };
        let end = match self.random.one_in(2) {
            true => at,
            false => input.len().min(at + word.len()),
        };
        input.splice(at..end, word.iter().copied());
    }

    /// A piece of another input, in place of what follows or before it.
    fn splice(&mut self, input: &mut Vec<u8>, at: usize, pool: &[Vec<u8>]) {
        let Some(other) = self.random.pick(pool) else { return };
        let from = self.random.below(other.len() + 1);
        let length = self.length(other.len() - from);
        let end = if self.random.one_in(2) { at } else { input.len().min(at + length) };
        input.splice(at..end, other[from..from + length].iter().copied());
    }

    fn swap(&mut self, input: &mut [u8], at: usize) {
        let other = self.random.below(input.len());
        if at < input.len() {
            input.swap(at, other);
        }
    }

    /// Mostly short, up to all that there is.
    fn length(&mut self, most: usize) -> usize {
        let most = if self.random.one_in(4) { most } else { most.min(24) };
        self.random.below(most + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_stay_within_their_bound_and_differ() {
        let pool = vec![b"{\"size\": 1000}".to_vec(), Vec::new(), vec![7; 100]];
        let mut mutator = Mutator::new(3, &[b"word"], 120);
        let inputs: std::collections::HashSet<Vec<u8>> = (0..2000).map(|_| mutator.next(&pool)).collect();
        assert!(inputs.iter().all(|input| input.len() <= 120));
        assert!(inputs.len() > 1500, "{} different ones", inputs.len());
        let has = |piece: &[u8]| inputs.iter().any(|input| input.windows(piece.len()).any(|it| it == piece));
        assert!(has(b"word"), "the dictionary is used");
        assert!(has(b"\"size\": 18446744073709551615"), "numbers become boundary numbers");
        assert!(has(&[0x7f, 0xff, 0xff, 0xff]), "so do bytes");
    }

    #[test]
    fn the_same_seed_makes_the_same_inputs() {
        let pool = vec![b"some text".to_vec()];
        let made = |seed: u64| {
            let mut mutator = Mutator::new(seed, &[], 1000);
            [(); 20].map(|()| mutator.next(&pool))
        };
        assert_eq!(made(5), made(5));
        assert_ne!(made(5), made(6));
    }

    #[test]
    fn nothing_to_begin_with_is_no_trouble() {
        let mut mutator = Mutator::new(1, &[], 10);
        (0..1000).for_each(|_| drop(mutator.next(&[])));
    }
}
