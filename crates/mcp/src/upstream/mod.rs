//! Upstream servers: how they are started or reached, and how we speak with them.
//!
//! The protocol is spoken here directly instead of through rmcp's client, for three reasons. What a
//! server defines is hashed and pinned from its raw JSON, and rmcp's types drop what they do not
//! know. What a tool answers goes to the program as it was written, without being parsed into
//! types and written out again. And a connection that is lost, slow or flooding must end the one
//! call that suffers from it, with the limits of that server.

mod asking;
mod call_clock;
mod child;
mod declined;
mod egress;
mod eras;
pub mod events;
mod hosts;
mod http;
mod introduction;
mod link;
mod listening;
mod lists;
mod login_credentials;
mod peer;
mod question;
mod read_shape;
mod redact;
mod rounds;
mod sandbox;
mod secret_search;
mod session;
mod stdio;
mod wire;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use gristmill_gateway::domain::{
    HostsSettings, OAuthSettings, Sandboxing, SecretText, ServerSettings, Transport, format_ms,
};
use gristmill_gateway::ports::BoxFuture;
use gristmill_gateway::upstream::{ConnectRequest, Connection, Connector, Upstream, UpstreamFailure};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

pub use child::SupervisorCommand;

use url::Url;

use crate::http_client::{HttpClientSettings, http_client};
use crate::oauth::{
    self, Clock, Granted, LoggedOut, LoginError, LoginNetwork, LoginRequest, LoginSettings, TokenSource,
    TokenStore,
};
use crate::secret::Secret;
use crate::secrets::{Resolved, SecretContext, SecretError};
use eras::NotOpened;
use hosts::HostsUpstream;
use http::{HttpLink, HttpSettings};
use link::Link;
use login_credentials::LoginCredentials;
use peer::{About, Peer};
use redact::Redactor;
use session::{Opening, Session};
use stdio::StdioLink;

/// Reaches servers over stdio and Streamable HTTP.
pub struct McpConnector {
    supervisor: SupervisorCommand,
    /// What each server's references are resolved against.
    secrets: HashMap<String, SecretContext>,
    /// Where logins are kept.
    data: PathBuf,
    /// What a confined server never sees.
    hidden: Vec<PathBuf>,
    /// Made for the first server over HTTP: that reads the system's certificates.
    client: OnceLock<reqwest::Client>,
}

impl McpConnector {
    /// `data` is the folder of the logins.
    pub fn new(
        supervisor: SupervisorCommand,
        secrets: HashMap<String, SecretContext>,
        data: PathBuf,
    ) -> Self {
        let hidden = vec![data.clone()];
        Self { supervisor, secrets, data, hidden, client: OnceLock::new() }
    }

    /// Hides further folders from confined servers; the data folder always is.
    #[must_use]
    pub fn hiding(mut self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        self.hidden.extend(folders);
        self
    }

    /// A connection past the gateway's door, for tests of how we speak with servers. Whatever else
    /// is to reach a server goes through [`gristmill_gateway::upstream::Upstreams`].
    pub async fn open_directly(&self, request: ConnectRequest) -> Result<Arc<dyn Upstream>, UpstreamFailure> {
        match &request.settings.transport {
            Transport::Hosts(hosts) => Ok(Arc::new(self.hosts(hosts, &request.settings)?)),
            Transport::Stdio { .. } | Transport::Http { .. } => Ok(Arc::new(self.open(request).await?)),
        }
    }

    /// What makes the requests of programs. Nothing is reached before there is one.
    fn hosts(
        &self,
        hosts: &HostsSettings,
        settings: &ServerSettings,
    ) -> Result<HostsUpstream, UpstreamFailure> {
        let context = self.secrets.get(&settings.name).cloned().unwrap_or_default();
        let made = HostsUpstream::new(hosts.clone(), settings.limits, context);
        made.map_err(|error| UpstreamFailure::Down(error.to_string()))
    }

    async fn open(&self, request: ConnectRequest) -> Result<Session, UpstreamFailure> {
        let settings = Arc::clone(&request.settings);
        let limit = Duration::from_millis(settings.limits.startup_ms);
        let opened = async {
            let opening = self.opening(&request).await?;
            let redactor = opening.redactor.clone();
            let session = match eras::open(opening, request.remembered.as_deref(), settings.protocol).await {
                // What it died of is not said to it again.
                Err(NotOpened::EndedAtDiscover) => eras::greet(self.opening(&request).await?).await,
                outcome => outcome,
            };
            session.map_err(|error| redactor.clean_failure(error.into()))
        };
        match tokio::time::timeout(limit, opened).await {
            // The limit of the greeting itself is the same one: on a busy machine it may be seen first.
            Err(_) | Ok(Err(UpstreamFailure::Timeout { .. })) => {
                let said = request.log.last(1).pop().map(|line| format!("; last stderr line: {line}"));
                Err(UpstreamFailure::Down(format!(
                    "it didn't start within {}{}",
                    format_ms(settings.limits.startup_ms),
                    said.unwrap_or_default()
                )))
            }
            Ok(outcome) => outcome,
        }
    }

