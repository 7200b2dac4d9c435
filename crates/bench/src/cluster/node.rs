//! A node: places for runs, and cores that the runs which compute share.

use super::design::{NODE_CORES, PLACES};
use super::slab::Ticket;
use super::timeline::Micros;

/// Less than this is left of a slice: it's done.
const DONE_US: f64 = 0.5;

/// A run that computes, and when it's done by the node's own clock.
struct Computing {
    run: Ticket,
    done_at: f64,
}

pub struct Node {
    pub alive: bool,
    /// A machine that comes back is another one.
    pub life: u16,
    /// Its NATS server is gone: nothing comes or goes before this.
    pub cut_until: Micros,
    /// When it was last heard of.
    pub announced_at: Micros,
    /// Not before this, if there's a gap between announcements.
    pub announces_from: Micros,
    pub announcement_due: bool,
    /// Runs that have a place.
    pub runs: Vec<Ticket>,
    /// Executions that gateways have here: offered or running. After a loss, this is what gateways know of.
    pub bound: Vec<Ticket>,
    computing: Vec<Computing>,
    /// CPU time that each computing run has had since the beginning. It stands still only if nobody computes.
    clock: f64,
    clock_at: Micros,
    /// When it is looked at next, because a run is done then.
    pub wakes_at: Option<Micros>,
}

impl Node {
    pub fn new() -> Self {
        Self {
            alive: true,
            life: 0,
            cut_until: 0,
            announced_at: 0,
            announces_from: 0,
            announcement_due: false,
            runs: Vec::with_capacity(PLACES),
            bound: Vec::with_capacity(2 * PLACES),
            computing: Vec::with_capacity(PLACES),
            clock: 0.0,
            clock_at: 0,
            wakes_at: None,
        }
    }

    pub fn free(&self) -> u8 {
        (PLACES - self.runs.len()) as u8
    }

    pub fn is_cut(&self, now: Micros) -> bool {
        self.cut_until > now
    }

    /// Cores at work.
    pub fn busy_cores(&self) -> usize {
        self.computing.len().min(NODE_CORES)
    }

    /// A run computes for so long, if it has a core for itself.
    pub fn compute(&mut self, now: Micros, run: Ticket, slice_us: f64) {
        self.advance(now);
        self.computing.push(Computing { run, done_at: self.clock + slice_us });
    }

    /// A run that computes and is done by now.
    pub fn done(&mut self, now: Micros) -> Option<Ticket> {
        self.advance(now);
        let limit = self.clock + DONE_US;
        let index = self.computing.iter().position(|one| one.done_at <= limit)?;
        Some(self.computing.swap_remove(index).run)
    }

    /// When the next one is done, if nothing changes.
    pub fn next_done(&self) -> Option<Micros> {
        let first = self.computing.iter().map(|one| one.done_at).reduce(f64::min)?;
        let left = (first - self.clock).max(0.0) / self.speed();
        Some(self.clock_at + left.ceil() as Micros)
    }

    /// A run is over, whatever it was doing.
    pub fn release(&mut self, now: Micros, run: Ticket) {
        self.advance(now);
        self.computing.retain(|one| one.run != run);
        self.runs.retain(|one| *one != run);
    }

    pub fn unbind(&mut self, execution: Ticket) {
        if let Some(index) = self.bound.iter().position(|one| *one == execution) {
            self.bound.swap_remove(index);
        }
    }

    /// Of a core, for each run that computes.
    fn speed(&self) -> f64 {
        match self.computing.len() {
            computing if computing <= NODE_CORES => 1.0,
            computing => NODE_CORES as f64 / computing as f64,
        }
    }

    fn advance(&mut self, now: Micros) {
        self.clock += (now - self.clock_at) as f64 * self.speed();
        self.clock_at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::super::slab::Slab;
    use super::*;

    #[test]
    fn runs_share_the_cores_once_there_are_more_of_them() {
        let mut slab = Slab::new();
        let mut node = Node::new();
        let mut tickets = Vec::new();
        for _ in 0..NODE_CORES {
            tickets.push(slab.insert(()));
            node.compute(0, tickets[tickets.len() - 1], 1_000.0);
        }
        assert_eq!((node.next_done(), node.busy_cores()), (Some(1_000), NODE_CORES));
        // As many again, half way: what is left takes twice as long.
        for _ in 0..NODE_CORES {
            node.compute(500, slab.insert(()), 10_000.0);
        }
        assert_eq!((node.next_done(), node.busy_cores()), (Some(1_500), NODE_CORES));
        assert_eq!(node.done(1_498), None);
        let done: Vec<Ticket> = std::iter::from_fn(|| node.done(1_500)).collect();
        assert_eq!(done.len(), NODE_CORES);
        assert!(tickets.iter().all(|ticket| done.contains(ticket)));
        // The others had half a core for 1,000 us.
        assert_eq!(node.next_done(), Some(1_500 + 9_500));
    }

    #[test]
    fn a_run_that_is_ended_leaves_its_place_and_its_core() {
        let mut slab = Slab::new();
        let mut node = Node::new();
        let (one, other) = (slab.insert(()), slab.insert(()));
        node.runs.extend([one, other]);
        node.compute(0, one, 100.0);
        node.release(50, one);
        assert_eq!((usize::from(node.free()), node.next_done()), (PLACES - 1, None));
        assert_eq!(node.runs, [other]);
    }
}
