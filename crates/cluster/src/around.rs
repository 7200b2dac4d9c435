//! A look around: which machines there are, and orders for them.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::StreamExt;

use crate::bus::{Bus, BusError};
use crate::names::NodeName;
use crate::presence::{self, GatewaySeen, LOOK_AROUND, NodePresence, NodeSeen};
use crate::subjects::Heard;
use crate::wire::Order;

/// How long an order may take to show.
const OBEYED_WITHIN: Duration = Duration::from_secs(3);

/// Everybody who was heard, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    pub nodes: Vec<NodeSeen>,
    pub gateways: Vec<GatewaySeen>,
    /// What the server doesn't let us hear: that nobody is listed says nothing then.
    pub nodes_refused: bool,
    pub gateways_refused: bool,
}

/// An order that nobody obeys.
#[derive(Debug, thiserror::Error)]
pub enum OrderError {
    #[error(transparent)]
    Bus(#[from] BusError),
    /// It isn't there.
    #[error("there is no node {node}; {known}")]
    NoSuchNode { node: NodeName, known: String },
    /// It is there and does something else.
    #[error("the node {0} doesn't answer; is this machine's NKey permitted to give orders?")]
    NotObeyed(NodeName),
}

/// Listens for this long.
pub async fn look_around(bus: &Bus, how_long: Duration) -> Result<Surroundings, BusError> {
    let mut nodes = bus.subscribe(bus.subjects().all_nodes()).await?;
    let mut gateways = bus.subscribe(bus.subjects().all_gateways()).await?;
    let (mut seen_nodes, mut seen_gateways) = (BTreeMap::new(), BTreeMap::new());
    let until = tokio::time::Instant::now() + how_long;
    loop {
        let message = tokio::select! {
            () = tokio::time::sleep_until(until) => break,
            message = nodes.next() => message,
            message = gateways.next() => message,
        };
        let Some(message) = message else { break };
        match bus.subjects().read(&message.subject) {
            Some(Heard::Node(name)) => {
                if let Some(presence) = presence::read::<NodePresence>(&message.payload) {
                    seen_nodes.insert(name.clone(), NodeSeen { name, presence });
                }
            }
            Some(Heard::Gateway(name)) => {
                if let Some((presence, role)) = presence::read_gateway(&message.payload) {
                    seen_gateways.insert(name.clone(), GatewaySeen { name, presence, role });
                }
            }
            Some(Heard::Link { .. } | Heard::Order) | None => {}
        }
    }
    let nodes = seen_nodes.into_values().collect();
    Ok(Surroundings {
        nodes,
        gateways: seen_gateways.into_values().collect(),
        nodes_refused: bus.is_refused(&bus.subjects().all_nodes()),
        gateways_refused: bus.is_refused(&bus.subjects().all_gateways()),
    })
}

/// Orders a node to do something, and waits until it says that it does.
pub async fn order(bus: &Bus, node: &NodeName, order: Order) -> Result<NodeSeen, OrderError> {
    let mut words = bus.subscribe(bus.subjects().node_presence(node)).await?;
    let payload = postcard::to_stdvec(&order).unwrap_or_default();
    bus.publish(bus.subjects().order(node), payload).await;
    bus.flush().await?;
    let mut heard = false;
    let obeyed = async {
        while let Some(message) = words.next().await {
            let Some(presence) = presence::read::<NodePresence>(&message.payload) else { continue };
            heard = true;
            if presence.draining == (order == Order::Drain) {
                return Some(NodeSeen { name: node.clone(), presence });
            }
        }
        None
    };
    if let Ok(Some(seen)) = tokio::time::timeout(OBEYED_WITHIN, obeyed).await {
        return Ok(seen);
    }
    if heard {
        return Err(OrderError::NotObeyed(node.clone()));
    }
    let known = look_around(bus, LOOK_AROUND).await?.nodes;
    let known: Vec<_> = known.iter().map(|seen| seen.name.as_str()).collect();
    let known = match known.as_slice() {
        [] => "none is there".to_owned(),
        [one] => format!("there is only {one}"),
        many => format!("there are {}", many.join(", ")),
    };
    Err(OrderError::NoSuchNode { node: node.clone(), known })
}
