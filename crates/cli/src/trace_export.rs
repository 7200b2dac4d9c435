//! Takes spans to an OpenTelemetry collector, over HTTP as protocol buffers.

use std::time::Duration;

use anyhow::anyhow;
use clap::Args;
use gristmill_logs::{SpanBatch, SpanQueue};
use gristmill_mcp::Url;
use gristmill_mcp::http_client::{HttpClientSettings, Redirects, http_client, innermost};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;

/// What a log's filter calls this.
const LOG_AREA: &str = "gristmill::otlp";

/// Between two looks at what has ended.
const PAUSE: Duration = Duration::from_secs(1);

/// For one request; at the end, for all that is left.
const REQUEST_MAX: Duration = Duration::from_secs(5);

/// How often a request is sent that is not taken.
const TRIES_MAX: u32 = 4;

/// Where OpenTelemetry's own variables say what goes along, such as an API key.
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
const SERVICE: &str = "OTEL_SERVICE_NAME";

#[derive(Args)]
pub struct ExportArguments {
    /// Send traces to this OpenTelemetry collector, such as http://127.0.0.1:4318
    #[arg(long, value_name = "URL")]
    pub otlp: Option<String>,
}

/// Sends spans for as long as it is kept.
pub struct Exporter {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl ExportArguments {
    /// Where spans will be sent, if somebody wants that.
    pub fn collector(&self) -> Result<Option<Collector>, Failure> {
        let variable = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
        let collector =
            self.otlp.as_deref().map(|url| Collector::new(url, variable(HEADERS), variable(SERVICE)));
        collector.transpose().map_err(Failure::Usage)
    }
}

/// A collector, and how it is spoken to.
pub struct Collector {
    url: Url,
    headers: Vec<(String, String)>,
    service: String,
}

impl Collector {
    fn new(url: &str, headers: Option<String>, service: Option<String>) -> anyhow::Result<Self> {
        let mut url =
            Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let url = url.as_mut().ok_or_else(|| anyhow!("--otlp must be an http:// or https:// URL"))?;
        // As OpenTelemetry's own variable for the endpoint of everything.
        if !url.path().ends_with("/v1/traces") {
            let path = format!("{}/v1/traces", url.path().trim_end_matches('/'));
            url.set_path(&path);
        }
        let headers = headers.as_deref().map(read_headers).transpose()?.unwrap_or_default();
        let is_here = matches!(url.host_str(), Some("127.0.0.1" | "localhost" | "[::1]"));
        if !headers.is_empty() && url.scheme() != "https" && !is_here {
            return Err(anyhow!("{HEADERS} would be sent in the clear; use an https:// URL with --otlp"));
        }
        let service = service.unwrap_or_else(|| "gristmill".to_owned());
        Ok(Self { url: url.clone(), headers, service })
    }

    /// Sends what comes into the queue from now on.
    pub fn start(self, queue: SpanQueue) -> Result<Exporter, Failure> {
        let client = http_client(&HttpClientSettings {
            connect_timeout: Some(REQUEST_MAX),
            total_timeout: Some(REQUEST_MAX),
            redirects: Redirects::None,
            ..HttpClientSettings::default()
        });
        let client = client.map_err(|error| Failure::Internal(error.into()))?;
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let task = tokio::spawn(async move {
            let send = |body: Vec<u8>| {
                let mut request =
                    client.post(self.url.clone()).header("content-type", "application/x-protobuf");
                for (name, value) in &self.headers {
                    request = request.header(name, value);
                }
                let sent = request.body(body).send();
                async move {
                    let answer = sent.await.map_err(|error| innermost(&error))?;
                    match answer.status().is_success() {
                        true => Ok(()),
                        false => Err(format!("HTTP {}", answer.status().as_u16())),
                    }
                }
            };
            export(&queue, &self.service, send, &stopped).await;
        });
        Ok(Exporter { stop, task })
    }
}

impl Exporter {
    /// Sends what has ended, if the collector takes it in time.
    pub async fn finish(self) {
        self.stop.cancel();
        let _ = tokio::time::timeout(REQUEST_MAX, self.task).await;
    }
}

async fn export<F: Future<Output = Result<(), String>>>(
    queue: &SpanQueue,
    service: &str,
    send: impl Fn(Vec<u8>) -> F,
    stopped: &CancellationToken,
) {
    let mut unsent: Option<(SpanBatch, u32)> = None;
    loop {
        let is_last = tokio::time::timeout(PAUSE, stopped.cancelled()).await.is_ok();
        while let Some((batch, tries)) = unsent.take().or_else(|| queue.take(service).map(|batch| (batch, 1)))
        {
            let Err(why) = send(batch.body.clone()).await else { continue };
            let (spans, lost) = (batch.spans, batch.lost);
            match tries < TRIES_MAX && !is_last {
                true => unsent = Some((batch, tries + 1)),
                false => {
                    tracing::warn!(target: LOG_AREA, spans, lost, why, "the collector didn't take spans")
                }
            }
            break;
        }
        if is_last {
            return;
        }
    }
}

/// `name=value,name=value`, with what is special in them percent-encoded.
fn read_headers(text: &str) -> anyhow::Result<Vec<(String, String)>> {
    let read = |pair: &str| {
        let (name, value) = pair.split_once('=')?;
        let is_name = |name: &str| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        };
        let value = percent_decoded(value.trim())?;
        let is_value = value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        Some((name.trim().to_owned(), value)).filter(|(name, _)| is_name(name) && is_value)
    };
    let pairs = text.split(',').filter(|pair| !pair.trim().is_empty());
    pairs.map(|pair| read(pair).ok_or_else(|| anyhow!("{HEADERS} must be name=value,name=value"))).collect()
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_is_an_http_url_and_keys_are_never_sent_in_the_clear() {
        let check = |url: &str, headers: Option<&str>, expected: Result<&str, &str>| {
            let made = Collector::new(url, headers.map(str::to_owned), None);
            let made = made.map(|made| made.url.to_string()).map_err(|error| error.to_string());
            assert_eq!(made.as_deref().map_err(String::as_str), expected, "{url}");
        };
        check("http://127.0.0.1:4318", None, Ok("http://127.0.0.1:4318/v1/traces"));
        check("https://a.example/otlp/", Some("key=1"), Ok("https://a.example/otlp/v1/traces"));
        check("http://collector:4318/v1/traces", None, Ok("http://collector:4318/v1/traces"));
        check("127.0.0.1:4318", None, Err("--otlp must be an http:// or https:// URL"));
        let clear = "OTEL_EXPORTER_OTLP_HEADERS would be sent in the clear; use an https:// URL with --otlp";
        check("http://a.example", Some("key=1"), Err(clear));
        let wrong = "OTEL_EXPORTER_OTLP_HEADERS must be name=value,name=value";
        check("https://a.example", Some("a=1\u{7},b"), Err(wrong));
        let read = read_headers("authorization=Bearer%20x, b=1=2").expect("headers");
        let expected = [("authorization", "Bearer x"), ("b", "1=2")];
        assert_eq!(read, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}
