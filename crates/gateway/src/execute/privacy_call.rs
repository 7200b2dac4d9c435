//! What a program asks about personal data: to hide it, to have it back, to compare it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use gristmill_domain::{Level, PrivacyMode, ToolAnswer};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::ids::Caller;
use crate::ports::ToolFailure;
use crate::privacy::{Kind, Privacy, Source, is_token};

/// What a program may ask for. Each answer tells whether a guess was right, so there are not many.
const ASKED_MAX: u32 = 1_000;

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
    asked: Arc<AtomicU32>,
}

impl ProgramPrivacy {
    pub fn new(privacy: Option<Privacy>, level: Level) -> Self {
        Self { privacy, level, asked: Arc::default() }
    }

    pub async fn answer(&self, caller: &Caller, asked: PrivacyPayload) -> Result<ToolAnswer, ToolFailure> {
        let refuse = |why: &str| ToolFailure::BadArguments(why.to_owned());
        let privacy =
            self.privacy.as_ref().ok_or_else(|| refuse("this gateway doesn't look for personal data"))?;
        if self.asked.fetch_add(1, Ordering::Relaxed) >= ASKED_MAX {
            return Err(refuse(&format!(
                "a program can ask about personal data {ASKED_MAX} times; ask for many values at once"
            )));
        }
        let words = |error: crate::privacy::NotRestored| ToolFailure::BadArguments(error.to_string());
        let told = match asked {
            PrivacyPayload::Sanitize { mut value, .. } => {
                privacy.veil_for(caller).value(&mut value, Source::default()).await;
                value
            }
            PrivacyPayload::Restore { value, .. } => {
                let is_free = privacy.mode(caller) < PrivacyMode::Boundary;
                let kinds = &privacy.settings().restore_to_model;
                let may = |kind: &Kind| is_free || kinds.contains(kind);
                privacy.restore_value(caller, value, &may).await.map_err(words)?.0
            }
            PrivacyPayload::Same { one, other, .. } => {
                if privacy.mode(caller) == PrivacyMode::Boundary && !(is_token(&one) && is_token(&other)) {
                    return Err(refuse("privacy.same compares two tokens here"));
                }
                json!(privacy.is_same(caller, &one, &other).await.map_err(words)?)
            }
            PrivacyPayload::Domain { token, .. } => {
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
