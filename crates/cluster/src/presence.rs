//! What machines say of themselves: twice a second, and at once when something changed.

use std::time::Duration;

use gristmill_gateway::EngineId;
use gristmill_gateway::domain::Level;
use serde::{Deserialize, Serialize};

use crate::names::{Label, NodeName};
use crate::wire::WIRE_VERSION;

/// Between two words of a machine that has nothing to tell.
pub(crate) const SAID_EVERY: Duration = Duration::from_millis(500);

/// A node that is silent for so long is lost: six of its words are missing.
pub(crate) const NODE_LOST_AFTER: Duration = Duration::from_secs(3);

/// The same of a gateway, for its nodes. Longer: a program that is ended in vain is worse than one that runs a
/// second for nobody.
pub(crate) const GATEWAY_LOST_AFTER: Duration = Duration::from_secs(4);

/// How long one looks around to have heard everybody.
pub const LOOK_AROUND: Duration = Duration::from_millis(1_500);

/// Longer words are no presence.
pub(crate) const PRESENCE_BYTES_MAX: usize = 8 * 1024;

/// A node that takes programs, or will again. What a later version adds goes to the end, so that an older one reads
/// the beginning and can say that it's another version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodePresence {
    /// Of its messages; others are left alone.
    pub wire: u16,
    /// Of its workers' messages, which a gateway reads.
    pub worker_protocol: u32,
    /// Of the build, for people.
    pub version: String,
    /// Another one under the same name is another process.
    pub incarnation: u64,
    /// Since it started.
    pub up_s: u64,
    pub places: u32,
    pub free: u32,
    #[serde(with = "texts")]
    pub engines: Vec<EngineId>,
    #[serde(with = "texts")]
    pub levels: Vec<Level>,
    pub labels: Vec<Label>,
    /// Takes nothing new.
    pub draining: bool,
}

/// A gateway that may have programs on nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GatewayPresence {
    pub wire: u16,
    pub version: String,
    pub incarnation: u64,
    pub up_s: u64,
    /// Its programs on nodes, and those that wait for one.
    pub on_nodes: u32,
    pub waiting: u32,
}

/// What a gateway is to the state that gateways share. Said behind its presence, where builds that share none say and
/// read nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StateRole {
    /// It has a state of its own.
    #[default]
    Own,
    Leads,
    StandsBy,
}

impl StateRole {
    const ALL: [(u8, Self); 3] = [(0, Self::Own), (1, Self::Leads), (2, Self::StandsBy)];

    fn said(self) -> u8 {
        Self::ALL.into_iter().find(|(_, role)| *role == self).map_or(0, |(said, _)| said)
    }
}

/// A node that was heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSeen {
    pub name: NodeName,
    pub presence: NodePresence,
}

/// A gateway that was heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewaySeen {
    pub name: NodeName,
    pub presence: GatewayPresence,
    pub role: StateRole,
}

impl NodePresence {
    /// Whether this build can use it, and if not, why.
    pub fn speaks_another_version(&self) -> Option<String> {
        let ours = gristmill_gateway::WORKER_PROTOCOL_VERSION;
        match (self.wire == WIRE_VERSION, self.worker_protocol == ours) {
            (true, true) => None,
            (false, _) => Some(format!("speaks version {} and not {WIRE_VERSION}", self.wire)),
            (true, false) => Some(format!("has workers of version {} and not {ours}", self.worker_protocol)),
        }
    }
}

/// From the bus: hostile until it is read.
pub(crate) fn read<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    (bytes.len() <= PRESENCE_BYTES_MAX).then(|| postcard::from_bytes(bytes).ok()).flatten()
}

/// A gateway's, with its role.
pub(crate) fn read_gateway(bytes: &[u8]) -> Option<(GatewayPresence, StateRole)> {
    let bytes = (bytes.len() <= PRESENCE_BYTES_MAX).then_some(bytes)?;
    let (presence, rest) = postcard::take_from_bytes(bytes).ok()?;
    let said = rest.first().copied().unwrap_or_default();
    let role = StateRole::ALL.into_iter().find(|(one, _)| *one == said).map(|(_, role)| role);
    Some((presence, role.unwrap_or_default()))
}

pub(crate) fn written_gateway(presence: &GatewayPresence, role: StateRole) -> Vec<u8> {
    let mut said = written(presence);
    said.push(role.said());
    said
}

pub(crate) fn written<T: Serialize>(presence: &T) -> Vec<u8> {
    // Plain values: it can't fail.
    postcard::to_stdvec(presence).unwrap_or_default()
}

/// Values that have names, as those.
mod texts {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<T: Display, S: Serializer>(values: &[T], serializer: S) -> Result<S::Ok, S::Error> {
        values.iter().map(T::to_string).collect::<Vec<_>>().serialize(serializer)
    }

    /// Names of a later version are left out: this build asks for none of them.
    pub fn deserialize<'de, T: FromStr, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
        let names = Vec::<String>::deserialize(deserializer)?;
        Ok(names.iter().filter_map(|name| name.parse().ok()).collect())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A node as most are.
    pub(crate) fn presence() -> NodePresence {
        NodePresence {
            wire: WIRE_VERSION,
            worker_protocol: gristmill_gateway::WORKER_PROTOCOL_VERSION,
            version: "0.1.0".to_owned(),
            incarnation: 1,
            up_s: 5,
            places: 4,
            free: 4,
            engines: vec![EngineId::Python, EngineId::TypeScript],
            levels: vec![Level::Production],
            labels: Vec::new(),
            draining: false,
        }
    }

    #[test]
    fn a_later_version_that_says_more_is_still_seen_as_another_version() {
        let later = NodePresence { wire: WIRE_VERSION + 1, version: "9.0.0".to_owned(), ..presence() };
        let said = [written(&later), vec![1, 2, 3]].concat();
        let read = read::<NodePresence>(&said).unwrap();
        assert_eq!(read, later);
        assert_eq!(
            read.speaks_another_version(),
            Some(format!("speaks version {} and not {WIRE_VERSION}", WIRE_VERSION + 1))
        );
    }

    #[test]
    fn a_gateway_says_what_it_is_to_the_shared_state_and_others_may_not_know() {
        let presence = GatewayPresence {
            wire: 1,
            version: "0.1.0".to_owned(),
            incarnation: 1,
            up_s: 5,
            on_nodes: 0,
            waiting: 2,
        };
        for role in [StateRole::Own, StateRole::Leads, StateRole::StandsBy] {
            let said = written_gateway(&presence, role);
            assert_eq!(read_gateway(&said), Some((presence.clone(), role)));
            assert_eq!(read::<GatewayPresence>(&said), Some(presence.clone()));
        }
        assert_eq!(read_gateway(&written(&presence)), Some((presence.clone(), StateRole::Own)));
        let later = [written(&presence), vec![9, 9]].concat();
        assert_eq!(read_gateway(&later), Some((presence, StateRole::Own)));
        assert_eq!(read_gateway(b"\xff"), None);
    }

    #[test]
    fn what_a_machine_says_reads_back_and_anything_else_is_nothing() {
        let said = written(&presence());
        assert_eq!(read::<NodePresence>(&said), Some(presence()));
        assert_eq!(read::<NodePresence>(&said[..said.len() / 2]), None);
        assert_eq!(read::<NodePresence>(&vec![0; PRESENCE_BYTES_MAX + 1]), None);
        assert_eq!(read::<NodePresence>(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), None);
    }
}
