//! Logins as the credentials of a connection.

use gristmill_gateway::ports::BoxFuture;
use gristmill_gateway::upstream::UpstreamFailure;
use reqwest::header::HeaderValue;

use super::http::Credentials;
use super::redact::Redactor;
use crate::oauth::{LoginError, TokenSource};
use crate::secret::Secret;

const SCHEME: &str = "Bearer ";

pub(crate) struct LoginCredentials {
    pub source: TokenSource,
    /// A server must not give our token back to a program.
    pub redactor: Redactor,
}

impl Credentials for LoginCredentials {
    fn header(&self) -> BoxFuture<'_, Result<Option<HeaderValue>, UpstreamFailure>> {
        Box::pin(async {
            let Some(token) = self.source.bearer().await.map_err(failure)? else { return Ok(None) };
            self.redactor.add("login", token.reveal());
            let unusable = |_| UpstreamFailure::Down("its token can't be sent in a header".to_owned());
            let mut value =
                HeaderValue::from_str(&format!("{SCHEME}{}", token.reveal())).map_err(unusable)?;
            value.set_sensitive(true);
            Ok(Some(value))
        })
    }

    fn refused(
        &self,
        used: Option<HeaderValue>,
        challenge: Option<String>,
    ) -> BoxFuture<'_, Result<(), UpstreamFailure>> {
        Box::pin(async move {
            let used = used.as_ref().and_then(|value| value.to_str().ok()?.strip_prefix(SCHEME));
            let used = used.map(Secret::new);
            self.source.refused(used.as_ref(), challenge.as_deref()).await.map(drop).map_err(failure)
        })
    }
}

/// What the user can mend by logging in is told apart from what they cannot.
fn failure(error: LoginError) -> UpstreamFailure {
    match error {
        needed @ LoginError::LoginNeeded { .. } => UpstreamFailure::LoginNeeded(needed.to_string()),
        other => UpstreamFailure::Down(other.to_string()),
    }
}
