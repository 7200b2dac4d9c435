//! A gateway whose state is shared with others: it stands by, and passes what it accepts on to the one that leads,
//! until it leads itself.

use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use gristmill_cluster::relay::{self, Opening, pass_on, take_connections};
use gristmill_cluster::state::{Lead, StandBy, StateError, StateSettings, Waited};
use gristmill_cluster::{Bus, NodeName};
use gristmill_config::ClusterSettings;
use gristmill_gateway::ports::SharedState;
use gristmill_http::{HttpSettings, PassedOn};
use gristmill_replica::seal::Seal;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::bus::{connect_and_stay, node_name, state_key};
use crate::commands::listen::{self, ListenArguments};
use crate::failure::Failure;
use crate::terminal::eprint_lines;
use crate::upstreams::Configured;

/// Connections that wait for somebody who leads, or are passed on, at once.
const CONNECTIONS_MAX: usize = 1_024;

/// How long a connection waits until somebody leads.
const LED_WITHIN: Duration = Duration::from_secs(20);

/// How long one that is told to stop may take to notice by itself.
const STOPPED_WITHIN: Duration = Duration::from_secs(1);

/// Between two tries to pass one on.
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// What is done for a connection that nobody serves.
const REFUSED_WITHIN: Duration = Duration::from_secs(1);

/// How long what was passed on takes to be let go of.
const LAST_WORDS_WITHIN: Duration = Duration::from_secs(2);

/// When accepting fails, which it does when descriptors run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Copies of the log, if there are as many servers. Two would need both of them.
const REPLICAS: usize = 3;

/// What a client hears if nobody leads for long.
const NOBODY_LEADS: &str = "no gateway leads the shared state at the moment; try again\n";

/// A gateway's part in a shared state.
pub enum Turn {
    /// Its state is its own.
    Own,
    Leads(Box<Leads>),
    /// It was told to stop before it led.
    Stopped,
}

/// It leads. Requests come to its own address and by way of others.
pub struct Leads {
    lead: Lead,
    listener: Option<TcpListener>,
    incoming: Option<mpsc::Receiver<PassedOn>>,
    /// A signal came while this gateway took the lead.
    told_to_stop: CancellationToken,
    stop: CancellationToken,
    taking: JoinSet<()>,
}

impl Turn {
    /// Stands by until this gateway leads, and accepts requests meanwhile. Without a port it can't share a state.
    pub async fn wait(
        configured: Option<&Configured>,
        data: Option<&Path>,
        listen: &ListenArguments,
    ) -> Result<Self, Failure> {
        let Some(configured) = configured else { return Ok(Self::Own) };
        let Some(settings) = &configured.config.cluster.settings else { return Ok(Self::Own) };
        let Some(key) = state_key(&configured.config.cluster).await? else { return Ok(Self::Own) };
        let (Some(data), Some(address)) = (data, listen.http) else {
            return Err(Failure::Usage(anyhow!(
                "{}: `cluster.state_key` is for gateways that keep their state and have an address: use `--http ADDRESS`, \
                 and no `--no-state`\n\
                 hint: without the key, this gateway has a state of its own",
                configured.config.cluster.origin
            )));
        };
        let listener = listen::bind(address).await?;
        let address = listener.local_addr().map_err(|error| Failure::Internal(error.into()))?;
        let http = listen.settings_at(address);
        eprint_lines(&format!("listening on http://{address}/mcp"));
        let standing = Standing::begin(configured, settings, (key, data), (listener, &http)).await?;
        match standing {
            Some(standing) => standing.until_it_leads().await,
            None => Ok(Self::Stopped),
        }
    }

    /// For the database: where what is written is kept, too.
    pub fn state(&self) -> Option<Arc<dyn SharedState>> {
        match self {
            Self::Leads(leads) => Some(leads.lead.state()),
            Self::Own | Self::Stopped => None,
        }
    }

    pub fn leads(&self) -> bool {
        matches!(self, Self::Leads(_))
    }

    /// It was told to stop before it led.
    pub fn is_stopped(&self) -> bool {
        matches!(self, Self::Stopped)
    }

    /// Where it listens already.
    pub fn take_listener(&mut self) -> Option<TcpListener> {
        match self {
            Self::Leads(leads) => leads.listener.take(),
            Self::Own | Self::Stopped => None,
        }
    }

