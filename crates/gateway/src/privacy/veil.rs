//! The one function that texts leave through: what is personal in them is replaced by tokens.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use gristmill_domain::shape::Shaped;
use gristmill_domain::{DOCUMENT_VALUES_MAX, PrivacyMode, SEARCHED_BYTES_MAX, TEXT_FINDINGS_MAX, grouped};
use gristmill_privacy::{Kind, placeholder};
use parking_lot::Mutex;
use serde_json::Value;
use zeroize::Zeroizing;

use super::masks::{Instead, Masks, WITHHELD, shown_in, shown_in_value, unmask, unmask_value};
use super::restored::{Pair, hide_in, hide_in_value};
use super::searching::Searching;
use super::source::{Source, bytes_of};
use super::vault::{Kept, Wanted};
use super::{Inner, Privacy, scopes_of};
use crate::ids::Caller;
use crate::marks::Scope;

/// Texts and documents from here on are searched on a thread of their own.
const AT_ONCE_BYTES_MAX: usize = 64 << 10;

/// Values that are looked for again in the texts beside them: names of people and the like.
const NAMES_MAX: usize = 200;
const NAME_BYTES_MAX: usize = 80;

/// Tokens of a kind that are told one by one.
const TOLD_MAX: usize = 3;

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
    has_too_much: AtomicBool,
    found: AtomicUsize,
    hidden: Mutex<BTreeMap<Kind, BTreeSet<String>>>,
    /// What was hidden under a name of several words, each with its token: it may be repeated where nothing tells that
    /// it's one.
    named: Mutex<Vec<(Zeroizing<String>, String)>>,
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
            has_too_much: AtomicBool::new(false),
            found: AtomicUsize::new(0),
            hidden: Mutex::default(),
            named: Mutex::default(),
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

    /// Whether there was more in a text or document than is hidden at once: it was withheld, or has labels without a
    /// code.
    pub fn has_too_much(&self) -> bool {
        self.has_too_much.load(Ordering::Relaxed)
    }

    /// Waits until there is room to search so many bytes on a thread of its own. What it gives goes there, too.
    pub(crate) async fn searching(&self, bytes: usize) -> Searching {
        self.privacy.inner.search_room.take(bytes).await
    }

    /// A text without what is personal in it.
    pub async fn text(&self, text: &mut String) {
        self.text_from(text, None).await;
    }

    async fn text_from(&self, text: &mut String, server: Option<&str>) {
        let mut masks = self.masks();
        if text.len() <= AT_ONCE_BYTES_MAX {
            masks.text(text);
        } else {
            let searching = self.searching(text.len()).await;
            let mut taken = std::mem::take(text);
            let searched = tokio::task::spawn_blocking(move || {
                let _searching = searching;
                masks.text(&mut taken);
                (taken, masks)
            });
            (*text, masks) = searched.await.unwrap_or_else(|_| (WITHHELD.to_owned(), self.no_masks()));
        }
        self.look_at(&masks);
        if !masks.is_empty() {
            unmask(text, &self.tokens_of(&masks, None, server).await);
        }
    }

    /// The same for a text beside others that were searched: a name that was found there is one here, too.
    pub fn repeated(&self, text: &mut String) {
        for (value, token) in &*self.named.lock() {
            if let Some(hidden) = without_word(text, value, token) {
                *text = hidden;
            }
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
        let bytes = bytes_of(value, SEARCHED_BYTES_MAX);
        if bytes <= AT_ONCE_BYTES_MAX {
            masks.value(value, source);
        } else {
            let searching = self.searching(bytes).await;
            let (mut taken, source) = (value.take(), source.to_owned());
            let searched = tokio::task::spawn_blocking(move || {
                let _searching = searching;
                masks.value(&mut taken, source.borrowed());
                (taken, masks)
            });
            (*value, masks) = searched.await.unwrap_or_else(|_| (Value::from(WITHHELD), self.no_masks()));
        }
        self.look_at(&masks);
        if masks.is_empty() {
            return masks.has_hidden();
        }
        let tokens = self.tokens_of(&masks, None, source.server).await;
        unmask_value(value, &tokens);
        masks.has_hidden() || tokens.values().any(|instead| !instead.is_value)
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

    /// What hides a document on a thread of its own, before it is condensed.
    pub(crate) fn masks(&self) -> Masks {
        let remembered = match self.reach {
            Reach::Found => Vec::new(),
            Reach::Said(mode) => self.remembered(mode),
        };
        Masks::new(self.privacy.inner.detector.clone(), remembered)
    }

    fn no_masks(&self) -> Masks {
        Masks::withheld(self.privacy.inner.detector.clone())
    }

    fn look_at(&self, masks: &Masks) {
        self.is_unclear.fetch_or(masks.has_withheld(), Ordering::Relaxed);
        self.has_too_much.fetch_or(masks.has_too_much(), Ordering::Relaxed);
    }

    /// What was condensed of it, with tokens for what is shown.
    pub(crate) async fn shaped(&self, masks: &Masks, shaped: &mut Shaped) {
        self.look_at(masks);
        if masks.is_empty() {
            return;
        }
        let mut shown = HashSet::new();
        shown_in_value(&shaped.value, &mut shown);
        shaped.left_out.iter().for_each(|left_out| shown_in(left_out, &mut shown));
        let tokens = self.tokens_of(masks, Some(&shown), None).await;
        unmask_value(&mut shaped.value, &tokens);
        for left_out in &mut shaped.left_out {
            unmask(left_out, &tokens);
        }
        match &shaped.value {
            _ if shaped.text.is_empty() => {}
            Value::String(text) => shaped.text.clone_from(text),
            value => shaped.text = value.to_string(),
        }
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

    /// How many values were found, each once in its text or document.
    pub fn found_count(&self) -> usize {
        self.found.load(Ordering::Relaxed)
    }

    /// How many different values were hidden.
    pub fn count(&self) -> usize {
        self.hidden.lock().values().map(BTreeSet::len).sum()
    }

    /// What a caller must know: that there are tokens, and how one is undone that should not be there; and what is
    /// withheld.
    pub fn note(&self) -> Option<String> {
        let too_much = self.has_too_much().then(too_much);
        let notes: Vec<String> = too_much.into_iter().chain(self.note_of_tokens()).collect();
        (!notes.is_empty()).then(|| notes.join("; "))
    }

    fn note_of_tokens(&self) -> Option<String> {
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

    /// What stands for each mask, or for each that is shown.
    async fn tokens_of(
        &self,
        masks: &Masks,
        shown: Option<&HashSet<String>>,
        server: Option<&str>,
    ) -> HashMap<String, Instead> {
        let (names, wanted) = masks.wanted(shown, server);
        let tokens = self.tokens(&wanted).await;
        let instead = wanted.iter().zip(tokens).map(|(one, token)| masks.instead_of(one, token));
        names.into_iter().zip(instead).collect()
    }

    /// A token for each that is hidden, in their order. What can't be kept has a label only.
    async fn tokens(&self, wanted: &[Wanted<'_>]) -> Vec<Option<String>> {
        self.found.fetch_add(wanted.len(), Ordering::Relaxed);
        self.privacy.count(wanted.iter().map(|one| one.kind.clone()));
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
                self.note_name(one.value, token);
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

    fn note_name(&self, value: &str, token: &str) {
        let is_name = value.len() <= NAME_BYTES_MAX && value.contains(' ');
        let mut named = self.named.lock();
        if is_name && named.len() < NAMES_MAX && !named.iter().any(|(known, _)| known.as_str() == value) {
            named.push((Zeroizing::new(value.to_owned()), token.to_owned()));
        }
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

fn too_much() -> String {
    format!(
        "there is too much personal data in one text or document: with more than {} findings it's withheld, and beyond \
         {} different values they're shown without a code. Give less at once",
        grouped(TEXT_FINDINGS_MAX as u64),
        grouped(DOCUMENT_VALUES_MAX as u64),
    )
}

/// A text with a token in the place of a value, wherever that isn't a part of a longer word. `None` if it isn't there.
fn without_word(text: &str, value: &str, token: &str) -> Option<String> {
    let mut hidden = String::new();
    let mut rest = 0;
    for (at, _) in text.match_indices(value) {
        let (before, after) = (&text[..at], &text[at + value.len()..]);
        let is_within = before.ends_with(char::is_alphanumeric) || after.starts_with(char::is_alphanumeric);
        if !is_within {
            hidden.push_str(&text[rest..at]);
            hidden.push_str(token);
            rest = at + value.len();
        }
    }
    (rest > 0).then(|| hidden + &text[rest..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_hidden_where_it_stands_alone() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(without_word(text, "Ann Lee", "[N]").as_deref(), expected, "{text}");
        };
        check("Ann Lee", Some("[N]"));
        check("(Ann Lee), Ann Lee's", Some("([N]), [N]'s"));
        check("Joann Lee and Ann Leeds", None);
        check("Ann Leeds, Ann Lee", Some("Ann Leeds, [N]"));
        check("", None);
    }
}
