//! What a gateway knows of the nodes: what they said last, and what it has given them since.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use gristmill_gateway::EngineId;
use gristmill_gateway::domain::Level;

use crate::names::{Label, NodeName};
use crate::presence::{NODE_LOST_AFTER, NodePresence};

/// One that hasn't been heard for this long is given nothing new.
const STALE_AFTER: Duration = Duration::from_millis(1_500);

/// Nodes that are remembered. Whoever may speak on the bus is trusted that far only.
const NODES_MAX: usize = 10_000;

/// What a program needs of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub engine: EngineId,
    pub level: Level,
    /// All of them.
    pub labels: Vec<Label>,
    /// Not these: they have refused it, and why.
    pub refused_by: Vec<(NodeName, String)>,
}

/// Where a program may go.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Picked {
    Node {
        name: NodeName,
        incarnation: u64,
    },
    /// All that fit are full.
    Full,
    /// None fits.
    NoneFits,
}

/// Why a node doesn't take a program, in the order of how little is missing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WhyNot<'a> {
    /// It fits, and will have a place again.
    Full,
    /// It was ordered to take nothing new, or is being stopped.
    Draining,
    /// It may be gone.
    Silent,
    /// It was asked, and this is its answer.
    Refuses(&'a str),
    /// The first that it lacks.
    Label(&'a Label),
    Level,
    Engine,
    /// It can't be talked to, and why.
    OtherVersion(String),
}

struct Known {
    presence: NodePresence,
    heard: Instant,
    /// Programs that it was given since.
    given: u32,
}

#[derive(Default)]
pub(super) struct Roster {
    nodes: HashMap<NodeName, Known>,
}

impl Roster {
    /// A node has said how it is. Gives the process that was there under its name before, if that is another: it is
    /// gone.
    pub fn heard(&mut self, name: NodeName, presence: NodePresence, now: Instant) -> Option<u64> {
        if self.nodes.len() >= NODES_MAX && !self.nodes.contains_key(&name) {
            return None;
        }
        let incarnation = presence.incarnation;
        let before = self.nodes.insert(name, Known { presence, heard: now, given: 0 });
        before.map(|before| before.presence.incarnation).filter(|before| *before != incarnation)
    }

    /// Forgets the nodes that have been silent for too long, and gives them.
    pub fn lose_silent(&mut self, now: Instant) -> Vec<NodeName> {
        let is_lost = |known: &Known| now.saturating_duration_since(known.heard) >= NODE_LOST_AFTER;
        let lost: Vec<_> =
            self.nodes.iter().filter(|(_, known)| is_lost(known)).map(|(name, _)| name.clone()).collect();
        for name in &lost {
            self.nodes.remove(name);
        }
        lost
    }

    /// The node with the largest part of its places free, counting what it was given and may not know of yet.
    pub fn pick(&self, wanted: &Wanted, now: Instant) -> Picked {
        let mut fitting = self
            .nodes
            .iter()
            .filter(|(name, known)| matches!(known.why_not(name, wanted, now), None | Some(WhyNot::Full)))
            .peekable();
        if fitting.peek().is_none() {
            return Picked::NoneFits;
        }
        let share =
            |known: &Known| u64::from(known.free()) * 1_000_000 / u64::from(known.presence.places.max(1));
        let best =
            fitting.filter(|(_, known)| known.free() > 0).max_by(|(one, one_known), (other, other_known)| {
                share(one_known).cmp(&share(other_known)).then_with(|| other.cmp(one))
            });
        match best {
            Some((name, known)) => {
                Picked::Node { name: name.clone(), incarnation: known.presence.incarnation }
            }
            None => Picked::Full,
        }
    }

    /// A program was given to it.
    pub fn gave(&mut self, name: &NodeName) {
        if let Some(known) = self.nodes.get_mut(name) {
            known.given = known.given.saturating_add(1);
        }
    }

    /// It said that it is full: until it says otherwise.
    pub fn is_full(&mut self, name: &NodeName) {
        if let Some(known) = self.nodes.get_mut(name) {
            known.presence.free = 0;
        }
    }

    /// The nodes that don't take a program now, by what keeps them from it; each list is sorted.
    pub fn why_not<'a>(&self, wanted: &'a Wanted, now: Instant) -> BTreeMap<WhyNot<'a>, Vec<NodeName>> {
        let mut all: BTreeMap<WhyNot<'a>, Vec<NodeName>> = BTreeMap::new();
        for (name, known) in &self.nodes {
            if let Some(why) = known.why_not(name, wanted, now) {
                all.entry(why).or_default().push(name.clone());
            }
        }
        all.values_mut().for_each(|names| names.sort());
        all
    }
}

impl Known {
    /// Counts what it was given and may not know of yet.
    fn free(&self) -> u32 {
        self.presence.free.saturating_sub(self.given)
    }

