//! Where to log in: the server says, and we judge.
//!
//! rmcp looks (RFC 9728, then RFC 8414 and OpenID). We demand more of what it finds: that the issuer
//! is who answered, PKCE as the protocol's specification wants it, and endpoints fit for secrets.

use std::sync::Arc;

use rmcp::transport::auth::{AuthError, AuthorizationManager, AuthorizationMetadata, InMemoryStateStore};
use serde_json::Value;
use url::Url;

use super::error::{LoginError, server_words};
use super::requests::LoginHttp;
use super::token_store::ClientProof;

/// A challenge longer than this is not looked at.
pub(super) const CHALLENGE_BYTES_MAX: usize = 8 * 1024;

/// Ours to add to the login's URL; an endpoint that has one of them already is playing games.
const OUR_PARAMETERS: [&str; 8] = [
    "response_type",
    "client_id",
    "redirect_uri",
    "state",
    "scope",
    "resource",
    "code_challenge",
    "code_challenge_method",
];

/// Where to log in.
pub(super) struct LoginServer {
    /// rmcp's view of it, which knows the way to register and to make the login's URL.
    pub(super) manager: AuthorizationManager,
    /// Where rmcp keeps the secrets of a login under way.
    pub(super) states: InMemoryStateStore,
    pub(super) issuer: String,
    pub(super) token_endpoint: Url,
    pub(super) registration_endpoint: Option<Url>,
    pub(super) revocation_endpoint: Option<Url>,
    pub(super) client_proof: ClientProof,
    /// Its answers name it, so that one without a name is not its own (RFC 9207).
    pub(super) names_itself: bool,
}

/// Finds the login server of the MCP server at `url`.
pub(super) async fn discover(
    server: &str,
    url: &Url,
    http: &Arc<LoginHttp>,
    challenge: Option<&str>,
) -> Result<LoginServer, LoginError> {
    let failed = |error: AuthError| discovery_error(server, http, error);
    let client: Arc<LoginHttp> = Arc::clone(http);
    let mut manager =
        AuthorizationManager::new_with_oauth_http_client(url.clone(), client).await.map_err(failed)?;
    let challenge = challenge.filter(|challenge| challenge.len() <= CHALLENGE_BYTES_MAX);
    let found = manager.resolve_metadata_from_challenge(challenge).await.map_err(failed)?;
    // Without metadata rmcp makes endpoints up, as the protocol once wanted.
    if !found.source.is_discovered() {
        return Err(LoginError::NoLoginOffered { server: server.to_owned() });
    }
    let metadata = found.metadata;
    let issuer = checked_issuer(server, &metadata, http)?;
    check_pkce(server, &metadata)?;
    let authorization = endpoint(server, "logging in", &metadata.authorization_endpoint)?;
    if authorization.query_pairs().any(|(name, _)| OUR_PARAMETERS.contains(&name.as_ref())) {
        return Err(bad(server, "its login URL sets parameters that only Gristmill may set"));
    }
    let browser = http.policy().check_for_browser(&authorization).await;
    browser.map_err(|why| unsafe_url(server, "logging in", &authorization, why))?;
    let token_endpoint = safe_endpoint(server, http, "tokens", &metadata.token_endpoint).await?;
    let registration_endpoint = match &metadata.registration_endpoint {
        Some(text) => Some(safe_endpoint(server, http, "registering", text).await?),
        None => None,
    };
    let revocation_endpoint =
        match metadata.additional_fields.get("revocation_endpoint").and_then(Value::as_str) {
            Some(text) => Some(safe_endpoint(server, http, "logging out", text).await?),
            None => None,
        };
    let flag = |name: &str| metadata.additional_fields.get(name).and_then(Value::as_bool).unwrap_or(false);
    let names_itself = flag("authorization_response_iss_parameter_supported");
    let client_proof = client_proof(&metadata);
    manager.set_metadata(metadata);
    let states = InMemoryStateStore::new();
    manager.set_state_store(states.clone());
    Ok(LoginServer {
        manager,
        states,
        issuer,
        token_endpoint,
        registration_endpoint,
        revocation_endpoint,
        client_proof,
        names_itself,
    })
}

