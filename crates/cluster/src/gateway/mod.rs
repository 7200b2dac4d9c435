//! The gateway's side: which nodes there are, who gets a place, and a task for each program that is on one.

mod control;
mod folders;
mod no_place;
mod outward;
mod program;
mod queue;
mod roster;
mod stage;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::StreamExt;
use gristmill_gateway::ids::Owner;
use gristmill_gateway::ports::{
    BoxFuture, NoNode, RemoteHome, RemoteProgram, RemoteWorker, RemoteWorkers, RunWhere,
};
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::bus::{Bus, BusError, LOG_AREA, PACKETS_MAX};
use crate::folders::TreeHashes;
use crate::names::{Label, LinkId, NodeName, new_incarnation};
use crate::presence::{self, GatewayPresence, NodePresence, SAID_EVERY, StateRole};
use crate::subjects::Heard;
use crate::wire::WIRE_VERSION;
use program::{Offered, offer};
use queue::{FairQueue, Turn};
use roster::{Picked, Roster, Wanted};

/// How long a program waits for a node that fits, if there is none: one may just be starting again.
const FITTING_WAIT: Duration = Duration::from_secs(5);

/// Where a program is to run, and what its node must be.
pub type Placing = Arc<dyn Fn(&RemoteProgram) -> (RunWhere, Vec<Label>) + Send + Sync>;

pub struct NodesSettings {
    /// This gateway, on the bus.
    pub name: NodeName,
    pub placing: Placing,
    /// Where what is on its way lies while it's too large for memory; a folder of our own.
    pub scratch: PathBuf,
    /// How long a program waits for a place, if all are taken.
    pub place_wait: Duration,
    /// What this gateway is to the state that gateways share.
    pub role: StateRole,
}

/// The nodes that programs of a gateway may run on. What it does ends with it.
pub struct Nodes {
    inner: Arc<Inner>,
    _ends: DropGuard,
}

struct Inner {
    bus: Bus,
    settings: NodesSettings,
    trees: TreeHashes,
    state: Mutex<State>,
    incarnation: u64,
    began: Instant,
}

#[derive(Default)]
struct State {
    roster: Roster,
    queue: FairQueue<Wish>,
    links: HashMap<LinkId, LinkEntry>,
}

/// Somebody who waits for a place.
struct Wish {
    wanted: Wanted,
    answer: oneshot::Sender<(NodeName, u64)>,
}

/// A link that is open.
struct LinkEntry {
    node: NodeName,
    incarnation: u64,
    packets: mpsc::Sender<Bytes>,
    lost: CancellationToken,
}

impl Nodes {
    /// Listens for nodes from here on.
    pub async fn start(bus: Bus, settings: NodesSettings) -> Result<Self, BusError> {
        let nodes = bus.subscribe(bus.subjects().all_nodes()).await?;
        let packets = bus.subscribe(bus.subjects().for_gateway(&settings.name)).await?;
        bus.is_permitted().await?;
        let ended = CancellationToken::new();
        let inner = Arc::new(Inner {
            bus,
            settings,
            trees: TreeHashes::default(),
            state: Mutex::default(),
            incarnation: new_incarnation()?,
            began: Instant::now(),
        });
        tokio::spawn(listen(Arc::clone(&inner), nodes, packets, ended.clone()));
        Ok(Self { inner, _ends: ended.drop_guard() })
    }
}

impl RemoteWorkers for Nodes {
    fn place_of(&self, program: &RemoteProgram) -> RunWhere {
        (self.inner.settings.placing)(program).0
    }

    fn take(
        &self,
        program: RemoteProgram,
        home: RemoteHome,
    ) -> BoxFuture<'static, Result<RemoteWorker, NoNode>> {
        Box::pin(take(Arc::clone(&self.inner), program, home))
    }
}