    /// What other gateways pass on.
    pub fn take_incoming(&mut self) -> Option<mpsc::Receiver<PassedOn>> {
        match self {
            Self::Leads(leads) => leads.incoming.take(),
            Self::Own | Self::Stopped => None,
        }
    }

    /// Whether a signal came before there was a server to stop.
    pub fn was_told_to_stop(&self) -> bool {
        match self {
            Self::Leads(leads) => leads.told_to_stop.is_cancelled(),
            Self::Own | Self::Stopped => false,
        }
    }

    /// Another gateway leads.
    pub fn overtaken(&self) -> Option<CancellationToken> {
        match self {
            Self::Leads(leads) => Some(leads.lead.overtaken()),
            Self::Own | Self::Stopped => None,
        }
    }

    /// The gateway has ended. One that was overtaken begins anew, in this process's place.
    pub async fn end(self) {
        let Self::Leads(leads) = self else { return };
        let Leads { lead, stop, mut taking, .. } = *leads;
        let is_overtaken = lead.overtaken().is_cancelled();
        let failure = lead.failure().map(str::to_owned);
        lead.leave().await;
        stop.cancel();
        // Others hear that nobody is here any more.
        let ended = async { while taking.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(LAST_WORDS_WITHIN, ended).await;
        taking.shutdown().await;
        if is_overtaken {
            match failure {
                None => eprint_lines("note: another gateway leads now; standing by again"),
                Some(why) => eprint_lines(&format!(
                    "warning: this gateway can't lead the shared state any more: {why}; standing by"
                )),
            }
            begin_anew();
        }
    }
}

/// The same program with the same arguments: nothing of what it did before is left in its memory.
fn begin_anew() {
    let mut words = std::env::args_os();
    let name = words.next().unwrap_or_default();
    // One that was replaced by a newer version isn't where it was started from any more.
    let program = std::env::current_exe().ok().filter(|program| program.exists());
    let program = program.map_or(name, PathBuf::into_os_string);
    let error = Command::new(program).args(words).exec();
    eprint_lines(&format!("error: can't begin again: {error}; start this gateway again"));
    // Whoever starts gateways again does so after a failure.
    std::process::exit(1);
}

struct Standing {
    bus: Bus,
    name: NodeName,
    listener: TcpListener,
    opening: Opening,
    stand_by: StandBy,
    stop: CancellationToken,
}

impl Standing {
    async fn begin(
        configured: &Configured,
        settings: &ClusterSettings,
        (key, data): (Seal, &Path),
        (listener, http): (TcpListener, &HttpSettings),
    ) -> Result<Option<Self>, Failure> {
        let name = node_name(settings, None)?;
        let bus = connect_and_stay(&configured.config.cluster, &format!("gateway {name}")).await?;
        let stop = CancellationToken::new();
        stop_on_signal(stop.clone())?;
        let state = StateSettings {
            data: data.to_owned(),
            seal: key,
            gateway: name.clone(),
            replicas: if settings.urls.len() < REPLICAS { 1 } else { REPLICAS },
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let joined = tokio::select! {
            joined = StandBy::join(&bus, state) => joined.map_err(failure)?,
            () = stop.cancelled() => return Ok(None),
        };
        let opening =
            Opening { hosts: http.hosts_allowed.clone(), origins: http.origins_allowed.clone(), peer: None };
        opening.check().map_err(|error| Failure::Usage(error.into()))?;
        Ok(Some(Self { bus, name, listener, opening, stand_by: joined, stop }))
    }

    async fn until_it_leads(self) -> Result<Turn, Failure> {
        let Self { bus, name, listener, opening, stand_by, stop } = self;
        let leader = stand_by.leader();
        let (passed, incoming) = mpsc::channel(CONNECTIONS_MAX);
        let told = tell_who_leads(leader.clone(), name.clone());
        if leader.borrow().is_none() {
            eprint_lines("standing by until it's clear who leads the shared state");
        }
        let seal = stand_by.seal();
        let door = Door {
            bus: bus.clone(),
            seal: Arc::clone(&seal),
            name: name.clone(),
            opening,
            leader,
            passed: passed.clone(),
        };
        let mut connections = JoinSet::new();
        let waited = {
            let waiting = stand_by.until_it_leads(&stop);
            tokio::pin!(waiting);
            loop {
                tokio::select! {
                    waited = &mut waiting => break waited,
                    // Also while it waits for the bus or the disk.
                    () = told_to_stop(&stop) => break Ok(Waited::Stopped),
                    Some(_) = connections.join_next() => {}
                    accepted = listener.accept(), if connections.len() < CONNECTIONS_MAX => match accepted {
                        Ok((stream, peer)) => drop(connections.spawn(door.clone().pass(stream, peer))),
                        Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
                    },
                }
            }
        };
        told.abort();
        let lead = match waited.map_err(failure)? {
            Waited::Leads(lead) => {
                eprint_lines("this gateway leads the shared state");
                *lead
            }
            Waited::Stopped => return Ok(Turn::Stopped),
        };
        if stop.is_cancelled() {
            lead.leave().await;
            return Ok(Turn::Stopped);
        }
        let (told_to_stop, stop) = (stop, CancellationToken::new());
        let mut taking = JoinSet::new();
        taking.spawn(take((bus, seal), name, passed, stop.clone()));
        // Those that wait for a leader come in here; they end by themselves.
        taking.spawn(async move { while connections.join_next().await.is_some() {} });
        Ok(Turn::Leads(Box::new(Leads {
            lead,
            listener: Some(listener),
            incoming: Some(incoming),
            told_to_stop,
            stop,
            taking,
        })))
    }
}

/// A moment after that: whoever has just taken the lead says that it leaves.
async fn told_to_stop(stop: &CancellationToken) {
    stop.cancelled().await;
    tokio::time::sleep(STOPPED_WITHIN).await;
}

/// A first signal is heard before anything serves; a second one ends the process while nothing serves.
fn stop_on_signal(stop: CancellationToken) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::Internal(error.into());
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        stop.cancel();
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        std::process::exit(130);
    });
    Ok(())
}

