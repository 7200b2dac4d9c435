//! What a program asks about personal data: to hide it, to have it back, to compare it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gristmill_domain::{Level, PrivacyMode, ToolAnswer};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::ids::Caller;
use crate::ports::ToolFailure;
use crate::privacy::{Kept, Privacy, Source, token_count};

/// How often a program may ask, and about how many values where there are some that it may not have: each answer
/// tells whether a guess was right.
const ASKED_MAX: usize = 1_000;

/// What the guest writes.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum PrivacyPayload {
    /// To put tokens in the place of what is personal.
    Sanitize { value: Value, line: Option<u64> },
    /// To have it back.
    Restore { value: Value, line: Option<u64> },
    /// Whether two are the same.
    Same { one: String, other: String, line: Option<u64> },
    /// The domain of an address.
    Domain { token: String, line: Option<u64> },
}

impl PrivacyPayload {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Sanitize { .. } => "sanitize_pii",
            Self::Restore { .. } => "restore_pii",
            Self::Same { .. } => "privacy.same",
            Self::Domain { .. } => "privacy.domain",
        }
    }

    pub fn line(&self) -> Option<u64> {
        match self {
            Self::Sanitize { line, .. }
            | Self::Restore { line, .. }
            | Self::Same { line, .. }
            | Self::Domain { line, .. } => *line,
        }
    }
}

/// What one program may ask, and how often it has.
#[derive(Clone)]
pub(super) struct ProgramPrivacy {
    privacy: Option<Privacy>,
    level: Level,
    calls: Arc<AtomicUsize>,
    values: Arc<AtomicUsize>,
}

impl ProgramPrivacy {
    pub fn new(privacy: Option<Privacy>, level: Level) -> Self {
        Self { privacy, level, calls: Arc::default(), values: Arc::default() }
    }

