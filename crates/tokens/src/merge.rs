//! Merges the bytes of a piece, pair by pair, as long as the result is a token: always the pair of
//! the lowest rank, of several such the first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::vocabulary::Vocabulary;

/// What is merged at once. Longer pieces are hostile or no text, and would take memory in proportion.
const PART_BYTES_MAX: usize = 16 * 1024;

/// Up to here looking at every pair again and again is faster than a queue of them.
const SHORT_BYTES_MAX: usize = 128;

/// How many tokens a piece comes to.
pub fn count(vocabulary: &Vocabulary, piece: &[u8]) -> usize {
    piece.chunks(PART_BYTES_MAX).map(|part| count_part(vocabulary, part)).sum()
}

fn count_part(vocabulary: &Vocabulary, part: &[u8]) -> usize {
    match part.len() {
        1 => 1,
        _ if vocabulary.rank(part).is_some() => 1,
        0..=SHORT_BYTES_MAX => count_short(vocabulary, part),
        _ => count_long(vocabulary, part),
    }
}

fn count_short(vocabulary: &Vocabulary, part: &[u8]) -> usize {
    // Where each token begins, and the rank of it together with the next.
    let mut tokens: Vec<(usize, Option<u32>)> =
        (0..part.len()).map(|at| (at, part.get(at..at + 2).and_then(|pair| vocabulary.rank(pair)))).collect();
    let rank_at = |tokens: &[(usize, Option<u32>)], index: usize| {
        let (start, _) = tokens.get(index)?;
        tokens.get(index + 1)?;
        let end = tokens.get(index + 2).map_or(part.len(), |(start, _)| *start);
        vocabulary.rank(&part[*start..end])
    };
    loop {
        let ranked = tokens.iter().enumerate().filter_map(|(index, (_, rank))| Some((rank.as_ref()?, index)));
        let Some((_, index)) = ranked.min() else { return tokens.len() };
        tokens.remove(index + 1);
        tokens[index].1 = rank_at(&tokens, index);
        if let Some(before) = index.checked_sub(1) {
            tokens[before].1 = rank_at(&tokens, before);
        }
    }
}

/// The same with the pairs in a queue, and the tokens as a list whose members know their neighbors.
fn count_long(vocabulary: &Vocabulary, part: &[u8]) -> usize {
    let mut list = TokenList::of_bytes(vocabulary, part);
    let mut queue: BinaryHeap<Reverse<Pair>> = (0..part.len()).filter_map(|start| list.pair(start)).collect();
    let mut tokens = part.len();
    while let Some(Reverse(pair)) = queue.pop() {
        // One of the two may have been merged with another neighbor since.
        if list.ranks[pair.start as usize] == pair.rank {
            tokens -= 1;
            queue.extend(list.merge(pair.start as usize).into_iter().flatten());
        }
    }
    tokens
}

/// Two neighbors that make a token: the lowest rank first, then the first in the text.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    rank: u32,
    start: u32,
}

/// Not the rank of any token.
const NO_RANK: u32 = u32::MAX;

/// Each list by the start of a token; what stands at other places is of no interest.
struct TokenList<'a> {
    vocabulary: &'a Vocabulary,
    part: &'a [u8],
    ends: Vec<u32>,
    /// Where the token before begins.
    before: Vec<u32>,
    /// The rank of the token together with the next.
    ranks: Vec<u32>,
}

impl<'a> TokenList<'a> {
    fn of_bytes(vocabulary: &'a Vocabulary, part: &'a [u8]) -> Self {
        let bytes = part.len() as u32;
        let before = (0..bytes).map(|at| at.saturating_sub(1)).collect();
        let ranks = vec![NO_RANK; part.len()];
        let mut list = Self { vocabulary, part, ends: (1..=bytes).collect(), before, ranks };
        for start in 0..part.len() {
            list.rank(start);
        }
        list
    }

    /// Looks up the token at `start` together with the next.
    fn rank(&mut self, start: usize) {
        let end = self.ends.get(self.ends[start] as usize);
        let rank = end.and_then(|end| self.vocabulary.rank(&self.part[start..*end as usize]));
        self.ranks[start] = rank.unwrap_or(NO_RANK);
    }

    fn pair(&self, start: usize) -> Option<Reverse<Pair>> {
        let rank = self.ranks[start];
        (rank != NO_RANK).then_some(Reverse(Pair { rank, start: start as u32 }))
    }

    /// Joins the token at `start` with the next, and gives the pairs that it makes with its neighbors.
    fn merge(&mut self, start: usize) -> [Option<Reverse<Pair>>; 2] {
        let middle = self.ends[start] as usize;
        let end = self.ends[middle];
        self.ends[start] = end;
        self.ranks[middle] = NO_RANK;
        if let Some(before) = self.before.get_mut(end as usize) {
            *before = start as u32;
        }
        self.rank(start);
        let before = (start > 0).then(|| self.before[start] as usize);
        if let Some(before) = before {
            self.rank(before);
        }
        [self.pair(start), before.and_then(|before| self.pair(before))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_merging_agree() {
        let vocabulary = Vocabulary::get();
        let mut state = 7u64;
        for round in 0..400 {
            let alphabet: &[u8] = if round % 2 == 0 { b"aab etion" } else { b"\xe6\x9d\xb1\xf0\x9f_-=x" };
            let piece: Vec<u8> = (0..round % 120 + 2)
                .map(|_| {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    alphabet[(state >> 33) as usize % alphabet.len()]
                })
                .collect();
            let (short, long) = (count_short(vocabulary, &piece), count_long(vocabulary, &piece));
            assert_eq!(short, long, "{piece:?}");
        }
    }

    #[test]
    fn an_endless_word_is_counted_in_bounded_memory() {
        let piece = vec![b'a'; 1 << 20];
        let tokens = count(Vocabulary::get(), &piece);
        assert!(((1 << 20) / 128..(1 << 20) / 4).contains(&tokens), "{tokens}");
    }
}
