//! The token of one server, always fit to be used.
//!
//! Walls: however many ask, at most one renewal is under way, in this process and among all of them.
//! A renewal goes on when those who asked for it are gone: the login server may have taken the old
//! refresh token already, and the new one must not be lost.

use std::fmt;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use gristmill_files::FileStamp;
use parking_lot::{Mutex, MutexGuard};
use rmcp::transport::auth::WWWAuthenticateParams;
use url::Url;

use super::clock::Clock;
use super::discovery::CHALLENGE_BYTES_MAX;
use super::error::{LoginError, LoginReason};
use super::login::token_error;
use super::settings::{LoginNetwork, LoginSettings, bare_url};
use super::token_requests::{Client, TokenFailure, Tokens, request_tokens, scope_list};
use super::token_store::{StoredLogin, TokenStore};
use crate::secret::Secret;

/// A token is renewed when it has less than this left, or less than half of its life.
const MARGIN_S: u64 = 60;

/// A token that was renewed because it was refused, and is refused again within this time, is not
/// renewed once more.
const REFUSED_AGAIN_S: u64 = 60;

/// Hands out the token of one server. Cheap to clone.
#[derive(Clone)]
pub struct TokenSource {
    inner: Arc<Inner>,
}

struct Inner {
    server: String,
    url: Url,
    settings: LoginSettings,
    store: TokenStore,
    network: LoginNetwork,
    clock: Clock,
    /// What the file held when it was last read. Another process may log in or out at any time.
    seen: Mutex<Option<Seen>>,
    renewal: Mutex<Option<Renewal>>,
    /// The last token that was renewed because of a refusal, and when.
    renewed_after_refusal: Mutex<Option<(Secret, u64)>>,
}

#[derive(Clone)]
struct Seen {
    stamp: Option<FileStamp>,
    login: Option<Arc<StoredLogin>>,
}

type Renewal = Shared<BoxFuture<'static, Result<Arc<StoredLogin>, LoginError>>>;

impl TokenSource {
    /// For a server at a URL. Nothing is read or sent before a token is asked for.
    pub fn new(
        server: &str,
        url: &Url,
        settings: LoginSettings,
        store: TokenStore,
        network: LoginNetwork,
        clock: Clock,
    ) -> Self {
        let inner = Inner {
            server: server.to_owned(),
            url: bare_url(url),
            settings,
            store,
            network,
            clock,
            seen: Mutex::default(),
            renewal: Mutex::default(),
            renewed_after_refusal: Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Whether the token may be sent to this URL: to the server's own origin only.
    pub fn is_for(&self, url: &Url) -> bool {
        url.has_host() && self.inner.url.origin() == url.origin()
    }

    /// A token that is valid now, renewed if need be. None if nobody has logged in: many servers
    /// want no login.
    pub async fn bearer(&self) -> Result<Option<Secret>, LoginError> {
        let inner = &self.inner;
        let Some(login) = inner.current()? else {
            return Ok(None);
        };
        inner.check_client(&login)?;
        let now = inner.clock.now();
        if login.is_fresh(now) {
            return Ok(Some(login.access_token.clone()));
        }
        match self.renew(&login).await {
            Ok(renewed) => Ok(Some(renewed.access_token.clone())),
            // It still has some seconds; whoever comes later gets the error.
            Err(_) if !login.is_over(inner.clock.now()) => Ok(Some(login.access_token.clone())),
            Err(error) => Err(error),
        }
    }

    /// The server refused a request with 401, or with 403 and `insufficient_scope`. Gives a token to
    /// try again with, once; or says that the user must log in.
    pub async fn refused(
        &self,
        used: Option<&Secret>,
        www_authenticate: Option<&str>,
    ) -> Result<Secret, LoginError> {
        let inner = &self.inner;
        let login = inner.current()?.ok_or_else(|| inner.login_needed(LoginReason::NeverLoggedIn))?;
        inner.check_client(&login)?;
        let is_current = used.is_some_and(|used| *used == login.access_token);
        if !is_current && login.is_fresh(inner.clock.now()) {
            // Someone has logged in or renewed it meanwhile.
            return Ok(login.access_token.clone());
        }
        if let Some(missing) = missing_scopes(www_authenticate, &inner.url) {
            inner.note_missing(&login, &missing).await?;
            return Err(inner.login_needed(LoginReason::ScopesMissing(missing)));
        }
        let now = inner.clock.now();
        if let Some((token, renewed_at)) = &*held(&inner.renewed_after_refusal)
            && *token == login.access_token
            && now.saturating_sub(*renewed_at) < REFUSED_AGAIN_S
        {
            return Err(inner.login_needed(LoginReason::TokenRefused));
        }
        let renewed = self.renew(&login).await?;
        *held(&inner.renewed_after_refusal) = Some((renewed.access_token.clone(), now));
        Ok(renewed.access_token.clone())
    }

    /// Joins the renewal that is under way, or starts one.
    fn renew(&self, stale: &Arc<StoredLogin>) -> Renewal {
        let mut slot = held(&self.inner.renewal);
        if let Some(renewal) = &*slot {
            return renewal.clone();
        }
        let (inner, stale) = (Arc::clone(&self.inner), Arc::clone(stale));
        let interrupted = LoginError::Interrupted { server: inner.server.clone() };
        let task = tokio::spawn(async move {
            // Cleared however this ends, and only after the slot was filled below.
            let _clearing = Clearing(&inner);
            inner.renew_now(&stale).await
        });
        let renewal = async move { task.await.unwrap_or(Err(interrupted)) }.boxed().shared();
        *slot = Some(renewal.clone());
        renewal
    }
}

/// Makes room for the next renewal.
struct Clearing<'a>(&'a Inner);

impl Drop for Clearing<'_> {
    fn drop(&mut self) {
        *held(&self.0.renewal) = None;
    }
}