    pub async fn answer(&self, caller: &Caller, asked: PrivacyPayload) -> Result<ToolAnswer, ToolFailure> {
        let refuse = |why: &str| ToolFailure::BadArguments(why.to_owned());
        let privacy =
            self.privacy.as_ref().ok_or_else(|| refuse("this gateway doesn't look for personal data"))?;
        if self.calls.fetch_add(1, Ordering::Relaxed) >= ASKED_MAX {
            return Err(refuse(&format!(
                "a program can ask about personal data {ASKED_MAX} times; ask for many values at once"
            )));
        }
        let is_guarded = privacy.guards(caller);
        let count = |values: usize| match self.values.fetch_add(values, Ordering::Relaxed) + values {
            all if all > ASKED_MAX && is_guarded => Err(refuse(&format!(
                "a program can ask about {ASKED_MAX} values where some are kept from it; ask for fewer"
            ))),
            _ => Ok(()),
        };
        let words = |error: crate::privacy::NotRestored| ToolFailure::BadArguments(error.to_string());
        let told = match asked {
            PrivacyPayload::Sanitize { mut value, .. } => {
                let veil = privacy.veil_for(caller);
                veil.value(&mut value, Source::default()).await;
                if veil.has_too_much() {
                    return Err(refuse(
                        "there is too much personal data in it to hide at once; pass less of it",
                    ));
                }
                count(veil.found_count())?;
                value
            }
            PrivacyPayload::Restore { value, .. } => {
                count(token_count(&value))?;
                let kinds = &privacy.settings().restore_to_model;
                let may = |kept: &Kept| {
                    privacy.mode_of(caller, kept) < PrivacyMode::Boundary || kinds.contains(&kept.kind)
                };
                privacy.restore_value(caller, value, &may).await.map_err(words)?.0
            }
            PrivacyPayload::Same { one, other, .. } => {
                count(1)?;
                json!(privacy.is_same(caller, &one, &other).await.map_err(words)?)
            }
            PrivacyPayload::Domain { token, .. } => {
                count(1)?;
                if self.level == Level::Hardened {
                    return Err(refuse("privacy.domain can't be used at the level `hardened`"));
                }
                match privacy.domain(caller, &token).await.map_err(words)? {
                    Some(domain) => json!(domain),
                    None => {
                        return Err(refuse(
                            "privacy.domain needs a token of an e-mail address, of this session",
                        ));
                    }
                }
            }
        };
        Ok(ToolAnswer { json: told.to_string(), files: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use gristmill_domain::ServerSettings;

    use super::*;
    use crate::ids::Owner;
    use crate::privacy::{PrivacySettings, Vault};

    const ANN: &str = "ann.lovelace@mill-brook.org";

    /// A program of a gateway whose mode is `output`; the CRM keeps its values from programs.
    fn world() -> (Privacy, ProgramPrivacy, Caller) {
        let settings =
            PrivacySettings { mode: PrivacyMode::Output, ..PrivacySettings::of(Level::Production) };
        let privacy = Privacy::new(settings, Vault::open(None, None).unwrap()).unwrap();
        let crm = ServerSettings {
            privacy: Some(PrivacyMode::Boundary),
            ..ServerSettings::program("crm", "x", &[])
        };
        privacy.learn([&crm, &ServerSettings::program("mail", "x", &[])]);
        let program = ProgramPrivacy::new(Some(privacy.clone()), Level::Production);
        (privacy, program, Caller::of(Owner::local()))
    }

    async fn token_from(privacy: &Privacy, caller: &Caller, server: &str, value: &str) -> String {
        let mut value = json!(value);
        let source = Source { server: Some(server), ..Source::default() };
        privacy.veil_for(caller).value(&mut value, source).await;
        value.as_str().unwrap().to_owned()
    }

    async fn ask(program: &ProgramPrivacy, caller: &Caller, asked: Value) -> Result<Value, String> {
        let asked: PrivacyPayload = serde_json::from_value(asked).unwrap();
        let answer = program.answer(caller, asked).await.map_err(|failure| failure.to_string())?;
        Ok(serde_json::from_str(&answer.json).unwrap())
    }

    #[tokio::test]
    async fn a_program_gets_back_what_servers_let_it_have_and_nothing_else() {
        let (privacy, program, caller) = world();
        let ann = token_from(&privacy, &caller, "crm", ANN).await;
        let bob = token_from(&privacy, &caller, "mail", "bob@elsewhere.org").await;
        let asked = json!({"do": "restore", "value": [ann, bob]});
        assert_eq!(ask(&program, &caller, asked).await, Ok(json!([ann, "bob@elsewhere.org"])));
        // Of a server that is gone nobody knows how strict it was.
        let gone = token_from(&privacy, &caller, "gone", "eve@elsewhere.org").await;
        let asked = json!({"do": "restore", "value": gone});
        assert_eq!(ask(&program, &caller, asked).await, Ok(json!(gone)));
        // The mail server has it, too, and the CRM keeps it all the same.
        token_from(&privacy, &caller, "mail", ANN).await;
        let asked = json!({"do": "restore", "value": ann});
        assert_eq!(ask(&program, &caller, asked).await, Ok(json!(ann)));
    }

    #[tokio::test]
    async fn a_value_that_is_kept_from_a_program_is_compared_with_tokens_only() {
        let (privacy, program, caller) = world();
        let ann = token_from(&privacy, &caller, "crm", ANN).await;
        let loud = token_from(&privacy, &caller, "crm", &ANN.to_uppercase()).await;
        let bob = token_from(&privacy, &caller, "mail", "bob@elsewhere.org").await;
        let same = |one: &str, other: &str| json!({"do": "same", "one": one, "other": other});
        assert_eq!(ask(&program, &caller, same(&ann, &loud)).await, Ok(json!(true)));
        assert_eq!(ask(&program, &caller, same(&bob, "bob@elsewhere.org")).await, Ok(json!(true)));
        for (one, other) in
            [(&ann[..], ANN), (ANN, &ann), (&format!("{ann} "), "x"), (&format!("a{ann}"), &ann)]
        {
            let said = ask(&program, &caller, same(one, other)).await;
            assert_eq!(said, Err("privacy.same compares two tokens here".to_owned()), "{one} {other}");
        }
    }

    #[tokio::test]
    async fn a_domain_is_that_of_the_value_whatever_is_written_around_its_token() {
        let (privacy, program, caller) = world();
        let encoded = token_from(&privacy, &caller, "crm", "ann.lovelace%40mill-brook.org").await;
        assert!(encoded.starts_with("[EMAIL_"), "{encoded}");
        for token in [encoded.clone(), format!("x@{encoded}")] {
            let said = ask(&program, &caller, json!({"do": "domain", "token": token})).await;
            assert!(said.is_err(), "{said:?}");
        }
        let ann = token_from(&privacy, &caller, "crm", ANN).await;
        let said = ask(&program, &caller, json!({"do": "domain", "token": ann})).await;
        assert_eq!(said, Ok(json!("mill-brook.org")));
    }

    #[tokio::test]
    async fn a_program_can_ask_about_so_many_values_however_few_its_questions_are() {
        let (privacy, program, caller) = world();
        let guesses = |from: usize, to: usize| -> Value {
            let all: Vec<String> = (from..to).map(|number| format!("a{number}@mill-brook.org")).collect();
            json!({"do": "sanitize", "value": all})
        };
        ask(&program, &caller, guesses(0, 999)).await.unwrap();
        let said = ask(&program, &caller, guesses(0, 2)).await.unwrap_err();
        assert!(said.contains("about 1000 values"), "{said}");
        let free = ProgramPrivacy::new(Some(privacy.clone()), Level::Production);
        privacy.learn([&ServerSettings::program("crm", "x", &[])]);
        ask(&free, &caller, guesses(0, 2_000)).await.expect("nothing is kept from it");
    }
}
