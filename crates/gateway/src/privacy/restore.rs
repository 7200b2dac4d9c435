//! Tokens become values again, where a rule lets them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use gristmill_domain::{PrivacyMode, one_line};
use gristmill_privacy::{Kind, each_token};
use serde_json::{Map, Number, Value};

use super::places::{Place, field_name, last_name};
use super::rules::{Way, decide};
use super::vault::{Kept, VaultError};
use super::{Inner, Privacy, scopes_of};
use crate::ids::Caller;
use crate::marks::Scope;

/// Where arguments go.
pub struct Destination<'d> {
    pub server: &'d str,
    pub tool: &'d str,
    /// Of the arguments.
    pub schema: Option<&'d Value>,
    /// How strict whoever wrote them is with values at least, whichever server they came from.
    pub mode: PrivacyMode,
    /// Whether only the user's own rules let values go there: a host may be anybody's.
    pub by_rule_only: bool,
}

/// What became of the tokens in a call's arguments.
#[derive(Debug, Default)]
pub struct RestoredArguments {
    /// Kind, argument and rule of each: what may be recorded.
    pub told: Vec<Told>,
}

/// What may be recorded of a value that was restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub kind: Kind,
    pub field: String,
    pub rule: String,
}

/// Nothing was restored and nothing is sent.
#[derive(Debug, thiserror::Error)]
pub enum NotRestored {
    #[error(
        "{token} may not go to `{field}` of {tool}: a value of the kind `{kind}` is held back there (rule `{rule}`). \
         Use an argument that is made for it, or ask the user, who can allow it with \
         `gristmill privacy let {kind} {tool}`"
    )]
    HeldBack { token: String, kind: Kind, field: String, tool: String, rule: String },
    #[error(
        "{token} in `{field}` stands for nothing here: a token is good only in the session that it was made in. \
         Fetch the value again, and pass on the token that you get"
    )]
    Unknown { token: String, field: String },
    #[error("privacy.same compares two tokens here")]
    TokensOnly,
    #[error("there are more than {SPOTS_MAX} tokens in it; pass fewer at once")]
    TooMany,
    #[error("{0}")]
    Vault(#[from] VaultError),
}

/// Tokens in one document.
const SPOTS_MAX: usize = 10_000;

/// Longer ways to a token are nothing that a rule names.
const POINTER_BYTES_MAX: usize = 1_024;

/// One token in a document.
struct Spot {
    token: String,
    pointer: String,
    /// Whether it is all there is.
    is_whole: bool,
}

impl Privacy {
    /// Puts values in the place of tokens in the arguments of a call.
    pub async fn restore_arguments(
        &self,
        caller: &Caller,
        to: &Destination<'_>,
        arguments: &mut Map<String, Value>,
    ) -> Result<RestoredArguments, NotRestored> {
        let mut looking = Looking::default();
        for (key, value) in arguments.iter() {
            looking.member(key, value);
        }
        let spots = looking.finish()?;
        if spots.is_empty() {
            return Ok(RestoredArguments::default());
        }
        let mut known = self.known(caller, &spots).await?;
        let mut told = Vec::new();
        for spot in &spots {
            let field = field_name(&spot.pointer);
            let Some(kept) = known.get(&spot.token) else {
                // In a longer text it may be anything.
                match spot.is_whole && self.is_on(caller) {
                    true => {
                        return Err(NotRestored::Unknown { token: spot.token.clone(), field: shown(&field) });
                    }
                    false => continue,
                }
            };
            let mode = self.mode_of(caller, kept).max(to.mode);
            let place = to.schema.and_then(|schema| Place::at(schema, &spot.pointer)).unwrap_or_default();
            let also = match kept.kind {
                Kind::Custom(_) => self.inner.detector.built_in_kinds(&kept.value),
                _ => Vec::new(),
            };
            let (server, tool, name) = (to.server, to.tool, last_name(&spot.pointer));
            let by_rule_only = to.by_rule_only;
            let way = Way {
                kept,
                also: &also,
                server,
                tool,
                field: &field,
                name: &name,
                place: &place,
                mode,
                by_rule_only,
            };
            let ruled = decide(&self.inner.settings.restore, &way);
            if !ruled.allow {
                return Err(NotRestored::HeldBack {
                    token: spot.token.clone(),
                    kind: kept.kind.clone(),
                    field: shown(&field),
                    tool: one_line(&format!("{}.{}", to.server, to.tool), 200),
                    rule: ruled.rule,
                });
            }
            let Inner { restored, vault, .. } = &*self.inner;
            restored.add(vault.generation(), &Scope::of(caller), &kept.value, &spot.token, mode);
            told.push(Told { kind: kept.kind.clone(), field, rule: ruled.rule });
        }
        *arguments = std::mem::take(arguments)
            .into_iter()
            .map(|(key, value)| (in_text(&key, &known), put(value, &known)))
            .collect();
        known.clear();
        Ok(RestoredArguments { told })
    }