    async fn opening(&self, request: &ConnectRequest) -> Result<Opening, UpstreamFailure> {
        let settings = &request.settings;
        let mut references = References::new(self.secrets.get(&settings.name));
        let new_peer = |redactor: &Redactor| {
            Arc::new(Peer::new(About {
                server: settings.name.clone(),
                can_ask: request.can_ask,
                offer_changed: Arc::clone(&request.offer_changed),
                redactor: redactor.clone(),
            }))
        };
        let (link, peer) = match &settings.transport {
            Transport::Stdio { command, args, env, cwd } => {
                let command = references.resolve("command", command).await?;
                let mut arguments = Vec::with_capacity(args.len());
                for argument in args {
                    arguments.push(references.resolve("argument", argument).await?);
                }
                let mut environment = BTreeMap::new();
                for (name, value) in env {
                    environment.insert(name.clone(), references.resolve(name, value).await?);
                }
                let start = child::Start {
                    supervisor: &self.supervisor,
                    command: &command,
                    arguments: &arguments,
                    environment: &environment,
                    folder: cwd.as_deref(),
                    sandbox: match &settings.sandbox {
                        Sandboxing::On(sandbox) => Some(sandbox),
                        // By level is the caller's to decide, who knows it.
                        Sandboxing::ByLevel | Sandboxing::Off => None,
                    },
                    hidden: &self.hidden,
                };
                let log = Arc::clone(&request.log);
                let redactor = references.redactor.clone();
                let peer = new_peer(&redactor);
                let started = child::start(&start, Arc::clone(&log), redactor.clone())?;
                let bytes_max = usize::try_from(settings.limits.result_bytes).unwrap_or(usize::MAX);
                let link = StdioLink::new(started, Arc::clone(&peer), log, redactor, bytes_max);
                (Link::Stdio(link), peer)
            }
            Transport::Http { url, headers, oauth } => {
                let http = self.http_settings(settings, url, headers, oauth, &mut references).await?;
                let peer = new_peer(&references.redactor);
                (Link::Http(HttpLink::new(http, Arc::clone(&peer))), peer)
            }
            Transport::Hosts(_) => return Err(UpstreamFailure::Down("it speaks no protocol".to_owned())),
        };
        Ok(Opening { link, peer, limits: settings.limits, redactor: references.redactor })
    }

    async fn http_settings(
        &self,
        settings: &ServerSettings,
        url: &SecretText,
        headers: &BTreeMap<String, SecretText>,
        oauth: &OAuthSettings,
        references: &mut References,
    ) -> Result<HttpSettings, UpstreamFailure> {
        let down = |why: &str| UpstreamFailure::Down(why.to_owned());
        let url = references.resolve("url", url).await?;
        let url = reqwest::Url::parse(&url).map_err(|error| down(&format!("can't read its URL: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(down("its URL must begin with http:// or https://"));
        }
        let mut made = HeaderMap::new();
        for (name, value) in headers {
            let value = references.resolve(name, value).await?;
            let name = HeaderName::from_bytes(name.as_bytes())
                .map_err(|_| down(&format!("`{name}` isn't a valid header name")))?;
            let mut value = HeaderValue::from_str(&value)
                .map_err(|_| down(&format!("the header `{name}` has invalid characters")))?;
            value.set_sensitive(true);
            made.insert(name, value);
        }
        let credentials: Option<Arc<dyn http::Credentials>> = match made.contains_key(AUTHORIZATION) {
            true => None,
            false => Some(Arc::new(self.credentials(settings, &url, oauth, references).await?)),
        };
        let result_bytes_max = usize::try_from(settings.limits.result_bytes).unwrap_or(usize::MAX);
        Ok(HttpSettings { client: self.client()?, url, headers: made, credentials, result_bytes_max })
    }

    fn client(&self) -> Result<reqwest::Client, UpstreamFailure> {
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        let made = http_client(&HttpClientSettings::default());
        let made = made.map_err(|error| UpstreamFailure::Down(error.to_string()))?;
        Ok(self.client.get_or_init(|| made).clone())
    }

    async fn credentials(
        &self,
        settings: &ServerSettings,
        url: &reqwest::Url,
        oauth: &OAuthSettings,
        references: &mut References,
    ) -> Result<LoginCredentials, UpstreamFailure> {
        let login = references.login_settings(oauth).await?;
        let store = TokenStore::new(&self.data);
        let network = LoginNetwork::default();
        let source = TokenSource::new(&settings.name, url, login, store, network, Clock::system());
        Ok(LoginCredentials { source, redactor: references.redactor.clone() })
    }

    /// Logs in to a server over HTTP. `open` shows the user where to go.
    pub fn login<'a>(
        &'a self,
        settings: &'a ServerSettings,
        open: &'a (dyn Fn(&Url) -> bool + Send + Sync),
        time_limit: Duration,
    ) -> BoxFuture<'a, Result<Granted, LoginFailure>> {
        Box::pin(async move {
            let (url, login) = self.login_target(settings).await?;
            let request = LoginRequest {
                server: &settings.name,
                url: &url,
                settings: &login,
                challenge: None,
                time_limit,
                open,
            };
            let store = TokenStore::new(&self.data);
            Ok(oauth::login(request, &store, &LoginNetwork::default(), &Clock::system()).await?)
        })
    }