fn tell_who_leads(
    mut leader: watch::Receiver<Option<NodeName>>,
    own: NodeName,
) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        let mut told = None;
        loop {
            let now = leader.borrow_and_update().clone();
            match &now {
                Some(name) if told.as_ref() != Some(name) && *name != own => {
                    eprint_lines(&format!("standing by: {name} leads, and requests are passed on to it"));
                }
                Some(_) | None => {}
            }
            told = now.or(told);
            if leader.changed().await.is_err() {
                return;
            }
        }
    })
}

/// What is passed on by others, for the server here.
async fn take(
    sealed: (Bus, Arc<Seal>),
    own: NodeName,
    passed: mpsc::Sender<PassedOn>,
    stop: CancellationToken,
) {
    let (arrived, arriving) = mpsc::channel(CONNECTIONS_MAX);
    let handing = hand_in(arriving, passed, |relay::PassedOn { stream, from, opening }| {
        let Opening { hosts, origins, peer: _ } = opening;
        PassedOn { stream: Box::new(stream), from: from.to_string(), hosts, origins }
    });
    let (taken, ()) = tokio::join!(take_connections(sealed, own, arrived, stop), handing);
    if let Err(error) = taken {
        eprint_lines(&format!("warning: requests that other gateways pass on aren't heard: {error}"));
    }
}

/// Hands in what arrives as long as it's taken. The server here takes nothing more when it ends, and then nothing is to
/// arrive any more either: who passes it on is told so. What the server has taken goes on to its end.
async fn hand_in<A, B>(mut arriving: mpsc::Receiver<A>, to: mpsc::Sender<B>, as_taken: impl Fn(A) -> B) {
    loop {
        let arrived = tokio::select! {
            arrived = arriving.recv() => arrived,
            () = to.closed() => return,
        };
        let Some(arrived) = arrived else { return };
        if to.send(as_taken(arrived)).await.is_err() {
            return;
        }
    }
}

/// What a gateway that stands by does with whoever connects.
#[derive(Clone)]
struct Door {
    bus: Bus,
    seal: Arc<Seal>,
    name: NodeName,
    opening: Opening,
    leader: watch::Receiver<Option<NodeName>>,
    passed: mpsc::Sender<PassedOn>,
}

impl Door {
    async fn pass(self, mut stream: TcpStream, peer: SocketAddr) {
        let _ = stream.set_nodelay(true);
        let until = Instant::now() + LED_WITHIN;
        loop {
            match self.try_once(&mut stream, peer, until).await {
                Tried::Done => return,
                Tried::HereNow => break,
                Tried::Again if Instant::now() < until => tokio::time::sleep(AGAIN_AFTER).await,
                Tried::Again => return refuse(stream).await,
            }
        }
        let Opening { hosts, origins, peer: _ } = self.opening;
        let one = PassedOn { stream: Box::new(stream), from: self.name.to_string(), hosts, origins };
        let _ = self.passed.send(one).await;
    }

