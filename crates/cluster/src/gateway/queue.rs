//! Who waits for a place on a node: owners take turns, however much one of them wants.

use std::collections::{HashMap, VecDeque};

use gristmill_gateway::ids::Owner;

/// See the module. Whoever waits is known by a number.
pub(super) struct FairQueue<T> {
    /// Owners who wait, the next one first.
    turns: VecDeque<Owner>,
    waiting: HashMap<Owner, VecDeque<(u64, T)>>,
    next_number: u64,
    count: usize,
}

impl<T> Default for FairQueue<T> {
    fn default() -> Self {
        Self { turns: VecDeque::new(), waiting: HashMap::new(), next_number: 0, count: 0 }
    }
}

/// Whether a place was found for one that waits.
pub(super) enum Turn<T> {
    Placed,
    /// It waits on.
    Not(T),
}

impl<T> FairQueue<T> {
    /// Waits behind what the same owner has waiting. The number is for [`FairQueue::leave`].
    pub fn join(&mut self, owner: &Owner, wish: T) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        self.count += 1;
        let theirs = self.waiting.entry(owner.clone()).or_default();
        if theirs.is_empty() {
            self.turns.push_back(owner.clone());
        }
        theirs.push_back((number, wish));
        number
    }

    /// Doesn't wait any more.
    pub fn leave(&mut self, owner: &Owner, number: u64) {
        let Some(theirs) = self.waiting.get_mut(owner) else { return };
        let before = theirs.len();
        theirs.retain(|(other, _)| *other != number);
        self.count -= before - theirs.len();
        if theirs.is_empty() {
            self.waiting.remove(owner);
            self.turns.retain(|other| other != owner);
        }
    }

    pub fn len(&self) -> usize {
        self.count
    }

    /// Asks for a place for the first of each owner in turn, until no owner finds one. What an owner wants first may
    /// not be there while what it wants next is: then all of its wishes are asked for, in their order.
    pub fn serve(&mut self, mut place: impl FnMut(T) -> Turn<T>) {
        let mut in_vain = 0;
        while in_vain < self.turns.len() {
            let Some(owner) = self.turns.pop_front() else { return };
            let theirs = self.waiting.remove(&owner).unwrap_or_default();
            let (left, is_placed) = serve_one(theirs, &mut place);
            if is_placed {
                self.count -= 1;
                in_vain = 0;
            } else {
                in_vain += 1;
            }
            if left.is_empty() {
                continue;
            }
            self.waiting.insert(owner.clone(), left);
            self.turns.push_back(owner);
        }
    }
}

/// Places one wish of an owner, the first that can be.
fn serve_one<T>(
    mut theirs: VecDeque<(u64, T)>,
    place: &mut impl FnMut(T) -> Turn<T>,
) -> (VecDeque<(u64, T)>, bool) {
    let mut left = VecDeque::with_capacity(theirs.len());
    while let Some((number, wish)) = theirs.pop_front() {
        match place(wish) {
            Turn::Placed => {
                left.append(&mut theirs);
                return (left, true);
            }
            Turn::Not(wish) => left.push_back((number, wish)),
        }
    }
    (left, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(name: &str) -> Owner {
        Owner(name.to_owned())
    }

    /// The first `places` that are served.
    fn served(queue: &mut FairQueue<&'static str>, places: usize) -> Vec<&'static str> {
        let mut served = Vec::new();
        queue.serve(|wish| match served.len() < places {
            true => {
                served.push(wish);
                Turn::Placed
            }
            false => Turn::Not(wish),
        });
        served
    }

    #[test]
    fn owners_take_turns_however_many_one_has_waiting() {
        let mut queue = FairQueue::default();
        for wish in ["a1", "a2", "a3", "a4"] {
            queue.join(&owner("a"), wish);
        }
        queue.join(&owner("b"), "b1");
        queue.join(&owner("c"), "c1");
        assert_eq!(served(&mut queue, 4), ["a1", "b1", "c1", "a2"]);
        assert_eq!(queue.len(), 2);
        queue.join(&owner("b"), "b2");
        assert_eq!(served(&mut queue, 9), ["a3", "b2", "a4"]);
        assert_eq!(queue.len(), 0);
    }

    #[test]
    fn who_had_no_turn_keeps_its_place_in_the_round() {
        let mut queue = FairQueue::default();
        queue.join(&owner("a"), "a1");
        queue.join(&owner("a"), "a2");
        queue.join(&owner("b"), "b1");
        assert_eq!(served(&mut queue, 1), ["a1"]);
        assert_eq!(served(&mut queue, 1), ["b1"]);
        assert_eq!(served(&mut queue, 0), [""; 0]);
        assert_eq!(served(&mut queue, 1), ["a2"]);
    }

    #[test]
    fn a_wish_that_nobody_has_a_place_for_holds_up_no_other() {
        let mut queue = FairQueue::default();
        queue.join(&owner("a"), "gpu");
        queue.join(&owner("a"), "any");
        let mut served = Vec::new();
        queue.serve(|wish| match wish {
            "gpu" => Turn::Not(wish),
            _ => {
                served.push(wish);
                Turn::Placed
            }
        });
        assert_eq!((served, queue.len()), (vec!["any"], 1));
    }

    #[test]
    fn who_leaves_is_not_served() {
        let mut queue = FairQueue::default();
        let first = queue.join(&owner("a"), "a1");
        queue.join(&owner("b"), "b1");
        queue.leave(&owner("a"), first);
        queue.leave(&owner("a"), first);
        assert_eq!((served(&mut queue, 9), queue.len()), (vec!["b1"], 0));
    }
}
