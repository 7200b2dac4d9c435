//! How much each thing counts. Chosen by measuring with the queries in `benches/search`, by that half
//! of them which is not held out.

use super::fields::FIELDS;

/// How a search weighs what it finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Weighted fields, synonyms, phrases, partial and misspelled words: what users get.
    Full,
    /// The same without one part, to see what it's good for.
    Without(Part),
    /// Plain BM25 over stems with every field alike, to compare with.
    Plain,
}

/// What a search knows beside the words of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Words that people use for each other.
    Close,
    /// Words that go together.
    Related,
    /// Words in a row that are one idea.
    Phrases,
    /// Partial and misspelled words.
    Guesses,
    /// A server whose other tools fit, or that is named.
    Servers,
    /// What part of a query a tool has, beside its nearness.
    Coverage,
    /// Whether a tool does what the query wants done.
    Actions,
}

impl Part {
    /// Every part, with what it is in words.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::Close, "words that mean the same"),
        (Self::Related, "words that go together"),
        (Self::Phrases, "phrases"),
        (Self::Guesses, "partial and misspelled words"),
        (Self::Servers, "the server around a tool"),
        (Self::Coverage, "the part of a query that is found"),
        (Self::Actions, "what is to be done"),
    ];
}

/// What a field counts, and how much less in a tool where it is long.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldWeight {
    pub weight: f32,
    /// From 0 (length does not matter) to 1.
    pub by_length: f32,
}

/// Everything that a score depends on beside the words.
#[derive(Clone, Debug)]
pub(super) struct Tuning {
    /// In the order of `Field`.
    pub fields: [FieldWeight; FIELDS],
    /// How fast more of the same word stops counting.
    pub saturation: f32,
    /// A word said more often says no more: a text cannot push itself up by repetition.
    pub times_max: u32,
    /// What a synonym counts beside the word itself.
    pub close: f32,
    pub related: f32,
    /// What a partial or a misspelled word counts.
    pub prefix: f32,
    pub typo: f32,
    /// How much it matters that all words of a query are found rather than one of them often.
    pub coverage: f32,
    /// The same for a tool's place by words when its nearness is added: few words of many are weak evidence.
    pub place_coverage: f32,
    /// How much it matters that a query has all words of a tool's name.
    pub name_coverage: f32,
    /// How much it matters that the query names the server.
    pub server_named: f32,
    /// How much it matters that other tools of the same server fit too.
    pub server_context: f32,
}

impl Method {
    pub(super) fn has(self, part: Part) -> bool {
        match self {
            Self::Full => true,
            Self::Without(other) => part != other,
            Self::Plain => false,
        }
    }

    pub(super) fn tuning(self) -> Tuning {
        let field = |weight, by_length| FieldWeight { weight, by_length };
        match self {
            Self::Full => Tuning {
                fields: [
                    field(3.0, 0.6),
                    field(1.5, 0.6),
                    field(1.5, 0.6),
                    field(2.0, 0.9),
                    field(0.6, 0.9),
                    field(0.7, 0.7),
                    field(0.6, 0.7),
                    field(0.15, 0.5),
                ],
                saturation: 1.5,
                times_max: 5,
                close: 0.8,
                related: 0.6,
                prefix: 0.7,
                typo: 0.7,
                coverage: 0.5,
                place_coverage: 0.5,
                name_coverage: 0.45,
                server_named: 0.4,
                server_context: 0.3,
            },
            Self::Without(part) => {
                let full = Self::Full.tuning();
                match part {
                    Part::Close => Tuning { close: 0.0, ..full },
                    Part::Related => Tuning { related: 0.0, ..full },
                    Part::Phrases | Part::Actions => full,
                    Part::Guesses => Tuning { prefix: 0.0, typo: 0.0, ..full },
                    Part::Servers => Tuning { server_named: 0.0, server_context: 0.0, ..full },
                    Part::Coverage => Tuning { place_coverage: 0.0, ..full },
                }
            }
            Self::Plain => Tuning {
                fields: [field(1.0, 0.75); FIELDS],
                saturation: 1.2,
                times_max: u32::MAX,
                close: 0.0,
                related: 0.0,
                prefix: 0.0,
                typo: 0.0,
                coverage: 0.0,
                place_coverage: 0.0,
                name_coverage: 0.0,
                server_named: 0.0,
                server_context: 0.0,
            },
        }
    }
}
