//! `gristmill run`: one program, its output live, its result last.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use anyhow::anyhow;
use gristmill_config::Surroundings;
use gristmill_example_servers::example_tools::ExampleTools;
use gristmill_gateway::answer::{self, AnswerBudget};
use gristmill_gateway::audit::Audit;
use gristmill_gateway::domain::Code;
use gristmill_gateway::ids::Caller;
use gristmill_gateway::ports::FixedTools;
use gristmill_gateway::service::{PlaceChoice, StartRequest};
use gristmill_gateway::session::{Patience, SessionChoice};
use gristmill_gateway::upstream::{Refresh, Startup, Upstreams};
use gristmill_gateway::{
    DataSettings, EngineChoice, EngineId, ExecuteRequest, Folders, Gateway, NativeEngine, Report, Settings,
    Upkeep, WorkerCommand, WorkspaceChoice, chosen_engine,
};

use super::run_error::Workspace;
use super::run_screen::{Ran, follow, print_report};
use super::{Failure, Outcome, run_input, run_questions, run_watch};
use crate::arguments::{ConfigFile, LimitArguments, Run};
use crate::audit_log;
use crate::data_store::{self, DataPlace};
use crate::privacy::privacy;
use crate::terminal::eprint_lines;
use crate::upstreams::Configured;
use crate::{exit_codes, native_engine, own_sessions, skill_folders, type_checker, upstreams};

pub async fn run(arguments: Run) -> Outcome {
    if arguments.watch {
        return run_watch::watch(arguments).await;
    }
    let request = run_input::request_from(&arguments).map_err(Failure::Usage)?;
    run_request(arguments, request).await
}

/// Runs a program, whatever the arguments say about which one.
pub async fn run_request(arguments: Run, request: ExecuteRequest) -> Outcome {
    // A plan brings its own program.
    let first = arguments.plan.is_none().then_some(&request);
    let runner = Runner::start(&arguments, first).await?;
    let ran = runner.run(&arguments, request).await;
    runner.stop().await;
    print(&ran?, &arguments)
}

/// The end of a program, and the exit code.
pub fn print(ran: &Ran, arguments: &Run) -> Outcome {
    let Ran { report, answer, unshown } = ran;
    match unshown {
        None => {}
        // Whoever read our output has seen enough.
        Some(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(exit_codes::of(report)),
        Some(error) => return Err(Failure::Internal(anyhow!("can't write to standard output: {error}"))),
    }
    let workspace = match (&arguments.workspace, &arguments.session) {
        (None, None) => Workspace::Empty,
        (Some(_), _) | (_, Some(_)) => Workspace::Chosen,
    };
    print_report(report, answer.as_deref(), arguments.json, workspace)
}

/// What the programs of one command find.
pub struct Equipment<'a> {
    pub config: &'a ConfigFile,
    pub limits: &'a LimitArguments,
    pub no_servers: bool,
    pub example_tools: bool,
    /// Whether they work in a session.
    pub in_session: bool,
    pub native: Option<NativeEngine>,
}

/// A gateway for the programs of one command, and the servers that are connected to it.
pub struct Runner {
    gateway: Gateway,
    configured: Option<Configured>,
    connected: Option<Upstreams>,
}

impl Runner {
    /// With the workers that its first program will need, if that is known.
    pub async fn start(arguments: &Run, first: Option<&ExecuteRequest>) -> Result<Self, Failure> {
        if let Some(path) = &arguments.workspace {
            run_input::kept_workspace(path).map_err(Failure::Usage)?;
        }
        let choice = run_input::engine_choice(arguments).map_err(Failure::Usage)?;
        let native = native_engine::of_command(&arguments.config)?;
        let engine =
            first.map(|request| chosen_engine(request.engine, choice, &request.code, native.as_ref()));
        let equipment = Equipment {
            config: &arguments.config,
            limits: &arguments.limits,
            no_servers: arguments.no_servers,
            example_tools: arguments.example_tools,
            in_session: arguments.session.is_some(),
            native,
        };
        Self::equipped(&equipment, engine).await
    }

    /// For whatever runs programs.
    pub async fn equipped(equipment: &Equipment<'_>, engine: Option<EngineId>) -> Result<Self, Failure> {
        let (mut settings, configured, connected) = settings_for(equipment, engine)?;
        settings.warm_engines = engine.into_iter().collect();
        let gateway = Gateway::build(settings).await.map_err(data_store::build_failure)?;
        data_store::print_problems(&gateway);
        Ok(Self { gateway, configured, connected })
    }

    pub fn gateway(&self) -> &Gateway {
        &self.gateway
    }

    /// What it was made by.
    pub fn configured(&self) -> Option<&Configured> {
        self.configured.as_ref()
    }

    pub async fn run(&self, arguments: &Run, mut request: ExecuteRequest) -> Result<Ran, Failure> {
        let choice = run_input::engine_choice(arguments).map_err(Failure::Usage)?;
        if let Some(path) = &arguments.workspace {
            request.workspace =
                WorkspaceChoice::Kept(run_input::kept_workspace(path).map_err(Failure::Usage)?);
        }
        run_in(&self.gateway, arguments, request, choice).await
    }

    pub async fn stop(self) {
        self.gateway.shutdown().await;
        if let Some(problem) = self.connected.and_then(|upstreams| upstreams.tree_problem()) {
            eprint_lines(&format!(
                "warning: can't write the tool stubs, so importing tools fails: {problem}"
            ));
        }
    }
}

