//! `gristmill cluster status`: who is up, and how much each runs.

use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use gristmill_cluster::{GatewaySeen, Insist, NodePresence, NodeSeen, StateRole, Surroundings};
use gristmill_config::Flags;
use gristmill_gateway::domain::utc_text;
use serde_json::{Value, json};

use super::super::Outcome;
use crate::cluster;
use crate::hints::hint;
use crate::local_time::TimeArguments;
use crate::table::{Column, Table};
use crate::terminal::{eprint_lines, one_line, print_json};
use crate::upstreams;

pub async fn status(flags: &Flags, is_json: bool, times: TimeArguments) -> Outcome {
    let configured = upstreams::read_without_servers(flags)?;
    cluster::settings_of(&configured)?;
    let bus = cluster::connect(&configured.config.cluster, "status", Insist::No).await?;
    let seen = cluster::look_around(&bus).await?;
    if is_json {
        print_json(&as_json(&seen));
        return Ok(ExitCode::SUCCESS);
    }
    if seen.nodes.is_empty() && seen.gateways.is_empty() {
        eprint_lines("No node and no gateway is heard.");
    } else {
        as_table(&seen, times).print();
    }
    for (is_refused, whom) in [(seen.nodes_refused, "nodes"), (seen.gateways_refused, "gateways")] {
        if is_refused {
            eprint_lines(&format!("note: this machine's NKey isn't permitted to hear {whom}"));
        }
    }
    if seen.nodes.is_empty() && !seen.nodes_refused {
        hint("`gristmill worker-node` on a machine makes it a node");
    }
    Ok(ExitCode::SUCCESS)
}

fn as_table(seen: &Surroundings, times: TimeArguments) -> Table {
    let mut table = Table::new([
        Column::left("NAME"),
        Column::left("KIND"),
        Column::left("STATE"),
        Column::right("PLACES"),
        Column::wrapping("ENGINES"),
        Column::wrapping("LEVELS"),
        Column::wrapping("LABELS"),
        Column::left("VERSION"),
        Column::left("SINCE"),
    ]);
    for NodeSeen { name, presence } in &seen.nodes {
        table.row([
            name.to_string(),
            "node".to_owned(),
            cluster::state_of(presence).to_owned(),
            format!("{}/{}", used(presence), presence.places),
            texts(&presence.engines).join(", "),
            texts(&presence.levels).join(", "),
            texts(&presence.labels).join(", "),
            one_line(&presence.version),
            times.minute(since(presence.up_s)),
        ]);
        if let Some(why) = presence.speaks_another_version() {
            table.note(why);
        }
    }
    for GatewaySeen { name, presence, role } in &seen.gateways {
        table.row([
            name.to_string(),
            "gateway".to_owned(),
            state_of_gateway(*role).to_owned(),
            String::new(),
            String::new(),
            String::new(),
            String::new(),
            one_line(&presence.version),
            times.minute(since(presence.up_s)),
        ]);
        if presence.on_nodes > 0 || presence.waiting > 0 {
            table.note(format!("{} on nodes, {} waiting for one", presence.on_nodes, presence.waiting));
        }
    }
    table
}

fn as_json(seen: &Surroundings) -> Value {
    let node = |NodeSeen { name, presence }: &NodeSeen| {
        json!({
            "name": name.as_str(),
            "state": cluster::state_of(presence),
            "version": presence.version,
            "places_used": used(presence),
            "places": presence.places,
            "engines": texts(&presence.engines),
            "levels": texts(&presence.levels),
            "labels": texts(&presence.labels),
            "since": utc_text(since(presence.up_s)),
        })
    };
    let gateway = |GatewaySeen { name, presence, role }: &GatewaySeen| {
        json!({
            "name": name.as_str(),
            "state": state_of_gateway(*role),
            "version": presence.version,
            "on_nodes": presence.on_nodes,
            "waiting": presence.waiting,
            "since": utc_text(since(presence.up_s)),
        })
    };
    json!({
        "nodes": seen.nodes.iter().map(node).collect::<Vec<_>>(),
        "gateways": seen.gateways.iter().map(gateway).collect::<Vec<_>>(),
    })
}

