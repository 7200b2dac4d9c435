//! The one function that texts leave through: what is personal in them is replaced by tokens.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gristmill_privacy::{Finding, Form, JsonFinding, Kind, Origin, placeholder};
use parking_lot::Mutex;
use serde_json::{Map, Value};

use super::Privacy;
use super::places::schema_at;
use super::vault::Wanted;
use crate::marks::Scope;

/// Texts from here on are searched on a thread of their own.
const AT_ONCE_BYTES_MAX: usize = 64 << 10;

/// Of two findings that overlap only one is told; the rest of the other shows in the next pass.
const PASSES_MAX: usize = 3;

/// Tokens of a kind that are told one by one.
const TOLD_MAX: usize = 3;

/// Where a value comes from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Source<'s> {
    pub server: Option<&'s str>,
    pub tool: Option<&'s str>,
    /// What the document is described by.
    pub schema: Option<&'s Value>,
    /// Whether a token must look like what the schema demands.
    pub keeps_formats: bool,
}

/// Hides what is personal, for one caller, and counts what it hid.
pub struct Veil {
    privacy: Privacy,
    scope: Scope,
    hidden: Mutex<BTreeMap<Kind, BTreeSet<String>>>,
}

/// A finding with the text that it is in.
struct Place<'t> {
    text: Cow<'t, str>,
    findings: Vec<(Finding, Form)>,
    is_number: bool,
}

impl Veil {
    pub(super) fn new(privacy: Privacy, scope: Scope) -> Self {
        Self { privacy, scope, hidden: Mutex::default() }
    }

    /// A text without what is personal in it.
    pub async fn text(&self, text: &mut String) {
        for _ in 0..PASSES_MAX {
            if text.is_empty() || !self.text_once(text).await {
                return;
            }
        }
    }

    async fn text_once(&self, text: &mut String) -> bool {
        let found = self.found_in(text).await;
        if found.is_empty() {
            return false;
        }
        let findings = found.iter().cloned().map(|finding| (finding, Form::Plain)).collect();
        let place = Place { text: Cow::Borrowed(text), findings, is_number: false };
        let tokens = self.tokens(std::slice::from_ref(&place), None).await;
        *text = in_place(text, &found, tokens.into_iter());
        true
    }

    pub async fn maybe_text(&self, text: &mut Option<String>) {
        if let Some(text) = text {
            self.text(text).await;
        }
    }

    /// A JSON document without what is personal in it; names of fields count as context. Numbers become texts.
    /// Whether there was something.
    pub async fn value(&self, value: &mut Value, source: Source<'_>) -> bool {
        for pass in 0..PASSES_MAX {
            if !self.value_once(value, source).await {
                return pass > 0;
            }
        }
        true
    }

    async fn value_once(&self, value: &mut Value, source: Source<'_>) -> bool {
        let origin = Origin { server: source.server, tool: source.tool, schema: source.schema };
        let found = self.privacy.inner.detector.scan_json(value, &origin);
        if found.is_empty() {
            return false;
        }
        let groups = grouped(found);
        let places: Vec<Place<'_>> = groups
            .iter()
            .map(|((pointer, is_in_key), findings)| place_of(value, pointer, *is_in_key, findings, source))
            .collect();
        let mut tokens = self.tokens(&places, source.server).await.into_iter();
        let replaced: Vec<String> = places
            .iter()
            .map(|place| {
                let findings: Vec<Finding> =
                    place.findings.iter().map(|(finding, _)| finding.clone()).collect();
                in_place(&place.text, &findings, tokens.by_ref().take(findings.len()))
            })
            .collect();
        drop(places);
        let (keys, values): (Vec<_>, Vec<_>) =
            groups.into_keys().zip(replaced).partition(|((_, is_in_key), _)| *is_in_key);
        for ((pointer, _), text) in values {
            if let Some(value) = value.pointer_mut(&pointer) {
                *value = Value::String(text);
            }
        }
        // The deepest first: a pointer is good until one of its own keys has changed.
        for ((pointer, _), text) in keys.into_iter().rev() {
            rename(value, &pointer, text);
        }
        true
    }

    /// The same for the text of a JSON document; one that can't be read is hidden as text.
    pub async fn json(&self, json: &mut String, source: Source<'_>) {
        match serde_json::from_str::<Value>(json) {
            Ok(mut value) => {
                if self.value(&mut value, source).await {
                    *json = value.to_string();
                }
            }
            Err(_) => self.text(json).await,
        }
    }

    /// Every place of a value that this caller's programs have had sent, found or not.
    pub fn repeated(&self, text: &mut String) {
        self.privacy.inner.restored.hide(&self.scope, text, str::to_owned);
    }

    /// The same for the text of a JSON document.
    pub fn repeated_in_json(&self, json: &mut String) {
        self.privacy.inner.restored.hide(&self.scope, json, |text| {
            let quoted = Value::from(text).to_string();
            quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned()
        });
    }

    /// How many different values were hidden.
    pub fn count(&self) -> usize {
        self.hidden.lock().values().map(BTreeSet::len).sum()
    }

