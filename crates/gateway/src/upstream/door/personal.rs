//! Personal: tokens in arguments become values where a rule lets them; values in answers become tokens where
//! the program may not have them.

use std::collections::BTreeSet;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gristmill_domain::{AnswerFile, Code, PrivacyMode, ServerSettings, ToolAnswer, Transport, one_line};
use serde_json::{Map, Value};

use super::resolve::{PromptTarget, Resolved, Target, ToolTarget};
use super::screened::Screened;
use crate::ids::Caller;
use crate::ports::{Asker, ToolFailure};
use crate::privacy::{Destination, Privacy, RestoredArguments, Source, Veil};
use crate::upstream::Blobs;

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
    /// What looks at the answer, for a model not to have what the program may.
    remembering: Option<Veil>,
    veil: Option<Veil>,
    screen: Option<Screened>,
    /// Whether the answer is a document of the protocol, with bytes where that has them. Those of a tool's answer
    /// are files by then.
    has_blobs: bool,
}

/// Restores what may go to this server, or refuses. Nothing was sent.
pub(super) async fn restore(
    privacy: Option<&Privacy>,
    caller: &Caller,
    mut resolved: Resolved,
) -> Result<Restored, ToolFailure> {
    let Some(privacy) = privacy else { return Ok(Restored { resolved, personal: Personal::default() }) };
    let settings = &resolved.server.settings;
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
    let by_rule_only = matches!(settings.transport, Transport::Hosts(_));
    let to = Destination { server, tool, schema, mode: PrivacyMode::Off, by_rule_only };
    let restored =
        privacy.restore_arguments(caller, &to, &mut arguments).await.map_err(|error| refused(&error))?;
    let mut shown = shown(privacy, caller, settings, written, !restored.told.is_empty()).await?;
    if let (Target::Resource(_), Some(Value::Object(members))) = (&resolved.target, &mut shown) {
        shown = members.remove(URI);
    }
    let screen = privacy.veil_to(caller, settings).is_some().then(|| Screened {
        privacy: privacy.clone(),
        caller: caller.clone(),
        server: Arc::clone(&resolved.server),
    });
    let personal = Personal {
        shown: shown.map(|shown| shown.as_str().map_or_else(|| shown.to_string(), str::to_owned)),
        told: told(privacy, caller, &restored).await,
        remembering: privacy.remembering_at(caller, settings),
        veil: privacy.veil_at(caller, settings),
        screen,
        has_blobs: !matches!(resolved.target, Target::Tool(_)),
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

/// The arguments as they were written, without what is personal in them. Different ones look different, so that
/// nobody approves one and sends another.
async fn shown(
    privacy: &Privacy,
    caller: &Caller,
    server: &ServerSettings,
    written: &Map<String, Value>,
    has_restored: bool,
) -> Result<Option<Value>, ToolFailure> {
    let veil = privacy.veil_to(caller, server).map(Veil::distinct);
    if veil.is_none() && !has_restored {
        return Ok(None);
    }
    let mut shown = Value::Object(written.clone());
    if let Some(veil) = veil {
        veil.value(&mut shown, Source::default()).await;
        if veil.has_too_much() {
            return Err(refused(
                &"there is too much personal data in its arguments to show them without; send less in one call",
            ));
        }
        if veil.is_unclear() {
            return Err(refused(
                &"its arguments can't be shown without personal data, because the vault can't be used or they hide in one \
                  another; try again, or run `gristmill doctor`",
            ));
        }
    }
    Ok(Some(shown))
}

fn refused(why: &dyn std::fmt::Display) -> ToolFailure {
    ToolFailure::Refused { code: Code::PrivacyRefused, message: why.to_string() }
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
        if let Some(veil) = &self.remembering {
            // What becomes of a copy doesn't matter: what is in it is known from now on.
            let source = Source { keeps_formats: false, ..source };
            let _ = hidden(veil, source, self.has_blobs, outcome.clone()).await;
        }
        match &self.veil {
            Some(veil) => hidden(veil, source, self.has_blobs, outcome).await,
            None => outcome,
        }
    }
}

async fn hidden(
    veil: &Veil,
    source: Source<'_>,
    has_blobs: bool,
    outcome: Result<ToolAnswer, ToolFailure>,
) -> Result<ToolAnswer, ToolFailure> {
    match outcome {
        Ok(mut answer) => {
            let blobs = has_blobs.then(|| Blobs::take(&mut answer.json));
            veil.answer(&mut answer.json, source).await;
            if let Some(blobs) = blobs {
                blobs.put_back(&mut answer.json, veil, source).await;
            }
            for file in &mut answer.files {
                hide_file(veil, source, file).await;
            }
            Ok(answer)
        }
        Err(mut failure) => {
            match &mut failure {
                ToolFailure::Said(words) | ToolFailure::BadArguments(words) => {
                    veil.words(words, source).await
                }
                ToolFailure::Upstream { message, .. } => veil.words(message, source).await,
                _ => {}
            }
            Err(failure)
        }
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
    let veil = privacy.and_then(|privacy| match server {
        Some(server) => privacy.veil_to(caller, server),
        None => privacy.veil(caller),
    });
    if let Some(veil) = veil {
        veil.text(&mut name).await;
    }
    name
}

/// Kind, argument and rule of what was restored, each once. An argument has whatever name a program gave it.
async fn told(privacy: &Privacy, caller: &Caller, restored: &RestoredArguments) -> Vec<String> {
    let veil = privacy.veil_for(caller);
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
async fn hide_file(veil: &Veil, source: Source<'_>, file: &mut AnswerFile) {
    if let Some(name) = &mut file.name {
        veil.words(name, source).await;
    }
    let text = STANDARD.decode(&file.base64).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    if let Some(mut text) = text {
        veil.words(&mut text, source).await;
        file.base64 = STANDARD.encode(text);
    }
}