/// One that stands by passes requests on to the one that leads.
fn state_of_gateway(role: StateRole) -> &'static str {
    match role {
        StateRole::Own => "ready",
        StateRole::Leads => "leads",
        StateRole::StandsBy => "stands by",
    }
}

/// How many programs run there.
pub fn used(presence: &NodePresence) -> u32 {
    presence.places.saturating_sub(presence.free)
}

/// Machines tell for how long they have been up: their clocks may be wrong.
fn since(up_s: u64) -> SystemTime {
    let now = SystemTime::now();
    now.checked_sub(Duration::from_secs(up_s)).unwrap_or(now)
}

fn texts<T: ToString>(all: &[T]) -> Vec<String> {
    all.iter().map(T::to_string).collect()
}

#[cfg(test)]
mod tests {
    use gristmill_cluster::GatewayPresence;
    use gristmill_gateway::domain::Level;
    use gristmill_gateway::{EngineId, WORKER_PROTOCOL_VERSION};

    use super::*;

    fn node(name: &str, draining: bool) -> NodeSeen {
        let presence = NodePresence {
            wire: gristmill_cluster::WIRE_VERSION,
            worker_protocol: WORKER_PROTOCOL_VERSION,
            version: "1.2.3".to_owned(),
            incarnation: 1,
            up_s: 60,
            places: 16,
            free: 13,
            engines: vec![EngineId::Python, EngineId::Native],
            levels: vec![Level::Production],
            labels: vec!["gpu".parse().unwrap()],
            draining,
        };
        NodeSeen { name: name.parse().unwrap(), presence }
    }

    fn everybody() -> Surroundings {
        let mut old = node("old", false);
        old.presence.wire += 1;
        let presence = GatewayPresence {
            wire: 1,
            version: "1.2.3".to_owned(),
            incarnation: 1,
            up_s: 60,
            on_nodes: 3,
            waiting: 1,
        };
        let gateway = |name: &str, role: StateRole| GatewaySeen {
            name: name.parse().unwrap(),
            presence: GatewayPresence { on_nodes: 0, waiting: 0, ..presence.clone() },
            role,
        };
        Surroundings {
            nodes: vec![node("a", false), node("b", true), old],
            gateways: vec![
                GatewaySeen { name: "gw".parse().unwrap(), presence: presence.clone(), role: StateRole::Own },
                gateway("gw-a", StateRole::Leads),
                gateway("gw-b", StateRole::StandsBy),
            ],
            nodes_refused: false,
            gateways_refused: false,
        }
    }

    #[test]
    fn everybody_who_is_up_has_a_line_with_what_keeps_it_from_work() {
        let lines = as_table(&everybody(), TimeArguments::default()).lines(None);
        // The last column is a time.
        let shown: Vec<String> = lines
            .iter()
            .map(|line| line.split("1.2.3").next().unwrap_or_default().trim_end().to_owned())
            .collect();
        assert_eq!(
            shown,
            [
                "NAME  KIND     STATE          PLACES  ENGINES         LEVELS      LABELS  VERSION  SINCE",
                "a     node     ready            3/16  python, native  production  gpu",
                "b     node     draining         3/16  python, native  production  gpu",
                "old   node     other version    3/16  python, native  production  gpu",
                "  speaks version 3 and not 2",
                "gw    gateway  ready",
                "  3 on nodes, 1 waiting for one",
                "gw-a  gateway  leads",
                "gw-b  gateway  stands by",
            ]
        );
        let json = as_json(&everybody());
        assert_eq!(
            (&json["nodes"][1]["state"], &json["nodes"][0]["places_used"]),
            (&json!("draining"), &json!(3))
        );
        assert_eq!(json["gateways"][0]["on_nodes"], 3);
    }
}
