//! What goes wrong with logins, in words for the user. No secret is in any of them.

use super::requests::RequestError;
use super::token_store::StoreError;
use crate::addresses::AddressRefusal;
use crate::secret::Secret;

/// The longest piece of a server's text that we repeat, in characters.
const WORDS_MAX: usize = 300;

/// A login, a renewal or a logout that did not work.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LoginError {
    /// The user must log in. Everything else goes on working.
    #[error("{}", login_needed(.server, .why))]
    LoginNeeded { server: String, why: LoginReason },
    /// The server says nothing about logins.
    #[error(
        "server `{server}` doesn't say where to log in (no OAuth metadata); \
         if it takes an API key, set it as a header"
    )]
    NoLoginOffered { server: String },
    /// What it says about logins is of no use.
    #[error("server `{server}` has invalid login metadata: {why}")]
    BadMetadata {
        server: String,
        /// In what way; cleaned.
        why: String,
    },
    /// The login server is not the one it should be. Nothing was sent to it.
    #[error("refused the login for server `{server}`: expected {expected}, but {received} answered")]
    WrongIssuer {
        server: String,
        /// Who should have answered.
        expected: String,
        received: String,
    },
    /// A URL that we do not follow.
    #[error("server `{server}`: the {what} address {url} isn't allowed: {why}")]
    UnsafeUrl {
        server: String,
        /// What the URL is for.
        what: &'static str,
        /// The URL, without its query.
        url: String,
        why: AddressRefusal,
    },
    /// The login server lacks PKCE, without which a stolen answer would do.
    #[error("the login server of `{server}` doesn't support PKCE with S256, so logins aren't safe")]
    NoPkce { server: String },
    /// It does not know us, and does not want to.
    #[error(
        "the login server of `{server}` doesn't let clients register themselves: register one there \
         with the redirect URL {redirect_uri}, and set `oauth.client_id` and `oauth.callback_port`"
    )]
    NoRegistration { server: String, redirect_uri: String },
    /// The login server said no.
    #[error("the login server of `{server}` refused {what}: {words}")]
    Refused {
        server: String,
        /// What we asked for.
        what: &'static str,
        words: String,
    },
    /// The login server answered with something else than an answer.
    #[error("the login server of `{server}` sent an unusable answer to {what}: {why}")]
    BadAnswer {
        server: String,
        /// What we asked for.
        what: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// The request did not work. Trying again may help.
    #[error("can't ask the login server of `{server}` for {what}: {why}")]
    Unreachable {
        server: String,
        /// What we asked for.
        what: &'static str,
        why: RequestError,
    },
    /// No port for the answer.
    #[error("no free port for the login callback{}: {why}", port_words(.port))]
    NoPort { port: Option<u16>, why: String },
    /// The browser did not open.
    #[error("couldn't open a browser; run `gristmill login {server} --no-browser`")]
    NoBrowser { server: String },
    #[error("nobody logged in to `{server}` within {seconds} s; try again: gristmill login {server}")]
    TimedOut { server: String, seconds: u64 },
    /// The file with the tokens.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A bug of ours. The next attempt starts afresh.
    #[error("renewing the login to `{server}` was interrupted; try again")]
    Interrupted { server: String },
}

impl LoginError {
    /// Whether the same thing may work a little later.
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Interrupted { .. })
    }
}

/// Why a login is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginReason {
    /// There has been none for this server at this URL.
    NeverLoggedIn,
    /// The token's time is over, and there is nothing to renew it with.
    Expired,
    /// The login server does not renew it; its words, cleaned.
    NotRenewed(String),
    /// The server does not take a token that was renewed just now.
    TokenRefused,
    /// More is wanted than was granted: these scopes.
    ScopesMissing(Vec<String>),
    /// `oauth.client_id` is another one than at the login.
    ClientChanged,
}

fn login_needed(server: &str, why: &LoginReason) -> String {
    let again = format!("log in again: gristmill login {server}");
    match why {
        LoginReason::NeverLoggedIn => {
            format!("server `{server}` needs a login; log in: gristmill login {server}")
        }
        LoginReason::Expired => format!("the login to `{server}` has expired; {again}"),
        LoginReason::NotRenewed(words) => {
            format!("the login server of `{server}` didn't renew the login ({words}); {again}")
        }
        LoginReason::TokenRefused => {
            format!("server `{server}` refuses the login, even though it was just renewed; {again}")
        }
        LoginReason::ScopesMissing(scopes) if scopes.is_empty() => {
            format!("server `{server}` wants more permissions than the login has; {again}")
        }
        LoginReason::ScopesMissing(scopes) => {
            format!(
                "server `{server}` wants more permissions than the login has ({}); {again}",
                server_words(&scopes.join(", "), &[])
            )
        }
        LoginReason::ClientChanged => {
            format!("the login to `{server}` was made with another `oauth.client_id`; {again}")
        }
    }
}

fn port_words(port: &Option<u16>) -> String {
    port.map_or_else(String::new, |port| {
        format!(" ({port}, from `oauth.callback_port`; remove it to use any free port)")
    })
}

/// A server's text, made fit to be repeated: short, on one line, and without these secrets.
pub(super) fn server_words(text: &str, secrets: &[&Secret]) -> String {
    let mut text = text.to_owned();
    for secret in secrets.iter().filter(|secret| !secret.reveal().is_empty()) {
        text = text.replace(secret.reveal(), "(secret)");
    }
    let text = text.trim_matches(|end: char| end.is_whitespace() || !is_harmless(end));
    let mut words = String::new();
    for (count, character) in text.chars().enumerate() {
        if count == WORDS_MAX {
            words.push('…');
            break;
        }
        words.push(if is_harmless(character) { character } else { ' ' });
    }
    words
}

/// Neither control characters nor those that turn the direction of the text.
fn is_harmless(character: char) -> bool {
    let is_invisible = matches!(
        character,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    );
    !character.is_control() && !is_invisible
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_words_are_short_harmless_and_without_our_secrets() {
        let token = Secret::new("t0k3n");
        assert_eq!(server_words(" no\r\n\u{1b}[31m t0k3n! \u{202e}", &[&token]), "no   [31m (secret)!");
        assert_eq!(server_words(&"x".repeat(1000), &[]), format!("{}…", "x".repeat(300)));
        assert_eq!(server_words("same", &[&Secret::new("")]), "same");
    }
}
