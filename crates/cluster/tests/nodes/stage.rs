//! A gateway and its nodes in one process, on a small bus, with scripted workers.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gristmill_cluster::{
    Label, NodeSettings, Nodes, NodesSettings, StateRole, Surroundings, look_around, run_node,
};
use gristmill_gateway::domain::{Level, Limits};
use gristmill_gateway::ids::{Caller, Owner};
use gristmill_gateway::ports::{FixedTools, RunWhere, Tools};
use gristmill_gateway::{
    ExecuteRequest, Execution, Folders, Gateway, Report, Settings, WorkerCommand, WorkspaceChoice,
};
use gristmill_testkit::processes::{eventually, with_argument};
use gristmill_testkit::scripted_worker::{Script, ZygoteScript};
use gristmill_testkit::{ScriptedTools, TestFolder};
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::bus::SmallBus;

/// The tests of a module: functions whose names say what is expected.
macro_rules! trials {
    ($($name:ident),* $(,)?) => {
        pub fn trials() -> Vec<libtest_mimic::Trial> {
            let path = module_path!();
            let module = path.split_once("::").map_or(path, |(_, module)| module);
            vec![$(libtest_mimic::Trial::test(format!("{module}::{}", stringify!($name)), || {
                $name();
                Ok(())
            })),*]
        }
    };
}
pub(crate) use trials;

/// See the module.
pub struct Stage {
    runtime: Runtime,
    pub bus: SmallBus,
    gateway: Option<Machine>,
    nodes: Vec<(String, Machine)>,
    workspace: TestFolder,
}

/// A gateway process, as far as that can be had in one process with others.
struct Machine {
    gateway: Gateway,
    folders: [TestFolder; 3],
    stop: CancellationToken,
    running: Option<JoinHandle<()>>,
}

impl Stage {
    /// A gateway whose programs run on nodes, and so many nodes with so many places each: `n1`, `n2` …
    pub fn new(nodes: usize, places: usize) -> Self {
        Self::with_tools(nodes, places, ScriptedTools::new(|call| async move { Ok(json!(call.name).into()) }))
    }

