//! The native engine as a gateway has it, and which engine a program gets.

use std::collections::BTreeSet;
use std::path::PathBuf;

use gristmill_checks::imported_modules;
use gristmill_domain::policy::wildcard_fits;
use gristmill_domain::{Level, one_line};
use gristmill_protocol::{EngineId, NativeStart};

use crate::ids::Caller;

/// The machine's own Python, for programs that need more than the one in WebAssembly has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NativeEngine {
    pub start: NativeStart,
    /// Whether level `hardened` may use it.
    pub in_hardened: bool,
    /// Whether level `production` may use it where the machine gives no namespaces.
    pub without_namespaces: bool,
    /// Whether programs that nobody chose an engine for get it if they import what only it has.
    pub is_automatic: bool,
    /// What its environment has beside the standard library, by first names.
    pub modules: BTreeSet<String>,
    /// Those among them that somebody asked for; the others came along.
    pub asked_for: Vec<String>,
    /// Names of the only access tokens that may use it, with stars; if nothing is said, every token may.
    pub tokens: Option<Vec<String>>,
    /// Names or handles of the sessions, with stars, whose programs get it if nothing else is said.
    pub sessions: Vec<String>,
}

/// Packages in Python alone that were added to the WebAssembly engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WasmPackages {
    /// Where they lie, as programs find them at `/packages`.
    pub folder: PathBuf,
    /// What can be imported from there, by first names.
    pub modules: BTreeSet<String>,
}

impl WasmPackages {
    /// Names that a model knows: no private module.
    pub fn modules_to_show(&self) -> Vec<String> {
        self.modules.iter().filter(|name| !name.starts_with('_')).cloned().collect()
    }
}

/// Why a caller's programs may not use the native engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Barred {
    #[error("level hardened doesn't run programs in the native engine")]
    Level,
    #[error("this access token may not use the native engine")]
    Token,
    #[error("this access token is for WebAssembly only")]
    WasmOnly,
}

impl Barred {
    /// Who can change that, and how.
    pub fn remedy(self) -> &'static str {
        match self {
            Barred::Level => "ask the user to set `hardened = true` in [engines.native]",
            Barred::Token => {
                "ask the user for a token that may, or to add it to `tokens` in [engines.native]"
            }
            Barred::WasmOnly => "ask the user for a token that was made without `--wasm-only`",
        }
    }
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

    /// Why programs of this caller may not use it at this level, if they may not. Who has the machine needs no token.
    pub fn bars(&self, caller: &Caller, level: Level) -> Option<Barred> {
        if level == Level::Hardened && !self.in_hardened {
            return Some(Barred::Level);
        }
        let token = caller.token.as_ref()?;
        if token.limits.as_ref().is_some_and(|limits| limits.wasm_only) {
            return Some(Barred::WasmOnly);
        }
        let fits = |names: &Vec<String>| names.iter().any(|name| wildcard_fits(name, &token.name));
        let is_listed = self.tokens.as_ref().is_none_or(fits);
        (!is_listed).then_some(Barred::Token)
    }

    /// Whether programs of this caller's session get it if nothing else is said.
    pub fn is_for_session_of(&self, caller: &Caller) -> bool {
        let names = [caller.session_name.as_deref(), caller.session.as_ref().map(|session| session.as_str())];
        let fits = |name: &&str| self.sessions.iter().any(|pattern| wildcard_fits(pattern, name));
        names.iter().flatten().any(fits)
    }

    /// Whether a module is in its environment and in no other engine.
    pub fn alone_has(&self, module: &str) -> bool {
        self.modules.contains(module) && !BUNDLED.contains(&module)
    }

    /// What a program imports that only this engine has.
    pub fn alone_has_of(&self, code: &str) -> Vec<String> {
        imported_modules(code).into_iter().filter(|module| self.alone_has(module)).collect()
    }
}

/// Which engine runs a Python program, as its caller says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EngineChoice {
    Wasm,
    Native,
    /// The native one if the program imports what only that has.
    Auto,
}

impl EngineChoice {
    pub const ALL: [EngineChoice; 3] = [EngineChoice::Wasm, EngineChoice::Native, EngineChoice::Auto];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            EngineChoice::Wasm => "wasm",
            EngineChoice::Native => "native",
            EngineChoice::Auto => "auto",
        }
    }
}

impl std::fmt::Display for EngineChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
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
        let found = Self::ALL.into_iter().find(|choice| choice.as_str() == name);
        found.ok_or_else(|| UnknownEngine(name.to_owned()))
    }
}

/// The engine of a program that is in the language of `engine`, by its own text. Only Python has two. What its
/// session, its skills and its caller's token say is known once it has its place.
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
    match native.is_some_and(|native| is_wanted && !native.alone_has_of(code).is_empty()) {
        true => EngineId::Native,
        false => EngineId::Python,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gristmill_domain::policy::TokenLimits;

    use super::*;
    use crate::ids::TokenRef;

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
    fn tokens_are_barred_by_their_own_limits_by_the_list_and_by_the_level() {
        let caller = |token: Option<(&str, bool)>| Caller {
            token: token.map(|(name, wasm_only)| TokenRef {
                name: name.to_owned(),
                identity: name.to_owned(),
                limits: Some(Arc::new(TokenLimits { wasm_only, ..TokenLimits::default() })),
            }),
            ..Caller::local()
        };
        let open = NativeEngine::default();
        let listed =
            NativeEngine { tokens: Some(vec!["analyst-*".to_owned()]), in_hardened: true, ..open.clone() };
        let closed = NativeEngine { tokens: Some(Vec::new()), ..open.clone() };
        let check = |native: &NativeEngine, token, level, expected| {
            assert_eq!(native.bars(&caller(token), level), expected, "{token:?} {level}");
        };
        check(&open, None, Level::Production, None);
        check(&open, Some(("ci", false)), Level::Production, None);
        check(&open, Some(("ci", true)), Level::Production, Some(Barred::WasmOnly));
        check(&open, None, Level::Hardened, Some(Barred::Level));
        check(&listed, Some(("analyst-1", false)), Level::Hardened, None);
        check(&listed, Some(("analyst-1", true)), Level::Development, Some(Barred::WasmOnly));
        check(&listed, Some(("ci", false)), Level::Development, Some(Barred::Token));
        check(&listed, None, Level::Development, None);
        check(&closed, Some(("ci", false)), Level::Development, Some(Barred::Token));
    }

    #[test]
    fn sessions_are_given_it_by_name() {
        let native = NativeEngine { sessions: vec!["reports-*".to_owned()], ..NativeEngine::default() };
        let in_session = |name: Option<&str>| {
            let caller = Caller { session_name: name.map(str::to_owned), ..Caller::local() };
            native.is_for_session_of(&caller)
        };
        assert!(in_session(Some("reports-2026")));
        assert!(!in_session(Some("notes")) && !in_session(None));
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
