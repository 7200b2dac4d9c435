//! The end of a login: the tokens are revoked where the login server offers it, and forgotten here in
//! any case.

use super::LoginError;
use super::login::token_error;
use super::settings::{LoginNetwork, LoginSettings};
use super::token_requests::{Client, revoke};
use super::token_store::{StoredLogin, TokenStore};

/// What a logout did.
#[derive(Clone, Debug)]
pub struct LoggedOut {
    /// Whether there was a login at all.
    pub was_logged_in: bool,
    /// What the login server did about it; one for each login of this name.
    pub revocations: Vec<Revocation>,
}

/// What the login server did.
#[derive(Clone, Debug)]
pub enum Revocation {
    /// The tokens are worth nothing any more.
    Done,
    /// It does not revoke tokens: they last until they expire.
    NotOffered,
    /// It did not work: they last until they expire.
    Failed(LoginError),
}

/// Logs out of a server, at whatever URL the login was made.
pub async fn logout(
    server: &str,
    settings: &LoginSettings,
    store: &TokenStore,
    network: &LoginNetwork,
) -> Result<LoggedOut, LoginError> {
    // Forgotten first: whatever the login server does, they are gone from here.
    let logins = store.remove(server).await?;
    let mut revocations = Vec::new();
    for login in &logins {
        revocations.push(match revoke_login(login, settings, network).await {
            Ok(true) => Revocation::Done,
            Ok(false) => Revocation::NotOffered,
            Err(error) => Revocation::Failed(error),
        });
    }
    Ok(LoggedOut { was_logged_in: !logins.is_empty(), revocations })
}

async fn revoke_login(
    login: &StoredLogin,
    settings: &LoginSettings,
    network: &LoginNetwork,
) -> Result<bool, LoginError> {
    let Some(endpoint) = &login.revocation_endpoint else {
        return Ok(false);
    };
    let what = "the end of the login";
    let unreachable = |why| LoginError::Unreachable { server: login.server.clone(), what, why };
    let http = network.http(&login.url).map_err(unreachable)?;
    let client =
        Client { id: &login.client_id, secret: login.secret_with(settings), proof: login.client_proof };
    // The refresh token first: it is the one that lasts.
    let tokens =
        [(login.refresh_token.as_ref(), "refresh_token"), (Some(&login.access_token), "access_token")];
    for (token, kind) in tokens {
        if let Some(token) = token {
            let revoked = revoke(&http, endpoint, &client, token, kind).await;
            revoked.map_err(|failure| token_error(login.server.clone(), what, failure))?;
        }
    }
    Ok(true)
}
