//! The bus: a connection to NATS, and what passes on it.

mod conversation;
mod next_server;

use std::path::PathBuf;
use std::time::Duration;

use async_nats::connection::State;
use async_nats::{Client, ConnectOptions, Event, Subscriber};
use bytes::Bytes;
use gristmill_gateway::domain::one_line;
use tokio::sync::watch;
use zeroize::Zeroizing;

use crate::names::ClusterName;
use crate::subjects::Subjects;

pub(crate) use conversation::{Broken, Conversation, PACKETS_MAX};
use next_server::NextServer;

/// What a log's filter calls this.
pub(crate) const LOG_AREA: &str = "gristmill::cluster";

/// Between tries to connect again: a server that is gone must not be the end of what can go on elsewhere.
const AGAIN_AFTER: Duration = Duration::from_millis(250);

/// How long one try may take.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Between looks whether the server is still there. It's given up at the third without an answer, which leaves a
/// machine time to be heard at another server before it's missed.
const PING_INTERVAL: Duration = Duration::from_millis(500);

/// How long a server may take to say that it has heard us, and how long its refusals may take to get to us.
const PERMITTED_WITHIN: Duration = Duration::from_secs(2);
const REFUSED_WITHIN: Duration = Duration::from_millis(150);

/// Between looks whether the connection is there again.
const CONNECTED_LOOK: Duration = Duration::from_millis(20);

/// What a server refuses, and is remembered: more than anybody here asks for.
const REFUSALS_MAX: usize = 16;

/// Messages that wait in a subscription. What is beyond is dropped, and sent again by its link.
const WAITING_MAX: usize = 16 * 1024;

/// Where the bus is, and who we are there.
#[derive(Clone)]
pub struct BusSettings {
    /// `tls://host:port`, or `nats://` on this machine.
    pub urls: Vec<String>,
    pub cluster: ClusterName,
    /// The seed of an NKey.
    pub nkey_seed: Option<Zeroizing<String>>,
    /// Whom to trust, in place of the system's roots.
    pub ca: Option<PathBuf>,
    /// Certificate and key of our own.
    pub client_certificate: Option<(PathBuf, PathBuf)>,
}

/// Whether somebody waits for a server that isn't there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Insist {
    /// It is told at once.
    No,
    /// It is tried again and again.
    Yes,
}

/// The bus can't be used.
#[derive(Debug, thiserror::Error)]
pub enum BusError {
    /// No server answers, or it turns us away.
    #[error(
        "can't connect to {urls}: {why}; check `nats` and `nkey` under [cluster], and that the server runs"
    )]
    Connect { urls: String, why: String },
    /// The connection is there, and this isn't permitted or possible.
    #[error("can't use the bus: {0}; check the permissions of this machine's NKey")]
    Use(String),
    /// There are no random numbers.
    #[error("the system random source failed: {0}")]
    Random(#[from] getrandom::Error),
}

/// A connection. Cheap to clone.
#[derive(Clone)]
pub struct Bus {
    client: Client,
    cluster: ClusterName,
    subjects: Subjects,
    reconnects: watch::Receiver<u64>,
    refused: watch::Receiver<Vec<String>>,
}

/// Connects as `name`, which the server's own lists show.
pub async fn connect(settings: &BusSettings, name: &str, insist: Insist) -> Result<Bus, BusError> {
    let BusSettings { urls, cluster, nkey_seed, ca, client_certificate } = settings;
    let (connected, reconnects) = watch::channel(0_u64);
    let (refusals, refused) = watch::channel(Vec::new());
    let next_server = NextServer::new(reconnects.clone());
    let mut options = ConnectOptions::new()
        .name(format!("gristmill {name}"))
        .connection_timeout(CONNECT_TIMEOUT)
        .ping_interval(PING_INTERVAL)
        .subscription_capacity(WAITING_MAX)
        .reconnect_delay_callback(|_| AGAIN_AFTER)
        .reconnect_to_server_callback(move |pool, _| {
            // Without random numbers any will do.
            let drawn = getrandom::u32().unwrap_or_default();
            std::future::ready(next_server.choose(&pool, drawn as usize))
        })
        .event_callback(move |event| {
            heard(&event, &connected, &refusals);
            std::future::ready(())
        });
    if let Some(seed) = nkey_seed {
        options = options.nkey(seed.trim().to_owned());
    }
    if urls.iter().any(|url| url.starts_with("tls://")) {
        options = options.require_tls(true);
    }
    if let Some(ca) = ca {
        options = options.add_root_certificates(ca.clone());
    }
    if let Some((certificate, key)) = client_certificate {
        options = options.add_client_certificate(certificate.clone(), key.clone());
    }
    if insist == Insist::Yes {
        options = options.retry_on_initial_connect();
    }
    let failed = |why: String| BusError::Connect { urls: urls.join(", "), why };
    let addresses: Result<Vec<async_nats::ServerAddr>, _> = urls.iter().map(|url| url.parse()).collect();
    let addresses = addresses.map_err(|error| failed(error.to_string()))?;
    let client = options.connect(addresses).await.map_err(|error| failed(in_full(&error)))?;
    Ok(Bus { client, cluster: cluster.clone(), subjects: Subjects::of(cluster), reconnects, refused })
}