    /// Waits that long for somebody who leads.
    async fn try_once(&self, stream: &mut TcpStream, peer: SocketAddr, until: Instant) -> Tried {
        let mut leader = self.leader.clone();
        let found = tokio::time::timeout_at(until, leader.wait_for(Option::is_some)).await;
        let led_by = match found.map(|found| found.map(|leader| leader.clone())) {
            Ok(Ok(Some(led_by))) => led_by,
            Err(_) | Ok(Ok(None)) => return Tried::Again,
            // Nobody keeps the copy any more: this gateway ends.
            Ok(Err(_)) => return Tried::Done,
        };
        if led_by == self.name {
            return Tried::HereNow;
        }
        let lost = CancellationToken::new();
        let opening = Opening { peer: Some(peer.to_string()), ..self.opening.clone() };
        let still_led = async {
            let _ = leader.wait_for(|now| now.as_ref() != Some(&led_by)).await;
            lost.cancel();
            std::future::pending::<()>().await
        };
        let passed = pass_on((&self.bus, &self.seal), &self.name, &led_by, stream, opening, lost.clone());
        let passed = tokio::select! {
            passed = passed => passed,
            () = still_led => return Tried::Again,
        };
        match passed {
            Err(error) if error.nothing_was_read() => Tried::Again,
            Ok(()) | Err(_) => Tried::Done,
        }
    }
}

enum Tried {
    Done,
    /// This gateway leads by now.
    HereNow,
    Again,
}

/// Says that nobody leads, and reads past what was asked: closing with something unread would take the answer back.
async fn refuse(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    let refusing = async {
        if stream.write_all(nobody_leads().as_bytes()).await.is_err() || stream.shutdown().await.is_err() {
            return;
        }
        let mut scrap = [0; 4096];
        while let Ok(1..) = stream.read(&mut scrap).await {}
    };
    let _ = tokio::time::timeout(REFUSED_WITHIN, refusing).await;
}

fn nobody_leads() -> String {
    format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\nretry-after: 2\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{NOBODY_LEADS}",
        NOBODY_LEADS.len()
    )
}

fn failure(error: StateError) -> Failure {
    match error {
        StateError::Random(_) | StateError::Files(_) | StateError::Database(_) | StateError::Changing(_) => {
            Failure::Internal(error.into())
        }
        StateError::Folder { .. }
        | StateError::InUse { .. }
        | StateError::OwnState { .. }
        | StateError::OtherCluster { .. }
        | StateError::Forgotten { .. }
        | StateError::WrongKey { .. }
        | StateError::Torn { .. }
        | StateError::OtherVersion(_)
        | StateError::Damaged(_)
        | StateError::Log(_)
        | StateError::Content(_)
        | StateError::Append(_) => Failure::Usage(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Longer than anything takes on a busy machine.
    const PATIENCE: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn when_the_server_takes_nothing_more_nothing_more_arrives() {
        for is_one_on_its_way in [false, true] {
            let (arrived, arriving) = mpsc::channel(4);
            let (to, taken) = mpsc::channel(1);
            let handing = tokio::spawn(hand_in(arriving, to, |number: u32| number));
            drop(taken);
            if is_one_on_its_way {
                let _ = arrived.send(1).await;
            }
            tokio::time::timeout(PATIENCE, handing).await.expect("it ends").expect("no panic");
            assert!(arrived.is_closed());
        }
    }

    #[tokio::test]
    async fn who_still_sends_its_request_hears_that_nobody_leads() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let mut client =
            TcpStream::connect(listener.local_addr().expect("a port")).await.expect("it listens");
        let (stream, _) = listener.accept().await.expect("a client");
        client.write_all(&[b'x'; 20_000]).await.expect("it's buffered");
        let refusing = tokio::spawn(refuse(stream));
        let mut answer = String::new();
        let reading = tokio::time::timeout(PATIENCE, client.read_to_string(&mut answer));
        reading.await.expect("in time").expect("all of it");
        assert_eq!(answer, nobody_leads());
        drop(client);
        tokio::time::timeout(PATIENCE, refusing).await.expect("it ends").expect("no panic");
    }
}
