//! The table `engines`: which languages' workers wait before anybody uses them, and the machine's own Python.

use gristmill_gateway::{EngineId, engine_named};
use serde_json::json;

use super::fields::Fields;
use super::origin::Origin;
use super::problem::{ProblemKind, Problems};
use super::tree::Node;

pub const TABLE: &str = "engines";
pub(super) const KEYS: [&str; 2] = ["warm", NATIVE];
pub(super) const NATIVE: &str = "native";
pub(super) const NATIVE_KEYS: [&str; 9] =
    ["enabled", "auto", "hardened", "without_namespaces", "tokens", "sessions", "python", "path", "preload"];

/// What one file says, with its line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnginesTable {
    warm: Option<(Vec<EngineId>, usize)>,
    native: Option<(NativeConfig, usize)>,
}

/// What all of them come to, and who said so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnginesConfig {
    /// Those of the others start with their first program.
    pub warm: Vec<EngineId>,
    pub warm_origin: Origin,
    pub native: NativeConfig,
    pub native_origin: Origin,
}

/// The machine's own Python as an engine. A file says all of it or nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NativeConfig {
    pub enabled: bool,
    /// Whether programs get it that import what only it has, although nobody asked for it.
    pub auto: bool,
    /// Whether level `hardened` may use it.
    pub hardened: bool,
    /// Whether level `production` may use it where the machine gives no namespaces.
    pub without_namespaces: bool,
    /// The only access tokens that may use it, with stars; every one if nothing is said.
    pub tokens: Option<Vec<String>>,
    /// The sessions whose programs get it if nothing else is said, with stars.
    pub sessions: Vec<String>,
    /// The interpreter; the first `python3` if nothing is said.
    pub python: Option<String>,
    /// Further folders to import from.
    pub path: Vec<String>,
    /// Modules that are imported once, before there are programs.
    pub preload: Option<Vec<String>>,
}

impl Default for EnginesConfig {
    fn default() -> Self {
        Self {
            warm: vec![EngineId::Python],
            warm_origin: Origin::Default,
            native: NativeConfig::default(),
            native_origin: Origin::Default,
        }
    }
}

impl EnginesConfig {
    /// Lays what a file says over it.
    pub fn lay_over(&mut self, table: &EnginesTable, origin: impl Fn(usize) -> Origin) {
        if let Some((warm, line)) = &table.warm {
            (self.warm, self.warm_origin) = (warm.clone(), origin(*line));
        }
        if let Some((native, line)) = &table.native {
            (self.native, self.native_origin) = (native.clone(), origin(*line));
        }
    }

    /// The names of those that wait.
    pub fn names(&self) -> Vec<&'static str> {
        self.warm.iter().map(|engine| engine.name()).collect()
    }

    /// Key, value and who said so, as a file would have them. What the native engine has no settings for is left out.
    pub fn shown(&self) -> Vec<(&'static str, String, &Origin)> {
        let mut shown = vec![("warm", json!(self.names()).to_string(), &self.warm_origin)];
        if self.native != NativeConfig::default() {
            let NativeConfig { enabled, auto, hardened, without_namespaces, .. } = &self.native;
            let NativeConfig { tokens, sessions, python, path, preload, .. } = &self.native;
            let mut add = |key, value: String| shown.push((key, value, &self.native_origin));
            add("native.enabled", enabled.to_string());
            add("native.auto", auto.to_string());
            add("native.hardened", hardened.to_string());
            add("native.without_namespaces", without_namespaces.to_string());
            if let Some(tokens) = tokens {
                add("native.tokens", json!(tokens).to_string());
            }
            add("native.sessions", json!(sessions).to_string());
            if let Some(python) = python {
                add("native.python", json!(python).to_string());
            }
            add("native.path", json!(path).to_string());
            if let Some(preload) = preload {
                add("native.preload", json!(preload).to_string());
            }
        }
        shown
    }
}

pub fn read(node: &Node, problems: &mut Problems) -> EnginesTable {
    let Some(mut fields) = Fields::of(node, TABLE, problems) else { return EnginesTable::default() };
    let line = fields.line("warm");
    let mut warm = Vec::new();
    for (name, line) in fields.texts("warm", problems) {
        match engine_named(&name) {
            Ok(engine) if !warm.contains(&engine) => warm.push(engine),
            Ok(_) => {}
            Err(_) => {
                let what = ProblemKind::BadQuantity { expected: "a language", example: "\"typescript\"" };
                problems.error(&fields.path("warm"), line, what);
            }
        }
    }
    let native_line = fields.line(NATIVE);
    let native = fields.take(NATIVE).and_then(|node| native_of(node, &fields.path(NATIVE), problems));
    fields.finish(&KEYS, problems);
    EnginesTable {
        warm: (line > 0).then_some((warm, line)),
        native: native.map(|native| (native, native_line)),
    }
}

fn native_of(node: &Node, path: &str, problems: &mut Problems) -> Option<NativeConfig> {
    let mut fields = Fields::of(node, path, problems)?;
    let has_preload = fields.line("preload") > 0;
    let has_tokens = fields.line("tokens") > 0;
    let absolute = |fields: &Fields<'_>, key: &str, text: String, line: usize, problems: &mut Problems| {
        if !text.starts_with('/') {
            let what =
                ProblemKind::BadQuantity { expected: "an absolute path", example: "\"/usr/bin/python3\"" };
            problems.error(&fields.path(key), line, what);
        }
        text
    };
    let enabled = fields.flag("enabled", problems).unwrap_or_default();
    let auto = fields.flag("auto", problems).unwrap_or_default();
    let hardened = fields.flag("hardened", problems).unwrap_or_default();
    let without_namespaces = fields.flag("without_namespaces", problems).unwrap_or_default();
    let mut names = |key: &str| fields.texts(key, problems).into_iter().map(|(name, _)| name).collect();
    let (tokens, sessions) = (names("tokens"), names("sessions"));
    let python = fields.text("python", problems);
    let python = python.map(|(text, line)| absolute(&fields, "python", text.to_owned(), line, problems));
    let folders = fields.texts("path", problems);
    let folders = folders.into_iter().map(|(text, line)| absolute(&fields, "path", text, line, problems));
    let folders = folders.collect();
    let preload = fields.texts("preload", problems).into_iter().map(|(name, _)| name).collect();
    fields.finish(&NATIVE_KEYS, problems);
    Some(NativeConfig {
        enabled,
        auto,
        hardened,
        without_namespaces,
        tokens: has_tokens.then_some(tokens),
        sessions,
        python,
        path: folders,
        preload: has_preload.then_some(preload),
    })
}
