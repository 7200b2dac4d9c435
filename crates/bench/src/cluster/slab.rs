//! Things that come and go by the million, in places that are used again.

/// Who holds one finds a thing as long as it's there, and never another one that has its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    slot: u32,
    life: u32,
}

pub struct Slab<T> {
    slots: Vec<(u32, Option<T>)>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }

    pub fn insert(&mut self, thing: T) -> Ticket {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push((0, None));
            (self.slots.len() - 1) as u32
        });
        let place = &mut self.slots[slot as usize];
        place.1 = Some(thing);
        Ticket { slot, life: place.0 }
    }

    pub fn get(&self, ticket: Ticket) -> Option<&T> {
        let (life, thing) = self.slots.get(ticket.slot as usize)?;
        thing.as_ref().filter(|_| *life == ticket.life)
    }

    pub fn get_mut(&mut self, ticket: Ticket) -> Option<&mut T> {
        let (life, thing) = self.slots.get_mut(ticket.slot as usize)?;
        thing.as_mut().filter(|_| *life == ticket.life)
    }

    pub fn remove(&mut self, ticket: Ticket) -> Option<T> {
        let (life, thing) = self.slots.get_mut(ticket.slot as usize)?;
        if *life != ticket.life {
            return None;
        }
        let removed = thing.take()?;
        *life += 1;
        self.free.push(ticket.slot);
        Some(removed)
    }

    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = (Ticket, &T)> {
        self.slots.iter().enumerate().filter_map(|(slot, (life, thing))| {
            Some((Ticket { slot: slot as u32, life: *life }, thing.as_ref()?))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_never_finds_what_came_later_into_its_place() {
        let mut slab = Slab::new();
        let first = slab.insert('a');
        assert_eq!((slab.remove(first), slab.remove(first)), (Some('a'), None));
        let second = slab.insert('b');
        assert_eq!((slab.get(first), slab.get(second), slab.len()), (None, Some(&'b'), 1));
        assert_eq!(slab.iter().collect::<Vec<_>>(), [(second, &'b')]);
    }
}
