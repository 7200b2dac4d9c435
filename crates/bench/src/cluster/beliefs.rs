//! What a gateway believes of the nodes' places: what they last announced, less what it has given them since.

use super::design::PLACES;
use super::load::Class;
use super::random::Random;
use super::timeline::NodeIndex;

/// One node in so many has the label that native programs need.
pub const LABELED_ONE_IN: usize = 5;

/// Which of equally free nodes is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// The first by name: all gateways take the same.
    ByName,
    ByLot,
}

/// Kept by free places, so that the freest node is found without looking at all of them. What the gateways pay for
/// that is in `costs`.
pub struct Beliefs {
    announced: Vec<u8>,
    given: Vec<u8>,
    /// Of each node, how many places it's ranked with. 0: none, or nothing is heard of it.
    free: Vec<u8>,
    /// Nodes by their free places, a bit each.
    ranks: Vec<Vec<u64>>,
    /// How many nodes are in each.
    filled: [u32; PLACES + 1],
    labeled: Vec<u64>,
}

const WORD: usize = u64::BITS as usize;

impl Beliefs {
    /// Nothing is known yet.
    pub fn new(nodes: usize) -> Self {
        let words = nodes.div_ceil(WORD);
        let mut labeled = vec![0; words];
        (0..nodes).step_by(LABELED_ONE_IN).for_each(|node| labeled[node / WORD] |= 1 << (node % WORD));
        Self {
            announced: vec![0; nodes],
            given: vec![0; nodes],
            free: vec![0; nodes],
            ranks: vec![vec![0; words]; PLACES + 1],
            filled: [0; PLACES + 1],
            labeled,
        }
    }

    /// A node has spoken: what it was given before is in that, or on its way and forgotten.
    pub fn announced(&mut self, node: NodeIndex, free: u8) {
        let index = usize::from(node);
        self.announced[index] = free;
        self.given[index] = 0;
        self.rank(index);
    }

    pub fn gave(&mut self, node: NodeIndex) {
        let index = usize::from(node);
        self.given[index] = self.given[index].saturating_add(1);
        self.rank(index);
    }

    /// What was given is there or came to nothing, for whoever counts exactly.
    pub fn given_is_known(&mut self, node: NodeIndex) {
        let index = usize::from(node);
        self.given[index] = self.given[index].saturating_sub(1);
        self.rank(index);
    }

    /// The baseline: what was given still counts.
    pub fn is_known(&mut self, node: NodeIndex, free: u8) {
        let index = usize::from(node);
        self.announced[index] = free;
        self.rank(index);
    }

    /// It's full until it says otherwise, or silent until it's heard again.
    pub fn has_none(&mut self, node: NodeIndex) {
        self.announced[usize::from(node)] = 0;
        self.rank(usize::from(node));
    }

    /// A node that fits, with the most free places.
    pub fn freest(&self, class: Class, ties: Ties, random: &mut Random) -> Option<NodeIndex> {
        let start = match ties {
            Ties::ByName => 0,
            Ties::ByLot => random.below(self.free.len()),
        };
        let ranks = (1..=PLACES).rev().filter(|free| self.filled[*free] > 0);
        ranks.map(|free| self.first_from(start, free, class)).find_map(|found| found)
    }

    /// The first from here on that has so many places and fits, going around.
    fn first_from(&self, start: usize, free: usize, class: Class) -> Option<NodeIndex> {
        let words = self.ranks[free].len();
        let fitting = |word: usize| match class {
            Class::Python | Class::Typescript => self.ranks[free][word],
            Class::Native => self.ranks[free][word] & self.labeled[word],
        };
        let (first, before) = (start / WORD, (1u64 << (start % WORD)) - 1);
        let node = |word: usize, bits: u64| (word * WORD + bits.trailing_zeros() as usize) as NodeIndex;
        let head = fitting(first) & !before;
        if head != 0 {
            return Some(node(first, head));
        }
        let others = (1..=words).map(|step| (first + step) % words);
        others
            .map(|word| (word, fitting(word)))
            .find(|(_, bits)| *bits != 0)
            .map(|(word, bits)| node(word, bits))
    }

    fn rank(&mut self, index: usize) {
        let free = self.announced[index].saturating_sub(self.given[index]);
        let was = std::mem::replace(&mut self.free[index], free);
        if was == free {
            return;
        }
        let bit = 1 << (index % WORD);
        for (rank, is_in) in [(was, false), (free, true)] {
            if rank == 0 {
                continue;
            }
            self.ranks[usize::from(rank)][index / WORD] ^= bit;
            let filled = &mut self.filled[usize::from(rank)];
            *filled = if is_in { *filled + 1 } else { *filled - 1 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn freest(beliefs: &Beliefs, class: Class) -> Option<NodeIndex> {
        beliefs.freest(class, Ties::ByName, &mut Random::new(1))
    }

    #[test]
    fn the_freest_that_fits_is_found_and_what_was_given_counts_until_the_node_speaks() {
        let mut beliefs = Beliefs::new(4);
        assert_eq!(freest(&beliefs, Class::Python), None);
        beliefs.announced(0, 2);
        beliefs.announced(1, 5);
        beliefs.announced(2, 4);
        assert_eq!((freest(&beliefs, Class::Python), freest(&beliefs, Class::Native)), (Some(1), Some(0)));
        beliefs.gave(1);
        beliefs.gave(1);
        assert_eq!(freest(&beliefs, Class::Typescript), Some(2));
        beliefs.has_none(2);
        assert_eq!(freest(&beliefs, Class::Python), Some(1));
        beliefs.announced(2, 1);
        beliefs.announced(1, 0);
        assert_eq!(freest(&beliefs, Class::Python), Some(0));
    }

    #[test]
    fn ranks_say_the_same_as_looking_at_all_nodes() {
        let nodes = 150;
        let mut random = Random::new(2);
        let mut beliefs = Beliefs::new(nodes);
        for step in 0..20_000 {
            let node = random.below(nodes) as NodeIndex;
            match random.below(4) {
                0 => beliefs.announced(node, random.below(PLACES + 1) as u8),
                1 => beliefs.gave(node),
                2 => beliefs.given_is_known(node),
                _ => beliefs.has_none(node),
            }
            let free = |node: usize| beliefs.announced[node].saturating_sub(beliefs.given[node]);
            for (class, one_in) in [(Class::Python, 1), (Class::Native, LABELED_ONE_IN)] {
                let fitting = || (0..nodes).step_by(one_in);
                let most = fitting().map(free).max().filter(|most| *most > 0);
                let ties = if step % 2 == 0 { Ties::ByName } else { Ties::ByLot };
                let found = beliefs.freest(class, ties, &mut random).map(usize::from);
                assert_eq!(found.map(free), most);
                if ties == Ties::ByName {
                    assert_eq!(found, fitting().find(|node| most == Some(free(*node))));
                }
                assert!(found.is_none_or(|node| node % one_in == 0));
            }
        }
    }

    #[test]
    fn by_lot_equals_have_their_share() {
        let mut beliefs = Beliefs::new(10);
        (0..10).for_each(|node| beliefs.announced(node, 3));
        let mut random = Random::new(3);
        let mut chosen = [0; 10];
        for _ in 0..10_000 {
            let node = beliefs.freest(Class::Python, Ties::ByLot, &mut random).expect("one is free");
            chosen[usize::from(node)] += 1;
        }
        assert!(chosen.iter().all(|count| (800..1_200).contains(count)), "{chosen:?}");
    }
}
