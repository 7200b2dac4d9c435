//! The two eras of the protocol: with a handshake (up to 2025-11-25), and without (2026-07-28).
//!
//! A server of which nothing is known is asked `server/discover` first. Whatever does not answer
//! that as a modern server would is greeted with `initialize`. What it turned out to be is
//! remembered by the caller, so that the question is asked once. A version that is configured is the only
//! one that is tried.

use std::time::Duration;

use gristmill_gateway::domain::Protocol;
use gristmill_gateway::upstream::{ServerFacts, UpstreamFailure};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::introduction::{capabilities, client_info};
use super::link::{AskError, Link, Request};
use super::listening::Changes;
use super::session::{Offers, Opening, Session};

/// The version of the modern era that we speak.
pub(crate) const MODERN: &str = "2026-07-28";

/// The newest version with a handshake, which is the one that we offer.
const NEWEST_LEGACY: &str = "2025-11-25";

/// Those that we take if the server prefers one.
const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// A server of the handshake era may not answer the question at all.
const PROBE_TIMEOUT: Duration = Duration::from_millis(2500);

/// What only a modern server answers: the headers do not match, a capability is missing.
const MODERN_REFUSALS: [i64; 2] = [-32020, -32021];

/// Why there is no session.
pub(crate) enum NotOpened {
    Failed(UpstreamFailure),
    /// A process that ended when it was asked what it speaks: some servers of the handshake era do
    /// that to whatever comes before the greeting.
    EndedAtDiscover,
}

impl From<NotOpened> for UpstreamFailure {
    fn from(error: NotOpened) -> Self {
        match error {
            NotOpened::Failed(failure) => failure,
            NotOpened::EndedAtDiscover => {
                Self::Down("it exited when asked which protocol it speaks".to_owned())
            }
        }
    }
}

/// Finds out what the server speaks, and agrees on it; with a configured version, on that one.
pub(crate) async fn open(
    opening: Opening,
    remembered: Option<&str>,
    configured: Option<Protocol>,
) -> Result<Session, NotOpened> {
    match configured {
        None => probe(opening, remembered).await,
        Some(version) => insist(opening, version).await,
    }
}

/// Speaks one version, and tries no other.
async fn insist(opening: Opening, version: Protocol) -> Result<Session, NotOpened> {
    let startup = Duration::from_millis(opening.limits.startup_ms);
    let limits = opening.limits;
    let is_modern = version.name() == MODERN;
    let found = match is_modern {
        true => discover(&opening, startup).await,
        false => initialize(&opening, startup, version.name()).await,
    };
    match found {
        Ok(found) => Ok(settle(opening, found, is_modern)),
        Err(error) => Err(NotOpened::Failed(error.into_failure(&limits))),
    }
}

async fn probe(opening: Opening, remembered: Option<&str>) -> Result<Session, NotOpened> {
    let startup = Duration::from_millis(opening.limits.startup_ms);
    let limits = opening.limits;
    let failed = |error: AskError| NotOpened::Failed(error.into_failure(&limits));
    let patience = match remembered {
        // It may have gone back to the old ways, and needs time to be greeted then.
        Some(MODERN) => startup / 2,
        None => PROBE_TIMEOUT.min(startup),
        Some(_) => {
            let error = match initialize(&opening, startup, NEWEST_LEGACY).await {
                Ok(found) => return Ok(settle(opening, found, false)),
                Err(error @ AskError::Rpc(_)) => error,
                Err(error) => return Err(failed(error)),
            };
            // It may have learnt the new ways since.
            return match discover(&opening, startup).await {
                Ok(found) => Ok(settle(opening, found, true)),
                Err(_) => Err(failed(error)),
            };
        }
    };
    match discover(&opening, patience).await {
        Ok(found) => Ok(settle(opening, found, true)),
        Err(error) if is_legacy(&error) => greet(opening).await,
        Err(AskError::Failed(UpstreamFailure::Lost(_) | UpstreamFailure::Down(_)))
            if matches!(opening.link, Link::Stdio(_)) =>
        {
            Err(NotOpened::EndedAtDiscover)
        }
        Err(error) => Err(failed(error)),
    }
}

/// Greets a server of the handshake era.
pub(crate) async fn greet(opening: Opening) -> Result<Session, NotOpened> {
    let startup = Duration::from_millis(opening.limits.startup_ms);
    let limits = opening.limits;
    let failed = |error: AskError| NotOpened::Failed(error.into_failure(&limits));
    match initialize(&opening, startup, NEWEST_LEGACY).await {
        Ok(found) => Ok(settle(opening, found, false)),
        Err(error @ AskError::Rpc(_)) => match discover(&opening, startup).await {
            // It was only slow to begin.
            Ok(found) => Ok(settle(opening, found, true)),
            Err(_) => Err(failed(error)),
        },
        Err(error) => Err(failed(error)),
    }
}

