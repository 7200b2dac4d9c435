//! What `gristmill doctor` finds out about the cluster: whether the bus can be reached, and who is heard there.

use gristmill_config::cluster_table::ClusterConfig;
use gristmill_config::{self as config, BusUrl, ClusterSettings, Flags, Surroundings};
use gristmill_gateway::domain::counted_grouped;
use serde::Serialize;

#[cfg(feature = "cluster")]
use super::doctor_servers::words;
use crate::arguments::ConfigFile;
use crate::cluster;
use crate::terminal::print_after;

/// Names that are shown of one kind; `--json` has all of them.
const NAMED_MAX: usize = 6;

/// The cluster that `[cluster]` is about.
#[derive(Serialize)]
pub struct ClusterFinding {
    /// `ok`, `wrong`, or `not built` where this build has no clusters.
    state: &'static str,
    cluster: String,
    /// Servers of its bus.
    nats: Vec<String>,
    /// What this machine is called there.
    node: String,
    tls: bool,
    nkey: bool,
    /// Those that were heard; absent if this machine can't hear them.
    nodes: Option<Vec<HeardNode>>,
    gateways: Option<Vec<String>>,
    problem: Option<String>,
    remedy: Option<String>,
    /// The problem in a few words.
    #[serde(skip)]
    trouble: Option<&'static str>,
}

#[derive(Serialize)]
struct HeardNode {
    name: String,
    /// As `gristmill cluster status` has it.
    state: &'static str,
}

impl ClusterFinding {
    /// None where no cluster is configured. Whoever reads the servers names the mistakes of a configuration.
    pub async fn look(file: &ConfigFile) -> Option<Self> {
        let surroundings = Surroundings::of_this_process().ok()?;
        let flags = Flags { config: file.config.clone(), ..Flags::default() };
        let (config, _) = config::load(&surroundings, &flags).into_result().ok()?;
        let settings = config.cluster.settings.as_ref()?;
        Some(Self::configured(settings).tried(settings, &config.cluster).await)
    }

    fn configured(settings: &ClusterSettings) -> Self {
        let nats: Vec<String> = settings.urls.iter().map(BusUrl::as_str).map(str::to_owned).collect();
        Self {
            state: "ok",
            cluster: settings.name.clone(),
            tls: nats.iter().all(|url| url.starts_with("tls://")),
            nats,
            node: settings.node.clone().unwrap_or_else(cluster::host_node_name),
            nkey: settings.nkey.is_some(),
            nodes: None,
            gateways: None,
            problem: None,
            remedy: None,
            trouble: None,
        }
    }

    /// A gateway that is told to be in a cluster doesn't start.
    #[cfg(not(feature = "cluster"))]
    async fn tried(self, _settings: &ClusterSettings, _cluster: &ClusterConfig) -> Self {
        Self {
            state: "not built",
            problem: Some(
                "this build has no cluster support, and `gristmill serve` refuses `[cluster]`".to_owned(),
            ),
            remedy: Some(format!("{}, or remove the table", cluster::HOW_TO_BUILD)),
            trouble: Some("this build has no cluster support"),
            ..self
        }
    }

    #[cfg(feature = "cluster")]
    async fn tried(self, settings: &ClusterSettings, cluster: &ClusterConfig) -> Self {
        match cluster::heard(cluster).await {
            Ok(heard) => self.hears(settings, heard),
            Err(failure) => self.wrong(
                "the cluster's bus can't be reached",
                words(&failure),
                "start the NATS server, or correct `nats`, `nkey` and `ca` under [cluster]",
            ),
        }
    }

