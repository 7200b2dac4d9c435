//! A conversation over Streamable HTTP: one POST a message, answered by JSON or by events.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::StreamExt;
use gristmill_gateway::ids::TraceContext;
use gristmill_gateway::ports::BoxFuture;
use gristmill_gateway::upstream::UpstreamFailure;
use parking_lot::RwLock;
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, WWW_AUTHENTICATE,
};
use reqwest::{Client, Method, Response, StatusCode, Url};

use tokio::sync::Semaphore;

use super::events::EventReader;
use super::peer::{Heard, Peer, ReplyError};
use super::wire::{self, Incoming};

/// Beyond the largest result: the message around it.
const ENVELOPE_BYTES: usize = 64 * 1024;

/// What is shown of an answer that is no message.
const SHOWN_CHARS: usize = 200;

/// How often an answer that was cut off is asked for again.
const RESUMES_MAX: u32 = 3;

/// Answers and cancellations that are being sent while nobody waits for them.
const BEHIND_MAX: usize = 32;

/// How long each of them may take.
const BEHIND_LIMIT: Duration = Duration::from_secs(10);

/// Logins for one server.
pub(crate) trait Credentials: Send + Sync {
    /// What goes into the `Authorization` header, if there is something.
    fn header(&self) -> BoxFuture<'_, Result<Option<HeaderValue>, UpstreamFailure>>;

    /// The server did not take it. Ok: try once more.
    fn refused(
        &self,
        used: Option<HeaderValue>,
        challenge: Option<String>,
    ) -> BoxFuture<'_, Result<(), UpstreamFailure>>;
}

/// How a server is reached over HTTP.
pub(crate) struct HttpSettings {
    pub client: Client,
    pub url: Url,
    pub headers: HeaderMap,
    pub credentials: Option<Arc<dyn Credentials>>,
    pub result_bytes_max: usize,
}

/// See the module. Cheap to clone.
#[derive(Clone)]
pub(crate) struct HttpLink {
    settings: Arc<HttpSettings>,
    peer: Arc<Peer>,
    agreed: Arc<RwLock<Agreed>>,
    behind: Arc<Semaphore>,
}

/// Cancels a request when it is dropped, unless it was answered.
pub(crate) struct CancelRequest(Option<(HttpLink, u64)>);

impl CancelRequest {
    pub(crate) fn is_answered(&mut self) {
        self.0 = None;
    }
}

impl Drop for CancelRequest {
    fn drop(&mut self) {
        if let Some((link, id)) = self.0.take() {
            link.send_behind(wire::CANCELLED, wire::cancelled(id));
        }
    }
}

/// What every later request carries.
#[derive(Clone, Default)]
pub(crate) struct Agreed {
    pub protocol: Option<String>,
    session: Option<HeaderValue>,
    /// Modern servers want the method and the name in headers.
    pub modern: bool,
}

/// A message of ours, with what goes into headers.
pub(crate) struct Outgoing<'a> {
    pub method: &'a str,
    pub name: Option<&'a str>,
    pub headers: &'a [(String, String)],
    /// Its place in a trace, for what is in front of the server.
    pub trace: Option<&'a TraceContext>,
    pub message: String,
}

/// Where a stream of events was cut off.
#[derive(Default)]
pub(crate) struct Cut {
    last_event: Option<String>,
    retry_ms: Option<u64>,
}

impl HttpLink {
    pub(crate) fn new(settings: HttpSettings, peer: Arc<Peer>) -> Self {
        let behind = Arc::new(Semaphore::new(BEHIND_MAX));
        Self { settings: Arc::new(settings), peer, agreed: Arc::default(), behind }
    }

    /// Sets what was agreed on; the session stays.
    pub(crate) fn agree(&self, protocol: &str, modern: bool) {
        let mut agreed = self.agreed.write();
        agreed.protocol = Some(protocol.to_owned());
        agreed.modern = modern;
    }

    /// Forgets what was agreed on, to begin anew.
    pub(crate) fn disagree(&self) {
        *self.agreed.write() = Agreed::default();
    }

