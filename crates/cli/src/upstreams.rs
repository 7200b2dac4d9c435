//! From the configuration to connected servers.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::anyhow;
use gristmill_config::document::BLOCKS;
use gristmill_config::env_file::Variables;
use gristmill_config::{
    self as config, Config, ConfiguredServer, Flags, Loaded, Origin, Problem, Severity, Surroundings,
    TypesMode,
};
use gristmill_gateway::checks::Guardrails;
use gristmill_gateway::domain::policy::Policy;
use gristmill_gateway::domain::{Level, Limits, Sandboxing, ServerSettings, nearest};
use gristmill_gateway::learned::Learner;
use gristmill_gateway::marks::MarkLedger;
use gristmill_gateway::ports::NotifyApproval;
use gristmill_gateway::privacy::Privacy;
use gristmill_gateway::store::{FILE_NAME, Store};
use gristmill_gateway::upstream::{Guard, GuardSettings, Startup, UpstreamFolders, Upstreams};
use gristmill_gateway::{Folders, Settings};
use gristmill_mcp::{McpConnector, SecretContext, SupervisorCommand};
use gristmill_worker::{SERVER_SANDBOX_COMMAND, UPSTREAM_SUPERVISOR_COMMAND};

use crate::arguments::{ConfigFile, LimitArguments};
use crate::audit_log::OpenedWhenNeeded;
use crate::failure::Failure;
use crate::terminal::{eprint_lines, one_line};

/// A configuration that is in order, and where it was read.
pub struct Configured {
    pub config: Config,
    pub surroundings: Surroundings,
}

/// Reads the configuration. Mistakes end the command; warnings are said and passed over.
pub fn read(flags: &Flags) -> Result<Configured, Failure> {
    let surroundings = Surroundings::of_this_process().map_err(|error| Failure::Internal(error.into()))?;
    let loaded = config::load(&surroundings, flags);
    told(loaded, surroundings)
}

/// The same for a command that connects no server: nothing that is wrong with one matters to it.
pub fn read_without_servers(flags: &Flags) -> Result<Configured, Failure> {
    let surroundings = Surroundings::of_this_process().map_err(|error| Failure::Internal(error.into()))?;
    let mut loaded = config::load(&surroundings, flags);
    loaded.problems.retain(|problem| !is_about_servers(problem));
    loaded.config.servers.clear();
    told(loaded, surroundings)
}

fn is_about_servers(problem: &Problem) -> bool {
    let key = problem.place.key.as_deref().unwrap_or_default();
    BLOCKS.contains(&key.split('.').next().unwrap_or_default())
}

fn told(loaded: Loaded, surroundings: Surroundings) -> Result<Configured, Failure> {
    let (config, remarks) = loaded.into_result().map_err(|error| Failure::Configuration(error.into()))?;
    for remark in remarks.iter().filter(|remark| remark.severity == Severity::Warning) {
        eprint_lines(&format!("warning: {remark}"));
    }
    Ok(Configured { config, surroundings })
}

/// The configuration, without its servers if none is wanted, and what programs get by it and by the flags.
pub fn read_with_limits(
    no_servers: bool,
    file: &ConfigFile,
    flags: &LimitArguments,
) -> Result<(Option<Configured>, Limits), Failure> {
    let named =
        Flags { config: file.config.clone(), level: flags.level, privacy: flags.privacy, ..Flags::default() };
    let configured = if no_servers { read_without_servers(&named)? } else { read(&named)? };
    let limits = flags.resolve(Some(configured.config.limits.clone())).map_err(Failure::Usage)?;
    Ok((Some(configured), limits))
}

impl Configured {
    /// The servers that may be used. Files of which nothing is used were named when they were read.
    pub fn usable(&self) -> Vec<&ConfiguredServer> {
        self.config.usable_servers().collect()
    }

    /// What is said of a name that no server has.
    pub fn no_such_server(&self, name: &str) -> String {
        let known = self.config.servers.iter().map(|server| server.settings.name.as_str());
        let near = nearest(name, known.map(|known| (known, known)), 1);
        let like = near.first().map(|near| format!("; did you mean `{}`?", one_line(near)));
        format!("no server is named `{}`{}", one_line(name), like.unwrap_or_default())
    }

    /// Where what must last is.
    pub fn data_folder(&self) -> Result<PathBuf, Failure> {
        match &self.config.data_folder {
            Some(folder) => Ok(folder.clone()),
            None => default_data_folder(&self.surroundings),
        }
    }

    pub fn connect(
        &self,
        servers: &[&ConfiguredServer],
        startup: impl Into<Startup>,
    ) -> Result<Upstreams, Failure> {
        let contexts = servers.iter().map(|server| (server.settings.name.clone(), secret_context(server)));
        let is_used = |name: &str| servers.iter().any(|server| server.settings.name == name);
        // The others are not connected, but no other server gets their names.
        let others = self.config.servers.iter().filter(|server| !is_used(&server.settings.name));
        let others = others.map(|server| ServerSettings { enabled: false, ..server.settings.clone() });
        let settings = servers.iter().map(|server| self.confined(&server.settings)).chain(others).collect();
        let own = config::locations::user_file(&self.surroundings);
        // Secrets lie beside the user's own file.
        let hidden = own.and_then(|file| file.parent().map(PathBuf::from)).into_iter().collect();
        let mut startup = startup.into();
        startup.search = self.config.search.settings;
        if startup.audit.is_none() {
            startup.audit = OpenedWhenNeeded::of(self);
        }
        if startup.guard.is_none() {
            startup.guard = Some(self.guard(None, self.marks(None), self.config.level, None)?);
        }
        connect(settings, contexts.collect(), self.data_folder()?, hidden, startup)
    }