    /// A text with values in the place of this caller's tokens that `may` be there, and how many. Others
    /// stay as they are.
    pub async fn restore_text(
        &self,
        caller: &Caller,
        text: &str,
        may: impl Fn(&Kept) -> bool,
    ) -> Result<(String, usize), NotRestored> {
        let mut looking = Looking::default();
        looking.at(text);
        let spots = looking.finish()?;
        let mut known = self.known(caller, &spots).await?;
        known.retain(|_, kept| may(kept));
        let count = spots.iter().filter(|spot| known.contains_key(&spot.token)).count();
        Ok((in_text(text, &known), count))
    }

    /// The same for a whole JSON document.
    pub async fn restore_value(
        &self,
        caller: &Caller,
        value: Value,
        may: impl Fn(&Kept) -> bool,
    ) -> Result<(Value, usize), NotRestored> {
        let mut looking = Looking::default();
        looking.below(&value);
        let spots = looking.finish()?;
        let mut known = self.known(caller, &spots).await?;
        known.retain(|_, kept| may(kept));
        let count = spots.iter().filter(|spot| known.contains_key(&spot.token)).count();
        Ok((put(value, &known), count))
    }

    /// Whether two texts are the same value, each a token or the value itself, in whichever way it is written. A
    /// value that programs may not have is compared with other tokens only.
    pub async fn is_same(&self, caller: &Caller, one: &str, other: &str) -> Result<bool, NotRestored> {
        let is_guarded = AtomicBool::new(self.mode(caller) == PrivacyMode::Boundary);
        let look = |kept: &Kept| {
            is_guarded.fetch_or(self.mode_of(caller, kept) == PrivacyMode::Boundary, Ordering::Relaxed);
            true
        };
        let (value, _) = self.restore_text(caller, one, look).await?;
        let (other_value, _) = self.restore_text(caller, other, look).await?;
        if is_guarded.into_inner() && !(is_token(one) && is_token(other)) {
            return Err(NotRestored::TokensOnly);
        }
        Ok(canonical(&value) == canonical(&other_value))
    }

    /// The domain of an e-mail address behind a token, which says little of a person.
    pub async fn domain(&self, caller: &Caller, token: &str) -> Result<Option<String>, NotRestored> {
        if !is_token(token) {
            return Ok(None);
        }
        let (value, _) = self.restore_text(caller, token.trim(), |kept| kept.kind == Kind::Email).await?;
        Ok(value.rsplit_once('@').map(|(_, domain)| domain.to_lowercase()).filter(|_| value != token))
    }

    /// A text with values in the place of every token that is kept, whoever it was made for: for whoever owns the
    /// machine.
    pub async fn restore_for_owner(&self, text: &str) -> Result<(String, usize), NotRestored> {
        let mut looking = Looking::default();
        looking.at(text);
        let spots = looking.finish()?;
        let known = self.known_in(&self.inner.vault.scopes(None).await?, &spots).await?;
        let count = spots.iter().filter(|spot| known.contains_key(&spot.token)).count();
        Ok((in_text(text, &known), count))
    }

    async fn known(&self, caller: &Caller, spots: &[Spot]) -> Result<HashMap<String, Kept>, VaultError> {
        self.known_in(&scopes_of(caller), spots).await
    }

    async fn known_in(&self, scopes: &[Scope], spots: &[Spot]) -> Result<HashMap<String, Kept>, VaultError> {
        if spots.is_empty() {
            return Ok(HashMap::new());
        }
        let mut tokens: Vec<&str> = spots.iter().map(|spot| spot.token.as_str()).collect();
        tokens.sort_unstable();
        tokens.dedup();
        let kept = self.inner.vault.values(scopes, &tokens).await?;
        let pairs = tokens.iter().zip(kept).filter_map(|(token, kept)| Some(((*token).to_owned(), kept?)));
        Ok(pairs.collect())
    }
}

