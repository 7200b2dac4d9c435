//! The one function that texts leave through: what is personal in them is replaced by tokens.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use gristmill_domain::PrivacyMode;
use gristmill_privacy::{Finding, Form, Kind, Origin, placeholder};
use parking_lot::Mutex;
use serde_json::Value;

use super::replacing::{Replaced, Replacing, in_place};
use super::restored::{Pair, hide_in, hide_in_value};
use super::vault::{Kept, Wanted};
use super::{Inner, Privacy, scopes_of};
use crate::ids::Caller;
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

/// What a veil hides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Whatever is found.
    Found,
    /// What servers of this mode or a stricter one have said, whoever repeats it.
    Said(PrivacyMode),
}

/// Hides what is personal, for one caller, and counts what it hid.
pub struct Veil {
    privacy: Privacy,
    /// Where tokens belong; those behind the first were given to the same client before.
    scopes: Vec<Scope>,
    reach: Reach,
    /// How strict the server is whose values are remembered.
    remembers: Option<PrivacyMode>,
    /// Whether what isn't kept can be told apart all the same.
    is_distinct: bool,
    is_unclear: AtomicBool,
    found: AtomicUsize,
    hidden: Mutex<BTreeMap<Kind, BTreeSet<String>>>,
}

impl Veil {
    pub(super) fn new(privacy: Privacy, caller: &Caller, reach: Reach) -> Self {
        Self {
            privacy,
            scopes: scopes_of(caller),
            reach,
            remembers: None,
            is_distinct: false,
            is_unclear: AtomicBool::new(false),
            found: AtomicUsize::new(0),
            hidden: Mutex::default(),
        }
    }

    /// What it hides is known again wherever it stands.
    pub(super) fn remembering(self, mode: PrivacyMode) -> Self {
        Self { remembers: Some(mode), ..self }
    }

    /// Two values never look the same, whether they are kept or not.
    pub fn distinct(self) -> Self {
        Self { is_distinct: true, ..self }
    }

    /// Whether two values may look the same nevertheless.
    pub fn is_unclear(&self) -> bool {
        self.is_unclear.load(Ordering::Relaxed)
    }

    /// A text without what is personal in it.
    pub async fn text(&self, text: &mut String) {
        self.text_from(text, None).await;
    }

    async fn text_from(&self, text: &mut String, server: Option<&str>) {
        for _ in 0..PASSES_MAX {
            if text.is_empty() || !self.text_once(text, server).await {
                break;
            }
        }
        if let Reach::Said(mode) = self.reach {
            hide_in(&self.remembered(mode), text);
        }
    }

    async fn text_once(&self, text: &mut String, server: Option<&str>) -> bool {
        let mut found = self.found_in(text).await;
        found.retain(|finding| text.get(finding.span.clone()).is_some());
        if found.is_empty() {
            return false;
        }
        let wanted = found.iter().map(|finding| {
            let value = text.get(finding.span.clone()).unwrap_or_default();
            Wanted { kind: &finding.kind, value, form: Form::Plain, is_number: false, server }
        });
        let tokens = self.tokens(&wanted.collect::<Vec<_>>()).await;
        let (found, tokens): (Vec<Finding>, Vec<String>) =
            found.into_iter().zip(tokens).filter_map(|(found, token)| Some((found, token?))).unzip();
        *text = in_place(text, &found, tokens.into_iter());
        !found.is_empty()
    }

    pub async fn maybe_text(&self, text: &mut Option<String>) {
        if let Some(text) = text {
            self.text(text).await;
        }
    }

