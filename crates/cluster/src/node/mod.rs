//! The node's side: it says how it is, and takes programs of gateways as long as it has places.

mod folders;
mod program;

use std::collections::{HashMap, VecDeque};
use std::future::pending;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::{FutureExt, StreamExt};
use gristmill_gateway::domain::Level;
use gristmill_gateway::{EngineId, Gateway};
use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use crate::bus::{Bus, BusError, Conversation, LOG_AREA, PACKETS_MAX};
use crate::folders::TreeCache;
use crate::names::{Label, LinkId, NodeName, new_incarnation};
use crate::presence::{self, GATEWAY_LOST_AFTER, GatewayPresence, NodePresence, SAID_EVERY};
use crate::subjects::Heard;
use crate::wire::{Order, WIRE_VERSION};
use program::{Given, host};

/// Trees of other gateways that are kept: those that programs are given again and again.
const TREES_BYTES_MAX: u64 = 4 << 30;

/// Links at once: more than a machine has places, since some only refuse.
const LINKS_MAX: usize = 4_096;

/// Links that have ended and whose late packets begin no new one.
const ENDED_MAX: usize = 8_192;

/// Gateways that are remembered.
const GATEWAYS_MAX: usize = 4_096;

/// How long what runs may go on when the node is told to stop.
pub const STOP_GRACE: Duration = Duration::from_secs(30);

/// How long a last word may take to get out.
const LAST_WORD_WITHIN: Duration = Duration::from_secs(1);

/// With plenty of places free, a node waits this long before it says that one was taken or left: each program changes
/// that twice, and every gateway hears it. Until then, gateways count what they have given.
const SAID_AGAIN_AFTER: Duration = Duration::from_millis(20);

/// A node with fewer places says every change at once: somebody may be waiting for it.
const PLACES_ENOUGH: usize = 8;

/// What gateways say of themselves that is heard before a packet; more would keep the packets waiting.
const HEARD_BEFORE_MAX: usize = 64;

pub struct NodeSettings {
    pub name: NodeName,
    pub labels: Vec<Label>,
    /// Programs at once. No more than the gateway has places.
    pub places: usize,
    /// A folder of our own for what programs share.
    pub cache: PathBuf,
}

