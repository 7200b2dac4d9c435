//! How often a search finds what was meant: queries with the tools that answer them, and the count.
//!
//! Time is the caller's: this crate has no clock.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Deserialize;

use super::words::content_stems;
use super::{Index, Nearness};

/// A list of queries, each with its answers.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct Queries(Vec<Case>);

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// As a model would ask.
    pub query: String,
    /// All tools that would do, as `server.tool` in the servers' own names.
    pub expect: Vec<String>,
    /// No word of the query is a word of any of those tools' names.
    pub without_name_words: bool,
    /// What the query is for.
    pub set: Set,
}

/// What a query is for.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Set {
    /// Looked at while the search is changed.
    Dev,
    /// Only counted.
    HeldOut,
}

/// A list of queries that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum QueriesError {
    /// Not a list of queries.
    #[error("the queries cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// What the list says about itself is not so.
    #[error("the queries are not what they say:\n{}", .0.join("\n"))]
    Wrong(Vec<String>),
}

impl Queries {
    /// From JSON, checked: no query may claim to do without a name's words and have one.
    pub fn parse(text: &str) -> Result<Self, QueriesError> {
        let queries: Self = serde_json::from_str(text)?;
        let wrong: Vec<String> = queries.0.iter().filter_map(Case::wrong).collect();
        if wrong.is_empty() { Ok(queries) } else { Err(QueriesError::Wrong(wrong)) }
    }

    pub fn cases(&self) -> &[Case] {
        &self.0
    }

    pub fn held_out(&self) -> impl Iterator<Item = &Case> {
        self.0.iter().filter(|case| case.set == Set::HeldOut)
    }

    /// Those by which the search is judged: what was held out, or all if nothing was.
    pub fn judged(&self) -> impl Iterator<Item = &Case> {
        let is_any_held_out = self.held_out().next().is_some();
        self.0.iter().filter(move |case| !is_any_held_out || case.set == Set::HeldOut)
    }

    /// The expected tools that a catalogue does not have.
    pub fn missing_from(&self, index: &Index) -> Vec<String> {
        let servers = index.catalogue().servers.iter();
        let known: BTreeSet<String> = servers
            .flat_map(|server| {
                let name = &server.offer.name;
                server.tools.iter().map(move |tool| format!("{name}.{}", tool.definition.name))
            })
            .collect();
        let expected = self.0.iter().flat_map(|case| &case.expect);
        expected.filter(|tool| !known.contains(*tool)).cloned().collect()
    }
}

impl Case {
    fn wrong(&self) -> Option<String> {
        if self.expect.is_empty() {
            return Some(format!("`{}` expects nothing", self.query));
        }
        let shared = self.shared_words();
        let hides = self.without_name_words && !shared.is_empty();
        hides.then(|| format!("`{}` has words of a name: {}", self.query, shared.join(", ")))
    }

    /// The stems that the query and the expected names have in common.
    pub fn shared_words(&self) -> Vec<String> {
        let names =
            self.expect.iter().map(|tool| tool.split_once('.').map_or(tool.as_str(), |(_, name)| name));
        let names: BTreeSet<String> = names.flat_map(content_stems).collect();
        let asked: BTreeSet<String> = content_stems(&self.query).into_iter().collect();
        names.intersection(&asked).cloned().collect()
    }

    /// The place of the first right answer among the first ten, from 0.
    pub fn place(&self, index: &Index, nearness: Option<&Nearness>) -> Option<usize> {
        const FIRST: usize = 10;
        let found = index.rank(&self.query, nearness, |_| true);
        found.iter().take(FIRST).position(|ranked| {
            let (server, tool) = index.tool(ranked.tool);
            let name = format!("{}.{}", server.offer.name, tool.definition.name);
            self.expect.contains(&name)
        })
    }
}

/// How many queries had a right answer among the first so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recall {
    pub queries: usize,
    /// Right at the first place.
    pub at_1: usize,
    /// Right among the first five.
    pub at_5: usize,
    /// Right among the first ten.
    pub at_10: usize,
}

impl Recall {
    /// Of these places, each from 0.
    pub fn of(places: impl IntoIterator<Item = Option<usize>>) -> Self {
        let mut recall = Self::default();
        places.into_iter().for_each(|place| recall.add(place));
        recall
    }

    fn add(&mut self, place: Option<usize>) {
        self.queries += 1;
        let within = |count| usize::from(place.is_some_and(|place| place < count));
        self.at_1 += within(1);
        self.at_5 += within(5);
        self.at_10 += within(10);
    }

    /// A part of the queries, in percent.
    pub fn percent(&self, right: usize) -> f64 {
        100.0 * right as f64 / self.queries.max(1) as f64
    }
}

