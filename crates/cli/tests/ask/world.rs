//! A gateway with a real file system server behind it, and a model by script before it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gristmill_gateway::ask::{AskEvent, AskRequest, Asked};
use gristmill_gateway::domain::policy::{Policy, PolicySettings, Preset, Rule};
use gristmill_gateway::domain::{Level, LimitName, Limits, SecretText, ServerSettings, Transport};
use gristmill_gateway::history::HistorySettings;
use gristmill_gateway::ids::Caller;
use gristmill_gateway::ports::Model;
use gristmill_gateway::privacy::{Privacy, PrivacySettings, Vault};
use gristmill_gateway::store::Store;
use gristmill_gateway::upstream::{
    Guard, GuardSettings, Refresh, Startup, UpstreamFolders, Upstreams, remove_trees,
};
use gristmill_gateway::{
    DataSettings, EngineId, Folders, Gateway, PoolSettings, Settings, SkillFolders, WorkerCommand,
};
use gristmill_mcp::{McpConnector, SecretContext, SupervisorCommand};
use gristmill_testkit::{ScriptedModel, TestFolder};
use gristmill_worker::{SERVER_SANDBOX_COMMAND, UPSTREAM_SUPERVISOR_COMMAND};
use tokio::runtime::Runtime;

use crate::support::gristmill;

pub struct World {
    pub runtime: Runtime,
    gateway: Option<Gateway>,
    root: PathBuf,
    folder: TestFolder,
}

impl World {
    pub fn new(name: &str) -> Self {
        Self::with_rules(name, Vec::new())
    }

    /// With rules of the user's.
    pub fn with_rules(name: &str, rules: Vec<Rule>) -> Self {
        let folder = TestFolder::new(name);
        let root = folder.path().join("root");
        std::fs::create_dir_all(&root).expect("a folder");
        let runtime = Runtime::new().expect("a runtime");
        let gateway = runtime.block_on(async {
            let settings = settings(folder.path(), &root, rules);
            Gateway::build(settings).await.expect("a gateway")
        });
        Self { runtime, gateway: Some(gateway), root, folder }
    }

    pub fn gateway(&self) -> &Gateway {
        self.gateway.as_ref().expect("it has not ended")
    }

    pub fn put(&self, file: &str, text: &str) {
        std::fs::write(self.root.join(file), text).expect("written");
    }

    pub fn written(&self, file: &str) -> Option<String> {
        std::fs::read_to_string(self.root.join(file)).ok()
    }

    pub fn skill_file(&self, path: &str) -> String {
        let file = self.folder.path().join("data/skills").join(path);
        std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    }

    /// Asks, and says yes or no to whatever is asked.
    pub fn ask(&self, request: AskRequest, says: bool) -> (Asked, Vec<AskEvent>) {
        self.runtime.block_on(async {
            let mut asking = self.gateway().ask(request);
            let mut events = Vec::new();
            while let Some(event) = asking.next_event().await {
                if matches!(event, AskEvent::AwaitingConsent { .. }) {
                    asking.consent(says);
                }
                events.push(event);
            }
            (asking.finish().await.expect("an end"), events)
        })
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(gateway) = self.gateway.take() {
            self.runtime.block_on(gateway.shutdown());
        }
        remove_trees(&self.folder.path().join("cache/trees"));
        remove_trees(&self.folder.path().join("cache/skill-trees"));
    }
}

/// A task for a model, in Python.
pub fn task(sentence: &str, model: &Arc<ScriptedModel>) -> AskRequest {
    AskRequest {
        models: vec![Arc::clone(model) as Arc<dyn Model>],
        ..AskRequest::new(Caller::local(), sentence, EngineId::Python)
    }
}

/// What happened, in one word each; what was written while it was is left out.
pub fn words(events: &[AskEvent]) -> Vec<&'static str> {
    let word = |event: &AskEvent| match event {
        AskEvent::Searched { .. } => Some("searched"),
        AskEvent::Prompted { .. } => Some("prompted"),
        AskEvent::Writing { .. } | AskEvent::WritingAgain { .. } | AskEvent::Output { .. } => None,
        AskEvent::Program(_) => Some("program"),
        AskEvent::Checked { .. } => Some("checked"),
        AskEvent::Preview(_) => Some("preview"),
        AskEvent::AwaitingConsent { .. } => Some("consent"),
        AskEvent::Running { .. } => Some("running"),
        AskEvent::Failed { .. } => Some("failed"),
        AskEvent::Fallback { .. } => Some("fallback"),
        AskEvent::Finished { .. } => Some("finished"),
    };
    events.iter().filter_map(word).collect()
}

fn settings(folder: &Path, root: &Path, rules: Vec<Rule>) -> Settings {
    let data = folder.join("data");
    let store = Store::open(&data).expect("a store");
    let mut kept = DataSettings::new(store.clone());
    kept.history = Some(HistorySettings::default());
    let trees = Some(folder.join("cache"));
    kept.skills = Some(SkillFolders { user: Some(data.join("skills")), project: None, trees });
    let mut settings = Settings::new(WorkerCommand::new(gristmill()));
    // Time enough for a busy machine: a test about time sets its own.
    let mut limits = Limits::of(Level::Production);
    limits.set(LimitName::WallTime, 60_000).expect("in range");
    limits.set(LimitName::CpuTime, 60_000).expect("in range");
    settings.limits = limits;
    settings.pool = PoolSettings { waiting: 1, ..PoolSettings::default() };
    let cache = Folders::from_environment().expect("folders").cache;
    settings.folders = Some(Folders { cache, scratch: folder.join("scratch") });
    let privacy =
        Privacy::new(PrivacySettings::of(Level::Production), Vault::open(None, None).expect("a vault"))
            .expect("privacy");
    settings.privacy = Some(privacy.clone());
    settings.data = Some(kept);
    settings.tools = Arc::new(upstreams(folder, root, (rules, privacy)));
    settings
}

fn upstreams(folder: &Path, root: &Path, (rules, privacy): (Vec<Rule>, Privacy)) -> Upstreams {
    let plain = |text: &str| SecretText::plain(text);
    let binary = gristmill().to_str().expect("a path");
    let args = ["example-server", "filesystem", "--root", root.to_str().expect("a path")].map(plain);
    let transport =
        Transport::Stdio { command: plain(binary), args: args.to_vec(), env: Default::default(), cwd: None };
    let supervisor = SupervisorCommand {
        program: gristmill().to_owned(),
        argument: UPSTREAM_SUPERVISOR_COMMAND.into(),
        sandbox: SERVER_SANDBOX_COMMAND.into(),
    };
    let contexts = HashMap::from([("files".to_owned(), SecretContext::default())]);
    let connector = McpConnector::new(supervisor, contexts, folder.join("data"));
    let folders = UpstreamFolders { data: folder.join("data"), cache: folder.join("cache") };
    let user = rules.into_iter().map(|rule| (rule, "gristmill.toml:1".to_owned())).collect();
    let policy = PolicySettings { preset: Preset::Trusting, user, ..PolicySettings::default() };
    let guard = Guard::new(GuardSettings {
        policy: Policy::new(policy),
        level: Level::Production,
        data: None,
        store: None,
        marks: None,
        notify: None,
    });
    let startup = Startup {
        guard: Some(Arc::new(guard)),
        privacy: Some(privacy),
        ..Startup::from(Refresh::InBackground)
    };
    Upstreams::start(vec![ServerSettings::new("files", transport)], Arc::new(connector), &folders, startup)
}