/// Why a node does not run.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    #[error(transparent)]
    Bus(#[from] BusError),
    /// Its cache can't be used.
    #[error("can't use the cache of folders: {0}")]
    Cache(#[from] crate::folders::FolderError),
}

/// Runs programs of gateways until `stop`; then it takes nothing new, and ends when nothing runs any more.
pub async fn run_node(
    bus: Bus,
    gateway: Gateway,
    settings: NodeSettings,
    stop: CancellationToken,
) -> Result<(), NodeError> {
    let links = bus.subscribe(bus.subjects().for_node(&settings.name)).await?;
    let gateways = bus.subscribe(bus.subjects().all_gateways()).await?;
    bus.is_permitted().await?;
    let trees = TreeCache::open_at(&settings.cache.join("trees"), TREES_BYTES_MAX)?;
    let (engines, levels) = offered(&gateway).await;
    let node = Arc::new(Node {
        given: Arc::new(Given { gateway, trees, scratch: settings.cache.clone(), changed: Notify::new() }),
        bus,
        settings,
        engines,
        levels,
        state: Mutex::default(),
        incarnation: new_incarnation().map_err(BusError::from)?,
        began: Instant::now(),
    });
    node.listen(links, gateways, stop).await;
    Ok(())
}

/// What its workers can be had for.
async fn offered(gateway: &Gateway) -> (Vec<EngineId>, Vec<Level>) {
    let mut engines = vec![EngineId::Python, EngineId::TypeScript];
    if gateway.native().is_some() {
        engines.push(EngineId::Native);
    }
    let mut levels = Vec::new();
    for level in [Level::Development, Level::Production, Level::Hardened] {
        if gateway.runs(EngineId::Python, level).await {
            levels.push(level);
        }
    }
    (engines, levels)
}

struct Node {
    given: Arc<Given>,
    bus: Bus,
    settings: NodeSettings,
    engines: Vec<EngineId>,
    levels: Vec<Level>,
    state: Mutex<State>,
    incarnation: u64,
    began: Instant,
}

#[derive(Default)]
struct State {
    links: HashMap<LinkId, LinkEntry>,
    ended: VecDeque<LinkId>,
    gateways: HashMap<NodeName, KnownGateway>,
    /// Programs that came since it was said what is free.
    taken_since_said: usize,
    draining: bool,
    stopping: bool,
}

struct LinkEntry {
    gateway: NodeName,
    packets: mpsc::Sender<Bytes>,
    lost: CancellationToken,
}

struct KnownGateway {
    incarnation: u64,
    heard: Instant,
}

impl Node {
    async fn listen(
        self: Arc<Self>,
        mut links: async_nats::Subscriber,
        mut gateways: async_nats::Subscriber,
        stop: CancellationToken,
    ) {
        let mut tick = tokio::time::interval(SAID_EVERY);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut ends_at = None;
        let mut say_at = None;
        loop {
            let message = tokio::select! {
                () = stop.cancelled(), if ends_at.is_none() => {
                    ends_at = Some(Instant::now() + STOP_GRACE);
                    self.state.lock().stopping = true;
                    self.say_presence().await;
                    continue;
                }
                _ = tick.tick() => {
                    self.lose_silent();
                    self.say_presence().await;
                    if ends_at.is_some_and(|at| self.is_idle() || Instant::now() >= at) {
                        break;
                    }
                    continue;
                }
                () = self.given.changed.notified() => {
                    match self.has_places_enough() {
                        true => say_at = say_at.or(Some(Instant::now() + SAID_AGAIN_AFTER)),
                        false => say_at = Some(Instant::now()),
                    }
                    continue;
                }
                () = until(say_at) => {
                    say_at = None;
                    self.say_presence().await;
                    continue;
                }
                message = links.next() => {
                    // What its gateway has said before is heard before: one that has started again must not lose what
                    // it sends first.
                    for _ in 0..HEARD_BEFORE_MAX {
                        // Whatever else this task has done: what is here is heard.
                        let said = tokio::task::unconstrained(gateways.next()).now_or_never().flatten();
                        let Some(said) = said else { break };
                        self.heard(said).await;
                    }
                    message
                }
                message = gateways.next() => message,
            };
            // The client ends its subscriptions only when it is closed.
            let Some(message) = message else { break };
            self.heard(message).await;
        }
        for link in self.state.lock().links.values() {
            link.lost.cancel();
        }
        // Each says so to its gateway. A bus that is gone hears nothing.
        let last_words = async {
            while !self.is_idle() {
                self.given.changed.notified().await;
            }
            let _ = self.bus.flush().await;
        };
        let _ = tokio::time::timeout(LAST_WORD_WITHIN, last_words).await;
    }

    async fn heard(self: &Arc<Self>, message: async_nats::Message) {
        match self.bus.subjects().read(&message.subject) {
            Some(Heard::Link { from, link }) => {
                // Its gateway may still wait for the program.
                if !message.payload.is_empty() && self.has_ended(link) {
                    let subject = self.bus.subjects().to_gateway(&from, &self.settings.name, link);
                    self.bus.publish(subject, Vec::new()).await;
                }
                self.packet_came(from, link, message.payload);
            }
            Some(Heard::Gateway(name)) => self.gateway_spoke(name, &message.payload),
            Some(Heard::Order) => self.ordered(&message.payload).await,
            Some(Heard::Node(_)) | None => {}
        }
    }

    fn has_ended(&self, link: LinkId) -> bool {
        let state = self.state.lock();
        !state.links.contains_key(&link) && state.ended.contains(&link)
    }

    fn is_idle(&self) -> bool {
        self.state.lock().links.is_empty()
    }

    /// What takes nothing new still has what runs.
    async fn ordered(&self, payload: &[u8]) {
        let Ok(order) = postcard::from_bytes::<Order>(payload) else { return };
        self.state.lock().draining = order == Order::Drain;
        tracing::info!(target: LOG_AREA, ?order, "ordered");
        self.say_presence().await;
    }

    fn packet_came(self: &Arc<Self>, gateway: NodeName, link: LinkId, payload: Bytes) {
        let mut state = self.state.lock();
        if let Some(known) = state.links.get(&link) {
            // Another gateway can't know the link; what has no room is sent again.
            if known.gateway == gateway {
                let _ = known.packets.try_send(payload);
            }
            return;
        }
        if payload.is_empty() || state.links.len() >= LINKS_MAX || state.ended.contains(&link) {
            return;
        }
        let (packets, received) = mpsc::channel(PACKETS_MAX);
        let _ = packets.try_send(payload);
        let lost = CancellationToken::new();
        state.taken_since_said += 1;
        state.links.insert(link, LinkEntry { gateway: gateway.clone(), packets, lost: lost.clone() });
        let takes = !state.draining && !state.stopping && state.links.len() <= self.settings.places;
        drop(state);
        let subject = self.bus.subjects().to_gateway(&gateway, &self.settings.name, link);
        let talk = Conversation::new(&self.bus, subject, received);
        let node = Arc::clone(self);
        tokio::spawn(async move {
            let _closes = Closes { node: Arc::clone(&node), link };
            host(talk, Arc::clone(&node.given), takes, lost).await;
        });
        self.given.changed.notify_one();
    }

    fn gateway_spoke(&self, name: NodeName, payload: &[u8]) {
        let Some(presence) = presence::read::<GatewayPresence>(payload) else { return };
        let mut state = self.state.lock();
        if state.gateways.len() >= GATEWAYS_MAX && !state.gateways.contains_key(&name) {
            return;
        }
        let known = KnownGateway { incarnation: presence.incarnation, heard: Instant::now() };
        let before = state.gateways.insert(name.clone(), known);
        if before.is_some_and(|before| before.incarnation != presence.incarnation) {
            state.lose(&name);
        }
    }

    fn lose_silent(&self) {
        let mut state = self.state.lock();
        let now = Instant::now();
        let is_lost = |known: &KnownGateway| now.saturating_duration_since(known.heard) >= GATEWAY_LOST_AFTER;
        let lost: Vec<_> =
            state.gateways.iter().filter(|(_, known)| is_lost(known)).map(|(name, _)| name.clone()).collect();
        for name in lost {
            tracing::warn!(target: LOG_AREA, gateway = %name, "a gateway is lost; its programs end");
            state.gateways.remove(&name);
            state.lose(&name);
        }
    }

    async fn say_presence(&self) {
        self.state.lock().taken_since_said = 0;
        let presence = self.presence();
        let subject = self.bus.subjects().node_presence(&self.settings.name);
        self.bus.publish(subject, presence::written(&presence)).await;
    }

    /// Whether nobody can be waiting for a place here: more than half are free, and few were taken since that was said.
    fn has_places_enough(&self) -> bool {
        let places = self.settings.places;
        places >= PLACES_ENOUGH
            && self.places_free() > places / 2
            && self.state.lock().taken_since_said < places / 4
    }

    fn places_free(&self) -> usize {
        let (_, free) = self.given.gateway.places();
        self.settings.places.saturating_sub(self.state.lock().links.len()).min(free)
    }

    fn presence(&self) -> NodePresence {
        let free = self.places_free();
        let state = self.state.lock();
        let places = self.settings.places;
        NodePresence {
            wire: WIRE_VERSION,
            worker_protocol: gristmill_gateway::WORKER_PROTOCOL_VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            incarnation: self.incarnation,
            up_s: self.began.elapsed().as_secs(),
            places: u32::try_from(places).unwrap_or(u32::MAX),
            free: u32::try_from(free).unwrap_or(u32::MAX),
            engines: self.engines.clone(),
            levels: self.levels.clone(),
            labels: self.settings.labels.clone(),
            draining: state.draining || state.stopping,
        }
    }
}

/// For ever, if there is nothing to wait for.
async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => pending().await,
    }
}

impl State {
    fn lose(&mut self, gateway: &NodeName) {
        for link in self.links.values().filter(|link| link.gateway == *gateway) {
            link.lost.cancel();
        }
    }
}

/// A link is known until its task has ended.
struct Closes {
    node: Arc<Node>,
    link: LinkId,
}

impl Drop for Closes {
    fn drop(&mut self) {
        let mut state = self.node.state.lock();
        state.links.remove(&self.link);
        if state.ended.len() >= ENDED_MAX {
            state.ended.pop_front();
        }
        state.ended.push_back(self.link);
        drop(state);
        self.node.given.changed.notify_one();
    }
}
