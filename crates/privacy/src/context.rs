//! What the words before a place say about it.

use crate::topic::{TOPICS, Topic};

/// How far before a value a word counts, in bytes.
const REACH: usize = 64;

/// How far a label is from its value at most: `: "`, ` = `.
const LABEL_REACH: usize = 4;

/// Where each topic was last named. Reading it costs nothing, however many words a text has.
#[derive(Clone, Debug)]
pub struct Context {
    /// One past the end of the word; 0 if it was not named yet.
    last: [usize; TOPICS],
    /// The last of all topics of numbers, which stand before [`Topic::Birth`].
    last_of_all: usize,
    /// The last word that says that a number is something else.
    last_other: usize,
    /// Topics of the field that the text is the value of: these hold everywhere in it.
    field: Topics,
}

/// A set of topics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Topics(u128);

impl Topics {
    pub fn insert(&mut self, topic: Topic) {
        self.0 |= 1 << topic as u8;
    }

    pub fn has(self, topic: Topic) -> bool {
        self.0 & (1 << topic as u8) != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl Context {
    pub fn new(field: Topics) -> Self {
        Self { last: [0; TOPICS], last_of_all: 0, last_other: 0, field }
    }

    /// Notes a word that ends at `end`.
    pub fn name(&mut self, topic: Topic, end: usize) {
        self.last[topic as usize] = end + 1;
        if (topic as u8) < (Topic::Birth as u8) {
            self.last_of_all = end + 1;
        }
        if (topic as u8) >= (Topic::Other as u8) {
            self.last_other = end + 1;
        }
    }

    /// Whether a topic was named closely before `at`, and nothing since says that it is something else.
    pub fn has(&self, topic: Topic, at: usize) -> bool {
        let last = self.last[topic as usize];
        let is_near = last > 0 && at + 1 - last.min(at + 1) <= REACH;
        if is_near && self.last_other <= last {
            return true;
        }
        self.field.has(topic)
    }

    /// Whether a topic was named directly before `at`, as in `Phone: `, or is the field's.
    pub fn is_labeled(&self, topic: Topic, at: usize) -> bool {
        let last = self.last[topic as usize];
        last > 0 && at + 1 - last.min(at + 1) <= LABEL_REACH || self.field.has(topic)
    }

    /// Whether no topic of numbers holds at `at`, so that none need be asked for.
    pub fn is_silent(&self, at: usize) -> bool {
        let is_near = self.last_of_all > 0 && at + 1 - self.last_of_all.min(at + 1) <= REACH;
        !is_near && self.field.is_empty()
    }

    /// Whether the closest words say that a number is something harmless, such as an order's.
    pub fn is_other(&self, at: usize) -> bool {
        [Topic::Other, Topic::Version, Topic::Small].into_iter().any(|topic| self.says(topic, at))
    }

    /// Whether they say this of it.
    pub fn says(&self, topic: Topic, at: usize) -> bool {
        let last = self.last[topic as usize];
        last > 0 && at + 1 - last.min(at + 1) <= REACH / 2 || self.field.has(topic)
    }

    pub fn field(&self) -> Topics {
        self.field
    }
}
