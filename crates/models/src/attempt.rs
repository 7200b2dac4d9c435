//! One try: a request is sent, its answer judged, its stream read to the end.
//!
//! Walls: no redirect is followed, so the key reaches nobody but the address that it is for. Everything that is
//! read has a limit. Nothing that the provider says is shown before the key is taken out.

use std::time::Duration;

use gristmill_gateway::domain::{format_bytes, format_ms};
use gristmill_gateway::ports::{Ending, ModelFailure, WritingWatch, Written};
use gristmill_mcp::events::EventReader;
use gristmill_mcp::http_client::{Client, innermost};
use gristmill_mcp::secret::Secret;
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, LOCATION};
use tokio::time::{Instant, timeout, timeout_at};
use url::Url;

use crate::complaint::Complaint;
use crate::dialect::{Ask, Draft, Heard};
use crate::endpoint::Endpoint;
use crate::limits::{ANSWER_BYTES_MAX, ERROR_BYTES_MAX, EVENT_BYTES_MAX, Rules, STREAM_BYTES_MAX};
use crate::pace::Pace;
use crate::redact::reason;
use crate::retry_after::asked_pause;
use crate::trouble::{Trouble, Verdict};

/// How long the counts of tokens are waited for once the text is whole.
const COUNTS_WAIT: Duration = Duration::from_secs(3);

/// One try.
pub(crate) struct Attempt<'a> {
    pub client: &'a Client,
    pub endpoint: &'a Endpoint,
    pub key: Option<&'a Secret>,
    /// What to do if the key is refused.
    pub key_remedy: &'a str,
    pub rules: &'a Rules,
    pub pace: &'a dyn Pace,
    pub watch: &'a dyn WritingWatch,
}

