//! Who sends a request: by the bearer token in its header, and nowhere else.

use std::time::SystemTime;

use gristmill_gateway::access::{AccessTokens, Caller, TokenRefused};
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, StatusCode};

use super::answers::{Answer, failed};
use super::sessions::Owner;

/// No header that we take is longer; what is, is no token.
const HEADER_BYTES_MAX: usize = 4096;

/// The caller, and to whom the sessions that they open belong. A token that is sent must be good,
/// also where none is needed.
pub(super) fn caller(
    headers: &HeaderMap,
    tokens: Option<&AccessTokens>,
    is_required: bool,
) -> Result<(Caller, Owner), Box<Answer>> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let Some(header) = given.next() else {
        if is_required {
            let why = "an access token is required: make one with `gristmill token new NAME` and send it as \
                       `Authorization: Bearer TOKEN`; tokens in the address are not looked at";
            return Err(unauthorized(why, "Bearer realm=\"gristmill\""));
        }
        return Ok((Caller::local(), None));
    };
    let token = bearer(header).filter(|_| given.next().is_none());
    let (Some(token), Some(tokens)) = (token, tokens) else {
        let why = match tokens {
            Some(_) => {
                "the `Authorization` header must be one `Bearer TOKEN`; `gristmill token new NAME` makes one"
            }
            None => "this server takes no access tokens; leave the `Authorization` header out",
        };
        return Err(unauthorized(why, INVALID));
    };
    match tokens.check(token, SystemTime::now()) {
        Ok(caller) => Ok((caller, Some(blake3::hash(token.as_bytes())))),
        Err(refused @ (TokenRefused::Unknown | TokenRefused::Expired { .. })) => {
            Err(unauthorized(&format!("{refused}; `gristmill token new NAME` makes a new one"), INVALID))
        }
        // A stranger is not told where files are; the owner can ask.
        Err(TokenRefused::Unreadable(_)) => Err(unauthorized(
            "no access token can be checked: the file with the tokens cannot be used; \
             `gristmill token list` on the server says why",
            INVALID,
        )),
    }
}

const INVALID: &str = "Bearer realm=\"gristmill\", error=\"invalid_token\"";

fn bearer(header: &HeaderValue) -> Option<&str> {
    let text = header.to_str().ok().filter(|text| text.len() <= HEADER_BYTES_MAX)?;
    let (scheme, token) = text.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn unauthorized(why: &str, challenge: &'static str) -> Box<Answer> {
    let mut answer = failed(StatusCode::UNAUTHORIZED, why);
    answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    Box::new(answer)
}
