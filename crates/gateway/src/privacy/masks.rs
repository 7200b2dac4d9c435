//! Documents without their values, before anybody has tokens for them: a mask that reads like a token stands in
//! each place. Nothing waits here, so that large documents can be searched on a thread of their own; and of a
//! document that is condensed afterwards, only what is shown needs tokens.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

use gristmill_domain::{DOCUMENT_FINDINGS_MAX, DOCUMENT_VALUES_MAX, TEXT_FINDINGS_MAX};
use gristmill_privacy::{
    Code, Detector, Finding, Form, Kind, Origin, TooMany, each_token, mint, placeholder,
};
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

/// What stands for a text or document in which more is found than is hidden at once.
pub(super) const TOO_MUCH: &str =
    "[withheld: there is too much personal data in it to hide at once; take a smaller part of it]";

/// A value, by all that tells its token from others.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Masked {
    kind: Kind,
    value: String,
    form: Form,
    is_number: bool,
}

/// How much is searched for.
#[derive(Clone, Copy)]
struct Bounds {
    passes: usize,
    /// Findings in one text.
    in_text: usize,
    /// Findings in all of them.
    findings: usize,
    /// Different values with masks of their own.
    values: usize,
}

const BOUNDS: Bounds = Bounds {
    passes: PASSES_MAX,
    in_text: TEXT_FINDINGS_MAX,
    findings: DOCUMENT_FINDINGS_MAX,
    values: DOCUMENT_VALUES_MAX,
};