    /// Logs out of a server: its tokens are revoked where it offers that, and forgotten.
    pub fn logout<'a>(
        &'a self,
        settings: &'a ServerSettings,
    ) -> BoxFuture<'a, Result<LoggedOut, LoginFailure>> {
        Box::pin(async move {
            let (_, login) = self.login_target(settings).await?;
            let store = TokenStore::new(&self.data);
            Ok(oauth::logout(&settings.name, &login, &store, &LoginNetwork::default()).await?)
        })
    }

    async fn login_target(&self, settings: &ServerSettings) -> Result<(Url, LoginSettings), LoginFailure> {
        let Transport::Http { url, oauth, .. } = &settings.transport else {
            return Err(LoginFailure::NotHttp(settings.name.clone()));
        };
        let mut references = References::new(self.secrets.get(&settings.name));
        let url = references.resolve("url", url).await?;
        let url = Url::parse(&url)
            .map_err(|error| UpstreamFailure::Down(format!("can't read its URL: {error}")))?;
        let login = references.login_settings(oauth).await?;
        Ok((url, login))
    }
}

/// A login that did not come about. Whatever was there before is still there.
#[derive(Debug, thiserror::Error)]
pub enum LoginFailure {
    /// Only servers over HTTP have logins.
    #[error("`{0}` is a local command and has no login; pass secrets in `env`")]
    NotHttp(String),
    /// Its configuration cannot be resolved.
    #[error(transparent)]
    Configured(#[from] UpstreamFailure),
    #[error(transparent)]
    Login(#[from] LoginError),
}

/// Resolves the references of one server, and remembers the secrets among them.
struct References {
    context: SecretContext,
    redactor: Redactor,
}

impl References {
    fn new(context: Option<&SecretContext>) -> Self {
        Self { context: context.cloned().unwrap_or_default(), redactor: Redactor::default() }
    }

    async fn login_settings(&mut self, oauth: &OAuthSettings) -> Result<LoginSettings, UpstreamFailure> {
        let client_id = match &oauth.client_id {
            Some(text) => Some(self.resolve("client_id", text).await?),
            None => None,
        };
        let client_secret = match &oauth.client_secret {
            Some(text) => Some(Secret::new(self.resolve("client_secret", text).await?)),
            None => None,
        };
        Ok(LoginSettings {
            client_id,
            client_secret,
            scopes: oauth.scopes.clone(),
            callback_port: oauth.callback_port,
        })
    }

    async fn resolve(&mut self, key: &str, text: &SecretText) -> Result<String, UpstreamFailure> {
        let resolved = self.context.resolve(key, text).await;
        let Resolved { text, secrets } =
            resolved.map_err(|error: SecretError| UpstreamFailure::Down(error.to_string()))?;
        for (name, value) in secrets {
            self.redactor.add(&name, &value);
        }
        Ok(text)
    }
}

impl Connector for McpConnector {
    fn connect(&self, request: ConnectRequest) -> BoxFuture<'_, Result<Connection, UpstreamFailure>> {
        Box::pin(async move {
            match &request.settings.transport {
                Transport::Hosts(hosts) => Ok(Connection::new(self.hosts(hosts, &request.settings)?)),
                Transport::Stdio { .. } | Transport::Http { .. } => {
                    Ok(Connection::new(self.open(request).await?))
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// Every source file of every crate, without tests.
    fn sources(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }

    #[test]
    fn no_product_code_opens_a_connection_past_the_door() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut found = Vec::new();
        for entry in std::fs::read_dir(crates).expect("the crates").flatten() {
            if entry.path().join("src").is_dir() {
                sources(&entry.path().join("src"), &mut found);
            }
        }
        found.retain(|path| std::fs::read_to_string(path).is_ok_and(|text| text.contains("open_directly")));
        assert!(found.iter().all(|path| path.ends_with("mcp/src/upstream/mod.rs")), "{found:?}");
    }
}
