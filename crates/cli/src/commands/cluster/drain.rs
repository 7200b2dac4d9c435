//! `gristmill cluster drain`: a node takes nothing new, and what runs there finishes.

use std::process::ExitCode;

use anyhow::anyhow;
use gristmill_cluster::{Bus, Insist, NodeName, Order, OrderError, order};
use gristmill_config::Flags;

use super::super::{Failure, Outcome};
use super::status::used;
use crate::cluster;
use crate::hints::hint;
use crate::terminal::{eprint_lines, one_line};
use crate::upstreams;

pub async fn drain(flags: &Flags, node: &str, off: bool, wait: bool) -> Outcome {
    let configured = upstreams::read_without_servers(flags)?;
    cluster::settings_of(&configured)?;
    let named = node.parse::<NodeName>();
    let name = named.map_err(|error| Failure::Usage(anyhow!("{}", one_line(&error.to_string()))))?;
    let bus = cluster::connect(&configured.config.cluster, "drain", Insist::No).await?;
    let given = order(&bus, &name, if off { Order::Undrain } else { Order::Drain }).await;
    let seen = given.map_err(|error: OrderError| Failure::Usage(error.into()))?;
    if off {
        println!("{name} takes programs again");
        return Ok(ExitCode::SUCCESS);
    }
    let left = used(&seen.presence);
    println!("{name} takes no new programs; {}", running(left));
    match left {
        0 => hint("stop it now, or have it take programs again with --off"),
        _ if wait => return wait_until_idle(&bus, &name, left).await,
        _ => hint("--wait waits until none runs there"),
    }
    Ok(ExitCode::SUCCESS)
}

/// A node that is gone runs nothing any more.
async fn wait_until_idle(bus: &Bus, name: &NodeName, mut last: u32) -> Outcome {
    loop {
        let seen = cluster::look_around(bus).await?;
        let Some(node) = seen.nodes.iter().find(|node| node.name == *name) else {
            println!("{name} isn't heard any more");
            return Ok(ExitCode::SUCCESS);
        };
        let left = used(&node.presence);
        if left == 0 {
            println!("no program runs on {name}");
            return Ok(ExitCode::SUCCESS);
        }
        if left != last {
            last = left;
            eprint_lines(&format!("waiting: {}", running(last)));
        }
    }
}

fn running(programs: u32) -> String {
    match programs {
        0 => "none runs there".to_owned(),
        1 => "1 program still runs there".to_owned(),
        more => format!("{more} programs still run there"),
    }
}