    /// What lasts comes first: a node that drains and has no such engine would not do if it took programs.
    fn why_not<'a>(&self, name: &NodeName, wanted: &'a Wanted, now: Instant) -> Option<WhyNot<'a>> {
        let NodePresence { engines, levels, labels, draining, .. } = &self.presence;
        if let Some(why) = self.presence.speaks_another_version() {
            return Some(WhyNot::OtherVersion(why));
        }
        if !engines.contains(&wanted.engine) {
            return Some(WhyNot::Engine);
        }
        if !levels.contains(&wanted.level) {
            return Some(WhyNot::Level);
        }
        if let Some(label) = wanted.labels.iter().find(|label| !labels.contains(label)) {
            return Some(WhyNot::Label(label));
        }
        if let Some((_, why)) = wanted.refused_by.iter().find(|(node, _)| node == name) {
            return Some(WhyNot::Refuses(why));
        }
        if now.saturating_duration_since(self.heard) >= STALE_AFTER {
            return Some(WhyNot::Silent);
        }
        if *draining {
            return Some(WhyNot::Draining);
        }
        (self.free() == 0).then_some(WhyNot::Full)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presence::tests::presence;

    fn wanted() -> Wanted {
        Wanted {
            engine: EngineId::Python,
            level: Level::Production,
            labels: Vec::new(),
            refused_by: Vec::new(),
        }
    }

    fn name(text: &str) -> NodeName {
        text.parse().unwrap()
    }

    fn picked(text: &str) -> Picked {
        Picked::Node { name: name(text), incarnation: 1 }
    }

    #[test]
    fn a_program_goes_where_most_is_free_and_what_was_given_counts_until_the_node_speaks() {
        let (mut roster, now) = (Roster::default(), Instant::now());
        assert_eq!(roster.pick(&wanted(), now), Picked::NoneFits);
        roster.heard(name("a"), NodePresence { places: 8, free: 3, ..presence() }, now);
        roster.heard(name("b"), NodePresence { places: 4, free: 2, ..presence() }, now);
        assert_eq!(roster.pick(&wanted(), now), picked("b"), "half is more than three of eight");
        roster.gave(&name("b"));
        assert_eq!(roster.pick(&wanted(), now), picked("a"));
        roster.is_full(&name("a"));
        roster.gave(&name("b"));
        assert_eq!(roster.pick(&wanted(), now), Picked::Full);
        roster.heard(name("a"), NodePresence { places: 8, free: 1, ..presence() }, now);
        assert_eq!(roster.pick(&wanted(), now), picked("a"));
    }

    #[test]
    fn a_node_fits_by_engine_level_labels_and_version_and_if_it_takes_anything() {
        let now = Instant::now();
        let label = |text: &str| text.parse::<Label>().unwrap();
        let gpu = Wanted { labels: vec![label("gpu")], ..wanted() };
        let check = |presence: NodePresence, wanted: &Wanted, fits: bool| {
            let mut roster = Roster::default();
            roster.heard(name("a"), presence, now);
            let expected = if fits { picked("a") } else { Picked::NoneFits };
            assert_eq!(roster.pick(wanted, now), expected, "{wanted:?}");
        };
        check(presence(), &wanted(), true);
        check(presence(), &gpu, false);
        let refused_by = vec![(name("a"), "it can't".to_owned())];
        check(presence(), &Wanted { refused_by, ..wanted() }, false);
        check(NodePresence { labels: vec![label("eu"), label("gpu")], ..presence() }, &gpu, true);
        check(presence(), &Wanted { engine: EngineId::Native, ..wanted() }, false);
        check(presence(), &Wanted { level: Level::Hardened, ..wanted() }, false);
        check(NodePresence { draining: true, ..presence() }, &wanted(), false);
        check(NodePresence { wire: 99, ..presence() }, &wanted(), false);
        check(NodePresence { worker_protocol: 99, ..presence() }, &wanted(), false);
    }

    #[test]
    fn a_silent_node_gets_nothing_and_is_lost_later() {
        let (mut roster, now) = (Roster::default(), Instant::now());
        roster.heard(name("a"), presence(), now);
        assert_eq!(roster.pick(&wanted(), now + STALE_AFTER), Picked::NoneFits);
        assert!(roster.lose_silent(now + STALE_AFTER).is_empty());
        assert_eq!(roster.lose_silent(now + NODE_LOST_AFTER), [name("a")]);
        assert!(roster.why_not(&wanted(), now).is_empty());
    }

    #[test]
    fn what_keeps_a_node_from_a_program_is_what_would_still_be_so_if_all_else_were_well() {
        let now = Instant::now();
        let label = |text: &str| text.parse::<Label>().unwrap();
        let gpu = Wanted { labels: vec![label("eu"), label("gpu")], ..wanted() };
        let check = |presence: NodePresence, wanted: &Wanted, expected: Option<WhyNot<'_>>| {
            let mut roster = Roster::default();
            roster.heard(name("a"), presence, now);
            let expected = expected.map(|why| (why, vec![name("a")])).into_iter().collect();
            assert_eq!(roster.why_not(wanted, now), expected);
        };
        let (drains, full) = (NodePresence { draining: true, ..presence() }, presence());
        check(presence(), &wanted(), None);
        check(NodePresence { free: 0, ..full }, &wanted(), Some(WhyNot::Full));
        check(NodePresence { free: 0, ..drains.clone() }, &wanted(), Some(WhyNot::Draining));
        let has_one = NodePresence { labels: vec![label("eu")], ..drains.clone() };
        check(has_one, &gpu, Some(WhyNot::Label(&label("gpu"))));
        check(drains.clone(), &Wanted { engine: EngineId::Native, ..wanted() }, Some(WhyNot::Engine));
        check(drains.clone(), &Wanted { level: Level::Hardened, ..wanted() }, Some(WhyNot::Level));
        let refused_by = vec![(name("a"), "it can't".to_owned())];
        check(drains.clone(), &Wanted { refused_by, ..wanted() }, Some(WhyNot::Refuses("it can't")));
        let other = format!("speaks version 99 and not {}", crate::wire::WIRE_VERSION);
        check(NodePresence { wire: 99, ..drains }, &gpu, Some(WhyNot::OtherVersion(other)));
    }

    #[test]
    fn a_node_that_started_again_is_another() {
        let (mut roster, now) = (Roster::default(), Instant::now());
        assert_eq!(roster.heard(name("a"), presence(), now), None);
        assert_eq!(roster.heard(name("a"), presence(), now), None);
        let again = NodePresence { incarnation: 2, ..presence() };
        assert_eq!(roster.heard(name("a"), again, now), Some(1));
    }
}