    /// A JSON document without what is personal in it; names of fields count as context. Numbers become texts.
    /// Whether there was something.
    pub async fn value(&self, value: &mut Value, source: Source<'_>) -> bool {
        let mut is_changed = false;
        for _ in 0..PASSES_MAX {
            if !self.value_once(value, source).await {
                break;
            }
            is_changed = true;
        }
        if let Reach::Said(mode) = self.reach {
            is_changed |= hide_in_value(&self.remembered(mode), value);
        }
        is_changed
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
        let found: Vec<Replaced> = found
            .filter_map(|((node, finding), token)| Some(Replaced { node, finding, token: token? }))
            .collect();
        let is_changed = !found.is_empty();
        if is_changed {
            Replacing { found: found.into_iter().peekable(), node: 0 }.value(value);
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
        let Ok(mut value) = serde_json::from_str::<Value>(json) else {
            return self.words(json, source).await;
        };
        let is_repeated = hide_in_value(&self.remembered(self.least()), &mut value);
        if self.value(&mut value, source).await || is_repeated {
            *json = value.to_string();
        }
    }

    /// The same for a server's words.
    pub async fn words(&self, text: &mut String, source: Source<'_>) {
        hide_in(&self.remembered(self.least()), text);
        self.text_from(text, source.server).await;
    }

    /// What is known again in this mode and in stricter ones.
    fn remembered(&self, from: PrivacyMode) -> Vec<Arc<Pair>> {
        let Inner { restored, vault, .. } = &*self.privacy.inner;
        restored.of(vault.generation(), &self.scopes, from)
    }

    fn least(&self) -> PrivacyMode {
        match self.reach {
            Reach::Found => PrivacyMode::Off,
            Reach::Said(mode) => mode,
        }
    }

    /// How many values were found, the same one as often as it was there.
    pub fn found_count(&self) -> usize {
        self.found.load(Ordering::Relaxed)
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

    /// A token for each that is hidden, in their order. What can't be kept has a label only.
    async fn tokens(&self, wanted: &[Wanted<'_>]) -> Vec<Option<String>> {
        self.found.fetch_add(wanted.len(), Ordering::Relaxed);
        let tokens = match (self.reach, self.scopes.first()) {
            (Reach::Found, Some(scope)) => self.kept(scope, wanted).await.into_iter().map(Some).collect(),
            (Reach::Found, None) => wanted.iter().map(|one| Some(placeholder(one.kind))).collect(),
            (Reach::Said(mode), _) => self.said(mode, wanted).await,
        };
        let mut hidden = self.hidden.lock();
        for (one, token) in wanted.iter().zip(&tokens).filter_map(|(one, token)| Some((one, token.as_ref()?)))
        {
            hidden.entry(one.kind.clone()).or_default().insert(token.clone());
        }
        drop(hidden);
        tokens
    }

    async fn kept(&self, scope: &Scope, wanted: &[Wanted<'_>]) -> Vec<String> {
        let Inner { vault, restored, .. } = &*self.privacy.inner;
        let kept = vault.tokens(scope, wanted).await;
        let mut tokens = kept.unwrap_or_else(|_| wanted.iter().map(|one| placeholder(one.kind)).collect());
        for (one, token) in wanted.iter().zip(&mut tokens) {
            if *token != placeholder(one.kind) {
                if let Some(mode) = self.remembers {
                    restored.add(vault.generation(), scope, one.value, token, mode);
                }
            } else if self.is_distinct {
                match vault.digest(scope, one.kind, one.value).await {
                    Ok(digest) => *token = format!("[{} #{digest}]", one.kind.label()),
                    Err(_) => self.is_unclear.store(true, Ordering::Relaxed),
                }
            }
        }
        tokens
    }

    /// Tokens for what servers of a mode have said. What the vault can't tell might be of them.
    async fn said(&self, mode: PrivacyMode, wanted: &[Wanted<'_>]) -> Vec<Option<String>> {
        let vault = &self.privacy.inner.vault;
        let mut tokens: Vec<Option<String>> = vec![None; wanted.len()];
        for scope in &self.scopes {
            let open: Vec<usize> = (0..wanted.len()).filter(|place| tokens[*place].is_none()).collect();
            let asked: Vec<Wanted<'_>> = open.iter().map(|place| wanted[*place]).collect();
            let Ok(known) = vault.known(scope, &asked).await else {
                return wanted.iter().map(|one| Some(placeholder(one.kind))).collect();
            };
            let is_meant = |kept: &Kept| self.privacy.mode_from(&kept.servers).is_some_and(|of| of >= mode);
            let said: Vec<usize> = open
                .into_iter()
                .zip(known)
                .filter(|(_, kept)| kept.as_deref().is_some_and(is_meant))
                .unzip::<_, _, Vec<_>, Vec<_>>()
                .0;
            let asked: Vec<Wanted<'_>> = said.iter().map(|place| wanted[*place]).collect();
            for (place, token) in said.into_iter().zip(self.kept(scope, &asked).await) {
                tokens[place] = Some(token);
            }
        }
        tokens
    }
}

/// `[EMAIL]` and the like: nothing that could be restored.
pub(super) fn bare_labels(found: &[Finding]) -> impl Iterator<Item = String> {
    found.iter().map(|finding| placeholder(&finding.kind))
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