/// rmcp compares the issuer with the place where metadata is expected, except at unusual places.
/// Whoever answers must be the one it claims to be in any case.
fn checked_issuer(
    server: &str,
    metadata: &AuthorizationMetadata,
    http: &LoginHttp,
) -> Result<String, LoginError> {
    let issuer = metadata.issuer.as_deref().ok_or_else(|| bad(server, "its metadata names no issuer"))?;
    let claimed = Url::parse(issuer).map_err(|_| bad(server, "its issuer isn't a URL"))?;
    let answered = http.last_url().ok_or_else(|| bad(server, "its metadata has no source"))?;
    if claimed.origin() != answered.origin() {
        return Err(LoginError::WrongIssuer {
            server: server.to_owned(),
            expected: answered.origin().ascii_serialization(),
            received: server_words(issuer, &[]),
        });
    }
    Ok(issuer.to_owned())
}

/// The specification: a server that does not say S256 does not have it, and is refused.
fn check_pkce(server: &str, metadata: &AuthorizationMetadata) -> Result<(), LoginError> {
    let methods = metadata.code_challenge_methods_supported.as_deref().unwrap_or_default();
    if methods.iter().any(|method| method == "S256") {
        return Ok(());
    }
    Err(LoginError::NoPkce { server: server.to_owned() })
}

/// The header is what every server must take, unless it says that it takes the form only.
fn client_proof(metadata: &AuthorizationMetadata) -> ClientProof {
    let methods =
        metadata.additional_fields.get("token_endpoint_auth_methods_supported").and_then(Value::as_array);
    let takes = |method: &str| methods.is_some_and(|methods| methods.iter().any(|name| name == method));
    if takes("client_secret_post") && !takes("client_secret_basic") {
        ClientProof::Post
    } else {
        ClientProof::Basic
    }
}

async fn safe_endpoint(
    server: &str,
    http: &LoginHttp,
    what: &'static str,
    text: &str,
) -> Result<Url, LoginError> {
    let url = endpoint(server, what, text)?;
    http.policy().check_endpoint(&url).await.map_err(|why| unsafe_url(server, what, &url, why))?;
    Ok(url)
}

fn endpoint(server: &str, what: &str, text: &str) -> Result<Url, LoginError> {
    Url::parse(text).map_err(|_| bad(server, &format!("its {what} address isn't a URL")))
}

fn unsafe_url(
    server: &str,
    what: &'static str,
    url: &Url,
    why: crate::addresses::AddressRefusal,
) -> LoginError {
    let url = server_words(super::settings::bare_url(url).as_str(), &[]);
    LoginError::UnsafeUrl { server: server.to_owned(), what, url, why }
}

fn bad(server: &str, why: &str) -> LoginError {
    LoginError::BadMetadata { server: server.to_owned(), why: why.to_owned() }
}

/// rmcp's error in our words. If a request of ours failed, that says more.
pub(super) fn discovery_error(server: &str, http: &LoginHttp, error: AuthError) -> LoginError {
    let server = server.to_owned();
    if let Some(why) = http.take_error() {
        return LoginError::Unreachable { server, what: "where to log in", why };
    }
    match error {
        AuthError::AuthorizationServerMismatch { expected_issuer, received_issuer } => {
            LoginError::WrongIssuer {
                server,
                expected: server_words(&expected_issuer, &[]),
                received: server_words(&received_issuer, &[]),
            }
        }
        AuthError::PkceUnsupported => LoginError::NoPkce { server },
        AuthError::NoAuthorizationSupport => LoginError::NoLoginOffered { server },
        other => LoginError::BadMetadata { server, why: server_words(&other.to_string(), &[]) },
    }
}
