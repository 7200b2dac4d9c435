//! Catalogues of real servers, as files: what they would answer to `tools/list`.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use gristmill_gateway::domain::catalogue::{ServerOffer, ToolDefinition};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Dump {
    server: String,
    #[serde(default)]
    version: Option<String>,
    tools: Vec<Box<RawValue>>,
}

/// Every `.json` file of a folder.
pub fn load(folder: &Path) -> anyhow::Result<Vec<ServerOffer>> {
    let mut offers = Vec::new();
    let entries = std::fs::read_dir(folder).with_context(|| format!("can't read {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let text = std::fs::read_to_string(&path)?;
        let dump: Dump = serde_json::from_str(&text).with_context(|| {
            format!("{} isn't a catalog: it needs an object with `server` and `tools`", path.display())
        })?;
        let tools = dump.tools.iter().map(|raw| ToolDefinition::parse(raw).map(Arc::new));
        offers.push(ServerOffer {
            name: dump.server,
            version: dump.version,
            tools: tools.collect::<Result<_, _>>()?,
            ..ServerOffer::default()
        });
    }
    if offers.is_empty() {
        bail!("{} has no catalogs: JSON files with `server` and `tools`", folder.display());
    }
    offers.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(offers)
}

/// The same servers again and again under new names, their tools renamed, up to so many.
pub fn repeated(offers: &[ServerOffer], tools: usize) -> Vec<ServerOffer> {
    let mut left = tools;
    let mut all = Vec::new();
    for round in 0.. {
        for offer in offers {
            if left == 0 {
                return all;
            }
            let mut again = offer.clone();
            again.name = format!("{}-{round}", offer.name);
            again.tools = offer.tools.iter().take(left).map(|tool| renamed(tool, round)).collect();
            left -= again.tools.len();
            all.push(again);
        }
    }
    all
}

fn renamed(tool: &Arc<ToolDefinition>, round: usize) -> Arc<ToolDefinition> {
    let mut tool = ToolDefinition::clone(tool);
    tool.name = format!("{}_{round}", tool.name);
    Arc::new(tool)
}
