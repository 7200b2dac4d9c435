//! Requests to servers that other servers name: where they may go, how long they may take, and how
//! much may come back.
//!
//! Walls: every request of a login, rmcp's included, passes `send`. No redirect is followed here;
//! rmcp follows those of metadata within their origin, and each step passes `send` again.

use gristmill_json_text::has_reserved_key;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Method, Request, StatusCode};
use rmcp::transport::auth::{OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRequest};
use url::Url;
use zeroize::Zeroizing;

use crate::addresses::{AddressPolicy, AddressRefusal};
use crate::http_client::{HttpClientError, innermost};
use crate::secret::Secret;

const ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// Requests in one login: discovery tries a dozen places at most, a hostile list could go on.
const REQUESTS_MAX: u32 = 32;

/// A request that brought nothing back.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RequestError {
    /// Not sent: we do not go there.
    #[error("{host} isn't allowed: {why}")]
    NotPermitted { host: String, why: AddressRefusal },
    #[error("{host} didn't answer within {} s", .limit.as_secs_f64())]
    TimedOut { host: String, limit: Duration },
    #[error("the answer of {host} is larger than {ANSWER_BYTES_MAX} bytes")]
    TooLarge { host: String },
    /// Sent somewhere else, which we do not follow here.
    #[error("{host} sent a redirect, which isn't followed here")]
    Redirected { host: String },
    /// It cannot serve us now.
    #[error("{host} answered {status}")]
    Status { host: String, status: u16 },
    /// One login asks only so often.
    #[error("the login needs more than {REQUESTS_MAX} requests")]
    TooMany,
    #[error("{host}: {why}")]
    Failed { host: String, why: String },
    /// No request can be made at all.
    #[error(transparent)]
    Client(#[from] HttpClientError),
}

/// An answer, with its whole body.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Zeroizing<Vec<u8>>,
}

/// The way out for one login, logout or renewal.
pub(super) struct LoginHttp {
    client: Client,
    policy: AddressPolicy,
    timeout: Duration,
    sent: AtomicU32,
    trace: Mutex<Trace>,
}

/// What rmcp does not tell: where the last answer came from, and why the last request failed.
#[derive(Default)]
struct Trace {
    last_url: Option<Url>,
    last_status: Option<StatusCode>,
    last_error: Option<RequestError>,
}

impl LoginHttp {
    pub(super) fn new(client: Client, policy: AddressPolicy, timeout: Duration) -> Self {
        Self { client, policy, timeout, sent: AtomicU32::new(0), trace: Mutex::default() }
    }

    pub(super) fn policy(&self) -> &AddressPolicy {
        &self.policy
    }

    /// Where the last answer came from.
    pub(super) fn last_url(&self) -> Option<Url> {
        self.trace.lock().last_url.clone()
    }

    /// Whether the last answer said that all is well.
    pub(super) fn last_was_success(&self) -> bool {
        let trace = self.trace.lock();
        trace.last_status.is_some_and(|status| status.is_success())
    }

    /// Why the last request failed, if it did.
    pub(super) fn take_error(&self) -> Option<RequestError> {
        self.trace.lock().last_error.take()
    }

    /// A form with secrets in it, to an endpoint fit for them.
    pub(super) async fn post_form(
        &self,
        url: &Url,
        form: &[(&str, &str)],
        basic: Option<(&str, &Secret)>,
    ) -> Result<Answer, RequestError> {
        self.policy.check_endpoint(url).await.map_err(|why| not_permitted(url, why))?;
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let mut request = self
            .client
            .post(url.clone())
            .header(ACCEPT, HeaderValue::from_static("application/json"))
            .header(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"))
            .body(body);
        if let Some((id, secret)) = basic {
            // RFC 6749 wants both form-encoded before they are joined.
            let encode =
                |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
            request = request.basic_auth(encode(id), Some(encode(secret.reveal())));
        }
        let request = request.build().map_err(|error| failed(url, &error))?;
        let answer = self.send(request, |_, _| true).await?;
        if answer.status.is_redirection() {
            return Err(RequestError::Redirected { host: host_of(url) });
        }
        Ok(answer)
    }

    async fn send(
        &self,
        request: Request,
        wants_body: impl Fn(StatusCode, &HeaderMap) -> bool,
    ) -> Result<Answer, RequestError> {
        let url = request.url().clone();
        if self.sent.fetch_add(1, Ordering::Relaxed) >= REQUESTS_MAX {
            return Err(RequestError::TooMany);
        }
        self.policy.check(&url).await.map_err(|why| not_permitted(&url, why))?;
        let exchange = async {
            let mut response = self.client.execute(request).await.map_err(|error| failed(&url, &error))?;
            let mut body = Zeroizing::new(Vec::new());
            if wants_body(response.status(), response.headers()) {
                while let Some(chunk) = response.chunk().await.map_err(|error| failed(&url, &error))? {
                    if chunk.len() > ANSWER_BYTES_MAX - body.len() {
                        return Err(RequestError::TooLarge { host: host_of(&url) });
                    }
                    body.extend_from_slice(&chunk);
                }
            }
            // No parser is given this: without a body the answer is unreadable, which is said.
            if has_reserved_key(&body) {
                body.clear();
            }
            Ok(Answer { status: response.status(), headers: response.headers().clone(), body })
        };
        let timed_out = |_| RequestError::TimedOut { host: host_of(&url), limit: self.timeout };
        tokio::time::timeout(self.timeout, exchange).await.map_err(timed_out)?
    }

    fn note(&self, url: Url, outcome: &Result<Answer, RequestError>) {
        let mut trace = self.trace.lock();
        trace.last_url = Some(url);
        trace.last_status = outcome.as_ref().ok().map(|answer| answer.status);
        trace.last_error = match outcome {
            Ok(answer) if answer.status.is_server_error() => Some(RequestError::Status {
                host: trace.last_url.as_ref().map_or_else(String::new, host_of),
                status: answer.status.as_u16(),
            }),
            Ok(_) => None,
            Err(error) => Some(error.clone()),
        };
    }
}

impl OAuthHttpClient for LoginHttp {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let request = Request::try_from(request.request)?;
            let url = request.url().clone();
            let is_get = request.method() == Method::GET;
            // Of a look for metadata only the metadata is read: an MCP endpoint may answer with a
            // stream that never ends.
            let wants_body = move |status: StatusCode, headers: &HeaderMap| {
                let is_stream =
                    headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event"));
                !is_get || (status == StatusCode::OK && !is_stream)
            };
            let outcome = self.send(request, wants_body).await;
            self.note(url, &outcome);
            let mut answer = outcome?;
            let mut response = http::Response::new(std::mem::take(&mut *answer.body));
            *response.status_mut() = answer.status;
            *response.headers_mut() = answer.headers;
            Ok(response)
        })
    }
}

fn failed(url: &Url, error: &reqwest::Error) -> RequestError {
    RequestError::Failed { host: host_of(url), why: innermost(error) }
}

fn not_permitted(url: &Url, why: AddressRefusal) -> RequestError {
    RequestError::NotPermitted { host: host_of(url), why }
}

/// Host and port: the rest of a URL may say too much.
pub(super) fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or("a URL without a host");
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}