impl Attempt<'_> {
    pub async fn run(&self, ask: &Ask<'_>) -> Result<Written, Trouble> {
        let response = self.send(ask).await?;
        if !response.status().is_success() {
            return Err(self.refusal(response, ask).await);
        }
        let kind = header(response.headers(), &CONTENT_TYPE);
        if !kind.to_ascii_lowercase().starts_with("text/event-stream") {
            return Err(Trouble::Final(self.garbled(&format!("no stream of events, but `{kind}`"))));
        }
        self.read(response, ask).await
    }

    async fn send(&self, ask: &Ask<'_>) -> Result<Response, Trouble> {
        let headers = self.endpoint.headers(self.key).ok_or_else(|| {
            let reason = format!("it has characters that can't be sent; {}", self.key_remedy);
            Trouble::Final(ModelFailure::Denied { provider: self.provider(), reason })
        })?;
        let body = self.endpoint.dialect.body(ask).to_string();
        let request = self.client.post(self.endpoint.url.clone()).headers(headers).body(body);
        match timeout(self.rules.first_byte, request.send()).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(self.unreachable(&innermost(&error))),
            Err(_) => Err(self.silent(self.rules.first_byte)),
        }
    }

    /// What an answer means that isn't one.
    async fn refusal(&self, response: Response, ask: &Ask<'_>) -> Trouble {
        let status = response.status();
        if status.is_redirection() {
            let to = Url::parse(header(response.headers(), &LOCATION)).ok();
            let to = to.as_ref().and_then(Url::host_str).unwrap_or("another place");
            let said =
                format!("it redirects to {to}, and a key isn't taken along; set the address that it has now");
            return Trouble::Final(self.unknown("service at this address", &said));
        }
        let asked = asked_pause(response.headers(), self.pace.now());
        let body = self.error_body(response).await;
        self.complaint(Some(status.as_u16()), &Complaint::in_body(&body), asked, ask)
    }

    /// What a provider says, with a status or in the middle of a stream.
    fn complaint(
        &self,
        status: Option<u16>,
        complaint: &Complaint,
        asked: Option<Duration>,
        ask: &Ask<'_>,
    ) -> Trouble {
        let said = match (status, complaint.message.is_empty()) {
            (Some(status), true) => format!("status {status}"),
            (Some(status), false) => format!("{} (status {status})", self.clean(&complaint.message)),
            (None, true) => "it gave up in the middle".to_owned(),
            (None, false) => self.clean(&complaint.message),
        };
        let provider = self.provider();
        match Verdict::of(status, complaint) {
            Verdict::Denied => {
                let reason = format!("{said}; {}", self.key_remedy);
                Trouble::Final(ModelFailure::Denied { provider, reason })
            }
            Verdict::Declined => Trouble::Declined,
            Verdict::Unknown => {
                Trouble::Final(self.unknown(&format!("model `{}`", self.endpoint.model), &said))
            }
            Verdict::Busy => Trouble::Again { failure: ModelFailure::Busy { provider, reason: said }, asked },
            Verdict::Broken => {
                Trouble::Again { failure: ModelFailure::Unreachable { provider, reason: said }, asked }
            }
            Verdict::Other => {
                let failure = ModelFailure::Garbled { provider, reason: said };
                let dialect = self.endpoint.dialect;
                match ask.parameters.corrected(dialect, ask.temperature.is_some(), complaint) {
                    // Once a stream has begun, no parameter can be wrong any more.
                    Some(parameters) if matches!(status, Some(400 | 422)) => {
                        Trouble::Corrected { parameters, failure }
                    }
                    Some(_) | None => Trouble::Final(failure),
                }
            }
        }
    }

    /// The beginning of a body, which nobody waits for long.
    async fn error_body(&self, mut response: Response) -> String {
        let until = Instant::now() + self.rules.idle.min(Duration::from_secs(10));
        let mut body = Vec::new();
        while body.len() < ERROR_BYTES_MAX {
            match timeout_at(until, response.chunk()).await {
                Ok(Ok(Some(bytes))) => body.extend_from_slice(&bytes),
                Ok(Ok(None) | Err(_)) | Err(_) => break,
            }
        }
        body.truncate(ERROR_BYTES_MAX);
        String::from_utf8_lossy(&body).into_owned()
    }

    /// Reads the stream until it is over. Once the text is whole, nothing that follows can spoil it.
    async fn read(&self, mut response: Response, ask: &Ask<'_>) -> Result<Written, Trouble> {
        let mut events = EventReader::new(EVENT_BYTES_MAX);
        let mut draft = Draft::default();
        let mut bytes_read = 0_usize;
        let mut patience = self.rules.first_byte;
        while !draft.is_over {
            let bytes = match timeout(patience, response.chunk()).await {
                Ok(Ok(Some(bytes))) => bytes,
                _ if draft.is_whole => break,
                Ok(Ok(None)) => return Err(self.unreachable("the answer ended before its end")),
                Ok(Err(error)) => {
                    return Err(self.unreachable(&format!("the answer broke off: {}", innermost(&error))));
                }
                Err(_) => return Err(self.silent(patience)),
            };
            bytes_read += bytes.len();
            if bytes_read > STREAM_BYTES_MAX {
                return Err(self.too_large(STREAM_BYTES_MAX, "a stream"));
            }
            let heard = events.feed(&bytes).map_err(|_| self.too_large(EVENT_BYTES_MAX, "an event"))?;
            for event in heard.into_iter().filter(|event| !event.data.is_empty()) {
                self.hear(&mut draft, &event.data, ask)?;
            }
            patience = if draft.is_whole { self.rules.idle.min(COUNTS_WAIT) } else { self.rules.idle };
        }
        let ending = match draft.is_refused {
            true => Ending::Refused,
            false => draft.ending.unwrap_or(Ending::Finished),
        };
        Ok(Written { text: draft.text, tokens: draft.tokens, ending })
    }

    fn hear(&self, draft: &mut Draft, data: &str, ask: &Ask<'_>) -> Result<(), Trouble> {
        match self.endpoint.dialect.hear(draft, data) {
            Some(Heard::Nothing) => Ok(()),
            Some(Heard::Piece(text)) => {
                if draft.text.len() + text.len() > ANSWER_BYTES_MAX {
                    return Err(self.too_large(ANSWER_BYTES_MAX, "text"));
                }
                draft.text.push_str(&text);
                self.watch.piece(&text);
                Ok(())
            }
            Some(Heard::Failed(complaint)) => Err(self.complaint(None, &complaint, None, ask)),
            None => Err(Trouble::Final(self.garbled(&format!("an event that isn't JSON: `{data}`")))),
        }
    }

    fn clean(&self, text: &str) -> String {
        reason(text, self.key.map(Secret::reveal))
    }

    fn provider(&self) -> String {
        self.endpoint.provider_name()
    }

    fn garbled(&self, said: &str) -> ModelFailure {
        ModelFailure::Garbled { provider: self.provider(), reason: self.clean(said) }
    }

    fn unknown(&self, what: &str, said: &str) -> ModelFailure {
        let (what, reason) = (self.clean(what), self.clean(said));
        ModelFailure::Unknown { provider: self.provider(), what, reason }
    }

    fn unreachable(&self, said: &str) -> Trouble {
        let reason = format!("{}: {}", self.endpoint.place(), self.clean(said));
        let failure = ModelFailure::Unreachable { provider: self.provider(), reason };
        Trouble::Again { failure, asked: None }
    }

    fn silent(&self, patience: Duration) -> Trouble {
        let ms = u64::try_from(patience.as_millis()).unwrap_or(u64::MAX);
        self.unreachable(&format!("it was silent for {}", format_ms(ms)))
    }

    fn too_large(&self, bytes_max: usize, what: &str) -> Trouble {
        Trouble::Final(self.garbled(&format!("{what} of more than {}", format_bytes(bytes_max as u64))))
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}
