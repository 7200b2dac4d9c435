//! The one function that texts leave through: what is personal in them is replaced by tokens.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::Peekable;
use std::sync::Arc;

use gristmill_privacy::{Finding, Form, Kind, Origin, placeholder};
use parking_lot::Mutex;
use serde_json::{Map, Value};

use super::Privacy;
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
        let wanted = found.iter().filter_map(|finding| {
            let value = text.get(finding.span.clone())?;
            Some(Wanted { kind: &finding.kind, value, form: Form::Plain, is_number: false, server: None })
        });
        let tokens = self.tokens(&wanted.collect::<Vec<_>>()).await;
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
        let found = self.privacy.inner.detector.scan_nodes(value, &origin);
        if found.is_empty() {
            return false;
        }
        let wanted = found.iter().map(|found| {
            let form = match found.schema.filter(|_| source.keeps_formats && found.is_whole) {
                Some(schema) => demanded_form(schema, &found.finding.kind),
                None => Form::Plain,
            };
            let (kind, value, is_number) = (&found.finding.kind, found.value.as_str(), found.is_number);
            Wanted { kind, value, form, is_number, server: source.server }
        });
        let tokens = self.tokens(&wanted.collect::<Vec<_>>()).await;
        let found = found.into_iter().map(|found| (found.node, found.finding)).zip(tokens);
        let found: Vec<Replaced> =
            found.map(|((node, finding), token)| Replaced { node, finding, token }).collect();
        Replacing { found: found.into_iter().peekable(), node: 0 }.value(value);
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

    /// The text of a server's answer, also without values that this caller's programs have had sent: no rule may
    /// know them again.
    pub async fn answer(&self, json: &mut String, source: Source<'_>) {
        let Ok(mut value) = serde_json::from_str::<Value>(json) else { return self.words(json).await };
        let is_repeated = self.privacy.inner.restored.hide_value(&self.scope, &mut value);
        if self.value(&mut value, source).await || is_repeated {
            *json = value.to_string();
        }
    }

    /// The same for a server's words.
    pub async fn words(&self, text: &mut String) {
        self.privacy.inner.restored.hide(&self.scope, text);
        self.text(text).await;
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

    /// A token for each, in their order. What can't be kept has a label only.
    async fn tokens(&self, wanted: &[Wanted<'_>]) -> Vec<String> {
        let kept = self.privacy.inner.vault.tokens(&self.scope, wanted).await;
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

/// What is put in the place of one finding.
struct Replaced {
    node: usize,
    finding: Finding,
    token: String,
}

/// Walks a document once more, in the order in which it was searched. Its depth is bounded by whatever read it.
struct Replacing<I: Iterator<Item = Replaced>> {
    found: Peekable<I>,
    node: usize,
}

impl<I: Iterator<Item = Replaced>> Replacing<I> {
    fn value(&mut self, value: &mut Value) {
        match value {
            Value::Object(members) => {
                let mut renamed = Map::with_capacity(members.len());
                for (key, mut value) in std::mem::take(members) {
                    let key = self.text(&key).unwrap_or(key);
                    self.value(&mut value);
                    renamed.insert(unlike(&renamed, key), value);
                }
                *members = renamed;
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::String(text) => {
                if let Some(hidden) = self.text(text) {
                    *text = hidden;
                }
            }
            Value::Number(number) => {
                if let Some(hidden) = self.text(&number.to_string()) {
                    *value = Value::String(hidden);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// The next node, if something is replaced in it.
    fn text(&mut self, text: &str) -> Option<String> {
        let node = self.node;
        self.node += 1;
        let mut here = Vec::new();
        while let Some(replaced) = self.found.next_if(|replaced| replaced.node == node) {
            here.push(replaced);
        }
        let (findings, tokens): (Vec<Finding>, Vec<String>) =
            here.into_iter().map(|replaced| (replaced.finding, replaced.token)).unzip();
        (!findings.is_empty()).then(|| in_place(text, &findings, tokens.into_iter()))
    }
}

/// A key that is not there yet: labels without a code may be alike, and no member is lost by that.
fn unlike(members: &Map<String, Value>, key: String) -> String {
    if !members.contains_key(&key) {
        return key;
    }
    let mut number = members.len();
    loop {
        let other = format!("{key} {number}");
        if !members.contains_key(&other) {
            return other;
        }
        number += 1;
    }
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
