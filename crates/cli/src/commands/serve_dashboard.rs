//! What `gristmill serve --http` shows in its dashboard.

use std::path::Path;
use std::sync::Arc;

use gristmill_config::commands::show;
use gristmill_gateway::Gateway;
use gristmill_gateway::domain::ServerSettings;
use gristmill_gateway::domain::policy::Policy;
use gristmill_gateway::store::Store;
use gristmill_gateway::upstream::{AlwaysApprovals, Upstreams};
use gristmill_http::{DashboardParts, HttpSettings, Mount, dashboard};
use gristmill_mcp::CodeWriters;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::models::{self, ModelChoice};
use crate::upstreams::Configured;

/// What it shows beside the gateway itself.
pub struct Shown {
    store: Store,
    upstreams: Option<Upstreams>,
    servers: Vec<ServerSettings>,
    policy: Option<Policy>,
    configuration: Value,
    price_per_million: f64,
    code_writers: Option<CodeWriters>,
}

impl Shown {
    pub fn of(store: Store, configured: Option<&Configured>, upstreams: Option<&Upstreams>) -> Self {
        let config = configured.map(|configured| &configured.config);
        Self {
            store,
            upstreams: upstreams.cloned(),
            servers: config
                .map(|config| config.servers.iter().map(|server| server.settings.clone()).collect())
                .unwrap_or_default(),
            policy: config.map(|config| Policy::new(config.policy.settings.clone())),
            configuration: config.map(show::as_json).unwrap_or_default(),
            price_per_million: config
                .map(|config| &config.dashboard)
                .cloned()
                .unwrap_or_default()
                .price_per_million,
            code_writers: models::writers(configured, &ModelChoice::default()).ok(),
        }
    }

    /// Its pages. Without tokens nobody could log in.
    pub fn mounts(
        self,
        gateway: &Gateway,
        settings: &HttpSettings,
        data: &Path,
        shutdown: &CancellationToken,
    ) -> Vec<Mount> {
        let Some(tokens) = settings.tokens.clone() else { return Vec::new() };
        let Self { store, upstreams, servers, policy, configuration, price_per_million, code_writers } = self;
        dashboard(DashboardParts {
            gateway: gateway.clone(),
            upstreams,
            always: Some(AlwaysApprovals::open(data).telling(Some(store.clone()))),
            store,
            servers,
            policy,
            configuration,
            price_per_million,
            code_writers,
            tokens: Arc::clone(&tokens),
            name: data.display().to_string(),
            shutdown: shutdown.clone(),
        })
    }
}