impl Inner {
    /// The login as the file has it now.
    fn current(&self) -> Result<Option<Arc<StoredLogin>>, LoginError> {
        let stamp = self.store.stamp();
        if let Some(seen) = &*held(&self.seen)
            && seen.stamp == stamp
        {
            return Ok(seen.login.clone());
        }
        self.read_again()
    }

    fn read_again(&self) -> Result<Option<Arc<StoredLogin>>, LoginError> {
        let (login, stamp) = self.store.find(&self.server, &self.url)?;
        let login = login.map(Arc::new);
        *held(&self.seen) = Some(Seen { stamp, login: login.clone() });
        Ok(login)
    }

    fn check_client(&self, login: &StoredLogin) -> Result<(), LoginError> {
        match &self.settings.client_id {
            Some(id) if *id != login.client_id => Err(self.login_needed(LoginReason::ClientChanged)),
            Some(_) | None => Ok(()),
        }
    }

    /// For the next login. Calls that are refused over and over write nothing new.
    async fn note_missing(&self, login: &StoredLogin, missing: &[String]) -> Result<(), LoginError> {
        let all = scope_list(&[&login.missing_scopes[..], missing].concat().join(" "));
        if all == login.missing_scopes {
            return Ok(());
        }
        Ok(self.store.amend(login, move |login| login.missing_scopes = all).await?)
    }

    fn login_needed(&self, why: LoginReason) -> LoginError {
        LoginError::LoginNeeded { server: self.server.clone(), why }
    }

    /// One renewal, under the lock that all processes share.
    async fn renew_now(&self, stale: &StoredLogin) -> Result<Arc<StoredLogin>, LoginError> {
        let _lock = self.store.renewal_lock(&self.server, &self.url).await?;
        // Whoever held the lock before may have done it.
        let login = self.read_again()?.ok_or_else(|| self.login_needed(LoginReason::NeverLoggedIn))?;
        if login.access_token != stale.access_token && login.is_fresh(self.clock.now()) {
            return Ok(login);
        }
        let Some(refresh_token) = &login.refresh_token else {
            return Err(self.login_needed(match &login.not_renewed {
                Some(words) => LoginReason::NotRenewed(words.clone()),
                None => LoginReason::Expired,
            }));
        };
        // A refresh token is good for one request, and what comes back couldn't be kept.
        self.store.check_leads()?;
        match self.request(&login, refresh_token).await {
            Ok(tokens) => {
                // Not `put`: a user who has logged out meanwhile stays logged out.
                let now = self.clock.now();
                self.store.amend(&login, move |login| login.take(tokens, now)).await?;
                self.read_again()?.ok_or_else(|| self.login_needed(LoginReason::NeverLoggedIn))
            }
            Err(TokenFailure::Ended(words)) => {
                // It will not get better: nobody need ask again.
                let noted = words.clone();
                let end = move |login: &mut StoredLogin| {
                    login.refresh_token = None;
                    login.not_renewed = Some(noted);
                };
                self.store.amend(&login, end).await?;
                Err(self.login_needed(LoginReason::NotRenewed(words)))
            }
            Err(TokenFailure::Refused(words)) => Err(self.login_needed(LoginReason::NotRenewed(words))),
            Err(failure) => Err(token_error(self.server.clone(), "a renewal", failure)),
        }
    }

    async fn request(&self, login: &StoredLogin, refresh_token: &Secret) -> Result<Tokens, TokenFailure> {
        let http = self.network.http(&self.url).map_err(TokenFailure::Request)?;
        let secret = login.secret_with(&self.settings);
        let client = Client { id: &login.client_id, secret, proof: login.client_proof };
        let form = [
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh_token.reveal()),
            ("resource", &login.resource),
        ];
        let secrets = [refresh_token, &login.access_token];
        request_tokens(&http, &login.token_endpoint, &client, &form, &secrets).await
    }
}

impl StoredLogin {
    fn take(&mut self, tokens: Tokens, now: u64) {
        self.access_token = tokens.access_token;
        // Without a new one the old one stays good.
        self.refresh_token = tokens.refresh_token.or(self.refresh_token.take());
        self.obtained_at = now;
        self.expires_at = tokens.lifetime_s.map(|lifetime| now.saturating_add(lifetime));
        if let Some(scopes) = tokens.scopes {
            self.scopes = scopes;
        }
    }

    /// Good for the next request, with some air.
    fn is_fresh(&self, now: u64) -> bool {
        self.expires_at.is_none_or(|end| {
            let lifetime = end.saturating_sub(self.obtained_at);
            now.saturating_add(MARGIN_S.min(lifetime / 2)) < end
        })
    }

    fn is_over(&self, now: u64) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }

    /// The client's secret: of our own registration, or configured for the same client.
    pub(super) fn secret_with<'a>(&'a self, settings: &'a LoginSettings) -> Option<&'a Secret> {
        let configured = settings.client_secret.as_ref();
        let is_configured = settings.client_id.as_deref() == Some(&self.client_id);
        self.client_secret.as_ref().or(configured.filter(|_| is_configured))
    }
}

/// What a refusal asks for beyond the login; None if it is about something else.
fn missing_scopes(www_authenticate: Option<&str>, url: &Url) -> Option<Vec<String>> {
    let header = www_authenticate.filter(|header| header.len() <= CHALLENGE_BYTES_MAX)?;
    let challenge = WWWAuthenticateParams::parse(header, url);
    challenge.is_insufficient_scope().then(|| scope_list(challenge.scope.as_deref().unwrap_or_default()))
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

impl fmt::Debug for TokenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenSource").field("server", &self.inner.server).finish_non_exhaustive()
    }
}
