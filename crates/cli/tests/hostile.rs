//! Gives every program of the crate `attacks` to one gateway, and looks at what the host sees: how it ended, what
//! came back, whether a listener was reached, whether files appeared, whether the gateway still serves.

use std::path::Path;
use std::sync::Arc;

use gristmill_attacks::{Attack, Language, OutOfTime, Patience, Range, SECRET_VALUE, SECRET_VARIABLE};
use gristmill_example_servers::example_tools::ExampleTools;
use gristmill_gateway::domain::{Level, Limits};
use gristmill_gateway::{EngineId, ExecuteRequest, Folders, NativeEngine};
use gristmill_testkit::World;
use libtest_mimic::{Arguments, Failed, Trial};

/// All the time that a busy machine may need.
const PATIENCE: Patience = Patience { wall_time_ms: 60_000, out_of_time: OutOfTime::IsWrong };

/// What the attacks are after, and the gateway that stands before it.
struct Siege {
    world: World,
    range: Range,
}

fn main() {
    // SAFETY: the first thing in a process that has one thread.
    unsafe { std::env::set_var(SECRET_VARIABLE, SECRET_VALUE) };
    let arguments = Arguments::from_args();
    let attacks = gristmill_attacks::all().expect("headers");
    let range = Range::new(Path::new(env!("CARGO_TARGET_TMPDIR")), worker(), PATIENCE).expect("a range");
    // Before any attack: each of them would see what the controls do.
    let seen = sees(&range);
    let without_namespaces = native_without_namespaces(&arguments);
    let siege = Arc::new(Siege::of(range));
    let native = NativeSiege::lay();
    let controls: Vec<Trial> = attacks
        .iter()
        .filter(|attack| attack.language == Language::JavaScript && attack.class == "state")
        .map(|attack| {
            let (siege, attack) = (Arc::clone(&siege), attack.clone());
            let name = format!("oracles::sees_in_a_kept_interpreter::{}", attack.name);
            Trial::test(name, move || siege.sees_what_is_left_behind(&attack))
        })
        .collect();
    let natively = attacks.iter().filter(|attack| attack.is_for_native()).flat_map(|attack| {
        let (native, attack) = (native.clone()?, attack.clone());
        let name = format!("native::{}", attack.full_name());
        Some(Trial::test(name, move || native.withstands(&attack)))
    });
    let natively: Vec<Trial> = natively.collect();
    let mut trials: Vec<Trial> = attacks
        .iter()
        .cloned()
        .map(|attack| {
            let siege = Arc::clone(&siege);
            Trial::test(format!("hostile::{}", attack.full_name()), move || siege.withstands(&attack))
        })
        .collect();
    trials.extend(controls);
    trials.extend(natively);
    if let Some(withstood) = without_namespaces {
        trials.push(Trial::test("native::all_of_them_without_namespaces", move || withstood));
    }
    trials.push(Trial::test("oracles::every_oracle_sees_what_it_is_there_for", move || seen));
    let conclusion = libtest_mimic::run(&arguments, trials);
    // Exiting drops nothing: the folders of the test go with this.
    drop((siege, native));
    conclusion.exit();
}

/// Elsewhere there is no native engine.
#[cfg(not(target_os = "linux"))]
fn native_without_namespaces(_arguments: &Arguments) -> Option<Result<(), Failed>> {
    None
}

/// The same attacks in Python where the machine gives no namespaces, by this very program. Before the others: each of
/// them would see its processes.
#[cfg(target_os = "linux")]
fn native_without_namespaces(arguments: &Arguments) -> Option<Result<(), Failed>> {
    let is_asked = arguments.filter.as_deref().is_none_or(|filter| filter.starts_with("native"));
    if arguments.list || !is_asked {
        return None;
    }
    let ran = gristmill_testkit::rerun_without_namespaces(&["native::", "--test-threads", "2"])?;
    Some(match ran.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&ran.stdout).into_owned().into()),
    })
}

/// The same attacks in Python against the machine's own interpreter, which has no WebAssembly around it.
struct NativeSiege;

impl NativeSiege {
    /// None where there is no interpreter, or no namespaces to put it in.
    fn lay() -> Option<Arc<Siege>> {
        let native = gristmill_testkit::native_python()?;
        let range = Range::new(Path::new(env!("CARGO_TARGET_TMPDIR")), worker(), PATIENCE).expect("a range");
        let siege = Siege::with(range.native(), Some(native));
        let report = siege.world.execute(ExecuteRequest::of(EngineId::Native, "6 * 7"));
        match report.error {
            None => Some(Arc::new(siege)),
            Some(error) if error.message.contains("in namespaces only") => {
                eprintln!("SKIPPED: {}", error.message);
                None
            }
            Some(error) => panic!("the native engine doesn't start: {error:?}"),
        }
    }
}

impl Siege {
    fn of(range: Range) -> Self {
        Self::with(range, None)
    }

    fn with(range: Range, native: Option<NativeEngine>) -> Self {
        let cache = Folders::from_environment().expect("folders").cache;
        let world = World::new(worker())
            .limits(Range::limits(Limits::of(Level::Production)))
            .tools(ExampleTools::new(&cache).expect("example tools"));
        let world = match native {
            Some(native) => world.native(native),
            None => world,
        };
        let world = world.start();
        Self { world, range }
    }

    fn sees_what_is_left_behind(&self, attack: &Attack) -> Result<(), Failed> {
        let seen = self.world.block_on(self.range.sees_what_is_left_behind(self.world.gateway(), attack));
        seen.then_some(()).ok_or_else(|| "it would go unnoticed".into())
    }

    fn withstands(&self, attack: &Attack) -> Result<(), Failed> {
        let verdict = self.world.block_on(self.range.withstand(self.world.gateway(), attack));
        verdict.problem.map_or(Ok(()), |problem| Err(problem.words().into()))
    }
}

fn worker() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_gristmill"))
}

fn sees(range: &Range) -> Result<(), Failed> {
    match range.controls().into_iter().find(|control| !control.fired) {
        Some(control) => Err(format!("not seen: {}", control.oracle).into()),
        None => Ok(()),
    }
}
