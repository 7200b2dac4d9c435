//! `gristmill python check`: the packages as a program finds them, behind every wall.

use std::process::ExitCode;

use anyhow::anyhow;
use gristmill_config::Config;
use gristmill_gateway::{EngineId, ExecuteRequest, Gateway, Settings, WorkerCommand};
use serde_json::json;

use super::{Failure, Outcome, PackagesFor};
use crate::native_engine;
use crate::python_environment::{PythonLock, name_in};

/// Imports what each distribution brings, one after the other.
const PROGRAM: &str = "
import importlib, importlib.metadata
tops = {}
for module, names in importlib.metadata.packages_distributions().items():
    for name in names:
        tops.setdefault(name.lower().replace('_', '-').replace('.', '-'), set()).add(module)
result = {}
for name in packages:
    modules = sorted(m for m in tops.get(name, ()) if not m.startswith('_') and m.isidentifier())
    try:
        for module in modules:
            importlib.import_module(module)
        result[name] = {'modules': modules, 'error': None if modules else 'it has no module'}
    except BaseException as error:
        result[name] = {'modules': modules, 'error': f'{type(error).__name__}: {error}'[:300]}
";

pub async fn check(config: &Config, lock: &PythonLock, whose: PackagesFor) -> Outcome {
    let mut settings =
        Settings::new(WorkerCommand::this_executable().map_err(|error| Failure::Internal(error.into()))?);
    let engine = match whose {
        PackagesFor::Native => {
            let mut config = config.clone();
            config.engines.native.enabled = true;
            // What fails is to be told for each package, and not once for all.
            config.engines.native.preload = Some(Vec::new());
            settings.native = native_engine::of(&config)?;
            EngineId::Native
        }
        PackagesFor::Wasm => {
            settings.wasm_packages = native_engine::wasm_packages(config);
            EngineId::Python
        }
    };
    settings.pool.waiting = 0;
    settings.warm_engines = vec![engine];
    let gateway = Gateway::build(settings).await.map_err(|error| Failure::Internal(error.into()))?;
    let names: Vec<String> = lock.requested.iter().map(|requested| name_in(requested)).collect();
    let context = serde_json::Map::from_iter([("packages".to_owned(), json!(names))]);
    let request = ExecuteRequest { context: context.into(), ..ExecuteRequest::of(engine, PROGRAM) };
    let report = gateway.execute(request).finish().await;
    gateway.shutdown().await;
    if let Some(error) = &report.error {
        return Err(Failure::Usage(anyhow!("the packages can't be tried: {}", error.message)));
    }
    let told = report.result.unwrap_or_default();
    let mut is_well = true;
    for name in &names {
        match told[name]["error"].as_str() {
            None => println!("ok    {name}"),
            Some(error) => {
                is_well = false;
                println!("fails {name}: {error}");
            }
        }
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
