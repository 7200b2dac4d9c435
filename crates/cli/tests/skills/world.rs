//! A gateway that keeps skills.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gristmill_gateway::domain::catalogue::{Catalogue, Lookup, ServerOffer, ToolDefinition};
use gristmill_gateway::history::HistorySettings;
use gristmill_gateway::ids::Owner;
use gristmill_gateway::skills::{SaveRequest, SkillError, SkillTest, Skills};
use gristmill_gateway::store::Store;
use gristmill_gateway::upstream::remove_trees;
use gristmill_gateway::{
    DataSettings, ExecuteRequest, Folders, Gateway, PoolSettings, Report, SkillFolders, WorkerCommand,
};
use gristmill_testkit::{ScriptedTools, TestFolder};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::support::gristmill;

/// One tool of the server `crm`.
pub fn lookup(definition: &str) -> Lookup {
    let definition = ToolDefinition::from_text(definition).expect("a definition");
    let tools = vec![Arc::new(definition)];
    let offer = ServerOffer { name: "crm".to_owned(), tools, ..ServerOffer::default() };
    Lookup::new(Arc::new(Catalogue::new(vec![offer])))
}

/// One tool, `crm.find_deals`, which gives its arguments back.
fn one_tool() -> ScriptedTools {
    let tools = ScriptedTools::new(|call| async move { Ok(Value::Object(call.arguments).into()) });
    tools.lookup(lookup(r#"{"name":"find_deals","inputSchema":{"properties":{"city":{"type":"string"}}}}"#))
}

/// A gateway with skills, in which one program runs at a time.
pub struct World {
    pub runtime: Runtime,
    pub gateway: Option<Gateway>,
    pub skills: Skills,
    pub folder: TestFolder,
}

impl World {
    pub fn new(name: &str) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let folder = TestFolder::new(name);
        let mut data = DataSettings::new(Store::open(&folder.path().join("data")).expect("a store"));
        data.history = Some(HistorySettings::default());
        data.skills = Some(SkillFolders {
            user: Some(folder.path().join("data/skills")),
            project: None,
            trees: Some(folder.path().join("cache")),
        });
        let cache = Folders::from_environment().expect("folders").cache;
        let folders = Folders { cache, scratch: folder.path().join("scratch") };
        let builder = Gateway::builder(WorkerCommand::new(gristmill()))
            .folders(folders)
            .data(data)
            .tools(Arc::new(one_tool()))
            .pool(PoolSettings { waiting: 1, ..PoolSettings::default() })
            .concurrent_executions(1)
            .queue(8, Duration::from_secs(60));
        let gateway = runtime.block_on(builder.build()).expect("a gateway");
        let skills = gateway.skills().expect("they are kept").clone();
        Self { runtime, gateway: Some(gateway), skills, folder }
    }

    pub fn run(&self, code: &str) -> Report {
        self.run_as(Some(Owner::local()), code)
    }

    /// For an owner that may change skills, or for somebody who may not.
    pub fn run_as(&self, changes_skills_as: Option<Owner>, code: &str) -> Report {
        self.execute(changes_skills_as, ExecuteRequest::python(code))
    }

    pub fn run_typescript(&self, code: &str) -> Report {
        self.execute(Some(Owner::local()), ExecuteRequest::typescript(code))
    }

    fn execute(&self, changes_skills_as: Option<Owner>, mut request: ExecuteRequest) -> Report {
        let gateway = self.gateway.as_ref().expect("it has not ended");
        request.capabilities.changes_skills_as = changes_skills_as;
        self.runtime.block_on(gateway.execute(request).finish())
    }

    pub fn result(&self, code: &str) -> Value {
        let report = self.run(code);
        assert!(report.success, "{code}\n{:?}", report.error);
        report.result.unwrap_or(Value::Null)
    }

    pub fn error(&self, code: &str) -> String {
        let report = self.run(code);
        report.error.unwrap_or_else(|| panic!("succeeded: {code} gave {:?}", report.result)).message
    }

    pub fn save(&self, name: &str, code: &str, test: Option<SkillTest>) -> Result<i64, SkillError> {
        let request =
            SaveRequest { name: name.to_owned(), code: code.to_owned(), test, ..SaveRequest::default() };
        self.runtime.block_on(self.skills.save(request)).map(|saved| saved.version)
    }

    pub fn file(&self, path: &str) -> PathBuf {
        self.folder.path().join("data/skills").join(path)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(gateway) = self.gateway.take() {
            self.runtime.block_on(gateway.shutdown());
        }
        remove_trees(&self.folder.path().join("cache/skill-trees"));
    }
}

pub fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}
