//! Personal: tokens in arguments become values where a rule lets them; values in answers become tokens where
//! the program may not have them.

use std::collections::BTreeSet;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gristmill_domain::{AnswerFile, Code, PrivacyMode, ServerSettings, ToolAnswer, one_line};
use serde_json::{Map, Value};

use super::resolve::{PromptTarget, Resolved, Target, ToolTarget};
use super::screened::Screened;
use crate::ids::Caller;
use crate::ports::{Asker, ToolFailure};
use crate::privacy::{Destination, Privacy, RestoredArguments, Source, Veil};
use crate::upstream::registry::Registry;

/// What the URI of a resource is called among arguments.
const URI: &str = "uri";

/// What is told of restored values in one call, and how long the name of an argument is there.
const TOLD_MAX: usize = 20;
const FIELD_CHARS_MAX: usize = 100;

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
    /// What may be recorded of what was restored: `email in to (fitting-argument)`.
    pub told: Vec<String>,
    veil: Option<Veil>,
    screen: Option<Screened>,
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
    let by_uri;
    let (tool, schema, written) = match &resolved.target {
        Target::Tool(tool) => {
            (tool.definition.name.as_str(), Some(&tool.definition.input_schema), &tool.arguments)
        }
        Target::Prompt(prompt) => (prompt.name.as_str(), None, &prompt.arguments),
        Target::Resource(uri) => {
            by_uri = Map::from_iter([(URI.to_owned(), Value::from(uri.as_str()))]);
            (uri.as_str(), None, &by_uri)
        }
    };
    let mut arguments = written.clone();
    let to = Destination { server, tool, schema, mode_of: &mode_of };
    let restored = privacy
        .restore_arguments(caller, &to, &mut arguments)
        .await
        .map_err(|error| ToolFailure::Refused { code: Code::PrivacyRefused, message: error.to_string() })?;
    let veil = privacy.veil_for(caller);
    let mut shown = Value::Object(written.clone());
    veil.value(&mut shown, Source::default()).await;
    let shown = match (&resolved.target, shown.get(URI)) {
        (Target::Resource(_), Some(Value::String(uri))) => uri.clone(),
        _ => shown.to_string(),
    };
    let told = told(&veil, &restored).await;
    let screen = Screened { privacy: privacy.clone(), caller: caller.clone(), server: server.to_owned() };
    let personal = Personal {
        shown: Some(shown),
        told,
        veil: privacy.veil_at(caller, settings),
        screen: Some(screen),
    };
    match &mut resolved.target {
        Target::Tool(ToolTarget { arguments: place, .. })
        | Target::Prompt(PromptTarget { arguments: place, .. }) => *place = arguments,
        Target::Resource(place) => {
            if let Some(Value::String(uri)) = arguments.remove(URI) {
                *place = uri;
            }
        }
    }
    Ok(Restored { resolved, personal })
}

impl Personal {
    /// Whether values are sent that the caller doesn't have: then no error may name them.
    pub fn has_restored(&self) -> bool {
        !self.told.is_empty()
    }

    /// Who answers the server's questions, without what is personal in them.
    pub fn screened(&self, asker: &Asker) -> Asker {
        match &self.screen {
            Some(screen) => asker.clone().with_screen(Arc::new(screen.clone())),
            None => asker.clone(),
        }
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

/// What a request is for, as it may be recorded: a program may have written anything.
pub(super) async fn shown_name(
    privacy: Option<&Privacy>,
    caller: &Caller,
    server: Option<&ServerSettings>,
    name: &str,
) -> String {
    let mut name = name.to_owned();
    let mode = |privacy: &Privacy| match server {
        Some(server) => privacy.mode_at(caller, server),
        None => privacy.mode(caller),
    };
    if let Some(privacy) = privacy.filter(|privacy| mode(privacy) > PrivacyMode::Off) {
        privacy.veil_for(caller).text(&mut name).await;
    }
    name
}

/// Kind, argument and rule of what was restored, each once. An argument has whatever name a program gave it.
async fn told(veil: &Veil, restored: &RestoredArguments) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    let mut more = BTreeSet::new();
    for one in &restored.told {
        if told.len() >= TOLD_MAX {
            more.insert((&one.kind, &one.field, &one.rule));
            continue;
        }
        let mut field = one.field.clone();
        veil.text(&mut field).await;
        let field = one_line(&field, FIELD_CHARS_MAX);
        let line = format!("{} in {field} ({})", one.kind, one.rule);
        if !told.contains(&line) {
            told.push(line);
        }
    }
    told.extend((!more.is_empty()).then(|| format!("{} more", more.len())));
    told
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
