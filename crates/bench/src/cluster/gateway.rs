//! A gateway: its CPU, the thread of its database, and whether it's there. Its desk places executions.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::beliefs::Beliefs;
use super::design::{FOLLOWED_MAX, GATEWAY_CORES};
use super::fair_queue::FairQueue;
use super::load::Class;
use super::timeline::Micros;

pub struct Gateway {
    pub alive: bool,
    pub died_at: Micros,
    /// The failure, by its number.
    pub died_of: u8,
    pub returns_at: Micros,
    /// Its NATS server is gone: nothing comes or goes before this.
    pub cut_until: Micros,
    /// Sessions that it had when it died may be taken by others from this time on.
    pub leases_free_at: Micros,
    pub followed: Followed,
    /// Numbers of the executions that it had when it died.
    pub left: Vec<u32>,
    /// When each core has done what it was given.
    cores: [Micros; GATEWAY_CORES],
    used: Used,
}

/// What a gateway has used since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    pub cpu_us: u64,
    /// The one task that hears the bus; part of the CPU.
    pub listener_us: u64,
    pub database_us: u64,
}

impl Gateway {
    pub fn new(owner_share: f64) -> Self {
        Self {
            alive: true,
            died_at: 0,
            died_of: 0,
            returns_at: 0,
            cut_until: 0,
            leases_free_at: 0,
            followed: Followed::new(owner_share),
            left: Vec::new(),
            cores: [0; GATEWAY_CORES],
            used: Used::default(),
        }
    }

    pub fn is_cut(&self, now: Micros) -> bool {
        self.cut_until > now
    }

    /// First come, first served, on whichever core is free first. When it's done.
    pub fn work(&mut self, now: Micros, cpu_us: Micros) -> Micros {
        self.used.cpu_us += cpu_us;
        let mut first = 0;
        for (index, done_at) in self.cores.iter().enumerate() {
            if *done_at < self.cores[first] {
                first = index;
            }
        }
        self.cores[first] = self.cores[first].max(now) + cpu_us;
        self.cores[first]
    }

    /// The same, by the task that hears the bus.
    pub fn listen(&mut self, now: Micros, cpu_us: Micros) {
        self.used.listener_us += cpu_us;
        self.work(now, cpu_us);
    }

    pub fn record(&mut self, took_us: Micros) {
        self.used.database_us += took_us;
    }

    pub fn used(&self) -> Used {
        self.used
    }

    pub fn forget_work(&mut self) {
        self.cores = [0; GATEWAY_CORES];
    }
}

/// Executions of one gateway that are on nodes or wait for one.
pub struct Followed {
    of_owners: HashMap<u32, usize>,
    count: usize,
    of_owner_max: usize,
}

impl Followed {
    pub fn new(owner_share: f64) -> Self {
        let of_owner_max = (FOLLOWED_MAX as f64 * owner_share).ceil() as usize;
        Self { of_owners: HashMap::new(), count: 0, of_owner_max }
    }

    /// `false`: no more can be followed, or not of this owner.
    pub fn begin(&mut self, owner: u32) -> bool {
        let of_owner = self.of_owners.entry(owner).or_default();
        if self.count >= FOLLOWED_MAX || *of_owner >= self.of_owner_max {
            return false;
        }
        *of_owner += 1;
        self.count += 1;
        true
    }

    pub fn end(&mut self, owner: u32) {
        if let Entry::Occupied(mut of_owner) = self.of_owners.entry(owner) {
            self.count -= 1;
            match of_owner.get() {
                0 | 1 => drop(of_owner.remove()),
                _ => *of_owner.get_mut() -= 1,
            }
        }
    }

    pub fn count(&self) -> usize {
        self.count
    }
}

/// Where executions wait for a place, and what is believed of the nodes. Each gateway has one; the omniscient baseline
/// has one for all.
pub struct Desk {
    lines: [FairQueue; Class::ALL.len()],
    pub beliefs: Beliefs,
}

impl Desk {
    pub fn new(nodes: usize) -> Self {
        Self { lines: Default::default(), beliefs: Beliefs::new(nodes) }
    }

    pub fn line(&mut self, class: Class) -> &mut FairQueue {
        &mut self.lines[class as usize]
    }

    pub fn queued(&self) -> usize {
        self.lines.iter().map(FairQueue::len).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_waits_for_the_first_core_that_is_free() {
        let mut gateway = Gateway::new(1.0);
        let done: Vec<Micros> = (0..GATEWAY_CORES + 1).map(|_| gateway.work(100, 50)).collect();
        assert_eq!((done[0], done[GATEWAY_CORES - 1], done[GATEWAY_CORES]), (150, 150, 200));
        assert_eq!(gateway.work(1_000, 50), 1_050);
        gateway.listen(1_000, 7);
        assert_eq!(
            gateway.used(),
            Used { cpu_us: 50 * (GATEWAY_CORES as u64 + 2) + 7, listener_us: 7, database_us: 0 }
        );
    }

    #[test]
    fn a_gateway_follows_so_many_and_of_one_owner_its_share() {
        let mut followed = Followed::new(0.3);
        let begun =
            |followed: &mut Followed, owner| (0..FOLLOWED_MAX).filter(|_| followed.begin(owner)).count();
        assert_eq!([1, 2, 3, 4].map(|owner| begun(&mut followed, owner)), [308, 308, 308, 100]);
        followed.end(1);
        assert_eq!(
            (followed.count(), begun(&mut followed, 2), begun(&mut followed, 1)),
            (FOLLOWED_MAX - 1, 0, 1)
        );
    }
}
