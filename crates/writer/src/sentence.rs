//! The sentence as tokens: words, and values that are recognized by how they look.

use serde_json::Number;

use crate::stems::stem;

/// One piece of the sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// As it was written, without quotes.
    pub text: String,
    pub lower: String,
    pub stem: String,
    pub kind: Kind,
    /// Whether it begins with a capital, and is not the first word.
    pub is_name: bool,
}

/// What a token looks like.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Word,
    Number(Number),
    /// Between quotes.
    Quoted,
    /// `2025-07-01`.
    Date,
    Email,
    Url,
    /// Has a slash or an ending, such as `notes/plan.md`.
    Path,
    /// Has a star, such as `*.md`.
    Glob,
    /// Letters with digits, such as `DOC-0107`.
    Identifier,
    /// Arithmetic, such as `(17 + 4) * 3`.
    Expression,
    /// A comma, a colon and the like.
    Mark,
}

impl Token {
    pub fn new(text: &str, kind: Kind) -> Self {
        let lower = text.to_lowercase();
        Self { text: text.to_owned(), stem: stem(&lower), lower, kind, is_name: false }
    }

    pub fn is_word(&self) -> bool {
        self.kind == Kind::Word
    }

    /// A number, in digits or as a word.
    pub fn number(&self) -> Option<Number> {
        match &self.kind {
            Kind::Number(number) => Some(number.clone()),
            Kind::Word => crate::lexicon::number(&self.lower).map(Number::from),
            _ => None,
        }
    }
}

/// The index of the next token that is no mark and no article.
pub fn next_content(tokens: &[Token], from: usize) -> Option<usize> {
    (from..tokens.len()).find(|index| is_content(&tokens[*index]))
}

/// The index of the last such token before this one.
pub fn previous_content(tokens: &[Token], before: usize) -> Option<usize> {
    (0..before).rev().find(|index| is_content(&tokens[*index]))
}

fn is_content(token: &Token) -> bool {
    token.kind != Kind::Mark && !matches!(token.lower.as_str(), "the" | "a" | "an")
}