    /// Sends a request and waits for the answer to it.
    pub(crate) async fn request(&self, id: u64, outgoing: Outgoing<'_>) -> Result<String, RequestError> {
        let response = self.post(&outgoing).await?;
        if let Some(session) = response.headers().get("mcp-session-id") {
            let mut agreed = self.agreed.write();
            agreed.session = Some(session.clone());
        }
        let mut cut = match self.read_answer(id, response).await? {
            Answer::Here(raw) => return Ok(raw),
            Answer::Cut(cut) => cut,
        };
        for _ in 0..RESUMES_MAX {
            let Some(last_event) = cut.last_event.clone() else { break };
            tokio::time::sleep(Duration::from_millis(cut.retry_ms.unwrap_or(500).min(10_000))).await;
            match self.resume(&last_event).await {
                Ok(response) => match self.read_answer(id, response).await? {
                    Answer::Here(raw) => return Ok(raw),
                    Answer::Cut(next) if next.last_event.is_some() => cut = next,
                    Answer::Cut(_) => {}
                },
                Err(_) => break,
            }
        }
        Err(lost("the server closed the connection without answering"))
    }

    /// Sends a notification or an answer of ours.
    pub(crate) async fn send(&self, method: &str, message: String) -> Result<(), RequestError> {
        self.post(&Outgoing { method, name: None, headers: &[], trace: None, message }).await.map(drop)
    }

    /// What tells the server that nobody waits any more. A modern one sees it by the closed
    /// connection, and so does one that was not greeted yet.
    pub(crate) fn cancel_on_drop(&self, id: u64) -> CancelRequest {
        let agreed = self.agreed();
        CancelRequest((agreed.protocol.is_some() && !agreed.modern).then(|| (self.clone(), id)))
    }

    /// Ends the session, if there is one.
    pub(crate) async fn close(&self) {
        let agreed = self.agreed();
        if agreed.session.is_some() {
            let delete = async {
                let mut headers = self.headers(&agreed);
                self.add_credentials(&mut headers).await?;
                let request = self.settings.client.delete(self.settings.url.clone()).headers(headers);
                request.send().await.map_err(not_sent)
            };
            let _ = tokio::time::timeout(Duration::from_secs(2), delete).await;
        }
        self.peer.lose("the connection was closed");
    }

    async fn post(&self, outgoing: &Outgoing<'_>) -> Result<Response, RequestError> {
        let mut tried_again = false;
        loop {
            let agreed = self.agreed();
            let mut headers = self.headers(&agreed);
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
            if let Some(trace) = outgoing.trace {
                put(&mut headers, "traceparent", &trace.traceparent());
                if let Some(state) = trace.tracestate() {
                    put(&mut headers, "tracestate", state);
                }
            }
            if agreed.modern {
                put(&mut headers, "mcp-method", outgoing.method);
                if let Some(name) = outgoing.name {
                    put(&mut headers, "mcp-name", &header_text(name));
                }
                for (name, value) in outgoing.headers {
                    put(&mut headers, &format!("mcp-param-{name}"), &header_text(value));
                }
            }
            let used = self.add_credentials(&mut headers).await?;
            let request = self.settings.client.post(self.settings.url.clone()).headers(headers);
            let response = match request.body(outgoing.message.clone()).send().await.map_err(not_sent) {
                Ok(response) => response,
                Err(error) => {
                    if let RequestError::Failed(UpstreamFailure::Down(why)) = &error {
                        self.peer.lose(why);
                    }
                    return Err(error);
                }
            };
            match response.status() {
                status if status.is_success() => return Ok(response),
                StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN if !tried_again => {
                    self.refused(used, &response).await?;
                    tried_again = true;
                }
                StatusCode::NOT_FOUND if agreed.session.is_some() => {
                    self.peer.lose("its session has ended");
                    return Err(RequestError::Failed(UpstreamFailure::Down(
                        "its session has ended".to_owned(),
                    )));
                }
                status => return Err(self.unsuccessful(status, response).await),
            }
        }
    }

