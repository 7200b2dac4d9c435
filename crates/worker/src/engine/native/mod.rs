//! CPython of the machine, without WebAssembly: for programs that need what only its packages have.
//!
//! It is one wall less, so the others are required: an own view of the file system (`jail/linux/native_view.rs`),
//! a list of system calls (`jail/linux/native_calls.rs`), landlock and limits. Where there are no namespaces for a view
//! and the level can do without, names are translated (`jail/linux/native_trap.rs`). The guest around programs is that of
//! the WebAssembly engine, as it is; `guests/native` leads from it to here.
//!
//! ```text
//! settings ── interpreter_facts ──► the jail's view ──► c_api: the interpreter in this very process
//! the guest ── host_functions ──► the line to the gateway
//! ```

mod c_api;
mod heap;
mod host_functions;
mod interpreter;
mod interpreter_facts;

use std::path::{Path, PathBuf};

use gristmill_protocol::{EngineId, NativeStart, WallStatus};

use super::{Engine, EngineError, Interpreter};
use crate::jail::{self, NamespacesEntered, ShownPath};
use interpreter::NativeInterpreter;
use interpreter_facts::InterpreterFacts;

/// What programs of agents begin with, and a table.
const SAMPLE: &str = "import json\nrows = [{'id': i, 'name': f'row {i}'} for i in range(20)]\nawait asyncio.sleep(0)\nresult = {'count': len(rows), 'rows': json.loads(json.dumps(rows))}";

/// Where the interpreter's own files lie in the jail, whatever the machine calls their place.
const HOME: &str = "/python";

/// The same for what programs import beside the standard library.
const PACKAGES: &str = "/python/packages";

/// The interpreter that is configured, in its view.
pub struct Native {
    description: &'static str,
    library: PathBuf,
    path: Vec<String>,
    preload: Vec<String>,
}

impl Native {
    /// Finds the interpreter, and moves this process into a view that has it and its packages and little else.
    pub fn load(
        start: &NativeStart,
        namespaces: &NamespacesEntered,
        may_lack_namespaces: bool,
    ) -> Result<Self, EngineError> {
        let facts = InterpreterFacts::ask(Path::new(&start.python)).map_err(failed)?;
        let name = facts.library.file_name().unwrap_or_default();
        let library = Path::new(HOME).join(name);
        let mut shown = vec![ShownPath { from: facts.library.clone(), at: library.clone() }];
        let mut path = Vec::new();
        for stdlib in &facts.stdlib {
            let at = Path::new(HOME).join(&facts.library_kind).join(format!("python{}", facts.short_version));
            if shown.iter().all(|place| place.at != at) {
                path.extend([at.display().to_string(), at.join("lib-dynload").display().to_string()]);
                shown.push(ShownPath { from: stdlib.clone(), at });
            }
        }
        for (at, from) in start.packages.iter().chain(&start.path).enumerate() {
            let from = PathBuf::from(from);
            if !from.is_dir() {
                return Err(failed(format!(
                    "{} is not a folder; check `path` in [engines.native], or run `gristmill python check`",
                    from.display()
                )));
            }
            let at = PathBuf::from(if at == 0 { PACKAGES.to_owned() } else { format!("{PACKAGES}-{at}") });
            path.push(at.display().to_string());
            shown.push(ShownPath { from, at });
        }
        jail::enter_view(namespaces, may_lack_namespaces, &shown, &facts.multiarch).map_err(failed)?;
        // Once in the life of a zygote.
        let description = format!("CPython {}, native", facts.version).leak();
        Ok(Self { description, library, path, preload: start.preload.clone() })
    }
}

impl Engine for Native {
    fn id(&self) -> EngineId {
        EngineId::Native
    }

    fn description(&self) -> &'static str {
        self.description
    }

    fn walls(&self) -> Vec<WallStatus> {
        Vec::new()
    }

    fn sample(&self) -> &'static str {
        SAMPLE
    }

    fn start(&self) -> Result<Box<dyn Interpreter>, EngineError> {
        let started = NativeInterpreter::start(&self.library, HOME, &self.path, &self.preload);
        Ok(Box::new(started.map_err(failed)?))
    }
}

fn failed(reason: impl std::fmt::Display) -> EngineError {
    EngineError { engine: EngineId::Native, reason: reason.to_string() }
}
