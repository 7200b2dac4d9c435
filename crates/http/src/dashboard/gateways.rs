//! Gateways on this data folder: this one, others that are alive, and whoever ran an execution.

use gristmill_dashboard::pages::GatewayLine;
use gristmill_dashboard::{Moment, OtherGateway, Text};
use gristmill_gateway::history::{GatewayRecord, History};

/// In a list. More are a test's, or a mistake.
const GATEWAYS_MAX: usize = 20;

/// Those that are alive, the newest first.
pub(super) async fn alive(history: Option<&History>) -> Vec<GatewayRecord> {
    let Some(history) = history else { return Vec::new() };
    let mut found = history.gateways().await.unwrap_or_default();
    found.truncate(GATEWAYS_MAX);
    found
}

pub(super) fn words(gateway: &GatewayRecord) -> Text {
    format!("{}, process {}", gateway.role, gateway.pid).into()
}

/// Those beside this one.
pub(super) async fn others(history: Option<&History>) -> Vec<OtherGateway> {
    let own = history.map(|history| history.own_gateway().to_owned()).unwrap_or_default();
    let others = alive(history).await.into_iter().filter(|gateway| gateway.id != own);
    let others = others.map(|gateway| OtherGateway {
        name: words(&gateway),
        started: Moment(gateway.started_ms),
        id: gateway.id.into(),
    });
    others.collect()
}

/// To choose from: id and words.
pub(super) async fn choices(history: Option<&History>) -> Vec<(Text, Text)> {
    let alive = alive(history).await;
    alive.into_iter().map(|gateway| (gateway.id.as_str().into(), words(&gateway))).collect()
}

pub(super) async fn lines(history: Option<&History>) -> Vec<GatewayLine> {
    let own = history.map(|history| history.own_gateway().to_owned()).unwrap_or_default();
    let line = |gateway: GatewayRecord| GatewayLine {
        is_this: gateway.id == own,
        id: gateway.id.into(),
        pid: gateway.pid,
        role: gateway.role.into(),
        version: gateway.version.into(),
        started: Moment(gateway.started_ms),
    };
    alive(history).await.into_iter().map(line).collect()
}

/// Who ran an execution, in words.
pub(super) async fn ran_by(history: Option<&History>, id: &str) -> Option<Text> {
    let history = history?;
    let gateway = history.gateway_of(id).await.ok()??;
    let state = match (gateway.id == history.own_gateway(), history.is_alive(id)) {
        (true, _) => "this gateway",
        (false, true) => "alive",
        (false, false) => "gone",
    };
    Some(format!("{} ({state})", words(&gateway).raw()).into())
}