/// Whether an answer to `server/discover` is what a server of the handshake era says.
fn is_legacy(error: &AskError) -> bool {
    match error {
        AskError::Rpc(error) => !MODERN_REFUSALS.contains(&error.code),
        AskError::Timeout(_) => true,
        AskError::Status(status, _) => matches!(status, 400 | 404 | 405 | 406 | 415 | 422 | 500 | 501),
        AskError::Failed(UpstreamFailure::BadAnswer(_)) => true,
        AskError::TooLarge | AskError::Failed(_) => false,
    }
}

/// What a server said about itself, in either era.
struct Found {
    facts: ServerFacts,
    offers: Offers,
}

fn settle(opening: Opening, found: Found, modern: bool) -> Session {
    if let Link::Http(http) = &opening.link {
        http.agree(&found.facts.protocol, modern);
    }
    let facts = opening.redactor.clean_facts(found.facts);
    opening.into_session(facts, found.offers, modern)
}

async fn discover(opening: &Opening, limit: Duration) -> Result<Found, AskError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Discovered {
        supported_versions: Vec<String>,
        #[serde(default)]
        capabilities: Value,
        #[serde(default)]
        instructions: Option<String>,
        #[serde(default, rename = "_meta")]
        meta: Map<String, Value>,
    }
    if let Link::Http(http) = &opening.link {
        http.agree(MODERN, true);
    }
    let raw = opening.ask(Request::new("server/discover", Map::new(), limit), Some(MODERN)).await;
    let read = raw.and_then(|raw| {
        serde_json::from_str::<Discovered>(&raw).map_err(|error| unreadable("server/discover", &error))
    });
    let found = match read {
        Ok(found) if found.supported_versions.iter().any(|version| version == MODERN) => found,
        Ok(found) => {
            return Err(AskError::Failed(UpstreamFailure::BadAnswer(format!(
                "it speaks {}, which Gristmill doesn't support",
                found.supported_versions.join(", ")
            ))));
        }
        Err(error) => {
            if let Link::Http(http) = &opening.link {
                http.disagree();
            }
            return Err(error);
        }
    };
    let info = found.meta.get("io.modelcontextprotocol/serverInfo").cloned().unwrap_or_default();
    let facts = facts_of(&info, found.instructions, MODERN);
    Ok(Found { facts, offers: offers_of(&found.capabilities) })
}

async fn initialize(opening: &Opening, limit: Duration, version: &str) -> Result<Found, AskError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Initialized {
        protocol_version: String,
        #[serde(default)]
        capabilities: Value,
        #[serde(default)]
        server_info: Value,
        #[serde(default)]
        instructions: Option<String>,
    }
    if let Link::Http(http) = &opening.link {
        http.disagree();
    }
    let mut params = Map::new();
    params.insert("protocolVersion".to_owned(), version.into());
    params.insert("capabilities".to_owned(), capabilities(opening.peer.can_ask()));
    params.insert("clientInfo".to_owned(), client_info());
    let raw = opening.ask(Request::new("initialize", params, limit), None).await?;
    let found: Initialized = serde_json::from_str(&raw).map_err(|error| unreadable("initialize", &error))?;
    if !LEGACY.contains(&found.protocol_version.as_str()) {
        return Err(AskError::Failed(UpstreamFailure::BadAnswer(format!(
            "it speaks protocol version {}, which Gristmill doesn't support",
            found.protocol_version.chars().take(40).collect::<String>()
        ))));
    }
    if let Link::Http(http) = &opening.link {
        http.agree(&found.protocol_version, false);
    }
    opening.notify("notifications/initialized", "{}").await.map_err(AskError::Failed)?;
    let facts = facts_of(&found.server_info, found.instructions, &found.protocol_version);
    Ok(Found { facts, offers: offers_of(&found.capabilities) })
}

fn unreadable(method: &str, error: &serde_json::Error) -> AskError {
    AskError::Failed(UpstreamFailure::BadAnswer(format!("can't read its answer to {method}: {error}")))
}

fn offers_of(capabilities: &Value) -> Offers {
    let has = |what: &str| capabilities.get(what).is_some_and(Value::is_object);
    let announces = |what: &str| capabilities[what]["listChanged"] == Value::Bool(true);
    Offers {
        tools: has("tools"),
        resources: has("resources"),
        prompts: has("prompts"),
        changes: Changes {
            tools: announces("tools"),
            resources: announces("resources"),
            prompts: announces("prompts"),
        },
    }
}

fn facts_of(info: &Value, instructions: Option<String>, protocol: &str) -> ServerFacts {
    const CHARS_MAX: usize = 4000;
    let text = |value: Option<&Value>| {
        let text = value.and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
        text.map(|text| text.chars().take(200).collect::<String>())
    };
    ServerFacts {
        title: text(info.get("title")).or_else(|| text(info.get("name"))),
        version: text(info.get("version")),
        instructions: instructions.map(|text| text.chars().take(CHARS_MAX).collect()),
        protocol: protocol.to_owned(),
    }
}
