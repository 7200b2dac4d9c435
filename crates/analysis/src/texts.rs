//! Many texts in one buffer.
//!
//! A text is a place in the buffer, so that taking, filtering and repeating rows copies places and never
//! letters.

use std::sync::Arc;

/// Where a text begins and ends. A missing one begins behind its end.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
}

const MISSING: Span = Span { start: 1, end: 0 };

/// Texts by row; each may be missing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts {
    buffer: Arc<String>,
    spans: Vec<Span>,
}

impl Texts {
    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    /// The text of a row; `None` where it is missing or there is no such row.
    pub(crate) fn get(&self, row: usize) -> Option<&str> {
        self.at(*self.spans.get(row)?)
    }

    pub(crate) fn is_missing(&self, row: usize) -> bool {
        self.spans.get(row).is_none_or(|span| span.start > span.end)
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = Option<&str>> + ExactSizeIterator + Clone {
        self.spans.iter().map(|span| self.at(*span))
    }

    /// The texts of these rows in this order; what is no row is missing.
    pub(crate) fn take(&self, rows: impl Iterator<Item = Option<usize>>) -> Self {
        let spans = rows.map(|row| row.and_then(|row| self.spans.get(row)).copied().unwrap_or(MISSING));
        Self { buffer: Arc::clone(&self.buffer), spans: spans.collect() }
    }

    fn at(&self, span: Span) -> Option<&str> {
        // No text of the buffer is behind its end, so that a missing place has none.
        self.buffer.get(span.start..span.end)
    }
}

impl PartialEq for Texts {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<S: AsRef<str>> FromIterator<Option<S>> for Texts {
    fn from_iter<I: IntoIterator<Item = Option<S>>>(texts: I) -> Self {
        let mut builder = TextsBuilder::default();
        for text in texts {
            builder.push(text.as_ref().map(AsRef::as_ref));
        }
        builder.finish()
    }
}

/// Collects texts one after the other.
#[derive(Debug, Default)]
pub(crate) struct TextsBuilder {
    buffer: String,
    spans: Vec<Span>,
}

impl TextsBuilder {
    /// A builder whose first texts are missing.
    pub(crate) fn after_missing(count: usize) -> Self {
        Self { buffer: String::new(), spans: vec![MISSING; count] }
    }

    pub(crate) fn push(&mut self, text: Option<&str>) {
        let span = text.map_or(MISSING, |text| {
            let start = self.buffer.len();
            self.buffer.push_str(text);
            Span { start, end: self.buffer.len() }
        });
        self.spans.push(span);
    }

    pub(crate) fn finish(self) -> Texts {
        Texts { buffer: Arc::new(self.buffer), spans: self.spans }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_taken_in_any_order_and_missing_ones_stay_missing() {
        let texts: Texts = [Some("a"), None, Some(""), Some("äö")].into_iter().collect();
        let taken = texts.take([Some(3), None, Some(0), Some(1), Some(9), Some(2)].into_iter());
        let expected = [Some("äö"), None, Some("a"), None, None, Some("")];
        assert_eq!(taken.iter().collect::<Vec<_>>(), expected);
        assert_eq!((taken.get(0), taken.get(6)), (Some("äö"), None));
        assert!(taken.is_missing(1) && taken.is_missing(6) && !taken.is_missing(5));
    }
}
