//! Documents without their values, before anybody has tokens for them: a mask that reads like a token stands in
//! each place. Nothing waits here, so that large documents can be searched on a thread of their own; and of a
//! document that is condensed afterwards, only what is shown needs tokens.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

use gristmill_privacy::{Code, Detector, Finding, Form, Kind, Origin, find_tokens, mint, placeholder};
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::replacing::{Replaced, in_place, replace, unlike};
use super::restored::{Pair, hide_in, hide_in_value};
use super::source::Source;
use super::vault::Wanted;

/// Of two findings that overlap only one is told; the rest of the other shows in the next pass. What is still
/// found after these was made to be.
const PASSES_MAX: usize = 8;

/// Codes have so many numbers.
const CODES: u64 = 1_000_000_000_000;

/// What stands for a text in which something is found however often it is hidden.
pub(super) const WITHHELD: &str = "[withheld: personal data in it can't be told from the rest]";

/// A value, by all that tells its token from others.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Masked {
    kind: Kind,
    value: String,
    form: Form,
    is_number: bool,
}

/// Values and what stands for them, in any number of documents of one caller.
pub(crate) struct Masks {
    detector: Arc<Detector>,
    /// In the order in which they came.
    values: Vec<Arc<Masked>>,
    known: HashMap<Arc<Masked>, usize>,
    /// Codes begin anywhere: nobody writes one ahead.
    first: u64,
    passes_max: usize,
    /// What is hidden wherever it stands, with its tokens.
    remembered: Vec<Arc<Pair>>,
    has_hidden: bool,
    has_withheld: bool,
}

/// What stands in the place of a mask in the end.
pub(super) struct Instead {
    pub text: String,
    /// Whether it is the value itself, which isn't hidden.
    pub is_value: bool,
    /// Whether that was a number.
    pub is_number: bool,
}

impl Masks {
    pub(super) fn new(detector: Arc<Detector>, remembered: Vec<Arc<Pair>>) -> Self {
        Self {
            detector,
            values: Vec::new(),
            known: HashMap::new(),
            first: RandomState::new().build_hasher().finish() % CODES,
            passes_max: PASSES_MAX,
            remembered,
            has_hidden: false,
            has_withheld: false,
        }
    }

    /// For a document that nobody could search.
    pub(super) fn withheld(detector: Arc<Detector>) -> Self {
        Self { has_hidden: true, has_withheld: true, ..Self::new(detector, Vec::new()) }
    }

    /// Masks what is personal in a text; whether there was something.
    pub fn text(&mut self, text: &mut String) -> bool {
        if text.is_empty() {
            return false;
        }
        let is_masked = self.text_by_rules(text);
        let is_remembered = hide_in(&self.remembered, text);
        self.has_hidden |= is_remembered;
        is_masked || is_remembered
    }

    fn text_by_rules(&mut self, text: &mut String) -> bool {
        let detector = Arc::clone(&self.detector);
        for pass in 0..self.passes_max {
            let found = detector.scan(text);
            if found.is_empty() {
                return pass > 0;
            }
            let mask = |finding: &Finding| {
                let value = text.get(finding.span.clone()).unwrap_or_default();
                self.mask(&finding.kind, value, Form::Plain, false)
            };
            let masks: Vec<String> = found.iter().map(mask).collect();
            *text = in_place(text, &found, masks.into_iter());
        }
        if !detector.scan(text).is_empty() {
            WITHHELD.clone_into(text);
            (self.has_hidden, self.has_withheld) = (true, true);
        }
        true
    }

    /// The same for a JSON document; names of fields count as context. Numbers become texts.
    pub fn value(&mut self, value: &mut Value, source: Source<'_>) -> bool {
        let is_masked = self.value_by_rules(value, source);
        let is_remembered = hide_in_value(&self.remembered, value);
        self.has_hidden |= is_remembered;
        is_masked || is_remembered
    }

    fn value_by_rules(&mut self, value: &mut Value, source: Source<'_>) -> bool {
        for pass in 0..self.passes_max {
            let found = self.masked_in(value, source);
            if found.is_empty() {
                return pass > 0;
            }
            replace(value, found);
        }
        let left = self.detector.scan_nodes(value, &origin_of(source));
        let mut left: Vec<Replaced> = left.into_iter().map(|left| whole(left.node, left.finding)).collect();
        if !left.is_empty() {
            (self.has_hidden, self.has_withheld) = (true, true);
        }
        left.dedup_by_key(|left| left.node);
        replace(value, left);
        true
    }

