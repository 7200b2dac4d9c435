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

    /// What a subject says; `None` for one that is none of ours.
    pub fn read(&self, subject: &str) -> Option<Heard> {
        let rest = subject.strip_prefix(&self.prefix)?.strip_prefix('.')?;
        let parts: Vec<&str> = rest.split('.').collect();
        match parts.as_slice() {
            ["here", node] => Some(Heard::Node(node.parse().ok()?)),
            ["gate", gateway] => Some(Heard::Gateway(gateway.parse().ok()?)),
            ["n" | "g", _, "l", from, link] => {
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
