//! What a query means, beside the words that it has.
//!
//! This crate has no encoder: whoever has one says how near each tool is to a query, in the order of
//! [`Index::tools`], and the index makes one ranking of both.

use serde_json::Value;

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
    /// Places of tools, each with what its use counts, up to 1.
    used: Vec<(ToolId, f32)>,
}

impl Nearness {
    /// `None` unless there is one number, and a real one, for each tool.
    pub fn new(index: &Index, cosines: Vec<f32>) -> Option<Self> {
        let fits = cosines.len() == index.places.len() && cosines.iter().all(|cosine| cosine.is_finite());
        fits.then_some(Self { cosines, used: Vec::new() })
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
    let definition = &tool.definition;
    let server = server.map(beginning_of).unwrap_or_default();
    let name = spaced(first_bytes(&definition.name, NAME_BYTES_MAX));
    let description = definition.description.as_deref().unwrap_or_default().trim();
    let properties = definition.input_schema.get("properties").and_then(Value::as_object);
    let parameters = properties.into_iter().flatten().take(PARAMETERS_MAX);
    let parameters: Vec<String> =
        parameters.map(|(name, _)| spaced(first_bytes(name, PARAMETER_BYTES_MAX))).collect();
    let description = first_bytes(description, DESCRIPTION_BYTES_MAX);
    format!("{server}{name}. {description} {}", parameters.join(", "))
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

/// What the nearest tool counts beside the one whose words fit best.
const WEIGHT: f32 = 2.0;

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

    /// One ranking of what the words found, best first, and of what is near. What was called by its name
    /// stays in front.
    pub(super) fn with_nearness(
        &self,
        named: Vec<Ranked>,
        found: Vec<Ranked>,
        nearness: &Nearness,
        wanted: impl Fn(ToolId) -> bool,
    ) -> Vec<Ranked> {
        let cosines = &nearness.cosines;
        let of_wanted = || (0..).zip(cosines).filter(|(id, _)| wanted(*id)).map(|(_, cosine)| *cosine);
        let nearest = of_wanted().fold(f32::MIN, f32::max);
        let farthest = of_wanted().fold(f32::MAX, f32::min);
        let spread = (nearest - farthest).max(f32::EPSILON);
        let near = |id: ToolId| {
            WEIGHT * (cosines[id as usize] - farthest) / spread + USE_WEIGHT * nearness.use_of(id)
        };
        let mut is_found = vec![false; cosines.len()];
        named.iter().chain(&found).for_each(|found| is_found[found.tool as usize] = true);
        let by_words = found.into_iter().zip(0_u16..).map(|(found, place)| {
            let evidence = found.covered.powf(self.tuning.place_coverage);
            let score = evidence * PLACES / (PLACES + f32::from(place)) + near(found.tool);
            Ranked { score, ..found }
        });
        let threshold = (nearest * NEAR_OF_BEST).max(NEAR_MIN);
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