    #[cfg(feature = "cluster")]
    fn hears(mut self, settings: &ClusterSettings, heard: gristmill_cluster::Surroundings) -> Self {
        use gristmill_gateway::ports::RunWhere;

        let needs_nodes = settings
            .places
            .iter()
            .map(|rule| rule.run)
            .chain([settings.run])
            .any(|run| run == RunWhere::Nodes);
        let node = |seen: &gristmill_cluster::NodeSeen| HeardNode {
            name: seen.name.to_string(),
            state: cluster::state_of(&seen.presence),
        };
        self.nodes = (!heard.nodes_refused).then(|| heard.nodes.iter().map(node).collect());
        self.gateways = (!heard.gateways_refused)
            .then(|| heard.gateways.iter().map(|seen| seen.name.to_string()).collect());
        let is_ready = |nodes: &Vec<HeardNode>| nodes.iter().any(|node| node.state == "ready");
        match (&self.nodes, &self.gateways) {
            (None, None) => self.wrong(
                "the cluster's bus refuses this machine",
                "this machine's NKey isn't permitted to hear nodes or gateways".to_owned(),
                "permit it the subjects that `gristmill help cluster` lists",
            ),
            (None, Some(_)) if needs_nodes => self.wrong(
                "the cluster's bus refuses this machine",
                "programs are to run on nodes, and this machine's NKey isn't permitted to hear any".to_owned(),
                "permit it what a gateway needs: `gristmill help cluster` lists the subjects",
            ),
            (Some(nodes), _) if needs_nodes && !is_ready(nodes) => self.wrong(
                "no node is ready",
                "programs are to run on nodes, and none is ready: they are refused with GM-4005".to_owned(),
                "start one with `gristmill worker-node`; `gristmill cluster status` says more of those that are there",
            ),
            _ => self,
        }
    }

    #[cfg(feature = "cluster")]
    fn wrong(self, trouble: &'static str, problem: String, remedy: &str) -> Self {
        Self {
            state: "wrong",
            problem: Some(problem),
            remedy: Some(remedy.to_owned()),
            trouble: Some(trouble),
            ..self
        }
    }

    /// In a few words, what to look at.
    pub fn trouble(&self) -> Option<&'static str> {
        self.trouble
    }

    /// Whether the configuration can't be used by this build.
    pub fn is_misconfigured(&self) -> bool {
        self.state == "not built"
    }

    /// As a person reads it.
    pub fn print(&self) {
        println!("\ncluster:");
        for (heading, words) in self.lines() {
            print_after(heading, &words);
        }
    }

    /// Each with what stands before it.
    fn lines(&self) -> Vec<(&'static str, String)> {
        let with = match (self.tls, self.nkey) {
            (true, true) => "with TLS and an NKey",
            (true, false) => "with TLS, without an NKey",
            (false, true) => "without TLS, with an NKey",
            (false, false) => "without TLS or an NKey",
        };
        let heading = match self.state {
            "ok" => "  ok      ",
            "wrong" => "  wrong   ",
            _ => "  MISSING ",
        };
        let who = format!("{} at {}, as {}, {with}", self.cluster, self.nats.join(", "), self.node);
        let mut lines = vec![(heading, who)];
        if let Some(heard) = self.heard() {
            lines.push(("          ", heard));
        }
        lines.extend(self.problem.clone().map(|problem| ("          ", problem)));
        lines.extend(self.remedy.clone().map(|remedy| ("          fix: ", remedy)));
        lines
    }

    /// None if nobody could be heard.
    fn heard(&self) -> Option<String> {
        if self.nodes.is_none() && self.gateways.is_none() {
            return None;
        }
        let nodes = self.nodes.as_ref().map(|nodes| {
            let of = |state: &str| -> Vec<&str> {
                nodes.iter().filter(|node| node.state == state).map(|node| node.name.as_str()).collect()
            };
            let states: Vec<String> = ["ready", "draining", "other version"]
                .into_iter()
                .map(|state| (state, of(state)))
                .filter(|(_, names)| !names.is_empty())
                .map(|(state, names)| format!("{} {state} ({})", names.len(), shown(&names)))
                .collect();
            match nodes.len() {
                0 => "no node".to_owned(),
                count => format!("{}: {}", counted_grouped(count, "node"), states.join(", ")),
            }
        });
        let gateways = self.gateways.as_ref().map(|gateways| match gateways.len() {
            0 => "no gateway".to_owned(),
            count => {
                let names: Vec<&str> = gateways.iter().map(String::as_str).collect();
                format!("{}: {}", counted_grouped(count, "gateway"), shown(&names))
            }
        });
        let nodes = nodes.unwrap_or_else(|| "nodes aren't heard with this NKey".to_owned());
        let gateways = gateways.unwrap_or_else(|| "gateways aren't heard with this NKey".to_owned());
        Some(format!("{nodes}; {gateways}"))
    }
}

