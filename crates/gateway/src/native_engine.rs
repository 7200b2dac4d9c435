//! The native engine as a gateway has it, and which engine a program gets.

use std::collections::BTreeSet;

use gristmill_checks::imported_modules;
use gristmill_domain::one_line;
use gristmill_protocol::{EngineId, NativeStart};

/// The machine's own Python, for programs that need more than the one in WebAssembly has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NativeEngine {
    pub start: NativeStart,
    /// Whether level `hardened` may use it.
    pub in_hardened: bool,
    /// Whether programs that nobody chose an engine for get it if they import what only it has.
    pub is_automatic: bool,
    /// What its environment has beside the standard library, by first names.
    pub modules: BTreeSet<String>,
    /// Those among them that somebody asked for; the others came along.
    pub asked_for: Vec<String>,
}

impl NativeEngine {
    /// Names that a model knows: no private module; first what is loaded ahead, then what was asked for.
    pub fn modules_to_show(&self) -> Vec<String> {
        let mut shown: Vec<String> = Vec::new();
        for name in self.start.preload.iter().chain(&self.asked_for).chain(&self.modules) {
            if !name.starts_with('_') && !shown.contains(name) {
                shown.push(name.clone());
            }
        }
        shown
    }
}

/// Which engine runs a Python program, as its caller says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineChoice {
    Wasm,
    Native,
    /// The native one if the program imports what only that has.
    Auto,
}

/// Packages of the WebAssembly engine, by the names of their modules: nobody needs the native one for them.
const BUNDLED: [&str; 6] = ["dateutil", "jsonpath_ng", "sortedcontainers", "tabulate", "tzdata", "yaml"];

/// What is shown of a name that no engine has.
const NAME_CHARS_MAX: usize = 40;

/// An engine that there is not.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("engine is `{}`; it can be wasm, native or auto", one_line(.0, NAME_CHARS_MAX))]
pub struct UnknownEngine(String);

impl std::str::FromStr for EngineChoice {
    type Err = UnknownEngine;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "wasm" => Ok(Self::Wasm),
            "native" => Ok(Self::Native),
            "auto" => Ok(Self::Auto),
            _ => Err(UnknownEngine(name.to_owned())),
        }
    }
}

/// The engine of a program that is in the language of `engine`. Only Python has two.
pub fn chosen_engine(
    engine: EngineId,
    choice: Option<EngineChoice>,
    code: &str,
    native: Option<&NativeEngine>,
) -> EngineId {
    if engine != EngineId::Python {
        return engine;
    }
    let is_wanted = match choice {
        Some(EngineChoice::Wasm) => false,
        Some(EngineChoice::Native) => return EngineId::Native,
        Some(EngineChoice::Auto) => true,
        None => native.is_some_and(|native| native.is_automatic),
    };
    let needs_it = |native: &NativeEngine| {
        let is_only_there =
            |module: &String| native.modules.contains(module) && !BUNDLED.contains(&module.as_str());
        imported_modules(code).iter().any(is_only_there)
    };
    match native.is_some_and(|native| is_wanted && needs_it(native)) {
        true => EngineId::Native,
        false => EngineId::Python,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guest_has_the_same_packages() {
        let guest = include_str!("../../../guests/python/gristmill_guest/missing.py");
        let names: Vec<String> = BUNDLED.iter().map(|name| format!("\"{name}\"")).collect();
        let line = format!("\nBUNDLED = ({})\n", names.join(", "));
        assert!(guest.contains(&line), "missing.py doesn't have{line}");
    }

    #[test]
    fn a_model_is_shown_what_was_asked_for_before_what_came_along() {
        let mut native = NativeEngine {
            modules: ["_private", "cycler", "numpy", "sklearn"].map(str::to_owned).into(),
            asked_for: vec!["sklearn".to_owned(), "numpy".to_owned()],
            ..NativeEngine::default()
        };
        assert_eq!(native.modules_to_show(), ["sklearn", "numpy", "cycler"]);
        native.start.preload = vec!["numpy".to_owned()];
        assert_eq!(native.modules_to_show(), ["numpy", "sklearn", "cycler"]);
    }

    #[test]
    fn only_what_the_environment_alone_has_makes_a_program_native() {
        let native = NativeEngine {
            modules: ["dateutil", "numpy", "pandas"].map(str::to_owned).into(),
            ..NativeEngine::default()
        };
        let check = |choice: Option<&str>, code: &str, expected: EngineId| {
            let choice = choice.map(|choice| choice.parse().unwrap());
            assert_eq!(chosen_engine(EngineId::Python, choice, code, Some(&native)), expected, "{code}");
        };
        check(Some("auto"), "import json, pandas as pd", EngineId::Native);
        check(Some("auto"), "def f():\n    from numpy.linalg import norm", EngineId::Native);
        check(Some("auto"), "import json", EngineId::Python);
        check(Some("auto"), "import dateutil.parser", EngineId::Python);
        check(Some("auto"), "import scipy", EngineId::Python);
        check(Some("wasm"), "import pandas", EngineId::Python);
        check(Some("native"), "x = 1", EngineId::Native);
        check(None, "import pandas", EngineId::Python);
        let automatic = NativeEngine { is_automatic: true, ..native.clone() };
        let chosen = |code: &str, native| chosen_engine(EngineId::Python, None, code, native);
        assert_eq!(chosen("import pandas", Some(&automatic)), EngineId::Native);
        assert_eq!(chosen("import pandas", None), EngineId::Python);
        let script = chosen_engine(EngineId::TypeScript, Some(EngineChoice::Native), "1", Some(&native));
        assert_eq!(script, EngineId::TypeScript);
        assert_eq!(
            "fast".parse::<EngineChoice>().unwrap_err().to_string().as_str(),
            "engine is `fast`; it can be wasm, native or auto"
        );
    }
}
