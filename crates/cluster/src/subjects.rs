//! Subjects of the bus. A machine speaks under its own name only, and hears what is meant for it: the permissions of
//! its NKey hold it to that.

use crate::names::{ClusterName, LinkId, NodeName};

/// What is heard on a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// A node says how it is.
    Node(NodeName),
    /// A gateway says that it is there.
    Gateway(NodeName),
    /// A packet of a link, from that machine.
    Link { from: NodeName, link: LinkId },
    /// An order for this node.
    Order,
}

#[derive(Clone, Debug)]
pub(crate) struct Subjects {
    prefix: String,
}

impl Subjects {
    pub fn of(cluster: &ClusterName) -> Self {
        Self { prefix: format!("gm.{cluster}") }
    }

    pub fn node_presence(&self, node: &NodeName) -> String {
        format!("{}.here.{node}", self.prefix)
    }

    pub fn gateway_presence(&self, gateway: &NodeName) -> String {
        format!("{}.gate.{gateway}", self.prefix)
    }

    pub fn to_node(&self, node: &NodeName, gateway: &NodeName, link: LinkId) -> String {
        format!("{}.n.{node}.l.{gateway}.{link}", self.prefix)
    }

    pub fn to_gateway(&self, gateway: &NodeName, node: &NodeName, link: LinkId) -> String {
        format!("{}.g.{gateway}.l.{node}.{link}", self.prefix)
    }

    pub fn order(&self, node: &NodeName) -> String {
        format!("{}.n.{node}.order", self.prefix)
    }

    pub fn all_nodes(&self) -> String {
        format!("{}.here.*", self.prefix)
    }

    pub fn all_gateways(&self) -> String {
        format!("{}.gate.*", self.prefix)
    }

    pub fn for_node(&self, node: &NodeName) -> String {
        format!("{}.n.{node}.>", self.prefix)
    }

    pub fn for_gateway(&self, gateway: &NodeName) -> String {
        format!("{}.g.{gateway}.>", self.prefix)
    }

    /// To a gateway about a connection that one of both passes on to the other.
    pub fn relayed(&self, to: &NodeName, from: &NodeName, link: LinkId) -> String {
        format!("{}.r.{to}.l.{from}.{link}", self.prefix)
    }

    pub fn for_relay(&self, gateway: &NodeName) -> String {
        format!("{}.r.{gateway}.>", self.prefix)
    }

    /// The log of the state that gateways share.
    pub fn state_log(&self) -> String {
        format!("{}.state.log", self.prefix)
    }

    /// Where the latest snapshot of that state is.
    pub fn state_snapshot(&self) -> String {
        format!("{}.state.snapshot", self.prefix)
    }

    /// One part of a blob, whose name is in hex.
    pub fn blob_part(&self, blob: &str, part: u32) -> String {
        format!("{}.blob.{blob}.{part}", self.prefix)
    }

    pub fn blob_parts(&self, blob: &str) -> String {
        format!("{}.blob.{blob}.*", self.prefix)
    }

    pub fn all_blob_parts(&self) -> String {
        format!("{}.blob.*.*", self.prefix)
    }

    /// A blob's name in hex and the number of a part, as a subject has them.
    pub fn read_blob_part<'a>(&self, subject: &'a str) -> Option<(&'a str, u32)> {
        let rest = subject.strip_prefix(&self.prefix)?.strip_prefix(".blob.")?;
        let (blob, part) = rest.split_once('.')?;
        Some((blob, part.parse().ok()?))
    }

    /// The stream that keeps the log and the place of the snapshot.
    pub fn state_stream(&self) -> String {
        self.stream("STATE")
    }

    /// The stream that keeps blobs.
    pub fn blobs_stream(&self) -> String {
        self.stream("BLOBS")
    }

    /// Names of streams can't have dots, and by custom are in capitals.
    fn stream(&self, what: &str) -> String {
        format!("{}_{what}", self.prefix.to_uppercase().replace(['.', '-'], "_"))
    }

    /// What a subject says; `None` for one that is none of ours.
    pub fn read(&self, subject: &str) -> Option<Heard> {
        let rest = subject.strip_prefix(&self.prefix)?.strip_prefix('.')?;
        let parts: Vec<&str> = rest.split('.').collect();
        match parts.as_slice() {
            ["here", node] => Some(Heard::Node(node.parse().ok()?)),
            ["gate", gateway] => Some(Heard::Gateway(gateway.parse().ok()?)),
            ["n" | "g" | "r", _, "l", from, link] => {
                Some(Heard::Link { from: from.parse().ok()?, link: LinkId::read(link)? })
            }
            ["n", _, "order"] => Some(Heard::Order),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subject_reads_back() {
        let subjects = Subjects::of(&"team".parse().unwrap());
        let (node, gateway): (NodeName, NodeName) = ("n-1".parse().unwrap(), "g-1".parse().unwrap());
        let link = LinkId::new().unwrap();
        let heard = [
            (subjects.node_presence(&node), Some(Heard::Node(node.clone()))),
            (subjects.gateway_presence(&gateway), Some(Heard::Gateway(gateway.clone()))),
            (subjects.to_node(&node, &gateway, link), Some(Heard::Link { from: gateway.clone(), link })),
            (subjects.to_gateway(&gateway, &node, link), Some(Heard::Link { from: node.clone(), link })),
            (subjects.relayed(&node, &gateway, link), Some(Heard::Link { from: gateway.clone(), link })),
            (subjects.order(&node), Some(Heard::Order)),
            ("gm.team.n.n-1.l.g-1.zz".to_owned(), None),
            ("gm.teams.here.n-1".to_owned(), None),
            ("gm.team".to_owned(), None),
        ];
        for (subject, expected) in heard {
            assert_eq!(subjects.read(&subject), expected, "{subject}");
        }
    }
}