fn shown(names: &[&str]) -> String {
    let more = names.len().saturating_sub(NAMED_MAX);
    let first = names[..names.len() - more].join(", ");
    if more == 0 { first } else { format!("{first} and {more} more") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding() -> ClusterFinding {
        ClusterFinding {
            state: "ok",
            cluster: "team".to_owned(),
            nats: vec!["tls://a.example.com:4222".to_owned(), "tls://b.example.com:4222".to_owned()],
            node: "gateway-1".to_owned(),
            tls: true,
            nkey: true,
            nodes: Some(Vec::new()),
            gateways: Some(Vec::new()),
            problem: None,
            remedy: None,
            trouble: None,
        }
    }

    fn nodes(states: &[(&str, &'static str)]) -> Option<Vec<HeardNode>> {
        Some(states.iter().map(|(name, state)| HeardNode { name: (*name).to_owned(), state }).collect())
    }

    fn check(finding: &ClusterFinding, expected: &[&str]) {
        let lines: Vec<String> =
            finding.lines().iter().map(|(heading, words)| format!("{heading}{words}")).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_cluster_is_told_with_who_we_are_there_and_who_is_heard() {
        let who =
            "team at tls://a.example.com:4222, tls://b.example.com:4222, as gateway-1, with TLS and an NKey";
        check(&finding(), &[&format!("  ok      {who}"), "          no node; no gateway"]);
        let many = ["n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8"].map(|name| (name, "ready"));
        let others = [("d", "draining"), ("o", "other version")];
        let heard = ClusterFinding {
            nodes: nodes(&[&many[..], &others[..]].concat()),
            gateways: Some(vec!["gw".to_owned()]),
            ..finding()
        };
        check(
            &heard,
            &[
                &format!("  ok      {who}"),
                "          10 nodes: 8 ready (n1, n2, n3, n4, n5, n6 and 2 more), 1 draining (d), 1 other version (o); \
                 1 gateway: gw",
            ],
        );
        // With a gateway's key.
        let gateways_key = ClusterFinding { nodes: nodes(&[("a", "ready")]), gateways: None, ..finding() };
        check(
            &gateways_key,
            &[
                &format!("  ok      {who}"),
                "          1 node: 1 ready (a); gateways aren't heard with this NKey",
            ],
        );
    }

    #[test]
    fn a_bus_that_cannot_be_used_is_told_with_what_to_do() {
        let wrong = ClusterFinding {
            state: "wrong",
            nats: vec!["nats://127.0.0.1:4222".to_owned()],
            tls: false,
            nkey: false,
            nodes: None,
            gateways: None,
            problem: Some("no answer within 2 s".to_owned()),
            remedy: Some("start it".to_owned()),
            ..finding()
        };
        check(
            &wrong,
            &[
                "  wrong   team at nats://127.0.0.1:4222, as gateway-1, without TLS or an NKey",
                "          no answer within 2 s",
                "          fix: start it",
            ],
        );
    }

    #[cfg(feature = "cluster")]
    #[test]
    fn what_keeps_programs_from_running_is_a_problem_and_what_a_key_may_not_hear_is_not() {
        use gristmill_cluster::Surroundings as Heard;
        use gristmill_gateway::ports::RunWhere;

        let check = |run: RunWhere, heard: Heard, expected: Option<&str>| {
            let settings = ClusterSettings {
                urls: Vec::new(),
                name: "team".to_owned(),
                node: None,
                nkey: None,
                ca: None,
                client_certificate: None,
                run,
                takes: 0,
                labels: Vec::new(),
                state_key: None,
                places: Vec::new(),
            };
            let found = finding().hears(&settings, heard);
            assert_eq!(found.trouble(), expected);
            assert_eq!(
                (found.state == "wrong", found.remedy.is_some()),
                (expected.is_some(), expected.is_some())
            );
        };
        let refused = Some("the cluster's bus refuses this machine");
        check(RunWhere::Here, Heard::default(), None);
        check(RunWhere::Anywhere, Heard::default(), None);
        check(RunWhere::Nodes, Heard::default(), Some("no node is ready"));
        // A node's key hears gateways only, and a gateway's nodes only.
        check(RunWhere::Here, Heard { nodes_refused: true, ..Heard::default() }, None);
        check(RunWhere::Nodes, Heard { nodes_refused: true, ..Heard::default() }, refused);
        check(RunWhere::Anywhere, Heard { gateways_refused: true, ..Heard::default() }, None);
        let both = Heard { nodes_refused: true, gateways_refused: true, ..Heard::default() };
        check(RunWhere::Here, both, refused);
    }
}