/// An error with what is behind it: the outer one often says only that it failed.
fn in_full(error: &dyn std::error::Error) -> String {
    let mut said = error.to_string();
    let mut behind = error.source();
    while let Some(cause) = behind {
        let cause_said = cause.to_string();
        if !said.contains(&cause_said) {
            said = format!("{said}: {cause_said}");
        }
        behind = cause.source();
    }
    one_line(&said, 300)
}

fn heard(event: &Event, connected: &watch::Sender<u64>, refusals: &watch::Sender<Vec<String>>) {
    match event {
        Event::Connected => {
            tracing::info!(target: LOG_AREA, "connected to the bus");
            connected.send_modify(|count| *count += 1);
        }
        Event::Disconnected => tracing::warn!(target: LOG_AREA, "the bus is gone; connecting again"),
        Event::SlowConsumer(_) => tracing::debug!(target: LOG_AREA, "messages were dropped: too many wait"),
        Event::ServerError(error) => {
            tracing::warn!(target: LOG_AREA, %error, "the bus refuses something");
            let said = one_line(&error.to_string(), 300);
            refusals.send_if_modified(|all| {
                let is_new = all.len() < REFUSALS_MAX && !all.contains(&said);
                if is_new {
                    all.push(said);
                }
                is_new
            });
        }
        Event::ClientError(error) => tracing::warn!(target: LOG_AREA, %error, "the bus fails"),
        Event::LameDuckMode | Event::Draining | Event::Closed => {}
    }
}

impl Bus {
    pub(crate) fn cluster(&self) -> &ClusterName {
        &self.cluster
    }

    pub(crate) fn subjects(&self) -> &Subjects {
        &self.subjects
    }

    /// Whether a server is at the other end now, as far as that can be known.
    pub(crate) fn is_connected(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Waits until a server is at the other end.
    pub(crate) async fn connected(&self) {
        while !self.is_connected() {
            tokio::time::sleep(CONNECTED_LOOK).await;
        }
    }

    /// Counts up whenever the connection is there again, from now on.
    pub(crate) fn reconnects(&self) -> watch::Receiver<u64> {
        let mut reconnects = self.reconnects.clone();
        // Ours has never looked: a copy of it would take every earlier connection for a new one.
        reconnects.mark_unchanged();
        reconnects
    }

    /// Sends a message. One that can't be sent is lost, as any may be: whoever needs it sends it again.
    pub(crate) async fn publish(&self, subject: String, payload: Vec<u8>) {
        if let Err(error) = self.client.publish(subject, Bytes::from(payload)).await {
            tracing::debug!(target: LOG_AREA, %error, "a message wasn't sent");
        }
    }

    pub(crate) async fn subscribe(&self, subject: String) -> Result<Subscriber, BusError> {
        self.client.subscribe(subject).await.map_err(|error| BusError::Use(in_full(&error)))
    }

    /// Whether the server lets us hear what we asked for. One that isn't there yet says nothing.
    pub(crate) async fn is_permitted(&self) -> Result<(), BusError> {
        // It answers in order: what it refuses, it has refused by then. Its words come to us by another way.
        let answered = tokio::time::timeout(PERMITTED_WITHIN, self.client.flush()).await;
        if !matches!(answered, Ok(Ok(()))) {
            return Ok(());
        }
        let mut refused = self.refused.clone();
        let heard = refused.wait_for(|all| !all.is_empty());
        match tokio::time::timeout(REFUSED_WITHIN, heard).await {
            Ok(Ok(all)) => Err(BusError::Use(all.first().cloned().unwrap_or_default())),
            Ok(Err(_)) | Err(_) => Ok(()),
        }
    }

    /// Whether the server has refused to let us hear this, as far as its words have come.
    pub(crate) fn is_refused(&self, subject: &str) -> bool {
        let quoted = format!("\"{subject}\"");
        self.refused.borrow().iter().any(|said| said.contains(&quoted))
    }

    /// What the server said when it refused something that `names` knows in its words.
    pub(crate) fn refusal(&self, names: impl Fn(&str) -> bool) -> Option<String> {
        self.refused.borrow().iter().find(|said| names(said)).cloned()
    }

    /// Waits until the server has everything that was sent.
    pub(crate) async fn flush(&self) -> Result<(), BusError> {
        self.client.flush().await.map_err(|error| BusError::Use(in_full(&error)))
    }
}
