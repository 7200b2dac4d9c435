//! What is asked of a token endpoint: tokens for a code, new tokens for old ones, and the end of one.
//!
//! Walls: an answer is used only if it is what it should be. A token that cannot stand in a header is
//! no token. The server's words lose our secrets before anyone sees them.

use serde::Deserialize;
use serde_json::Value;
use url::Url;

use super::error::server_words;
use super::requests::{Answer, LoginHttp, RequestError, host_of};
use super::token_store::ClientProof;
use crate::secret::Secret;

/// The longest token; it goes into a header of every request.
const TOKEN_BYTES_MAX: usize = 16 * 1024;

/// A token that lasts longer than this is as good as one that lasts for ever.
const LIFETIME_MAX_S: u64 = 10 * 365 * 24 * 3600;

/// Scopes that are kept of one list, and the longest of them.
const SCOPES_MAX: usize = 100;
const SCOPE_BYTES_MAX: usize = 256;

pub(super) struct Client<'a> {
    pub(super) id: &'a str,
    pub(super) secret: Option<&'a Secret>,
    pub(super) proof: ClientProof,
}

#[derive(Debug)]
pub(super) struct Tokens {
    pub(super) access_token: Secret,
    pub(super) refresh_token: Option<Secret>,
    pub(super) lifetime_s: Option<u64>,
    /// None means: what was asked for.
    pub(super) scopes: Option<Vec<String>>,
}

#[derive(Debug)]
pub(super) enum TokenFailure {
    /// What we offered is not worth anything any more: only the user can help.
    Ended(String),
    /// Refused for another reason.
    Refused(String),
    Bad(String),
    /// It may work later.
    Request(RequestError),
}

/// Asks for tokens. `form` is the grant; the client is added here.
pub(super) async fn request_tokens(
    http: &LoginHttp,
    endpoint: &Url,
    client: &Client<'_>,
    form: &[(&str, &str)],
    secrets: &[&Secret],
) -> Result<Tokens, TokenFailure> {
    let answer = post(http, endpoint, client, form).await.map_err(TokenFailure::Request)?;
    read_tokens(endpoint, &answer, &with_client_secret(client, secrets))
}

/// Ends a token (RFC 7009).
pub(super) async fn revoke(
    http: &LoginHttp,
    endpoint: &Url,
    client: &Client<'_>,
    token: &Secret,
    kind: &str,
) -> Result<(), TokenFailure> {
    let form = [("token", token.reveal()), ("token_type_hint", kind)];
    let answer = post(http, endpoint, client, &form).await.map_err(TokenFailure::Request)?;
    if answer.status.is_success() {
        return Ok(());
    }
    Err(failure(endpoint, &answer, &with_client_secret(client, &[token])))
}

async fn post(
    http: &LoginHttp,
    endpoint: &Url,
    client: &Client<'_>,
    form: &[(&str, &str)],
) -> Result<Answer, RequestError> {
    let mut form = form.to_vec();
    let mut basic = None;
    match (client.secret, client.proof) {
        (Some(secret), ClientProof::Basic) => basic = Some((client.id, secret)),
        (Some(secret), ClientProof::Post) => {
            form.extend([("client_id", client.id), ("client_secret", secret.reveal())]);
        }
        (None, ClientProof::Basic | ClientProof::Post) => form.push(("client_id", client.id)),
    }
    http.post_form(endpoint, &form, basic).await
}

