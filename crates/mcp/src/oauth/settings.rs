//! What a login needs to know beforehand.

use std::fmt;
use std::time::Duration;

use url::Url;

use super::requests::{LoginHttp, RequestError};
use crate::addresses::{AddressPolicy, Lookup};
use crate::http_client::{HttpClientSettings, Redirects, http_client};
use crate::secret::Secret;

/// The configuration's `oauth` block with its references resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoginSettings {
    /// For servers that know us under an id already. May be the URL of a client metadata document.
    /// Without it we register ourselves, where the server lets us.
    pub client_id: Option<String>,
    /// Goes with `client_id`.
    pub client_secret: Option<Secret>,
    /// What to ask for; without it, what the server advises.
    pub scopes: Vec<String>,
    /// The loopback port for the answer; without it any free one.
    pub callback_port: Option<u16>,
}

/// How logins reach the network.
#[derive(Clone)]
pub struct LoginNetwork {
    /// For one request, from the connection to the last byte.
    pub timeout: Duration,
    /// A proxy for everything; see [`HttpClientSettings::proxy`].
    pub proxy: Option<Url>,
    /// How names are looked up; without it, as the system does.
    pub lookup: Option<Lookup>,
}

impl Default for LoginNetwork {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(10), proxy: None, lookup: None }
    }
}

impl fmt::Debug for LoginNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoginNetwork").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

impl LoginNetwork {
    /// The way out for one login, logout or renewal at this server.
    pub(super) fn http(&self, server: &Url) -> Result<LoginHttp, RequestError> {
        let policy = match &self.lookup {
            Some(lookup) => AddressPolicy::with_lookup(server.clone(), lookup.clone()),
            None => AddressPolicy::new(server.clone()),
        };
        let client = http_client(&HttpClientSettings {
            // `LoginHttp` measures the whole exchange itself.
            connect_timeout: None,
            total_timeout: None,
            redirects: Redirects::None,
            addresses: Some(policy.clone()),
            public_addresses: None,
            proxy: self.proxy.clone(),
        })?;
        Ok(LoginHttp::new(client, policy, self.timeout))
    }
}

/// The URL that stands for the server in discovery, in requests for tokens and in the file. A query
/// or a password in it may be a key of the user's: it is no part of this.
pub(super) fn bare_url(url: &Url) -> Url {
    let mut bare = url.clone();
    bare.set_query(None);
    bare.set_fragment(None);
    // Only a URL without a host refuses, and that has neither.
    let _ = bare.set_username("");
    let _ = bare.set_password(None);
    bare
}