    /// Who may call what in a gateway that is about to be built, and what it remembers. With a database other
    /// processes can answer its questions.
    pub fn guard_of(
        &self,
        settings: &mut Settings,
        store: Option<Store>,
        notify: Option<Arc<dyn NotifyApproval>>,
    ) -> Result<Arc<Guard>, Failure> {
        let marks = self.marks(store.clone());
        if let Some(data) = &mut settings.data {
            data.marks = marks.clone();
        }
        self.guard(store, marks, settings.limits.level(), notify)
    }

    fn guard(
        &self,
        store: Option<Store>,
        marks: Option<MarkLedger>,
        level: Level,
        notify: Option<Arc<dyn NotifyApproval>>,
    ) -> Result<Arc<Guard>, Failure> {
        let policy = Policy::new(self.config.policy.settings.clone());
        let data = Some(self.data_folder()?);
        Ok(Arc::new(Guard::new(GuardSettings { policy, level, data, store, marks, notify })))
    }

    /// Who learns what tools answer, if that is wanted and there is somewhere to keep it. Needs a tokio runtime.
    pub fn learner(&self, store: Option<&Store>, privacy: &Privacy) -> Result<Option<Learner>, Failure> {
        let Some(store) = store.filter(|_| self.config.learning.types) else { return Ok(None) };
        let learner = Learner::start(store.clone(), Some(privacy));
        learner.map(Some).map_err(|error| Failure::Usage(anyhow!(error)))
    }

    /// Who tells what was learned, for a command that teaches nothing. A database is not made for it.
    pub fn learned_types(&self) -> Option<Learner> {
        let folder = self.data_folder().ok().filter(|_| self.config.learning.types)?;
        folder.join(FILE_NAME).exists().then(|| Store::open(&folder).ok())?.map(Learner::reading)
    }

    /// Where it is remembered what was read from marked servers; nowhere if there are none.
    fn marks(&self, store: Option<Store>) -> Option<MarkLedger> {
        let is_marked = |server: &&ConfiguredServer| server.settings.marks.is_remembered();
        self.usable().iter().any(is_marked).then(|| MarkLedger::new(store))
    }

    /// A server with the sandbox that it has at this level.
    fn confined(&self, settings: &ServerSettings) -> ServerSettings {
        let sandbox = settings.sandbox.at(self.config.limits.level());
        let sandbox = sandbox.map_or(Sandboxing::Off, Sandboxing::On);
        ServerSettings { sandbox, ..settings.clone() }
    }
}

/// What is done about what checks find in programs.
pub fn guardrails(configured: Option<&Configured>) -> Guardrails {
    configured.map(|configured| configured.config.guardrails.settings.clone()).unwrap_or_default()
}

/// Whether the types of programs are checked.
pub fn types_mode(configured: Option<&Configured>) -> TypesMode {
    configured.map(|configured| configured.config.guardrails.types).unwrap_or_default()
}

/// Where what must last is, whether servers are configured or not.
pub fn data_folder(configured: Option<&Configured>) -> Result<PathBuf, Failure> {
    match configured {
        Some(configured) => configured.data_folder(),
        None => {
            let surroundings =
                Surroundings::of_this_process().map_err(|error| Failure::Internal(error.into()))?;
            default_data_folder(&surroundings)
        }
    }
}

/// Where what must last is, as far as no configuration says otherwise.
pub fn default_data_folder(surroundings: &Surroundings) -> Result<PathBuf, Failure> {
    let folder = surroundings.data_folder();
    folder.ok_or_else(|| Failure::Usage(anyhow!("no folder for data; set GRISTMILL_DATA_DIR or HOME")))
}

/// Connects servers, with what they keep under `data`.
pub fn connect(
    settings: Vec<ServerSettings>,
    contexts: HashMap<String, SecretContext>,
    data: PathBuf,
    hidden: Vec<PathBuf>,
    startup: impl Into<Startup>,
) -> Result<Upstreams, Failure> {
    let ours = |error: String| Failure::Internal(anyhow!(error));
    let cache = Folders::from_environment().map_err(|error| ours(error.to_string()))?.cache;
    let connector = McpConnector::new(supervisor()?, contexts, data.clone())
        .hiding(hidden.into_iter().chain([cache.clone()]));
    let folders = UpstreamFolders { data, cache };
    Ok(Upstreams::start(settings, Arc::new(connector), &folders, startup))
}

/// This very binary, under its hidden command.
pub fn supervisor() -> Result<SupervisorCommand, Failure> {
    let program = std::env::current_exe().map_err(|error| Failure::Internal(error.into()))?;
    Ok(SupervisorCommand {
        program,
        argument: UPSTREAM_SUPERVISOR_COMMAND.into(),
        sandbox: SERVER_SANDBOX_COMMAND.into(),
    })
}

/// What a server's references are resolved against.
pub fn secret_context(server: &ConfiguredServer) -> SecretContext {
    secret_context_of(&server.origin, &server.variables, &server.files)
}

/// The same for something that a file says, with these variables beside it.
pub fn secret_context_of(origin: &Origin, variables: &Variables, files: &Variables) -> SecretContext {
    let by_name = |variables: &Variables| {
        let value = |name: &str| Some((name.to_owned(), variables.get(name)?.to_owned()));
        variables.names().filter_map(value).collect::<HashMap<_, _>>()
    };
    let folder = match origin {
        Origin::File { path, .. } => path.parent().map(PathBuf::from).unwrap_or_default(),
        Origin::Default | Origin::Variable(_) | Origin::Flag => PathBuf::new(),
    };
    SecretContext { variables: by_name(variables), folder, files: by_name(files) }
}