fn with_client_secret<'a>(client: &Client<'a>, secrets: &[&'a Secret]) -> Vec<&'a Secret> {
    secrets.iter().copied().chain(client.secret).collect()
}

#[derive(Deserialize)]
struct TokenAnswer {
    access_token: Option<String>,
    token_type: Option<String>,
    refresh_token: Option<String>,
    expires_in: Option<Value>,
    scope: Option<String>,
    error: Option<Value>,
}

fn read_tokens(endpoint: &Url, answer: &Answer, secrets: &[&Secret]) -> Result<Tokens, TokenFailure> {
    let bad = |why: &str| TokenFailure::Bad(why.to_owned());
    if !answer.status.is_success() {
        return Err(failure(endpoint, answer, secrets));
    }
    // The parser's own words could repeat a token.
    let read: TokenAnswer =
        serde_json::from_slice(&answer.body).map_err(|_| bad("it isn't a JSON object"))?;
    // Some servers say 200 to everything.
    if read.error.is_some() {
        return Err(failure(endpoint, answer, secrets));
    }
    if read.token_type.is_some_and(|kind| !kind.eq_ignore_ascii_case("bearer")) {
        return Err(bad("its token isn't a bearer token"));
    }
    let access_token = read.access_token.map(Secret::new).filter(is_token);
    Ok(Tokens {
        access_token: access_token.ok_or_else(|| bad("it has no usable access token"))?,
        refresh_token: read.refresh_token.filter(|token| !token.is_empty()).map(Secret::new),
        lifetime_s: read.expires_in.as_ref().and_then(seconds).map(|lifetime| lifetime.min(LIFETIME_MAX_S)),
        scopes: read.scope.as_deref().filter(|scope| !scope.trim().is_empty()).map(scope_list),
    })
}

fn is_token(token: &Secret) -> bool {
    let text = token.reveal();
    !text.is_empty() && text.len() <= TOKEN_BYTES_MAX && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// A number, or one in quotes as some servers write it.
fn seconds(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => {
            number.as_u64().or_else(|| number.as_f64().map(|seconds| seconds.max(0.0) as u64))
        }
        Value::String(text) => text.parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The scopes in a list with blanks; what cannot be one is left out.
pub(super) fn scope_list(text: &str) -> Vec<String> {
    let mut scopes: Vec<String> = Vec::new();
    for scope in text.split_whitespace().filter(|scope| is_scope(scope)) {
        if scopes.len() == SCOPES_MAX {
            break;
        }
        if !scopes.iter().any(|known| known == scope) {
            scopes.push(scope.to_owned());
        }
    }
    scopes
}

fn is_scope(scope: &str) -> bool {
    scope.len() <= SCOPE_BYTES_MAX
        && scope.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\')
}

fn failure(endpoint: &Url, answer: &Answer, secrets: &[&Secret]) -> TokenFailure {
    let text = |body: &Value, key: &str| body.get(key).and_then(Value::as_str).map(str::to_owned);
    let body = serde_json::from_slice(&answer.body).unwrap_or(Value::Null);
    let Some(error) = text(&body, "error") else {
        return match answer.status {
            status if status.is_success() => TokenFailure::Bad("an unnamed error".to_owned()),
            status => TokenFailure::Request(RequestError::Status {
                host: host_of(endpoint),
                status: status.as_u16(),
            }),
        };
    };
    let words = match text(&body, "error_description") {
        Some(description) => server_words(&format!("{error}: {description}"), secrets),
        None => server_words(&error, secrets),
    };
    match error.as_str() {
        "invalid_grant" | "invalid_client" | "unauthorized_client" => TokenFailure::Ended(words),
        "temporarily_unavailable" | "server_error" | "slow_down" => {
            TokenFailure::Request(RequestError::Failed { host: host_of(endpoint), why: words })
        }
        _ => TokenFailure::Refused(words),
    }
}

#[cfg(test)]
mod tests {
    use reqwest::StatusCode;
    use reqwest::header::HeaderMap;
    use zeroize::Zeroizing;

    use super::*;

    fn read(status: u16, body: &str) -> Result<Tokens, TokenFailure> {
        let status = StatusCode::from_u16(status).expect("a status");
        let body = Zeroizing::new(body.as_bytes().to_vec());
        let endpoint = Url::parse("https://login.example/token").expect("a URL");
        read_tokens(&endpoint, &Answer { status, headers: HeaderMap::new(), body }, &[&Secret::new("0ld")])
    }

    #[test]
    fn answers_with_tokens_are_read_as_servers_write_them() {
        let lifetime = |body: &str| read(200, body).expect(body).lifetime_s;
        assert_eq!(lifetime(r#"{"access_token":"a","token_type":"BEARER","expires_in":3600}"#), Some(3600));
        assert_eq!(lifetime(r#"{"access_token":"a","expires_in":"3600"}"#), Some(3600));
        assert_eq!(lifetime(r#"{"access_token":"a","expires_in":3599.5}"#), Some(3599));
        assert_eq!(lifetime(r#"{"access_token":"a","expires_in":-5}"#), Some(0));
        assert_eq!(lifetime(r#"{"access_token":"a","expires_in":1e300}"#), Some(LIFETIME_MAX_S));
        assert_eq!(lifetime(r#"{"access_token":"a","expires_in":null,"refresh_token":""}"#), None);
        let tokens =
            read(200, r#"{"access_token":"a","refresh_token":"r","scope":" b  c b \" "}"#).expect("tokens");
        assert_eq!(tokens.refresh_token, Some(Secret::new("r")));
        assert_eq!(tokens.scopes, Some(vec!["b".to_owned(), "c".to_owned()]));
    }

    #[test]
    fn what_is_no_token_is_not_taken_for_one() {
        let long = format!(r#"{{"access_token":"{}"}}"#, "x".repeat(TOKEN_BYTES_MAX + 1));
        let bad = [
            "",
            "null",
            "[]",
            "<html>",
            r#"{"access_token":5}"#,
            r#"{"access_token":""}"#,
            r#"{"access_token":"a\r\nX-Evil: 1"}"#,
            r#"{"access_token":"a","token_type":"mac"}"#,
            long.as_str(),
        ];
        for body in bad {
            assert!(matches!(read(200, body), Err(TokenFailure::Bad(_))), "{body}");
        }
    }

    #[test]
    fn refusals_are_told_apart_and_repeat_no_secret() {
        let check = |status: u16, body: &str, expected: &str| {
            let failure = read(status, body).expect_err(body);
            assert_eq!(format!("{failure:?}"), expected, "{body}");
        };
        check(
            400,
            r#"{"error":"invalid_grant","error_description":"0ld is over\nfor good"}"#,
            r#"Ended("invalid_grant: (secret) is over for good")"#,
        );
        check(200, r#"{"error":"invalid_client"}"#, r#"Ended("invalid_client")"#);
        check(400, r#"{"error":"invalid_scope"}"#, r#"Refused("invalid_scope")"#);
        check(503, "busy", r#"Request(Status { host: "login.example", status: 503 })"#);
        check(
            400,
            r#"{"error":"temporarily_unavailable"}"#,
            r#"Request(Failed { host: "login.example", why: "temporarily_unavailable" })"#,
        );
    }
}
