//! The words behind the documents: `topics.txt` says what is spoken about, `phrases.txt` how.

use std::collections::BTreeMap;

use crate::noise;

const TOPICS: &str = include_str!("topics.txt");
const PHRASES: &str = include_str!("phrases.txt");

/// One thing to settle. All parts fit into sentences of `phrases.txt`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Issue {
    /// "the release date"
    pub thing: &'static str,
    /// What is wrong, as a clause.
    pub problem: &'static str,
    /// Why, as a clause.
    pub cause: &'static str,
    /// What to do, after "to".
    pub one: &'static str,
    /// What else could be done, after "to".
    pub two: &'static str,
    pub measure: &'static str,
}

/// A point of the meeting.
#[derive(Debug, Default)]
pub struct Topic {
    /// "The release itself"
    pub title: &'static str,
    pub owner: &'static str,
    /// What the chair says.
    pub opening: &'static str,
    /// The company that is named, if one is.
    pub account: Option<u64>,
    pub issues: Vec<Issue>,
    pub decisions: Vec<&'static str>,
    /// Who, what, by when.
    pub actions: Vec<(&'static str, &'static str, &'static str)>,
}

impl Topic {
    /// All topics, in order.
    pub fn all() -> Vec<Self> {
        let mut topics: Vec<Self> = Vec::new();
        for line in TOPICS.lines() {
            let mut parts = line.trim_start_matches(['#', '!', '>']).split('|').map(str::trim);
            let mut next = || parts.next().unwrap_or_default();
            if line.starts_with('#') {
                let (title, owner, opening) = (next(), next(), next());
                topics.push(Self { title, owner, opening, account: next().parse().ok(), ..Self::default() });
                continue;
            }
            let Some(topic) = topics.last_mut() else { continue };
            match line.as_bytes().first() {
                Some(b'!') => topic.decisions.push(next()),
                Some(b'>') => topic.actions.push((next(), next(), next())),
                Some(_) => topic.issues.push(Issue {
                    thing: next(),
                    problem: next(),
                    cause: next(),
                    one: next(),
                    two: next(),
                    measure: next(),
                }),
                None => {}
            }
        }
        topics
    }
}

/// Sentences by the part that they play, each handed out as rarely as possible.
pub struct Phrases {
    parts: BTreeMap<&'static str, Vec<&'static str>>,
    used: BTreeMap<String, usize>,
}

impl Phrases {
    pub fn read() -> Self {
        let mut parts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut part = "";
        for line in PHRASES.lines() {
            match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                Some(name) => part = name,
                None => parts.entry(part).or_default().push(line),
            }
        }
        Self { parts, used: BTreeMap::new() }
    }

    /// The next sentence for a part, with its gaps filled.
    pub fn next(&mut self, part: &str, issue: &Issue, account: &str, name: &str) -> String {
        let used = self.used.entry(part.to_owned()).or_default();
        let Some(choices) = self.parts.get(part).filter(|choices| !choices.is_empty()) else {
            return String::new();
        };
        // A different order in each round, so that no two sentences always come together.
        let (round, place) = (*used / choices.len(), *used % choices.len());
        let chosen = choices[(place + round * 2) % choices.len()];
        *used += 1;
        let number = 3 + noise::below(43, *used as u64, part.len() as u64, 58);
        chosen
            .replace("{thing}", issue.thing)
            .replace("{problem}", issue.problem)
            .replace("{cause}", issue.cause)
            .replace("{one}", issue.one)
            .replace("{two}", issue.two)
            .replace("{measure}", issue.measure)
            .replace("{account}", account)
            .replace("{name}", name)
            .replace("{number}", &number.to_string())
    }
}
