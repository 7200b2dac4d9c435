//! Privacy: the mode, and how many values of each kind have a token. Never a value.

use std::collections::BTreeMap;

use axum::response::Response;
use gristmill_dashboard::pages::{self, KindCount, Privacy, ServerPrivacy, VaultLine};
use gristmill_gateway::ids::Caller;

use super::visit::{Visit, moment};

pub(super) async fn privacy(visit: Visit) -> Response {
    let parts = visit.parts();
    let (mut mode, mut lines) = ("off", Vec::new());
    if let Some(privacy) = parts.gateway.privacy() {
        mode = privacy.mode(&Caller::local()).as_str();
        match privacy.vault().list(None).await {
            Ok(listed) => lines = listed,
            Err(_) => return visit.unreadable().await,
        }
    }
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    let mut scopes: BTreeMap<String, VaultLine> = BTreeMap::new();
    for line in &lines {
        *kinds.entry(line.kind.name().to_owned()).or_default() += line.values;
        let (scope, used) = (line.scope_in_words(), moment(line.used));
        let kept = scopes.entry(scope.clone()).or_insert(VaultLine {
            scope: scope.into(),
            tokens: 0,
            last_used: used,
        });
        kept.tokens += line.values;
        kept.last_used = kept.last_used.max(used);
    }
    let own = parts.servers.iter().filter_map(|server| {
        let mode = server.privacy?;
        Some(ServerPrivacy { server: server.name.as_str().into(), mode: mode.as_str().into() })
    });
    let view = Privacy {
        mode: mode.into(),
        kinds: kinds.into_iter().map(|(kind, hidden)| KindCount { kind: kind.into(), hidden }).collect(),
        servers: own.collect(),
        vault: scopes.into_values().collect(),
    };
    visit.page(pages::privacy, view).await
}
