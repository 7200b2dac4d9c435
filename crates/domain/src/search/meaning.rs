//! What a query means, beside the words that it has.
//!
//! This crate has no encoder: whoever has one says how near each tool is to a query, in the order of
//! [`Index::tools`], and the index makes one ranking of both.

use serde_json::Value;

use super::fields::first_sentence;
use super::index::Index;
use super::postings::ToolId;
use super::rank::Ranked;
use super::words::spaced;
use crate::catalogue::{Server, Tool};
use crate::short_text::first_bytes;

/// How near in meaning each tool of an index is to a query, and what was used after queries like it.
#[derive(Clone, Debug, PartialEq)]
pub struct Nearness {
    /// In the order of [`Index::tools`].
    cosines: Vec<f32>,
    /// The same after a closer look at the nearest tools, where somebody took one.
    closer: Vec<f32>,
    /// Places of tools, each with what its use counts, up to 1.
    used: Vec<(ToolId, f32)>,
}

impl Nearness {
    /// `None` unless there is one number, and a real one, for each tool.
    pub fn new(index: &Index, cosines: Vec<f32>) -> Option<Self> {
        let fits = cosines.len() == index.places.len() && cosines.iter().all(|cosine| cosine.is_finite());
        fits.then(|| Self { closer: cosines.clone(), cosines, used: Vec::new() })
    }

    /// With another measure of the nearest tools, which takes longer: `look` gets their places in the order of
    /// [`Index::tools`]. Of the other tools, none is nearer than the farthest of these.
    pub fn with_closer_look(mut self, look: impl Fn(usize) -> f32) -> Self {
        let mut places: Vec<usize> = (0..self.cosines.len()).collect();
        if places.len() > LOOKED_AT_MAX {
            let by_nearness = |a: &usize, b: &usize| self.cosines[*b].total_cmp(&self.cosines[*a]);
            places.select_nth_unstable_by(LOOKED_AT_MAX, by_nearness);
            places.truncate(LOOKED_AT_MAX);
        }
        let looked: Vec<f32> = places.iter().map(|place| look(*place)).collect();
        if looked.iter().all(|closer| closer.is_finite()) {
            let farthest = looked.iter().copied().fold(f32::MAX, f32::min);
            self.closer.fill(farthest);
            places.iter().zip(looked).for_each(|(place, closer)| self.closer[*place] = closer);
        }
        self
    }

    /// With what was used after queries like it: places in the order of [`Index::tools`], each with what it
    /// counts, up to 1.
    pub fn with_uses(mut self, used: impl IntoIterator<Item = (usize, f32)>) -> Self {
        let is_there = |(place, worth): &(usize, f32)| *place < self.cosines.len() && *worth > 0.0;
        let used = used.into_iter().filter(is_there).map(|(place, worth)| (place as ToolId, worth.min(1.0)));
        self.used = used.collect();
        self
    }

    fn use_of(&self, tool: ToolId) -> f32 {
        self.used.iter().find(|(used, _)| *used == tool).map_or(0.0, |(_, worth)| *worth)
    }
}

/// A closer look takes some microseconds for each tool.
const LOOKED_AT_MAX: usize = 500;

/// How much of a description says what a tool is for; the rest is mostly how to use it.
const DESCRIPTION_BYTES_MAX: usize = 300;
const NAME_BYTES_MAX: usize = 120;
const SERVER_BYTES_MAX: usize = 80;
const PARAMETER_BYTES_MAX: usize = 40;
const PARAMETERS_MAX: usize = 12;

/// Words of servers' names that every server could have.
const WORDS_OF_ANY_SERVER: [&str; 3] = ["mcp", "modelcontextprotocol", "server"];

/// What of a tool is given to an encoder: its server's name and its own as words, what it says first, and what
/// its arguments are called. Without a server, to see what that one is good for.
pub fn meaning_text(server: Option<&Server>, tool: &Tool) -> String {
    meaning_parts(server, tool).concat()
}

/// The same text in two parts, the first of which ends with the first sentence of the description.
pub fn meaning_parts(server: Option<&Server>, tool: &Tool) -> [String; 2] {
    let definition = &tool.definition;
    let server = server.map(beginning_of).unwrap_or_default();
    let name = spaced(first_bytes(&definition.name, NAME_BYTES_MAX));
    let description = definition.description.as_deref().unwrap_or_default().trim();
    let properties = definition.input_schema.get("properties").and_then(Value::as_object);
    let parameters = properties.into_iter().flatten().take(PARAMETERS_MAX);
    let parameters: Vec<String> =
        parameters.map(|(name, _)| spaced(first_bytes(name, PARAMETER_BYTES_MAX))).collect();
    let description = first_bytes(description, DESCRIPTION_BYTES_MAX);
    let (summary, rest) = first_sentence(description);
    [format!("{server}{name}. {summary}"), format!("{rest} {}", parameters.join(", "))]
}

