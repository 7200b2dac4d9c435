//! Who sends a request, by the bearer token in its header and nowhere else, and whether that is enough
//! for what it wants.

use std::sync::Arc;
use std::time::SystemTime;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use gristmill_gateway::access::{AccessTokens, Caller, Scope, TokenRefused};
use gristmill_gateway::ports::{AuditEvent, AuditLog};
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::LOG_AREA;
use crate::answers::failed;

/// No header that we take is longer; what is, is no token.
const HEADER_BYTES_MAX: usize = 4096;

const INVALID: &str = "Bearer realm=\"gristmill\", error=\"invalid_token\"";
const REQUIRED: &str = "Bearer realm=\"gristmill\"";

/// What a request must show before a router sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing: it says nothing that is worth a token.
    Open,
    /// A good token, where tokens are required, that is for more than metrics. The router finds the [`Caller`] among the request's
    /// extensions.
    Caller,
    /// The same, with this scope. Whoever needs no token has all scopes.
    Scope(Scope),
}

/// Who sends a request that has no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithoutToken {
    /// Nobody: it is refused.
    Refused,
    /// The local owner: nobody else can connect.
    Owner,
    /// Whoever can connect, with all rights of the local owner. A request that came through a proxy,
    /// as its headers tell, is refused.
    Anyone,
}

/// Where tokens are checked, and who needs none.
#[derive(Clone)]
pub(crate) struct Authority {
    pub(crate) tokens: Option<Arc<AccessTokens>>,
    pub(crate) without_token: WithoutToken,
    pub(crate) audit: Option<Arc<dyn AuditLog>>,
}

/// What one router asks for.
#[derive(Clone)]
pub(crate) struct Requirement {
    pub(crate) authority: Authority,
    pub(crate) scope: Scope,
}

/// Passes on what may pass, with its caller.
pub(crate) async fn authorize(
    State(requirement): State<Requirement>,
    mut request: Request,
    next: Next,
) -> Response {
    let Requirement { authority, scope } = requirement;
    let caller = match authority.caller(request.headers(), scope) {
        Ok(caller) => caller,
        Err(refused) => return *refused,
    };
    if !caller.may(scope) {
        authority.note_refused("scope", Some(&caller.name));
        let why =
            format!("this needs a token with the scope `{scope}` (gristmill token new NAME --scope {scope})");
        return failed(StatusCode::FORBIDDEN, why);
    }
    request.extensions_mut().insert(caller);
    next.run(request).await
}

impl Authority {
    /// A token that is sent must be good, also where none is needed.
    fn caller(&self, headers: &HeaderMap, scope: Scope) -> Result<Caller, Box<Response>> {
        let mut given = headers.get_all(AUTHORIZATION).iter();
        let Some(header) = given.next() else {
            return self.caller_without_token(headers, scope);
        };
        let token = bearer(header).filter(|_| given.next().is_none());
        let (Some(token), Some(tokens)) = (token, &self.tokens) else {
            let why = match self.tokens {
                Some(_) => {
                    "send one `Authorization: Bearer TOKEN` header; create a token with `gristmill token new NAME`"
                }
                None => "this server doesn't use access tokens; remove the `Authorization` header",
            };
            self.note_refused("malformed", None);
            return Err(unauthorized(why, INVALID));
        };
        let checked = tokens.check(token, SystemTime::now());
        match &checked {
            Ok(_) => {}
            Err(TokenRefused::Unknown) => self.note_refused("unknown", None),
            Err(TokenRefused::Expired { name }) => self.note_refused("expired", Some(name)),
            Err(TokenRefused::Unreadable(_)) => self.note_refused("unreadable", None),
        }
        checked.map_err(|refused| match refused {
            TokenRefused::Unknown | TokenRefused::Expired { .. } => {
                unauthorized(&format!("{refused}; create a new one with `gristmill token new NAME`"), INVALID)
            }
            // A stranger is not told where files are; the owner can ask.
            TokenRefused::Unreadable(_) => unauthorized(
                "can't check access tokens: the token file is unusable; \
                 run `gristmill token list` on the server to see why",
                INVALID,
            ),
        })
    }

    fn caller_without_token(&self, headers: &HeaderMap, scope: Scope) -> Result<Caller, Box<Response>> {
        let caller = match self.without_token {
            WithoutToken::Refused => {
                let flag = if scope == Scope::Metrics { " --scope metrics" } else { "" };
                let why = format!(
                    "access token required: create one with `gristmill token new NAME{flag}` and send it as \
                     `Authorization: Bearer TOKEN`; tokens in the URL are ignored"
                );
                self.note_refused("missing", None);
                return Err(unauthorized(&why, REQUIRED));
            }
            WithoutToken::Owner => Caller::local(),
            WithoutToken::Anyone => Caller::anyone(),
        };
        let Some(header) = headers.keys().find(|name| is_of_a_proxy(name)) else { return Ok(caller) };
        // Behind a proxy everyone looks as if they were here.
        let why = format!(
            "this request came through a proxy (it has the header `{header}`), and without tokens everyone \
             behind the proxy would have all rights of the local owner; send a token, or serve with `--http` \
             and without `--insecure-no-token`"
        );
        self.note_refused("by proxy", None);
        Err(Box::new(failed(StatusCode::FORBIDDEN, why)))
    }

    fn note_refused(&self, why: &str, name: Option<&str>) {
        tracing::warn!(target: LOG_AREA, why, token = name, "refused");
        if let Some(audit) = &self.audit {
            audit.note(AuditEvent::token_refused(why, name));
        }
    }
}

/// Whether a header is one that proxies add, and clients do not.
fn is_of_a_proxy(name: &HeaderName) -> bool {
    matches!(name.as_str(), "forwarded" | "via" | "x-real-ip") || name.as_str().starts_with("x-forwarded-")
}

fn bearer(header: &HeaderValue) -> Option<&str> {
    let text = header.to_str().ok().filter(|text| text.len() <= HEADER_BYTES_MAX)?;
    let (scheme, token) = text.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn unauthorized(why: &str, challenge: &'static str) -> Box<Response> {
    let mut answer = failed(StatusCode::UNAUTHORIZED, why);
    answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    Box::new(answer)
}
