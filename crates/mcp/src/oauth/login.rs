//! The login itself: `gristmill login NAME`.
//!
//! Walls: nothing is stored before all of it has worked. Dropping the future ends it and closes the
//! port. Only http(s) URLs that passed the checks are handed to the browser, as a URL and not as a
//! command.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rmcp::transport::auth::{OAuthClientConfig, StateStore};
use url::Url;

use super::callback::{Answer, Callback, Expected};
use super::clock::{Clock, system_time};
use super::discovery::{LoginServer, discover, discovery_error};
use super::error::{LoginError, server_words};
use super::requests::LoginHttp;
use super::settings::{LoginNetwork, LoginSettings, bare_url};
use super::token_requests::{Client, TokenFailure, Tokens, request_tokens, scope_list};
use super::token_store::{StoredLogin, TokenStore};
use crate::secret::Secret;

/// Under this name we register.
const CLIENT_NAME: &str = "Gristmill";

/// What to log in to, and how.
pub struct LoginRequest<'a> {
    pub server: &'a str,
    pub url: &'a Url,
    /// What is configured about the login.
    pub settings: &'a LoginSettings,
    /// The `WWW-Authenticate` header of a refusal, if one is at hand.
    pub challenge: Option<&'a str>,
    /// How long the user may take.
    pub time_limit: Duration,
    /// Opens the user's browser, or shows the URL; false if neither is possible.
    pub open: &'a (dyn Fn(&Url) -> bool + Send + Sync),
}

impl LoginRequest<'_> {
    /// How long the user may take if nothing is said.
    pub const TIME_LIMIT: Duration = Duration::from_secs(5 * 60);
}

impl fmt::Debug for LoginRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoginRequest").field("server", &self.server).finish_non_exhaustive()
    }
}

/// What the user was granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Granted {
    pub issuer: String,
    pub scopes: Vec<String>,
    /// Until when; None if nobody said.
    pub expires_at: Option<SystemTime>,
    /// Whether it is renewed by itself after that.
    pub is_renewed: bool,
}

/// Logs in, and stores the tokens.
pub async fn login(
    request: LoginRequest<'_>,
    store: &TokenStore,
    network: &LoginNetwork,
    clock: &Clock,
) -> Result<Granted, LoginError> {
    let server = request.server;
    let url = bare_url(request.url);
    let unreachable =
        |why| LoginError::Unreachable { server: server.to_owned(), what: "where to log in", why };
    let http = Arc::new(network.http(&url).map_err(unreachable)?);
    // A file that cannot be used is better found before the user has logged in.
    store.check_leads()?;
    let (before, _) = store.find(server, &url)?;
    let port = request.settings.callback_port;
    let callback = Callback::bind(port).await;
    let callback = callback.map_err(|error| LoginError::NoPort { port, why: error.to_string() })?;
    let mut place = discover(server, &url, &http, request.challenge).await?;
    let scopes = wanted_scopes(&place, request.settings, before.as_ref()).await;
    let us = client(&request, &mut place, &http, &callback, &scopes).await?;
    let attempt = Attempt::start(server, &place, scopes).await?;
    if !(request.open)(&attempt.url) {
        return Err(LoginError::NoBrowser { server: server.to_owned() });
    }
    let expected =
        Expected { state: &attempt.state, issuer: &place.issuer, issuer_required: place.names_itself };
    let waiting = tokio::time::timeout(request.time_limit, callback.answer(&expected));
    let timed_out =
        |_| LoginError::TimedOut { server: server.to_owned(), seconds: request.time_limit.as_secs() };
    let (answer, browser) = waiting.await.map_err(timed_out)?;
    let outcome = match exchange(server, answer, &place, &us, &attempt, &http, &callback).await {
        Ok(tokens) => keep(server, &url, &place, us, attempt, tokens, store, clock.now()).await,
        Err(error) => Err(error),
    };
    browser.show(outcome.is_ok()).await;
    outcome
}

/// Who we are to the login server.
struct Us {
    id: String,
    secret: Option<Secret>,
    is_registered_by_us: bool,
}

/// What is configured, exactly; else what the server advises, with what it has missed since the
/// last login.
async fn wanted_scopes(
    place: &LoginServer,
    settings: &LoginSettings,
    before: Option<&StoredLogin>,
) -> Vec<String> {
    if !settings.scopes.is_empty() {
        return settings.scopes.clone();
    }
    let mut wanted = place.manager.select_initial_scopes(&[]).await;
    if let Some(before) = before.filter(|before| !before.missing_scopes.is_empty()) {
        wanted.extend(before.scopes.iter().chain(&before.missing_scopes).cloned());
    }
    scope_list(&wanted.join(" "))
}