async fn take(inner: Arc<Inner>, program: RemoteProgram, home: RemoteHome) -> Result<RemoteWorker, NoNode> {
    let labels = (inner.settings.placing)(&program).1;
    let RemoteProgram { engine, level, owner, .. } = program;
    let mut wanted = Wanted { engine, level, labels, refused_by: Vec::new() };
    let until = Instant::now() + inner.settings.place_wait;
    let home = Arc::new(home);
    loop {
        let (node, incarnation) = place(&inner, &owner, &wanted, until).await?;
        match offer(&inner, (node.clone(), incarnation), (engine, level), &home).await {
            Offered::Taken(worker) => return Ok(worker),
            Offered::Full => inner.state.lock().roster.is_full(&node),
            Offered::Lost => {}
            Offered::Never(why) => {
                tracing::warn!(target: LOG_AREA, %node, %why, "a node refuses a program");
                wanted.refused_by.push((node, why));
            }
            Offered::Failed(why) => {
                let hint =
                    "if the workspace is very large, make it smaller; otherwise run it again".to_owned();
                return Err(NoNode { why: format!("{why}; nothing ran"), hint });
            }
        }
    }
}

/// Waits for a node with a place.
async fn place(
    inner: &Inner,
    owner: &Owner,
    wanted: &Wanted,
    until: Instant,
) -> Result<(NodeName, u64), NoNode> {
    let (answer, mut answered) = oneshot::channel();
    let number = inner.state.lock().queue.join(owner, Wish { wanted: wanted.clone(), answer });
    let _leaves = Leaves { inner, owner, number };
    inner.serve();
    let fitting_until = (Instant::now() + FITTING_WAIT).min(until);
    loop {
        let pick = inner.state.lock().roster.pick(wanted, Instant::now());
        let wait = match pick {
            Picked::NoneFits => fitting_until,
            Picked::Full | Picked::Node { .. } => until,
        };
        tokio::select! {
            biased;
            answer = &mut answered => match answer {
                Ok(node) => return Ok(node),
                Err(_) => return Err(no_place(inner, wanted)),
            },
            () = tokio::time::sleep_until(wait.into()) => {
                let pick = inner.state.lock().roster.pick(wanted, Instant::now());
                if pick == Picked::NoneFits || Instant::now() >= until {
                    return Err(no_place(inner, wanted));
                }
            }
        }
    }
}

/// Whoever doesn't wait any more leaves the queue.
struct Leaves<'a> {
    inner: &'a Inner,
    owner: &'a Owner,
    number: u64,
}

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        self.inner.state.lock().queue.leave(self.owner, self.number);
    }
}

fn no_place(inner: &Inner, wanted: &Wanted) -> NoNode {
    if !inner.bus.is_connected() {
        return no_place::without_a_bus(wanted);
    }
    let (now, state) = (Instant::now(), inner.state.lock());
    let (why_not, picked) = (state.roster.why_not(wanted, now), state.roster.pick(wanted, now));
    no_place::explained(wanted, &why_not, &picked, inner.settings.place_wait)
}

impl Inner {
    /// Gives out the places that there are.
    fn serve(&self) {
        let mut state = self.state.lock();
        let State { roster, queue, .. } = &mut *state;
        let now = Instant::now();
        queue.serve(|wish| {
            if wish.answer.is_closed() {
                return Turn::Placed;
            }
            match roster.pick(&wish.wanted, now) {
                Picked::Node { name, incarnation } => {
                    roster.gave(&name);
                    let _ = wish.answer.send((name, incarnation));
                    Turn::Placed
                }
                Picked::Full | Picked::NoneFits => Turn::Not(wish),
            }
        });
    }

    fn node_spoke(&self, name: NodeName, payload: &[u8]) {
        let Some(presence) = presence::read::<NodePresence>(payload) else { return };
        let replaced = {
            let mut state = self.state.lock();
            let replaced = state.roster.heard(name.clone(), presence, Instant::now());
            if let Some(incarnation) = replaced {
                state.lose(|link| link.node == name && link.incarnation == incarnation);
            }
            replaced
        };
        if replaced.is_some() {
            tracing::warn!(target: LOG_AREA, node = %name, "a node has started again; what ran there is lost");
        }
        self.serve();
    }