    async fn refused(&self, used: Option<HeaderValue>, response: &Response) -> Result<(), RequestError> {
        let challenge = response.headers().get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok());
        let status = response.status();
        match &self.settings.credentials {
            Some(credentials) => {
                let challenge = challenge.map(str::to_owned);
                if status == StatusCode::FORBIDDEN && challenge.is_none() {
                    return Err(failed(UpstreamFailure::LoginNeeded(format!("it answered {status}"))));
                }
                credentials.refused(used, challenge).await.map_err(failed)
            }
            None => Err(failed(UpstreamFailure::LoginNeeded(format!(
                "it answered {status}: the `Authorization` header in its configuration isn't accepted"
            )))),
        }
    }

    async fn resume(&self, last_event: &str) -> Result<Response, RequestError> {
        let response = self.get(Some(last_event)).await?;
        match response.status().is_success() {
            true => Ok(response),
            false => Err(lost("it can't resume the interrupted answer")),
        }
    }

    pub(crate) async fn get(&self, last_event: Option<&str>) -> Result<Response, RequestError> {
        let mut headers = self.headers(&self.agreed());
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Some(last_event) = last_event {
            put(&mut headers, "last-event-id", last_event);
        }
        self.add_credentials(&mut headers).await?;
        let request = self.settings.client.request(Method::GET, self.settings.url.clone()).headers(headers);
        request.send().await.map_err(not_sent)
    }

    fn headers(&self, agreed: &Agreed) -> HeaderMap {
        let mut headers = self.settings.headers.clone();
        if let Some(protocol) = &agreed.protocol {
            put(&mut headers, "mcp-protocol-version", protocol);
        }
        if let Some(session) = &agreed.session {
            headers.insert("mcp-session-id", session.clone());
        }
        headers
    }

    async fn add_credentials(&self, headers: &mut HeaderMap) -> Result<Option<HeaderValue>, RequestError> {
        let Some(credentials) = &self.settings.credentials else { return Ok(None) };
        let value = credentials.header().await.map_err(failed)?;
        if let Some(value) = &value {
            headers.insert(AUTHORIZATION, value.clone());
        }
        Ok(value)
    }

    async fn read_answer(&self, id: u64, response: Response) -> Result<Answer, RequestError> {
        let kind =
            response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if kind.starts_with("text/event-stream") {
            return self.read_events(Some(id), response).await;
        }
        let body = self.body(response).await?;
        match wire::read(&body) {
            Some(Incoming::Response { id: answered, outcome }) if answered == id => outcome
                .map(|raw| Answer::Here(raw.get().to_owned()))
                .map_err(|error| RequestError::Reply(error.into())),
            _ => {
                let why = match wire::broken_answer(body.as_bytes()) {
                    Some((_, why)) => why,
                    None => format!("its answer isn't a message: {}", shown(&body)),
                };
                Err(failed(UpstreamFailure::BadAnswer(why)))
            }
        }
    }

    /// Reads events until the answer is there, or the stream ends.
    pub(crate) async fn read_events(
        &self,
        id: Option<u64>,
        response: Response,
    ) -> Result<Answer, RequestError> {
        let mut reader = EventReader::new(self.bytes_max());
        let mut cut = Cut::default();
        let mut stream = response.bytes_stream();
        while let Some(Ok(bytes)) = stream.next().await {
            let events = reader.feed(&bytes).map_err(|_| RequestError::Reply(ReplyError::TooLarge))?;
            cut.retry_ms = reader.retry_ms;
            for event in events {
                if event.id.is_some() {
                    cut.last_event.clone_from(&event.id);
                }
                match wire::read(&event.data) {
                    Some(Incoming::Response { id: answered, outcome }) if Some(answered) == id => {
                        let raw = outcome.map_err(|error| RequestError::Reply(error.into()))?;
                        return Ok(Answer::Here(raw.get().to_owned()));
                    }
                    Some(incoming) => self.heard(incoming, id),
                    None => match wire::broken_answer(event.data.as_bytes()) {
                        Some((answered, why)) if Some(answered) == id => {
                            return Err(RequestError::Reply(ReplyError::Broken(why)));
                        }
                        Some((answered, why)) => self.peer.end(answered, Err(ReplyError::Broken(why))),
                        None => {}
                    },
                }
            }
        }
        Ok(Answer::Cut(cut))
    }

    /// One message, from the stream of that request, or from one that belongs to no request.
    fn heard(&self, incoming: Incoming<'_>, of: Option<u64>) {
        match self.peer.heard(incoming, of) {
            Heard::Nothing => {}
            Heard::Answer(answer) => self.send_behind("response", answer),
            Heard::Ask(asking) => {
                let link = self.clone();
                tokio::spawn(async move {
                    if let Some(answer) = asking.answer().await {
                        link.send_behind("response", answer);
                    }
                });
            }
        }
    }

    /// Sends one message while nobody waits. So many at once and no more, or a server that only
    /// asks would fill the memory.
    fn send_behind(&self, method: &'static str, message: String) {
        let Ok(permit) = Arc::clone(&self.behind).try_acquire_owned() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let link = self.clone();
        runtime.spawn(async move {
            let _ = tokio::time::timeout(BEHIND_LIMIT, link.send(method, message)).await;
            drop(permit);
        });
    }

    async fn unsuccessful(&self, status: StatusCode, response: Response) -> RequestError {
        if status.is_redirection() {
            // It may carry a secret: only where it leads.
            let place = response.headers().get("location").and_then(|place| place.to_str().ok());
            let url = place.and_then(|place| self.settings.url.join(place).ok());
            let origin = url.map_or("another place".to_owned(), |url| url.origin().ascii_serialization());
            let why =
                format!("it redirects to {origin}, which isn't followed; if you trust it, use that URL");
            return RequestError::Status(status.as_u16(), why);
        }
        let body = self.body(response).await.unwrap_or_default();
        if let Some(error) = wire::read_error(&body) {
            return RequestError::Reply(ReplyError::Rpc(error));
        }
        RequestError::Status(status.as_u16(), shown(&body))
    }

    async fn body(&self, response: Response) -> Result<String, RequestError> {
        let mut body = Vec::new();
        let mut stream = response.bytes_stream();
        while let Some(bytes) = stream.next().await {
            let bytes = bytes.map_err(|_| lost("the server closed the connection mid-answer"))?;
            if body.len() + bytes.len() > self.bytes_max() {
                return Err(RequestError::Reply(ReplyError::TooLarge));
            }
            body.extend_from_slice(&bytes);
        }
        Ok(String::from_utf8_lossy(&body).into_owned())
    }

    fn bytes_max(&self) -> usize {
        self.settings.result_bytes_max.saturating_add(ENVELOPE_BYTES)
    }

    fn agreed(&self) -> Agreed {
        self.agreed.read().clone()
    }
}

