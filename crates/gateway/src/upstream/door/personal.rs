//! Personal: tokens in arguments become values where a rule lets them; values in answers become tokens where
//! the program may not have them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gristmill_domain::{AnswerFile, Code, PrivacyMode, ToolAnswer};
use serde_json::{Map, Value};

use super::resolve::{PromptTarget, Resolved, Target, ToolTarget};
use crate::ids::Caller;
use crate::ports::ToolFailure;
use crate::privacy::{Destination, Privacy, RestoredArguments, Source, Veil};
use crate::upstream::registry::Registry;

/// A request with values in the place of tokens.
pub(super) struct Restored {
    pub resolved: Resolved,
    pub personal: Personal,
}

/// What is remembered of a request's personal data until its answer is there.
#[derive(Default)]
pub(super) struct Personal {
    /// The arguments as a person, a plan or a record may see them; `None` if that is as they are sent.
    pub shown: Option<String>,
    restored: RestoredArguments,
    veil: Option<Veil>,
}

/// Restores what may go to this server, or refuses. Nothing was sent.
pub(super) async fn restore(
    privacy: Option<&Privacy>,
    registry: &Registry,
    caller: &Caller,
    mut resolved: Resolved,
) -> Result<Restored, ToolFailure> {
    let settings = &resolved.server.settings;
    let Some(privacy) = privacy.filter(|privacy| privacy.mode_at(caller, settings) > PrivacyMode::Off) else {
        return Ok(Restored { resolved, personal: Personal::default() });
    };
    let mode_of = |name: &str| match registry.server(name) {
        Some(server) => privacy.mode_at(caller, &server.settings),
        // Of a server that is gone nobody knows how strict it was.
        None => PrivacyMode::Boundary,
    };
    let server = resolved.server.name();
    let nothing = Map::new();
    let (tool, schema, written) = match &resolved.target {
        Target::Tool(tool) => {
            (tool.definition.name.as_str(), Some(&tool.definition.input_schema), &tool.arguments)
        }
        Target::Prompt(prompt) => (prompt.name.as_str(), None, &prompt.arguments),
        Target::Resource(uri) => (uri.as_str(), None, &nothing),
    };
    let mut arguments = written.clone();
    let to = Destination { server, tool, schema, mode_of: &mode_of };
    let restored = privacy
        .restore_arguments(caller, &to, &mut arguments)
        .await
        .map_err(|error| ToolFailure::Refused { code: Code::PrivacyRefused, message: error.to_string() })?;
    let mut shown = Value::Object(written.clone());
    privacy.veil_for(caller).value(&mut shown, Source::default()).await;
    let personal =
        Personal { shown: Some(shown.to_string()), restored, veil: privacy.veil_at(caller, settings) };
    match &mut resolved.target {
        Target::Tool(ToolTarget { arguments: place, .. })
        | Target::Prompt(PromptTarget { arguments: place, .. }) => *place = arguments,
        Target::Resource(_) => {}
    }
    Ok(Restored { resolved, personal })
}

impl Personal {
    /// Whether values are sent that the caller doesn't have: then no error may name them.
    pub fn has_restored(&self) -> bool {
        !self.restored.told.is_empty()
    }

    /// What may be recorded of what was restored: `email in to (fitting-argument)`.
    pub fn told(&self) -> Vec<String> {
        let told = self.restored.told.iter();
        told.map(|one| format!("{} in {} ({})", one.kind, one.field, one.rule)).collect()
    }

    /// An answer as the program may have it; `source` is what it is an answer of.
    pub async fn hide(
        &self,
        source: Source<'_>,
        outcome: Result<ToolAnswer, ToolFailure>,
    ) -> Result<ToolAnswer, ToolFailure> {
        let Some(veil) = &self.veil else { return outcome };
        match outcome {
            Ok(mut answer) => {
                veil.answer(&mut answer.json, source).await;
                for file in &mut answer.files {
                    hide_file(veil, file).await;
                }
                Ok(answer)
            }
            Err(failure) => Err(self.hide_failure(veil, failure).await),
        }
    }

    async fn hide_failure(&self, veil: &Veil, mut failure: ToolFailure) -> ToolFailure {
        let words = match &mut failure {
            ToolFailure::Said(words) | ToolFailure::BadArguments(words) => words,
            ToolFailure::Upstream { message, .. } => message,
            _ => return failure,
        };
        veil.words(words).await;
        failure
    }
}

/// Texts are searched, whatever they are called; of pictures and the like nobody knows what they show.
async fn hide_file(veil: &Veil, file: &mut AnswerFile) {
    veil.maybe_text(&mut file.name).await;
    let text = STANDARD.decode(&file.base64).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    if let Some(mut text) = text {
        veil.words(&mut text).await;
        file.base64 = STANDARD.encode(text);
    }
}