    async fn packet_came(&self, from: NodeName, link: LinkId, payload: Bytes) {
        let packets = {
            let state = self.state.lock();
            state.links.get(&link).filter(|known| known.node == from).map(|known| known.packets.clone())
        };
        match packets {
            // What has no room is sent again.
            Some(packets) => drop(packets.try_send(payload)),
            // It keeps a worker for nobody.
            None if !payload.is_empty() => {
                let subject = self.bus.subjects().to_node(&from, &self.settings.name, link);
                self.bus.publish(subject, Vec::new()).await;
            }
            None => {}
        }
    }

    fn lose_silent(&self) {
        let mut state = self.state.lock();
        let lost = state.roster.lose_silent(Instant::now());
        for node in lost {
            tracing::warn!(target: LOG_AREA, %node, "a node is lost");
            state.lose(|link| link.node == node);
        }
    }

    async fn say_presence(&self) {
        let presence = {
            let state = self.state.lock();
            GatewayPresence {
                wire: WIRE_VERSION,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                incarnation: self.incarnation,
                up_s: self.began.elapsed().as_secs(),
                on_nodes: state.links.len() as u32,
                waiting: state.queue.len() as u32,
            }
        };
        let subject = self.bus.subjects().gateway_presence(&self.settings.name);
        self.bus.publish(subject, presence::written_gateway(&presence, self.settings.role)).await;
    }

    /// A link to a process on a node. Closed when what is returned is dropped.
    fn open_link(self: &Arc<Self>, node: &NodeName, incarnation: u64) -> Result<OpenLink, getrandom::Error> {
        let id = LinkId::new()?;
        let (packets, received) = mpsc::channel(PACKETS_MAX);
        let lost = CancellationToken::new();
        let entry = LinkEntry { node: node.clone(), incarnation, packets, lost: lost.clone() };
        self.state.lock().links.insert(id, entry);
        Ok(OpenLink { inner: Arc::clone(self), id, lost, received: Some(received) })
    }
}

impl State {
    fn lose(&mut self, is_lost: impl Fn(&LinkEntry) -> bool) {
        for link in self.links.values().filter(|link| is_lost(link)) {
            link.lost.cancel();
        }
    }
}

/// See [`Inner::open_link`].
struct OpenLink {
    inner: Arc<Inner>,
    id: LinkId,
    lost: CancellationToken,
    received: Option<mpsc::Receiver<Bytes>>,
}

impl Drop for OpenLink {
    fn drop(&mut self) {
        self.inner.state.lock().links.remove(&self.id);
    }
}

/// Hears the bus until the gateway ends.
async fn listen(
    inner: Arc<Inner>,
    mut nodes: async_nats::Subscriber,
    mut packets: async_nats::Subscriber,
    ended: CancellationToken,
) {
    let mut tick = tokio::time::interval(SAID_EVERY);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    // Before any program leaves: what nodes run for the one that was here before is lost with it.
    inner.say_presence().await;
    loop {
        let message = tokio::select! {
            () = ended.cancelled() => return,
            _ = tick.tick() => {
                inner.lose_silent();
                inner.serve();
                inner.say_presence().await;
                continue;
            }
            message = nodes.next() => message,
            message = packets.next() => message,
        };
        // The client ends its subscriptions only when it is closed.
        let Some(message) = message else { return };
        match inner.bus.subjects().read(&message.subject) {
            Some(Heard::Node(name)) => inner.node_spoke(name, &message.payload),
            Some(Heard::Link { from, link }) => inner.packet_came(from, link, message.payload).await,
            Some(Heard::Gateway(_) | Heard::Order) | None => {}
        }
    }
}
