//! The one function that texts leave through: what is personal in them is replaced by tokens.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use gristmill_domain::shape::Shaped;
use gristmill_privacy::{Kind, placeholder};
use parking_lot::Mutex;
use serde_json::{Map, Value};

use super::Privacy;
use super::masks::{Masks, WITHHELD, shown_in, shown_in_value, unmask, unmask_value};
use super::vault::Wanted;
use crate::marks::Scope;

/// Texts and documents from here on are searched on a thread of their own.
const AT_ONCE_BYTES_MAX: usize = 64 << 10;

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
    /// Names of the fields that it was found under, the outermost first.
    pub above: &'s [String],
    /// The object that it is a member of.
    pub beside: Option<&'s Map<String, Value>>,
}

/// The same, for a thread of its own.
#[derive(Default)]
struct OwnedSource {
    server: Option<String>,
    tool: Option<String>,
    schema: Option<Value>,
    keeps_formats: bool,
    above: Vec<String>,
    beside: Option<Map<String, Value>>,
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
        let mut masks = self.masks();
        if text.len() <= AT_ONCE_BYTES_MAX {
            masks.text(text);
        } else {
            let mut taken = std::mem::take(text);
            let searched = tokio::task::spawn_blocking(move || {
                masks.text(&mut taken);
                (taken, masks)
            });
            (*text, masks) = searched.await.unwrap_or_else(|_| (WITHHELD.to_owned(), self.masks()));
        }
        if !masks.is_empty() {
            unmask(text, &self.tokens_of(&masks, None, None).await);
        }
    }

    pub async fn maybe_text(&self, text: &mut Option<String>) {
        if let Some(text) = text {
            self.text(text).await;
        }
    }

    /// A JSON document without what is personal in it; names of fields count as context. Numbers become texts.
    /// Whether there was something.
    pub async fn value(&self, value: &mut Value, source: Source<'_>) -> bool {
        let mut masks = self.masks();
        let is_changed = if fits(value, &mut { AT_ONCE_BYTES_MAX }) {
            masks.value(value, source)
        } else {
            let (mut taken, source) = (value.take(), source.to_owned());
            let searched = tokio::task::spawn_blocking(move || {
                let is_changed = masks.value(&mut taken, source.borrowed());
                (taken, masks, is_changed)
            });
            let is_changed;
            (*value, masks, is_changed) =
                searched.await.unwrap_or_else(|_| (Value::from(WITHHELD), self.masks(), true));
            is_changed
        };
        if !masks.is_empty() {
            unmask_value(value, &self.tokens_of(&masks, None, source.server).await);
        }
        is_changed
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

    /// What hides a document on a thread of its own, before it is condensed.
    pub(crate) fn masks(&self) -> Masks {
        Masks::new(self.privacy.inner.detector.clone())
    }

    /// What was condensed of it, with tokens for what is shown.
    pub(crate) async fn shaped(&self, masks: &Masks, shaped: &mut Shaped) {
        if masks.is_empty() {
            return;
        }
        let mut shown = HashSet::new();
        shown_in(&shaped.text, &mut shown);
        shown_in_value(&shaped.value, &mut shown);
        shaped.left_out.iter().for_each(|left_out| shown_in(left_out, &mut shown));
        let tokens = self.tokens_of(masks, Some(&shown), None).await;
        unmask(&mut shaped.text, &tokens);
        unmask_value(&mut shaped.value, &tokens);
        shaped.left_out.iter_mut().for_each(|left_out| unmask(left_out, &tokens));
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

    /// A token for each mask, or for each that is shown.
    async fn tokens_of(
        &self,
        masks: &Masks,
        shown: Option<&HashSet<String>>,
        server: Option<&str>,
    ) -> HashMap<String, String> {
        let (names, wanted) = masks.wanted(shown, server);
        names.into_iter().zip(self.tokens(&wanted).await).collect()
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

impl Source<'_> {
    fn to_owned(self) -> OwnedSource {
        OwnedSource {
            server: self.server.map(str::to_owned),
            tool: self.tool.map(str::to_owned),
            schema: self.schema.cloned(),
            keeps_formats: self.keeps_formats,
            above: self.above.to_vec(),
            beside: self.beside.cloned(),
        }
    }
}

impl OwnedSource {
    fn borrowed(&self) -> Source<'_> {
        Source {
            server: self.server.as_deref(),
            tool: self.tool.as_deref(),
            schema: self.schema.as_ref(),
            keeps_formats: self.keeps_formats,
            above: &self.above,
            beside: self.beside.as_ref(),
        }
    }
}

/// Whether a document takes no more than so many bytes, roughly; no more of it is looked at.
fn fits(value: &Value, left: &mut usize) -> bool {
    let takes = |left: &mut usize, bytes: usize| left.checked_sub(bytes).map(|rest| *left = rest).is_some();
    match value {
        Value::String(text) => takes(left, text.len() + 2),
        Value::Null | Value::Bool(_) | Value::Number(_) => takes(left, 8),
        Value::Array(items) => takes(left, 2) && items.iter().all(|item| fits(item, left)),
        Value::Object(members) => {
            takes(left, 2)
                && members.iter().all(|(key, value)| takes(left, key.len() + 4) && fits(value, left))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_document_is_measured_no_further_than_it_may_be_large() {
        assert!(fits(&json!({"a": [1, "two", null]}), &mut { 64 }));
        for large in [json!("x".repeat(65)), json!(vec![0; 9]), json!({"k".repeat(65): 1})] {
            assert!(!fits(&large, &mut { 64 }), "{large}");
        }
    }
}