    /// The same for the text of a JSON document; one that can't be read is taken as text.
    pub fn json(&mut self, json: &mut String, source: Source<'_>) -> bool {
        let Ok(mut value) = serde_json::from_str::<Value>(json) else { return self.text(json) };
        let is_changed = self.value(&mut value, source);
        if is_changed {
            *json = value.to_string();
        }
        is_changed
    }

    /// The same for a text with its place: one that is a JSON document, or the value of a field, is taken as that.
    pub fn text_at(&mut self, text: &mut String, source: Source<'_>) {
        let is_document = text.trim_start().starts_with(['{', '[']);
        if is_document && serde_json::from_str::<IgnoredAny>(text).is_ok() {
            return self.json_text(text, source);
        }
        let mut value = Value::String(std::mem::take(text));
        self.value(&mut value, source);
        if let Value::String(masked) = value {
            *text = masked;
        }
    }

    /// What tokens are wanted for: all values, or those whose masks are `shown`.
    pub(super) fn wanted<'m>(
        &'m self,
        shown: Option<&HashSet<String>>,
        server: Option<&'m str>,
    ) -> (Vec<String>, Vec<Wanted<'m>>) {
        let all = self.values.iter().enumerate().map(|(at, masked)| {
            let Masked { kind, value, form, is_number } = &**masked;
            let wanted = Wanted { kind, value, form: *form, is_number: *is_number, server };
            (self.mask_at(at, kind), wanted)
        });
        all.filter(|(mask, _)| shown.is_none_or(|shown| shown.contains(mask))).unzip()
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Whether something is hidden for good, whatever becomes of masks.
    pub(super) fn has_hidden(&self) -> bool {
        self.has_hidden
    }

    /// Whether two texts may look the same that aren't.
    pub(super) fn has_withheld(&self) -> bool {
        self.has_withheld
    }

    /// A token, or else the value as it was, without what is remembered in it.
    pub(super) fn instead_of(&self, wanted: &Wanted<'_>, token: Option<String>) -> Instead {
        let is_value = token.is_none();
        let text = token.unwrap_or_else(|| {
            let mut value = wanted.value.to_owned();
            hide_in(&self.remembered, &mut value);
            value
        });
        Instead { text, is_value, is_number: wanted.is_number }
    }

    fn masked_in(&mut self, value: &Value, source: Source<'_>) -> Vec<Replaced> {
        let detector = Arc::clone(&self.detector);
        let found = detector.scan_nodes(value, &origin_of(source)).into_iter();
        let masked = found.map(|found| {
            let form = match found.schema.filter(|_| source.keeps_formats && found.is_whole) {
                Some(schema) => demanded_form(schema, &found.finding.kind),
                None => Form::Plain,
            };
            let instead = self.mask(&found.finding.kind, &found.value, form, found.is_number);
            Replaced { node: found.node, finding: found.finding, instead }
        });
        masked.collect()
    }

    fn mask(&mut self, kind: &Kind, value: &str, form: Form, is_number: bool) -> String {
        let masked = Arc::new(Masked { kind: kind.clone(), value: value.to_owned(), form, is_number });
        let at = *self.known.entry(Arc::clone(&masked)).or_insert(self.values.len());
        if at == self.values.len() {
            self.values.push(masked);
        }
        self.mask_at(at, kind)
    }

    fn mask_at(&self, at: usize, kind: &Kind) -> String {
        match Code::of_number((self.first + at as u64) % CODES) {
            Some(code) => mint(kind, code, Form::Plain),
            None => placeholder(kind),
        }
    }
}

/// All of a key, a text or a number.
fn whole(node: usize, finding: Finding) -> Replaced {
    let finding = Finding { span: 0..usize::MAX, ..finding };
    Replaced { node, finding, instead: WITHHELD.to_owned() }
}

