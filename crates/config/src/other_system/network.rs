//! What a file of another system says about the network: whether there is one, and which hosts can be reached.

use gristmill_gateway::domain::AllowedHost;

use super::{Becomes, GROUPS, Translating, flag, list, setting, texts};
use crate::tree::{Entry, Node};

/// What a file says about the network, wherever it does.
#[derive(Clone, Copy, Default)]
pub(super) struct Network {
    pub is_off: bool,
    pub names_hosts: bool,
}

impl Network {
    pub fn of(tree: &Node) -> Self {
        let mut network = Self::default();
        let groups = tree.entries().iter().filter(|entry| GROUPS.contains(&entry.key.as_str()));
        let inner =
            groups.flat_map(|group| group.node.entries().iter().map(move |entry| (Some(group), entry)));
        for (group, entry) in tree.entries().iter().map(|entry| (None, entry)).chain(inner) {
            let is_switch = matches!(entry.key.as_str(), "allow_network_access" | "allow_network")
                || (entry.key == "enabled" && group.is_some_and(|group| group.key == "network"));
            network.is_off |= is_switch && flag(&entry.node) == Some(false);
            network.names_hosts |=
                entry.key == "allowed_hosts" && texts(&entry.node).is_some_and(|hosts| !hosts.is_empty());
        }
        network
    }
}

impl Translating {
    pub(super) fn network(&mut self, entry: &Entry, path: &str) {
        match flag(&entry.node) {
            None => self.not_taken(entry, path, "it isn't true or false"),
            Some(false) => self.row(entry, path, Becomes::AlreadySo("programs have no network")),
            Some(true) if self.network.names_hosts => {
                self.row(entry, path, Becomes::AlreadySo("`allowed_hosts` says what programs can reach"));
            }
            Some(true) => self.nothing(
                entry,
                path,
                "programs have no network of their own; name the hosts they may reach in `allowed_hosts`",
            ),
        }
    }

    pub(super) fn hosts(&mut self, entry: &Entry, path: &str) {
        let Some(hosts) = texts(&entry.node) else {
            return self.not_taken(entry, path, "it isn't a list of hosts");
        };
        if hosts.is_empty() {
            return self.row(entry, path, Becomes::AlreadySo("programs have no network"));
        }
        if self.network.is_off {
            return self.not_taken(entry, path, "the same file turns the network off");
        }
        if hosts.iter().any(|host| host.trim_matches('.') == "*") {
            let why = "every host can't be allowed at once; name those that are needed";
            return self.not_taken(entry, path, why);
        }
        let notes: Vec<String> = hosts.iter().filter_map(|host| https_note(host)).collect();
        self.set_with_note(entry, path, setting("network", "allowed_hosts", list(hosts)), &notes.concat());
    }
}

/// Hosts of this machine mostly speak http, and a host without a scheme means https.
fn https_note(host: &str) -> Option<String> {
    let with_http = format!("http://{host}");
    let is_own =
        !host.contains("://") && AllowedHost::read(&with_http).is_some_and(|host| host.keeps_secrets());
    is_own.then(|| format!(" (https; write {with_http} for http)"))
}
