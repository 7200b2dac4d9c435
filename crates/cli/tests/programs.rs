//! Runs every program of `programs/` in the sandbox and compares what it printed and returned
//! with what CPython printed and returned (see `programs/regenerate.py`).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gristmill_example_servers::example_tools::ExampleTools;
use gristmill_gateway::domain::{Level, LimitName, Limits};
use gristmill_gateway::{EngineId, ExecuteRequest, Folders, NativeEngine};
use gristmill_testkit::World;
use libtest_mimic::{Arguments, Failed, Trial};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Expected {
    stdout: String,
    result: Value,
}

fn main() {
    let arguments = Arguments::from_args();
    let programs = find_programs();
    assert!(programs.len() >= 70, "only {} programs found", programs.len());
    let native = gristmill_testkit::native_python();
    let mut engines = vec![EngineId::Python];
    let world = Arc::new(world(native.clone()));
    if native.is_some() && starts(&world) {
        engines.push(EngineId::Native);
    }
    let trials = engines.into_iter().flat_map(|engine| {
        let world = Arc::clone(&world);
        programs.clone().into_iter().map(move |path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let world = Arc::clone(&world);
            let prefix = if engine == EngineId::Native { "native" } else { "programs" };
            Trial::test(format!("{prefix}::{name}"), move || check(&world, engine, &path))
        })
    });
    let mut trials: Vec<Trial> = trials.collect();
    #[cfg(target_os = "linux")]
    if !gristmill_testkit::is_without_namespaces() {
        trials.push(Trial::test("native_without_namespaces", without_namespaces));
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    // Exiting drops nothing: the folders of the test go with this.
    drop(world);
    conclusion.exit();
}

/// The same programs where the machine gives no namespaces, by this very program.
#[cfg(target_os = "linux")]
fn without_namespaces() -> Result<(), Failed> {
    match gristmill_testkit::rerun_without_namespaces(&["native::", "--test-threads", "2"]) {
        Some(ran) if !ran.status.success() => Err(String::from_utf8_lossy(&ran.stdout).into_owned().into()),
        Some(_) | None => Ok(()),
    }
}

/// Whether this machine has the walls that the native engine needs.
fn starts(world: &World) -> bool {
    match world.execute(ExecuteRequest::of(EngineId::Native, "6 * 7")).error {
        None => true,
        Some(error) if error.message.contains("in namespaces only") => {
            eprintln!("SKIPPED: {}", error.message);
            false
        }
        Some(error) => panic!("the native engine doesn't start: {error:?}"),
    }
}

fn world(native: Option<NativeEngine>) -> World {
    let cache = Folders::from_environment().expect("folders").cache;
    let mut limits = Limits::of(Level::Production);
    limits.set(LimitName::WallTime, Duration::from_secs(30).as_millis() as u64).expect("in range");
    limits.set(LimitName::CpuTime, Duration::from_secs(30).as_millis() as u64).expect("in range");
    let world = World::new(Path::new(env!("CARGO_BIN_EXE_gristmill")))
        .limits(limits)
        .tools(ExampleTools::new(&cache).expect("example tools"));
    match native {
        Some(native) => world.native(native).start(),
        None => world.start(),
    }
}

fn find_programs() -> Vec<PathBuf> {
    let folder =
        Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo")).join("tests/programs");
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the programs")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "py"))
        .filter(|path| expected_of(path).exists())
        .collect();
    found.sort();
    found
}

fn expected_of(program: &Path) -> PathBuf {
    program.with_extension("expected.json")
}

fn check(world: &World, engine: EngineId, program: &Path) -> Result<(), Failed> {
    let code = std::fs::read_to_string(program)?;
    let expected: Expected = serde_json::from_str(&std::fs::read_to_string(expected_of(program))?)?;
    let report = world.execute(ExecuteRequest::of(engine, code));
    if let Some(error) = &report.error {
        let traceback = error.traceback.as_deref().unwrap_or_default();
        return Err(format!("failed: {} {}\n{traceback}", error.code, error.message).into());
    }
    if report.stdout != expected.stdout {
        return Err(format!("printed\n{}\nexpected\n{}", report.stdout, expected.stdout).into());
    }
    let result = report.result.unwrap_or(Value::Null);
    if result != expected.result {
        return Err(format!("returned {result}\nexpected {}", expected.result).into());
    }
    Ok(())
}
