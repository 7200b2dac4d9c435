//! Takes spans and figures to an OpenTelemetry collector, over HTTP as protocol buffers.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::anyhow;
use clap::Args;
use gristmill_logs::{SpanBatch, SpanQueue, metrics_request};
use gristmill_mcp::Url;
use gristmill_mcp::http_client::{Client, HttpClientSettings, Redirects, http_client, innermost};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;

/// What a log's filter calls this.
const LOG_AREA: &str = "gristmill::otlp";

/// Between two looks at what has ended.
const PAUSE: Duration = Duration::from_secs(1);

/// Between two times that figures are sent.
const METRICS_EVERY: Duration = Duration::from_secs(15);

/// For one request; at the end, for all that is left.
const REQUEST_MAX: Duration = Duration::from_secs(5);

/// How often a request is sent that is not taken.
const TRIES_MAX: u32 = 4;

/// Where OpenTelemetry's own variables say what goes along, such as an API key.
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
const SERVICE: &str = "OTEL_SERVICE_NAME";

#[derive(Args)]
pub struct ExportArguments {
    /// Send traces and metrics to this OpenTelemetry collector, such as http://127.0.0.1:4318
    #[arg(long, value_name = "URL")]
    pub otlp: Option<String>,
}

/// Sends spans, and figures if there are any, for as long as it is kept.
pub struct Exporter {
    stop: CancellationToken,
    tasks: Vec<JoinHandle<()>>,
    collector: Arc<Collector>,
    client: Client,
}

impl ExportArguments {
    /// Where everything will be sent, if somebody wants that.
    pub fn collector(&self) -> Result<Option<Collector>, Failure> {
        let variable = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
        let collector =
            self.otlp.as_deref().map(|url| Collector::new(url, variable(HEADERS), variable(SERVICE)));
        collector.transpose().map_err(Failure::Usage)
    }
}

/// A collector, and how it is spoken to.
pub struct Collector {
    traces: Url,
    /// `None` if the URL is for traces alone.
    metrics: Option<Url>,
    headers: Vec<(String, String)>,
    service: String,
}

/// What a collector did not take.
enum NotTaken {
    /// It knows no such address.
    Unknown,
    Failed(String),
}

impl Collector {
    fn new(url: &str, headers: Option<String>, service: Option<String>) -> anyhow::Result<Self> {
        let url =
            Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let url = url.ok_or_else(|| anyhow!("--otlp must be an http:// or https:// URL"))?;
        // As OpenTelemetry's own variable for the endpoint of everything.
        let below = |signal: &str| {
            let mut place = url.clone();
            place.set_path(&format!("{}/v1/{signal}", url.path().trim_end_matches('/')));
            place
        };
        let (traces, metrics) = match url.path().ends_with("/v1/traces") {
            true => (url.clone(), None),
            false => (below("traces"), Some(below("metrics"))),
        };
        let headers = headers.as_deref().map(read_headers).transpose()?.unwrap_or_default();
        let is_here = matches!(url.host_str(), Some("127.0.0.1" | "localhost" | "[::1]"));
        if !headers.is_empty() && url.scheme() != "https" && !is_here {
            return Err(anyhow!("{HEADERS} would be sent in the clear; use an https:// URL with --otlp"));
        }
        let service = service.unwrap_or_else(|| "gristmill".to_owned());
        Ok(Self { traces, metrics, headers, service })
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
        let (stop, collector) = (CancellationToken::new(), Arc::new(self));
        let (stopped, sending, to) = (stop.clone(), client.clone(), Arc::clone(&collector));
        let task = tokio::spawn(async move {
            let send = |body: Vec<u8>| to.post(&sending, &to.traces, body);
            export(&queue, &to.service, send, &stopped).await;
        });
        Ok(Exporter { stop, tasks: vec![task], collector, client })
    }

    fn post(&self, client: &Client, url: &Url, body: Vec<u8>) -> impl Future<Output = Result<(), NotTaken>> {
        let mut request = client.post(url.clone()).header("content-type", "application/x-protobuf");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let sent = request.body(body).send();
        async move {
            let answer = sent.await.map_err(|error| NotTaken::Failed(innermost(&error)))?;
            match answer.status().as_u16() {
                200..=299 => Ok(()),
                404 | 405 | 501 => Err(NotTaken::Unknown),
                status => Err(NotTaken::Failed(format!("HTTP {status}"))),
            }
        }
    }
}

