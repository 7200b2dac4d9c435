//! What nodes say of their places, and who hears it.

use super::super::costs::PRESENCE_US;
use super::super::design::{HOP_US, PRESENCE_EVERY_US, Placement};
use super::super::timeline::{Event, NodeIndex};
use super::Simulation;
use super::placing::Looks;

impl Simulation {
    pub(super) fn beat(&mut self, node: NodeIndex) {
        if !self.nodes[usize::from(node)].alive {
            return;
        }
        self.announce(node);
        self.timeline.after(PRESENCE_EVERY_US, Event::Beat(node));
    }

    /// At once, or when the gap since the last time is over.
    pub(super) fn places_changed(&mut self, node: NodeIndex) {
        let (now, gap) = (self.timeline.now(), self.settings.policy.presence_gap_us);
        let place = &mut self.nodes[usize::from(node)];
        if now >= place.announces_from || self.settings.placement == Placement::Omniscient {
            place.announces_from = now + gap;
            self.announce(node);
        } else if !std::mem::replace(&mut place.announcement_due, true) {
            let at = place.announces_from;
            self.timeline.at(at, Event::PresenceDue(node));
        }
    }

    pub(super) fn presence_due(&mut self, node: NodeIndex) {
        self.nodes[usize::from(node)].announcement_due = false;
        self.places_changed(node);
    }

    fn announce(&mut self, node: NodeIndex) {
        let now = self.timeline.now();
        let place = &mut self.nodes[usize::from(node)];
        if !place.alive || place.is_cut(now) {
            return;
        }
        place.announced_at = now;
        let (life, free) = (place.life, place.free());
        match self.settings.placement {
            Placement::Gateways => {
                self.figures.counts.presences += 1;
                self.timeline.after(HOP_US, Event::Presence { node, life, free });
            }
            // At once, and without a message.
            Placement::Omniscient => {
                self.desks[0].beliefs.is_known(node, free);
                self.dispatch(0, Looks::Listener);
            }
        }
    }

    pub(super) fn presence(&mut self, node: NodeIndex, life: u16, free: u8) {
        let now = self.timeline.now();
        let place = &self.nodes[usize::from(node)];
        if place.life != life {
            return;
        }
        for gateway in 0..self.gateways.len() {
            let hears = &mut self.gateways[gateway];
            if !hears.alive || hears.is_cut(now) {
                continue;
            }
            hears.listen(now, PRESENCE_US);
            self.desks[gateway].beliefs.announced(node, free);
            if self.desks[gateway].queued() > 0 {
                self.dispatch(gateway, Looks::Listener);
            }
        }
    }
}