/// Short forms that an encoder of English knows little of, each with what it stands for. Sorted.
const SHORT_FORMS: [(&str, &str); 21] = [
    ("app", "application"),
    ("apps", "applications"),
    ("auth", "authentication"),
    ("ci", "CI pipeline"),
    ("config", "configuration"),
    ("db", "database"),
    ("dbs", "databases"),
    ("docs", "documentation"),
    ("env", "environment"),
    ("k8s", "kubernetes"),
    ("kb", "knowledge base"),
    ("mr", "merge request"),
    ("mrs", "merge requests"),
    ("pr", "pull request"),
    ("prs", "pull requests"),
    ("repo", "repository"),
    ("repos", "repositories"),
    ("sms", "text message"),
    ("tts", "text to speech"),
    ("vm", "virtual machine"),
    ("vms", "virtual machines"),
];

/// What of a query is given to an encoder: the same with short forms in full.
pub fn meaning_query(text: &str) -> String {
    let mut written = String::with_capacity(text.len() + 32);
    let mut rest = text;
    while !rest.is_empty() {
        let word_end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(word_end);
        let lower = word.to_ascii_lowercase();
        let known = SHORT_FORMS.binary_search_by_key(&lower.as_str(), |(short, _)| short);
        written.push_str(known.map_or(word, |at| SHORT_FORMS[at].1));
        let gap_end = after.find(char::is_alphanumeric).unwrap_or(after.len());
        let (gap, next) = after.split_at(gap_end);
        written.push_str(gap);
        rest = next;
    }
    written
}

/// `git hub: ` for `mcp-server-git-hub`; nothing for a name that says nothing.
fn beginning_of(server: &Server) -> String {
    let name = spaced(first_bytes(&server.offer.name, SERVER_BYTES_MAX));
    let mut words: Vec<&str> = Vec::new();
    for word in name.split_whitespace().filter(|word| !WORDS_OF_ANY_SERVER.contains(word)) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    if words.is_empty() { String::new() } else { format!("{}: ", words.join(" ")) }
}

/// What the nearest tool counts beside the one whose words fit best, and what it counts by a closer look.
const WEIGHT: f32 = 1.2;
const CLOSER_WEIGHT: f32 = 0.8;

/// What a tool counts that was always used.
const USE_WEIGHT: f32 = 0.6;

/// How fast a place further down counts less.
const PLACES: f32 = 10.0;

/// Nearer than this, and than this part of the nearest, a tool is worth showing for its meaning alone.
const NEAR_MIN: f32 = 0.25;
const NEAR_OF_BEST: f32 = 0.7;

impl Index {
    /// Every tool, in the order in which [`Nearness`] has them.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = (&Server, &Tool)> {
        (0..self.places.len()).map(|id| self.tool(id as ToolId))
    }

    /// One ranking of what the words found, best first, and of what is near, less what speaks against each. What was
    /// called by its name stays in front.
    pub(super) fn with_nearness(
        &self,
        (named, found): (Vec<Ranked>, Vec<Ranked>),
        nearness: &Nearness,
        against: impl Fn(ToolId) -> f32,
        wanted: impl Fn(ToolId) -> bool,
    ) -> Vec<Ranked> {
        let cosines = &nearness.cosines;
        let range = Range::of((0..).zip(cosines).filter(|(id, _)| wanted(*id)));
        let closer = Range::of((0..).zip(&nearness.closer).filter(|(id, _)| wanted(*id)));
        let near = |id: ToolId| {
            let (cosine, closer_cosine) = (cosines[id as usize], nearness.closer[id as usize]);
            let by_look = WEIGHT * range.part(cosine) + CLOSER_WEIGHT * closer.part(closer_cosine);
            by_look + USE_WEIGHT * nearness.use_of(id) - against(id)
        };
        let mut is_found = vec![false; cosines.len()];
        named.iter().chain(&found).for_each(|found| is_found[found.tool as usize] = true);
        let by_words = found.into_iter().zip(0_u16..).map(|(found, place)| {
            let evidence = found.covered.powf(self.tuning.place_coverage);
            let score = evidence * PLACES / (PLACES + f32::from(place)) + near(found.tool);
            Ranked { score, ..found }
        });
        let threshold = (range.nearest * NEAR_OF_BEST).max(NEAR_MIN);
        let by_meaning = (0..)
            .zip(cosines)
            .filter(|(id, cosine)| **cosine >= threshold || nearness.use_of(*id) > 0.0)
            .filter(|(id, _)| !is_found[*id as usize] && wanted(*id))
            .map(|(tool, _)| Ranked { tool, score: near(tool), covered: 0.0, exact: false });
        let mut rest: Vec<Ranked> = by_words.chain(by_meaning).collect();
        rest.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.tool.cmp(&b.tool)));
        named.into_iter().chain(rest).collect()
    }
}