/// Values and what stands for them, in the texts of one document of a caller.
pub(crate) struct Masks {
    detector: Arc<Detector>,
    /// In the order in which they came.
    values: Vec<Arc<Masked>>,
    /// What stands for each: one text, wherever it stands.
    known: HashMap<Arc<Masked>, Arc<str>>,
    /// Codes begin anywhere: nobody writes one ahead.
    first: u64,
    bounds: Bounds,
    /// Findings so far.
    found: usize,
    /// What is hidden wherever it stands, with its tokens.
    remembered: Vec<Arc<Pair>>,
    has_hidden: bool,
    has_withheld: bool,
    /// More was found than the bounds allow. Nothing is searched any more.
    is_overfull: bool,
    /// There are values without a mask of their own.
    has_unnamed: bool,
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
            bounds: BOUNDS,
            found: 0,
            remembered,
            has_hidden: false,
            has_withheld: false,
            is_overfull: false,
            has_unnamed: false,
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
        let Ok(is_masked) = self.text_by_rules(text) else {
            // Not into the old one: that may be large.
            *text = String::from(TOO_MUCH);
            self.give_up();
            return true;
        };
        let is_remembered = hide_in(&self.remembered, text);
        self.has_hidden |= is_remembered;
        is_masked || is_remembered
    }

    fn text_by_rules(&mut self, text: &mut String) -> Result<bool, TooMany> {
        if self.is_overfull {
            return Err(TooMany);
        }
        let detector = Arc::clone(&self.detector);
        for pass in 0..self.bounds.passes {
            let found = self.counted(detector.scan_up_to(text, self.bounds.in_text)?)?;
            if found.is_empty() {
                return Ok(pass > 0);
            }
            let masked = found.iter().map(|finding| {
                let value = text.get(finding.span.clone()).unwrap_or_default();
                (finding.span.clone(), self.mask(&finding.kind, value, Form::Plain, false))
            });
            *text = in_place(text.as_str(), masked);
        }
        if !self.counted(detector.scan_up_to(text, self.bounds.in_text)?)?.is_empty() {
            *text = String::from(WITHHELD);
            (self.has_hidden, self.has_withheld) = (true, true);
        }
        Ok(true)
    }

    fn counted(&mut self, found: Vec<Finding>) -> Result<Vec<Finding>, TooMany> {
        self.found += found.len();
        match self.found > self.bounds.findings {
            true => Err(TooMany),
            false => Ok(found),
        }
    }

    /// Nothing of it is shown, so nothing needs a token.
    fn give_up(&mut self) {
        (self.values, self.known) = (Vec::new(), HashMap::new());
        (self.has_hidden, self.has_withheld, self.is_overfull) = (true, true, true);
    }

    /// The same for a JSON document; names of fields count as context. Numbers become texts.
    pub fn value(&mut self, value: &mut Value, source: Source<'_>) -> bool {
        let Ok(is_masked) = self.value_by_rules(value, source) else {
            *value = Value::from(TOO_MUCH);
            self.give_up();
            return true;
        };
        let is_remembered = hide_in_value(&self.remembered, value);
        self.has_hidden |= is_remembered;
        is_masked || is_remembered
    }

    fn value_by_rules(&mut self, value: &mut Value, source: Source<'_>) -> Result<bool, TooMany> {
        if self.is_overfull {
            return Err(TooMany);
        }
        for pass in 0..self.bounds.passes {
            let found = self.masked_in(value, source)?;
            if found.is_empty() {
                return Ok(pass > 0);
            }
            replace(value, found);
        }
        let mut left: Vec<Replaced> = Vec::new();
        self.detector.scan_nodes(value, &origin_of(source), self.bounds.in_text, |found| {
            if left.last().is_none_or(|last| last.node != found.node) {
                left.push(whole(found.node));
            }
            Ok(())
        })?;
        if !left.is_empty() {
            (self.has_hidden, self.has_withheld) = (true, true);
        }
        replace(value, left);
        Ok(true)
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

    /// Whether something is withheld, or has a label without a code, because there is too much of it.
    pub(super) fn has_too_much(&self) -> bool {
        self.is_overfull || self.has_unnamed
    }

    /// Whether nothing is shown of it any more.
    pub(super) fn is_overfull(&self) -> bool {
        self.is_overfull
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

    fn masked_in(&mut self, value: &Value, source: Source<'_>) -> Result<Vec<Replaced>, TooMany> {
        let (detector, bounds) = (Arc::clone(&self.detector), self.bounds);
        let mut masked = Vec::new();
        detector.scan_nodes(value, &origin_of(source), bounds.in_text, |found| {
            self.found += 1;
            if self.found > bounds.findings {
                return Err(TooMany);
            }
            let form = match found.schema.filter(|_| source.keeps_formats && found.is_whole) {
                Some(schema) => demanded_form(schema, &found.finding.kind),
                None => Form::Plain,
            };
            let instead = self.mask(&found.finding.kind, found.value, form, found.is_number);
            masked.push(Replaced { node: found.node, span: found.finding.span, instead });
            Ok(())
        })?;
        Ok(masked)
    }

    fn mask(&mut self, kind: &Kind, value: &str, form: Form, is_number: bool) -> Arc<str> {
        let masked = Masked { kind: kind.clone(), value: value.to_owned(), form, is_number };
        if let Some(mask) = self.known.get(&masked) {
            return Arc::clone(mask);
        }
        if self.values.len() >= self.bounds.values {
            (self.has_hidden, self.has_withheld, self.has_unnamed) = (true, true, true);
            return placeholder(kind).into();
        }
        let mask: Arc<str> = self.mask_at(self.values.len(), kind).into();
        let masked = Arc::new(masked);
        self.known.insert(Arc::clone(&masked), Arc::clone(&mask));
        self.values.push(masked);
        mask
    }

    fn mask_at(&self, at: usize, kind: &Kind) -> String {
        match Code::of_number((self.first + at as u64) % CODES) {
            Some(code) => mint(kind, code, Form::Plain),
            None => placeholder(kind),
        }
    }
}

/// All of a key, a text or a number.
fn whole(node: usize) -> Replaced {
    Replaced { node, span: 0..usize::MAX, instead: WITHHELD.into() }
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
    shown.extend(each_token(text).filter_map(|(span, _)| text.get(span).map(str::to_owned)));
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
    for (span, _) in each_token(text) {
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
        within(Bounds { passes: passes_max, ..BOUNDS })
    }

    fn within(bounds: Bounds) -> Masks {
        let detector = Detector::new(&gristmill_privacy::Settings::default()).unwrap();
        Masks { bounds, ..Masks::new(Arc::new(detector), Vec::new()) }
    }

    const ADDRESSES: [&str; 3] = ["ann@example.com", "bob@example.com", "ann@example.com"];

    #[test]
    fn a_text_with_too_much_in_it_is_withheld_as_a_whole_and_nothing_is_kept_of_it() {
        let check = |bounds: Bounds, expected: Option<&str>| {
            let (mut text, mut value) =
                (ADDRESSES.join(", "), json!({"note": ADDRESSES.join(", "), "id": 7}));
            let (mut of_text, mut of_value) = (within(bounds), within(bounds));
            assert!(of_text.text(&mut text) && of_value.value(&mut value, Source::default()));
            assert_eq!(of_text.is_overfull(), expected.is_some());
            match expected {
                Some(expected) => assert_eq!((text.as_str(), value), (expected, json!(expected))),
                None => assert!(text.starts_with("[EMAIL_") && value["id"] == 7),
            }
            assert!(
                of_text.has_withheld() == expected.is_some() && of_value.has_hidden() == expected.is_some()
            );
        };
        check(Bounds { in_text: 3, findings: 3, ..BOUNDS }, None);
        check(Bounds { in_text: 2, ..BOUNDS }, Some(TOO_MUCH));
        check(Bounds { findings: 2, ..BOUNDS }, Some(TOO_MUCH));
    }

    #[test]
    fn findings_of_all_texts_of_a_document_count_together() {
        let mut value = json!(ADDRESSES);
        let mut masks = within(Bounds { in_text: 1, findings: 3, ..BOUNDS });
        assert!(masks.value(&mut value, Source::default()) && !masks.is_overfull());
        assert_eq!(value[0], value[2]);
        let mut more = "cy@example.com".to_owned();
        assert!(masks.text(&mut more) && masks.is_overfull());
        assert_eq!(more, TOO_MUCH);
        let mut clean = json!("nothing");
        assert!(masks.value(&mut clean, Source::default()), "what comes behind is withheld, too");
        assert!(masks.is_empty(), "nothing of it gets a token");
    }

    #[test]
    fn more_values_than_get_tokens_have_labels_without_a_code() {
        let mut value = json!(ADDRESSES);
        let mut masks = within(Bounds { values: 1, ..BOUNDS });
        assert!(masks.value(&mut value, Source::default()));
        assert_eq!((&value[0], &value[1]), (&value[2], &json!("[EMAIL]")));
        assert!(masks.has_too_much() && !masks.is_overfull() && masks.has_withheld());
        assert_eq!(masks.wanted(None, None).1.len(), 1, "however often it stands there");
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