fn origin_of(source: Source<'_>) -> Origin<'_> {
    let Source { server, tool, schema, above, beside, keeps_formats: _ } = source;
    Origin { server, tool, schema, above, beside }
}

/// What a schema demands of a token that takes a whole text.
fn demanded_form(schema: &Value, kind: &Kind) -> Form {
    let of = |key: &str| schema.get(key).and_then(Value::as_str);
    match kind {
        Kind::Email if matches!(of("format"), Some("email" | "idn-email")) || of("pattern").is_some() => {
            Form::Email
        }
        Kind::Phone if of("format") == Some("phone") || of("pattern").is_some() => Form::Phone,
        _ => Form::Plain,
    }
}

/// Masks that stand in a text.
pub(super) fn shown_in(text: &str, shown: &mut HashSet<String>) {
    shown.extend(find_tokens(text).into_iter().filter_map(|(span, _)| text.get(span).map(str::to_owned)));
}

/// The same in a JSON document. Its depth is bounded by whatever read it.
pub(super) fn shown_in_value(value: &Value, shown: &mut HashSet<String>) {
    match value {
        Value::String(text) => shown_in(text, shown),
        Value::Array(items) => items.iter().for_each(|item| shown_in_value(item, shown)),
        Value::Object(members) => members.iter().for_each(|(key, value)| {
            shown_in(key, shown);
            shown_in_value(value, shown);
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Tokens in the place of masks, or the values of those that aren't hidden. Whether that makes a number of a text.
pub(super) fn unmask(text: &mut String, tokens: &HashMap<String, Instead>) -> bool {
    let (mut done, mut is_number) = (0, true);
    let mut shown = String::with_capacity(text.len());
    for (span, _) in find_tokens(text) {
        let Some(instead) = text.get(span.clone()).and_then(|mask| tokens.get(mask)) else { continue };
        shown.push_str(text.get(done..span.start).unwrap_or_default());
        shown.push_str(&instead.text);
        is_number &= instead.is_value && instead.is_number;
        done = span.end;
    }
    if done > 0 {
        shown.push_str(text.get(done..).unwrap_or_default());
        *text = shown;
    }
    done > 0 && is_number
}

/// The same in a JSON document.
pub(super) fn unmask_value(value: &mut Value, tokens: &HashMap<String, Instead>) {
    match value {
        Value::String(text) => {
            if unmask(text, tokens)
                && let Ok(number) = serde_json::from_str(text)
            {
                *value = Value::Number(number);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| unmask_value(item, tokens)),
        Value::Object(members) => {
            let mut unmasked = Map::with_capacity(members.len());
            for (mut key, mut value) in std::mem::take(members) {
                unmask(&mut key, tokens);
                unmask_value(&mut value, tokens);
                unmasked.insert(unlike(&unmasked, key), value);
            }
            *members = unmasked;
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn masks(passes_max: usize) -> Masks {
        let detector = Detector::new(&gristmill_privacy::Settings::default()).unwrap();
        Masks { passes_max, ..Masks::new(Arc::new(detector), Vec::new()) }
    }

    #[test]
    fn what_is_still_found_after_the_last_pass_is_withheld() {
        let (mut text, mut json) = ("to ann@example.com".to_owned(), r#""ann@example.com""#.to_owned());
        let mut value = json!({"note": "to ann@example.com", "ann@example.com": 1, "id": 7});
        let mut masks = masks(0);
        assert!(masks.text(&mut text) && masks.json(&mut json, Source::default()));
        assert!(masks.value(&mut value, Source::default()));
        assert_eq!((text.as_str(), json), (WITHHELD, format!("\"{WITHHELD}\"")));
        assert_eq!(value, json!({"note": WITHHELD, WITHHELD: 1, "id": 7}), "other fields stay");
    }

    #[test]
    fn the_same_value_has_the_same_mask_and_only_what_is_shown_is_wanted() {
        let mut value = json!(["ann@example.com", {"to": "ann@example.com"}, "bob@example.com"]);
        let mut masks = masks(PASSES_MAX);
        assert!(masks.value(&mut value, Source::default()));
        assert_eq!(value[0], value[1]["to"]);
        assert_ne!(value[0], value[2]);
        let mut shown = HashSet::new();
        shown_in_value(&value[2], &mut shown);
        let (_, wanted) = masks.wanted(Some(&shown), None);
        assert_eq!(wanted.iter().map(|one| one.value).collect::<Vec<_>>(), ["bob@example.com"]);
        let clean = json!({"id": 7});
        let mut same = clean.clone();
        assert!(!masks.value(&mut same, Source::default()));
        assert_eq!(same, clean);
    }
}
