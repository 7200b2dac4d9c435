//! The queue of one class in one gateway: owners take turns, and each owner's executions keep their order.

use std::collections::{HashMap, VecDeque};

use super::slab::Ticket;

#[derive(Default)]
pub struct FairQueue {
    /// Owners with something waiting, each once, the next first.
    turns: VecDeque<u32>,
    waiting: HashMap<u32, VecDeque<Ticket>>,
    len: usize,
}

impl FairQueue {
    pub fn push(&mut self, owner: u32, execution: Ticket) {
        let of_owner = self.waiting.entry(owner).or_default();
        if of_owner.is_empty() {
            self.turns.push_back(owner);
        }
        of_owner.push_back(execution);
        self.len += 1;
    }

    /// For one that had its turn already: before the others of its owner, and its owner is next.
    pub fn push_first(&mut self, owner: u32, execution: Ticket) {
        let of_owner = self.waiting.entry(owner).or_default();
        if of_owner.is_empty() {
            self.turns.push_front(owner);
        }
        of_owner.push_front(execution);
        self.len += 1;
    }

    pub fn pop(&mut self) -> Option<Ticket> {
        let owner = self.turns.pop_front()?;
        let of_owner = self.waiting.get_mut(&owner)?;
        let execution = of_owner.pop_front()?;
        match of_owner.is_empty() {
            true => drop(self.waiting.remove(&owner)),
            false => self.turns.push_back(owner),
        }
        self.len -= 1;
        Some(execution)
    }

    pub fn len(&self) -> usize {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::super::slab::Slab;
    use super::*;

    /// Who is next, of executions that are named by their owner and a number.
    fn order(pushed: &[(u32, &'static str)], first: &[(u32, &'static str)]) -> Vec<&'static str> {
        let mut slab = Slab::new();
        let mut queue = FairQueue::default();
        pushed.iter().for_each(|(owner, name)| queue.push(*owner, slab.insert(*name)));
        first.iter().for_each(|(owner, name)| queue.push_first(*owner, slab.insert(*name)));
        assert_eq!(queue.len(), pushed.len() + first.len());
        let order = std::iter::from_fn(|| queue.pop()).filter_map(|one| slab.get(one).copied()).collect();
        assert_eq!(queue.len(), 0);
        order
    }

    #[test]
    fn owners_take_turns_however_much_one_of_them_has() {
        let pushed = [(1, "a1"), (1, "a2"), (1, "a3"), (1, "a4"), (2, "b1"), (3, "c1"), (3, "c2")];
        assert_eq!(order(&pushed, &[]), ["a1", "b1", "c1", "a2", "c2", "a3", "a4"]);
    }

    #[test]
    fn one_that_keeps_its_turn_is_next() {
        assert_eq!(order(&[(1, "a1"), (2, "b1")], &[(3, "c1")]), ["c1", "a1", "b1"]);
        assert_eq!(order(&[(1, "a1"), (2, "b1")], &[(1, "a0")]), ["a0", "b1", "a1"]);
    }
}