    pub fn with_tools(nodes: usize, places: usize, tools: impl Tools) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let bus = runtime.block_on(SmallBus::start());
        let mut stage =
            Self { runtime, bus, gateway: None, nodes: Vec::new(), workspace: TestFolder::new("files") };
        for number in 1..=nodes {
            stage.start_node(&format!("n{number}"), places, &[]);
        }
        stage.gateway = Some(stage.start_gateway(Arc::new(tools)));
        stage
    }

    fn start_gateway(&self, tools: Arc<dyn Tools>) -> Machine {
        let folders = ["gateway-cache", "gateway-scratch", "gateway-cluster"].map(TestFolder::new);
        self.runtime.block_on(async {
            let bus = self.bus.connect("gateway g").await;
            let settings = NodesSettings {
                name: "g".parse().expect("a name"),
                placing: Arc::new(|program| match program.session.as_deref() {
                    Some(label) => (RunWhere::Nodes, label.parse().into_iter().collect()),
                    None => (RunWhere::Nodes, Vec::new()),
                }),
                scratch: folders[2].path().to_owned(),
                place_wait: Duration::from_secs(20),
                role: StateRole::Own,
            };
            let nodes = Nodes::start(bus, settings).await.expect("it can listen");
            let mut settings = settings_in(&folders);
            settings.tools = Arc::new(FixedTools(tools));
            settings.remote_workers = Some(Arc::new(nodes));
            let gateway = Gateway::build(settings).await.expect("a gateway");
            Machine { gateway, folders, stop: CancellationToken::new(), running: None }
        })
    }

    /// A further node, once the gateway may use it.
    pub fn start_node(&mut self, name: &str, places: usize, labels: &[&str]) {
        let folders = ["node-cache", "node-scratch", "node-trees"].map(TestFolder::new);
        let machine = self.runtime.block_on(async {
            let bus = self.bus.connect(&format!("node {name}")).await;
            let mut settings = settings_in(&folders);
            settings.concurrent_executions = Some(places);
            let gateway = Gateway::build(settings).await.expect("a gateway");
            let settings = NodeSettings {
                name: name.parse().expect("a name"),
                labels: labels.iter().map(|label| label.parse::<Label>().expect("a label")).collect(),
                places,
                cache: folders[2].path().to_owned(),
            };
            let stop = CancellationToken::new();
            let (node, stopped) = (gateway.clone(), stop.clone());
            let running = tokio::spawn(async move {
                run_node(bus, node, settings, stopped).await.expect("it can listen");
            });
            Machine { gateway, folders, stop, running: Some(running) }
        });
        self.nodes.push((name.to_owned(), machine));
    }

    /// Tells a node to stop, and waits until it has.
    pub fn stop_node(&mut self, name: &str) {
        let running = self.machine(name).running.take().expect("it runs");
        self.machine(name).stop.cancel();
        self.runtime.block_on(running).expect("it stops");
    }

    fn machine(&mut self, name: &str) -> &mut Machine {
        self.nodes.iter_mut().find(|(known, _)| known == name).map(|(_, machine)| machine).expect("a node")
    }

    pub fn workspace(&self) -> &Path {
        self.workspace.path()
    }

    pub fn gateway(&self) -> &Gateway {
        &self.gateway.as_ref().expect("it hasn't ended").gateway
    }

    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }

    /// A program of an owner that does this, in the workspace of this stage.
    pub fn request(&self, script: &Script) -> ExecuteRequest {
        let mut request = ExecuteRequest::python(script.code());
        request.workspace = WorkspaceChoice::Kept(self.workspace.path().to_owned());
        request
    }

    pub fn request_of(&self, owner: &str, script: &Script) -> ExecuteRequest {
        let mut request = ExecuteRequest::python(script.code());
        request.capabilities.caller = Caller::of(Owner(owner.to_owned()));
        request
    }

    pub fn run(&self, script: &Script) -> Report {
        self.finish(self.start(self.request(script)))
    }

    pub fn start(&self, request: ExecuteRequest) -> Execution {
        let _entered = self.runtime.enter();
        self.gateway().execute(request)
    }

    pub fn finish(&self, execution: Execution) -> Report {
        self.block_on(execution.finish())
    }

    /// What is heard on the bus.
    pub fn around(&self) -> Surroundings {
        self.block_on(async {
            let bus = self.bus.connect("onlooker").await;
            look_around(&bus, Duration::from_millis(1_200)).await.expect("it can listen")
        })
    }

    /// Processes of a node, its zygote and supervisor among them.
    pub fn processes_of(&mut self, name: &str) -> Vec<u32> {
        with_argument(&self.machine(name).folders[0].path().to_string_lossy())
    }

    /// Waits until a node has no worker left.
    pub fn has_no_worker(&mut self, name: &str) {
        eventually("every worker of the node has ended", || (!self.has_worker(name)).then_some(()));
    }

    /// Whether a node has a worker.
    pub fn has_worker(&mut self, name: &str) -> bool {
        let supervisor = self.machine(name).gateway.pool().supervisor_pid();
        self.processes_of(name).into_iter().any(|pid| Some(pid) != supervisor)
    }

    /// The gateway is gone, without a word.
    pub fn lose_gateway(&mut self) {
        self.bus.isolate("gateway g");
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let machines =
            self.gateway.take().into_iter().chain(self.nodes.drain(..).map(|(_, machine)| machine));
        let machines: Vec<_> = machines.collect();
        self.runtime.block_on(async {
            for machine in machines {
                if let Some(running) = machine.running {
                    running.abort();
                }
                machine.gateway.shutdown().await;
            }
        });
    }
}

fn settings_in(folders: &[TestFolder; 3]) -> Settings {
    ZygoteScript::default().write(folders[0].path());
    let executable = std::env::current_exe().expect("the test binary");
    let mut settings = Settings::new(WorkerCommand::new(executable));
    settings.folders =
        Some(Folders { cache: folders[0].path().to_owned(), scratch: folders[1].path().to_owned() });
    settings.pool.waiting = 0;
    settings.limits = Limits::of(Level::Development);
    settings.checks_programs = false;
    settings
}