/// A gateway for one program, and the servers that are connected to it.
fn settings_for(
    equipment: &Equipment<'_>,
    engine: Option<EngineId>,
) -> Result<(Settings, Option<Configured>, Option<Upstreams>), Failure> {
    let Equipment { config, limits, no_servers, example_tools, in_session, ref native } = *equipment;
    let (configured, limits) = upstreams::read_with_limits(no_servers, config, limits)?;
    let place = DataPlace::of(configured.as_ref(), config)?;
    // Without the database a program runs all the same, but not in a session.
    let store = match in_session {
        true => Some(place.open_store()?),
        false => place.open_store_to_record()?,
    };
    let worker = WorkerCommand::this_executable().map_err(|error| Failure::Internal(error.into()))?;
    let mut settings = Settings::new(worker);
    settings.limits = limits;
    settings.guardrails = upstreams::guardrails(configured.as_ref());
    settings.native.clone_from(native);
    let known = configured.as_ref().map(|configured| &configured.config);
    settings.wasm_packages = native_engine::wasm_packages_of(known, config);
    if !matches!(engine, Some(EngineId::Python | EngineId::Native)) {
        settings.type_check = type_checker::command(upstreams::types_mode(configured.as_ref()));
    }
    // One program is all there will be: no others are kept waiting behind it.
    settings.pool.waiting = 0;
    settings.kept_interpreters = own_sessions::keep_settings(configured.as_ref());
    let (mut observer, mut noting) = (None, None);
    let mut approvals = None;
    if let Some(store) = store {
        let (store, audit) = audit_log::attach(store, place.audit);
        approvals = Some(store.clone());
        observer = audit.as_ref().map(Audit::observer);
        noting = audit.as_ref().map(Audit::log);
        let surroundings =
            Surroundings::of_this_process().map_err(|error| Failure::Internal(error.into()))?;
        settings.data = Some(DataSettings {
            history: Some(place.history),
            audit,
            history_is_optional: true,
            results: Some(place.results),
            sessions: in_session.then(|| own_sessions::settings(configured.as_ref())),
            skills: Some(skill_folders::folders(&store, &surroundings)),
            upkeep: Upkeep::AtShutdown,
            ..DataSettings::new(store)
        });
    }
    if example_tools {
        let folders = Folders::from_environment().map_err(|error| Failure::Internal(error.into()))?;
        let tools = ExampleTools::new(&folders.cache).map_err(|error| Failure::Internal(error.into()))?;
        settings.tools = Arc::new(FixedTools(Arc::new(tools)));
    }
    let privacy = privacy(configured.as_ref(), settings.limits.level(), approvals.clone())?;
    settings.privacy = Some(privacy.clone());
    let mut connected = None;
    if let Some(configured) = configured.as_ref().filter(|_| !example_tools) {
        let usable = configured.usable();
        // Those that are not in use keep their names, and programs are told why they can't be imported.
        if !configured.config.servers.is_empty() {
            let learner = configured.learner(approvals.as_ref(), &privacy)?;
            let guard = Some(configured.guard_of(&mut settings, approvals, None)?);
            let privacy = Some(privacy);
            let refresh = Refresh::WhenUsed;
            let startup =
                Startup { refresh, observer, audit: noting, guard, privacy, learner, ..Startup::default() };
            let upstreams = configured.connect(&usable, startup)?;
            settings.tools = Arc::new(upstreams.clone());
            connected = Some(upstreams);
        }
    }
    Ok((settings, configured, connected))
}

async fn run_in(
    gateway: &Gateway,
    arguments: &Run,
    request: ExecuteRequest,
    engine: Option<EngineChoice>,
) -> Result<Ran, Failure> {
    let budget = arguments.answer.budget();
    let mut start = StartRequest {
        answers: run_questions::answers(),
        answer: budget,
        budget_is_explicit: true,
        plan: arguments.plan.clone(),
        level: arguments.limits.level,
        engine,
        ..StartRequest::new(Caller::local(), request)
    };
    if let (Some(session), Some(sessions)) = (&arguments.session, gateway.sessions()) {
        let asked = Instant::now();
        let wishes = gateway.session_wishes(&start);
        if arguments.keep_variables {
            start.place = PlaceChoice::Session {
                session: SessionChoice::Named(session.clone()),
                patience: Patience::default(),
                keep_variables: true,
            };
            return Ok(follow_start(gateway, arguments, start).await);
        }
        match own_sessions::enter(sessions, session, Patience::default(), wishes).await {
            Ok(held) => start.place = PlaceChoice::Held(held),
            // Nothing is wrong with what was asked for: the report says so, as for a busy gateway.
            Err(error) if error.code() == Code::Busy => return Ok(refused(error.report(asked), budget).await),
            Err(error) => return Err(own_sessions::failure(error)),
        }
    }
    Ok(follow_start(gateway, arguments, start).await)
}

async fn follow_start(gateway: &Gateway, arguments: &Run, start: StartRequest) -> Ran {
    let budget = start.answer;
    let can_ask = start.answers.approvals;
    match gateway.service().start_live(start) {
        Ok((follower, events)) => {
            if can_ask {
                tokio::spawn(run_questions::ask_on_terminal(follower.clone()));
            }
            let is_shown = !arguments.json && budget.is_none();
            follow(follower, is_shown.then_some(events)).await
        }
        Err(report) => refused(*report, budget).await,
    }
}

/// A program that did not run.
async fn refused(report: Report, budget: Option<AnswerBudget>) -> Ran {
    let answer = match budget {
        Some(budget) => Some(Arc::new(answer::of_report(&report, &budget, None, None).await)),
        None => None,
    };
    Ran { report: Arc::new(report), answer, unshown: None }
}
