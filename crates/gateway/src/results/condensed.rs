//! A value that is searched for what is personal before it is condensed: what is cut may be in the middle of it.

use gristmill_domain::shape::{Shaped, Strategy, shape_json, shape_text};

use super::ResultKind;
use crate::privacy::{Masks, Source, Veil};
use crate::tokens;

/// What is left of a budget for tokens that are longer than what they stand for was counted as.
const SPARE: usize = 12;

/// A value within its budget, and what is masked in it.
pub(super) struct Condensed {
    shaped: Shaped,
    masks: Option<Masks>,
}

impl Condensed {
    /// Takes a while: on a thread where nobody waits behind it.
    pub fn of(text: String, kind: ResultKind, budget: (Strategy, usize), masks: Option<Masks>) -> Self {
        Self::at(text, kind, budget, masks, Source::default())
    }

    /// The same for a part of a document, with the place that it is from.
    pub fn at(
        mut text: String,
        kind: ResultKind,
        (strategy, mut tokens_max): (Strategy, usize),
        mut masks: Option<Masks>,
        source: Source<'_>,
    ) -> Self {
        if let Some(masks) = &mut masks {
            match kind {
                ResultKind::Json => masks.json_text(&mut text, source),
                ResultKind::Text | ResultKind::Binary => masks.text_at(&mut text, source),
            }
            if !masks.is_empty() {
                tokens_max -= tokens_max / SPARE;
            }
        }
        let shaped = match kind {
            ResultKind::Json => shape_json(&text, strategy, tokens_max, &tokens::count),
            ResultKind::Text | ResultKind::Binary => shape_text(&text, strategy, tokens_max, &tokens::count),
        };
        Self { shaped, masks }
    }

    /// As it may be shown.
    pub async fn shown_through(self, veil: Option<&Veil>) -> Shaped {
        let Self { mut shaped, masks } = self;
        if let (Some(veil), Some(masks)) = (veil, &masks) {
            veil.shaped(masks, &mut shaped).await;
        }
        shaped
    }
}