/// What came of reading one.
pub(crate) enum Answer {
    Here(String),
    Cut(Cut),
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum RequestError {
    Reply(ReplyError),
    /// The server answered with an HTTP status.
    Status(u16, String),
    Failed(UpstreamFailure),
}

fn failed(failure: UpstreamFailure) -> RequestError {
    RequestError::Failed(failure)
}

fn lost(why: &str) -> RequestError {
    RequestError::Reply(ReplyError::Lost(why.to_owned()))
}

/// The URL is taken out: it may carry a secret.
fn not_sent(error: reqwest::Error) -> RequestError {
    let refused = error.is_connect();
    let why = crate::http_client::innermost(&error.without_url());
    match refused {
        true => failed(UpstreamFailure::Down(format!("can't connect: {why}"))),
        false => lost(&format!("the connection broke: {why}")),
    }
}

fn put(headers: &mut HeaderMap, name: &str, value: &str) {
    if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value)) {
        headers.insert(name, value);
    }
}

/// Text that a header cannot carry as it is goes as base64, with a mark.
fn header_text(value: &str) -> String {
    const BEGINNING: &str = "=?base64?";
    let plain = value.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    if plain && value.trim() == value && !value.starts_with(BEGINNING) {
        return value.to_owned();
    }
    format!("{BEGINNING}{}?=", STANDARD.encode(value))
}

fn shown(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    line.chars().filter(|c| !c.is_control()).take(SHOWN_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_into_headers_as_they_are_or_encoded() {
        assert_eq!(header_text("get_document"), "get_document");
        assert_eq!(header_text("読む"), "=?base64?6Kqt44KA?=");
        assert_eq!(header_text(" x"), "=?base64?IHg=?=");
        assert_eq!(header_text("=?base64?eA==?="), "=?base64?PT9iYXNlNjQ/ZUE9PT89?=");
    }
}
