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
    /// Modules that only its environment has, by their first names.
    pub modules: BTreeSet<String>,
}

impl NativeEngine {
    /// Names that a model knows: no private module, and what is loaded ahead first.
    pub fn modules_to_show(&self) -> Vec<String> {
        let others =
            self.modules.iter().filter(|name| !name.starts_with('_') && !self.start.preload.contains(name));
        self.start.preload.iter().chain(others).cloned().collect()
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
        imported_modules(code).iter().any(|module| native.modules.contains(module.as_str()))
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
    fn only_what_the_environment_alone_has_makes_a_program_native() {
        let native = NativeEngine {
            modules: ["numpy", "pandas"].map(str::to_owned).into(),
            ..NativeEngine::default()
        };
        let check = |choice: Option<&str>, code: &str, expected: EngineId| {
            let choice = choice.map(|choice| choice.parse().unwrap());
            assert_eq!(chosen_engine(EngineId::Python, choice, code, Some(&native)), expected, "{code}");
        };
        check(Some("auto"), "import json, pandas as pd", EngineId::Native);
        check(Some("auto"), "def f():\n    from numpy.linalg import norm", EngineId::Native);
        check(Some("auto"), "import json", EngineId::Python);
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