/// From the farthest to the nearest.
struct Range {
    farthest: f32,
    nearest: f32,
}

impl Range {
    fn of<'a>(cosines: impl Iterator<Item = (ToolId, &'a f32)>) -> Self {
        let nowhere = Self { farthest: f32::MAX, nearest: f32::MIN };
        cosines.fold(nowhere, |range, (_, cosine)| Self {
            farthest: range.farthest.min(*cosine),
            nearest: range.nearest.max(*cosine),
        })
    }

    /// From 0, the farthest, to 1.
    fn part(&self, cosine: f32) -> f32 {
        (cosine - self.farthest) / (self.nearest - self.farthest).max(f32::EPSILON)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::catalogue::{Catalogue, ServerOffer, ToolDefinition};

    fn offer(name: &str, tools: impl IntoIterator<Item = Value>) -> ServerOffer {
        let tool = |tool: Value| {
            let raw = serde_json::value::to_raw_value(&tool).expect("JSON");
            Arc::new(ToolDefinition::parse(&raw).expect("a definition"))
        };
        let tools = tools.into_iter().map(tool).collect();
        ServerOffer { name: name.to_owned(), tools, ..ServerOffer::default() }
    }

    fn index(tools: usize) -> Index {
        let tool = |at: usize| json!({"name": format!("tool_{at:04}"), "inputSchema": {"type": "object"}});
        Index::new(Arc::new(Catalogue::new(vec![offer("many", (0..tools).map(tool))])))
    }

    #[test]
    fn only_the_nearest_are_looked_at_and_no_other_is_nearer_than_they() {
        let index = index(LOOKED_AT_MAX + 20);
        let cosines: Vec<f32> = (0..index.places.len()).map(|at| at as f32 / 1_000.0).collect();
        let nearness = Nearness::new(&index, cosines.clone()).expect("one for each tool");
        assert_eq!(nearness.closer, cosines, "nobody looked");
        let nearness = nearness.with_closer_look(|place| {
            assert!(place >= 20, "{place} is among the farthest");
            if place == 300 { 0.1 } else { 0.9 }
        });
        assert_eq!(nearness.cosines, cosines);
        assert_eq!((nearness.closer[0], nearness.closer[300], nearness.closer[301]), (0.1, 0.1, 0.9));
    }

    #[test]
    fn a_closer_look_that_says_nothing_changes_nothing() {
        let index = index(2);
        let nearness = Nearness::new(&index, vec![0.2, 0.4]).expect("one for each tool");
        assert_eq!(nearness.clone().with_closer_look(|_| f32::NAN), nearness);
    }

    #[test]
    fn a_closer_look_decides_between_tools_that_are_equally_near() {
        let index = index(3);
        let nearness = Nearness::new(&index, vec![0.5, 0.5, 0.1]).expect("one for each tool");
        let nearness = nearness.with_closer_look(|place| [0.1, 0.6, 0.2][place]);
        let found: Vec<ToolId> =
            index.rank("zzzzz", Some(&nearness), |_| true).iter().map(|found| found.tool).collect();
        assert_eq!(found, [1, 0]);
    }

    #[test]
    fn short_forms_are_encoded_in_full_and_nothing_else_changes() {
        assert!(SHORT_FORMS.is_sorted());
        let check = |text: &str, expected: &str| assert_eq!(meaning_query(text), expected);
        check("", "");
        check("merge the PR", "merge the pull request");
        check("Who reviewed MRs, repo-wide?", "Who reviewed merge requests, repository-wide?");
        check("  übersetze \u{200b} docsé x ", "  übersetze \u{200b} docsé x ");
        check("appear in prose", "appear in prose");
    }

    #[test]
    fn the_first_part_of_what_is_encoded_ends_with_the_first_sentence() {
        let schema = json!({"type": "object", "properties": {"orderId": {}}});
        let tool = json!({
            "name": "getOrder",
            "description": " Gets an order. Not a cart.",
            "inputSchema": schema,
        });
        let catalogue = Catalogue::new(vec![offer("shop", [tool])]);
        let server = &catalogue.servers[0];
        let parts = meaning_parts(Some(server), &server.tools[0]);
        assert_eq!(parts, ["shop: get order. Gets an order", ". Not a cart. order id"]);
        assert_eq!(meaning_text(Some(server), &server.tools[0]), parts.concat());
    }
}