#[derive(Clone, Debug, Default)]
pub struct Measured {
    pub all: Recall,
    /// Those with a word of the tool's name.
    pub with_name_words: Recall,
    pub without_name_words: Recall,
    /// Those looked at while the search is changed.
    pub dev: Recall,
    pub held_out: Recall,
    /// Held out, and without a word of the tool's name.
    pub held_out_without: Recall,
    /// How long each search took, shortest first.
    pub times: Vec<Duration>,
}

impl Measured {
    /// The time within which that part of the searches ended, such as 0.5.
    pub fn time(&self, part: f64) -> Duration {
        let last = self.times.len().saturating_sub(1);
        let at = (last as f64 * part.clamp(0.0, 1.0)).round() as usize;
        self.times.get(at).copied().unwrap_or_default()
    }

    /// The count of [`Queries::judged`].
    pub fn judged(&self) -> Recall {
        if self.held_out.queries > 0 { self.held_out } else { self.all }
    }

    /// Every count with its name.
    pub fn rows(&self) -> [(&'static str, Recall); 6] {
        [
            ("all", self.all),
            ("with name words", self.with_name_words),
            ("without name words", self.without_name_words),
            ("dev", self.dev),
            ("held out", self.held_out),
            ("held out, without", self.held_out_without),
        ]
    }
}

/// Asks every query once. `nearness` says how near the tools are to a query, where that is known; `now` is a
/// clock that never goes back.
pub fn measure(
    index: &Index,
    queries: &Queries,
    nearness: &dyn Fn(&str) -> Option<Nearness>,
    now: &dyn Fn() -> Duration,
) -> Measured {
    let mut measured = Measured::default();
    for case in &queries.0 {
        let began = now();
        let place = case.place(index, nearness(&case.query).as_ref());
        measured.times.push(now().saturating_sub(began));
        measured.all.add(place);
        match case.without_name_words {
            true => measured.without_name_words.add(place),
            false => measured.with_name_words.add(place),
        }
        match case.set {
            Set::Dev => measured.dev.add(place),
            Set::HeldOut => {
                measured.held_out.add(place);
                if case.without_name_words {
                    measured.held_out_without.add(place);
                }
            }
        }
    }
    measured.times.sort();
    measured
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shipped() -> Queries {
        Queries::parse(include_str!("../../../../benches/search/queries.json")).expect("queries")
    }

    #[test]
    fn at_least_half_of_the_queries_have_no_word_of_the_tools_name() {
        let queries = shipped();
        let without = queries.cases().iter().filter(|case| case.without_name_words).count();
        assert!(queries.cases().len() >= 180, "{} queries", queries.cases().len());
        assert!(2 * without >= queries.cases().len(), "{without} of {}", queries.cases().len());
    }

    #[test]
    fn the_queries_are_over_many_servers_and_every_other_one_is_held_out() {
        let queries = shipped();
        let expected = queries.cases().iter().flat_map(|case| &case.expect);
        let servers: BTreeSet<&str> = expected.filter_map(|tool| Some(tool.split_once('.')?.0)).collect();
        assert!(servers.len() >= 32, "{} servers", servers.len());
        for (at, case) in queries.cases().iter().enumerate() {
            assert_eq!(case.set, if at % 2 == 0 { Set::Dev } else { Set::HeldOut }, "{}", case.query);
        }
    }

    #[test]
    fn the_queries_for_tools_that_were_drawn_are_all_judged() {
        let text = include_str!("../../../../benches/search/drawn.json");
        let queries = Queries::parse(text).expect("queries");
        assert!(queries.cases().len() >= 120, "{} queries", queries.cases().len());
        assert_eq!(queries.judged().count(), queries.cases().len());
        let halves = shipped();
        assert_eq!(halves.judged().count(), halves.held_out().count());
    }

    #[test]
    fn of_the_queries_by_two_writers_one_half_is_held_out() {
        let queries =
            Queries::parse(include_str!("../../../../benches/search/written.json")).expect("queries");
        let held_out = queries.held_out().count();
        assert!(held_out >= 120 && queries.cases().len() - held_out >= 120, "{held_out}");
        let without = queries.cases().iter().filter(|case| case.without_name_words).count();
        assert!(5 * without >= 2 * queries.cases().len(), "{without}");
    }

    #[test]
    fn a_query_that_hides_a_word_of_the_name_is_refused() {
        let check = |query: &str, without: bool, expected: Option<&str>| {
            let text = format!(
                r#"[{{"query":"{query}","expect":["x.createIssue"],"without_name_words":{without},"set":"dev"}}]"#
            );
            let wrong = Queries::parse(&text).err().map(|error| error.to_string());
            assert_eq!(wrong.as_deref(), expected, "{query}");
        };
        check("report a bug", true, None);
        check("an issue", false, None);
        check(
            "two issues",
            true,
            Some("the queries are not what they say:\n`two issues` has words of a name: issu"),
        );
        check("report a bug", false, None);
    }
}