/// The configured client, or one that registers itself now.
async fn client(
    request: &LoginRequest<'_>,
    place: &mut LoginServer,
    http: &LoginHttp,
    callback: &Callback,
    scopes: &[String],
) -> Result<Us, LoginError> {
    let server = request.server.to_owned();
    let redirect_uri = callback.redirect_uri();
    if let Some(id) = &request.settings.client_id {
        let configured = place.manager.configure_client(OAuthClientConfig::new(id, redirect_uri));
        configured.map_err(|error| discovery_error(&server, http, error))?;
        let secret = request.settings.client_secret.clone();
        return Ok(Us { id: id.clone(), secret, is_registered_by_us: false });
    }
    if place.registration_endpoint.is_none() {
        return Err(LoginError::NoRegistration { server, redirect_uri });
    }
    let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
    match place.manager.register_client(CLIENT_NAME, &redirect_uri, &scopes).await {
        Ok(registered) => Ok(Us {
            id: registered.client_id,
            secret: registered.client_secret.map(Secret::new),
            is_registered_by_us: true,
        }),
        Err(error) => {
            let what = "our registration";
            if let Some(why) = http.take_error() {
                return Err(LoginError::Unreachable { server, what, why });
            }
            if http.last_was_success() {
                // rmcp's words would quote the answer, and there may be a client secret in it.
                let why = "it isn't a JSON object".to_owned();
                return Err(LoginError::BadAnswer { server, what, why });
            }
            Err(LoginError::Refused { server, what, words: server_words(&error.to_string(), &[]) })
        }
    }
}

/// One attempt: the URL that the user opens, and what is needed to make something of the answer.
struct Attempt {
    url: Url,
    state: Secret,
    verifier: Secret,
    resource: String,
    scopes: Vec<String>,
}

impl Attempt {
    async fn start(server: &str, place: &LoginServer, scopes: Vec<String>) -> Result<Self, LoginError> {
        let bad = |why: String| LoginError::BadMetadata { server: server.to_owned(), why };
        let asked: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let url = place.manager.get_authorization_url(&asked).await;
        let url = url.map_err(|error| bad(server_words(&error.to_string(), &[])))?;
        let url = Url::parse(&url).map_err(|_| bad("its login address isn't a URL".to_owned()))?;
        let parameter = |wanted: &str| {
            let found =
                url.query_pairs().find(|(name, _)| name == wanted).map(|(_, value)| value.into_owned());
            found.ok_or_else(|| bad(format!("the login URL lacks `{wanted}`")))
        };
        let (state, resource) = (parameter("state")?, parameter("resource")?);
        let kept = place.states.load(&state).await.ok().flatten();
        let kept = kept.ok_or_else(|| bad("the login didn't start".to_owned()))?;
        let verifier = Secret::new(kept.pkce_verifier);
        Ok(Self { state: Secret::new(state), resource, verifier, scopes, url })
    }
}

/// The code for tokens.
async fn exchange(
    server: &str,
    answer: Answer,
    place: &LoginServer,
    us: &Us,
    attempt: &Attempt,
    http: &LoginHttp,
    callback: &Callback,
) -> Result<Tokens, LoginError> {
    let server = server.to_owned();
    let code = match answer {
        Answer::Code(code) => code,
        Answer::Refused(words) => return Err(LoginError::Refused { server, what: "the login", words }),
        Answer::WrongIssuer(received) => {
            return Err(LoginError::WrongIssuer { server, expected: place.issuer.clone(), received });
        }
    };
    let redirect_uri = callback.redirect_uri();
    let form = [
        ("grant_type", "authorization_code"),
        ("code", code.reveal()),
        ("redirect_uri", &redirect_uri),
        ("code_verifier", attempt.verifier.reveal()),
        ("resource", &attempt.resource),
    ];
    let client = Client { id: &us.id, secret: us.secret.as_ref(), proof: place.client_proof };
    let tokens =
        request_tokens(http, &place.token_endpoint, &client, &form, &[&code, &attempt.verifier]).await;
    tokens.map_err(|failure| token_error(server, "the tokens", failure))
}

/// In the words of a login that did not work.
pub(super) fn token_error(server: String, what: &'static str, failure: TokenFailure) -> LoginError {
    match failure {
        TokenFailure::Ended(words) | TokenFailure::Refused(words) => {
            LoginError::Refused { server, what, words }
        }
        TokenFailure::Bad(why) => LoginError::BadAnswer { server, what, why },
        TokenFailure::Request(why) => LoginError::Unreachable { server, what, why },
    }
}

#[expect(clippy::too_many_arguments, reason = "everything that a login consists of comes together here")]
async fn keep(
    server: &str,
    url: &Url,
    place: &LoginServer,
    us: Us,
    attempt: Attempt,
    tokens: Tokens,
    store: &TokenStore,
    now: u64,
) -> Result<Granted, LoginError> {
    let login = StoredLogin {
        server: server.to_owned(),
        url: url.clone(),
        issuer: place.issuer.clone(),
        resource: attempt.resource,
        token_endpoint: place.token_endpoint.clone(),
        revocation_endpoint: place.revocation_endpoint.clone(),
        client_id: us.id,
        client_secret: us.secret.filter(|_| us.is_registered_by_us),
        client_proof: place.client_proof,
        access_token: tokens.access_token,
        refresh_token: tokens.refresh_token,
        obtained_at: now,
        expires_at: tokens.lifetime_s.map(|lifetime| now.saturating_add(lifetime)),
        scopes: tokens.scopes.unwrap_or(attempt.scopes),
        missing_scopes: Vec::new(),
        not_renewed: None,
    };
    let granted = Granted {
        issuer: login.issuer.clone(),
        scopes: login.scopes.clone(),
        expires_at: login.expires_at.and_then(system_time),
        is_renewed: login.refresh_token.is_some(),
    };
    store.put(login).await?;
    Ok(granted)
}