    /// What a caller must know: that there are tokens, and how one is undone that should not be there.
    pub fn note(&self) -> Option<String> {
        let hidden = self.hidden.lock();
        let example = hidden.values().flatten().find(|token| token.contains('_'))?.clone();
        let kinds = hidden.iter().map(|(kind, tokens)| {
            let shown: Vec<&str> = tokens.iter().take(TOLD_MAX).map(String::as_str).collect();
            let more = if tokens.len() > TOLD_MAX { ", …" } else { "" };
            format!("{} {kind} ({}{more})", tokens.len(), shown.join(", "))
        });
        let kinds = kinds.collect::<Vec<_>>().join(", ");
        Some(format!(
            "personal data is hidden behind tokens: {kinds}. Pass a token to a tool as it is; the tool gets the \
             value. If one hides no personal data, the user can run `gristmill privacy allow {example}`"
        ))
    }

    async fn found_in(&self, text: &str) -> Vec<Finding> {
        if text.len() <= AT_ONCE_BYTES_MAX {
            return self.privacy.inner.detector.scan(text);
        }
        let (inner, owned) = (Arc::clone(&self.privacy.inner), text.to_owned());
        let scanned = tokio::task::spawn_blocking(move || inner.detector.scan(&owned)).await;
        // What isn't scanned there is scanned here: nothing goes through unseen.
        scanned.unwrap_or_else(|_| self.privacy.inner.detector.scan(text))
    }

    /// A token for each finding, in their order. What can't be kept has a label only.
    async fn tokens(&self, places: &[Place<'_>], server: Option<&str>) -> Vec<String> {
        let wanted: Vec<Wanted<'_>> = places
            .iter()
            .flat_map(|place| {
                place.findings.iter().filter_map(|(finding, form)| {
                    let value = place.text.get(finding.span.clone())?;
                    let is_number = place.is_number;
                    Some(Wanted { kind: &finding.kind, value, form: *form, is_number, server })
                })
            })
            .collect();
        let kept = self.privacy.inner.vault.tokens(&self.scope, &wanted).await;
        let tokens = kept.unwrap_or_else(|_| wanted.iter().map(|one| placeholder(one.kind)).collect());
        let mut hidden = self.hidden.lock();
        for (one, token) in wanted.iter().zip(&tokens) {
            hidden.entry(one.kind.clone()).or_default().insert(token.clone());
        }
        drop(hidden);
        tokens
    }
}

/// `[EMAIL]` and the like: nothing that could be restored.
pub(super) fn bare_labels(found: &[Finding]) -> impl Iterator<Item = String> {
    found.iter().map(|finding| placeholder(&finding.kind))
}

/// A text with these in the place of findings, which do not overlap and are in its order.
pub(super) fn in_place(text: &str, found: &[Finding], mut instead: impl Iterator<Item = String>) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut done = 0;
    for finding in found {
        let (Some(before), Some(token)) = (text.get(done..finding.span.start), instead.next()) else {
            continue;
        };
        replaced.push_str(before);
        replaced.push_str(&token);
        done = finding.span.end;
    }
    replaced.push_str(text.get(done..).unwrap_or_default());
    replaced
}

type Groups = BTreeMap<(String, bool), Vec<Finding>>;

fn grouped(found: Vec<JsonFinding>) -> Groups {
    let mut groups = Groups::new();
    for JsonFinding { pointer, is_in_key, finding } in found {
        groups.entry((pointer, is_in_key)).or_default().push(finding);
    }
    groups
}

fn place_of<'v>(
    root: &'v Value,
    pointer: &str,
    is_in_key: bool,
    findings: &[Finding],
    source: Source<'_>,
) -> Place<'v> {
    let (text, is_number) = match (is_in_key, root.pointer(pointer)) {
        (true, _) => (Cow::Owned(last_key(pointer)), false),
        (false, Some(Value::String(text))) => (Cow::Borrowed(text.as_str()), false),
        (false, Some(Value::Number(number))) => (Cow::Owned(number.to_string()), true),
        (false, _) => (Cow::Borrowed(""), false),
    };
    let schema = source.schema.filter(|_| source.keeps_formats && !is_in_key);
    let schema = schema.and_then(|schema| schema_at(schema, pointer));
    let form = |finding: &Finding| match schema {
        Some(schema) if finding.span == (0..text.len()) => demanded_form(schema, &finding.kind),
        Some(_) | None => Form::Plain,
    };
    let findings = findings.iter().map(|finding| (finding.clone(), form(finding))).collect();
    Place { text, findings, is_number }
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

fn last_key(pointer: &str) -> String {
    pointer.rsplit('/').next().unwrap_or_default().replace("~1", "/").replace("~0", "~")
}

/// Gives a member of an object another name, in its place.
fn rename(root: &mut Value, pointer: &str, name: String) {
    let Some((parent, _)) = pointer.rsplit_once('/') else { return };
    let Some(Value::Object(members)) = root.pointer_mut(parent) else { return };
    let old = last_key(pointer);
    let all = std::mem::take(members);
    *members = all
        .into_iter()
        .map(|(key, value)| if key == old { (name.clone(), value) } else { (key, value) })
        .collect::<Map<String, Value>>();
}