/// Whether a text is a token and nothing else.
pub fn is_token(text: &str) -> bool {
    let text = text.trim();
    each_token(text).next().is_some_and(|(span, _)| span.len() == text.len())
}

/// Whether there is a token in a text.
pub fn has_token(text: &str) -> bool {
    each_token(text).next().is_some()
}

/// How many tokens there are in a document.
pub fn token_count(value: &Value) -> usize {
    match value {
        Value::String(text) => each_token(text).count(),
        Value::Array(items) => items.iter().map(token_count).sum(),
        Value::Object(members) => {
            members.iter().map(|(key, value)| each_token(key).count() + token_count(value)).sum()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn shown(field: &str) -> String {
    one_line(field, 100)
}

/// The same for every usual way of writing a value: letters and digits count, and what an address needs.
fn canonical(text: &str) -> String {
    let counts = |letter: &char| letter.is_alphanumeric() || "@.".contains(*letter);
    text.chars().filter(counts).flat_map(char::to_lowercase).collect()
}

/// Looks for tokens. Depth is bounded by the caps of whatever read the document.
#[derive(Default)]
struct Looking<'v> {
    path: Vec<Cow<'v, str>>,
    spots: Vec<Spot>,
    is_too_much: bool,
}

impl<'v> Looking<'v> {
    fn member(&mut self, key: &'v str, value: &'v Value) {
        self.path.push(Cow::Borrowed(key));
        self.at(key);
        self.below(value);
        self.path.pop();
    }

    fn below(&mut self, value: &'v Value) {
        match value {
            Value::String(text) => self.at(text),
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.path.push(Cow::Owned(at.to_string()));
                    self.below(item);
                    self.path.pop();
                }
            }
            Value::Object(members) => members.iter().for_each(|(key, value)| self.member(key, value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn at(&mut self, text: &str) {
        for (span, _) in each_token(text) {
            if self.spots.len() >= SPOTS_MAX {
                self.is_too_much = true;
                return;
            }
            let is_whole = span.len() == text.trim().len();
            if let Some(token) = text.get(span) {
                self.spots.push(Spot { token: token.to_owned(), pointer: self.pointer(), is_whole });
            }
        }
    }

    /// Where it is; a way that nobody writes leads nowhere, and to no rule.
    fn pointer(&self) -> String {
        match self.path.iter().map(|step| step.len()).sum::<usize>() > POINTER_BYTES_MAX {
            true => "/…".to_owned(),
            false => {
                let steps = self.path.iter().map(|step| step.replace('~', "~0").replace('/', "~1"));
                steps.fold(String::new(), |pointer, step| pointer + "/" + &step)
            }
        }
    }

    fn finish(self) -> Result<Vec<Spot>, NotRestored> {
        match self.is_too_much {
            true => Err(NotRestored::TooMany),
            false => Ok(self.spots),
        }
    }
}

fn put(value: Value, known: &HashMap<String, Kept>) -> Value {
    match value {
        Value::String(text) => match known.get(text.trim()) {
            Some(kept) if kept.is_number => number(&kept.value),
            Some(_) | None => Value::String(in_text(&text, known)),
        },
        Value::Array(items) => Value::Array(items.into_iter().map(|item| put(item, known)).collect()),
        Value::Object(members) => {
            let put = |(key, value): (String, Value)| (in_text(&key, known), put(value, known));
            Value::Object(members.into_iter().map(put).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

fn number(text: &str) -> Value {
    text.parse::<Number>().map_or_else(|_| Value::String(text.to_owned()), Value::Number)
}

fn in_text(text: &str, known: &HashMap<String, Kept>) -> String {
    let mut restored = String::with_capacity(text.len());
    let mut done = 0;
    for (span, _) in each_token(text) {
        let Some(kept) = text.get(span.clone()).and_then(|token| known.get(token)) else { continue };
        restored.push_str(text.get(done..span.start).unwrap_or_default());
        restored.push_str(&kept.value);
        done = span.end;
    }
    restored.push_str(text.get(done..).unwrap_or_default());
    restored
}