impl Exporter {
    /// Sends these figures every few seconds, and at the end. They are as `/metrics` has them.
    pub fn send_metrics(&mut self, read: impl Fn() -> Option<String> + Send + 'static) {
        let (stopped, client, to) = (self.stop.clone(), self.client.clone(), Arc::clone(&self.collector));
        if self.collector.metrics.is_none() {
            return;
        }
        self.tasks.push(tokio::spawn(async move {
            let send = |body: Vec<u8>| {
                let url = to.metrics.as_ref().unwrap_or(&to.traces);
                to.post(&client, url, body)
            };
            export_metrics(read, &to.service, send, &stopped).await;
        }));
    }

    /// Sends what has ended, if the collector takes it in time.
    pub async fn finish(self) {
        self.stop.cancel();
        let all = async {
            for task in self.tasks {
                let _ = task.await;
            }
        };
        let _ = tokio::time::timeout(REQUEST_MAX, all).await;
    }
}

async fn export<F: Future<Output = Result<(), NotTaken>>>(
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
            let (spans, lost, why) = (batch.spans, batch.lost, why.in_words());
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

/// Each time all of them: what is not taken once is in the next one.
async fn export_metrics<F: Future<Output = Result<(), NotTaken>>>(
    read: impl Fn() -> Option<String>,
    service: &str,
    send: impl Fn(Vec<u8>) -> F,
    stopped: &CancellationToken,
) {
    let (began, mut is_taken) = (SystemTime::now(), true);
    loop {
        let is_last = tokio::time::timeout(METRICS_EVERY, stopped.cancelled()).await.is_ok();
        let Some(text) = read() else { return };
        match send(metrics_request(&text, service, began, SystemTime::now())).await {
            Ok(()) => is_taken = true,
            // One for traces alone, such as Jaeger.
            Err(NotTaken::Unknown) => {
                tracing::info!(target: LOG_AREA, "the collector takes no metrics");
                return;
            }
            Err(NotTaken::Failed(why)) => {
                if std::mem::replace(&mut is_taken, false) || is_last {
                    tracing::warn!(target: LOG_AREA, why, "the collector didn't take metrics");
                }
            }
        }
        if is_last {
            return;
        }
    }
}

impl NotTaken {
    fn in_words(self) -> String {
        match self {
            Self::Unknown => "it has no such address".to_owned(),
            Self::Failed(why) => why,
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
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_collector_is_an_http_url_and_keys_are_never_sent_in_the_clear() {
        let check = |url: &str, headers: Option<&str>, expected: Result<&str, &str>| {
            let made = Collector::new(url, headers.map(str::to_owned), None);
            let made = made.map(|made| made.traces.to_string()).map_err(|error| error.to_string());
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

    #[test]
    fn figures_go_beside_traces_unless_the_url_is_for_those_alone() {
        let metrics = |url: &str| Collector::new(url, None, None).expect("a URL").metrics.map(String::from);
        assert_eq!(metrics("http://h:4318/").as_deref(), Some("http://h:4318/v1/metrics"));
        assert_eq!(metrics("http://h/otlp").as_deref(), Some("http://h/otlp/v1/metrics"));
        assert_eq!(metrics("http://h:4318/v1/traces"), None);
    }

    /// How often figures were sent until the end, to a collector that answers so.
    async fn sent(answer: fn(usize) -> Result<(), NotTaken>) -> usize {
        let (stop, count) = (CancellationToken::new(), Arc::new(AtomicUsize::new(0)));
        let (stopped, counted) = (stop.clone(), Arc::clone(&count));
        let task = tokio::spawn(async move {
            let send = |_: Vec<u8>| {
                let times = counted.fetch_add(1, Ordering::Relaxed);
                async move { answer(times) }
            };
            export_metrics(|| Some("# EOF\n".to_owned()), "x", send, &stopped).await;
        });
        tokio::time::sleep(METRICS_EVERY * 3 + PAUSE).await;
        stop.cancel();
        task.await.expect("it ends");
        count.load(Ordering::Relaxed)
    }

    #[tokio::test(start_paused = true)]
    async fn figures_are_sent_every_few_seconds_and_at_the_end_unless_nobody_takes_any() {
        assert_eq!(sent(|_| Ok(())).await, 4);
        let once_down = |times| if times == 1 { Err(NotTaken::Failed("down".to_owned())) } else { Ok(()) };
        assert_eq!(sent(once_down).await, 4);
        assert_eq!(sent(|_| Err(NotTaken::Unknown)).await, 1);
    }
}
