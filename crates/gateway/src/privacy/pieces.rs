//! Large JSON texts, masked piece by piece: a document of many megabytes is never in memory as a value.

use serde::Deserializer;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::masks::{Masks, TOO_MUCH};
use super::source::Source;

/// What is a value at once.
const PIECE_BYTES_MAX: usize = 1 << 20;

/// What is large deeper than this is taken as text: each level is read once more.
const DEPTH_MAX: usize = 8;

impl Masks {
    /// Masks what is personal in a JSON text that was found under these names. What can't be read is taken as
    /// text.
    pub fn json_text(&mut self, json: &mut String, source: Source<'_>) {
        if json.len() <= PIECE_BYTES_MAX {
            self.json(json, source);
            return;
        }
        let mut out = String::with_capacity(json.len());
        let mut above = source.above.to_vec();
        let mut piece = Pieces { masks: self, source, above: &mut above, out: &mut out, depth: 0 };
        let whole = piece.whole(json);
        match whole {
            // Of the whole document, whichever piece was one too many.
            _ if self.is_overfull() => *json = Value::from(TOO_MUCH).to_string(),
            Ok(()) => *json = out,
            Err(_) => {
                self.text(json);
            }
        }
    }
}

struct Pieces<'p, 's> {
    masks: &'p mut Masks,
    source: Source<'s>,
    above: &'p mut Vec<String>,
    out: &'p mut String,
    depth: usize,
}

impl Pieces<'_, '_> {
    fn whole(&mut self, json: &str) -> Result<(), serde_json::Error> {
        let json = json.trim();
        if json.len() <= PIECE_BYTES_MAX || !json.starts_with(['{', '[']) {
            return self.small(json);
        }
        if self.depth == DEPTH_MAX {
            let mut text = json.to_owned();
            self.masks.text(&mut text);
            self.out.push_str(&text);
            return self.go_on();
        }
        let mut reader = serde_json::Deserializer::from_str(json);
        self.depth += 1;
        reader.deserialize_any(&mut *self)?;
        self.depth -= 1;
        reader.end()
    }

    fn small(&mut self, json: &str) -> Result<(), serde_json::Error> {
        let mut value: Value = serde_json::from_str(json)?;
        let source = Source { above: self.above, ..self.source };
        match self.masks.value(&mut value, source) {
            true => self.out.push_str(&value.to_string()),
            false => self.out.push_str(json),
        }
        self.go_on()
    }

    /// The rest of a document with too much in it isn't looked at.
    fn go_on(&self) -> Result<(), serde_json::Error> {
        match self.masks.is_overfull() {
            true => Err(serde_json::Error::custom("it holds too much personal data")),
            false => Ok(()),
        }
    }

    /// Members or items that belong together, without their brackets.
    fn batch(&mut self, batch: &mut String, [open, close]: [char; 2]) -> Result<(), serde_json::Error> {
        if batch.is_empty() {
            return Ok(());
        }
        self.comma(open);
        let start = self.out.len();
        let whole = format!("{open}{batch}{close}");
        self.small(&whole)?;
        // Its brackets are one byte each.
        self.out.pop();
        self.out.remove(start);
        batch.clear();
        Ok(())
    }

    fn comma(&mut self, open: char) {
        if !self.out.ends_with(open) {
            self.out.push(',');
        }
    }
}

impl<'de> Visitor<'de> for &mut Pieces<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object or an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let mut batch = String::new();
        self.out.push('[');
        while let Some(item) = items.next_element::<&'de RawValue>()? {
            if item.get().len() > PIECE_BYTES_MAX {
                self.batch(&mut batch, ['[', ']']).map_err(Error::custom)?;
                self.comma('[');
                self.whole(item.get()).map_err(Error::custom)?;
                continue;
            }
            if !batch.is_empty() {
                batch.push(',');
            }
            batch.push_str(item.get());
            if batch.len() > PIECE_BYTES_MAX {
                self.batch(&mut batch, ['[', ']']).map_err(Error::custom)?;
            }
        }
        self.batch(&mut batch, ['[', ']']).map_err(Error::custom)?;
        self.out.push(']');
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut batch = String::new();
        self.out.push('{');
        while let Some((key, value)) = members.next_entry::<String, &'de RawValue>()? {
            if value.get().len() > PIECE_BYTES_MAX {
                self.batch(&mut batch, ['{', '}']).map_err(Error::custom)?;
                self.comma('{');
                let mut shown = key.clone();
                self.masks.text(&mut shown);
                self.out.push_str(&Value::from(shown).to_string());
                self.out.push(':');
                self.above.push(key);
                self.whole(value.get()).map_err(Error::custom)?;
                self.above.pop();
                continue;
            }
            if !batch.is_empty() {
                batch.push(',');
            }
            batch.push_str(&Value::from(key).to_string());
            batch.push(':');
            batch.push_str(value.get());
            if batch.len() > PIECE_BYTES_MAX {
                self.batch(&mut batch, ['{', '}']).map_err(Error::custom)?;
            }
        }
        self.batch(&mut batch, ['{', '}']).map_err(Error::custom)?;
        self.out.push('}');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gristmill_privacy::Detector;
    use serde_json::json;
    use std::sync::Arc;

    #[test]
    fn a_large_document_is_masked_in_pieces_and_stays_what_it_is() {
        let detector = Detector::new(&gristmill_privacy::Settings::default()).unwrap();
        let mut masks = Masks::new(Arc::new(detector), Vec::new());
        let row = |at: usize| json!({"id": at, "customer_name": "Ada Lovelace", "padding": "x".repeat(500)});
        let rows: Vec<Value> = (0..5_000).map(row).collect();
        let mut document = json!({"first": 1, "rows": rows, "customer_name": ["Ada Lovelace"], "ann@example.com": "y".repeat(2 << 20), "last": {"a": []}});
        let mut text = document.to_string();
        masks.json_text(&mut text, Source::default());
        let masked: Value = serde_json::from_str(&text).expect("still JSON");
        masks.value(&mut document, Source::default());
        assert!(masked == document, "the same as in one piece");
        assert!(!text.contains("Lovelace") && !text.contains("ann@"));
        assert_eq!(masked["rows"][4_999]["id"], 4_999);
        let mut broken = format!("{{\"to\": \"ann@example.com\", {}", "z".repeat(2 << 20));
        masks.json_text(&mut broken, Source::default());
        assert!(broken.starts_with("{\"to\": \"[EMAIL_"), "what is no JSON is searched as text");
    }
}
